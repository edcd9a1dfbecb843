"""Addresses and headers as users give them, and statuses in words.

An address or a header that can't work is refused, and no value is shown: it may hold a secret, of the
environment say, and errors of a configuration go to logs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http.client import responses as PHRASES  # noqa: N812 - a constant of another module
from urllib.parse import urlsplit

from tool_search_processor.errors import ConfigurationError

WEB = ("http://", "https://")
"""How the URLs begin that can be called."""

TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A name of a header, or of a method (RFC 9110, 5.6.2)."""

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Control characters, line breaks among them: no header that is sent from here holds one."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,19}(?=://)")


def check_url(url: str, *, option: str) -> None:
    """Refuse a URL that can't be called.

    Raises:
        ConfigurationError: Says what is wrong with it.
    """
    if not url.startswith(WEB):
        scheme = _SCHEME.match(url)
        found = repr(scheme[0]) if scheme else "neither"
        raise ConfigurationError(f"{option} begins with http:// or https://, found {found}")
    if not is_readable(url) or not urlsplit(url).hostname:
        raise ConfigurationError(
            f"{option} has a host and perhaps a port; in a password before them, write / as %2F, # as %23 "
            "and ? as %3F"
        )


def is_readable(url: str) -> bool:
    """Return True if a URL has a host and a port that can be read."""
    try:
        parts = urlsplit(url)
        return parts.port is None or bool(parts.hostname)
    except ValueError:
        return False


def shown_url(url: str) -> str:
    """Return a URL without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def check_headers(headers: object) -> dict[str, str]:
    """Return headers that can be sent.

    Raises:
        ConfigurationError: They are not a mapping, or one of them can't be sent.
    """
    if not isinstance(headers, Mapping):
        raise ConfigurationError(f"headers is a mapping of strings, found a {type(headers).__name__}")
    for name in headers:
        if not isinstance(name, str) or not TOKEN.fullmatch(name):
            raise ConfigurationError(
                f"{name!r:.80} is not a header name: header names have no blanks and no ':'"
            )
    return {name: check_value(value, f"the header {name!r}") for name, value in headers.items()}


def check_value(value: object, what: str) -> str:
    """Return a value of a header, without the line end that a secret from a file often has behind it.

    Raises:
        ConfigurationError: It is not a string of one line.
    """
    text = value.strip() if isinstance(value, str) else None
    if text is None or CONTROL.search(text):
        raise ConfigurationError(
            f"{what} is a string without line breaks, found a {type(value).__name__} that isn't"
        )
    return text


def status_text(code: int) -> str:
    """Return an HTTP status with its standard phrase: a server's own phrase could say anything."""
    return f"HTTP {code} {PHRASES.get(code, '')}".strip()
