"""The server that an operation is called at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.plain import items_of, mapping_of
from tool_search_processor.providers.openapi.documents import Document
from tool_search_processor.providers.openapi.operations import OperationNode
from tool_search_processor.providers.openapi.routes import VARIABLE
from tool_search_processor.providers.openapi.swagger import to_servers
from tool_search_processor.providers.web import WEB, is_readable


def server_url(document: Document, node: OperationNode, *, variables: Mapping[str, str]) -> str | None:
    """Return the URL of the first server of an operation, else of its path, else of the document.

    Args:
        document: A server that is a relative URL is so to where it came from.
        node: The operation.
        variables: Values of server variables, over the defaults.

    Returns:
        An absolute URL, or None where there is none.

    Raises:
        ConfigurationError: If a variable may not have the value that was given.
    """
    for server in _servers(document, node):
        url = _filled(mapping_of(server), variables)
        if document.url is not None and is_readable(url):
            url = urljoin(document.url, url)
        if url.startswith(WEB) and is_readable(url):
            return url
    return None


def check_variables(
    document: Document, nodes: Sequence[OperationNode], *, variables: Mapping[str, str]
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


def _servers(document: Document, node: OperationNode) -> Sequence[Any]:
    if document.is_swagger:
        return to_servers(document.root, node.node)
    holders = (node.node, node.item, document.root)
    given = (items_of(holder.get("servers")) for holder in holders)
    return next((servers for servers in given if servers), [{"url": "/"}])


def _filled(server: Mapping[str, Any], variables: Mapping[str, str]) -> str:
    declared = mapping_of(server.get("variables"))

    def value(found: re.Match[str]) -> str:
        name = found[1]
        variable = mapping_of(declared.get(name))
        choices = items_of(variable.get("enum"))
        if name not in variables:
            return str(variable.get("default", choices[0] if choices else found[0]))
        if choices and variables[name] not in choices:
            raise ConfigurationError(
                f"server_variables: {name!r} is one of {list(choices)!r}; what was given is none of them"
            )
        return str(variables[name])

    return VARIABLE.sub(value, str(server.get("url", "/")))
