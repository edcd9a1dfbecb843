"""The search tool: its answer's shape, what it takes, what it tells, and what it leaves out."""

import json

import pytest

from tests.support import Policy, Run, ScoredIndex, listed, make, names, needs, step
from tool_search_processor import InvalidPatternError, StaticProvider, Tool, ToolSearchProcessor

WEATHER = make("weather_forecast", "Tells tomorrow's weather.", tags={"outside"})
MAIL = make("send_mail", "Sends a letter.", tags={"office", "post"})
STOCKS = make("stock_quote", "Looks up a share price.", tags={"office"})
CATALOG = [WEATHER, MAIL, STOCKS]
MANY = [make(f"case_{n}", f"Handles invoice {n}.") for n in range(40)]

SCORES = {f"case_{n}": (40 - n) / 50 for n in range(40)}


def scored(scores=SCORES, tools=MANY, **options):
    return Run(ToolSearchProcessor(tools, search=ScoredIndex(scores), **options))


# -- shape


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "weather"},
        {"query": "nothing like it zzz"},
        {"query": ""},
        {"query": "  \n "},
        {"query": []},
        {"query": ["", " "]},
        {"query": None},
        {"query": 7},
        {"query": {"text": "weather"}},
        {},
        {"limit": "many", "tags": 3, "unknown": True},
        {"query": "weather", "limit": None, "tags": None},
    ],
)
async def test_the_shape_is_always_the_same(arguments):
    answer = await Run(ToolSearchProcessor(CATALOG)).call("search_tools", **arguments)
    assert list(answer) == ["results", "total", "message"]
    assert isinstance(answer["results"], list)
    assert isinstance(answer["total"], int)
    assert answer["message"].endswith(".")
    assert all(list(r) == ["name", "description", "score", "loaded"] for r in answer["results"])
    json.dumps(answer)


@pytest.mark.parametrize("raw", [None, "", "nonsense", "[]", "[1]", '"weather"', "{broken", 7, [], ["x"]])
async def test_arguments_that_are_no_object_are_an_empty_query(raw):
    run = Run(ToolSearchProcessor(CATALOG))
    answer = await listed(await run.step(), "search_tools").call(raw)
    assert answer["results"] == []
    assert "empty" in answer["message"]


async def test_arguments_may_be_json_text():
    run = Run(ToolSearchProcessor(CATALOG))
    answer = await listed(await run.step(), "search_tools").call('{"query": "weather"}')
    assert names(answer["results"]) == ["weather_forecast"]


async def test_a_result_tells_name_description_score_and_whether_it_is_loaded():
    answer = await Run(ToolSearchProcessor(CATALOG)).search("stock_quote")
    assert answer["results"][0] == {
        "name": "stock_quote",
        "description": "Looks up a share price.",
        "score": 1.0,
        "loaded": False,
    }
    assert answer["total"] >= 1


async def test_an_empty_query_no_match_and_a_bad_pattern_are_told_apart():
    run = Run(ToolSearchProcessor(CATALOG, search="regex"))
    empty, none, bad = [(await run.search(query))["message"] for query in ("", "zzz", "we(ather")]
    assert "empty" in empty
    assert "No tool matches 'zzz'" in none
    assert "we(ather" in bad
    assert "not valid" in bad
    assert len({empty, none, bad}) == 3


async def test_no_match_names_the_tags_too():
    answer = await Run(ToolSearchProcessor(CATALOG)).search("weather", tags=["office"])
    assert answer["results"] == []
    assert "'weather'" in answer["message"]
    assert "office" in answer["message"]


async def test_a_query_of_any_length_is_repeated_clipped():
    answer = await Run(ToolSearchProcessor(CATALOG)).search("zq" * 5000, tags=["t" * 5000])
    assert len(answer["message"]) < 500


async def test_one_bad_pattern_of_several_is_told_and_the_others_are_answered():
    run = Run(ToolSearchProcessor(CATALOG, search="regex"))
    answer = await run.search("we(ather", "share|letter")
    assert names(answer["results"]) == ["send_mail", "stock_quote"]
    assert "we(ather" in answer["message"]


# -- queries


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ["weather", "letter"]},
        {"query": '["weather", "letter"]'},
        {"query": ' ["weather", "letter"]'},
        {"queries": ["weather", "letter"]},
        {"query": ["weather", "", "letter", "weather", None, 4]},
    ],
)
async def test_several_queries_come_as_a_list_or_as_json_text(arguments):
    answer = await Run(ToolSearchProcessor(CATALOG)).call("search_tools", **arguments)
    assert names(answer["results"]) == ["weather_forecast", "send_mail"]
    assert answer["total"] == 2


