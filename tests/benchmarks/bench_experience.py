"""Measures what example requests add: half of each set's queries as history, the other half asked, both ways.

    python tests/benchmarks/bench_experience.py --set DIR --set DIR … --search bm25 --search hybrid
    python tests/benchmarks/bench_experience.py --set DIR --set DIR … --others
    python tests/benchmarks/bench_experience.py --set DIR --set DIR … --cost

With --others the history of each set is that of all other sets, which should change nothing. --cost gives
10,000 tools of the sets ten example requests each, and compares CPU times without and with them;
then it learns from 4,000 calls.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import sub
from tempfile import TemporaryDirectory

import numpy as np

from tool_search_processor import Catalog, Experience
from tool_search_processor.cli.eval_command import least_related
from tool_search_processor.evaluation import Dataset, Report, evaluate, load_folder
from tool_search_processor.evaluation.history import Past
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.documents import document_of
from tool_search_processor.search.embedders import LocalEmbedder
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.protocol import AnyIndex
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.stores.experience import (
    ExperienceStore,
    MemoryExperienceStore,
    SQLiteExperienceStore,
)

FIGURES = ("recall@5", "ndcg@10")


class Remembering(LocalEmbedder):
    """The default embedder, which embeds no text twice in one run of this script."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[tuple[bool, str], np.ndarray] = {}

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of texts."""
        fresh = [text for text in dict.fromkeys(texts) if (False, text) not in self._known]
        for start in range(0, len(fresh), 256):
            batch = fresh[start : start + 256]
            vectors = super().embed_documents(batch)
            self._known |= zip(((False, text) for text in batch), vectors, strict=True)
        return np.stack([self._known[False, text] for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        """Return the vector of a query."""
        if (True, text) not in self._known:
            self._known[True, text] = super().embed_query(text)
        return self._known[True, text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One set's figures, without a history and with one."""

    name: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    """recall@5, nDCG@10, and the area under the curve of abstention."""


def past_of(dataset: Dataset, half: int | None = None) -> list[Past]:
    """Return a set's queries as a history: every second one from `half` on, or all."""
    queries = dataset.queries if half is None else dataset.queries[half::2]
    return [Past(text=query.text, tools=query.relevant) for query in queries]


def row_of(make: Callable[[], AnyIndex], place: int, datasets: Sequence[Dataset], *, others: bool) -> Row:
    """Measure one set, each half with the history of the other half (or of the other sets)."""
    dataset, foreign = datasets[place], least_related(place, datasets)
    before, after = [], []
    for half in (0, 1):
        asked = dataset.queries[1 - half :: 2]
        if others:
            history = [past for other in datasets if other is not dataset for past in past_of(other)]
        else:
            history = [*past_of(dataset, half), *past_of(foreign, half)]
        for results, given in ((before, ()), (after, history)):
            report = evaluate(make, dataset.tools, asked, history=given, abstain_tools=foreign.tools)
            results.append((len(asked), _figures(report)))
    return Row(name=dataset.name, before=_mean(before), after=_mean(after))


def _figures(report: Report) -> tuple[float, ...]:
    return (*(report.metrics[name].value for name in FIGURES), report.abstention_auc or 0.0)


def _mean(halves: Sequence[tuple[int, tuple[float, ...]]]) -> tuple[float, ...]:
    weights, figures = zip(*halves, strict=True)
    return tuple(float(np.average(column, weights=weights)) for column in zip(*figures, strict=True))


def show(search: str, rows: Sequence[Row]) -> None:
    """Print a line for each set, and their mean."""
    mean = Row(
        name="mean of sets",
        before=tuple(map(statistics.fmean, zip(*(row.before for row in rows), strict=True))),
        after=tuple(map(statistics.fmean, zip(*(row.after for row in rows), strict=True))),
    )
    print(f"\n{search:24}" + "".join(f"{name:>24}" for name in (*FIGURES, "AUC")))
    for row in (*rows, mean):
        pairs = zip(row.before, row.after, strict=True)
        cells = "".join(f"   {old:.3f} {new:.3f} {100 * (new - old):+6.1f}" for old, new in pairs)
        print(f"{row.name:24}{cells}")


