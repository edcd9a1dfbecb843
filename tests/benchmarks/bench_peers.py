"""Runs this package's search against peers, each by its own API in a virtual environment of its own.

    python tests/benchmarks/bench_peers.py --set DIR --set DIR … [--only bm25s] [--keep-envs DIR]

A set is a folder that holds tools.jsonl and queries.jsonl, as for `tool-search eval`. Accuracy is the macro
average over the sets: each counts once; recall counts all relevant tools. Times are CPU times of one query,
median, measured in the process of the engine; `--sizes` adds made-up catalogs (those of bench_search.py).
The environments are made in a temporary folder by `python -m venv` and pip, or kept where `--keep-envs` says.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench_search import documents, queries

from tool_search_processor import __version__
from tool_search_processor.evaluation import Dataset, load_folder, make_dataset, ndcg_at, recall_at
from tool_search_processor.evaluation.data import Query
from tool_search_processor.evaluation.measure import MeasuredIndex
from tool_search_processor.search.strategies import index_factory
from tool_search_processor.tools import Tool

HERE = Path(__file__).resolve().parent
LIMIT = 10
TIMEOUT_SECONDS = 3600

PEERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "bm25s": ("bm25s_peer.py", ("bm25s", "PyStemmer")),
    "rank-bm25": ("rank_bm25_peer.py", ("rank-bm25",)),
    "ratel-ai": ("ratel_peer.py", ("ratel-ai",)),
    "fastmcp": ("fastmcp_peer.py", ("fastmcp",)),
    "pydantic-ai": ("pydantic_ai_peer.py", ("pydantic-ai-slim",)),
    "haystack": ("haystack_peer.py", ("haystack-ai",)),
}
"""For each peer: its runner, and what pip installs for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What an engine answered to the queries of one set."""

    version: str
    build_seconds: float
    ranked: list[list[str]]
    milliseconds: list[float]


@dataclass(slots=True, kw_only=True)
class Row:
    """What was measured of one engine."""

    engine: str
    version: str = ""
    recall: list[float] = field(default_factory=list)
    ndcg: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    build_seconds: list[float] = field(default_factory=list)
    failure: str = ""


Ask = Callable[[Dataset], Answers]


def ours(search: str) -> Ask:
    """Return what asks an index of this package, in this process."""

    def ask(dataset: Dataset) -> Answers:
        with MeasuredIndex(index_factory(search)()) as engine:  # type: ignore[arg-type]  # argparse checks it
            engine.fill(dataset.tools)
            engine.search(dataset.queries[0].text, limit=LIMIT)
            outcomes = [engine.outcome(query) for query in dataset.queries]
        return Answers(
            version=__version__,
            build_seconds=engine.build_seconds,
            ranked=[list(outcome.ranked) for outcome in outcomes],
            milliseconds=[outcome.milliseconds for outcome in outcomes],
        )

    return ask


def peer(name: str, folder: Path) -> Ask:
    """Return what asks a peer in its own environment, which is made where there is none."""
    runner, requirements = PEERS[name]
    python = environment(folder / name, requirements)

    def ask(dataset: Dataset) -> Answers:
        asked = [dataset.queries[0], *dataset.queries]  # the first warms up
        lines = [json.dumps({"tools": list(map(plain, dataset.tools))})]
        lines += [json.dumps({"query": query.text, "limit": LIMIT}) for query in asked]
        done = subprocess.run(
            [python, HERE / "peers" / runner],
            input="\n".join(lines),
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["it failed"])[-1])
        first, _, *answers = map(json.loads, done.stdout.splitlines())
        return Answers(
            version=first["version"],
            build_seconds=first["build_seconds"],
            ranked=[answer["names"] for answer in answers],
            milliseconds=[answer["ms"] for answer in answers],
        )

    return ask


def environment(folder: Path, requirements: Sequence[str]) -> Path:
    """Return the interpreter of a virtual environment that holds the requirements."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        print(f"… installing {', '.join(requirements)}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
    return python


