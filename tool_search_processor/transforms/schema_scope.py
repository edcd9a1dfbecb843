"""Rewrites what a JSON Schema says about the arguments object itself.

That is its *scope*: the root, the branches of its `anyOf`, `oneOf`, `allOf`, `not`, `if`, `then`, `else` and
`dependentSchemas`, and what a `$ref` in one of these places points to. Objects nested in arguments are out
of scope and keep their names, even where they use the root's own schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.tools.schema_walk import BRANCH_KEYWORDS, Schema, is_pointer, resolve_pointer
from tool_search_processor.wire.plain import items_of, mapping_of

Rewritten = dict[str, Any] | bool
"""A schema object, or one of the boolean schemas: False is met by nothing."""

REMOVED = object()
"""The value of an edit that takes a keyword away."""

DEPENDENCIES = ("dependentRequired", "dependentSchemas", "dependencies")
_CONDITION = ("if", "then", "else")
_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"})
"""Keywords about arguments that `properties` does not name."""
_BESIDE_REFERENCE = frozenset({"title", "description", "$defs", "definitions", "$schema"})
"""Keywords that may stand on both sides of a resolved reference; the outer one counts."""
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
    "array": (list, tuple),
    "object": Mapping,
}
_MAX_SCOPES = 10_000
"""Schemas that one overlay looks at; a few nested references make millions from a small document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """Changes to the arguments; every mapping is keyed by the old name."""

    names: Mapping[str, str] = field(default_factory=dict)
    """New names."""
    hidden: frozenset[str] = frozenset()
    """Arguments that the schema must not mention."""
    filled: frozenset[str] = frozenset()
    """Arguments that always have a value when the call arrives, hidden or not."""
    fixed: Mapping[str, object] = field(default_factory=dict)
    """Values of hidden arguments that are known in advance: branches that forbid them are dropped."""
    edits: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Keywords to set on an argument's own schema."""
    required: frozenset[str] = frozenset()
    """Arguments that become required."""

    @property
    def absent(self) -> frozenset[str]:
        """Arguments that never have a value."""
        return self.hidden - self.filled

    @property
    def optional(self) -> frozenset[str]:
        """Arguments that have a value even if the model leaves them out."""
        return self.filled - self.hidden

    @property
    def supplied(self) -> frozenset[str]:
        """Arguments that the model never gives but that have a value."""
        return self.filled & self.hidden

    def name(self, old: str) -> str:
        """Return the name that an argument has afterwards."""
        return self.names.get(old, old)

    def renamed(self, names: Iterable[str]) -> list[str]:
        """Return the names that arguments have afterwards."""
        return [self.name(old) for old in names]


def rewrite_scope(root: Schema, overlay: Overlay) -> Rewritten:
    """Return the root with its scope changed; False if no call could fit it.

    Rules about an argument that the model does not see cannot always be kept: its value may be
    unknown. Such a rule is left out, so more is accepted; the tool checks the whole call again. Where to
    leave something out would accept less (in `not`, `if` and `oneOf`), the keyword itself is loosened.

    Raises:
        RecursionError: The schema is nested too deeply, or its references multiply.
    """
    return _Rewriter(root, overlay).rewrite(root, overlay.edits, refs=())


@dataclass(slots=True)
class _Rewriter:
    """The state that the scopes of one schema share."""

    root: Schema
    overlay: Overlay
    losses: int = 0
    """Counts what had to be left out."""
    visited: int = 0

    def rewrite(self, schema: object, edits: Mapping[str, Any], *, refs: tuple[str, ...]) -> Rewritten:
        """Return one schema of the scope; `refs` are the references being followed."""
        if not isinstance(schema, Mapping):
            return schema is not False
        self.visited += 1
        if self.visited > _MAX_SCOPES:
            raise RecursionError("the references of the schema multiply")
        return False if self._forbids(schema) else _Scope(self, schema, edits, refs).rewritten()

    def condition(self, schema: object, *, refs: tuple[str, ...]) -> tuple[Rewritten, bool]:
        """Return a rewritten condition, and whether something in it had to be left out."""
        before = self.losses
        return self.rewrite(schema, {}, refs=refs), self.losses > before

    def _forbids(self, schema: Schema) -> bool:
        """Return True if the hidden arguments, with the values that they will have, never fit this schema."""
        if not self.overlay.absent.isdisjoint(items_of(schema.get("required"))):
            return True
        properties = mapping_of(schema.get("properties"))
        fixed = self.overlay.fixed
        if any(_admits(properties.get(name, True), value) is False for name, value in fixed.items()):
            return True
        most = schema.get("maxProperties")
        return isinstance(most, int) and most < len(self.overlay.supplied)


