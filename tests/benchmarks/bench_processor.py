"""CPU time and memory of a ToolSearchProcessor over many tools, beside two other BM25 packages.

    python tests/benchmarks/bench_processor.py --tools 10000
    python tests/benchmarks/bench_processor.py --profile search

Times are CPU time of this process (`time.process_time`), medians unless the row says otherwise. The tools are
made up from word lists, the same at each run. Targets are those of the project for 10,000 tools.
"""

import argparse
import asyncio
import cProfile
import gc
import importlib
import itertools
import logging
import pstats
import random
import re
import statistics
import sys
import time
import tracemalloc
from dataclasses import dataclass

from tool_search_processor import Catalog, InputStep, Tool, ToolSearchProcessor
from tool_search_processor.providers.provider import Provider
from tool_search_processor.transforms import Namespace

SERVICES = """
    github gitlab jira slack gmail outlook calendar drive dropbox notion asana trello linear stripe
    paypal salesforce hubspot zendesk intercom shopify aws azure gcp kubernetes docker terraform
    datadog sentry grafana postgres mysql mongo redis elastic snowflake bigquery airflow spotify
    youtube twitter
"""
VERBS = """
    create get list update delete search archive restore export import send schedule cancel approve
    assign merge close open sync validate
"""
NOUNS = """
    issue repository branch commit message channel thread event meeting file folder document page
    task board card customer invoice payment refund ticket order product cluster container
    deployment alert dashboard query table record schema index report user group role token webhook
"""
DETAILS = (
    "The result holds the identifier and the time of the last change.",
    "Returns an error when the caller lacks the permission.",
    "Large results come in pages; pass the cursor to go on.",
    "Use it when the user asks about recent activity of the team.",
    "Works on archived entries only if the flag is set.",
)
PARAMETERS = (
    ("identifier", "string", "Identifier of the {noun}, as the {service} address bar shows it."),
    ("limit", "integer", "How many {noun}s to return, 1 to 100."),
    ("cursor", "string", "Where to go on after the page before."),
    ("owner", "string", "Login of the owner of the {noun}."),
    ("since", "string", "Only what changed after this time, in ISO 8601."),
    ("include_archived", "boolean", "Whether archived {noun}s count."),
    ("format", "string", "How the {noun} is written: json, markdown or plain text."),
    ("labels", "array", "Labels that the {noun} has to bear."),
)


@dataclass(frozen=True)
class Figure:
    """One row of the table."""

    name: str
    value: float
    unit: str
    target: float | None = None

    def __str__(self):
        verdict = "" if self.target is None else ("ok" if self.value <= self.target else "MISSED")
        target = "" if self.target is None else f"{self.target:g} {self.unit}"
        return f"{self.name:<58} {self.value:>10.3f} {self.unit:<4} {target:>10} {verdict}"


