"""How many tokens a string or a tool definition costs, without a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tool_search_processor.tools import Tool

TextCounter = Callable[[str], int]
"""Returns the number of tokens of one string."""

_CHARACTERS_PER_TOKEN = 4
_CJK_START = "\u2e80"


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a string from its characters.

    Four characters count as one token in alphabetic text, and every character from U+2E80 up as one token
    (Chinese, Japanese, Korean, emoji). For JSON and English prose the estimate is at or above the count of
    `cl100k` and `o200k`.
    """
    if text.isascii():
        return -(-len(text) // _CHARACTERS_PER_TOKEN)
    wide = sum(character >= _CJK_START for character in text)
    return wide + -(-(len(text) - wide) // _CHARACTERS_PER_TOKEN)


class DefinitionCounter:
    """Counts the tokens of tool definitions, each content only once.

    The cache is keyed by the tool's fingerprint, so equal tools of two requests are counted once. It is
    emptied when it holds `max_entries` counts.
    """

    def __init__(self, counter: TextCounter = estimate_tokens, *, max_entries: int = 50_000) -> None:
        """Count with `counter`; keep at most `max_entries` counts."""
        self._counter = counter
        self._max_entries = max_entries
        self._counts: dict[str, int] = {}

    def count(self, tools: Iterable[Tool]) -> int:
        """Return the number of tokens of all these definitions together."""
        return sum(self._count_one(tool) for tool in tools)

    def _count_one(self, tool: Tool) -> int:
        key = tool.fingerprint
        found = self._counts.get(key)
        if found is None:
            found = self._counter(tool.definition_json)
            if len(self._counts) >= self._max_entries:
                self._counts.clear()
            self._counts[key] = found
        return found
