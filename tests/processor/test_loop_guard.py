"""The loop guard: fruitless searching is told, new findings never are, and nothing is held back."""

import pytest

from tests.support import Run, ScoredIndex, make, names
from tool_search_processor import ToolSearchProcessor
from tool_search_processor.processor.loop_guard import FRUITLESS_SEARCHES, LoopGuard

TOOLS = [make(f"tool_{n}", tags={"odd"} if n % 2 else ()) for n in range(12)]
EACH = {f"q{n}": {f"tool_{n}": 0.9} for n in range(12)}
SAME = {f"same{n}": {"tool_0": 0.9} for n in range(12)}


def run_over(table=None, **options):
    return Run(ToolSearchProcessor(TOOLS, search=ScoredIndex({**EACH, **SAME, **(table or {})}), **options))


def is_told(answer):
    return "Stop searching" in answer["message"]


# -- the judge


def test_the_same_search_again_is_repeated():
    guard = LoopGuard()
    assert guard.judge("a", ["x"]) is None
    assert guard.judge("a", ["x"]) == "repeated"
    assert guard.judge("a", []) == "repeated"


def test_the_sixth_search_in_a_row_without_anything_new_is_fruitless():
    guard = LoopGuard()
    guard.judge("first", ["x", "y"])
    verdicts = [guard.judge(f"search {n}", ["x"] if n % 2 else []) for n in range(7)]
    assert verdicts == [None] * 5 + ["fruitless"] * 2
    assert FRUITLESS_SEARCHES == 6


def test_something_new_begins_the_count_anew():
    guard = LoopGuard()
    for n in range(5):
        guard.judge(n, [])
    assert guard.judge("new", ["x"]) is None
    assert [guard.judge(n, ["x"]) for n in range(10, 16)] == [None] * 5 + ["fruitless"]


def test_a_repeated_search_that_brings_something_new_is_not_told():
    guard = LoopGuard()
    guard.judge("a", ["x"])
    assert guard.judge("a", ["x", "y"]) is None
    assert guard.judge("a", ["x", "y"]) == "repeated"


def test_use_begins_anew():
    guard = LoopGuard()
    guard.judge("a", ["x"])
    for n in range(4):
        guard.judge(n, [])
    guard.used()
    assert guard.judge("a", ["x"]) is None
    assert [guard.judge(f"later {n}", []) for n in range(5)] == [None] * 4 + ["fruitless"]


def test_it_remembers_a_bounded_number_of_searches():
    guard = LoopGuard()
    for n in range(5000):
        guard.judge(n, [str(n)])
    assert len(guard._asked) == 1000
    assert guard.judge(4999, []) is None


# -- in a run


async def test_the_same_query_again_is_told_and_still_answered():
    run = run_over()
    first = await run.search("q1")
    again = await run.search("q1")
    assert not is_told(first)
    assert again["message"].startswith("You have searched for this before")
    assert is_told(again)
    assert (again["results"], again["total"]) == (first["results"], first["total"])


@pytest.mark.parametrize("again", ["Q1", "  q1 ", "q1"])
async def test_letter_case_and_blanks_make_no_new_query(again):
    run = run_over({"Q1": {"tool_1": 0.9}})
    await run.search("q1")
    assert is_told(await run.search(again))


async def test_the_order_of_queries_makes_no_new_search():
    run = run_over()
    await run.search("q1", "q2")
    assert is_told(await run.search("q2", "q1"))


async def test_another_limit_or_other_tags_make_another_search():
    run = run_over()
    await run.search("q1")
    assert not is_told(await run.search("q1", limit=7))
    assert not is_told(await run.search("q1", tags=["odd"]))
    assert is_told(await run.search("q1", limit=2, tags=["none"]))


async def test_the_sixth_search_with_nothing_new_is_told():
    run = run_over()
    await run.search("q0")
    told = [is_told(await run.search(f"same{n}")) for n in range(7)]
    assert told == [False] * 5 + [True] * 2


async def test_searching_without_any_match_is_told_too():
    run = run_over()
    answers = [await run.search(f"zzz{n}") for n in range(6)]
    assert [is_told(answer) for answer in answers] == [False] * 5 + [True]
    assert all("No tool matches" in answer["message"] for answer in answers[:5])
    assert answers[-1]["results"] == []
    assert answers[-1]["message"].startswith("Your last searches have found nothing new")


async def test_a_search_that_brings_something_new_is_never_told():
    run = run_over()
    for n in range(12):
        assert not is_told(await run.search(f"q{n}"))


async def test_the_loaded_tools_are_named():
    run = run_over()
    await run.load("tool_3", "tool_5")
    await run.search("q1")
    assert "Loaded and callable: tool_3, tool_5." in (await run.search("q1"))["message"]


@pytest.mark.parametrize(
    ("mode", "use"),
    [
        ("load", 'Your next call: load_tool with {"tool_names": ["tool_1"]}.'),
        ("auto_load", "Your next call: tool_1."),
        ("call", 'Your next call: call_tool with {"name": "tool_1"} and its arguments.'),
    ],
)
async def test_it_says_what_to_do_instead(mode, use):
    run = run_over(mode=mode)
    await run.search("q1")
    assert use in (await run.search("q1"))["message"]


async def test_loading_and_calling_begin_anew():
    run = run_over()
    await run.search("q1")
    await run.load("tool_1")
    assert not is_told(await run.search("q1"))
    assert is_told(await run.search("q1"))
    await run.step()
    await run.call("tool_1")
    assert not is_told(await run.search("q1"))
    await run.direct("tool_2")
    assert not is_told(await run.search("q1"))


async def test_loading_what_is_loaded_or_unknown_is_no_use():
    run = run_over()
    await run.load("tool_1")
    await run.search("q1")
    await run.load("tool_1", "nowhere")
    assert is_told(await run.search("q1"))


async def test_a_proxied_call_is_a_use():
    run = run_over(mode="call")
    await run.search("q1")
    await run.call("call_tool", name="tool_1")
    assert not is_told(await run.search("q1"))


async def test_it_holds_over_steps_and_ends_with_the_run():
    processor = ToolSearchProcessor(TOOLS, search=ScoredIndex(EACH))
    run = Run(processor, thread="t")
    await run.search("q1")
    await run.step()
    assert is_told(await run.search("q1"))
    await run.end()
    assert not is_told(await Run(processor, thread="t").search("q1"))


async def test_runs_are_guarded_each_for_itself():
    processor = ToolSearchProcessor(TOOLS, search=ScoredIndex(EACH))
    await Run(processor, thread="t").search("q1")
    assert not is_told(await Run(processor, thread="t").search("q1"))


async def test_empty_queries_are_answered_alike_however_often():
    run = run_over()
    messages = {(await run.search(""))["message"] for _ in range(8)}
    assert len(messages) == 1
    assert not is_told({"message": messages.pop()})


async def test_nothing_is_held_back():
    run = run_over()
    for _ in range(20):
        assert names((await run.search("q1"))["results"]) == ["tool_1"]