def make_tools(number):
    """Return tools as an agent's connectors bring them: described, with 3 to 5 parameters."""
    chance = random.Random(7)
    names = list(itertools.product(SERVICES.split(), VERBS.split(), NOUNS.split()))
    chance.shuffle(names)
    return [make_tool(chance, i, *names[i % len(names)], again=i // len(names)) for i in range(number)]


def make_tool(chance, place, service, verb, noun, *, again):
    chosen = chance.sample(PARAMETERS, chance.randint(3, 5))
    properties = {
        name: {"type": kind, "description": text.format(noun=noun, service=service)}
        for name, kind, text in chosen
    }
    details = " ".join(chance.sample(DETAILS, 2))
    return Tool(
        f"{service}_{verb}_{noun}" + (f"_{again}" if again else ""),
        f"{verb.capitalize()} a {noun} in {service.capitalize()}. {details}",
        {"type": "object", "properties": properties, "required": [chosen[0][0]]},
        execute=lambda **_: place,
        namespace=service,
        tags={verb},
    )


def make_queries(number):
    chance = random.Random(11)
    forms = (
        "{v} a {n} in {s}",
        "{n} {v}",
        "how do I {v} the {n}",
        "{s} {n}",
        "{v} {n}s that changed recently",
    )
    words = {"v": VERBS.split(), "n": NOUNS.split(), "s": SERVICES.split()}
    return [
        chance.choice(forms).format(**{key: chance.choice(known) for key, known in words.items()})
        for _ in range(number)
    ]


def cpu_of(work, *items):
    """Return the CPU seconds of each call of `work`."""
    times = []
    for item in items:
        start = time.process_time()
        work(item)
        times.append(time.process_time() - start)
    return times


async def cpu_of_async(work, *items):
    """Return the CPU seconds of each awaited call of `work`."""
    times = []
    for item in items:
        start = time.process_time()
        await work(item)
        times.append(time.process_time() - start)
    return times


def milliseconds(times):
    return statistics.median(times) * 1e3


class Server(Provider):
    """A server that takes a while to start, and whose list can change or fail."""

    foreign = True

    def __init__(self, name, tools, *, start_seconds):
        self.name, self.tools, self.start_seconds = name, tools, start_seconds
        self.changes, self.fails = 0, False

    def version(self):
        return self.changes

    async def list_tools(self, context):
        await asyncio.sleep(self.start_seconds)
        if self.fails:
            raise ConnectionError("gone")
        return self.tools

    def change(self, tools, *, fails=False):
        self.tools, self.fails, self.start_seconds = tools, fails, 0
        self.changes += 1


class Bench:
    """The measurements, one a method."""

    def __init__(self, *, tools, queries):
        self.tools = make_tools(tools)
        self.queries = make_queries(queries)
        self.search = None

    async def construction(self):
        started = time.process_time()
        self.search = ToolSearchProcessor(self.tools, max_loaded=None)
        constructed = time.process_time()
        await self.search.catalog.refresh()
        ready = time.process_time()
        await self._call(self.search)(self.queries[0])
        searched = time.process_time()
        return [
            Figure("construction", constructed - started, "s", 1.5),
            Figure("construction, index and first search", searched - started, "s", 1.5),
            Figure("  the index of it", ready - constructed, "s"),
            Figure("  the first search of it", searched - ready, "s"),
        ]

    async def step(self):
        names = [tool.name for tool in self.tools[:20]]
        await self.search.load(names, thread_id="bench")
        step = InputStep(messages=[{"role": "user", "content": "hello"}], thread_id="bench")
        listed = await self.search.process_input_step(step)
        assert len(listed.tools) == 22, [tool.name for tool in listed.tools]
        times = await cpu_of_async(self.search.process_input_step, *[step] * 300)
        return [Figure("a step with 20 loaded tools", milliseconds(times), "ms", 1.0)]

    async def search_call(self):
        call = self._call(self.search)
        await call(self.queries[0])
        times = await cpu_of_async(call, *self.queries)
        inside = await cpu_of_async(self._rank, *self.queries)
        return [
            Figure("a search_tools call", milliseconds(times), "ms", 0.5),
            Figure("a search_tools call, 95th percentile", statistics.quantiles(times, n=20)[-1] * 1e3, "ms"),
            Figure("catalog.search for 5 hits", milliseconds(inside), "ms"),
        ]

    async def step_tools(self):
        search = ToolSearchProcessor(self.tools, include_step_tools=True)
        await search.catalog.refresh()
        steps, calls = [], []
        for request in range(20):
            own = make_tools(20)
            own = [tool.replace(name=f"own_{request}_{i}") for i, tool in enumerate(own)]
            step = InputStep(messages=[{"role": "user", "content": "hello"}], tools=own)
            await search.process_input_step(step)
            steps += await cpu_of_async(search.process_input_step, *[step] * 10)
            listed = await search.process_input_step(step)
            calls += await cpu_of_async(listed.tools[0].call, *[{"query": q} for q in self.queries[:5]])
        return [
            Figure("a step that withholds 20 own tools, after the first", milliseconds(steps), "ms", 2.0),
            Figure("a search_tools call beside 20 own tools", milliseconds(calls), "ms"),
        ]

    async def denied(self):
        search = ToolSearchProcessor(self.tools, filter=lambda request: False)
        await search.catalog.refresh()
        call = self._call(search)
        await call(self.queries[0])
        times = await cpu_of_async(call, *self.queries[:20])
        return [
            Figure("a search_tools call, all denied", milliseconds(times), "ms", 60.0),
            Figure("a search_tools call, all denied, the slowest", max(times) * 1e3, "ms"),
        ]

    async def providers(self):
        """40 servers of 25 tools that take up to 4 seconds to start, in namespaces; one dies."""
        slowest = 4.0
        servers = [
            Server(f"server{i}", make_tools(25), start_seconds=slowest * (i + 1) / 40) for i in range(40)
        ]
        search = ToolSearchProcessor(
            Catalog([server.with_transforms(Namespace(server.name)) for server in servers])
        )
        began = time.monotonic()
        await search.search(self.queries[0])
        first = time.monotonic() - began
        await search.load([f"server{i}_{servers[i].tools[0].name}" for i in range(20)], thread_id="bench")
        step = InputStep(messages=[{"role": "user", "content": "hello"}], thread_id="bench")
        listed = await search.process_input_step(step)
        assert len(listed.tools) == 22, [tool.name for tool in listed.tools]
        times = await cpu_of_async(search.process_input_step, *[step] * 300)
        servers[0].change(make_tools(24))
        change = await cpu_of_async(search.process_input_step, step)
        servers[1].change([], fails=True)
        logging.disable(logging.WARNING)
        await search.process_input_step(step)
        dead = await cpu_of_async(search.process_input_step, *[step] * 300)
        return [
            Figure("40 x 25 tools: first search / slowest start (wall)", first / slowest, "x", 1.2),
            Figure("40 x 25 tools: a step with 20 loaded tools", milliseconds(times), "ms", 2.0),
            Figure("40 x 25 tools: the same while one server is dead", milliseconds(dead), "ms", 2.0),
            Figure("40 x 25 tools: a step after one list changed", milliseconds(change), "ms"),
        ]

    async def memory(self):
        search = ToolSearchProcessor(self.tools)
        gc.collect()
        tracemalloc.start()
        await search.catalog.refresh()
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return [Figure("memory of the index", size / 1e6, "MB", 60.0)]

    async def peers(self):
        ours = milliseconds(await cpu_of_async(self._rank, *self.queries))
        figures = []
        for name, make in (("rank_bm25", rank_bm25_search), ("bm25s", bm25s_search)):
            try:
                importlib.import_module(name)
            except ImportError:
                print(f"({name} is not installed)")
                continue
            theirs = milliseconds(cpu_of(make([text_of(tool) for tool in self.tools]), *self.queries[:50]))
            figures += [
                Figure(f"{name}: a search for 5", theirs, "ms"),
                Figure(f"{name} / catalog.search", theirs / ours, "x"),
            ]
        return figures

    def _call(self, search):
        async def call(query):
            await listed.tools[0].call({"query": query})

        async def first(query):
            nonlocal listed
            listed = await search.process_input_step(InputStep(messages=[]))
            await call(query)

        listed = None
        return lambda query: first(query) if listed is None else call(query)

    async def _rank(self, query):
        return await self.search.catalog.search(query, limit=5)


def text_of(tool):
    properties = tool.parameters["properties"]
    words = [tool.name, tool.description, *properties, *(p["description"] for p in properties.values())]
    return words_of(" ".join(words))


def words_of(text):
    return re.findall(r"[a-z0-9]+", text.lower().replace("_", " "))


def rank_bm25_search(corpus):
    index = importlib.import_module("rank_bm25").BM25Okapi(corpus)
    places = range(len(corpus))
    return lambda query: index.get_top_n(words_of(query), places, n=5)


def bm25s_search(corpus):
    index = importlib.import_module("bm25s").BM25()
    index.index(corpus, show_progress=False)
    known = set().union(*corpus)

    def search(query):
        words = [word for word in words_of(query) if word in known]
        return index.retrieve([words], k=5, show_progress=False) if words else None

    return search


PARTS = ("construction", "step", "search_call", "step_tools", "denied", "providers", "memory", "peers")


async def run(bench, parts, *, profile):
    """Measure, print the table, and return whether every target is met."""
    met = True
    for part in parts:
        profiler = cProfile.Profile(time.process_time)
        measure = getattr(bench, part)
        if profile == part:
            profiler.enable()
        figures = await measure()
        profiler.disable()
        for figure in figures:
            print(figure)
            met = met and (figure.target is None or figure.value <= figure.target)
        if profile == part:
            pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
    return met


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tools", type=int, default=10_000, help="how many tools (default: 10000)")
    parser.add_argument("--queries", type=int, default=200, help="how many queries (default: 200)")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part alone")
    parser.add_argument("--profile", choices=PARTS, help="print where the time of a part goes")
    parser.add_argument("--check", action="store_true", help="end with 1 when a target is missed")
    options = parser.parse_args()
    parts = [part for part in PARTS if not options.only or part in (*options.only, "construction")]
    bench = Bench(tools=options.tools, queries=options.queries)
    print(f"{len(bench.tools)} tools, {len(bench.queries)} queries, Python {sys.version.split()[0]}")
    met = asyncio.run(run(bench, parts, profile=options.profile))
    if options.check and not met:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
