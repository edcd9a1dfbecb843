"""The operations of a document, and which of them are meant."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tool_search_processor.errors import ConfigurationError, InvalidToolError
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.web import TOKEN
from tool_search_processor.tools.tool_names import hashed_tool_name, make_tool_name
from tool_search_processor.wire.plain import items_of, mapping_of

logger = logging.getLogger(__name__)

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_OUTSIDE_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation of an OpenAPI document, as a selection sees it.

    ```python
    def reads(operation: Operation) -> bool:
        return operation.method == "GET" and not operation.deprecated

    reads(Operation(name="find_books", method="GET", path="/books"))  # -> True
    ```
    """

    name: str
    """The name of its tool."""
    method: str
    """In capitals, such as `GET`; `*` where the path is a reference that is not followed."""
    path: str
    """As in the document, such as `/pets/{id}`."""
    operation_id: str | None = None
    tags: frozenset[str] = frozenset()
    deprecated: bool = False

    @property
    def route(self) -> str:
        """Method and path, such as `GET /pets/{id}`."""
        return f"{self.method} {self.path}"


Selection = Callable[[Operation], bool] | Iterable[str]
"""Operations: a function that decides, or globs. A glob is for paths if it begins with `/`, for routes
if it has a space (`DELETE *`), and otherwise for tool names, operation ids and tags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationNode:
    """An operation and its place in the document."""

    operation: Operation
    node: Mapping[str, Any]
    item: Mapping[str, Any]
    """The part that holds for all operations of the path."""
    base: str
    """The URI that references inside of `node` are relative to."""
    item_base: str = ""
    """The same for `item`."""
    fault: str | None = None
    """Why it can't be a tool."""


def list_operations(document: OpenAPIDocument) -> list[OperationNode]:
    """Return all operations in the document's order; equal names are made unique by their routes."""
    taken: set[str] = set()
    found = [
        node
        for path, listed in document.root["paths"].items()
        if not str(path).startswith("x-")
        for node in _operations_of(f"/{str(path).removeprefix('/')}", listed, document, taken)
    ]
    if not found:
        logger.warning("%s has no operations", document.label)
    return found


def _operations_of(
    path: str, listed: Any, document: OpenAPIDocument, taken: set[str]
) -> Iterator[OperationNode]:
    """Yield the operations of a path, whose names are added to those that are taken."""
    try:
        item, item_base = document.follow_with(listed, base=document.base)
    except InvalidToolError as exc:
        operation = _operation(path, "*", {}, taken)
        yield OperationNode(operation=operation, node={}, item={}, base=document.base, fault=str(exc))
        return
    for key, method, written in _written_in(item):
        # what stands next to a path's reference is relative to the document itself
        base = document.base if key in mapping_of(listed) else item_base
        fault = None
        try:
            node, node_base = document.follow_with(written, base=base)
            if "$ref" in written and not document.follow(written, base=base)[0]:
                fault = f"its reference {written['$ref']!r:.200} leads to no operation"
        except InvalidToolError as exc:
            node, node_base, fault = {}, base, str(exc)
        operation = _operation(path, method, node, taken)
        yield OperationNode(
            operation=operation, node=node, item=item, base=node_base, item_base=item_base, fault=fault
        )


def _written_in(item: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the operations of a path: the key that they are under, their method, and the operation."""
    for key in _METHODS:
        if isinstance(item.get(key), dict):
            yield key, key.upper(), item[key]
    key = "additionalOperations"  # from OpenAPI 3.2 on, methods that have no key of their own
    for method, written in mapping_of(item.get(key)).items():
        if isinstance(written, dict) and TOKEN.fullmatch(str(method)):
            yield key, str(method), written


def select(nodes: Sequence[OperationNode], selection: Selection, *, option: str) -> list[OperationNode]:
    """Return the operations that a selection means.

    Args:
        nodes: The operations to choose from.
        selection: A function, or globs.
        option: What errors call the selection.

    Raises:
        ConfigurationError: If a glob means none of them.
    """
    if callable(selection):
        return [node for node in nodes if selection(node.operation)]
    globs = tuple(selection)
    unused = [glob for glob in globs if not any(_matches(node.operation, glob) for node in nodes)]
    if unused:
        raise ConfigurationError(
            f"{option}: {unused[0]!r} matches no operation: a glob is one of paths (/repos/*), of routes "
            "(DELETE *), or of tool names, operation ids and tags"
        )
    return [node for node in nodes if any(_matches(node.operation, glob) for glob in globs)]


def as_selection(given: object, *, option: str) -> Selection:
    """Return a function as it is, and globs as a tuple.

    Raises:
        ConfigurationError: If it is neither.
    """
    if callable(given):
        return given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigurationError(f"{option} is a function or a list of globs, found {given!r:.80}")
    globs = tuple(given)
    if not all(isinstance(glob, str) for glob in globs):
        raise ConfigurationError(f"{option} is a list of globs, which are strings, found {globs!r:.80}")
    return globs


def _operation(path: str, method: str, node: Mapping[str, Any], taken: set[str]) -> Operation:
    """Return an operation, and note that its name is taken."""
    given = node.get("operationId")
    operation_id = given if isinstance(given, str) and given else None
    route = f"{method.lower()} {path}"
    name = make_tool_name(operation_id or _OUTSIDE_NAMES.sub("_", route).strip("_"))
    if name in taken:
        name = hashed_tool_name(name, route)
    taken.add(name)
    tags = frozenset(tag for tag in items_of(node.get("tags")) if isinstance(tag, str))
    is_deprecated = node.get("deprecated") is True
    return Operation(
        name=name, method=method, path=path, operation_id=operation_id, tags=tags, deprecated=is_deprecated
    )


def _matches(operation: Operation, glob: str) -> bool:
    if glob.startswith("/"):
        return fnmatchcase(operation.path, glob)
    if " " in glob:
        return fnmatchcase(operation.route, glob)
    names = (operation.name, operation.operation_id or operation.name, *operation.tags)
    return any(fnmatchcase(name, glob) for name in names)
