"""Search in Milvus, for catalogs that outgrow a process or that many tenants share."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Literal, get_args

from tool_search_processor.concurrency.threads import Threads
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.bm25.name_match import EXACT, named
from tool_search_processor.search.bm25.name_table import NameTable
from tool_search_processor.search.milvus.collection import WINDOW, CatalogVersion, ToolCollection
from tool_search_processor.search.milvus.meaning import Meaning
from tool_search_processor.search.milvus.publisher import Publisher, empty_version, fits
from tool_search_processor.search.milvus.row_masks import View
from tool_search_processor.search.milvus.row_ranking import EngineRanking, Scored
from tool_search_processor.search.protocol import Document, Hit
from tool_search_processor.search.vector.index import AnyEmbedder
from tool_search_processor.wire.checks import check_choice, check_count, check_flags

Mode = Literal["bm25", "vector", "hybrid"]
VectorIndexType = Literal["FLAT", "AUTOINDEX"]

_INSTALL = 'pip install "tool-search-processor[milvus]"'
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}")
_LAST = 1 << 62
_threads = Threads(32, name="tool-search-milvus")
_LONGEST_KEY = 128  # characters of a tool's name, which are at most 64, folded
# pymilvus pings an idle server every 10 s, upon which milvus-lite breaks off ("too many pings").
_GRPC_OPTIONS = {"grpc.keepalive_permit_without_calls": 0}


class MilvusIndex:
    """Ranks tools in a Milvus engine, embedded or in a cluster.

    ```python
    index = MilvusIndex("http://localhost:19530", "tools", mode="hybrid", embedder="multilingual")
    search = ToolSearchProcessor([create_issue], search=index)
    ```

    When to use it: an index in the process (`search="bm25"` or `"hybrid"`) is the right choice for up to
    about a million tools; at 10,000 it takes 10 MB in each worker and 0.1 ms for a query. Use this one if a
    catalog outgrows a worker's memory, if each worker would have to embed it again, or if many tenants share
    it. A query costs one to three round trips and the engine's work. milvus-lite, for tests and development,
    takes 40 ms of CPU by words, 60 by meaning and 150 by both at 10,000 tools, 10 s to publish them, and 0.3
    s for one change (`python tests/benchmarks/bench_milvus.py --size 10000`). It holds its lock until the
    process ends, even after `aclose`, and serves other processes only through `milvus-lite server --host
    127.0.0.1` (without `--host` it listens on every interface, without a login). The first use imports
    pymilvus, which takes 2 to 4 s of CPU. Everything runs in threads, so no event loop is blocked.

    Words are normalized and fields weighted as in `BM25Index` (identifiers split, stems, Chinese by pairs,
    synonyms). Misspellings are not looked up and the clauses of a request are not separated, so recall@5 is
    0.01 to 0.03 lower on three public sets. `bm25` scores are computed as in `BM25Index`, with an assumed
    rarity of words; `vector` scores are scaled cosines as in `VectorIndex`; `hybrid` scores are reciprocal
    rank fusion (k = 60) as a share of the best possible, which says how far ahead a tool is, not how well it
    fits. All scores rise with those of the engine; an exact name has 1.0 and comes first. milvus-lite counts
    words by segment, so its scores shift a little with each publication.

    One process publishes, with `update`; processes with `writer=False` see the result from their next query
    on. The order is the engine's; ties follow the order of the documents given to `update` here, then the
    name. An engine returns at most 16,384 rows: a list without a limit ends there.
    """

    def __init__(
        self,
        uri: str | os.PathLike[str],
        collection: str = "tools",
        *,
        mode: Mode = "bm25",
        embedder: AnyEmbedder | None = None,
        token: str | None = None,
        secure: bool | None = None,
        writer: bool = True,
        depth: int = 200,
        vector_index: VectorIndexType = "FLAT",
        follow_seconds: float = 5.0,
        client_options: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Choose the engine and the collection; nothing is connected yet.

        Args:
            uri: `"tools.db"` (a path that ends with .db) for milvus-lite, `"http://host:19530"` or
                `"https://…"` for a server or a cluster.
            collection: Letters, digits and underscores. A second one, `<collection>_version`, holds the
                published version.
            mode: How to rank.
            embedder: For `"vector"` and `"hybrid"`: a local model's name, an `Embedder`, or a function
                from texts to vectors; `"minilm+static"` unless given.
            token: `"user:password"` or an API key.
            secure: Whether to use TLS; None leaves it to the URI.
            writer: Whether `update` publishes. A writer with another embedder or format creates the
                collection again.
            depth: How much of each list hybrid search fuses. Tools further down follow after them, by
                the better of their two ranks.
            vector_index: `"FLAT"` is exact; with `"AUTOINDEX"` queries are faster above a few hundred
                thousand tools, and a longer list may begin differently from a short one.
            follow_seconds: How long the published version may be cached.
            client_options: Further arguments for `pymilvus.MilvusClient`, such as `db_name`, `timeout`,
                `server_pem_path`, `grpc_options`.
            clock: Returns seconds that never decrease.

        Raises:
            ConfigurationError: For an invalid option.
            ImportError: If pymilvus, or for a path milvus-lite, is missing.
        """
        _check(uri, collection, mode, embedder, depth)
        check_flags(writer=writer, secure=secure is not None and secure)
        given = {
            "uri": os.fspath(uri),
            "token": token or "",
            "grpc_options": _GRPC_OPTIONS,
            **(client_options or {}),
        }
        if secure is not None:
            given["secure"] = secure
        self._collection = ToolCollection(collection, client_options=given)
        self._mode = mode
        self._meaning = None if mode == "bm25" else Meaning("minilm+static" if embedder is None else embedder)
        self._depth = depth
        self._writer = writer
        self._vector_index = vector_index
        self._follow_seconds = follow_seconds
        self._clock = clock
        self._changing = threading.Lock()
        self._places: Mapping[str, int] = {}
        self._seen: tuple[float, CatalogVersion | None] | None = None
        self._window = WINDOW

    async def update(self, documents: Sequence[Document]) -> None:
        """Publish `documents` as the whole content; only the differences are written.

        With `writer=False` nothing is written; the order of the documents breaks ties. A search during an
        update may see a mixture of old and new tools.
        """
        await _threads.run(lambda: self._update(documents))

    async def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        within: Collection[str] | None = None,
        extra: Sequence[Document] = (),
        tags: Collection[str] = (),
        namespaces: Collection[str] = (),
    ) -> list[Hit]:
        """Rank the published tools for a query; see `SearchIndex.search`.

        The engine filters by up to 1,000 names of `within`; with more, hits are fetched deeper until enough
        of them are in `within`. Documents of `extra` are scored here, as if each word were half as rare as a
        word can be.

        Args:
            query: What is looked for.
            limit: The most hits; None for all that the engine returns.
            within: Names to rank; None ranks all.
            extra: Documents of this request alone.
            tags: Only tools with any of these tags; filtered by the engine.
            namespaces: Only tools of any of these namespaces; filtered by the engine.

        Raises:
            ConfigurationError: If the catalog was published with another embedder or format.
        """
        view = View(
            within=within,
            tags=frozenset(tags),
            namespaces=frozenset(namespaces),
            hidden=frozenset(document.name for document in extra),
        )
        if limit is not None and limit <= 0:
            return []
        own = [document for document in extra if view.admits(document)]
        return await _threads.run(lambda: self._search(query, limit, view, own))

    async def version(self) -> CatalogVersion | None:
        """Return the version that is published now, or None."""
        return await _threads.run(self._collection.version)

    async def aclose(self) -> None:
        """Close the client; the next use makes another."""
        await asyncio.to_thread(self._collection.close)

    def _update(self, documents: Sequence[Document]) -> None:
        with self._changing:
            places = {document.name: place for place, document in enumerate(documents)}
            if self._writer:
                self._seen = self._clock(), self._publisher.publish(documents)
            self._places = places

    @cached_property
    def _publisher(self) -> Publisher:
        return Publisher(self._collection, meaning=self._meaning, vector_index=self._vector_index)

    def _current(self) -> CatalogVersion | None:
        """Return the published version, at most `follow_seconds` old."""
        seen, now = self._seen, self._clock()
        if seen is not None and seen[1] is not None and now - seen[0] < self._follow_seconds:
            return seen[1]
        version = self._collection.version()
        if version is not None:
            self._check_fits(version)
        self._seen = now, version
        return version

    def _check_fits(self, version: CatalogVersion) -> None:
        mine = empty_version(self._meaning)
        if self._meaning is None:  # vectors do no harm
            mine = replace(mine, model=version.model, dimensions=version.dimensions)
        if not fits(version, mine):
            raise ConfigurationError(
                f"collection {self._collection.name!r} was published in format {version.format} with "
                f"{version.dimensions or 'no'} dimensions of {version.model!r}, and this index needs format "
                f"{mine.format} with {mine.dimensions} of {mine.model!r}: give it the same embedder, or "
                "another collection"
            )

    def _search(self, query: str, limit: int | None, view: View, own: Sequence[Document]) -> list[Hit]:
        version = self._current()
        size = version.size if version else 0
        shows_stored = size > 0 and (view.within is None or len(view.within) > 0)
        by_name = self._named(query, view if shows_stored else None, own)
        unnamed = [document for document in own if document.name not in by_name]
        ranking = EngineRanking(
            collection=self._collection,
            query=query,
            view=view,
            skipped=by_name.keys(),
            size=size,
            order=self._order,
            depth=self._depth,
            window=self._window,
        )
        scored = self._ranked(ranking, unnamed, limit)
        first = sorted(by_name.items(), key=lambda item: (-item[1], self._order(item[0])))
        # Stable: among equal scores, the engine's order stays.
        best = sorted([*first, *scored], key=lambda item: -item[1])[:limit]
        return [self._hit(name, score, rank) for rank, (name, score) in enumerate(best, 1)]

    def _ranked(self, ranking: EngineRanking, own: Sequence[Document], limit: int | None) -> Scored:
        if self._meaning is None:
            return ranking.by_text(own, limit)
        if self._mode == "vector":
            return ranking.by_vector(self._meaning, own, limit)
        return ranking.by_both(self._meaning, own, limit)

    def _hit(self, name: str, score: float, rank: int) -> Hit:
        return Hit(
            name=name,
            score=score,
            text_rank=rank if self._mode == "bm25" else None,
            vector_rank=rank if self._mode == "vector" else None,
        )

    def _order(self, name: str) -> tuple[int, str]:
        """Return the sort key that breaks ties."""
        return self._places.get(name, _LAST), name

    def _named(self, query: str, view: View | None, own: Sequence[Document]) -> dict[str, float]:
        """Return the tools that a query names, with their scores; `view` None for no stored tools."""
        asked: dict[str, None] = {}

        def note(key: str) -> Sequence[int]:
            if len(key) <= _LONGEST_KEY:
                asked[key] = None
            return ()

        named(query, exact=note, suffix=note)
        if not asked:
            return {}
        names = [document.name for document in own]
        if view is not None:
            found = self._collection.with_keys(list(asked), expression=view.expression)
            names += [name for name in found if view.shows(name)]
        table = NameTable(names)
        scores = named(query, exact=table.exact, suffix=table.suffix)
        least = EXACT if self._mode == "vector" else 0.0  # a cosine may be above the score of a mention
        return {names[number]: score for number, score in scores.items() if score >= least}


def _check(uri: str | os.PathLike[str], collection: str, mode: str, embedder: object, depth: int) -> None:
    check_choice("mode", mode, get_args(Mode))
    if mode == "bm25" and embedder is not None:
        raise ConfigurationError(f'an embedder is for mode="vector" or "hybrid"; found mode={mode!r}')
    if not _NAME.fullmatch(collection):
        raise ConfigurationError(
            f"collection must be letters, digits and underscores, not a digit first; found {collection!r}"
        )
    check_count("depth", depth, most=WINDOW // 2)
    if find_spec("pymilvus") is None:
        raise ImportError(f"MilvusIndex needs pymilvus: {_INSTALL}")
    if "://" not in os.fspath(uri):
        if not os.fspath(uri).endswith(".db"):
            raise ConfigurationError(
                f'uri must be a path that ends with .db, or begin with "http://" or "https://"; found {uri!r}'
            )
        if find_spec("milvus_lite") is None:
            raise ImportError(f"the embedded engine needs milvus-lite: {_INSTALL}")
