"""Reads a LangChain agent's messages, and lets LangChain's own tool node run one of their calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.types import Command, interrupt
from pydantic import Field

from tool_search_processor.adapters.runs import SearchRun
from tool_search_processor.concurrency.blocking import run_in_sync_hook
from tool_search_processor.session.foreign_tools import ForeignRun, original_of
from tool_search_processor.session.prepared_calls import PreparedCall, ToolOutcome, refusal_text

INSTEAD = "the agent's async methods, such as ainvoke"
_HITL_STATE = "hitl_edited_tool_calls"
# Keys of a message's `additional_kwargs`, which are stored with it and sent to no model.
_RECEIPT = "tool_search_receipt"
DECLARED = "tool_search_declared"
"""In native load, what the request declared that this message answers."""


def messages_in(state: Any) -> list[AnyMessage]:
    """Return the messages of an agent's state, whatever its schema is."""
    if isinstance(state, list):
        return state
    found = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
    return list(found or ())


def read_messages(messages: Iterable[AnyMessage]) -> list[dict[str, Any]]:
    """Return the messages in OpenAI chat shape, with what a searcher reads."""
    return [_read(message) for message in messages]


def _read(message: AnyMessage) -> dict[str, Any]:
    read: dict[str, Any] = {"content": str(message.text)}
    if isinstance(message, AIMessage):
        calls = [
            {"id": call["id"] or "", "function": {"name": call["name"], "arguments": call["args"]}}
            for call in message.tool_calls
        ]
        declared = message.additional_kwargs.get(DECLARED)
        return read | {"role": "assistant", "tool_calls": calls, "declared": declared}
    if isinstance(message, ToolMessage):
        receipt = message.additional_kwargs.get(_RECEIPT)
        return read | {"role": "tool", "tool_call_id": message.tool_call_id, "receipt": receipt}
    return read | {"role": "user" if isinstance(message, HumanMessage) else "system"}