async def test_a_text_that_only_begins_like_json_is_a_query():
    answer = await Run(ToolSearchProcessor(CATALOG)).search("[weather] tomorrow")
    assert names(answer["results"]) == ["weather_forecast"]


@pytest.mark.parametrize("key", ["pattern", "q"])
async def test_other_words_for_the_query_are_taken(key):
    run = Run(ToolSearchProcessor(CATALOG, search="regex"))
    answer = await run.call("search_tools", **{key: "^weather"})
    assert names(answer["results"]) == ["weather_forecast"]


async def test_each_querys_best_comes_first_and_duplicates_are_merged():
    tables = {
        "one": {"case_1": 0.9, "case_2": 0.8, "case_3": 0.7},
        "two": {"case_2": 0.5, "case_4": 0.4, "case_1": 0.3},
    }
    answer = await scored(tables).search("one", "two")
    assert [(r["name"], r["score"]) for r in answer["results"]] == [
        ("case_1", 0.9),
        ("case_2", 0.5),
        ("case_4", 0.4),
        ("case_3", 0.7),
    ]
    assert answer["total"] == 4


async def test_the_total_counts_what_matches_any_query_however_few_are_shown():
    tables = {
        "one": {f"case_{n}": 0.9 - n / 100 for n in range(10)},
        "two": {f"case_{n}": 0.9 - n / 100 for n in range(5, 15)},
    }
    answer = await scored(tables, min_score=0.5, top_k=2).search("one", "two")
    assert names(answer["results"]) == ["case_0", "case_5", "case_1", "case_6"]
    assert answer["total"] == 15


async def test_the_total_of_one_query_counts_what_could_be_shown():
    scores = {f"case_{n}": 0.9 - n / 10 for n in range(7)}
    tools = [
        make(name, tags={"odd"} if int(name[-1]) % 2 else (), pinned=name == "case_1") for name in scores
    ]
    run = scored(scores, tools, min_score=0.35, top_k=1)
    assert (await run.search("x"))["total"] == 5
    answer = await run.search("x", tags=["odd"])
    assert (names(answer["results"]), answer["total"]) == (["case_3"], 2)


async def test_results_of_one_query_are_ordered_by_score():
    answer = await scored().search("invoice", limit=20)
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


async def test_a_whole_answer_holds_at_most_20():
    tables = {f"q{n}": {f"case_{4 * n + i}": 0.9 - i / 10 for i in range(4)} for n in range(10)}
    answer = await scored(tables).search(*tables)
    assert len(answer["results"]) == 20
    assert names(answer["results"])[:10] == [f"case_{4 * n}" for n in range(10)]
    assert answer["total"] == 40


async def test_an_endless_list_of_queries_is_cut():
    tables = {f"q{n}": {f"case_{n}": 0.9} for n in range(40)}
    answer = await scored(tables).search(*tables)
    assert names(answer["results"]) == [f"case_{n}" for n in range(10)]


# -- limits, tags, scores


@pytest.mark.parametrize(
    ("limit", "count"),
    [
        (9, 9),
        ("9", 9),
        (9.9, 9),
        (7, 7),
        (6, 7),
        ("1", 7),
        (0, 7),
        (-5, 7),
        (20, 20),
        (21, 20),
        (10**30, 20),
        (None, 7),
        ("many", 7),
        ("", 7),
        (float("nan"), 7),
        (float("inf"), 7),
        (True, 7),
        ([], 7),
        ({"n": 3}, 7),
        ("9" * 5000, 7),
    ],
)
async def test_the_limit_is_from_top_k_to_20_and_garbage_is_the_default(limit, count):
    answer = await scored(top_k=7).search("invoice", limit=limit)
    assert len(answer["results"]) == count
    assert answer["total"] == 40


async def test_top_k_is_the_default_limit_and_told_to_the_model():
    run = scored(top_k=3)
    assert len((await run.search("invoice"))["results"]) == 3
    schema = listed(run.current, "search_tools").parameters["properties"]["limit"]
    assert (schema["minimum"], schema["maximum"]) == (1, 20)
    assert "3 by default" in schema["description"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["office"], ["send_mail", "stock_quote"]),
        (["post", "outside"], ["weather_forecast", "send_mail"]),
        ("outside", ["weather_forecast"]),
        ('["outside"]', ["weather_forecast"]),
        ([], ["weather_forecast", "send_mail", "stock_quote"]),
        (None, ["weather_forecast", "send_mail", "stock_quote"]),
    ],
)
async def test_tags_narrow_to_tools_that_have_any_of_them(tags, expected):
    scores = {"weather_forecast": 0.9, "send_mail": 0.8, "stock_quote": 0.7}
    answer = await scored(scores, CATALOG).search("x", tags=tags)
    assert names(answer["results"]) == expected
    assert answer["total"] == len(expected)


