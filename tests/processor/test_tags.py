"""Tags of a search: namespaces count as tags, and a tag that no tool has costs nothing."""

import json

import pytest
import standard_library

from tests.support import Policy, Run, ScoredIndex, listed, make, names
from tool_search_processor import Tool, ToolSearchProcessor
from tool_search_processor.tokens.counting import DefinitionCounter

GITHUB = make("create_issue", namespace="github", tags={"write"})
GITLAB = make("list_merges", namespace="gitlab", tags={"read"})
CLOCK = make("clock", namespace="time", tags={"always"}, pinned=True)
PLAIN = make("send_mail")
CATALOG = [GITHUB, GITLAB, CLOCK, PLAIN]
SCORES = {"create_issue": 0.9, "list_merges": 0.8, "send_mail": 0.7}


def run_over(tools=CATALOG, **options):
    return Run(ToolSearchProcessor(tools, search=ScoredIndex(SCORES), **options))


def tags_of(at):
    return listed(at, "search_tools").parameters["properties"].get("tags")


# -- what they narrow to


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"tags": ["github"]}, ["create_issue"]),
        ({"tags": "gitlab"}, ["list_merges"]),
        ({"tags": ["write", "gitlab"]}, ["create_issue", "list_merges"]),
        ({"tags": ["GitHub"]}, ["create_issue"]),
        ({"tags": ["git-hub", " READ "]}, ["create_issue", "list_merges"]),
        ({"namespace": "github"}, ["create_issue"]),
        ({"namespaces": ["gitlab"], "tag": "write"}, ["create_issue", "list_merges"]),
        ({"tags": ["", " "]}, ["create_issue", "list_merges", "send_mail"]),
    ],
)
async def test_they_are_tags_and_namespaces_in_any_spelling(arguments, found):
    answer = await run_over().search("x", **arguments)
    assert names(answer["results"]) == found
    assert "Left out" not in answer["message"]


async def test_a_tag_of_exactly_this_spelling_goes_before_others_like_it():
    run = run_over([GITHUB.replace(tags={"C++"}), PLAIN.replace(tags={"C#"})])
    assert names((await run.search("x", tags=["C#"]))["results"]) == ["send_mail"]


@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
@pytest.mark.parametrize("tags", [["hashing"], ["math", "5 more namespaces"], ["always"], ["time"], ["!"]])
async def test_tags_that_nothing_to_be_found_has_are_left_out_and_told(mode, tags):
    plain = await run_over(mode=mode).search("x")
    answer = await run_over(mode=mode).search("x", tags=tags)
    told = f"Left out tags that no tool has: {', '.join(sorted(tags))}. "
    assert answer == {**plain, "message": f"{told}{plain['message']}"}


async def test_beside_a_known_tag_an_unknown_one_is_left_out():
    answer = await run_over().search("x", tags=["github", "nowhere"])
    assert names(answer["results"]) == ["create_issue"]
    assert answer["message"].startswith("Left out tags that no tool has: nowhere. Found 1 tool.")


async def test_a_known_tag_narrows_to_nothing_and_the_next_call_is_told():
    run = Run(ToolSearchProcessor(CATALOG))
    answer = await run.search("mail", tags=["github"])
    assert (answer["results"], answer["total"]) == ([], 0)
    assert answer["message"] == "No tool matches 'mail' with a tag of github. Search again without tags."
    again = await run.search("mail", tags=["github"])
    assert again["message"].endswith("Your next call: search_tools without tags.")


async def test_a_bad_pattern_and_left_out_tags_are_both_told():
    answer = await Run(ToolSearchProcessor(CATALOG, search="regex")).search("(", tags=["nowhere"])
    assert answer["message"].startswith("Left out tags that no tool has: nowhere. ")
    assert "not valid" in answer["message"]


async def test_tools_that_a_step_brings_are_found_by_their_tags():
    run = run_over(include_step_tools=True)
    at = await run.step(make("create_issue", namespace="own"))
    assert "own" not in json.dumps(tags_of(at))
    assert names((await run.search("x", tags=["own"]))["results"]) == ["create_issue"]
    assert names((await run.search("x", tags=["write", "read"]))["results"]) == ["list_merges"]


# -- with a filter


@pytest.mark.parametrize("tags", [["write"], ["github"], ["write", "github", "nowhere"], ["write", "gitlab"]])
@pytest.mark.parametrize("query", ["x", ""])
async def test_a_tag_of_denied_tools_is_answered_as_one_that_no_tool_has(tags, query):
    denying = run_over(filter=Policy(("search", "create_issue")))
    without = run_over([GITLAB, CLOCK, PLAIN], filter=Policy())
    assert await denying.search(query, tags=tags) == await without.search(query, tags=tags)


