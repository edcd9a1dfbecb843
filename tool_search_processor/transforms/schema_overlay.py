"""Renames, hides and describes the arguments in a JSON Schema, and leaves the rest of it as it is.

An argument is named in more places than `properties`: wherever the schema speaks of the arguments object
itself, which is here called its *scope* — the root, the branches of its `anyOf`, `oneOf`, `allOf`, `not`,
`if`, `then`, `else` and `dependentSchemas`, and what a `$ref` in one of these places points to. Objects
nested in arguments are out of scope and keep their names, even where they use the root's own schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.schemas import resolve_pointer
from tool_search_processor.transforms.schema_refs import is_pointer, relocate_refs

Schema = Mapping[str, Any]
Rewritten = dict[str, Any] | bool
"""A schema object, or one of the boolean schemas: False is met by nothing."""

REMOVED = object()
"""The value of an edit that takes a keyword away."""

_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLES = ("not", "if", "then", "else")
_DECLARING = frozenset(_LISTS)
"""Where a branch declares arguments, rather than asking about them."""
_DEPENDENCIES = ("dependentRequired", "dependentSchemas", "dependencies")
_BESIDE_REFERENCE = frozenset({"title", "description", "$defs", "definitions", "$schema"})
"""What may stand on both sides of a reference that is resolved: the outer one counts."""
_DATA = ("default", "const")
_DATA_LISTS = ("examples", "enum")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """What is to change about the arguments; every mapping is keyed by the name as it was."""

    names: Mapping[str, str] = field(default_factory=dict)
    """New names."""
    hidden: frozenset[str] = frozenset()
    """Arguments that the schema shall not mention."""
    filled: frozenset[str] = frozenset()
    """Arguments that always have a value when the call arrives, hidden or not."""
    fixed: Mapping[str, object] = field(default_factory=dict)
    """Values of hidden arguments that are known now: branches which forbid them fall away."""
    edits: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Keywords to set on an argument's own schema."""
    required: frozenset[str] = frozenset()
    """Arguments that become required."""

    def name(self, old: str) -> str:
        """Return the name that an argument has afterwards."""
        return self.names.get(old, old)


def declared_arguments(schema: Schema) -> tuple[str, ...]:
    """Return the names of the arguments that a schema declares, in order, without repetition."""
    return tuple(
        dict.fromkeys(
            name for scope in _scopes(schema, schema, ()) for name in _mapping(scope.get("properties"))
        )
    )


def is_required(schema: Schema, name: str) -> bool:
    """Return whether no call without this argument fits the schema."""
    return _Rewriter(schema, Overlay(hidden=frozenset({name}))).scope(schema, {}, refs=()) is False


def argument_default(schema: Schema, name: str, missing: object) -> object:
    """Return the default that the schema gives the argument, or `missing`."""
    for scope in _scopes(schema, schema, ()):
        declared = _mapping(_mapping(scope.get("properties")).get(name))
        if "default" in declared:
            return declared["default"]
    return missing


def overlay_schema(schema: Schema, overlay: Overlay) -> dict[str, Any] | None:
    """Return the changed schema, or None where no call could fit it.

    Unchanged parts are shared with the schema given, which is not modified. The order of keywords and of
    properties stays. Local references are followed to where their target is now; definitions that only
    hidden arguments used are left out.
    """
    rewritten = _Rewriter(schema, overlay).scope(schema, overlay.edits, refs=())
    if isinstance(rewritten, bool):
        return {} if rewritten else None
    required = rewritten.get("required", [])
    more = [new for old in overlay.required if (new := overlay.name(old)) not in required]
    if more:
        rewritten["required"] = [*required, *sorted(more)]
    return relocate_refs(rewritten, schema, names=overlay.names, hidden=overlay.hidden)


