"""Findings in a catalog."""

import json

import pytest

from tool_search_processor.evaluation import Finding, lint
from tool_search_processor.evaluation.likeness import confusable, look_alikes
from tool_search_processor.evaluation.lint import undescribed_parameters
from tool_search_processor.tools import Tool

GOOD = Tool(
    "create_issue",
    "Open a ticket in a repository.",
    {"type": "object", "properties": {"title": {"type": "string", "description": "What is wrong."}}},
)


def kinds(*tools, **options):
    return [(finding.kind, finding.tool) for finding in lint(tools, **options).findings]


def named(original, description="Reports the weather of a place.", **fields):
    return Tool.from_openai({"name": original, "description": description, **fields})


def test_a_good_catalog_has_no_finding():
    mail = Tool("send_mail", "Writes to somebody.")
    assert lint([GOOD, mail]).findings == ()


def test_a_name_twice_is_an_error():
    report = lint([GOOD, GOOD, GOOD])
    assert [(f.kind, f.tool, f.severity) for f in report.findings] == [
        ("duplicate-name", "create_issue", "error")
    ]
    assert report.findings[0].text.startswith("3 tools have this name")
    assert report.errors == 1


@pytest.mark.parametrize("description", ["", "  \n", None])
def test_a_missing_description_is_an_error(description):
    assert kinds(Tool("a_b", description)) == [("missing-description", "a_b")]
    assert lint([Tool("a_b", description)]).errors == 1


@pytest.mark.parametrize(
    ("name", "description", "says_nothing"),
    [
        ("get_user", "Get a user.", True),
        ("getUsers", "Gets the user", True),
        ("get_user", "Get a user by e-mail address.", False),
        ("get_user", "The of.", True),
    ],
)
def test_a_description_that_only_repeats_the_name(name, description, says_nothing):
    assert kinds(Tool(name, description)) == ([("empty-description", name)] if says_nothing else [])


def test_invalid_names_are_told_with_what_they_become():
    long = "weather_" * 9
    findings = lint([named("weather.now"), named(long, "Foretells storms and rain.")]).findings
    assert [(f.kind, f.tool) for f in findings] == [("invalid-name", "weather.now"), ("invalid-name", long)]
    assert "it becomes weather_now." in findings[0].text
    assert "is 72 characters long, and providers accept 64: it becomes weather_" in findings[1].text


@pytest.mark.parametrize(
    ("schema", "missing"),
    [
        ({}, []),
        ({"properties": {"a": {"description": "A."}, "b": {}, "c": {"description": "  "}}}, ["b", "c"]),
        ({"properties": {"a": {"description": "A.", "properties": {"b": {}}}}}, ["a.b"]),
        ({"properties": {"a": {"description": "A.", "items": {"properties": {"b": {}}}}}}, ["a[].b"]),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"description": "A."}}}, []),
        ({"properties": {"a": {"anyOf": [{"description": "A."}, {"type": "null"}]}}}, []),
        ({"allOf": [{"properties": {"a": {}}}, True]}, ["a"]),
        ({"properties": {"a": True, "b": {"description": 3}}}, ["a", "b"]),
        ({"properties": {"a": {"$ref": "#/nowhere"}}}, ["a"]),
        ({"properties": 3, "items": 3}, []),
    ],
)
def test_parameters_without_a_description(schema, missing):
    assert undescribed_parameters(schema) == missing