def before_call(messages: list[AnyMessage], call_id: str | None) -> list[AnyMessage]:
    """Return the conversation that the model saw when it made a call."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return messages[:place]
    return messages


def with_text(message: SystemMessage | None, text: str) -> SystemMessage | None:
    """Return a system message with text appended; blocks stay blocks, with their cache marks."""
    if not text:
        return message
    if message is None:
        return SystemMessage(text)
    own = message.content
    content = f"{own}\n\n{text}" if isinstance(own, str) else [*own, {"type": "text", "text": text}]
    return message.model_copy(update={"content": content})


def has_reviewer() -> bool:
    """Return True if the running agent has a `HumanInTheLoopMiddleware`."""
    try:
        read = get_config().get("configurable", {}).get("__pregel_read")
    except RuntimeError:  # the hook was called outside of a graph
        return False
    # where LangChain's own tool node finds the graph's channels
    bound: tuple[Any, ...] = getattr(read, "args", ())
    return len(bound) > 1 and isinstance(bound[1], Mapping) and _HITL_STATE in bound[1]


class AnsweredTool(BaseTool):
    """Answers one call as a LangChain tool, so that LangChain runs, traces and streams it like any other."""

    answer: Callable[[dict[str, Any]], Awaitable[ToolMessage]] = Field(exclude=True, repr=False)
    is_missing: bool = False
    """Whether there is no tool for the call: the answer says why."""
    # Nothing is injected; LangChain would read the signatures of each call's tool again (0.2 ms).
    _injected_args_keys: ClassVar[frozenset[str]] = frozenset()

    def _run(self, /, **arguments: Any) -> ToolMessage:
        return run_in_sync_hook(lambda: self._arun(**arguments), door=self.name, instead=INSTEAD)

    async def _arun(self, /, **arguments: Any) -> ToolMessage:
        return await self.answer(arguments)


class TakenCall:
    """A call that the searcher has looked up."""

    def __init__(self, run: SearchRun, call: PreparedCall, request: ToolCallRequest) -> None:
        """Wrap a call.

        Args:
            run: The run that looked it up; `end` ends it.
            call: What was found.
            request: LangChain's request.
        """
        self._run = run
        self._call = call
        self._request = request
        self._arguments = dict(call.arguments) if isinstance(call.arguments, Mapping) else {}
        self._original: BaseTool | None = original_of(call.tool, BaseTool)
        self.is_foreign = self._original is not None
        """Whether a LangChain tool has to run: use `hand_over`, otherwise `answered_request`."""

    def refusal(self) -> ToolMessage | None:
        """Ask a person if the tool needs approval, and return the answer to a call that was refused.

        Raises:
            GraphInterrupt: The run stops until it is resumed with an answer.
        """
        if not self._call.needs_approval:
            return None
        verdict = _verdict(interrupt(self._question()))
        return None if verdict is True else self._message(refusal_text(self._call.target_name, verdict))

    def answered_request(self) -> ToolCallRequest:
        """Return the request for LangChain to run, with a tool that gives our answer."""
        tool = self._call.tool
        definition: dict[str, Any] = {} if tool is None else tool.to_openai()["function"]
        answered = AnsweredTool(
            name=self._call.target_name,
            description=definition.get("description", ""),
            args_schema=definition.get("parameters", {"type": "object", "properties": {}}),
            answer=self._answer,
            is_missing=tool is None,
        )
        return self._request_for(answered, self._arguments)

    async def hand_over(self, run: ForeignRun) -> Any:
        """Let LangChain run its own tool, if policy still allows it.

        Args:
            run: Runs `request_for` the arguments it gets.

        Raises:
            Exception: What the tool raised, unchanged: an interrupt too.
        """
        result = await self._run.model_call.hand_over(self._call, run)
        return self._message(result.text) if isinstance(result, ToolOutcome) else result

    def request_for(self, arguments: Mapping[str, Any]) -> ToolCallRequest:
        """Return the request for LangChain to run its own tool with these arguments."""
        return self._request_for(self._original, arguments)

    def finished(self, result: Any) -> Any:
        """Return LangChain's result under the name that the model called, with our receipt if any."""
        return self._marked(result, self._run.model_call.receipt(self._call))

    async def end(self) -> None:
        """End the run."""
        await self._run.end()

    async def _answer(self, arguments: dict[str, Any]) -> ToolMessage:
        call, model_call = self._call, self._run.model_call
        # A reviewer or another middleware may change the arguments, but finds no tool by it: nobody has
        # approved one that only the changed call leads to.
        if call.tool is not None and arguments != self._arguments:
            call = await model_call.resolve(call.target_name, arguments, call_id=call.request.id)
            if call.needs_approval and not self._call.needs_approval:
                return self._message(refusal_text(call.target_name, None))
        outcome = await model_call.run(call)
        return self._message(outcome.text, is_error=outcome.is_error)

    def _request_for(self, tool: Any, arguments: Mapping[str, Any]) -> ToolCallRequest:
        call: ToolCall = {
            **self._request.tool_call,
            "name": self._call.target_name,
            "args": dict(arguments),
        }
        return self._request.override(tool=tool, tool_call=call)

    def _question(self) -> dict[str, Any]:
        """Return the question for a person, in the shape that `HumanInTheLoopMiddleware` uses."""
        tool, pending = self._call.tool, self._call.pending()
        return {
            "type": "tool_approval",
            "tool_call_id": pending.call_id,
            "name": pending.name,
            "args": dict(pending.arguments),
            "description": "" if tool is None else tool.description,
        }

    def _message(self, text: str, *, is_error: bool = True) -> ToolMessage:
        call = self._request.tool_call
        status = "error" if is_error else "success"
        return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], status=status)

    def _marked(self, result: Any, receipt: Mapping[str, Any] | None) -> Any:
        if isinstance(result, list):
            return [self._marked(item, receipt) for item in result]
        if isinstance(result, Command) and isinstance(result.update, dict):
            messages = result.update.get("messages")
            if not isinstance(messages, list):
                return result
            return replace(result, update={**result.update, "messages": self._marked(messages, receipt)})
        call = self._request.tool_call
        if not isinstance(result, ToolMessage) or result.tool_call_id != (call["id"] or ""):
            return result
        if receipt is None and result.name in (None, call["name"]):
            return result
        kept = {} if receipt is None else {_RECEIPT: dict(receipt)}
        return result.model_copy(
            update={"name": call["name"], "additional_kwargs": {**result.additional_kwargs, **kept}}
        )


def _verdict(answer: object) -> object:
    """Return True for approval; otherwise the refusal, as `refusal_text` takes it."""
    if isinstance(answer, Mapping):
        if answer.get("type") == "approve":
            return True
        return answer.get("message") or False if answer.get("type") == "reject" else None
    return answer
