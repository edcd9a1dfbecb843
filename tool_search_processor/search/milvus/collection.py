"""One catalog in Milvus: a collection with one row for each tool, and a second one for the version."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from tool_search_processor.search.milvus.terms import K1

if TYPE_CHECKING:
    from pymilvus import MilvusClient

Row = tuple[str, float]
"""A tool's name, and its score from the engine."""
_T = TypeVar("_T")

WINDOW = 16_384
"""The most rows that a Milvus server returns at once."""
FORMAT = 1
"""The format of the rows; a collection of another format has to be created again."""
NAME_BYTES = 512
KEY_FIELDS = tuple(f"key_{number}" for number in range(5))
"""Hold `name_table.name_keys`: the key of the name, then those of its last parts; unused ones are empty."""
_MOST_TAGS = 4096
_PAGE = 1000
_ONLY = "catalog"
_MISSING, _NOT_LOADED = 100, 101  # error codes
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogVersion:
    """The state that a writer has published.

    ```python
    async def published(index: MilvusIndex) -> str:
        version = await index.version()
        return "nothing" if version is None else f"{version.size} tools, publication {version.number}"
    ```
    """

    number: int
    """Rises by one with each publication."""
    fingerprint: str
    """A hash of the content; equal content has an equal fingerprint."""
    size: int
    """How many tools there are."""
    complete: bool
    """False while a writer is working, or after one died: old and new rows are mixed."""
    model: str | None
    """The embedder's `model_id`, if it has one."""
    dimensions: int
    """Of the vectors; 0 for none."""
    format: int = FORMAT


class ToolCollection:
    """Reads and writes the rows of one catalog. Every call blocks; any thread may call.

    Each process has one client: after a fork the child makes its own.
    """

    def __init__(self, name: str, *, client_options: Mapping[str, Any]) -> None:
        """Take the collection's name and the options of the client."""
        self.name = name
        self._version_name = f"{name}_version"
        self._options = dict(client_options)
        self._lock = threading.Lock()
        self._client: MilvusClient | None = None
        self._owner = 0
        self._loaded: set[str] = set()

    @property
    def client(self) -> MilvusClient:
        """The client of this process."""
        with self._lock:
            if self._client is None or self._owner != os.getpid():
                from pymilvus import MilvusClient

                self._client = MilvusClient(**self._options)
                self._owner = os.getpid()
                self._loaded.clear()
            return self._client

    def close(self) -> None:
        """Close the client. An embedded database stays locked until the process ends."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None and self._owner == os.getpid():
            client.close()

    def version(self) -> CatalogVersion | None:
        """Return the published version, or None."""
        rows = self._ask(
            self._version_name,
            lambda client: client.query(
                self._version_name,
                filter=f"id == {literal(_ONLY)}",
                output_fields=["state"],
                consistency_level="Strong",
            ),
        )
        if not rows:
            return None
        state = json.loads(rows[0]["state"])
        # A later format may have more fields.
        return CatalogVersion(**{field.name: state[field.name] for field in fields(CatalogVersion)})

    def publish(self, version: CatalogVersion) -> None:
        """Make this the version that every process sees."""
        row = {"id": _ONLY, "state": json.dumps(asdict(version)), "unused": [1.0, 0.0]}
        self.client.upsert(self._version_name, [row])

    def create(self, *, dimensions: int, vector_index: str) -> None:
        """Create both collections, empty; existing ones are dropped."""
        from pymilvus import DataType

        client = self.client
        for name in (self.name, self._version_name):
            if client.has_collection(name):
                client.drop_collection(name)
        schema, indexes = _tools_schema(client, dimensions=dimensions, vector_index=vector_index)
        # A process sees its own writes at once, the others within about a second.
        client.create_collection(self.name, schema=schema, index_params=indexes, consistency_level="Session")
        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, max_length=64, is_primary=True)
        schema.add_field("state", DataType.VARCHAR, max_length=4096)
        schema.add_field("unused", DataType.FLOAT_VECTOR, dim=2)  # a collection must have one
        indexes = client.prepare_index_params()
        indexes.add_index("unused", index_type="FLAT", metric_type="L2")
        client.create_collection(self._version_name, schema=schema, index_params=indexes)

    def hashes(self) -> dict[str, str]:
        """Return the content hash of every row, by name."""
        return dict(self._ask(self.name, self._hashes) or ())

    def _hashes(self, client: MilvusClient) -> list[tuple[str, str]]:
        asked: dict[str, Any] = {"output_fields": ["name", "hash"], "consistency_level": "Strong"}
        rows = client.query(self.name, filter='name != ""', limit=WINDOW, **asked)
        if len(rows) == WINDOW:
            pages = client.query_iterator(self.name, batch_size=WINDOW, **asked)
            rows = [row for page in iter(pages.next, []) for row in page]
            pages.close()
        return [(row["name"], row["hash"]) for row in rows]

    def upsert(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows, or replace rows of the same name."""
        self._ask(self.name, lambda client: client.upsert(self.name, list(rows)))

    def delete(self, names: Sequence[str]) -> None:
        """Remove rows."""
        for start in range(0, len(names), _PAGE):
            page = list(names[start : start + _PAGE])
            self._ask(self.name, lambda client, page=page: client.delete(self.name, ids=page))  # type: ignore[misc]  # mypy can't infer a default

    def settle(self) -> None:
        """Have milvus-lite write a segment, whose index it keeps; servers do so by themselves."""
        if _is_lite(self.client):
            self.client.flush(self.name)

    def by_text(self, text: str, *, limit: int, expression: str = "") -> list[Row]:
        """Return the best rows by BM25, best first, each with its score."""
        # milvus-lite gives negative scores, a server positive ones.
        return [
            (name, abs(score))
            for name, score in self._search([text], "words", limit=limit, expression=expression)
            if score
        ]

    def by_vector(self, vector: Sequence[float], *, limit: int, expression: str = "") -> list[Row]:
        """Return the nearest rows, best first, each with its cosine."""
        return list(self._search([list(vector)], "vector", limit=limit, expression=expression))

    def by_both(
        self, text: str, vector: Sequence[float], *, depth: int, k: int, expression: str = ""
    ) -> list[Row]:
        """Return both lists, each cut at `depth`, fused by reciprocal rank, each row with its sum."""
        from pymilvus import AnnSearchRequest, RRFRanker

        requests = [
            AnnSearchRequest(data=data, anns_field=field, param={}, limit=depth, expr=expression or None)
            for data, field in (([text], "words"), ([list(vector)], "vector"))
        ]
        found = self._ask(
            self.name,
            lambda client: client.hybrid_search(
                self.name,
                reqs=requests,
                ranker=RRFRanker(k),
                limit=min(2 * depth, WINDOW),
                output_fields=["name"],
            ),
        )
        return [(row["name"], row["distance"]) for row in (found[0] if found else ())]

    def with_keys(self, keys: Collection[str], *, expression: str = "") -> list[str]:
        """Return the names that have any of some keys (see `name_table.name_keys`), sorted."""
        # A list of keys would be one field, but milvus-lite takes twenty times longer to look into lists.
        condition = f"({' or '.join(f'{field} in {literals(keys)}' for field in KEY_FIELDS)})"
        rows = self._ask(
            self.name,
            lambda client: client.query(
                self.name,
                filter=f"{condition} and {expression}" if expression else condition,
                output_fields=["name"],
                limit=_PAGE,
            ),
        )
        return sorted(row["name"] for row in rows or ())

    def _search(self, data: list[Any], field: str, *, limit: int, expression: str) -> Iterator[Row]:
        found = self._ask(
            self.name,
            lambda client: client.search(
                self.name, data=data, anns_field=field, limit=limit, filter=expression, output_fields=["name"]
            ),
        )
        return ((row["name"], row["distance"]) for row in (found[0] if found else ()))

    def _ask(self, name: str, question: Callable[[MilvusClient], _T]) -> _T | None:
        """Ask the engine; return None if the collection does not exist.

        A collection is not loaded after milvus-lite was reopened, or after an operator released it.
        """
        from pymilvus import MilvusException

        client = self.client
        # Asked beforehand, since pymilvus logs every refusal with its traceback.
        if name not in self._loaded and not self._load(client, name):
            return None
        try:
            return question(client)
        except MilvusException as exc:
            if exc.code not in (_MISSING, _NOT_LOADED):
                raise
            return question(client) if self._load(client, name) else None

    def _load(self, client: MilvusClient, name: str) -> bool:
        self._loaded.discard(name)
        if not client.has_collection(name):
            return False
        client.load_collection(name)
        self._loaded.add(name)
        return True