class _Scope:
    """One schema of the scope, being rewritten keyword by keyword."""

    def __init__(
        self, rewriter: _Rewriter, schema: Schema, edits: Mapping[str, Any], refs: tuple[str, ...]
    ) -> None:
        here = mapping_of(schema.get("properties"))
        self._rewriter = rewriter
        self._overlay = rewriter.overlay
        self._schema = schema
        self._edits = edits
        # An argument is described at its first declaration, not in every branch that narrows it.
        self._inner_edits = {name: edit for name, edit in edits.items() if name not in here}
        self._refs = refs
        self._condition, self._undecided = rewriter.condition(schema.get("if", True), refs=refs)
        self._result: dict[str, Any] = {}
        self._also_required: list[str] = []
        self._also: list[Any] = []

    def rewritten(self) -> Rewritten:
        """Return the changed schema; False if no call could fit it."""
        for key, value in self._schema.items():
            if not self._add(key, value):
                return False
        if False in self._also:
            return False
        self._join()
        return self._dereferenced()

    def _add(self, key: str, value: Any) -> bool:
        """Add a keyword to the result; return whether any call can still fit."""
        if key in BRANCH_KEYWORDS and isinstance(value, list | tuple):
            return self._add_branches(key, value)
        if key in DEPENDENCIES and isinstance(value, Mapping):
            return self._add_dependencies(key, value)
        if key == "not":
            branch, undecided = self._rewriter.condition(value, refs=self._refs)
            if branch is not False and not undecided:
                self._result[key] = branch
        elif key in _CONDITION:
            if not self._undecided:
                self._result[key] = self._condition if key == "if" else self._branch(value)
        else:
            self._result.update(self._keyword(key, value))
        return True

    def _branch(self, schema: object, edits: Mapping[str, Any] | None = None) -> Rewritten:
        return self._rewriter.rewrite(schema, edits or {}, refs=self._refs)

    def _add_branches(self, key: str, branches: Sequence[Any]) -> bool:
        """Add the branches that can be met."""
        before = self._rewriter.losses
        rewritten = [self._branch(branch, self._inner_edits) for branch in branches]
        possible = [branch for branch in rewritten if branch is not False]
        if (branches and not possible) or (key == "allOf" and len(possible) < len(rewritten)):
            return False
        if key == "oneOf" and self._rewriter.losses > before:
            self._also.append({"anyOf": possible})  # two branches may have become alike
        elif not (key == "anyOf" and self._always_met(possible) and not self._always_met(branches)):
            self._result[key] = possible
        return True

    def _always_met(self, branches: Sequence[Any]) -> bool:
        # with unevaluatedProperties, branches still matter: they decide what is evaluated
        return {} in branches and "unevaluatedProperties" not in self._rewriter.root

    def _add_dependencies(self, key: str, dependencies: Mapping[str, Any]) -> bool:
        """Rename arguments in dependencies; resolve those of arguments that are always or never given."""
        kept: dict[str, Any] = {}
        for name, dependency in dependencies.items():
            always = name in self._overlay.filled
            if name in self._overlay.absent:
                continue
            if not isinstance(dependency, list | tuple):
                rewritten: Any = self._branch(dependency)
            elif always and not self._overlay.absent.isdisjoint(dependency):
                return False
            else:
                given = self._overlay.filled | self._overlay.hidden
                self._rewriter.losses += not self._overlay.absent.isdisjoint(dependency)
                rewritten = self._overlay.renamed(one for one in dependency if one not in given)
            if not always:
                kept[self._overlay.name(name)] = rewritten
            elif isinstance(rewritten, list):
                self._also_required += rewritten
            else:
                self._also.append(rewritten)
        if kept or not dependencies:
            self._result[key] = kept
        return True

    def _keyword(self, key: str, value: Any) -> dict[str, Any]:
        """Return a keyword with its new value, or nothing if it has become empty."""
        self._rewriter.losses += key in _CLOSING and value is not True and bool(self._overlay.filled)
        if key == "properties" and isinstance(value, Mapping):
            return {key: self._properties(value)}
        if key == "required" and isinstance(value, list | tuple):
            names = self._overlay.renamed(name for name in value if name not in self._overlay.filled)
            return {key: names} if names or not value else {}
        if key in ("minProperties", "maxProperties") and isinstance(value, int):
            return self._count(key, value)
        if key in ("default", "const", "examples", "enum"):
            return self._objects(key, value)
        if key == "propertyNames" and isinstance(value, Mapping) and "enum" in value:
            kept = [name for name in value["enum"] if name not in self._overlay.hidden]
            return {key: {**value, "enum": self._overlay.renamed(kept)}}
        return {key: value}

    def _properties(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        fixed = self._overlay.fixed
        for name in self._overlay.filled & properties.keys():
            self._rewriter.losses += not (name in fixed and _admits(properties[name], fixed[name]))
        return {
            self._overlay.name(name): _edited(declared, self._edits.get(name))
            for name, declared in properties.items()
            if name not in self._overlay.hidden
        }

    def _count(self, key: str, value: int) -> dict[str, Any]:
        """Return a limit on the number of arguments, minus those that the model does not give."""
        self._rewriter.losses += bool(self._overlay.optional)
        if key == "maxProperties":
            return {key: value - len(self._overlay.supplied)}
        least = value - len(self._overlay.filled)
        return {key: least} if least > 0 or not self._overlay.filled else {}

    def _objects(self, key: str, value: Any) -> dict[str, Any]:
        """Return whole arguments objects, as examples or as the only ones allowed."""
        if key in ("const", "enum"):
            self._rewriter.losses += bool(self._overlay.hidden | self._overlay.optional)
            if self._overlay.optional:
                return {}
        if key in ("default", "const") or not isinstance(value, list | tuple):
            return {key: self._object(value)}
        return {key: [self._object(one) for one in value]}

    def _object(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {self._overlay.name(k): v for k, v in value.items() if k not in self._overlay.hidden}

    def _join(self) -> None:
        """Add to the result what must hold in addition to the keywords that were there."""
        if self._also_required:
            required = [*self._result.get("required", ()), *self._also_required]
            self._result["required"] = list(dict.fromkeys(required))
        also = [schema for schema in self._also if schema not in (True, {})]
        if len(also) == 1 and also[0].keys() == {"anyOf"} and "anyOf" not in self._result:
            self._result.update(also[0])
        elif also:
            self._result["allOf"] = [*self._result.get("allOf", ()), *also]

    def _dereferenced(self) -> Rewritten:
        """Return the result with a reference replaced by its target, if the target needs changing."""
        reference = self._result.get("$ref")
        if not is_pointer(reference) or reference in self._refs:
            return self._result
        target = resolve_pointer(self._rewriter.root, reference)
        if not isinstance(target, Mapping):
            return self._result
        inlined = self._rewriter.rewrite(target, self._inner_edits, refs=(*self._refs, reference))
        if isinstance(inlined, bool):
            return False
        if inlined == target:
            return self._result
        rest = {key: value for key, value in self._result.items() if key != "$ref"}
        if (rest.keys() & inlined.keys()) <= _BESIDE_REFERENCE:
            return {**inlined, **rest}
        return {**rest, "allOf": [inlined, *rest.get("allOf", ())]}


def _admits(declared: object, value: object) -> bool | None:
    """Return whether an argument's own schema allows a value; None if a quick look can't decide."""
    if not isinstance(declared, Mapping):
        return declared is not False
    values = [declared["const"]] if "const" in declared else items_of(declared.get("enum", [value]))
    # True == 1 in Python, and not in JSON
    if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in values):
        return False
    wanted = declared.get("type")
    if isinstance(wanted, str) and _is_of_type(value, wanted) is False:
        return False
    known = {"const", "enum", *(["type"] if isinstance(wanted, str) and _is_of_type(value, wanted) else ())}
    return None if declared.keys() - known - _ANNOTATIONS else True


def _is_of_type(value: object, wanted: str) -> bool | None:
    if wanted not in _TYPES:
        return None
    if isinstance(value, bool):
        return wanted == "boolean"
    if isinstance(value, float) and wanted == "integer":
        return value.is_integer()  # 1.0 is an integer in JSON Schema
    return isinstance(value, _TYPES[wanted])


def _edited(declared: Any, edit: Mapping[str, object] | None) -> Any:
    """Return an argument's own schema with keywords set or removed."""
    if edit is None or declared is False:
        return declared
    removed = {key for key, value in edit.items() if value is REMOVED}
    kept = {key: value for key, value in mapping_of(declared).items() if key not in removed}
    return {**kept, **{key: value for key, value in edit.items() if value is not REMOVED}}
