"""Web addresses, cookies and media types, by `urllib.parse`, `http` and `mimetypes`."""

from __future__ import annotations

import mimetypes
from http import HTTPStatus
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit, urlunsplit

from pydantic import JsonValue


def parse_url(url: str) -> dict[str, Any]:
    """Take a URL apart: scheme, host, port, path, query and fragment.

    Args:
        url: The web address.
    """
    parts = urlsplit(url)
    return {
        "scheme": parts.scheme,
        "host": parts.hostname,
        "port": parts.port,
        "path": parts.path,
        "query": dict(parse_qsl(parts.query, keep_blank_values=True)),
        "fragment": parts.fragment,
    }


def build_url(
    host: str, path: str = "/", *, scheme: str = "https", query: dict[str, str] | None = None
) -> str:
    """Put a URL together from host, path and query parameters.

    Args:
        host: Such as "example.org".
        path: Such as "/search".
        scheme: Such as "https".
        query: The query parameters, encoded as needed.
    """
    return urlunsplit((scheme, host, quote(path), urlencode(query or {}), ""))


def resolve_url(base: str, reference: str) -> str:
    """Resolve a relative link against the page that holds it.

    Args:
        base: The address of the page.
        reference: The link, such as "../images/logo.png".
    """
    return urljoin(base, reference)


def url_encode(text: str, safe: str = "") -> str:
    """Percent-encode a text for use in a URL.

    Args:
        text: The text.
        safe: Characters that stay as they are, such as "/".
    """
    return quote(text, safe=safe)


def url_decode(text: str) -> str:
    """Decode percent-encoded text from a URL.

    Args:
        text: Such as "caf%C3%A9".
    """
    return unquote(text)


def build_query_string(parameters: dict[str, str]) -> str:
    """Make a URL query string from parameters.

    Args:
        parameters: Names and values.
    """
    return urlencode(parameters)


def parse_query_string(query: str) -> list[list[str]]:
    """Read the names and values of a URL query string, in order.

    Args:
        query: Such as "a=1&b=2".
    """
    return [[name, value] for name, value in parse_qsl(query.removeprefix("?"), keep_blank_values=True)]


def set_query_parameter(url: str, name: str, *, value: str) -> str:
    """Add or replace one query parameter of a URL.

    Args:
        url: The web address.
        name: The parameter's name.
        value: Its new value.
    """
    parts = urlsplit(url)
    query = {**dict(parse_qsl(parts.query, keep_blank_values=True)), name: value}
    return urlunsplit(parts._replace(query=urlencode(query)))


def http_status_meaning(code: int) -> dict[str, str]:
    """Explain an HTTP status code such as 404 or 503.

    Args:
        code: The status code.
    """
    status = HTTPStatus(code)
    return {"phrase": status.phrase, "description": status.description}


def guess_media_type(filename: str) -> str | None:
    """Guess the MIME (media) type of a file from its name.

    Args:
        filename: Such as "report.pdf".
    """
    return mimetypes.guess_type(filename, strict=True)[0]


def extension_for_media_type(media_type: str) -> str | None:
    """Tell the usual file extension of a MIME (media) type.

    Args:
        media_type: Such as "image/png".
    """
    return mimetypes.guess_extension(media_type)


def parse_cookies(header: str) -> dict[str, str]:
    """Read the cookies of an HTTP Cookie header.

    Args:
        header: Such as "session=abc; theme=dark".
    """
    return {name: morsel.value for name, morsel in SimpleCookie(header).items()}


def link_targets(page: str) -> list[JsonValue]:
    """List the targets of all links (href) in an HTML page, in order.

    Args:
        page: The page's HTML.
    """
    from html.parser import HTMLParser

    found: list[JsonValue] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(value for name, value in attrs if tag == "a" and name == "href")

    Links().feed(page)
    return found
