"""The texts that are embedded: one for each tool, and one or more for a query."""

from __future__ import annotations

import re

from tool_search_processor.search.embedders.embedder import NAME_END
from tool_search_processor.search.protocol import Document

_CLAUSE_WORDS = 3
_MOST_CLAUSES = 8  # each costs an embedding
_LONG = 250  # characters
_NEARLY_ALL = 0.9
_CLAUSE_END = re.compile(
    r"(?<=[.!?;\n])\s+|(?<=[\u3002\uff01\uff1f\uff1b])"
    r"|,?\s+(?:and then|then|also|additionally|and also|as well as)\s+",
    re.IGNORECASE,
)

_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"[_\-./:\s]+")


def document_text(document: Document) -> str:
    """Return the string that is embedded for a tool: its name as words, and its description."""
    name = document.name if document.name.islower() else _HUMPS.sub(" ", document.name)
    return f"{_SEPARATORS.sub(' ', name).strip()}{NAME_END}{document.description}"


def query_texts(query: str) -> list[str]:
    """Return the strings that are embedded for a query: the whole of it, and its clauses.

    A long request is left to its clauses if they hold nearly all of it: over twelve public sets that ranks as
    well, and takes half the time.
    """
    parts = clauses(query)
    is_held = sum(map(len, parts)) > _NEARLY_ALL * len(query)
    return parts if len(query) > _LONG and is_held else [query, *parts]


def clauses(query: str) -> list[str]:
    """Return the parts of a request for several things: its sentences, split at "and then" and the like.

    The vector of the whole request lies between the tools; the vector of each part is near its own tool.
    """
    parts = [part.strip() for part in _CLAUSE_END.split(query)]
    long = [part for part in parts if len(part.split()) >= _CLAUSE_WORDS]
    return long[:_MOST_CLAUSES] if len(long) > 1 else []
