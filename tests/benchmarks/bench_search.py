"""Measures the lexical index on catalogs of several sizes, beside bm25s and rank-bm25 where installed.

    python tests/benchmarks/bench_search.py --sizes 1000 10000 100000
    python tests/benchmarks/bench_search.py --set DIR --set DIR …
    python tests/benchmarks/bench_search.py --sizes 2000 --hybrid
    python tests/benchmarks/bench_search.py --set DIR --set DIR … --hybrid

All times are CPU times of this process, so that a busy machine doesn't change them much. Tools and queries
are made up from a fixed seed: names of a service, a verb and a noun; descriptions and parameters of words
that follow Zipf's law. A query is the verb, the noun and three words of one tool's description, and two
words that have nothing to do with it.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from tool_search_processor.evaluation import load_folder
from tool_search_processor.search.documents import document_of
from tool_search_processor.search.protocol import Document

VERBS = """
    get list create delete update search send run check add remove find fetch set convert analyze export
    upload generate read write cancel schedule compare validate
"""

NOUNS = """
    issue repository message email file folder user account invoice order payment product customer
    ticket event calendar contact database table row query report chart image video song playlist
    weather forecast location route flight hotel booking restaurant recipe news article stock price
    currency token wallet model dataset job pipeline container pod cluster server domain certificate log
    metric alert incident comment branch commit tag release workflow form survey note task project board
    sprint member team role permission key secret webhook
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured of one engine at one size; milliseconds of CPU, megabytes of resident memory."""

    engine: str
    size: int
    build_seconds: float
    megabytes: float
    median: float
    mean: float
    p95: float
    change: float | None = None
    load_seconds: float | None = None
    """How long the index of the same tools takes with `cache_path`."""


def documents(size: int, *, seed: int = 7) -> Iterator[Document]:
    """Yield made-up tools; the first n are the same whatever the size."""
    words, weights = _language()
    verbs, nouns = VERBS.split(), NOUNS.split()
    rng = random.Random(seed)
    for number in range(size):
        verb, noun = rng.choice(verbs), rng.choice(nouns)
        text = rng.choices(words, cum_weights=weights, k=rng.randint(6, 24))
        parameters = rng.choices(words, cum_weights=weights, k=rng.randint(1, 5))
        yield Document(
            name=f"service{number // 20}_{verb}_{noun}_{number}",
            namespace=f"service{number // 20}",
            description=f"{verb.title()} the {noun} of {' '.join(text)}.",
            parameter_names=tuple(parameters),
            parameter_texts=tuple(
                f"The {name} {' '.join(rng.choices(words, cum_weights=weights, k=4))}" for name in parameters
            ),
        )


def queries(tools: Sequence[Document], count: int, *, seed: int = 11) -> list[str]:
    """Return what one might ask for some of the tools."""
    words, weights = _language()
    rng = random.Random(seed)
    asked = []
    for tool in rng.choices(tools, k=count):
        told = tool.description.rstrip(".").split()
        parts = [
            told[0].lower(),
            told[2],
            *rng.sample(told[4:], 3),
            *rng.choices(words, cum_weights=weights, k=2),
        ]
        asked.append(" ".join(parts))
    return asked


def long_queries(tools: Sequence[Document], count: int) -> list[str]:
    """Return requests of about 90 characters, for one thing and for two in turn."""
    pairs = zip(queries(tools, count), queries(tools, count, seed=12), strict=True)
    return [(" ", ". Then ")[number % 2].join(pair) for number, pair in enumerate(pairs)]


def united(folders: Sequence[str]) -> list[Document]:
    """Return the tools of several sets (tools.jsonl beside queries.jsonl), of one name the first."""
    found: dict[str, Document] = {}
    for folder in folders:
        for tool in load_folder(folder).tools:
            found.setdefault(tool.name, document_of(tool))
    return list(found.values())


def asked_of(folders: Sequence[str], count: int) -> list[str]:
    """Return queries of several sets, as many of each."""
    share = max(1, count // len(folders))
    return [query.text for folder in folders for query in load_folder(folder).queries[:share]]


def _language() -> tuple[list[str], list[float]]:
    """Return 30,000 words and their cumulated frequencies, by Zipf and Mandelbrot."""
    rng = random.Random(3)
    syllables = [c + v + e for c in "bdfgklmnprstvz" for v in "aeiou" for e in ("", "n", "r", "s")]
    words = dict.fromkeys([*NOUNS.split(), *VERBS.split()])
    while len(words) < 30_000:
        words["".join(rng.choices(syllables, k=rng.randint(2, 4)))] = None
    rest = list(words)
    rng.shuffle(rest)
    return rest, list(accumulate(1 / (rank + 6) ** 1.05 for rank in range(len(rest))))


def measure_ours(tools: Sequence[Document], asked: Sequence[str]) -> Row:
    """Measure this package's index."""
    from tool_search_processor.search.bm25 import BM25Index

    index = BM25Index()
    seconds, megabytes = _built(lambda: index.update(tools))
    times = _timed(lambda query: index.search(query, limit=10), asked)
    changes = []
    current = list(tools)
    for place in range(0, len(current), max(1, len(current) // 30)):
        current[place] = replace(current[place], description=current[place].description + " Now changed.")
        started = time.process_time()
        index.update(current)
        changes.append((time.process_time() - started) * 1000)
    row = _row("tool-search-processor", tools, seconds, megabytes, times, statistics.median(changes))
    return replace(row, load_seconds=_load_seconds(tools))


def measure_hybrid(tools: Sequence[Document], asked: Sequence[str]) -> list[Row]:
    """Measure hybrid search on requests of 80 to 120 characters, for one thing and for several.

    The build is that of words and vectors; no request has been seen before.
    """
    from tool_search_processor.search.hybrid import HybridIndex
    from tool_search_processor.search.vector import VectorIndex
    from tool_search_processor.search.vector.texts import clauses

    fit = [query for query in asked if 80 <= len(query) <= 120]
    kinds = {
        "hybrid, one clause": [query for query in fit if not clauses(query)],
        "hybrid, several": [query for query in fit if clauses(query)],
    }
    measured = {engine: some for engine, some in kinds.items() if len(some) > 1}  # a percentile needs two
    if not measured:
        raise SystemExit("there are too few requests of 80 to 120 characters")
    index = HybridIndex(vector=VectorIndex(timeout_seconds=None))
    index.search("load the model")
    seconds, megabytes = _built(lambda: index.update(tools))
    index.search("and embed tools in general")
    rows = []
    for engine, some in measured.items():
        times = _timed(lambda query: index.search(query, limit=10), some, warm=())
        rows.append(_row(engine, tools, seconds, megabytes, times))
    return rows


def _load_seconds(tools: Sequence[Document]) -> float:
    from tool_search_processor.search.bm25 import BM25Index

    with tempfile.TemporaryDirectory() as folder:
        BM25Index(cache_path=folder).update(tools)
        index = BM25Index(cache_path=folder)
        return _built(lambda: index.update(tools))[0]


def measure_bm25s(tools: Sequence[Document], asked: Sequence[str]) -> Row:
    """Measure bm25s by its own tokenizer and API."""
    import bm25s

    index = bm25s.BM25()
    texts = list(map(_text, tools))
    seconds, megabytes = _built(
        lambda: index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    )

    def search(query: str) -> object:
        return index.retrieve(
            bm25s.tokenize(query, show_progress=False), k=min(10, len(texts)), show_progress=False
        )

    return _row("bm25s", tools, seconds, megabytes, _timed(search, asked))


def measure_rank_bm25(tools: Sequence[Document], asked: Sequence[str]) -> Row:
    """Measure rank-bm25 over words split at spaces, as its page shows."""
    from rank_bm25 import BM25Okapi

    held: list[BM25Okapi] = []
    seconds, megabytes = _built(
        lambda: held.append(BM25Okapi([_text(tool).lower().split() for tool in tools]))
    )
    names = [tool.name for tool in tools]
    return _row(
        "rank-bm25",
        tools,
        seconds,
        megabytes,
        _timed(lambda query: held[0].get_top_n(query.lower().split(), names, n=10), asked[:50]),
    )


PEERS: dict[str, Callable[[Sequence[Document], Sequence[str]], Row]] = {
    "bm25s": measure_bm25s,
    "rank_bm25": measure_rank_bm25,
}


def _text(tool: Document) -> str:
    return " ".join((tool.name, tool.description, *tool.parameter_names, *tool.parameter_texts))


def _built(build: Callable[[], object]) -> tuple[float, float]:
    gc.collect()
    before, started = _resident(), time.process_time()
    build()
    seconds = time.process_time() - started
    gc.collect()
    return seconds, _resident() - before


def _resident() -> float:
    """Return the resident memory of this process in MB, 0 where the system doesn't tell."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 / 1e6 if status.exists() else 0.0


def _timed(
    search: Callable[[str], object], asked: Sequence[str], *, warm: Sequence[str] | None = None
) -> list[float]:
    for query in asked[:20] if warm is None else warm:
        search(query)
    times = []
    for query in asked:
        started = time.process_time_ns()
        search(query)
        times.append((time.process_time_ns() - started) / 1e6)
    return times


def _row(
    engine: str,
    tools: Sequence[Document],
    seconds: float,
    megabytes: float,
    times: list[float],
    change: float | None = None,
) -> Row:
    return Row(
        engine=engine,
        size=len(tools),
        build_seconds=seconds,
        megabytes=megabytes,
        median=statistics.median(times),
        mean=statistics.mean(times),
        p95=statistics.quantiles(times, n=20)[-1],
        change=change,
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--set", dest="sets", metavar="DIR", action="append", help="one catalog of real sets")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--peers", nargs="*", choices=sorted(PEERS), default=sorted(PEERS))
    parser.add_argument("--hybrid", action="store_true", help="measure hybrid search instead")
    options = parser.parse_args()
    heads = f"{'engine':22} {'tools':>9} {'build s':>8} {'MB':>7} {'median ms':>10} {'mean':>8} {'p95':>8}"
    print(heads, f"{'one change ms':>14} {'load s':>7}")
    for size in [None] if options.sets else options.sizes:
        tools = united(options.sets) if size is None else list(documents(size))
        made = long_queries if options.hybrid else queries
        asked = asked_of(options.sets, options.queries) if size is None else made(tools, options.queries)
        measures = [measure_ours, *(PEERS[name] for name in options.peers if importlib.util.find_spec(name))]
        rows = ([measure(tools, asked)] for measure in measures)
        for row in itertools.chain.from_iterable([measure_hybrid(tools, asked)] if options.hybrid else rows):
            _print(row)


def _print(row: Row) -> None:
    change = "" if row.change is None else f"{row.change:.2f}"
    load = "" if row.load_seconds is None else f"{row.load_seconds:.3f}"
    cost = f"{row.build_seconds:8.2f} {row.megabytes:7.0f}"
    times = f"{row.median:10.3f} {row.mean:8.3f} {row.p95:8.3f}"
    print(f"{row.engine:22} {row.size:9,} {cost} {times} {change:>14} {load:>7}", flush=True)


if __name__ == "__main__":
    main()
