"""Reads requests over HTTP, behind `Protection`; problems are reported in FastAPI's shape."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tool_search_processor.concurrency.foreign_calls import is_no_failure
from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.server import protection
from tool_search_processor.server.access import Access, Caller
from tool_search_processor.server.hosts import host_name, is_loopback
from tool_search_processor.wire.plain import clean_text

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 256 * 1024
"""The longest body that is taken: of a query, 20,000 characters count."""

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")

Model = TypeVar("Model", bound=BaseModel)
Endpoint = Callable[[Request], Awaitable[Response]]
Answer = Callable[[Request, Caller], Awaitable[Response]]


class InvalidRequestError(Exception):
    """A request that can't be answered; `problems` says why, in FastAPI's shape."""

    def __init__(self, problems: Sequence[Mapping[str, Any]]) -> None:
        """Keep the problems, each with `type`, `loc` and `msg`."""
        self.problems = list(problems)
        super().__init__(str(self.problems))


def guarded(answer: Answer, access: Access, *, for_people: bool = False) -> Endpoint:
    """Return an endpoint that asks for the token and has an answer to every failure.

    Args:
        answer: What answers a caller.
        access: Knows the token.
        for_people: Whether a browser is to ask its user for the token, as a password; where there is none,
            only this machine may ask.
    """
    scheme = "Basic" if for_people else "Bearer"

    async def endpoint(request: Request) -> Response:
        try:
            if for_people and access.is_open:
                check_is_near(request)
            caller = await access.admit(headers_of(request).get("authorization"))
            return await answer(request, caller) if caller else unauthorized(scheme)
        except HTTPException:
            raise
        except InvalidRequestError as exc:
            return JSONResponse({"detail": exc.problems}, 422)
        except InvalidPatternError as exc:  # only a query is read as a pattern
            wrong = {"type": "value_error", "loc": ["body", "query"], "msg": clean_text(str(exc))}
            return JSONResponse({"detail": [wrong]}, 422)
        except BaseException as exc:  # providers, indexes and embedders are anybody's code
            if is_no_failure(exc):
                raise
            logger.exception("%s %r failed", request.method, request.url.path)
            return problem(500, "the server failed to answer: its log says why")

    return endpoint


def check_is_near(request: Request) -> None:
    """Refuse a request from another machine, or to a host name that isn't this machine's.

    The name matters since a page from elsewhere may have its own name lead here (DNS rebinding).

    Raises:
        HTTPException: Says how to open the page to others.
    """
    client = request.client.host if request.client else ""
    headers = headers_of(request)
    is_near = is_loopback(client) and is_loopback(host_name(headers.get("host", "")))
    if not is_near or any(name in headers for name in _FORWARDED):
        raise HTTPException(403, "this page is for this machine alone, unless the server is given a token")


def unauthorized(scheme: str) -> Response:
    """Return what somebody without a valid token gets."""
    challenge = {"WWW-Authenticate": f'{scheme} realm="tool search"'}
    return problem(
        401, "this needs a valid token: send the header Authorization: Bearer …", headers=challenge
    )


def problem(status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> Response:
    """Return a failure as FastAPI writes it."""
    return JSONResponse({"detail": detail}, status, headers=headers)


async def read_body(request: Request, model: type[Model]) -> Model:
    """Read a JSON body.

    Raises:
        InvalidRequestError: When it is not JSON, or has values that don't fit.
        HTTPException: When it is too long.
    """
    body = await request.body()
    if len(body) > MAX_BODY_BYTES:
        raise HTTPException(413, f"a body holds at most {MAX_BODY_BYTES:,} bytes")
    try:
        return model.model_validate_json(body)
    except ValidationError as exc:
        raise InvalidRequestError(_problems(exc, "body")) from None


def read_query(request: Request, model: type[Model]) -> Model:
    """Read a URL's parameters; repeatable parameters are also split at commas.

    Raises:
        InvalidRequestError: When one doesn't fit.
    """
    given: dict[str, Any] = {}
    for key, value in request.query_params.multi_items():
        field = model.model_fields.get(key)
        if field is not None and field.default == []:
            given.setdefault(key, []).extend(part.strip() for part in value.split(",") if part.strip())
        else:
            given[key] = value
    try:
        return model.model_validate(given)
    except ValidationError as exc:
        raise InvalidRequestError(_problems(exc, "query")) from None


def context_of(request: Request, caller: Caller) -> Mapping[str, Any]:
    """Return what providers and the filter know of a request: `headers` and `user`, as over MCP."""
    return {"headers": Headers(headers_of(request)), "user": caller.user}


def headers_of(request: Request) -> dict[str, str]:
    """Return a request's headers; see `joined_headers`."""
    return protection.joined_headers(request.scope["headers"])


async def refused(_: Request, exc: HTTPException) -> Response:
    """Answer what Starlette or an endpoint refused, in the same shape as everything else."""
    return problem(exc.status_code, exc.detail, headers=exc.headers)


def _problems(exc: ValidationError, place: str) -> list[dict[str, Any]]:
    """Return what pydantic found, without the values: they may hold anything, at any length."""
    errors = exc.errors(include_url=False, include_context=False, include_input=False)
    return [{"type": e["type"], "loc": [place, *e["loc"]], "msg": e["msg"]} for e in errors]
