"""What a `min_score` keeps and turns away: the tables in the docstrings of BM25Index and HybridIndex.

    python tests/benchmarks/bench_min_score.py --set DIR --set DIR … --search bm25 --search hybrid

Each set counts once. "answered" is the share of a set's requests that still find something; "recall@5" is
over all of them. "no answer" is the share of its requests that find nothing in a catalog that serves none of
them: the other set that is nearest in size, of those that share almost no tool with this one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from tool_search_processor.cli.eval_command import least_related
from tool_search_processor.evaluation import Dataset, load_folder, recall_at
from tool_search_processor.evaluation.measure import MeasuredIndex, foreign_tools
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.protocol import AnyIndex, Hit
from tool_search_processor.search.vector import VectorIndex

SEARCHES = ("bm25", "hybrid")
MIN_SCORES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)

Row = tuple[float, float, float]
"""Answered, recall@5, no answer."""


def row_of(
    found: Sequence[tuple[Sequence[str], Sequence[Hit]]], foreign: Sequence[float], least: float
) -> Row:
    """Return the figures of one set at one `min_score`.

    Args:
        found: For each request its relevant names and the five best hits.
        foreign: For each request the best score in a catalog that doesn't serve it.
        least: The `min_score`.
    """
    kept = [(relevant, [hit.name for hit in hits if hit.score >= least]) for relevant, hits in found]
    return (
        fmean(bool(names) for _, names in kept),
        fmean(recall_at(names, relevant, 5) for relevant, names in kept),
        fmean(score == 0 or score < least for score in foreign),
    )


def rows_of(make: Callable[[], AnyIndex], place: int, datasets: Sequence[Dataset]) -> list[Row]:
    """Return the figures of one set, a row for each of `MIN_SCORES`."""
    dataset = datasets[place]
    queries = [query for query in dataset.queries if query.relevant]
    with MeasuredIndex(make()) as index:
        index.fill(foreign_tools(dataset.tools, least_related(place, datasets).tools))
        foreign = [index.outcome(query).best_score for query in queries]
    with MeasuredIndex(make()) as index:
        index.fill(dataset.tools)
        found = [(query.relevant, index.search(query.text, limit=5)) for query in queries]
    return [row_of(found, foreign, least) for least in MIN_SCORES]


def maker_of(name: str, folder: str) -> Callable[[], AnyIndex]:
    """Return a function that makes empty indexes, which keep their vectors in a file of `folder`."""
    if name == "bm25":
        return BM25Index
    vectors = Path(folder) / "vectors.db"
    return lambda: HybridIndex(vector=VectorIndex(timeout_seconds=None, cache_path=vectors))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure each search over all sets and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", action="append", required=True, metavar="DIR", dest="sets")
    parser.add_argument("--search", action="append", choices=SEARCHES)
    options = parser.parse_args(argv)
    datasets = [load_folder(folder) for folder in options.sets]
    if len(datasets) < 2:
        parser.error("give --set twice at least: the requests of one set are asked in the catalog of another")
    for name in options.search or SEARCHES:
        with TemporaryDirectory() as folder:
            make = maker_of(name, folder)
            each = [rows_of(make, place, datasets) for place in range(len(datasets))]
        print(
            f"{name}, {len(datasets)} sets\n  {'min_score':<11}"
            + "".join(f"{least:6}" for least in MIN_SCORES)
        )
        for column, title in enumerate(("answered", "recall@5", "no answer")):
            means = [fmean(rows[line][column] for rows in each) for line in range(len(MIN_SCORES))]
            print(f"  {title:<11}" + "".join(f"{mean:6.2f}" for mean in means))


if __name__ == "__main__":
    main()
