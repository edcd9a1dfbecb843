"""Writes a catalog into its collection: only the rows that differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from tool_search_processor.search.bm25.name_table import name_keys
from tool_search_processor.search.milvus.collection import (
    FORMAT,
    KEY_FIELDS,
    CatalogVersion,
    ToolCollection,
    cut,
    tags_stored,
)
from tool_search_processor.search.milvus.meaning import Meaning
from tool_search_processor.search.milvus.terms import stored_text
from tool_search_processor.search.protocol import Document

_BATCH = 500


class Publisher:
    """Brings a collection up to date with a catalog; not thread-safe."""

    def __init__(
        self,
        collection: ToolCollection,
        *,
        meaning: Meaning | None,
        vector_index: str,
    ) -> None:
        """Take the collection and what makes vectors; None for no vectors."""
        self._collection = collection
        self._meaning = meaning
        self._vector_index = vector_index
        self._empty = empty_version(meaning)
        self._hashes: tuple[CatalogVersion, Mapping[str, str]] | None = None

    def publish(self, documents: Sequence[Document]) -> CatalogVersion:
        """Make documents the content of the collection and return their version.

        Rows are compared by a hash of their content: if nothing changed, only the version is read. While rows
        are written, the version is marked as incomplete. If a writer dies, it stays incomplete, and the next
        writer adds what is missing.
        """
        wanted = {document.name: document for document in documents}
        hashes = {name: content_hash(document) for name, document in wanted.items()}
        fingerprint = _fingerprint(hashes)
        held = self._prepared()
        if held.complete and held.fingerprint == fingerprint:
            return self._done(held, hashes)
        known = self._known(held)
        self._collection.publish(replace(held, complete=False))
        self._collection.delete([name for name in known if name not in hashes])
        changed = [document for name, document in wanted.items() if known.get(name) != hashes[name]]
        for start in range(0, len(changed), _BATCH):
            self._collection.upsert(self._rows(changed[start : start + _BATCH], hashes))
        if known or changed:
            self._collection.settle()
        published = replace(
            held, number=held.number + 1, fingerprint=fingerprint, size=len(wanted), complete=True
        )
        self._collection.publish(published)
        return self._done(published, hashes)

    def _prepared(self) -> CatalogVersion:
        """Return the published version, after creating the collection if there is no suitable one."""
        held = self._collection.version()
        if held is None or not fits(held, self._empty):
            self._collection.create(dimensions=self._empty.dimensions, vector_index=self._vector_index)
            # The number continues, so that followers notice the change.
            held = replace(self._empty, number=held.number if held else 0)
            self._collection.publish(held)
        return held

    def _known(self, held: CatalogVersion) -> Mapping[str, str]:
        if self._hashes is not None and self._hashes[0] == held:
            return self._hashes[1]
        return self._collection.hashes()

    def _done(self, version: CatalogVersion, hashes: Mapping[str, str]) -> CatalogVersion:
        self._hashes = version, hashes
        return version

    def _rows(self, documents: Sequence[Document], hashes: Mapping[str, str]) -> list[Mapping[str, Any]]:
        rows: list[Mapping[str, Any]] = [
            {**row_of(document), "hash": hashes[document.name]} for document in documents
        ]
        if self._meaning is None:
            return rows
        vectors = self._meaning.documents(documents)
        return [{**row, "vector": vector} for row, vector in zip(rows, vectors, strict=True)]


def empty_version(meaning: Meaning | None) -> CatalogVersion:
    """Return the version of a catalog without tools, with the vectors of an embedder; None for no vectors."""
    return CatalogVersion(
        number=0,
        fingerprint=_fingerprint({}),
        size=0,
        complete=True,
        model=meaning.model if meaning else None,
        dimensions=meaning.dimensions if meaning else 0,
    )


def fits(held: CatalogVersion, wanted: CatalogVersion) -> bool:
    """Return True if a collection has the format and the vectors that an index needs."""
    mine, theirs = ((v.format, v.model, v.dimensions) for v in (wanted, held))
    return mine == theirs


def row_of(document: Document) -> dict[str, Any]:
    """Return the row of a document, without its vector and hash."""
    keys = dict.fromkeys(KEY_FIELDS, "")
    keys |= zip(KEY_FIELDS, map(cut, name_keys(document.name)), strict=False)
    return {
        "name": document.name,
        "namespace": cut(document.namespace or ""),
        "tags": tags_stored(document.tags),
        **keys,
        "text": stored_text(document),
    }


def content_hash(document: Document) -> str:
    """Return a hash of a row's whole content, 32 hexadecimal digits."""
    fields = asdict(document)
    if not fields["example_requests"]:  # a row without them is what it was before there were any
        del fields["example_requests"]
    content = json.dumps([FORMAT, fields], ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _fingerprint(hashes: Mapping[str, str]) -> str:
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(hashes):
        found.update(f"{name}\0{hashes[name]}\0".encode("utf-8", "surrogatepass"))
    return found.hexdigest()
