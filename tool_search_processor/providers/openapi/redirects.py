"""Redirects of an API: followed without credentials, and never deeper into the own network."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from tool_search_processor.errors import ToolCallError

if TYPE_CHECKING:
    import httpx

_MAX_REDIRECTS = 5
_READING = ("GET", "HEAD")
CARRIED_OVER = frozenset({"accept", "accept-encoding", "connection", "host", "user-agent"})
"""Headers that another host gets as well: they say nothing of who asks."""
_WEB_PORTS = {"http": 80, "https": 443}


async def send(client: httpx.AsyncClient, request: httpx.Request, *, auth: Any, label: str) -> httpx.Response:
    """Return the answer, not read yet; redirects are followed, but not into the own network.

    Another host gets neither credentials nor cookies, and no request that does more than read.

    Raises:
        ToolCallError: If a redirect is not followed, or there are too many.
    """
    for _ in range(_MAX_REDIRECTS + 1):
        response = await client.send(request, auth=auth, follow_redirects=False, stream=True)
        following = response.next_request
        if following is None:
            return response
        await response.aclose()
        if _is_same_origin(request.url, following.url):
            if "cookie" in request.headers:  # httpx drops it
                following.headers.setdefault("cookie", request.headers["cookie"])
        else:
            _check_elsewhere(request, following, label=label)
            for name in [name for name in following.headers if name.lower() not in CARRIED_OVER]:
                del following.headers[name]
            auth = None
        request = following
    raise ToolCallError(f"{label} was redirected more than {_MAX_REDIRECTS} times.")


def _check_elsewhere(request: httpx.Request, following: httpx.Request, *, label: str) -> None:
    """Refuse to carry a request's content to another host, and to be led into the own network."""
    if following.method not in _READING:
        raise ToolCallError(f"{label} was redirected to another host, which only a reading call follows.")
    if depth_inside(following.url.host) > depth_inside(request.url.host):
        raise ToolCallError(
            f"{label} was redirected to an address of this machine's own network: not followed."
        )


def _is_same_origin(one: httpx.URL, other: httpx.URL) -> bool:
    first, second = _origin(one), _origin(other)
    # From http to https on the same host, nobody else learns anything.
    return first == second or (first == ("http", one.host, 80) and second == ("https", one.host, 443))


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or _WEB_PORTS.get(url.scheme)


def depth_inside(host: str) -> int:
    """Return how far inside a host is: 0 the internet, 1 the own network, 2 this machine, 3 its link.

    At the link a cloud's machines get their credentials (169.254.169.254).
    """
    host = host.rstrip(".")
    try:
        address = ip_address(host)
    except ValueError:
        try:
            address = ip_address(socket.inet_aton(host))  # 127.1 and 2130706433 are addresses, too
        except OSError:
            return 2 if host == "localhost" or host.endswith(".localhost") else 0
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_link_local:
        return 3
    if address.is_loopback or address.is_unspecified:
        return 2
    return 0 if address.is_global else 1
