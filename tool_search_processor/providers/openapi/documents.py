"""OpenAPI documents: where they come from, their version, and what their references lead to."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from referencing import Registry, Specification
from referencing.exceptions import Unresolvable

from tool_search_processor.errors import ConfigurationError, InvalidToolError
from tool_search_processor.providers.openapi.texts import parse_text
from tool_search_processor.wire.files import read_text
from tool_search_processor.wire.plain import copied

logger = logging.getLogger(__name__)

_MAX_HOPS = 20
"""References that may lead to one another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The target of a reference."""

    key: str
    """The same for each way of writing the same reference."""
    value: Any
    base: str
    """The URI that references inside of `value` are relative to."""


class OpenAPIDocument:
    """An OpenAPI document whose references can be followed."""

    def __init__(self, root: object, *, label: str, path: Path | None = None, url: str | None = None) -> None:
        """Wrap a parsed document.

        Args:
            root: The document.
            label: What errors call it.
            path: The file that it came from: references to files in its folder are followed.
            url: Where it came from: servers are relative to it.

        Raises:
            ConfigurationError: If it is not an OpenAPI document of version 2.0 or 3.x.
        """
        self.root = _checked(root, label)
        self.label = label
        self.url = url
        self.is_swagger = "swagger" in self.root
        self.ignores_beside_references = self.is_swagger or str(self.root["openapi"]).startswith("3.0")
        """Whether keywords next to a schema's `$ref` are ignored, as before OpenAPI 3.1."""
        self._folder = None if path is None else path.resolve().parent
        self.base = "" if path is None else path.resolve().as_uri()
        resource = Specification.OPAQUE.create_resource(self.root)
        self._registry: Registry[Any] = Registry().with_resource(self.base, resource)
        self._targets: dict[tuple[str, str], Target | None] = {}
        self._faults: dict[str, str] = {}
        """Why other documents are not read, by their URIs; empty for those that are."""

    def find(self, reference: object, *, base: str) -> Target | None:
        """Return the target of a reference; None, with one warning, if it leads nowhere.

        Raises:
            InvalidToolError: If it leads out of the document to anything but a file in its folder.
        """
        if not isinstance(reference, str):
            return None
        if (base, reference) not in self._targets:
            found = self._targets[base, reference] = self._find(reference, base)
            if found is None:
                logger.warning("%s: the reference %r leads nowhere", self.label, reference[:200])
        return self._targets[base, reference]

    def follow(self, node: object, *, base: str) -> tuple[Mapping[str, Any], str]:
        """Return a node, or what it refers to, with its base; an empty mapping if that is not an object."""
        for _ in range(_MAX_HOPS):
            if not isinstance(node, dict) or "$ref" not in node:
                break
            target = self.find(node["$ref"], base=base)
            if target is None:
                return {}, base
            node, base = target.value, target.base
        return (node, base) if isinstance(node, dict) and "$ref" not in node else ({}, base)

    def follow_with(self, node: object, *, base: str) -> tuple[Mapping[str, Any], str]:
        """Return what `follow` returns, overridden by the keywords next to the reference."""
        found, found_base = self.follow(node, base=base)
        if isinstance(node, dict) and len(node) > 1 and "$ref" in node:
            found = {**found, **{key: value for key, value in node.items() if key != "$ref"}}
        return found, found_base

    def _find(self, reference: str, base: str) -> Target | None:
        try:
            uri, fragment = urldefrag(urljoin(base, reference))
        except ValueError as exc:
            raise InvalidToolError(f"the document refers to {reference!r:.200}: {exc}") from exc
        if reference.startswith("#"):
            uri, fragment = base, reference[1:]
        if uri not in self._registry:
            if uri not in self._faults:
                self._faults[uri] = self._load(uri)
            if fault := self._faults[uri]:
                raise InvalidToolError(f"the document refers to {reference!r:.200}{fault}")
        try:
            value = self._registry.resolver(base_uri=uri).lookup(f"#{fragment}").contents
        except (Unresolvable, ValueError):  # `items/x`, which is no place in a list
            return None
        return Target(key=f"{uri}#{unquote(fragment)}", value=value, base=uri)

    def _load(self, uri: str) -> str:
        """Read another file of the document; return why that can't be done, or an empty string."""
        try:
            parts = urlsplit(uri)
            if self._folder is None or parts.scheme != "file" or parts.netloc:
                return (
                    ", which is not fetched: bundle everything into one document (`npx @redocly/cli "
                    "bundle`), or give the path of the document if the reference is to a file next to it"
                )
            path = Path(url2pathname(parts.path)).resolve()
            if not path.is_relative_to(self._folder):
                return (
                    ", which is outside of its folder: only files next to the document and below are read; "
                    "bundle everything into one document (`npx @redocly/cli bundle`)"
                )
            value = parse_text(read_text(path), label=str(path))
        except ValueError as exc:  # of the file, or of a reference that is neither a URL nor a path
            return f": {exc}"
        resource = Specification.OPAQUE.create_resource(value)
        self._registry = self._registry.with_resource(uri, resource)
        return ""


def _checked(root: object, label: str) -> dict[str, Any]:
    if not isinstance(root, Mapping):
        raise ConfigurationError(f"{label} is not an OpenAPI document: it is not an object")
    version = root.get("swagger", root.get("openapi"))
    if version is None:
        raise ConfigurationError(
            f"{label} is not an OpenAPI document: it has neither 'openapi' nor 'swagger'"
        )
    if not (str(version).startswith("3.") and "openapi" in root) and str(version) not in ("2.0", "2"):
        raise ConfigurationError(
            f"{label} is an OpenAPI document of version {version!r}: 2.0 and 3.x are read"
        )
    if not isinstance(root.get("paths"), Mapping) or not root["paths"]:
        raise ConfigurationError(f"{label} is an OpenAPI document without paths")
    plain: dict[str, Any] = root if type(root) is dict else copied(root)
    return plain
