"""Functions of users: whether they can be called as they will be, and what of theirs is a failure."""

import asyncio
import logging
from dataclasses import dataclass
from functools import partial

import pytest

from tool_search_processor.concurrency.foreign_calls import (
    FailuresLogged,
    Noted,
    awaited,
    is_no_failure,
    takes_one,
)


class Policy:
    """Can be called."""

    def __call__(self, request):
        """Admit."""
        return True


@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        (lambda request: True, True),
        (lambda *all_of_it: True, True),
        (lambda request, more=None: True, True),
        (partial(lambda user, request: True, "ada"), True),
        (Policy(), True),
        (dict, True),  # tells no signature
        (lambda: True, False),
        (lambda tool, context: True, False),
        (lambda *, request: True, False),
    ],
)
def test_what_takes_one_argument(hook, expected):
    assert takes_one(hook) is expected


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (KeyboardInterrupt(), True),
        (GeneratorExit(), True),
        (asyncio.CancelledError(), False),  # of something inside: this task goes on
        (SystemExit(3), False),
        (BaseException("a panic"), False),
        (ValueError(), False),
    ],
)
async def test_what_foreign_code_does_not_fail_by(raised, expected):
    assert is_no_failure(raised) is expected


def test_a_cancellation_outside_of_a_loop_is_a_failure():
    assert not is_no_failure(asyncio.CancelledError())


async def test_a_cancellation_of_the_own_task_is_no_failure():
    told = []
    begun = asyncio.Event()

    async def call():
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as exc:
            told.append(is_no_failure(exc))
            raise

    task = asyncio.create_task(call())
    await begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert told == [True]


async def test_what_may_be_sync_or_async_is_awaited():
    assert await awaited(3) == 3
    assert await awaited(asyncio.sleep(0, 4)) == 4


@pytest.mark.parametrize("raised", [ValueError("no"), SystemExit(3), BaseException("a panic")])
async def test_a_failure_in_the_block_is_logged_and_what_follows_runs(raised, caplog):
    with FailuresLogged(logging.getLogger("x"), "%r failed", "hook"):
        raise raised
    (record,) = caplog.records
    assert (record.levelno, record.getMessage()) == (logging.WARNING, "'hook' failed")
    assert record.exc_info[1] is raised


async def test_what_is_no_failure_leaves_the_block_and_is_not_logged(caplog):
    with FailuresLogged(logging.getLogger("x"), "failed"):
        pass
    with pytest.raises(KeyboardInterrupt), FailuresLogged(logging.getLogger("x"), "failed"):
        raise KeyboardInterrupt
    assert caplog.messages == []


@dataclass(frozen=True)
class FrozenError(Exception):
    """Takes no note."""

    code: int = 5


@pytest.mark.parametrize(("error", "notes"), [(ValueError("x"), ["raised by x"]), (FrozenError(), None)])
def test_what_is_raised_gets_a_note_if_it_can_take_one(error, notes):
    with pytest.raises(type(error)) as caught, Noted("raised by x"):
        raise error
    assert caught.value is error
    assert getattr(error, "__notes__", None) == notes
