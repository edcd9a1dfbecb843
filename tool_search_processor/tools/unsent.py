"""Parts of a schema that are not sent: names without a property, unused definitions, unreadable patterns.

Providers refuse some of them (Gemini: a name in `required` without a property), and all cost tokens.
Leaving something out never makes a schema accept less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tool_search_processor.tools.loosening import REFERENCES, ids_around, leave_out, loosened
from tool_search_processor.tools.patterns import is_readable
from tool_search_processor.tools.schema_walk import (
    DEFINITION_KEYWORDS,
    INNER_KEYWORDS,
    SAME_VALUE_KEYWORDS,
    Edit,
    References,
    Schema,
    edit_schemas,
    schemas_in,
    subschemas,
)
from tool_search_processor.wire.plain import mapping_of

_BY_NAME = frozenset({"required", "dependentRequired", "dependencies"})
_Names = list[frozenset[str]]
_Known = dict[int, _Names]
_MAX_VISITS = 50_000
"""The most schemas that are looked at for properties; a few nested references make millions of them."""
_APPLYING = INNER_KEYWORDS - DEFINITION_KEYWORDS


def has_definitions(part: Schema) -> bool:
    """Return True if a schema itself has definitions."""
    return not DEFINITION_KEYWORDS.isdisjoint(part)


def has_unreadable(part: Schema) -> bool:
    """Return True if a schema itself has a regular expression that some providers refuse."""
    if "pattern" in part and not is_readable(part["pattern"]):
        return True
    return not all(map(is_readable, part.get("patternProperties", ())))


def without_unreadable(schema: Schema) -> Schema:
    """Return the schema without the regular expressions that some providers refuse, such as look-arounds.

    Where leaving one out would accept less, the keyword around it is loosened, as `leave_out` says.
    """
    losing = [part for part in schemas_in(schema) if has_unreadable(part)]
    return leave_out(schema, _with_readable, losing=losing) if losing else schema


def _with_readable(part: Schema) -> Schema:
    if not has_unreadable(part):
        return part
    gone = set() if is_readable(part.get("pattern")) else {"pattern"}
    patterns = part.get("patternProperties", {})
    kept = {pattern: one for pattern, one in patterns.items() if is_readable(pattern)}
    if len(kept) < len(patterns):
        # Fields that matched a dropped pattern must not be called unknown.
        gone |= {"patternProperties", "additionalProperties", "unevaluatedProperties"}
    rest = {key: value for key, value in part.items() if key not in gone}
    return {**rest, "patternProperties": kept} if kept else rest


def may_have_ghosts(part: Schema) -> bool:
    """Return True if a schema demands a name that isn't one of its own properties."""
    if _BY_NAME.isdisjoint(part):
        return False
    properties = mapping_of(part.get("properties"))
    return any(name not in properties for name in _named(part))


def without_unused_definitions(schema: Schema) -> Schema:
    """Return the schema without the definitions, at any depth, that nothing outside of them leads to."""
    references = References(schema)
    used = {
        id(part)
        for part in _reachable(schema, by=_APPLYING, led_to=lambda ref: _definitions_on(references.way(ref)))
    }
    held = (part[keyword] for part in schemas_in(schema) for keyword in DEFINITION_KEYWORDS & part.keys())
    if all(id(one) in used for definitions in held for one in definitions.values()):
        return schema

    def trimmed(part: Schema) -> Schema:
        kept = {
            keyword: {name: one for name, one in part[keyword].items() if id(one) in used}
            for keyword in DEFINITION_KEYWORDS & part.keys()
        }
        return {key: kept.get(key, one) for key, one in part.items() if kept.get(key, True)} if kept else part

    return _edited(schema, trimmed)


def _definitions_on(way: list[Any]) -> Iterator[Any]:
    """Yield the definitions that a reference leads through, and its target."""
    yield from way[-1:]
    for part, inner, definition in zip(way, way[1:], way[2:], strict=False):
        if isinstance(part, dict) and any(part.get(keyword) is inner for keyword in DEFINITION_KEYWORDS):
            yield definition


