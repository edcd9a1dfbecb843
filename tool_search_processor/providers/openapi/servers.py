"""The server that an operation is called at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.operations import OperationNode
from tool_search_processor.providers.openapi.routes import VARIABLE
from tool_search_processor.providers.openapi.swagger import to_servers
from tool_search_processor.providers.web import WEB, is_readable
from tool_search_processor.wire.plain import items_of, mapping_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The server at which an operation is called."""

    url: str | None
    """An absolute URL; None where the document names none."""
    path: str = ""
    """The path of the first relative server; it is put behind a host that is given alone."""
    fault: str = "names no absolute server"
    """What errors say if there is no URL."""
    remedy: str = "give base_url='https://…'"

    def behind(self, base_url: str) -> str:
        """Return a base URL of the user's; one without a path gets that of a relative server."""
        is_host = urlsplit(base_url).path in ("", "/")
        return base_url.rstrip("/") + self.path if self.path and self.url is None and is_host else base_url


def read_server(document: OpenAPIDocument, node: OperationNode, *, variables: Mapping[str, str]) -> Server:
    """Return the first server of an operation that can be called, else of its path, else of the document.

    Args:
        document: A server that is a relative URL is so to where it came from.
        node: The operation.
        variables: Values of server variables, over the defaults.

    Raises:
        ConfigurationError: If a variable may not have the value that was given.
    """
    urls = [_filled(mapping_of(server), variables) for server in _servers(document, node)]
    for url in urls:
        absolute = urljoin(document.url, url) if document.url is not None and is_readable(url) else url
        if absolute.startswith(WEB) and is_readable(absolute) and not VARIABLE.search(absolute):
            return Server(url=absolute)
    for url in urls:
        if unfilled := VARIABLE.findall(url):
            return Server(
                url=None,
                fault=f"has the server {url!r:.200} without a value of its variable {unfilled[0]!r}",
                remedy=f"give server_variables={{{unfilled[0]!r}: '…'}} or base_url='https://…'",
            )
    path = next((url.rstrip("/") for url in urls if url.startswith("/") and not url.startswith("//")), "")
    if not path:
        return Server(url=None)
    return Server(
        url=None,
        path=path,
        fault=f"names no absolute server, but {path!r:.200}",
        remedy=f"give base_url='https://…{path}'",
    )


def joined(server: str, target: str) -> str:
    """Return the URL of a path and query at a server, whose own query stays."""
    base, _, query = server.partition("#")[0].partition("?")
    url = base.rstrip("/") + target
    return url + ("&" if "?" in target else "?") + query if query else url


def check_variables(
    document: OpenAPIDocument, nodes: Sequence[OperationNode], *, variables: Mapping[str, str]
) -> None:
    """Refuse a variable that no server has.

    Raises:
        ConfigurationError: Names it, and those that there are.
    """
    urls = [mapping_of(server).get("url") for node in nodes for server in _servers(document, node)]
    known = sorted({name for url in urls for name in VARIABLE.findall(str(url))})
    unknown = [name for name in variables if name not in known]
    if unknown:
        raise ConfigurationError(
            f"server_variables: no server has the variable {unknown[0]!r}; there are {known!r}"
        )


def _servers(document: OpenAPIDocument, node: OperationNode) -> Sequence[Any]:
    if document.is_swagger:
        return to_servers(document.root, node.node)
    holders = (node.node, node.item, document.root)
    given = (items_of(holder.get("servers")) for holder in holders)
    return next((servers for servers in given if servers), [{"url": "/"}])


def _filled(server: Mapping[str, Any], variables: Mapping[str, str]) -> str:
    """Return a server's URL with the values of its variables; a variable without a value stays as it is."""
    url = str(server.get("url", "/"))
    declared = mapping_of(server.get("variables"))
    values = {name: _value(name, mapping_of(declared.get(name)), variables) for name in VARIABLE.findall(url)}
    filled = _with_values(url, values)
    if "" not in values.values() or _is_whole(filled):
        return filled
    return _with_values(url, {name: value or None for name, value in values.items()})


def _with_values(url: str, values: Mapping[str, str | None]) -> str:
    def value(found: re.Match[str]) -> str:
        known = values[found[1]]
        return found[0] if known is None else known

    return VARIABLE.sub(value, url)


def _value(name: str, variable: Mapping[str, Any], given: Mapping[str, str]) -> str | None:
    """Return the value of a variable, or None if it has no value."""
    choices = items_of(variable.get("enum"))
    if name in given:
        if choices and str(given[name]) not in map(str, choices):
            raise ConfigurationError(
                f"server_variables: {name!r} is one of {list(choices)!r}; what was given is not one of them"
            )
        return str(given[name])
    default = variable.get("default")
    value = choices[0] if default is None and choices else default
    return None if value is None else str(value)


def _is_whole(url: str) -> bool:
    """Return True if a URL lacks nothing although one of its variables is empty.

    The end of a path may be empty. A part of the host's name, a port, and what stands between two slashes
    may not.
    """
    scheme, separator, rest = url.partition("?")[0].rpartition("://")
    if not rest or "//" in rest:
        return False
    name, colon, port = rest.partition("/")[0].rpartition("@")[2].partition(":")
    is_host = bool(scheme and (port or not colon)) and all(
        label and label == label.strip("-") for label in name.split(".")
    )
    return is_host or not separator