def tags_stored(tags: Sequence[str]) -> list[str]:
    """Return tags in the form that rows have."""
    return [cut(tag) for tag in tags[:_MOST_TAGS]]


def cut(text: str) -> str:
    """Return a string cut to the length of a field, in bytes of UTF-8."""
    encoded = text.encode("utf-8", "replace")
    return encoded[:NAME_BYTES].decode("utf-8", "ignore")


def literal(text: str) -> str:
    """Return a string as a literal of a filter expression."""
    return f'"{text.translate(_ESCAPES)}"'


def literals(texts: Collection[str]) -> str:
    """Return strings as a list for a filter expression, sorted."""
    return f"[{', '.join(literal(text) for text in sorted(texts))}]"


def _tools_schema(client: MilvusClient, *, dimensions: int, vector_index: str) -> tuple[Any, Any]:
    from pymilvus import DataType, Function, FunctionType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("name", DataType.VARCHAR, max_length=NAME_BYTES, is_primary=True)
    schema.add_field("hash", DataType.VARCHAR, max_length=64)
    schema.add_field("namespace", DataType.VARCHAR, max_length=NAME_BYTES)
    for field in KEY_FIELDS:
        schema.add_field(field, DataType.VARCHAR, max_length=NAME_BYTES)
    schema.add_field(
        "tags",
        DataType.ARRAY,
        element_type=DataType.VARCHAR,
        max_capacity=_MOST_TAGS,
        max_length=NAME_BYTES,
    )
    schema.add_field(
        "text",
        DataType.VARCHAR,
        max_length=65_535,
        enable_analyzer=True,
        analyzer_params={"tokenizer": "standard"},
    )
    schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(
        Function(
            name="bm25",
            function_type=FunctionType.BM25,
            input_field_names=["text"],
            output_field_names=["words"],
        )
    )
    indexes = client.prepare_index_params()
    indexes.add_index(
        "words",
        index_type="SPARSE_INVERTED_INDEX",
        metric_type="BM25",
        params={"bm25_k1": K1, "bm25_b": 0.0},
    )
    if dimensions:
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimensions)
        indexes.add_index("vector", index_type=vector_index, metric_type="COSINE")
    if not _is_lite(client):  # which has no index over lists
        for field in (*KEY_FIELDS, "tags", "namespace"):
            indexes.add_index(field, index_type="INVERTED")
    return schema, indexes


def _is_lite(client: MilvusClient) -> bool:
    return "lite" in str(client.get_server_version())