def cost(datasets: Sequence[Dataset], *, tools: int = 10_000, requests: int = 10) -> Iterator[str]:
    """Yield lines about what example requests cost bm25."""
    draw = random.Random(0)
    asked = sorted({query.text for dataset in datasets for query in dataset.queries if len(query.text) < 130})
    found = {tool.name: document_of(tool) for dataset in datasets for tool in dataset.tools}
    plain = list(found.values())[:tools]
    rich = [replace(document, example_requests=tuple(draw.sample(asked, requests))) for document in plain]
    queries = draw.sample(asked, 1500)
    indexes = {"without": BM25Index(), "with": BM25Index()}
    for (name, index), documents in zip(indexes.items(), (plain, rich), strict=True):
        started = time.process_time()
        index.update(documents)
        yield f"build {name:8} {time.process_time() - started:6.2f} s"
    for turn in ("new words", "seen words"):
        spent: dict[str, list[float]] = {name: [] for name in indexes}
        for number, query in enumerate(queries):
            # In turn, so that a busy machine and a cold cache meet both alike.
            for name in sorted(indexes, reverse=bool(number % 2)):
                started = time.process_time()
                indexes[name].search(query, limit=5)
                spent[name].append(1000 * (time.process_time() - started))
        more = statistics.median(map(sub, spent["with"], spent["without"]))
        means = ", ".join(f"{name} {statistics.fmean(times):.3f} ms" for name, times in spent.items())
        yield f"search {means}, in the median {more:.3f} ms more ({turn})"


async def use_cost(datasets: Sequence[Dataset], store: ExperienceStore, *, calls: int = 4000) -> str:
    """Return a line about what learning costs: a recorded call, and a search afterwards."""
    draw = random.Random(0)
    tools = list({tool.name: tool for dataset in datasets for tool in dataset.tools}.values())[:10_000]
    asked = sorted({query.text for dataset in datasets for query in dataset.queries if len(query.text) < 130})
    catalog = Catalog(tools)
    view, experience = await catalog.view(), Experience(store)
    used = draw.sample(tools, 200)
    await catalog.search("warm up")
    started = time.process_time()
    for number in range(calls):
        thread = f"t{number // 2}"
        await experience.note(thread, [draw.choice(asked)], [])
        await experience.learn(draw.choice(used), view, thread=thread, context={})
    recorded = 1e3 * (time.process_time() - started) / calls
    queries = draw.sample(asked, 1000)
    times = []
    for learns in (False, True):
        await (await experience.applied(view, {}) if learns else view).search("warm up")
        started = time.process_time()
        for query in queries:
            await (await experience.applied(view, {}) if learns else view).search(query, limit=5)
        times.append(1e3 * (time.process_time() - started) / len(queries))
    await store.aclose()
    return (
        f"{type(store).__name__:22} a recorded call {recorded:.3f} ms, a search {times[0]:.3f} ms without "
        f"and {times[1]:.3f} ms with what was learned of 200 tools"
    )


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--set", dest="sets", action="append", required=True, metavar="DIR")
    parser.add_argument("--search", action="append", choices=("bm25", "vector", "hybrid"))
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--cost", action="store_true")
    options = parser.parse_args()
    datasets = [load_folder(folder) for folder in options.sets]
    if options.cost:
        print(*cost(datasets), sep="\n")
        with TemporaryDirectory() as folder:
            for store in (MemoryExperienceStore(), SQLiteExperienceStore(f"{folder}/learned.db")):
                print(asyncio.run(use_cost(datasets, store)))
        return
    makers: dict[str, Callable[[], AnyIndex]] = {"bm25": BM25Index}
    if options.search and set(options.search) - {"bm25"}:
        embedder = Remembering()
        makers["vector"] = lambda: VectorIndex(embedder, timeout_seconds=None)
        makers["hybrid"] = lambda: HybridIndex(vector=VectorIndex(embedder, timeout_seconds=None))
    for search in options.search or ["bm25"]:
        rows = [
            row_of(makers[search], place, datasets, others=options.others) for place in range(len(datasets))
        ]
        show(search, rows)


if __name__ == "__main__":
    main()
