"""Renames, hides and describes the arguments in a JSON Schema, and leaves the rest of it as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tool_search_processor.tools.schema_walk import Schema, branches, is_pointer, resolve_pointer
from tool_search_processor.transforms.schema_refs import relocate_refs
from tool_search_processor.transforms.schema_scope import DEPENDENCIES, Overlay, rewrite_scope
from tool_search_processor.wire.plain import mapping_of


def overlay_schema(schema: Schema, overlay: Overlay) -> dict[str, Any] | None:
    """Return the changed schema, or None if no call could fit it.

    The schema given is not modified. The order of keywords and of properties stays. Local references are
    followed to where their target is now; definitions that only hidden arguments used are left out.

    Raises:
        RecursionError: The schema is nested too deeply, or its references multiply.
    """
    rewritten = rewrite_scope(schema, overlay)
    if isinstance(rewritten, bool):
        return None
    required = rewritten.get("required", [])
    more = [new for old in overlay.required if (new := overlay.name(old)) not in required]
    if more:
        rewritten["required"] = [*required, *sorted(more)]
    return relocate_refs(rewritten, schema, names=overlay.names, hidden=overlay.hidden)


def declared_arguments(schema: Schema) -> tuple[str, ...]:
    """Return the names of the arguments that a schema declares, in order, without repetition."""
    scopes = _scopes(schema, schema, set())
    return tuple(dict.fromkeys(name for scope in scopes for name in mapping_of(scope.get("properties"))))


def is_required(schema: Schema, name: str) -> bool:
    """Return True if no call without this argument fits the schema.

    Raises:
        RecursionError: As `overlay_schema`.
    """
    return rewrite_scope(schema, Overlay(hidden=frozenset({name}))) is False


def argument_default(schema: Schema, name: str, missing: object) -> object:
    """Return the default that the schema gives the argument, or `missing`."""
    for scope in _scopes(schema, schema, set()):
        declared = mapping_of(mapping_of(scope.get("properties")).get(name))
        if "default" in declared:
            return declared["default"]
    return missing


def _scopes(schema: object, root: Schema, followed: set[str]) -> Iterator[Schema]:
    """Yield every schema of the scope that may declare arguments, the root first, each reference once."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    reference = schema.get("$ref")
    if is_pointer(reference) and reference not in followed:
        followed.add(reference)
        yield from _scopes(resolve_pointer(root, reference), root, followed)
    dependent = (one for key in DEPENDENCIES for one in mapping_of(schema.get(key)).values())
    for branch in (schema.get("then"), schema.get("else"), *branches(schema), *dependent):
        yield from _scopes(branch, root, followed)
