"""Which host names a server answers to, and which web pages may send it requests."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.access import TokenCheck
from tool_search_processor.wire.checks import as_strings, refuse

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names by which a browser on this machine reaches a server on it."""

_NETLOC = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/\s,]+))(?::\d+)?", re.IGNORECASE | re.ASCII)
_METHODS = "GET, POST, DELETE"
_PREFLIGHT_SECONDS = "600"


class HostCheck:
    """Refuses requests that a foreign web page sends through its visitor's browser."""

    # Why not a library's: Starlette's TrustedHostMiddleware looks at no origin, its CORSMiddleware refuses
    # preflights alone and tells every page what is allowed, and both read the first of two headers of one
    # name. The SDK's transport security covers its own endpoint alone and wants every origin listed, ports
    # included.

    def __init__(self, allowed_hosts: Collection[str] | None, allowed_origins: Collection[str]) -> None:
        """Let these host names and these pages in; see `Protection`.

        Raises:
            ConfigurationError: For a single string in place of a collection.
        """
        self._hosts = None if allowed_hosts is None else _lower("allowed_hosts", allowed_hosts)
        self._origins = _lower("allowed_origins", allowed_origins)

    def refusal(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Return a status and a sentence for a foreign `Host` or `Origin`; None if neither is foreign."""
        host = headers.get("host", "")
        if self._hosts is not None and host_name(host) not in self._hosts:
            return 421, "this host is not served here, unless allowed_hosts names it"
        origin = headers.get("origin")
        if origin is None or origin in self._origins:
            return None
        netloc = _netloc(origin)
        # The scheme may differ, where a proxy in front speaks TLS.
        if netloc and netloc == host.lower():
            return None
        # A page of this machine may ask a server of this machine, whatever their ports.
        if self._hosts is not None and is_loopback(host_name(netloc)):
            return None
        return 403, "this origin may not ask"

    def grant(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers that let a page of `allowed_origins` read an answer."""
        origin = headers.get("origin")
        if origin is None or origin not in self._origins:
            return {}
        return {
            "access-control-allow-origin": origin,
            "access-control-expose-headers": "mcp-session-id, www-authenticate, retry-after",
            "vary": "origin",
        }

    def preflight(self, method: str, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the further headers that answer a browser's preflight request; empty for other requests."""
        is_asked = method == "OPTIONS" and "access-control-request-method" in headers
        if not is_asked or not self.grant(headers):
            return {}
        asked = headers.get("access-control-request-headers", "")
        return {
            "access-control-allow-methods": _METHODS,
            "access-control-allow-headers": asked,
            "access-control-max-age": _PREFLIGHT_SECONDS,
        }


def host_name(netloc: str) -> str:
    """Return the host of `host:port` in lower case, without the brackets of an IPv6 address.

    Empty if the string is not a host with or without a port.
    """
    match = _NETLOC.fullmatch(netloc)
    return (match[1] or match[2]).lower() if match else ""


def is_loopback(host: str) -> bool:
    """Return True if a host's name or address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def names_for(host: str, token: TokenCheck | None, *, how: str = "token=...") -> tuple[str, ...] | None:
    """Return the names by which clients may call a server that is bound to a host; None for any name.

    Where other machines can reach the server, any name will do: a foreign page would need the token.

    Args:
        host: The address that the server is bound to.
        token: What clients need.
        how: How a token is given, for the error.

    Raises:
        ConfigurationError: When other machines can reach it without a token, or `host` is not a string.
    """
    if not isinstance(host, str):
        refuse("host", "a name or an address", host, hint=": a port goes into port=")
    if is_loopback(host):
        return LOOPBACK
    if token is None:
        raise ConfigurationError(
            f"{host!r} can be reached from other machines: give a token, or bind to 127.0.0.1 "
            f"(a token is given by {how})"
        )
    return None


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _lower(option: str, values: Collection[str]) -> frozenset[str]:
    return frozenset(value.lower() for value in as_strings(option, values))
