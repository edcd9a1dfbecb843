"""What a front tells a person who opens its address in a browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

_TEXT = """\
{name} is a server of the Model Context Protocol: programs talk to it, and there is no page.

Give an MCP client this address:
    {url}
"""


def greeting(name: str, *, path: str) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers a person.

    Args:
        name: What the server is called.
        path: Where its endpoint is.
    """

    async def greet(request: Request) -> Response:
        url = request.url.replace(path=f"{request.scope.get('root_path', '')}{path}", query="")
        return PlainTextResponse(_TEXT.format(name=name, url=url))

    return greet
