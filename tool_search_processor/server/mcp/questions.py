"""What an upstream server asks and reports during a call, passed on to the client that made the call.

With a handshake a server may ask its client while a call is under way. Without one (protocol 2026-07-28) a
call is answered by what it needs to know, goes on in the background, and is asked for again with the answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import mcp_types as types
from cachetools import TTLCache
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from mcp_types import ErrorData

    from tool_search_processor.providers.mcp.settings import MCPProgress

ASK = "ask_client"
"""The key of `Questions.ask` in a call's context."""

_OPEN_SECONDS = 600.0
"""How long a question waits for its answer, and a call for its client."""
_MOST_OPEN = 1_000
"""The most calls that wait for answers without a connection; beyond it, the oldest is dropped."""

Question = types.ElicitRequest | types.CreateMessageRequest
Answer = types.ElicitResult | types.CreateMessageResult | types.CreateMessageResultWithTools


async def forward_elicitation(_: Any, params: types.ElicitRequestParams) -> Any:
    """Pass what an upstream server asks its user on to this server's client: `MCPProvider(elicitation=...)`.

    ```python
    git = MCPProvider.stdio(
        "uvx", ["mcp-server-git"], elicitation=forward_elicitation, sampling=forward_sampling
    )
    server = ToolServer([git])
    ```

    Refused at once where the client can't answer, or the upstream doesn't say for which call it asks while
    several clients have one under way.
    """
    return await _forward(types.ElicitRequest(params=params))


async def forward_sampling(_: Any, params: types.CreateMessageRequestParams) -> Any:
    """Pass an upstream's request for a completion to this server's client: `MCPProvider(sampling=...)`.

    ```python
    git = MCPProvider.stdio("uvx", ["mcp-server-git"], sampling=forward_sampling)
    server = ToolServer([git])
    ```

    Refused as by `forward_elicitation`.
    """
    return await _forward(types.CreateMessageRequest(params=params))


def forward_progress(progress: MCPProgress) -> None:
    """Pass an upstream server's progress on to this server's client: `MCPProvider(on_progress=...)`.

    ```python
    git = MCPProvider.stdio("uvx", ["mcp-server-git"], on_progress=forward_progress)
    server = ToolServer([git])
    ```
    """
    report = progress.context.context.get("report_progress")
    if report is not None:
        report(progress.progress, progress.total, progress.message)


async def _forward(question: Question) -> Answer | ErrorData:
    from tool_search_processor.providers.mcp.asked import asking_call

    call = asking_call()
    ask = call.context.get(ASK) if call is not None else None
    if ask is None:
        return _refusal("it is unknown whose call this is for")
    answer: Answer | ErrorData = await ask(question)
    return answer


class Questions:
    """Puts questions to the client of one call."""

    def __init__(self, ctx: Any) -> None:
        """Create it, in the loop that serves the call.

        Args:
            ctx: The SDK's context of the call.
        """
        self._ctx = ctx
        self._loop = asyncio.get_running_loop()
        self._capabilities: types.ClientCapabilities | None = ctx.session.client_capabilities
        self.is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        self._open: dict[str, tuple[Question, asyncio.Future[Answer | ErrorData]]] = {}
        self._told: set[str] = set()
        self.asked = asyncio.Event()
        """Set while there are questions that the client has not seen."""

    @property
    def may_come(self) -> bool:
        """Whether the client answers questions, and gets them in the call's answer."""
        can = self._capabilities
        return (
            self.is_modern and can is not None and (can.elicitation is not None or can.sampling is not None)
        )

    async def ask(self, question: Question) -> Answer | ErrorData:
        """Return the client's answer, from any loop; an error at once if it can't answer."""
        if not self._can_answer(question):
            return _refusal("the client has no way to answer")
        put = self._wait(question) if self.is_modern else self._send(question)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(put, self._loop))

    def tell(self) -> dict[str, Question]:
        """Return the open questions by their keys, and note that the client sees them now."""
        self.asked.clear()
        self._told.update(self._open)
        return {key: question for key, (question, _) in self._open.items()}

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Give each question that the client saw its answer; a question without an answer is refused."""
        for key in self._told.intersection(self._open):
            question, waiting = self._open[key]
            if waiting.done():
                continue
            given = answers.get(key)
            waiting.set_result(given if _is_answer(given, question) else _refusal("the client left it out"))

    def _can_answer(self, question: Question) -> bool:
        can = self._capabilities
        if can is None:
            return False
        if isinstance(question, types.CreateMessageRequest):
            wants_tools = bool(question.params.tools or question.params.tool_choice)
            return can.sampling is not None and not (wants_tools and can.sampling.tools is None)
        by = can.elicitation
        if by is None:
            return False
        # A client may say that it takes forms by naming no kind at all.
        return by.url is not None if question.params.mode == "url" else by.form is not None or by.url is None

    async def _send(self, question: Question) -> Answer | ErrorData:
        """Ask over the call's own stream."""
        related = ServerMessageMetadata(related_request_id=self._ctx.request_id)
        try:
            result: Answer = await self._ctx.session.send_request(
                question, _result_type(question), metadata=related
            )
        except MCPError as exc:
            return exc.error
        return result

    async def _wait(self, question: Question) -> Answer | ErrorData:
        """Wait until the client asks for the call again, and has the answer with it."""
        key = f"q{secrets.token_hex(4)}"
        waiting: asyncio.Future[Answer | ErrorData] = self._loop.create_future()
        self._open[key] = (question, waiting)
        self.asked.set()
        try:
            async with asyncio.timeout(_OPEN_SECONDS):
                return await waiting
        except TimeoutError:
            return _refusal("the client did not answer")
        finally:
            del self._open[key]
            if self._told.issuperset(self._open):
                self.asked.clear()


