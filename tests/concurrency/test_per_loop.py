"""One for each event loop, closed before its loop ends."""

import asyncio
import threading

from tool_search_processor.concurrency.per_loop import PerLoop


class Line:
    """Stands for a connection; notes where it was opened and closed."""

    def __init__(self):
        self.opened_in = asyncio.get_running_loop()
        self.closed_in = None

    async def close(self):
        await asyncio.sleep(0)
        self.closed_in = asyncio.get_running_loop()


def lines():
    """Return the lines that were opened, and what opens them."""
    made = []

    def opener():
        made.append(Line())
        return made[-1]

    return made, PerLoop(opener, closer=Line.close)


def test_a_loop_gets_its_own_which_ends_with_it():
    made, per_loop = lines()

    async def use():
        one, other = await asyncio.gather(per_loop.get(), per_loop.get())
        assert one is other is await per_loop.get()

    for _ in range(2):
        asyncio.run(use())
    assert len(made) == 2
    assert all(line.closed_in is line.opened_in for line in made)


def test_closing_closes_those_of_other_running_loops_and_a_later_get_opens_anew():
    made, per_loop = lines()
    ready, done = threading.Event(), threading.Event()

    async def other():
        await per_loop.get()
        ready.set()
        await asyncio.to_thread(done.wait, 10)

    async def here():
        await per_loop.get()
        await per_loop.aclose()
        assert [line.closed_in is line.opened_in for line in made] == [True, True]
        assert await per_loop.get() is made[2]
        await per_loop.aclose()
        await per_loop.aclose()

    thread = threading.Thread(target=asyncio.run, args=(other(),))
    thread.start()
    assert ready.wait(10)
    try:
        asyncio.run(here())
    finally:
        done.set()
        thread.join(10)
    assert [line.closed_in is not None for line in made] == [True, True, True]


def test_a_loop_that_was_closed_without_ceremony_is_forgotten():
    made, per_loop = lines()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(per_loop.get())
    loop.close()
    asyncio.run(per_loop.get())
    assert len(made) == 2
    asyncio.run(per_loop.aclose())
