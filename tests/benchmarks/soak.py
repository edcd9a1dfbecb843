"""Runs on one processor for a long time, while its catalog changes and it learns: does memory stay flat?

    python tests/benchmarks/soak.py --minutes 2
    python tests/benchmarks/soak.py --minutes 60 --steps 1000000 --adapter langchain

Runs are agents, agents that declare loaded tools in the conversation (`native`), sessions in Anthropic's and
in OpenAI's shape, and with `--adapter` agents of that framework, in turn. Ends when the minutes or the steps
are over, whichever comes first. Exits with 1 if memory grew after its first quarter, a task or a thread was
left, a denied tool was found, or an answer was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tool_search_processor import (
    Agent,
    Experience,
    MemoryStore,
    StaticProvider,
    Tool,
    ToolSearchProcessor,
)
from tool_search_processor.stores.experience import SQLiteExperienceStore
from tool_search_processor.testing import ManualClock, ScriptedModel, call

VERBS = ("create", "list", "delete", "update", "find", "export", "merge", "close", "open", "send")
THINGS = ("issue", "mail", "invoice", "meeting", "user", "branch", "report", "photo", "ticket", "order")
TOOLS, AWAY, THREADS, KEPT, AT_ONCE, TENANTS = 2_000, 200, 2_000, 500, 20, 2
ALLOWED_GROWTH = 0.02

Turn = list[list[tuple[str, object]]]
"""The calls of each reply of a model, each a name and its arguments; then it says that it is done."""


@dataclass(frozen=True)
class Run:
    """What one run is about: the thread, its tenant, and what its model does."""

    thread: str | None
    context: dict[str, str]
    turn: Turn


@dataclass
class Soak:
    """What is under load, and what was seen of it."""

    folder: Path
    adapter: str | None = None
    steps: int = 0
    runs: Counter[str] = field(default_factory=Counter)
    wrong: list[object] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(7)
        self.clock = ManualClock(1e9)
        self.tools = [made(number) for number in range(TOOLS)]
        # Few, which all come back soon: what tools have computed and what is remembered of words is bounded,
        # but with many would still grow after an hour.
        self.away = [made(number) for number in range(TOOLS, TOOLS + AWAY)]
        self.provider = StaticProvider(self.tools)
        # Bounds that are reached soon, so that what grows beyond them is seen.
        self.experience = Experience(
            SQLiteExperienceStore(self.folder / "learned.db"),
            scope=lambda context: context["tenant"],
            max_requests=3,
            max_tools=20,
            clock=self.clock,
        )
        self.processor = ToolSearchProcessor(
            [self.provider],
            filter=self.policy,
            store=MemoryStore(3600, max_threads=KEPT, clock=self.clock),
            experience=self.experience,
            max_loaded=20,
            allow_unload=True,
        )
        self.kinds: dict[str, Callable[[Run], Awaitable[None]]] = {
            "agent": self.run_agent,
            "native agent": self.run_native_agent,
            "anthropic": self.run_anthropic,
            "responses": self.run_responses,
        }
        if self.adapter == "langchain":
            from tests.benchmarks.soak_langchain import LangChainRuns

            self.kinds["langchain"] = LangChainRuns(self).run

    @staticmethod
    async def policy(request: object) -> bool:
        return not request.tool_name.endswith("7")

    async def run_one(self, number: int) -> None:
        """Let a model search, load, call what it loaded and what it did not, and unload."""
        tool, other = self.random.choice(self.tools), self.random.choice(self.tools)
        run = Run(
            self.random.choice([None, f"t{self.random.randrange(THREADS)}"]),
            {"tenant": f"tenant {self.random.randrange(TENANTS)}", "user": f"u{number % 100}"},
            [
                [("search_tools", {"query": tool.name.replace("_", " ")})],
                [("load_tool", {"tool_names": [tool.name, "nothing_like_it"]})],
                [(tool.name, {"text": "x"}), (other.name, "{broken"), (other.name, {"text": 5})],
                [("unload_tool", {"tool_names": [tool.name]})],
            ],
        )
        kind = list(self.kinds)[number % len(self.kinds)]
        await self.kinds[kind](run)
        self.runs[kind] += 1

    async def run_agent(self, run: Run, *, native: str = "off", turns: int = 1) -> None:
        """Run an `Agent`; each further turn goes on with the messages of the one before."""
        messages: list[object] = []
        for _ in range(turns):
            script = [[call(*calling) for calling in reply] for reply in run.turn]
            agent = Agent(
                "soak",
                "m",
                completion=ScriptedModel([*script, "done"]),
                input_processors=[self.processor],
                native=native,
            )
            result = await agent.run("go", thread_id=run.thread, context=run.context, messages=messages)
            messages = result.messages
            self.check(result.output == "done", messages)
            self.steps += result.steps

    async def run_native_agent(self, run: Run) -> None:
        await self.run_agent(run, native="reference", turns=2)

    async def run_anthropic(self, run: Run) -> None:
        """Run a session in Anthropic's shape, with `tool_addition`."""
        messages: list[object] = [{"role": "user", "content": "go"}]
        async with self.processor.session(thread_id=run.thread, context=run.context) as session:
            for step, reply in enumerate(run.turn):
                request = await session.anthropic_request(messages, native="definition")
                self.check(len(request["tools"]) >= 3, request)
                blocks = [
                    {"type": "tool_use", "id": f"u{step}_{place}", "name": name, "input": arguments}
                    for place, (name, arguments) in enumerate(reply)
                ]
                messages.append({"role": "assistant", "content": blocks})
                messages.append({"role": "user", "content": await session.execute(blocks)})
                self.steps += 1
        self.check(answered(messages, len(run.turn)), messages)

    async def run_responses(self, run: Run) -> None:
        """Run a session in the shape of OpenAI's Responses API, with `additional_tools`."""
        items: list[object] = [{"role": "user", "content": "go"}]
        async with self.processor.session(thread_id=run.thread, context=run.context) as session:
            for step, reply in enumerate(run.turn):
                request = await session.responses_request(items, native=True)
                self.check(len(request["tools"]) >= 3, request)
                output = [
                    {
                        "type": "function_call",
                        "call_id": f"c{step}_{place}",
                        "name": name,
                        "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                    }
                    for place, (name, arguments) in enumerate(reply)
                ]
                items += [*output, *await session.execute(output)]
                self.steps += 1
        self.check(answered(items, len(run.turn)), items)

    def check(self, is_right: bool, seen: object) -> None:
        if not is_right:
            self.wrong.append(seen)

    async def check_policy(self) -> None:
        """Search for a tool that is denied, by what is learned of its neighbours."""
        denied = next(tool for tool in self.tools if tool.name.endswith("7"))
        context = {"tenant": f"tenant {self.random.randrange(TENANTS)}"}
        hits = await self.processor.search(denied.name.replace("_", " "), context=context)
        self.check(not any(hit.name.endswith("7") for hit in hits), hits)

    def change(self) -> None:
        """Replace some tools by others, and let time pass."""
        for place in self.random.sample(range(TOOLS), 5):
            self.provider.remove(self.tools[place].name)
            self.away.append(self.tools[place])
            self.tools[place] = self.away.pop(self.random.randrange(len(self.away)))
            self.provider.add(self.tools[place])
        self.clock.advance(30)

    async def go(self, *, minutes: float, steps: int) -> None:
        """Run until the time or the steps are over, and note the memory 40 times on the way."""
        began = time.monotonic()
        noted = began
        for round_ in itertools.count():
            await asyncio.gather(*(self.run_one(round_ * AT_ONCE + place) for place in range(AT_ONCE)))
            if round_ % 3 == 0:
                self.change()
                await self.check_policy()
            now = time.monotonic()
            if now - noted >= minutes * 60 / 40:
                noted = now
                gc.collect()
                self.memory.append(resident_mb())
                print(f"{self.steps:>9,} steps  {now - began:6.0f} s  {self.memory[-1]:7.1f} MB", flush=True)
            if now - began >= minutes * 60 or self.steps >= steps:
                return

    def growth(self) -> float:
        """Return by what part memory grew from its second quarter to its last."""
        quarter = max(len(self.memory) // 4, 1)
        warm, last = self.memory[quarter : 2 * quarter], self.memory[-quarter:]
        return median(last) / median(warm) - 1 if warm else 0.0


def made(number: int) -> Tool:
    verb, thing = VERBS[number % 10], THINGS[number // 10 % 10]
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    async def execute(text: str) -> str:
        return f"{verb} {text}"

    return Tool(f"{verb}_{thing}_{number}", f"{verb} a {thing} of kind {number}.", schema, execute=execute)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def answered(messages: list[object], replies: int) -> bool:
    """Return whether each reply's calls have their results, and the search found something to read."""
    text = json.dumps(messages, default=str)
    return len(messages) >= 2 * replies and text.count("not_found") >= 1 and "results" in text


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--adapter", choices=["langchain"])
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        soak = Soak(Path(folder), adapter=given.adapter)
        await soak.go(minutes=given.minutes, steps=given.steps)
        tasks = len(asyncio.all_tasks()) - 1
        stats = await soak.processor.stats()
        anonymous = (await soak.processor._loads._runs.stats())["threads"]
        learned = await soak.experience.export()
        await soak.processor.aclose()
    runs = ", ".join(f"{count:,} {kind}" for kind, count in soak.runs.items())
    print(
        f"{soak.steps:,} steps ({runs} runs), {time.process_time():.0f} s of CPU; memory "
        f"{soak.memory[-1]:.1f} MB, grown by {soak.growth():+.1%} since its second quarter; left: {tasks} "
        f"tasks, {anonymous} anonymous runs, {stats['threads']:,} conversations, {threading.active_count()} "
        f"threads; {len(learned):,} requests learned; {len(soak.wrong)} wrong"
    )
    return int(soak.growth() > ALLOWED_GROWTH or tasks > 0 or anonymous > 0 or bool(soak.wrong))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
