"""Many workers on one Redis: does a load get lost, does one reach another thread, how long does a step wait?

    python tests/benchmarks/bench_redis.py
    python tests/benchmarks/bench_redis.py --url redis://127.0.0.1:6379 --workers 8 --steps 20000

Each worker is a process with its own searcher and its own RedisStore, and goes from one thread to another
at random. A step lists the thread's tools; every third loads one of them, every third calls one. Steps begin
at random moments, `--rate` a second over all workers, as those of agents do that wait for their models;
`--rate 0` makes no pause and shows how many steps this machine can do. Times are wall time: where the machine
has other work, put `chrt -r 10` in front.

Without `--url` a redis-server is started on loopback. Ends with 1 where a load is lost or foreign, or where
the store's part of a step is over its target.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager

from tool_search_processor import InputStep, Tool, ToolSearchProcessor
from tool_search_processor.stores import RedisStore

TOOLS_OF_A_THREAD = 20
TARGET_MS = 3.0


class TimedStore(RedisStore):
    """Adds up the time that a step spends in the store."""

    spent = 0.0

    async def _ask(self, ask):
        began = time.perf_counter()
        try:
            return await super()._ask(ask)
        finally:
            self.spent += time.perf_counter() - began

    def take(self):
        """Return the seconds since it was asked last."""
        spent, self.spent = self.spent, 0.0
        return spent


def searcher(store, threads):
    """Return a searcher over tools each of which is meant for one thread."""
    tools = [
        Tool(name=f"t{thread}_{number}", description="Does something.", execute=dict)
        for thread in range(threads)
        for number in range(TOOLS_OF_A_THREAD)
    ]
    return ToolSearchProcessor(tools, store=store, max_loaded=None)


async def work(number, options):
    """Walk through the threads; return the times, what was loaded, and what was foreign."""
    dice = random.Random(number)
    store = TimedStore(options.url, prefix=options.prefix, on_error="raise", timeout_seconds=10)
    processor = searcher(store, options.threads)
    await processor.catalog.refresh()
    await processor.load("t0_0", thread_id="warm-up")
    await processor.clear("warm-up")
    report = {"store": [], "step": [], "loaded": [], "foreign": []}
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    due = time.perf_counter()
    for turn in range(options.steps // options.workers):
        due += dice.expovariate(options.rate / options.workers) if options.rate else 0.0
        await asyncio.sleep(max(due - time.perf_counter(), 0.0))
        store.take()
        thread = dice.randrange(options.threads)
        began = time.perf_counter()
        step = InputStep(messages=({"role": "user", "content": "go on"},), thread_id=f"thread-{thread}")
        step = await processor.process_input_step(step)
        listed = {tool.name: tool for tool in step.tools}
        own = [name for name in listed if name.startswith(f"t{thread}_")]
        report["foreign"] += [name for name in listed if name[0] == "t" and name not in own]
        if turn % 3 == 1:
            name = f"t{thread}_{dice.randrange(TOOLS_OF_A_THREAD)}"
            answer = await listed["load_tool"].call({"tool_names": [name]})
            if name in (*answer["loaded"], *answer["already_loaded"]):
                report["loaded"].append([thread, name])
        elif turn % 3 == 2 and own:
            await listed[dice.choice(own)].call({})
        report["step"].append(time.perf_counter() - began)
        report["store"].append(store.take())
    await processor.aclose()
    print(json.dumps(report), flush=True)


async def left(options):
    """Return what the store holds of each thread, and forget it."""
    store = RedisStore(options.url, prefix=options.prefix, on_error="raise", timeout_seconds=10)
    processor = ToolSearchProcessor(store=store)
    held = [set(await processor.loaded(f"thread-{thread}")) for thread in range(options.threads)]
    await processor.clear()
    await processor.aclose()
    return held


def measure(options):
    """Run the workers and return their reports and the seconds that they took."""
    program = [sys.executable, __file__, "--url", options.url, "--prefix", options.prefix]
    program += ["--workers", options.workers, "--threads", options.threads, "--steps", options.steps]
    program += ["--rate", options.rate]
    workers = [
        subprocess.Popen(
            [*map(str, program), "--worker", str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(options.workers)
    ]
    for worker in workers:
        worker.stdout.readline()
    began = time.perf_counter()
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    reports = [json.loads(worker.communicate()[0]) for worker in workers]
    return reports, time.perf_counter() - began


def table(reports, seconds, held):
    """Print the figures; return whether all is well."""
    loaded = {(thread, name) for report in reports for thread, name in report["loaded"]}
    lost = [name for thread, name in loaded if name not in held[thread]]
    foreign = [name for report in reports for name in report["foreign"]]
    foreign += [name for thread, names in enumerate(held) for name in names if (thread, name) not in loaded]
    steps = sum(len(report["step"]) for report in reports)
    print(f"{steps} steps of {len(reports)} workers in {seconds:.1f} s: {steps / seconds:.0f} a second")
    print(f"{len(loaded)} loads, lost {len(lost)}, foreign {len(foreign)}\n")
    print(f"{'ms':<24}{'p50':>8}{'p95':>8}{'p99':>8}{'most':>8}")
    for part, label in (("store", "the store's part"), ("step", "the whole step")):
        times = sorted(1e3 * taken for report in reports for taken in report[part])
        cuts = statistics.quantiles(times, n=100)
        print(f"{label:<24}{cuts[49]:>8.2f}{cuts[94]:>8.2f}{cuts[98]:>8.2f}{times[-1]:>8.2f}")
        if part == "store":
            quick = cuts[94] <= TARGET_MS
    print(f"\np95 of the store's part: target {TARGET_MS:g} ms, {'met' if quick else 'missed'}")
    return quick and not lost and not foreign


@contextmanager
def server():
    """Run a redis-server for the length of a block; gives its URL."""
    if shutil.which("redis-server") is None:
        sys.exit("redis-server is not installed: apt-get install redis-server, or give --url")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with tempfile.TemporaryDirectory() as directory:
        arguments = ["--port", str(port), "--bind", "127.0.0.1", "--dir", directory, "--save", ""]
        process = subprocess.Popen(["redis-server", *arguments], stdout=subprocess.PIPE, text=True)
        try:
            next(line for line in process.stdout if "Ready to accept connections" in line)
            yield f"redis://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def main():
    """Measure, or be one of the workers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--url", help="a server that is there; none starts one")
    parser.add_argument("--prefix", default=f"bench-{os.getpid()}")
    for name, default in (("workers", 8), ("threads", 200), ("steps", 20_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rate", type=float, default=400.0, help="steps a second over all workers")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        asyncio.run(work(options.worker, options))
        return
    if options.url:
        good = table(*measure(options), asyncio.run(left(options)))
    else:
        with server() as options.url:
            good = table(*measure(options), asyncio.run(left(options)))
    sys.exit(not good)


if __name__ == "__main__":
    main()
