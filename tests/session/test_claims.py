"""Claims on calls: who gets them, who gives them back, and what a run is called."""

from dataclasses import replace

import pytest

from tests.support import step
from tool_search_processor.errors import ResumeError
from tool_search_processor.session.claims import (
    Claim,
    ClaimName,
    LocalClaims,
    claim_calls,
    claimers,
    content_name,
    release_claims,
)
from tool_search_processor.session.prepared_calls import PreparedCall
from tool_search_processor.tools import Tool
from tool_search_processor.wire.calls import CallRequest

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


X, Y, Z = (ClaimName(name) for name in "xyz")


async def test_every_claimer_is_asked_about_every_name_of_every_call():
    one, other = Claimer(), Claimer()
    names = {"c1": [X, ClaimName("y", "t")], "c2": [Z]}
    held = await claim_calls([one, other], STEP, calls=names)
    assert one.asked == other.asked == [("x", "c1"), ("y", "c1"), ("z", "c2")]
    assert [(claim.claimer, claim.step.run_id, claim.call_id) for claim in held] == [
        (claimer, *asked) for asked in one.asked for claimer in (one, other)
    ]
    assert [claim.step.thread_id for claim in held[::2]] == [None, "t", None]


async def test_calls_are_claimed_all_or_none():
    free, taken = Releasing(), Releasing(("z", "c2"))
    names = {"c1": [X, ClaimName("shared", use="share"), Y], "c2": [Z]}
    with pytest.raises(ResumeError, match=r"^the call 'c2' was decided before: it does not run again$"):
        await claim_calls([free, taken], STEP, calls=names)
    assert free.held == set()
    assert taken.held == {("z", "c2")}


async def test_a_shared_name_is_taken_by_the_first_and_refused_to_whoever_wants_to_hold_it():
    claimer, shared = Releasing(), ClaimName("x", use="share")
    held = await claim_calls([claimer], STEP, calls={"c1": [shared]})
    assert await claim_calls([claimer], STEP, calls={"c1": [shared]}) == []
    with pytest.raises(ResumeError):
        await claim_calls([claimer], STEP, calls={"c1": [X]})
    await release_claims(held)
    assert claimer.held == set()


async def test_a_name_that_is_only_checked_must_be_free_and_stays_free():
    claimer, checked = Releasing(), ClaimName("x", use="check")
    for _ in range(2):
        assert await claim_calls([claimer], STEP, calls={"c1": [checked]}) == []
        assert claimer.held == set()
    await claim_calls([claimer], STEP, calls={"c1": [X]})
    with pytest.raises(ResumeError):
        await claim_calls([claimer], STEP, calls={"c1": [checked]})


async def test_claims_of_calls_that_ran_are_kept_and_a_failure_holds_nothing_up(caplog):
    claimer = Releasing(failing=["c1"])
    held = await claim_calls([claimer], STEP, calls={"c1": [X], "c2": [X], "c3": [X]})
    await release_claims(held, used={"c2"})
    assert claimer.held == {("x", "c1"), ("x", "c2")}
    (warning,) = caplog.records
    assert warning.getMessage() == "the claim of the call 'c1' could not be given back"
    assert warning.exc_info[0] is OSError


async def test_a_claimer_that_takes_nothing_back_is_left_alone(caplog):
    await release_claims([Claim(claimer=Claimer(), step=STEP, call_id="c1")])
    assert caplog.records == []


def prepared(call_id="c1", name="add", **arguments):
    request = CallRequest(id=call_id, name=name, arguments=arguments)
    return PreparedCall(request=request, name=name, arguments=arguments, asked=arguments)


def calling(*call_ids):
    return {"role": "assistant", "tool_calls": [{"id": call_id} for call_id in call_ids]}


def answer(call_id):
    return {"role": "tool", "tool_call_id": call_id, "content": "2"}


ASKED = {"role": "user", "content": "add"}


@pytest.mark.parametrize(
    "conversation",
    [
        [ASKED],
        [ASKED, calling("c1"), answer("c1")],
        [ASKED, calling("c0", "c1"), answer("c0")],
        [{"content": "add", "role": "user"}],  # the order of keys says nothing
        [{**ASKED, "name": None, "tool_calls": []}],
        [{"role": "system", "content": "Be brief."}, ASKED],
        [{**ASKED, "receipt": {"type": "tool-search/loaded", "v": 1, "names": ["add"]}}],
    ],
)
def test_a_call_is_known_by_the_conversation_before_it(conversation):
    assert content_name(conversation, prepared(a=1)) == content_name([ASKED, calling("c1")], prepared(a=1))


@pytest.mark.parametrize(
    ("conversation", "call"),
    [
        ([ASKED], prepared(a=2)),
        ([ASKED], prepared(name="sum", a=1)),
        ([ASKED, calling("c0")], prepared(a=1)),
        ([], prepared(a=1)),
        ([ASKED, calling("c1"), answer("c1"), ASKED], prepared(a=1)),  # the same id in a later turn
    ],
)
def test_another_conversation_or_call_is_another(conversation, call):
    assert content_name(conversation, call) != content_name([ASKED], prepared(a=1))


def test_a_call_through_a_proxy_is_known_as_the_model_wrote_it():
    """Policy may hide the tool behind it at one time and not at another."""
    target = replace(prepared(name="call_tool", name_="add"), tool=Tool("add"), arguments={"a": 1})
    assert content_name([], target) == content_name([], prepared(name="call_tool", name_="add"))


def test_a_conversation_with_objects_in_it_has_a_name():
    assert content_name([{"role": "user", "content": {1}}], prepared()) == content_name(
        [{"role": "user", "content": "{1}"}], prepared()
    )
