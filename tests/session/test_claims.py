"""Claims on calls: who gets them, who gives them back, and what a run is called."""

import pytest

from tests.support import step
from tool_search_processor.errors import ResumeError
from tool_search_processor.session.claims import (
    Claim,
    LocalClaims,
    claim_calls,
    claimers,
    content_name,
    release_claims,
)
from tool_search_processor.session.prepared_calls import PendingCall, arguments_hash

STEP = step(thread="t", run_id="r")


class Claimer:
    """Keeps claims, some of them made by somebody else, and records what it was asked."""

    id = "claimer"

    def __init__(self, *taken, failing=()):
        self.held = set(taken)
        self.failing = failing
        self.asked = []

    async def process_input_step(self, given):
        return given

    async def claim_call(self, given, call_id):
        self.asked.append((given.run_id, call_id))
        if (given.run_id, call_id) in self.held:
            return False
        self.held.add((given.run_id, call_id))
        return True


class Releasing(Claimer):
    async def release_call(self, given, call_id):
        if call_id in self.failing:
            raise OSError("no network")
        self.held.remove((given.run_id, call_id))


async def test_in_a_process_the_first_claim_of_a_call_counts():
    claims = LocalClaims()
    assert await claims.claim_call(STEP, "c1")
    assert not await claims.claim_call(STEP, "c1")
    others = [(STEP, "c2"), (STEP.replace(run_id="r2"), "c1"), (STEP.replace(thread_id="t2"), "c1")]
    assert [await claims.claim_call(*other) for other in others] == [True] * 3
    await claims.release_call(STEP, "c1")
    await claims.release_call(STEP, "never claimed")
    assert await claims.claim_call(STEP, "c1")
    assert [await claims.claim_call(*other) for other in others] == [False] * 3


async def test_a_process_keeps_a_bounded_number_of_claims_and_forgets_the_oldest():
    claims = LocalClaims(most=2)
    for call_id, is_first in (("a", True), ("b", True), ("a", False), ("c", True), ("b", False), ("a", True)):
        assert await claims.claim_call(STEP, call_id) is is_first


def test_claimers_are_the_processors_that_can_claim():
    class Plain:
        id = "plain"

        async def process_input_step(self, given):
            return given

    first, second = Claimer(), Releasing()
    assert claimers([first, Plain(), second]) == [first, second]


async def test_every_claimer_is_asked_about_every_name_of_every_call():
    one, other = Claimer(), Claimer()
    held = await claim_calls([one, other], STEP, calls={"c1": ["x", "y"], "c2": ["z"]})
    assert one.asked == other.asked == [("x", "c1"), ("y", "c1"), ("z", "c2")]
    assert [(claim.claimer, claim.step.run_id, claim.call_id) for claim in held] == [
        (claimer, *asked) for asked in one.asked for claimer in (one, other)
    ]
    assert {claim.step.thread_id for claim in held} == {"t"}


@pytest.mark.parametrize("also_named", [None, "other"])
async def test_calls_are_claimed_all_or_none(also_named):
    free, taken = Releasing(), Releasing(("z", "c2"))
    with pytest.raises(ResumeError, match=r"^the call 'c2' was decided before: it does not run again$"):
        await claim_calls([free, taken], STEP, calls={"c1": ["x", "y"], "c2": ["z"]}, also_named=also_named)
    assert free.held == set()
    assert taken.held == {("z", "c2")}


async def test_a_claim_under_another_name_is_taken_where_it_is_free():
    claimer = Releasing(("also", "c1"))
    calls = {"c1": ["x"], "c2": ["also", "y"], "c3": ["z"]}
    held = await claim_calls([claimer], STEP, calls=calls, also_named="also")
    assert {(claim.step.run_id, claim.call_id) for claim in held} == {
        ("x", "c1"),
        ("also", "c2"),
        ("y", "c2"),
        ("also", "c3"),
        ("z", "c3"),
    }
    await release_claims(held)
    assert claimer.held == {("also", "c1")}


async def test_another_name_that_is_a_name_of_the_run_too_must_be_free():
    with pytest.raises(ResumeError):
        await claim_calls([Claimer(("x", "c1"))], STEP, calls={"c1": ["x"]}, also_named="x")


async def test_claims_of_calls_that_ran_are_kept_and_a_failure_holds_nothing_up(caplog):
    claimer = Releasing(failing=["c1"])
    held = await claim_calls([claimer], STEP, calls={"c1": ["x"], "c2": ["x"], "c3": ["x"]})
    await release_claims(held, used={"c2"})
    assert claimer.held == {("x", "c1"), ("x", "c2")}
    (warning,) = caplog.records
    assert warning.getMessage() == "the claim of the call 'c1' could not be given back"
    assert warning.exc_info[0] is OSError


async def test_a_claimer_that_takes_nothing_back_is_left_alone(caplog):
    await release_claims([Claim(claimer=Claimer(), step=STEP, call_id="c1")])
    assert caplog.records == []


def pending(call_id="c1", **arguments):
    return PendingCall(
        call_id=call_id, name="add", arguments=arguments, arguments_hash=arguments_hash("add", arguments)
    )


def calling(*call_ids):
    return {"role": "assistant", "tool_calls": [{"id": call_id} for call_id in call_ids]}


def test_a_run_is_named_after_the_conversation_before_the_call_and_the_call_itself():
    asked = {"role": "user", "content": "add"}
    name = content_name([asked, calling("c1")], pending(a=1))
    same = [
        ([asked, calling("c1"), {"role": "tool", "tool_call_id": "c1"}], pending(a=1)),
        ([{"content": "add", "role": "user"}], pending(a=1)),  # the order of keys says nothing
        ([asked, calling("c0", "c1")], pending(a=1)),
    ]
    other = [
        ([asked], pending(a=2)),
        ([asked, calling("c0")], pending(a=1)),
        ([], pending(a=1)),
    ]
    assert [content_name(*given) == name for given in same] == [True] * 3
    assert [content_name(*given) == name for given in other] == [False] * 3


def test_a_conversation_with_objects_in_it_has_a_name():
    assert content_name([{"role": "user", "content": {1}}], pending()) == content_name(
        [{"role": "user", "content": "{1}"}], pending()
    )
