"""The page for people: one file, which the browser keeps from loading or running anything else."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

_PARTS = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)


@cache
def _page() -> tuple[bytes, dict[str, str]]:
    """Return the page, and headers that allow only its own style and script, by their hashes."""
    text = files(__package__).joinpath("page.html").read_text("utf-8")
    hashes: dict[str, str] = {}
    for kind, content in _PARTS.findall(text):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        hashes[kind] = f"'sha256-{digest}'"
    policy = (
        f"default-src 'none'; script-src {hashes['script']}; style-src {hashes['style']}; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return text.encode(), {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-cache",
    }


async def get_page(_: Request) -> Response:
    """Show the page."""
    body, headers = _page()
    return Response(body, headers=headers, media_type="text/html")