def without_ghosts(schema: Schema) -> Schema:
    """Return the schema without the names in `required` and similar keywords that don't belong to a property.

    A name counts as a property's wherever the same value is described: next to it, in the schema around a
    branch, in another branch, behind a reference. Where leaving a name out would accept less (in `not`, `if`
    and `oneOf`), the keyword itself is loosened. A schema whose references multiply stays as it is.
    """
    references = References(schema)
    known = _known_names(schema, references)
    ghosts = [part for part in schemas_in(schema) if known and not _all_known(part, known)]
    if not ghosts:
        return schema
    haunted = ids_around(ghosts, schema, references)

    def cleared(part: Schema) -> Schema:
        rest = loosened(part, haunted)
        return rest if _all_known(part, known) else _with_known(rest, known.get(id(part), []))

    # again: a `not` that was removed may have taken the only declaration of a property with it
    return without_ghosts(_edited(schema, cleared))


def _edited(schema: Schema, edit: Edit) -> Schema:
    """Return the schema with `edit` applied to it and to every schema in it, outermost first."""
    edited: Schema = edit_schemas(schema, lambda part: part, first=edit)
    return edited


def _known_names(root: Schema, references: References) -> _Known:
    """Return the properties of the values that each schema applies to, by its id; nothing for too many."""
    known: _Known = {}
    waiting: list[Schema] = [root]
    done: set[int] = set()
    visits = 0
    while waiting:
        start = waiting.pop()
        if id(start) in done:
            continue
        done.add(id(start))
        same = list(_reachable(start, by=SAME_VALUE_KEYWORDS, led_to=lambda ref: [references.target(ref)]))
        visits += len(same)
        if visits > _MAX_VISITS:
            return {}
        names = frozenset(name for part in same for name in mapping_of(part.get("properties")))
        for part in same:
            known.setdefault(id(part), []).append(names)
            waiting.extend(inner for key, inner in subschemas(part) if key not in SAME_VALUE_KEYWORDS)
    return known


def _reachable(
    start: Schema, *, by: frozenset[str], led_to: Callable[[object], Iterable[Any]]
) -> Iterator[Schema]:
    """Yield a schema and every schema that it leads to by these keywords and by references, each once."""
    waiting: list[Any] = [start]
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if not by.isdisjoint(part):
            waiting.extend(inner for key, inner in subschemas(part) if key in by)
        if not REFERENCES.isdisjoint(part):
            for keyword in REFERENCES & part.keys():
                waiting.extend(led_to(part[keyword]))


def _named(part: Schema) -> Iterator[str]:
    """Yield the names of properties that a schema demands."""
    yield from part.get("required", ())
    for keyword in ("dependentRequired", "dependencies"):
        for name, needed in part.get(keyword, {}).items():
            if isinstance(needed, list):
                yield from (name, *needed)


def _all_known(part: Schema, known: _Known) -> bool:
    return all(_is_known(name, known.get(id(part), [])) for name in _named(part))


def _is_known(name: str, known: _Names) -> bool:
    return any(name in names for names in known)


def _with_known(part: Schema, known: _Names) -> Schema:
    """Return a schema that demands known properties only, without keywords that this empties."""
    result = dict(part)
    if "required" in part:
        result["required"] = [name for name in part["required"] if _is_known(name, known)]
    for keyword in ("dependentRequired", "dependencies"):
        if keyword in part:
            result[keyword] = dict(_dependencies(part[keyword], known))
    emptied = [keyword for keyword in _BY_NAME if part.get(keyword) and not result[keyword]]
    return {key: value for key, value in result.items() if key not in emptied}


def _dependencies(given: Mapping[str, Any], known: _Names) -> Iterator[tuple[str, Any]]:
    for name, needed in given.items():
        if not isinstance(needed, list):
            yield name, needed
        elif _is_known(name, known) and (kept := [one for one in needed if _is_known(one, known)]):
            yield name, kept
