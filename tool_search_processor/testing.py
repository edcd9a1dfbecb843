"""Doubles for tests: a model that follows a script, and a clock that is set by hand."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.tokens.counting import estimate_tokens
from tool_search_processor.wire.plain import copied

_PIECES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call of a scripted reply; make it with `call`.

    ```python
    reply = call("search_tools", {"query": "issue"})
    reply.calls[0].arguments  # -> '{"query": "issue"}'
    ```
    """

    name: str
    arguments: str
    """JSON text, or anything else that a model might write."""
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply:
    """One answer of a scripted model; make it with `say` or `call`.

    ```python
    model = ScriptedModel([say("Half a", finish_reason="length"), call("search_tools", "not JSON")])
    ```
    """

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    finish_reason: str | None = None
    """None gives `"tool_calls"` or `"stop"`, whichever fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What a scripted model was asked, copied at that moment.

    ```python
    model = ScriptedModel(["Hello!"])
    await Agent("test", "scripted", completion=model, input_processors=[search]).run("Hi")
    model.requests[0].tool_names  # -> ['search_tools', 'load_tool']
    ```
    """

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    """The definitions as sent; empty if there were none."""
    stream: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    """Everything else that was sent."""

    @property
    def tool_names(self) -> list[str]:
        """Names of the tools on offer, in the order sent."""
        return [tool["function"]["name"] for tool in self.tools]

    @property
    def tools_bytes(self) -> bytes:
        """The definitions as JSON bytes, for comparing what a provider would cache."""
        return json.dumps(self.tools, ensure_ascii=False).encode()

    @property
    def system(self) -> str:
        """The text of the leading system message; empty without one."""
        head = self.messages[0] if self.messages else {}
        return str(head.get("content") or "") if head.get("role") == "system" else ""


Reply: TypeAlias = (
    "str | ScriptedReply | Sequence[ScriptedReply] | BaseException | Callable[[ModelRequest], Any]"
)
"""A string, `say(...)`, `call(...)`, a list of calls made together, an exception to raise, or a function of
the request (plain or async) that returns one of these."""


def say(text: str, *, finish_reason: str | None = None) -> ScriptedReply:
    """Return a reply of text.

    ```python
    say("Nothing fits.").text  # -> 'Nothing fits.'
    ```
    """
    return ScriptedReply(text=text, finish_reason=finish_reason)


def call(
    name: str,
    arguments: Mapping[str, Any] | str | None = None,
    *,
    id: str | None = None,  # noqa: A002 - the wire's name
    text: str = "",
    finish_reason: str | None = None,
) -> ScriptedReply:
    """Return a reply that calls one tool; put several in a list to call them together.

    ```python
    one, two = call("add", {"a": 1}, id="x"), call("no_such_tool", "{")
    model = ScriptedModel([[one, two], "Done."])
    ```

    Args:
        name: The tool's name, or one that doesn't exist.
        arguments: A mapping, or raw text to try what models get wrong.
        id: The call's id; by default `call_1`, `call_2` … over the whole script.
        text: What the model says with the call.
        finish_reason: Other than `"tool_calls"`.
    """
    raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments or {}), ensure_ascii=False)
    calls = (ScriptedCall(name=name, arguments=raw, id=id),)
    return ScriptedReply(text=text, calls=calls, finish_reason=finish_reason)