@pytest.mark.parametrize(("min_score", "expected"), [(0.0, 4), (0.3, 3), (0.5, 2), (1.0, 1)])
async def test_min_score_is_the_least_score_and_0_never_is_a_hit(min_score, expected):
    scores = {"case_0": 1.0, "case_1": 0.5, "case_2": 0.3, "case_3": 0.01, "case_4": 0.0}
    run = scored(scores, min_score=min_score)
    answer = await run.search("x")
    assert len(answer["results"]) == expected
    assert answer["total"] == expected
    assert len(await run.processor.search("x")) == expected


async def test_a_tiny_score_is_not_rounded_to_0():
    answer = await scored({"case_0": 0.0001}).search("x")
    assert answer["results"][0]["score"] == 0.0001


async def test_an_exact_name_scores_1():
    assert (await Run(ToolSearchProcessor(CATALOG)).search("send_mail"))["results"][0]["score"] == 1.0


# -- what must not be told


@pytest.mark.parametrize("query", ["share price", "zzz", "", ["share", "letter"]])
async def test_total_is_null_with_a_filter(query):
    run = Run(ToolSearchProcessor(CATALOG, filter=lambda request: True))
    assert (await run.call("search_tools", query=query))["total"] is None


async def test_the_description_tells_counts_and_namespaces_without_a_filter_only():
    tools = [
        *(make(f"issue_{n}", namespace="github") for n in range(3)),
        make("page", namespace="notion"),
        make("free"),
        make("always", pinned=True),
    ]
    told = listed(await Run(ToolSearchProcessor(tools)).step(), "search_tools").description
    assert "5 of them" in told
    assert "github (3)" in told
    assert "notion (1)" in told
    run = Run(ToolSearchProcessor(tools, filter=lambda request: True))
    hidden = listed(await run.step(), "search_tools").description
    assert not any(character.isdigit() for character in hidden)
    assert "github" not in hidden
    assert "notion" not in hidden


async def test_pinned_tools_are_in_no_count_of_a_namespace():
    tools = [
        make("a", namespace="github"),
        make("b", namespace="github", pinned=True),
        make("c", namespace="slack"),
        make("d", namespace="notion"),
    ]
    told = listed(await Run(ToolSearchProcessor(tools, pinned=["c"])).step(), "search_tools").description
    assert "2 of them" in told
    assert "github (1), notion (1)." in told
    assert "slack" not in told


async def test_many_namespaces_are_cut():
    tools = [make(f"t{n}", namespace=f"space{n}") for n in range(300)]
    told = listed(await Run(ToolSearchProcessor(tools)).step(), "search_tools").description
    assert "and 280 more namespaces" in told
    assert len(told) < 1000


async def test_what_a_step_brings_does_not_change_the_description():
    processor = ToolSearchProcessor(CATALOG, include_step_tools=True)
    texts = {
        listed(await Run(processor).step(*own), "search_tools").description
        for own in ([], [make("extra", namespace="mcp")], [make("send_mail")])
    }
    assert len(texts) == 1


async def test_the_description_follows_the_mode():
    told = {
        mode: listed(await Run(ToolSearchProcessor(CATALOG, mode=mode)).step(), "search_tools").description
        for mode in ("load", "auto_load", "call")
    }
    assert "load_tool" in told["load"]
    assert "load_tool" not in told["auto_load"]
    assert "call_tool" in told["call"]


@pytest.mark.parametrize("strategy", ["bm25", "regex"])
async def test_the_query_says_whether_it_is_a_pattern(strategy):
    run = Run(ToolSearchProcessor(CATALOG, search=strategy))
    told = listed(await run.step(), "search_tools").parameters["properties"]["query"]["description"]
    assert ("regular expression" in told) == (strategy == "regex")


# -- descriptions


async def described(text):
    answer = await Run(ToolSearchProcessor([Tool("subject", text)])).search("subject")
    return answer["results"][0]["description"]


@pytest.mark.parametrize("length", [0, 1, 149, 150])
async def test_a_description_of_up_to_150_characters_is_whole(length):
    assert await described("x" * length) == "x" * length