@pytest.mark.parametrize("hidden", ["Git-Hub", "GitHub"])
@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
async def test_the_spelling_of_a_denied_tools_tag_changes_no_answer(mode, hidden):
    secret = make("secret", tags={hidden})
    denying = run_over([GITHUB, secret, PLAIN], mode=mode, filter=Policy(("search", "secret")))
    without = run_over([GITHUB, PLAIN], mode=mode, filter=Policy())
    for query in ("x", "", "x"):
        assert await denying.search(query, tags=["GitHub"]) == await without.search(query, tags=["GitHub"])


@pytest.mark.parametrize("hidden", ["Git-Hub", "GitHub"])
async def test_an_empty_answer_never_names_the_tag_of_a_denied_tool(hidden):
    secret = make("secret", tags={hidden})
    run = Run(ToolSearchProcessor([GITHUB, secret], filter=Policy(("search", "secret"))))
    answer = await run.search("sunrise", tags=["GitHub"])
    assert answer["message"] == "No tool matches 'sunrise' with a tag of github. Search again without tags."


async def test_of_a_tag_one_tool_is_asked_about_at_most():
    tools = [make(f"tool_{n}", tags={"same"}) for n in range(50)]
    policy = Policy()
    run = Run(ToolSearchProcessor(tools, search=ScoredIndex({"tool_7": 0.9}), filter=policy))
    await run.search("x", tags=["same"])
    assert policy.asked == [("search", "tool_0"), ("search", "tool_7")]


async def test_with_a_filter_the_definition_tells_no_tags():
    hiding = await run_over(filter=Policy(("search", "create_issue"), ("search", "list_merges"))).step()
    without = await run_over([PLAIN], filter=Policy()).step()
    assert tags_of(hiding) is None
    assert listed(hiding, "search_tools").to_openai() == listed(without, "search_tools").to_openai()


# -- what is offered


async def test_few_are_listed_in_the_catalogs_order():
    offered = tags_of(await run_over().step())
    assert offered["items"] == {"type": "string", "enum": ["github", "write", "gitlab", "read"]}


async def test_without_tags_and_namespaces_none_are_offered_and_those_given_are_read():
    run = run_over([PLAIN, CLOCK])
    assert tags_of(await run.step()) is None
    assert names((await run.search("x", tags=["nowhere"]))["results"]) == ["send_mail"]


@pytest.mark.parametrize(
    "tags",
    [[f"label_{n}" for n in range(40)], ["x" * 200], ["two\nlines"], ["hid\u202eden"], ["  outside  "]],
    ids=["many", "long", "lines", "hidden", "blanks"],
)
async def test_those_that_are_many_long_or_odd_are_not_listed(tags):
    run = run_over([PLAIN.replace(tags=frozenset(tags))])
    assert tags_of(await run.step())["items"] == {"type": "string"}
    assert names((await run.search("x", tags=tags))["results"]) == ["send_mail"]


async def test_the_definition_changes_with_the_catalog_only():
    processor = ToolSearchProcessor(CATALOG, include_step_tools=True)
    first = listed(await Run(processor).step(), "search_tools").definition_json
    run = Run(processor, thread="t")
    await run.step(make("extra", namespace="mcp", tags={"new"}))
    await run.load("create_issue")
    assert listed(await run.step(), "search_tools").definition_json == first


# -- what it costs

LABELS = frozenset(f"label{n}" for n in range(8))
TAGGED = [Tool(f"t{n}", "Does it.", tags=LABELS) for n in range(5)]
UNTAGGED = [Tool(f"t{n}", "Does it.") for n in range(5)]


@pytest.mark.parametrize(
    ("tools", "mode", "most"),
    [
        (standard_library.tools(), "load", 340),
        (standard_library.tools(), "auto_load", 255),
        (standard_library.tools(), "call", 355),
        (TAGGED, "load", 284),
        (TAGGED, "auto_load", 191),
        (TAGGED, "call", 300),
        (UNTAGGED, "load", 240),
        (UNTAGGED, "auto_load", 155),
        (UNTAGGED, "call", 255),
    ],
)
async def test_the_definitions_of_the_meta_tools_keep_their_budget(tools, mode, most):
    at = await Run(ToolSearchProcessor(tools, mode=mode)).step()
    assert DefinitionCounter().count(at.tools) <= most


# -- other doors


async def test_a_programs_search_takes_namespaces_and_takes_tags_at_their_word():
    processor = ToolSearchProcessor(CATALOG, search=ScoredIndex(SCORES))
    assert names(await processor.search("x", tags=["github"])) == ["create_issue"]
    assert names(await processor.catalog.search("x", tags="gitlab")) == ["list_merges"]
    assert await processor.search("x", tags=["nowhere"]) == []
