"""Reads requests that `Protection` has let in, and reports problems in FastAPI's shape."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tool_search_processor.concurrency.foreign_calls import is_no_failure
from tool_search_processor.errors import InvalidPatternError
from tool_search_processor.server.apps import problem
from tool_search_processor.server.hosts import host_name, is_loopback
from tool_search_processor.server.protection import CALLER_KEY, joined_headers, user_of
from tool_search_processor.wire.plain import clean_text

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 256 * 1024
"""The longest body that is taken: of a query, 20,000 characters count."""

_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")

Model = TypeVar("Model", bound=BaseModel)
Answer = Callable[[Request], Awaitable[Response]]


def for_people(answer: Answer, *, has_token: bool) -> Answer:
    """Return what lets a browser ask its user for the token, as a password, before it answers.

    Args:
        answer: What answers those who may ask.
        has_token: Whether there is a token; without one, only this machine may ask.
    """

    async def checked(request: Request) -> Response:
        if not has_token:
            check_is_near(request)
        if request.scope[CALLER_KEY] is None:
            challenge = {"WWW-Authenticate": 'Basic realm="tool search"'}
            raise HTTPException(401, "this needs a valid token, as the password of any user", challenge)
        return await answer(request)

    return checked


def guarded(answer: Answer) -> Answer:
    """Return an endpoint that has an answer to every failure."""

    async def endpoint(request: Request) -> Response:
        try:
            return await answer(request)
        except HTTPException:
            raise
        except InvalidPatternError as exc:  # only a query is read as a pattern
            wrong = {"type": "value_error", "loc": ["body", "query"], "msg": clean_text(str(exc))}
            return problem(422, [wrong])
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


async def read_body(request: Request, model: type[Model]) -> Model:
    """Read a JSON body.

    Raises:
        HTTPException: When it is too long, is not JSON, or has values that don't fit.
    """
    body = await request.body()
    if len(body) > MAX_BODY_BYTES:
        raise HTTPException(413, f"a body holds at most {MAX_BODY_BYTES:,} bytes")
    try:
        return model.model_validate_json(body)
    except ValidationError as exc:
        raise _invalid(exc, "body") from None


def read_query(request: Request, model: type[Model]) -> Model:
    """Read a URL's parameters; repeatable parameters are also split at commas.

    Raises:
        HTTPException: When one doesn't fit.
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
        raise _invalid(exc, "query") from None


def context_of(request: Request) -> Mapping[str, Any]:
    """Return what providers and the filter know of a request: `headers` and `user`, as over MCP."""
    return {"headers": Headers(headers_of(request)), "user": user_of(request.scope)}


def headers_of(request: Request) -> dict[str, str]:
    """Return a request's headers; see `joined_headers`."""
    return joined_headers(request.scope["headers"])


def _invalid(exc: ValidationError, place: str) -> HTTPException:
    """Return what pydantic found, without the values: they may hold anything, at any length."""
    errors = exc.errors(include_url=False, include_context=False, include_input=False)
    problems = [{"type": e["type"], "loc": [place, *e["loc"]], "msg": e["msg"]} for e in errors]
    return HTTPException(422, problems)  # type: ignore[arg-type]  # a list, as FastAPI has it
