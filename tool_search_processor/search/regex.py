"""Search by regular expression, in time linear in the text for any pattern."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.search.index import Documents, Index, Names
from tool_search_processor.search.protocol import Document, Hit, distinct

MAX_PATTERN_LENGTH = 200
"""Characters; a longer pattern is refused."""

# RE2 is linear in the text, but its constant is the size of the expanded pattern: nested counts such as
# ((a?){30}){30} exceed the memory of its automaton and then cost 16 ms per kilobyte. So the pattern's size
# and the text of each tool are limited, and a whole search has a time budget.
_PROGRAM_SIZE = 2000
_PROGRAM_BYTES = 1 << 20
_MEMORY_BYTES = 8 << 20
_TEXT_BYTES = 32_000
_BUDGET_SECONDS = 1.0
_BYTES_BETWEEN_LOOKS = 32_000
"""The text of about 64 tools: reading the clock costs half a microsecond."""
_FLAGS = "(?m)"


class RegexIndex(Index):
    """Finds the tools whose text matches a pattern.

    ```python
    index = RegexIndex()
    index.update([Document("create_issue"), Document("list_issues")])
    [hit.name for hit in index.search("^list_")]  # -> ['list_issues']
    ```

    The text of a tool is its name, namespace, description, tags, keywords, the names and texts of its
    parameters, and its example requests, each on a line of its own. `^` and `$` match at the edges of a line.
    Case is ignored. Every match scores 1.0, in the documents' order; a blank pattern matches nothing. The
    engine is RE2, which has neither look-around nor back-references and never backtracks. A pattern that does
    not compile, is longer than 200 characters, or takes too long raises an `InvalidPatternError`, whose
    message says why in one sentence.
    """

    takes_pattern = True

    def __init__(self) -> None:
        self._held: dict[Document, bytes] = {}
        self._update_lock = threading.Lock()

    def update(self, documents: Sequence[Document]) -> None:
        """Make `documents` the whole content, in this order."""
        with self._update_lock:
            known = self._held
            self._held = {
                document: known.get(document) or _searchable(document) for document in distinct(documents)
            }

    def _search(self, query: str, limit: int | None, within: Names, extra: Documents) -> list[Hit]:
        most = None if limit is None else max(limit, 0)
        return [Hit(name, 1.0) for name in islice(self._matches(query, within, extra), most)]

    def _count(self, query: str, min_score: float, within: Names, extra: Documents) -> int:
        return 0 if min_score > 1.0 else sum(1 for _ in self._matches(query, within, extra))

    def _matches(self, pattern: str, within: Names, extra: Documents) -> Iterator[str]:
        """Yield the names of matching tools, in order."""
        if not pattern.strip():
            return
        found = compile_pattern(pattern).search
        deadline = time.thread_time() + _BUDGET_SECONDS
        read = _BYTES_BETWEEN_LOOKS
        for name, text in self._texts(within, extra):
            if read >= _BYTES_BETWEEN_LOOKS:
                read = 0
                if time.thread_time() > deadline:
                    raise InvalidPatternError(
                        f"The pattern {pattern!r} takes too long: search with a simpler one, "
                        "with fewer counts."
                    )
            read += len(text)
            if found(text):
                yield name

    def _texts(self, within: Names, extra: Documents) -> Iterator[tuple[str, bytes]]:
        """Yield the name and the text of each searched document, in order."""
        hidden = {document.name for document in extra}
        allowed = within if within is None or isinstance(within, (set, frozenset)) else frozenset(within)
        for document, text in self._held.items():
            name = document.name
            if name not in hidden and (allowed is None or name in allowed):
                yield name, text
        for document in extra:
            yield document.name, _searchable(document)


def compile_pattern(pattern: str) -> Any:
    """Return the compiled pattern, for UTF-8 bytes.

    Raises:
        InvalidPatternError: If it does not compile, or is too long.
    """
    import re2  # type: ignore[import-untyped]  # it brings no types

    if len(pattern) > MAX_PATTERN_LENGTH:
        raise InvalidPatternError(
            f"The pattern has {len(pattern)} characters and at most {MAX_PATTERN_LENGTH} are taken: "
            "search with a shorter one."
        )
    # First with little memory: with much of it, a pattern that is too large takes half a second to fail.
    for memory_bytes in (_PROGRAM_BYTES, _MEMORY_BYTES):
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = memory_bytes
        try:
            # A flag in front, not a group around: "a)(b" must stay an error.
            compiled = re2.compile(f"{_FLAGS}{pattern}".encode("utf-8", "ignore"), options)
        except re2.error as error:
            raise InvalidPatternError(_refusal(pattern, _reason(error, pattern))) from error
        if compiled.programsize > _PROGRAM_SIZE:
            raise InvalidPatternError(_refusal(pattern, "its repetitions grow too large"))
    return compiled


def _refusal(pattern: str, reason: str) -> str:
    return f"The pattern {pattern!r} is not valid: {reason}. Correct it and search again."


def _reason(error: Exception, pattern: str) -> str:
    reason = error.args[0] if error.args else "it does not compile"
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    if text.startswith("invalid perl operator"):
        return "look-around and back-references are not supported"
    if text.startswith("pattern too large"):
        return "its repetitions grow too large"
    return text.removesuffix(f": {_FLAGS}{pattern}")


def _searchable(document: Document) -> bytes:
    parts = (
        document.name,
        document.namespace or "",
        document.description,
        *document.tags,
        *document.keywords,
        *document.parameter_names,
        *document.parameter_texts,
        *document.example_requests,
    )
    return "\n".join(part for part in parts if part).encode("utf-8", "ignore")[:_TEXT_BYTES]
