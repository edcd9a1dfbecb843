"""The server at which an operation is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from tool_search_processor.errors import ConfigurationError, InvalidToolError
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.operations import OperationNode
from tool_search_processor.providers.openapi.redirects import depth_inside
from tool_search_processor.providers.openapi.routes import VARIABLE
from tool_search_processor.providers.openapi.swagger import to_servers
from tool_search_processor.providers.web import WEB, is_readable, shown_url
from tool_search_processor.wire.plain import items_of, mapping_of


@dataclass(frozen=True, slots=True)
class Servers:
    """Finds the server at which each operation of a document is called."""

    document: OpenAPIDocument
    """A server that is a relative URL is so to where it came from."""
    variables: Mapping[str, str]
    """Values of server variables, over the defaults."""
    base_url: str | None = None
    """Takes the place of all servers."""
    client_url: str | None = None
    """Takes the place of servers that are not absolute."""

    def url(self, node: OperationNode) -> str:
        """Return the URL of the first server of an operation, else of its path, else of the document.

        Raises:
            InvalidToolError: None of them can be called, or a variable may not have the value that was given.
        """
        urls = [_filled(mapping_of(server), self.variables) for server in _servers(self.document, node)]
        absolute = next(filter(_is_callable, map(self._absolute, urls)), None)
        given = self.base_url or (self.client_url if absolute is None else None)
        if given is not None:
            # one without a path gets that of a relative server
            is_host = absolute is None and urlsplit(given).path in ("", "/")
            found = given.rstrip("/") + path if is_host and (path := _relative_path(urls)) else given
        elif absolute is None:
            raise InvalidToolError(_fault(urls))
        else:
            found = absolute
        self._refuse_inside(found)
        return found

    def check_variables(self, nodes: Sequence[OperationNode]) -> None:
        """Refuse a variable that no server has.

        Raises:
            ConfigurationError: Names it, and those that there are.
        """
        urls = [mapping_of(server).get("url") for node in nodes for server in _servers(self.document, node)]
        known = sorted({name for url in urls for name in VARIABLE.findall(str(url))})
        unknown = [name for name in self.variables if name not in known]
        if unknown:
            raise ConfigurationError(
                f"server_variables: no server has the variable {unknown[0]!r}; there are {known!r}"
            )

    def _absolute(self, url: str) -> str:
        return urljoin(self.document.url, url) if self.document.url and is_readable(url) else url

    def _refuse_inside(self, server: str) -> None:
        """Refuse to be led into the own network by a document from outside of it."""
        if self.document.url is None or self.base_url is not None:
            return
        if depth_inside(_host(server)) > depth_inside(_host(self.document.url)):
            raise InvalidToolError(
                f"it is called at {shown_url(server)}, in this machine's own network: give base_url= if that "
                "is meant"
            )


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _is_callable(url: str) -> bool:
    return url.startswith(WEB) and is_readable(url) and not VARIABLE.search(url)


def _relative_path(urls: Sequence[str]) -> str:
    """Return the path of the first relative server; empty where a variable has no value."""
    if any(map(VARIABLE.search, urls)):
        return ""
    return next((url.rstrip("/") for url in urls if url.startswith("/") and not url.startswith("//")), "")


def _fault(urls: Sequence[str]) -> str:
    """Return why none of the servers can be called, and what to do."""
    for url in urls:
        if unfilled := VARIABLE.search(url):
            return (
                f"it has the server {url!r:.200} without a value of its variable {unfilled[1]!r}: give "
                f"server_variables={{{unfilled[1]!r}: '…'}} or base_url='https://…'"
            )
    path = _relative_path(urls)
    found = f", but {path!r:.200}" if path else ""
    return f"it names no absolute server{found}: give base_url='https://…{path}'"


def joined(server: str, target: str) -> str:
    """Return the URL of a path and query at a server, whose own query stays."""
    base, _, query = server.partition("#")[0].partition("?")
    url = base.rstrip("/") + target
    return url + ("&" if "?" in target else "?") + query if query else url


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
    filled = _with_values(url, {name: value for name, value in values.items() if value is not None})
    if "" not in values.values() or _is_whole(filled):
        return filled
    return _with_values(url, {name: value for name, value in values.items() if value})


def _with_values(url: str, values: Mapping[str, str]) -> str:
    return VARIABLE.sub(lambda found: values.get(found[1], found[0]), url)


def _value(name: str, variable: Mapping[str, Any], given: Mapping[str, str]) -> str | None:
    """Return the value of a variable, or None if it has no value."""
    choices = items_of(variable.get("enum"))
    if name in given:
        if choices and str(given[name]) not in map(str, choices):
            raise InvalidToolError(
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
