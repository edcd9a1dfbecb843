"""Classifies what goes wrong between a provider and its server, and puts it into words."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from tool_search_processor.errors import ProviderError, ToolCallError
from tool_search_processor.providers.mcp.rendering import cut

if TYPE_CHECKING:
    from mcp import MCPError
    from pydantic import ValidationError

_OWN_CODES = -(2**40) - secrets.randbelow(2**40)
"""Where the error codes begin that are made here: a server may use any code, and can't guess these."""
UNREACHED = _OWN_CODES
"""The code of a request that was never sent."""
CUT_OFF = _OWN_CODES - 1
"""The code of a request that was sent and got no answer: it may have been carried out."""
SESSION_GONE = _OWN_CODES - 2
"""The code of a request that was not carried out, because its server has forgotten the session."""
UNREADABLE = _OWN_CODES - 3
"""The code of a request whose answer came, and can't be read."""
SERVERS_OWN = _OWN_CODES - 4
"""The code that replaces a server's error code if the SDK uses that one for lost connections."""

_SDK_CLOSED = "Connection closed"
"""What the SDK says if the connection ends during a request."""
_LONGEST_WORDS = 1_000


def root_cause(error: BaseException) -> BaseException:
    """Return the exception inside the groups that task groups put around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def is_unreached(error: BaseException) -> bool:
    """Return True if a request over HTTP found no server."""
    return getattr(error, "code", None) == UNREACHED


def is_cut_off(error: MCPError) -> bool:
    """Return True if a request was sent, and its answer was lost."""
    from mcp_types import CONNECTION_CLOSED

    # A server may use the SDK's code for errors of its own.
    return error.code == CUT_OFF or (error.code == CONNECTION_CLOSED and error.message == _SDK_CLOSED)


def short(text: object) -> str:
    """Return foreign words as one line of bounded length."""
    words = " ".join(str(text).split())
    return words if len(words) <= _LONGEST_WORDS else words[:_LONGEST_WORDS] + "…"


def reason(error: BaseException) -> str:
    """Return what the SDK or the connection raised, for the program's operator."""
    from mcp import MCPError
    from pydantic import ValidationError

    cause = root_cause(error)
    if isinstance(cause, MCPError):
        return short(cause)
    if isinstance(cause, ValidationError):
        return f"its answer has a form that the protocol doesn't know: {fault_text(cause)}"
    return f"{type(cause).__name__}: {short(cause)}"


def fault_text(error: ValidationError, *, skip: int = 0) -> str:
    """Return where the first fault of an answer is, and what it is.

    Args:
        error: Of the check of an answer.
        skip: How many parts of the place are left out.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"][skip:]))
    return short(f"{where}: {first['msg']}" if where else first["msg"])


def call_error(error: BaseException, *, server: str, tool: str, limit: int | None) -> ToolCallError:
    """Return what a model reads about a call that failed; it holds neither addresses nor a server's log.

    Args:
        error: What the SDK, or the connection, raised.
        server: The provider's name.
        tool: The server's own name for the tool, prompt or resource.
        limit: The most characters of the server's own words; None for no limit.
    """
    import pydantic
    from mcp import MCPError

    if isinstance(error, ProviderError) or is_unreached(error):
        return ToolCallError(f"the server {server!r} cannot be reached; {tool} was not run. Try again later.")
    if isinstance(error, MCPError):
        return ToolCallError(_refusal(error, server=server, tool=tool, limit=limit))
    if isinstance(error, pydantic.ValidationError):
        return ToolCallError(
            f"{tool} was run, but the server {server!r} answered in a form that the protocol doesn't know."
        )
    return ToolCallError(f"the call of {tool} on the server {server!r} failed: {short(error)}")


def _refusal(error: MCPError, *, server: str, tool: str, limit: int | None) -> str:
    if is_cut_off(error):
        return (
            f"the connection to the server {server!r} ended during the call of {tool}, which may have been "
            "carried out or not: look before you repeat it. The next call connects again."
        )
    if error.code == SESSION_GONE:
        return f"the server {server!r} has forgotten the session, twice; {tool} was not run. Try again later."
    if error.code == UNREADABLE:
        return (
            f"{tool} was run, but what the server {server!r} answered can't be read: {short(error.message)}."
        )
    # Some SDKs send whatever a tool raises as such an error; its cause may stand in the last line.
    return f"the server {server!r} refused {tool}: {cut(error.message.strip(), limit=limit)}"
