"""How many tokens a text or a tool definition costs, without a tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tool_search_processor.tools import Tool

TextCounter = Callable[[str], int]
"""Returns the tokens of one text."""

_CHARACTERS_PER_TOKEN = 4
_CJK_START = "\u2e80"


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text from its characters.

    Four characters a token for alphabetic text, one token a character from U+2E80 up (Chinese, Japanese,
    Korean, emoji). JSON and English prose come out at or above what `cl100k` and `o200k` count.
    """
    if text.isascii():
        return -(-len(text) // _CHARACTERS_PER_TOKEN)
    wide = sum(character >= _CJK_START for character in text)
    return wide + -(-(len(text) - wide) // _CHARACTERS_PER_TOKEN)


class DefinitionCounter:
    """Counts tool definitions, each content once.

    The cache is keyed by the tool's fingerprint, so equal tools of two requests cost one count, and it
    is emptied when it holds `max_entries` contents.
    """

    def __init__(self, counter: TextCounter = estimate_tokens, *, max_entries: int = 50_000) -> None:
        """Count with `counter`; keep at most `max_entries` counts."""
        self._counter = counter
        self._max_entries = max_entries
        self._counts: dict[str, int] = {}

    def count(self, tools: Iterable[Tool]) -> int:
        """Return the tokens of all these definitions together."""
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
