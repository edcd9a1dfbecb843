"""One private loop serves all synchronous calls of a process."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from tool_search_processor.concurrency.blocking import (
    _run,
    close_private_loop,
    run_blocking,
    run_in_sync_hook,
)
from tool_search_processor.errors import RunningLoopError

NAME = contextvars.ContextVar("name", default="nobody")


def blocking(start):
    return run_blocking(start, door="f_sync", instead="`await f()`")


@pytest.fixture(autouse=True)
def _closed_afterwards():
    yield
    close_private_loop()


async def running_loop():
    return asyncio.get_running_loop()


def test_calls_share_one_loop():
    assert blocking(running_loop) is blocking(running_loop)


def test_calls_of_several_threads_share_it_at_the_same_time():
    barrier = None
    loops = []

    async def meet():
        nonlocal barrier
        barrier = barrier or asyncio.Barrier(3)
        async with asyncio.timeout(30):
            await barrier.wait()
        return await running_loop()

    threads = [threading.Thread(target=lambda: loops.append(blocking(meet))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loops) == 3
    assert len(set(loops)) == 1


def test_closing_ends_tasks_and_starts_anew():
    first = blocking(running_loop)
    ended = []

    async def linger():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def leave_behind():
        task = asyncio.create_task(linger())
        await asyncio.sleep(0)
        return task

    blocking(leave_behind)
    close_private_loop()
    assert ended == [True]
    assert first.is_closed()
    assert blocking(running_loop) is not first


def test_context_variables_are_the_callers():
    async def name():
        return NAME.get()

    token = NAME.set("ann")
    try:
        assert blocking(name) == "ann"
    finally:
        NAME.reset(token)
    assert blocking(name) == "nobody"


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()]
)
def test_what_is_raised_inside_is_raised_outside(error):
    async def fail():
        raise error

    with pytest.raises(type(error)):
        blocking(fail)
    assert blocking(running_loop).is_running(), "and the loop goes on"


def test_system_exit_in_a_task_of_the_run():
    async def leave():
        raise SystemExit(3)

    async def wait():
        await asyncio.create_task(leave())

    with pytest.raises(SystemExit):
        blocking(wait)
    assert blocking(running_loop).is_running()


def test_a_start_that_fails():
    def start():
        raise ValueError("no coroutine")

    with pytest.raises(ValueError, match="no coroutine"):
        blocking(start)


async def test_inside_a_running_loop_it_refuses():
    with pytest.raises(RunningLoopError, match="f_sync was called inside a running event loop: use `await f"):
        blocking(running_loop)


@pytest.fixture
def _interruptible():
    """Take interrupts as a program in a terminal does: one that runs in the background may ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_cancels_the_run():
    ended = []

    async def wait():
        try:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            await asyncio.Event().wait()
        except asyncio.CancelledError as exc:
            exc.run_messages = ["kept"]
            raise
        finally:
            ended.append(True)

    with pytest.raises(KeyboardInterrupt) as caught:
        blocking(wait)
    assert ended == [True]
    assert caught.value.run_messages == ["kept"]


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork on this system")
def test_a_forked_child_has_a_loop_of_its_own():
    script = textwrap.dedent(
        """
        import asyncio, gc, os, sys, warnings
        from tool_search_processor.concurrency.blocking import run_blocking

        async def loop():
            return asyncio.get_running_loop()

        def ask():
            return run_blocking(loop, door="a", instead="b")

        parents = ask()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # fork beside a thread
            child = os.fork()
        if child == 0:
            code = 0 if ask() is not parents and ask() is ask() else 1
            gc.collect()
            sys.stdout.flush()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        assert ask() is parents
        print("child", os.waitstatus_to_exitcode(status))
        """
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("child 0\n", "")


class InterruptedAt:
    """A loop that is interrupted while it is told to begin: before it took note, or right after."""

    def __init__(self, loop, *, noted):
        self.loop = loop
        self.noted = noted
        self.told = 0

    def call_soon_threadsafe(self, callback):
        self.told += 1
        if self.told > 1 or self.noted:
            self.loop.call_soon_threadsafe(callback)
        if self.told == 1:
            raise KeyboardInterrupt

    def create_task(self, coroutine, **options):
        return self.loop.create_task(coroutine, **options)


@pytest.mark.parametrize("noted", [False, True])
def test_an_interrupt_before_anything_runs_ends_it_too(noted):
    loop = InterruptedAt(blocking(running_loop), noted=noted)
    began, ended = [], []

    async def wait():
        began.append(True)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        _run(wait, loop)
    assert began == ended
    assert len(blocking(all_tasks)) == 1, "nothing goes on"


async def all_tasks():
    return asyncio.all_tasks()


async def test_a_sync_hook_waits_inside_a_running_loop_with_its_context_variables():
    NAME.set("ada")

    async def read():
        await asyncio.sleep(0)
        return NAME.get()

    assert run_in_sync_hook(read, door="hook", instead="ainvoke") == "ada"


def test_a_sync_hook_does_not_wait_for_its_own_loop():
    async def nested():
        async def read(): ...

        run_in_sync_hook(read, door="hook", instead="ainvoke")

    with pytest.raises(RunningLoopError, match="ainvoke"):
        blocking(nested)
