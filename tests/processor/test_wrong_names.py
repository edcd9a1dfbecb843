"""Names that models make up: what they may mean is suggested, at every door, and a repetition is noticed."""

import json

import pytest
import standard_library

from tests.processor.made_up_names import MADE_UP, MORE_MADE_UP
from tests.support import Policy, Run, make, names
from tool_search_processor import ToolSearchProcessor
from tool_search_processor.search.bm25 import BM25Index

ISSUE = make("create_issue", "Opens a ticket in GitHub.")
COUNT = make("processor_count", "Counts the processor cores (CPUs) of this computer.")
SCORES = make("z_scores", "Standardizes numbers.")
MAIL = make("send_mail", "Sends a letter.")
CATALOG = [ISSUE, COUNT, SCORES, MAIL]


def run_over(tools=CATALOG, **options):
    return Run(ToolSearchProcessor(tools, **options))


async def suggested(run, name):
    answer = await run.load(name)
    return answer["not_found"][0]["suggestions"] if answer["not_found"] else answer["loaded"]


# -- what is suggested


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["bm25", "regex", "fuzzy"])
@pytest.mark.parametrize(("table", "least"), [(MADE_UP, 20), (MORE_MADE_UP, 15)])
async def test_most_made_up_names_are_suggested_the_right_tool(strategy, table, least):
    run = run_over(standard_library.tools(), search=strategy)
    found = {name: await suggested(run, name) for name in table}
    assert sum(right in found[name] for name, right in table.items()) >= least
    assert all(len(suggestions) <= 3 for suggestions in found.values())


async def test_words_in_common_go_before_letters_in_common():
    assert await suggested(run_over(), "cpu_cores") == ["processor_count"]


async def test_a_slip_goes_before_words_in_common():
    issues = [make("list_issues", "Lists what create_isue made."), ISSUE]
    assert (await suggested(run_over(issues), "create_isue"))[0] == "create_issue"


async def test_without_words_in_common_letters_count():
    assert await suggested(run_over([make("python_version")]), "pithn_versin") == ["python_version"]


@pytest.mark.parametrize("name", ["zzz", "___", "\x00", "x" * 100_000, "天気"])
async def test_a_name_like_nothing_is_suggested_nothing(name):
    assert await run_over().direct(name) == (
        f"Error: There is no tool {name if len(name) <= 80 else name[:79] + '…'!r} to call. "
        "Find tools with search_tools."
    )


async def test_an_index_that_fails_leaves_the_spelling(caplog):
    class Broken(BM25Index):
        def search(self, query, **options):
            raise RuntimeError("out of order")

    assert await suggested(run_over(search=Broken), "create_isue") == ["create_issue"]
    assert "out of order" in caplog.text


async def test_a_long_list_of_wrong_names_costs_ten_searches():
    class Counting(BM25Index):
        searches = 0

        def search(self, query, **options):
            Counting.searches += 1
            return super().search(query, **options)

    answer = await run_over(search=Counting).load(*(f"mail_number_{n}" for n in range(60)))
    assert len(answer["not_found"]) == 60
    assert Counting.searches == 10


# -- who may know of them


@pytest.mark.parametrize("phase", ["search", "load"])
async def test_a_denied_tool_is_not_suggested_for_its_words(phase):
    run = run_over(filter=Policy((phase, "processor_count")))
    without = run_over([ISSUE, SCORES, MAIL], filter=Policy())
    assert await suggested(run, "cpu_cores") == await suggested(without, "cpu_cores")
    assert "processor_count" not in await run.direct("cpu_cores")


async def test_denied_tools_take_no_place():
    tools = [make(f"mail_{n}", "Sends a letter.") for n in range(40)]
    others = [make(f"topic_{n}", "Handles a topic.") for n in range(40)]
    policy = Policy(*(("load", f"mail_{n}") for n in range(37)))
    run = run_over([*tools, *others], filter=policy)
    assert await suggested(run, "letter_sender") == ["mail_37", "mail_38", "mail_39"]


# -- where it stands


async def test_a_load_says_it_in_its_sentence():
    answer = await run_over().load("cpu_cores", "zzz")
    assert answer["not_found"] == [
        {"name": "cpu_cores", "suggestions": ["processor_count"]},
        {"name": "zzz", "suggestions": []},
    ]
    assert answer["message"] == (
        "Not found: cpu_cores (did you mean processor_count?), zzz. Search for tools by what they do, with "
        "search_tools."
    )


@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
async def test_a_call_says_it_too(mode):
    told = (
        "Error: There is no tool 'cpu_cores' to call. Did you mean processor_count? "
        "Find tools with search_tools."
    )
    assert await run_over(mode=mode).direct("cpu_cores") == told
    if mode == "call":
        assert await run_over(mode=mode).call("call_tool", name="cpu_cores", host="here") == told


async def test_arguments_beside_the_name_are_taken():
    run = run_over(mode="call")
    for given in ({}, {"arguments": {}}, {"arguments": None}):
        answer = await run.call("call_tool", name="send_mail", city="Rome", **given)
        assert answer == {"ran": "send_mail", "city": "Rome"}


# -- the same once more


async def test_the_same_load_of_an_unknown_name_again_names_the_next_call():
    run = run_over()
    first, again, third = [await run.load("cpu_cores") for _ in range(3)]
    assert "before" not in first["message"]
    assert again["message"] == (
        f"{first['message']} You have asked for this before. Your next call: load_tool with "
        f"{json.dumps({'tool_names': ['processor_count']})}, or search_tools."
    )
    assert third == again
    assert again["not_found"] == first["not_found"]


async def test_the_same_load_of_a_loaded_tool_again_says_to_call_it():
    run = run_over()
    await run.load("send_mail")
    first, again = [await run.load("send_mail") for _ in range(2)]
    assert first["message"] == "Already loaded: send_mail. Call it."
    assert (
        again["message"] == f"{first['message']} You have asked for this before. Your next call: send_mail."
    )
    assert names(await run.step())[2:] == ["send_mail"]


async def test_the_order_of_names_makes_no_new_load_and_other_names_do():
    run = run_over()
    await run.load("zzz", "yyy")
    assert "before" in (await run.load("yyy", "zzz"))["message"]
    assert "before" not in (await run.load("zzz"))["message"]


async def test_a_load_that_brings_something_is_never_told():
    run = run_over()
    for name in ("send_mail", "create_issue"):
        assert "before" not in (await run.load("zzz", name))["message"]


async def test_a_use_begins_anew():
    run = run_over()
    await run.load("zzz")
    await run.direct("send_mail")
    assert "before" not in (await run.load("zzz"))["message"]


@pytest.mark.parametrize(
    ("mode", "next_call"),
    [
        ("load", 'load_tool with {"tool_names": ["processor_count"]}'),
        ("auto_load", "processor_count"),
        ("call", 'call_tool with {"name": "processor_count"} and its arguments'),
    ],
)
async def test_the_same_call_of_an_unknown_name_again_names_the_next_call(mode, next_call):
    run = run_over(mode=mode)
    await run.direct("cpu_cores")
    assert (await run.direct("cpu_cores")).endswith(
        f"You have tried it before. Your next call: {next_call}, or search_tools."
    )


async def test_a_program_is_never_told_that_it_asked_before():
    processor = ToolSearchProcessor(CATALOG)
    answers = [await processor.load("zzz", thread_id="t") for _ in range(2)]
    assert answers[0] == answers[1]