@pytest.mark.parametrize(
    "text",
    [
        "alpha beta " * 30,
        "alpha\nbeta\n" * 30,
        "alpha\tbeta\u00a0" * 30,
        "one " + "x" * 300,
        "x" * 300,
        "\U0001f600" * 300,
        "grin \U0001f600 " * 60,
        "天気予報を調べます。" * 40,
        " " * 300,
        "\n" * 151,
    ],
)
async def test_a_longer_description_is_cut_to_150_characters_and_says_so(text):
    shown = await described(text)
    assert len(shown) <= 150
    assert shown.endswith("…")
    assert text.startswith(shown[:-1])
    shown.encode()


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\u3000", "  \n"])
async def test_the_cut_is_made_at_a_word(blank):
    words = [f"word{n}" for n in range(100, 160)]
    shown = await described(blank.join(words))
    assert shown[:-1].split()[-1] in words
    assert len(shown) > 120


async def test_a_cut_never_splits_a_pair_of_surrogates():
    shown = await described("ab " + "\U0001f680" * 200)
    assert set(shown) == {"a", "b", " ", "\U0001f680", "…"}


# -- detail

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 5},
        "unit": {"enum": ["c", "f"]},
        "places": {"type": "array", "items": {"type": "string"}},
        "near": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "spot": {"$ref": "#/$defs/Spot"},
        "kinds": {"type": ["string", "null"]},
        "note": {"type": "string", "default": "a very long default that nobody wants to read here"},
        "free": True,
        "bare": {},
    },
    "required": ["city"],
    "$defs": {"Spot": {"type": "object"}},
}
DETAILED = make("forecast", "Tells the weather.", parameters=SCHEMA)


@pytest.mark.parametrize(
    ("options", "extra"),
    [
        ({}, []),
        ({"mode": "auto_load"}, []),
        ({"mode": "call"}, ["parameters"]),
        ({"result_detail": "signature"}, ["signature"]),
        ({"result_detail": "schema"}, ["parameters"]),
        ({"mode": "call", "result_detail": "brief"}, []),
    ],
)
async def test_result_detail_adds_what_it_says(options, extra):
    (result,) = (await Run(ToolSearchProcessor([DETAILED], **options)).search("weather"))["results"]
    assert list(result) == ["name", "description", "score", "loaded", *extra]


@pytest.mark.parametrize(("mode", "loaded"), [("load", False), ("auto_load", True), ("call", True)])
async def test_only_a_tool_that_can_be_loaded_is_said_to_be_not_loaded(mode, loaded):
    (result,) = (await Run(ToolSearchProcessor([DETAILED], mode=mode)).search("weather"))["results"]
    assert result["loaded"] is loaded


async def test_a_signature_is_a_compact_parameter_list():
    run = Run(ToolSearchProcessor([DETAILED], result_detail="signature"))
    (result,) = (await run.search("weather"))["results"]
    assert result["signature"] == (
        'forecast(city: string, days?: integer = 5, unit?: "c"|"f", places?: string[], '
        "near?: number|null, spot?: Spot, kinds?: string|null, note?: string = …, free?: any, bare?: any)"
    )


async def test_a_schema_is_what_a_model_would_be_sent():
    run = Run(ToolSearchProcessor([DETAILED], result_detail="schema"))
    (result,) = (await run.search("weather"))["results"]
    assert result["parameters"] == DETAILED.wire_schema()


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": None},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": True},
        {"type": "object", "properties": {"a": {"type": "string", "required": True}}, "required": None},
        {"type": "object", "properties": {"a": {"enum": None}}},
        {"type": "object", "properties": {"a": {"enum": "xyz"}}},
        {"type": "object", "properties": {"a": {"anyOf": None}}},
        {"type": "object", "properties": {"a": {"anyOf": {}}}},
        {"type": "object", "properties": {"a": {"type": None}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": None}}},
        {"type": "object", "properties": {"a": None}},
        {"anyOf": [{"type": "object"}]},
        {"type": "string"},
        {"$ref": "#/$defs/X", "$defs": {"X": {"type": "object"}}},
        {},
    ],
)
@pytest.mark.parametrize("detail", ["signature", "schema"])
async def test_an_odd_schema_never_breaks_a_search(parameters, detail):
    odd = make("subject", parameters=parameters)
    answer = await Run(ToolSearchProcessor([odd], result_detail=detail)).search("subject")
    assert names(answer["results"]) == ["subject"]
    json.dumps(answer)


# -- what is left out