def test_a_schema_that_holds_itself_is_walked_to_some_depth():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    schema = {"properties": {"first": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    missing = undescribed_parameters(schema)
    assert missing[:2] == ["first", "first.next"]
    assert len(missing) < 10
    deep = {}
    for place in range(20):
        deep = {"properties": {f"p{place}": {"description": "D.", **deep}}}
    assert undescribed_parameters({"properties": {"a": {}, "b": deep}}) == ["a", "b"]


def test_many_parameters_are_cut():
    schema = {"type": "object", "properties": {f"p{i}": {} for i in range(10)}}
    (finding,) = lint([Tool("a_b", "Paints the moon.", schema)]).findings
    assert finding.text.startswith("does not describe p0, p1, p2, p3, p4, p5, p6, p7 and 2 more: ")


def test_definitions_that_cost_too_much():
    costly = Tool("paint", "Paints the moon. " * 200)
    assert kinds(costly) == [("expensive", "paint")]
    assert kinds(costly, max_tokens=2000) == []
    assert kinds(GOOD, max_tokens=10, counter=lambda text: 11) == [("expensive", "create_issue")]


def test_what_every_tool_costs_the_costliest_first():
    report = lint([Tool("a"), Tool("b", "Paints the moon."), named("c.d")])
    assert [name for name, _ in report.tokens] == ["c.d", "b", "a"]
    assert report.total_tokens == sum(count for _, count in report.tokens)


def test_errors_come_first_and_all_is_json():
    report = lint([named("x.y"), Tool("a_b")])
    assert [f.severity for f in report.findings] == ["error", "warning"]
    read = json.loads(json.dumps(report.as_json()))
    assert (read["tools"], read["errors"], read["warnings"]) == (2, 1, 1)
    assert read["findings"][0] == {
        "kind": "missing-description",
        "severity": "error",
        "tool": "a_b",
        "text": report.findings[0].text,
        "others": [],
    }


def test_progress_is_told_for_every_tool():
    told = []
    lint([GOOD, Tool("a"), Tool("b")], progress=told.append)
    assert told == [1, 1, 1]


# -- likeness

WEATHER = Tool("get_weather", "Get the current weather of a city.")
REST = [Tool(f"paint_{color}", f"Paints a wall in {color}.") for color in ("red", "green", "blue", "white")]


def pairs(*tools, **options):
    return [(pair.first.name, pair.second.name) for pair in confusable([*tools, *REST[:2]], **options)]


def test_tools_that_read_alike_are_a_pair_in_the_catalogs_order():
    other = Tool("fetch_weather", "Fetch the current weather in a city.")
    assert pairs(WEATHER, other, similarity=0.6) == [("get_weather", "fetch_weather")]


def test_the_same_words_are_wholly_alike():
    (pair,) = confusable([WEATHER, *REST, WEATHER.replace(name="weather_get")])
    assert pair.likeness == pytest.approx(1.0)


def test_what_differs_in_the_word_that_matters_is_no_pair():
    assert pairs(*REST) == []
    assert pairs(WEATHER, Tool("get_news", "Get the current news of a city.")) == []


def test_opposite_actions_are_no_pair_unless_the_descriptions_are_the_same():
    create = Tool("create_cloud_pipeline_schedule", "Create the schedule of a cloud pipeline.")
    delete = Tool("delete_cloud_pipeline_schedule", "Delete the schedule of a cloud pipeline.")
    assert pairs(create, delete, similarity=0.5) == []
    assert pairs(create, delete.replace(description=create.description), similarity=0.5) == [
        (create.name, delete.name)
    ]


def test_a_name_twice_is_no_pair():
    assert pairs(WEATHER, WEATHER.replace(description="Get the current weather of a town or city.")) == []


def test_other_scripts_are_compared_too():
    first = Tool("query_weather", "查询城市的当前天气情况以及温度")
    second = Tool("weather_query", "查询城市的当前天气情况")
    assert pairs(first, second) == [("query_weather", "weather_query")]


def test_tools_without_words_are_like_nothing():
    assert pairs(Tool("_"), Tool("-")) == []
    assert confusable([]) == []


def test_a_confusable_pair_is_one_finding():
    other = WEATHER.replace(name="weather_get")
    (finding,) = lint([WEATHER, other, *REST]).findings
    assert finding == Finding(
        kind="confusable", tool="get_weather", others=("weather_get",), text=finding.text
    )
    assert "likeness 1.00" in finding.text


@pytest.mark.parametrize(
    "found",
    [
        Tool.from_mcp({"name": "clock", "description": "Tell the time.\u200b\U000e0041", "inputSchema": {}}),
        Tool.from_openai({"name": "clock", "description": "Tell the time.\u2060\u2060"}),
        Tool("clock", "Tell the time.\u200b\u200b"),
        Tool(
            "clock",
            "Tell the time.",
            {
                "type": "object",
                "properties": {"zone": {"type": "string", "description": "A zone.\u200b\u200b"}},
            },
        ),
    ],
)
def test_characters_that_nobody_sees_are_a_finding_taken_out_or_not(found):
    (finding,) = lint([found]).findings
    assert (finding.kind, finding.tool, finding.severity) == ("hidden-characters", "clock", "warning")
    assert "2 characters" in finding.text


@pytest.mark.parametrize(
    ("pairs", "groups"),
    [
        ([], []),
        ([("a", "b")], [["a", "b"]]),
        ([("a", "b"), ("c", "d"), ("e", "d")], [["e", "c", "d"], ["a", "b"]]),
        ([("a", "b"), ("c", "d"), ("b", "c"), ("a", "d")], [["b", "c", "a", "d"]]),
    ],
)
def test_pairs_that_share_a_tool_are_one_group(pairs, groups):
    assert [sorted(group) for group in look_alikes(pairs)] == [sorted(group) for group in groups]