class _Rewriter:
    """Rewrites one schema's scope."""

    def __init__(self, root: Schema, overlay: Overlay) -> None:
        self.root = root
        self.overlay = overlay
        self.absent = overlay.hidden - overlay.filled

    def scope(self, schema: object, edits: Mapping[str, Any], *, refs: tuple[str, ...]) -> Rewritten:
        """Return one schema of the scope; `refs` are the references being followed."""
        if not isinstance(schema, Mapping):
            return bool(schema)
        if self._forbids(schema):
            return False
        here = _mapping(schema.get("properties"))
        inner_edits = {name: edit for name, edit in edits.items() if name not in here}
        result: dict[str, Any] = {}
        for key, value in schema.items():
            branch_edits = inner_edits if key in _DECLARING else {}
            if key in _LISTS and isinstance(value, Sequence):
                branches = self._branches(key, value, branch_edits, refs=refs)
                if branches is None:
                    return False
                if branches:
                    result[key] = branches
            elif key in _SINGLES:
                branch = self.scope(value, branch_edits, refs=refs)
                if key != "not" or branch is not False:
                    result[key] = branch
            elif key not in _DEPENDENCIES:
                result.update(self._keyword(key, value, edits))
            elif not self._add_dependencies(result, key, _mapping(value), refs=refs):
                return False
        return self._dereferenced(result, inner_edits, refs=refs)

    def _forbids(self, schema: Schema) -> bool:
        """Return whether the hidden arguments, as they will be, never fit this schema."""
        if not self.absent.isdisjoint(_items(schema.get("required"))):
            return True
        properties = _mapping(schema.get("properties"))
        return any(_excludes(properties.get(name), value) for name, value in self.overlay.fixed.items())

    def _keyword(self, key: str, value: Any, edits: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keyword with its new value, or nothing where it has become empty."""
        if key == "properties":
            return {key: self._properties(_mapping(value), edits)}
        if key == "required":
            names = self._renamed(name for name in _items(value) if name not in self.overlay.filled)
            return {key: names} if names or not value else {}
        if key in _DATA:
            return {key: self._data(value)}
        if key in _DATA_LISTS and isinstance(value, Sequence):
            return {key: [self._data(item) for item in value]}
        if key == "propertyNames" and isinstance(value, Mapping) and "enum" in value:
            kept = [name for name in value["enum"] if name not in self.overlay.hidden]
            return {key: {**value, "enum": self._renamed(kept)}}
        return {key: value}

    def _properties(self, properties: Mapping[str, Any], edits: Mapping[str, Any]) -> dict[str, Any]:
        return {
            self.overlay.name(name): _edited(declared, edits.get(name))
            for name, declared in properties.items()
            if name not in self.overlay.hidden
        }

    def _renamed(self, names: Iterable[str]) -> list[str]:
        return [self.overlay.name(name) for name in names]

    def _data(self, value: Any) -> Any:
        """Rename in an example of a whole arguments object."""
        if not isinstance(value, Mapping):
            return value
        return {self.overlay.name(k): v for k, v in value.items() if k not in self.overlay.hidden}

    def _branches(
        self, key: str, branches: Sequence[Any], edits: Mapping[str, Any], *, refs: tuple[str, ...]
    ) -> list[Any] | None:
        """Return the branches that can be met: none where every call meets one, None where none is left."""
        rewritten = [self.scope(branch, edits, refs=refs) for branch in branches]
        possible = [branch for branch in rewritten if branch is not False]
        if (not possible and branches) or (key == "allOf" and len(possible) < len(rewritten)):
            return None
        if key == "anyOf" and {} in possible and {} not in branches:
            return []
        return possible

    def _add_dependencies(
        self, result: dict[str, Any], key: str, dependencies: Mapping[str, Any], *, refs: tuple[str, ...]
    ) -> bool:
        """Rename in dependencies, and settle those of arguments that are always or never there.

        Returns:
            Whether any call can still fit.
        """
        kept: dict[str, Any] = {}
        for name, dependency in dependencies.items():
            always = name in self.overlay.filled
            if name in self.absent:
                continue
            if isinstance(dependency, Sequence):
                names = self._renamed(n for n in dependency if n not in self.overlay.filled)
                if not always:
                    kept[self.overlay.name(name)] = names
                elif self.absent.isdisjoint(dependency):
                    result["required"] = list(dict.fromkeys([*result.get("required", ()), *names]))
                else:
                    return False
            elif always:
                result["allOf"] = [*result.get("allOf", ()), self.scope(dependency, {}, refs=refs)]
            else:
                kept[self.overlay.name(name)] = self.scope(dependency, {}, refs=refs)
        if kept or not dependencies:
            result[key] = kept
        return True

    def _dereferenced(
        self, result: dict[str, Any], edits: Mapping[str, Any], *, refs: tuple[str, ...]
    ) -> Rewritten:
        """Put the changed target in the place of a reference, where the target needs changing."""
        reference = result.get("$ref")
        if not is_pointer(reference) or reference in refs:
            return result
        target = resolve_pointer(self.root, reference)
        if not isinstance(target, Mapping):
            return result
        inlined = self.scope(target, edits, refs=(*refs, reference))
        if isinstance(inlined, bool):
            return False
        if inlined == target:
            return result
        rest = {key: value for key, value in result.items() if key != "$ref"}
        if (rest.keys() & inlined.keys()) <= _BESIDE_REFERENCE:
            return {**inlined, **rest}
        return {**rest, "allOf": [inlined, *rest.get("allOf", ())]}


def _scopes(schema: object, root: Schema, refs: tuple[str, ...]) -> Iterator[Schema]:
    """Yield every schema of the scope that may declare arguments, the root first."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    reference = schema.get("$ref")
    if is_pointer(reference) and reference not in refs:
        yield from _scopes(resolve_pointer(root, reference), root, (*refs, reference))
    for key in ("then", "else"):
        yield from _scopes(schema.get(key), root, refs)
    for key in _LISTS:
        for branch in _items(schema.get(key)):
            yield from _scopes(branch, root, refs)
    for key in _DEPENDENCIES:
        for branch in _mapping(schema.get(key)).values():
            yield from _scopes(branch, root, refs)


def _mapping(value: object) -> Mapping[str, Any]:
    """Return the value where it is a mapping, else an empty one: a foreign schema may hold anything."""
    return value if isinstance(value, Mapping) else {}


def _items(value: object) -> Sequence[str]:
    """Return the value where it is a list, else an empty one: `required: true` was draft 3."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _excludes(declared: object, value: object) -> bool:
    """Return whether an argument's own schema forbids a value at first sight: by False, const or enum."""
    if isinstance(declared, bool):
        return not declared
    allowed = _mapping(declared)
    values = [allowed["const"]] if "const" in allowed else _items(allowed.get("enum", [value]))
    # True == 1 in Python, and not in JSON
    return not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in values)


def _edited(declared: Any, edit: Mapping[str, object] | None) -> Any:
    """Return an argument's own schema with keywords set or taken away."""
    if edit is None or declared is False:
        return declared
    removed = {key for key, value in edit.items() if value is REMOVED}
    kept = {key: value for key, value in _mapping(declared).items() if key not in removed}
    return {**kept, **{key: value for key, value in edit.items() if value is not REMOVED}}
