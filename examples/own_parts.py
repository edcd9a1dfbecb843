"""Parts of your own, as plain classes and functions: a provider, an index, an embedder, an input processor.

See a tool that only some requests have, found by a custom index and a custom embedder, and the line that a
processor adds to the instructions.

    python examples/own_parts.py
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tool_search_processor import Document, Hit, InputStep, Tool, ToolSearchProcessor, run_processors, tool
from tool_search_processor.search.vector import VectorIndex


@tool(tags={"text"})
def shorten(text: str, most: int = 20) -> str:
    """Shorten a string to a length."""
    return text[:most]


@tool
def headline(text: str) -> str:
    """Turn a string into a headline."""
    return text.title()


class Plugins:
    """A ToolProvider."""

    def list_tools(self, context: Mapping[str, Any]) -> list[Tool]:
        """Return the tools of this request."""
        return [shorten, headline] if context.get("plugins") else [shorten]


class Named:
    """A SearchIndex: finds the tools whose names stand in the query."""

    def update(self, documents: Sequence[Document]) -> None:
        """Take the catalog in."""
        self.names = [document.name for document in documents]

    def search(
        self, query: str, *, limit: int | None = None, within: Collection[str] | None = None,
        extra: Sequence[Document] = (),
    ) -> list[Hit]:  # fmt: skip
        """Rank; `extra` are tools of this request alone."""
        names = [name for name in self.names if within is None or name in within]
        names += [document.name for document in extra]
        return [Hit(name, 1.0) for name in names if name in query][:limit]


def letters(texts: Sequence[str]) -> list[list[int]]:
    """Embed texts, each as how often it has each letter."""
    return [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


class Polite:
    """An InputProcessor."""

    id = "polite"

    async def process_input_step(self, step: InputStep) -> InputStep:
        """Add a line to the system prompt."""
        return step.replace(instructions=(*step.instructions, "Say please."))


async def main() -> None:
    """Search with each index, and show a step."""
    for index in (Named(), VectorIndex(letters)):
        search = ToolSearchProcessor([Plugins()], search=index)
        for context in ({}, {"plugins": True}):
            hits = await search.search("a headline", context=context, limit=1)
            print(f"{type(index).__name__} with {context} finds {[hit.name for hit in hits]}")
    step = await run_processors([Polite(), search], InputStep(messages=[{"role": "user", "content": "Hi"}]))
    print(step.instructions[0])


if __name__ == "__main__":
    asyncio.run(main())
