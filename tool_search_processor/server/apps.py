"""What the Starlette apps of this package have in common: how they refuse a request, and no redirects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.types import Lifespan

_TRY_AGAIN = (429, 503)


def make_app(
    routes: Sequence[BaseRoute], *, middleware: Sequence[Middleware], lifespan: Lifespan[Starlette]
) -> Starlette:
    """Return an app whose refusals all have one shape."""
    app = Starlette(
        routes=routes,
        middleware=middleware,
        lifespan=lifespan,
        exception_handlers={HTTPException: _refused},  # type: ignore[dict-item]  # it gets no other
    )
    app.router.redirect_slashes = False  # a redirect leads to whatever host a request names
    return app


def problem(status: int, detail: object, headers: Mapping[str, str] = MappingProxyType({})) -> Response:
    """Return an answer that says why there is no other, as FastAPI writes it."""
    again = {"retry-after": "1"} if status in _TRY_AGAIN else {}
    return JSONResponse({"detail": detail}, status, headers={**again, **headers})


def refusal(exc: HTTPException) -> Response:
    """Return the answer to a request that was refused."""
    return problem(exc.status_code, exc.detail, exc.headers or {})


async def _refused(_: Request, exc: HTTPException) -> Response:
    return refusal(exc)
