"""Runs on one processor for a long time, while its catalog changes: does memory stay flat, is anything left?

    python tests/benchmarks/soak.py --minutes 2
    python tests/benchmarks/soak.py --minutes 30 --steps 1000000

Ends when the minutes or the steps are over, whichever comes first. Exits with 1 if memory grew after it had
warmed up, a task or a thread was left, or an answer was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tool_search_processor import Agent, MemoryStore, StaticProvider, Tool, ToolSearchProcessor
from tool_search_processor.testing import ManualClock, ScriptedModel, call

VERBS = ("create", "list", "delete", "update", "find", "export", "merge", "close", "open", "send")
THINGS = ("issue", "mail", "invoice", "meeting", "user", "branch", "report", "photo", "ticket", "order")
TOOLS, THREADS, KEPT, AT_ONCE = 2_000, 2_000, 500, 20
ALLOWED_GROWTH = 0.05


@dataclass
class Soak:
    """What is under load, and what was seen of it."""

    steps: int = 0
    wrong: list[object] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(7)
        self.clock = ManualClock()
        self.tools = [made(number) for number in range(TOOLS)]
        # Words that come back: what is remembered of words is bounded, but at more than come up here.
        self.away = [made(number) for number in range(TOOLS, 2 * TOOLS)]
        self.provider = StaticProvider(self.tools)
        self.processor = ToolSearchProcessor(
            [self.provider],
            filter=self.policy,
            store=MemoryStore(3600, max_threads=KEPT, clock=self.clock),
            max_loaded=20,
            allow_unload=True,
        )

    @staticmethod
    async def policy(request: object) -> bool:
        return not request.tool_name.endswith("7")

    async def run_one(self) -> None:
        """Let a model search, load, call what it loaded and what it did not, and unload."""
        number = self.random.randrange(TOOLS)
        tool, other = self.tools[number], self.random.choice(self.tools)
        model = ScriptedModel(
            [
                call("search_tools", {"query": tool.name.replace("_", " ")}),
                call("load_tool", {"tool_names": [tool.name, "nothing_like_it"]}),
                [call(tool.name, {"text": "x"}), call(other.name, "{broken"), call(other.name, {"text": 5})],
                call("unload_tool", {"tool_names": [tool.name]}),
                "done",
            ]
        )
        agent = Agent("soak", "m", completion=model, input_processors=[self.processor])
        thread = self.random.choice([None, f"t{self.random.randrange(THREADS)}"])
        result = await agent.run("go", thread_id=thread)
        self.steps += result.steps
        if result.output != "done":
            self.wrong.append(result.messages)

    def change(self) -> None:
        """Replace some tools by others, and let time pass."""
        for place in self.random.sample(range(TOOLS), 5):
            self.provider.remove(self.tools[place].name)
            self.away.append(self.tools[place])
            self.tools[place] = self.away.pop(self.random.randrange(TOOLS))
            self.provider.add(self.tools[place])
        self.clock.advance(30)

    async def go(self, *, minutes: float, steps: int) -> None:
        """Run until the time or the steps are over, and note the memory 40 times on the way."""
        began = time.monotonic()
        noted = began
        for round_ in itertools.count():
            await asyncio.gather(*(self.run_one() for _ in range(AT_ONCE)))
            if round_ % 3 == 0:
                self.change()
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


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--steps", type=int, default=1_000_000)
    given = parser.parse_args()
    soak = Soak()
    await soak.go(minutes=given.minutes, steps=given.steps)
    tasks = len(asyncio.all_tasks()) - 1
    stats = await soak.processor.stats()
    anonymous = (await soak.processor._loads._runs.stats())["threads"]
    await soak.processor.aclose()
    print(
        f"{soak.steps:,} steps, {time.process_time():.0f} s of CPU; memory {soak.memory[-1]:.1f} MB, grown "
        f"by {soak.growth():+.1%} since its second quarter; left: {tasks} tasks, {anonymous} anonymous runs, "
        f"{stats['threads']:,} conversations, {threading.active_count()} threads; {len(soak.wrong)} wrong"
    )
    return int(soak.growth() > ALLOWED_GROWTH or tasks > 0 or anonymous > 0 or bool(soak.wrong))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