def plain(tool: Tool) -> dict[str, Any]:
    """Return what a peer gets of a tool."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.wire_schema()}


def made_up(size: int, count: int) -> Dataset:
    """Return a made-up catalog with queries, for times alone."""
    known = list(documents(size))
    tools = [
        Tool(
            document.name,
            document.description,
            {
                "type": "object",
                "properties": {
                    name: {"type": "string", "description": text}
                    for name, text in zip(document.parameter_names, document.parameter_texts, strict=True)
                },
            },
        )
        for document in known
    ]
    asked = [
        Query(text=text, relevant=(tools[0].name,), id=str(number))
        for number, text in enumerate(queries(known, count))
    ]
    return make_dataset(tools, asked, name=f"{size:,} made-up tools")


def measure(engine: str, ask: Ask, sets: Sequence[Dataset], sizes: Sequence[Dataset]) -> Row:
    """Ask an engine all sets; a failure is shown in its row and ends its measuring."""
    row = Row(engine=engine)
    for place, dataset in enumerate((*sets, *sizes)):
        started = time.monotonic()
        try:
            answers = ask(dataset)
        except (RuntimeError, ValueError, subprocess.TimeoutExpired) as exc:
            row.failure = f"{dataset.name}: {exc}"
            break
        row.version = answers.version
        row.milliseconds.append(statistics.median(answers.milliseconds))
        row.build_seconds.append(answers.build_seconds)
        if place < len(sets):
            judged = list(zip(answers.ranked, dataset.queries, strict=True))
            row.recall.append(statistics.fmean(recall_at(names, q.relevant, 5) for names, q in judged))
            row.ndcg.append(statistics.fmean(ndcg_at(names, q.relevant, 10) for names, q in judged))
        seconds = time.monotonic() - started
        print(f"… {engine}, {dataset.name}: {seconds:.0f} s", file=sys.stderr, flush=True)
    return row


def table(rows: Sequence[Row], sets: Sequence[Dataset], sizes: Sequence[Dataset]) -> list[str]:
    """Return the lines of a markdown table."""
    heads = ["engine", "version"]
    if sets:
        heads += ["recall@5", "nDCG@10", "ms (mean of sets)"]
    heads += [f"ms at {len(dataset.tools):,}" for dataset in sizes]
    heads += [f"build s at {len(dataset.tools):,}" for dataset in sizes]
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(['---'] * 2 + ['---:'] * (len(heads) - 2))}|"]
    for row in rows:
        cells = [row.engine, row.version]
        if sets:
            times = row.milliseconds[: len(sets)]
            cells += [mean(row.recall, len(sets)), mean(row.ndcg, len(sets)), mean(times, len(sets))]
        for values, digits in ((row.milliseconds, 3), (row.build_seconds, 2)):
            late = values[len(sets) :]
            cells += [f"{late[i]:.{digits}f}" if i < len(late) else "" for i in range(len(sizes))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def mean(values: Sequence[float], count: int) -> str:
    """Return the mean of one value a set, or nothing where a set is lacking."""
    return f"{statistics.fmean(values):.3f}" if len(values) == count else ""


def per_set(rows: Sequence[Row], sets: Sequence[Dataset]) -> list[str]:
    """Return the recall@5 of each set as a markdown table."""
    heads = ["recall@5", "tools", *(row.engine for row in rows)]
    lines = [f"| {' | '.join(heads)} |", f"|---|{'|'.join(['---:'] * (len(heads) - 1))}|"]
    for place, dataset in enumerate(sets):
        cells = [f"{row.recall[place]:.3f}" if place < len(row.recall) else "" for row in rows]
        lines.append(f"| {' | '.join([dataset.name, f'{len(dataset.tools):,}', *cells])} |")
    return lines


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--set", dest="sets", metavar="DIR", action="append", default=[])
    parser.add_argument("--sizes", type=int, nargs="*", default=[], help="made-up catalogs to time")
    parser.add_argument("--queries", type=int, default=100, help="queries of each made-up catalog")
    parser.add_argument("--most", type=int, default=None, help="ask at most so many queries of a set")
    parser.add_argument("--search", nargs="*", default=["bm25"], help="searches of this package")
    parser.add_argument("--only", nargs="*", choices=sorted(PEERS), default=list(PEERS))
    parser.add_argument("--keep-envs", metavar="DIR", type=Path, help="keep the environments here")
    options = parser.parse_args()
    if not options.sets and not options.sizes:
        parser.error("give --set, --sizes, or both")
    sets = [shortened(load_folder(folder), options.most) for folder in options.sets]
    sizes = [made_up(size, options.queries) for size in options.sizes]
    rows = [measure(f"ours, {name}", ours(name), sets, sizes) for name in options.search]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep_envs or Path(temporary)
        rows += [measure(name, peer(name, folder), sets, sizes) for name in options.only]
    print("\n".join(table(rows, sets, sizes)))
    if len(sets) > 1:
        print()
        print("\n".join(per_set(rows, sets)))
    for row in rows:
        if row.failure:
            print(f"\n{row.engine} failed at {row.failure}")


def shortened(dataset: Dataset, most: int | None) -> Dataset:
    """Return a set with its first queries, and only those that a tool serves."""
    served = [query for query in dataset.queries if query.relevant]
    return replace(dataset, queries=tuple(served[:most]))


if __name__ == "__main__":
    main()