async def test_pinned_and_own_tools_are_left_out_and_not_counted():
    clock = make("weather_clock", pinned=True)
    run = Run(ToolSearchProcessor([*CATALOG, clock], pinned=["send_mail"]))
    await run.step(make("weather_station"))
    answer = await run.search("weather", "letter")
    assert names(answer["results"]) == ["weather_forecast"]
    assert answer["total"] == 1
    assert names(await run.processor.search("weather letter")) == ["weather_forecast"]


async def test_results_say_what_is_loaded():
    run = Run(ToolSearchProcessor(CATALOG))
    await run.load("send_mail")
    answer = await run.search("letter", "weather")
    assert [(r["name"], r["loaded"]) for r in answer["results"]] == [
        ("send_mail", True),
        ("weather_forecast", False),
    ]


@pytest.mark.parametrize("limit", [1, 3, 5, 10])
async def test_a_denied_tool_takes_no_place(limit):
    denied = [("search", f"case_{n}") for n in range(12)]
    run = scored(filter=Policy(*denied), top_k=limit)
    answer = await run.search("invoice")
    assert names(answer["results"]) == [f"case_{n}" for n in range(12, 12 + limit)]


async def test_the_ranking_is_the_same_with_and_without_a_filter():
    free = await scored().search("invoice", limit=20)
    filtered = await scored(filter=lambda request: True).search("invoice", limit=20)
    assert free["results"] == filtered["results"]


async def test_no_more_is_asked_than_needed():
    policy = Policy()
    await scored(filter=policy, top_k=3).search("invoice")
    assert policy.asked == [("search", f"case_{n}") for n in range(3)]


# -- for programs


async def test_search_gives_hits_as_the_model_would_get_them_with_the_limit_unclamped():
    run = scored(filter=Policy(("search", "case_0")), top_k=2)
    assert names(await run.processor.search("invoice")) == ["case_1", "case_2"]
    assert len(await run.processor.search("invoice", limit=39)) == 39
    assert await run.processor.search("invoice", limit=0) == []
    assert await run.processor.search("invoice", limit=-1) == []


async def test_search_for_programs_takes_tags_and_context():
    def of_plan(request):
        return request.context.get("plan") == "pro"

    processor = ToolSearchProcessor(CATALOG, filter=of_plan)
    assert await processor.search("letter share") == []
    hits = await processor.search("letter share weather", context={"plan": "pro"}, tags=["post"])
    assert names(hits) == ["send_mail"]
    assert names(await processor.search("letter share", context={"plan": "pro"}, tags="post")) == [
        "send_mail"
    ]


async def test_search_for_programs_raises_for_a_bad_pattern():
    with pytest.raises(InvalidPatternError, match="not valid"):
        await ToolSearchProcessor(CATALOG, search="regex").search("a(")


# -- the catalog changes


async def test_a_search_sees_the_catalog_of_its_moment():
    provider = StaticProvider(CATALOG)
    run = Run(ToolSearchProcessor([provider]))
    await run.step()
    provider.add(make("translate_text", "Puts words into another language."))
    provider.remove("send_mail")
    await run.step()
    assert names((await run.search("language"))["results"]) == ["translate_text"]
    assert (await run.search("letter"))["results"] == []


async def test_a_changed_schema_is_served_at_once():
    provider = StaticProvider([needs("forecast", "city")])
    run = Run(ToolSearchProcessor([provider], result_detail="signature"))
    await run.load("forecast")
    provider.remove("forecast")
    provider.add(needs("forecast", "place"))
    assert list(listed(await run.step(), "forecast").parameters["properties"]) == ["place"]
    (result,) = (await run.search("forecast"))["results"]
    assert result["signature"] == "forecast(place: string)"


async def test_an_index_from_a_factory_and_an_instance_serve():
    for search in (ScoredIndex({"send_mail": 0.5}), lambda: ScoredIndex({"send_mail": 0.5})):
        processor = ToolSearchProcessor(CATALOG, search=search)
        assert names((await Run(processor).search("anything"))["results"]) == ["send_mail"]


async def test_the_same_search_gives_the_same_answer_on_a_fresh_run():
    processor = ToolSearchProcessor(MANY)
    first = await Run(processor).search("invoice", limit=20)
    assert first == await Run(processor).search("invoice", limit=20)
    assert names(first["results"]) == [f"case_{n}" for n in range(20)]
    assert step().run_id != step().run_id


@pytest.mark.parametrize(("policy", "total"), [(None, 0), (lambda request: True, None)])
async def test_an_empty_query_counts_nothing(policy, total):
    answer = await Run(ToolSearchProcessor([make("a")], filter=policy)).search(" ")
    assert (answer["results"], answer["total"]) == ([], total)
