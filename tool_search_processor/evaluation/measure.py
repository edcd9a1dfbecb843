"""Measures a search: its rankings against the relevant tools, its speed, and the tokens it saves."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tool_search_processor.errors import ConfigurationError, InvalidPatternError
from tool_search_processor.evaluation.data import Dataset, Query, as_dataset
from tool_search_processor.evaluation.history import Past, documents_with
from tool_search_processor.evaluation.report import DEPTH, Outcome, Report, make_report
from tool_search_processor.search.index import adapted
from tool_search_processor.search.protocol import AnyIndex, Hit
from tool_search_processor.tokens.counting import DefinitionCounter, TextCounter, estimate_tokens
from tool_search_processor.tools import Tool

Progress = Callable[[int], None]
"""Called with the number of queries answered since the last call."""


class MeasuredIndex:
    """An index of any kind, filled and searched from synchronous code.

    Use it in a `with` statement: an index outside this process uses one event loop for all queries.
    """

    def __init__(self, index: AnyIndex) -> None:
        """Measure an index; `fill` replaces its content."""
        self._index = adapted(index)
        self._runner = asyncio.Runner()
        self.build_seconds = 0.0
        """CPU time of the last `fill`."""

    def __enter__(self) -> MeasuredIndex:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._runner.close()

    def fill(self, tools: Iterable[Tool], history: Sequence[Past] = ()) -> None:
        """Make these tools the whole content of the index, and wait until all of them can be found."""
        documents = documents_with(tools, history)
        started = time.process_time()
        self._answer(self._index.update(documents))  # an index outside this process is awaited
        if not self._index.wait():
            raise ConfigurationError(
                "the index did not become ready, so its results would be misleading: see its log"
            )
        self.build_seconds = time.process_time() - started

    def search(self, query: str, *, limit: int = DEPTH) -> list[Hit]:
        """Rank the tools for a query."""
        hits: list[Hit] = self._answer(self._index.search(query, limit=limit))
        return hits

    def outcome(self, query: Query) -> Outcome:
        """Answer a query and measure the time; an invalid pattern finds nothing."""
        started = time.process_time_ns()
        try:
            hits = self.search(query.text)
        except InvalidPatternError:
            hits = []
        spent = time.process_time_ns() - started
        return Outcome(
            query=query,
            ranked=tuple(hit.name for hit in hits),
            best_score=hits[0].score if hits else 0.0,
            milliseconds=spent / 1e6,
        )

    def outcomes(self, queries: Iterable[Query], progress: Progress | None = None) -> list[Outcome]:
        """Answer queries one by one, and report each."""
        outcomes = []
        for query in queries:
            outcomes.append(self.outcome(query))
            if progress is not None:
                progress(1)
        return outcomes

    def _answer(self, given: Any) -> Any:
        return self._runner.run(_awaited(given)) if inspect.isawaitable(given) else given


def evaluate(
    index_factory: Callable[[], AnyIndex],
    tools: Sequence[Tool],
    queries: Sequence[Query],
    *,
    search: str = "",
    name: str = "",
    abstain_tools: Sequence[Tool] = (),
    history: Sequence[Past] = (),
    counter: TextCounter = estimate_tokens,
    seed: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Measure a search on a catalog and queries.

    ```python
    dataset = load_folder("my_set")
    report = evaluate(BM25Index, dataset.tools, dataset.queries, search="bm25")
    report.metrics["recall@5"].value  # -> 1.0
    ```

    Args:
        index_factory: Makes an empty index.
        tools: The catalog; names are unique.
        queries: Requests with the names of the tools that should be found. A request without names is served
            by no tool: it only counts for abstention.
        search: The name of the search in the report.
        name: The name of the set in the report.
        abstain_tools: Another catalog, which serves none of the queries. Tools whose name is also in
            `tools` are left out. The report's `abstention_auc` says how well the best score separates the two
            catalogs.
        history: Past requests, which count as example requests of their tools.
        counter: Counts the tokens of a definition.
        seed: Of the bootstrap.
        progress: Called after each query; `query_count` returns how many there will be.

    Raises:
        DataError: If names are not unique, or a relevant name is unknown.
    """
    dataset = as_dataset(tools, queries, name=name)
    served = [query for query in dataset.queries if query.relevant]
    unserved = [query for query in dataset.queries if not query.relevant]
    with MeasuredIndex(index_factory()) as engine:
        engine.fill(dataset.tools, history)
        engine.outcome(served[0])  # imports, tables and caches are not part of the cost of a query
        outcomes = engine.outcomes(served, progress)
        not_served = engine.outcomes(unserved, progress)
        build_seconds = engine.build_seconds
    foreign = foreign_tools(dataset.tools, abstain_tools)
    if foreign:
        with MeasuredIndex(index_factory()) as engine:
            engine.fill(foreign, history)
            not_served += engine.outcomes(served, progress)
    counts = DefinitionCounter(counter)
    return make_report(
        search=search,
        set_name=name,
        outcomes=outcomes,
        token_counts={tool.name: counts.count([tool]) for tool in dataset.tools},
        build_seconds=build_seconds,
        unserved_scores=[outcome.best_score for outcome in not_served],
        seed=seed,
    )


def query_count(dataset: Dataset, abstain_tools: Sequence[Tool] = ()) -> int:
    """Return how many queries `evaluate` will answer."""
    served = sum(bool(query.relevant) for query in dataset.queries)
    return len(dataset.queries) + (served if foreign_tools(dataset.tools, abstain_tools) else 0)


def foreign_tools(tools: Iterable[Tool], others: Sequence[Tool]) -> list[Tool]:
    """Return the other catalog's tools, except those whose names are in this catalog."""
    own = {tool.name for tool in tools}
    return [tool for tool in others if tool.name not in own]


async def _awaited(given: Any) -> Any:
    return await given