class ScriptedModel:
    """A completion function of LiteLLM's shape that answers from a script.

    ```python
    script = [call("search_tools", {"query": "issue"}), "Nothing fits."]
    agent = Agent(name="test", model="scripted", completion=ScriptedModel(script))
    ```

    There is no model behind it. Answers are dicts whose keys are attributes too,
    so both ways of reading a response work. With `stream=True` texts and calls come in pieces.
    Usage figures are estimates.
    """

    def __init__(self, script: Iterable[Reply]) -> None:
        """Answer with the script's replies, one a request, in order; an endless iterable is fine.

        Args:
            script: Each reply is a string, `say(...)`, `call(...)`, a list of calls made together, an
                exception to raise, or a function of the `ModelRequest` that returns one of these.
        """
        if isinstance(script, str | ScriptedReply) or callable(script):
            raise ConfigurationError(f"a script is a list of replies; found {script!r:.80}")
        self._script = iter(script)
        self._calls = 0
        self.requests: list[ModelRequest] = []
        """What was asked, oldest first."""

    async def __call__(
        self,
        *,
        model: str,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        stream: bool = False,
        **settings: Any,
    ) -> Any:
        """Record the request and return the script's next reply.

        Raises:
            ToolSearchError: The script has no more replies.
        """
        request = ModelRequest(
            model=model,
            messages=copy.deepcopy([dict(message) for message in messages]),
            tools=copy.deepcopy([dict(tool) for tool in tools or ()]),
            stream=stream,
            settings=copied(settings),
        )
        self.requests.append(request)
        reply = await self._next(request)
        message = self._message(reply)
        usage = _usage(request, message)
        finish_reason = reply.finish_reason or ("tool_calls" if reply.calls else "stop")
        if stream:
            return _chunks(model, message, finish_reason=finish_reason, usage=usage)
        choice = {"index": 0, "finish_reason": finish_reason, "message": message}
        return _response(model, "chat.completion", choices=[choice], usage=usage)

    async def _next(self, request: ModelRequest) -> ScriptedReply:
        try:
            reply: Any = next(self._script)
        except StopIteration:
            raise ToolSearchError(
                f"the script has no reply to request {len(self.requests)}; its last message is "
                f"{request.messages[-1:]!r:.300}"
            ) from None
        while callable(reply) and not isinstance(reply, type):
            reply = await awaited(reply(request))
        return _as_reply(reply)

    def _message(self, reply: ScriptedReply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
        calls = []
        for item in reply.calls:
            self._calls += 1
            function = {"name": item.name, "arguments": item.arguments}
            call_id = f"call_{self._calls}" if item.id is None else item.id
            calls.append({"id": call_id, "type": "function", "function": function})
        return {**message, "tool_calls": calls} if calls else message


class ManualClock:
    """A clock that stands still until it is moved; takes the place of `time.time`.

    ```python
    clock = ManualClock()
    search = ToolSearchProcessor([create_issue], ttl_seconds=60, clock=clock)
    await search.load("create_issue", thread_id="t-42")
    clock.advance(61)
    await search.loaded("t-42")  # -> []
    ```
    """

    def __init__(self, now: float = 0.0) -> None:
        """Start at `now` seconds."""
        self.now = now

    def __call__(self) -> float:
        """Return the seconds it shows."""
        return self.now

    def advance(self, seconds: float) -> None:
        """Move it on by `seconds`, 0 or more."""
        if seconds < 0:
            raise ConfigurationError(f"a clock does not go back: found {seconds!r} seconds")
        self.now += seconds


class _Attributes(dict[str, Any]):
    """A dict whose keys are attributes too, as in LiteLLM's responses."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def _with_attributes(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _Attributes({key: _with_attributes(item) for key, item in value.items()})
    return [_with_attributes(item) for item in value] if isinstance(value, list) else value


def _response(model: str, kind: str, **fields: Any) -> Any:
    return _with_attributes({"id": "scripted", "object": kind, "created": 0, "model": model, **fields})


def _as_reply(reply: Any) -> ScriptedReply:
    if isinstance(reply, BaseException) or (isinstance(reply, type) and issubclass(reply, BaseException)):
        raise reply
    if isinstance(reply, str):
        return ScriptedReply(text=reply)
    if isinstance(reply, list | tuple) and reply and all(isinstance(item, ScriptedReply) for item in reply):
        return ScriptedReply(
            text="".join(item.text for item in reply),
            calls=tuple(one for item in reply for one in item.calls),
            finish_reason=reply[-1].finish_reason,
        )
    if not isinstance(reply, ScriptedReply):
        raise ConfigurationError(
            f"a reply is a string, say(...), call(...), a list of calls, an exception or a function; "
            f"found {reply!r:.80}"
        )
    return reply


def _usage(request: ModelRequest, message: Mapping[str, Any]) -> dict[str, int]:
    prompt = estimate_tokens(json.dumps([request.messages, request.tools], ensure_ascii=False, default=str))
    completion = estimate_tokens(json.dumps(message, ensure_ascii=False))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


async def _chunks(
    model: str, message: Mapping[str, Any], *, finish_reason: str, usage: Mapping[str, int]
) -> AsyncIterator[Any]:
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    deltas += [{"content": piece} for piece in _pieces(message["content"] or "")]
    for index, item in enumerate(message.get("tool_calls", ())):
        function = item["function"]
        head = {"index": index, "id": item["id"], "type": "function"}
        deltas.append({"tool_calls": [{**head, "function": {"name": function["name"], "arguments": ""}}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
            for piece in _pieces(function["arguments"])
        ]
    ends: list[str | None] = [None] * len(deltas) + [finish_reason]
    for delta, end in zip([*deltas, {}], ends, strict=True):
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        yield _response(model, "chat.completion.chunk", choices=[choice])
    yield _response(model, "chat.completion.chunk", choices=[], usage=usage)


def _pieces(text: str) -> list[str]:
    size = max(1, -(-len(text) // _PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]
