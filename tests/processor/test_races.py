"""Many runs at a time on one processor, in threads with loops of their own, while the catalog changes."""

import asyncio
import threading

from tests.support import make
from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.providers import StaticProvider
from tool_search_processor.testing import ScriptedModel, call

THREADS, RUNS = 6, 15
TOOLS = [make(f"t{number}", f"Works on thing number {number}.") for number in range(THREADS * RUNS)]


def test_runs_in_many_threads_never_see_each_others_tools():
    provider = StaticProvider(TOOLS)
    processor = ToolSearchProcessor([provider])
    problems, stop = [], threading.Event()

    async def one(number):
        wanted = f"t{number}"

        def looked_at(request):
            if strange := [name for name in request.tool_names if name.startswith("t") and name != wanted]:
                problems.append((wanted, strange))
            return call(wanted)

        script = [call("search_tools", {"query": wanted}), call("load_tool", {"tool_names": wanted})]
        model = ScriptedModel([*script, looked_at, looked_at, "end"])
        agent = Agent("a", "m", completion=model, input_processors=[processor])
        result = await agent.run("q", thread_id=f"thread-{number}" if number % 2 else None)
        if f'"ran":"{wanted}"' not in result.messages[-2]["content"]:
            problems.append((wanted, result.messages))

    async def many(first):
        await asyncio.gather(*(one(first + number) for number in range(RUNS)))
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            problems.append(left)

    def change():
        for number in range(10_000):
            if stop.is_set():
                return
            provider.add(make(f"new_{number}"))
            provider.remove(f"new_{number - 3}")
            stop.wait(0.002)

    changing = threading.Thread(target=change)
    threads = [threading.Thread(target=asyncio.run, args=(many(n * RUNS),)) for n in range(THREADS)]
    changing.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    stop.set()
    changing.join(60)
    assert problems == []
    assert not any(thread.is_alive() for thread in (*threads, changing))