@dataclass(frozen=True, slots=True)
class _OpenCall:
    """A call of a client without a connection, which goes on while its client is asked."""

    task: asyncio.Task[types.CallToolResult]
    questions: Questions
    owner: object

    async def next(self) -> types.CallToolResult | None:
        """Return the result; None if the client has to be asked first. Ends the call with its waiter."""
        asked = asyncio.create_task(self.questions.asked.wait())
        try:
            await asyncio.wait({self.task, asked}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
            raise
        finally:
            asked.cancel()
        return self.task.result() if self.task.done() else None


class OpenCalls:
    """The calls that wait for answers from clients without a connection, known to this process only."""

    # Why not the SDK's sealed request states: they hold what a call needs to begin again, and the upstream's
    # call that is under way goes on here.

    def __init__(self) -> None:
        """Begin without any."""
        self._calls: TTLCache[str, _OpenCall] = TTLCache(_MOST_OPEN, _OPEN_SECONDS)

    async def begin(
        self, work: Coroutine[Any, Any, types.CallToolResult], questions: Questions, *, owner: object
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a call until its result, or until its client has to be asked.

        Args:
            work: The call.
            questions: Those of the call.
            owner: What has to be the same when the call is asked for again: its user, name and arguments.
        """
        task = asyncio.create_task(work)
        task.add_done_callback(_retrieve)  # the client may never ask for the call again
        return await self._next(_OpenCall(task, questions, owner))

    async def resume(
        self, state: str, answers: Mapping[str, Any], *, owner: object
    ) -> types.CallToolResult | types.InputRequiredResult | None:
        """Go on with a call; None if this owner has no such call."""
        call = self._calls.get(state)
        if call is None or call.owner != owner:
            return None
        del self._calls[state]
        call.questions.answer(answers)
        return await self._next(call)

    async def _next(self, call: _OpenCall) -> types.CallToolResult | types.InputRequiredResult:
        result = await call.next()
        if result is not None:
            return result
        state = secrets.token_urlsafe(24)
        self._calls[state] = call
        return types.InputRequiredResult(input_requests=dict(call.questions.tell()), request_state=state)


def _result_type(question: Question) -> type[Answer]:
    if isinstance(question, types.ElicitRequest):
        return types.ElicitResult
    wants_tools = bool(question.params.tools or question.params.tool_choice)
    return types.CreateMessageResultWithTools if wants_tools else types.CreateMessageResult


def _is_answer(given: object, question: Question) -> TypeGuard[Answer]:
    """Return True if a client's answer is of the question's kind."""
    if isinstance(question, types.ElicitRequest):
        return isinstance(given, types.ElicitResult)
    return isinstance(given, types.CreateMessageResult | types.CreateMessageResultWithTools)


def _retrieve(task: asyncio.Task[types.CallToolResult]) -> None:
    """Retrieve a failure that may have no waiter left: asyncio would log it."""
    if not task.cancelled():
        task.exception()


def _refusal(why: str) -> ErrorData:
    return types.ErrorData(code=types.INVALID_REQUEST, message=f"Refused: {why}")
