"""Calls the model, by a function of LiteLLM's shape."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from tool_search_processor.agent.chunks import ChunkAssembler
from tool_search_processor.agent.replies import Reply, parse_reply
from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.errors import ToolSearchError
from tool_search_processor.wire.litellm_package import import_litellm

Completion: TypeAlias = Callable[..., Awaitable[Any]]
"""Takes `model`, `messages`, and if there are any `tools`, `tool_choice`, `stream` …; answers as
`litellm.acompletion` does, in objects or in dicts."""


class Assembler(Protocol):
    """Assembles a streamed answer."""

    def add(self, chunk: Any) -> str:
        """Add a chunk, and return the text in it."""
        ...

    @property
    def is_cut(self) -> bool:
        """Whether the stream ended before there was an answer that can be used."""
        ...

    def reply(self) -> Reply:
        """Return the whole answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the answers of an API are read."""

    read: Callable[[Any], Reply]
    assembler: Callable[[], Assembler]
    stream_settings: Mapping[str, Any] = field(default_factory=dict)
    """Sent with a request for a stream, unless the settings have them."""


CHAT_READING = Reading(
    read=parse_reply, assembler=ChunkAssembler, stream_settings={"stream_options": {"include_usage": True}}
)


async def loaded_litellm() -> Any:
    """Return the module litellm.

    Raises:
        ImportError: It is not installed.
    """
    if sys.modules.get("litellm") is None:
        try:
            # the import takes seconds, and would block the event loop
            await asyncio.to_thread(import_litellm)
        except ImportError as exc:
            if exc.name != "litellm":  # installed but broken: its own error says why
                raise
            raise ImportError(
                'an Agent without `completion=` needs litellm: pip install "tool-search-processor[agent]"'
            ) from exc
    return sys.modules["litellm"]


def litellm_function(name: str) -> Completion:
    """Return an async function of litellm, which is imported at the first call."""

    async def call(**request: Any) -> Any:
        return await getattr(await loaded_litellm(), name)(**request)

    return call


async def complete(
    completion: Completion, request: Mapping[str, Any], *, stream: bool, reading: Reading = CHAT_READING
) -> AsyncGenerator[str | Reply]:
    """Call the model; yield its text piece by piece if it streams, and the reply last.

    Raises:
        ToolSearchError: The answer can't be read, or its stream ended before it began.
    """
    if not stream:
        yield reading.read(await awaited(completion(**request)))
        return
    response = await awaited(completion(**{**reading.stream_settings, **request, "stream": True}))
    if not hasattr(response, "__aiter__"):  # a completion that cannot stream
        reply = reading.read(response)
        if reply.text:
            yield reply.text
        yield reply
        return
    assembler = reading.assembler()
    try:
        async for chunk in response:
            text = assembler.add(chunk)
            if text:
                yield text
    finally:
        # its connection, even if the stream was left early
        close = getattr(response, "aclose", None) or getattr(response, "close", None)
        if callable(close):
            await awaited(close())
    if assembler.is_cut:
        raise ToolSearchError(
            "the model's stream ended before its answer began, or before it was whole: look into the log of "
            "its server"
        )
    yield assembler.reply()
