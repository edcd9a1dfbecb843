"""The border to the model: one call of LiteLLM's shape."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from tool_search_processor.agent.chunks import ChunkAssembler
from tool_search_processor.agent.replies import Reply, parse_reply
from tool_search_processor.errors import ToolSearchError

Completion: TypeAlias = Callable[..., Awaitable[Any]]
"""Takes `model`, `messages`, and if there are any `tools`, `tool_choice`, `stream` …; answers as
`litellm.acompletion` does, in objects or in dicts."""


async def litellm_completion(**request: Any) -> Any:
    """Call `litellm.acompletion`.

    Raises:
        ImportError: litellm is not installed.
    """
    if sys.modules.get("litellm") is None:
        try:
            # the import takes seconds: not on the loop that serves others
            await asyncio.to_thread(importlib.import_module, "litellm")
        except ImportError as exc:
            if exc.name != "litellm":  # it is there and broken: its own words say why
                raise
            raise ImportError(
                'an Agent without `completion=` needs litellm: pip install "tool-search-processor[agent]"'
            ) from exc
    import litellm

    return await litellm.acompletion(**request)


async def complete(
    completion: Completion, request: Mapping[str, Any], *, stream: bool
) -> AsyncGenerator[str | Reply]:
    """Call the model; yield its text piece by piece if it streams, and the reply last.

    Raises:
        ToolSearchError: The answer has no choices, or its stream ended before it began.
    """
    if not stream:
        yield parse_reply(await _awaited(completion(**request)))
        return
    options = {"stream_options": {"include_usage": True}, **request, "stream": True}
    response = await _awaited(completion(**options))
    if not hasattr(response, "__aiter__"):  # a completion that cannot stream
        reply = parse_reply(response)
        if reply.text:
            yield reply.text
        yield reply
        return
    assembler = ChunkAssembler()
    try:
        async for chunk in response:
            text = assembler.add(chunk)
            if text:
                yield text
    finally:
        await _close(response)
    if assembler.is_cut:
        raise ToolSearchError("the model's stream ended before its answer began: look into its server's log")
    yield assembler.reply()


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _close(stream: Any) -> None:
    """Close the connection of a stream, even if the stream was left early."""
    close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
    if callable(close):
        await _awaited(close())
