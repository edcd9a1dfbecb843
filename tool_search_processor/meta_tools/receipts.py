"""Receipts: typed, versioned notes from which a conversation's loaded tools can be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

ReceiptKind = Literal["loaded", "unloaded"]

_FAMILY = "tool-search/"
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an answer of a meta-tool says it has loaded or unloaded."""

    kind: ReceiptKind
    names: tuple[str, ...]
    """In the order of the request, including the tools that were loaded already."""
    evicted: tuple[str, ...] = ()
    """Unloaded to make room."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """By name, the mark that tells a tool from others with its name; tools given directly have none."""


def receipt(
    names: Iterable[str],
    *,
    kind: ReceiptKind = "loaded",
    evicted: Iterable[str] = (),
    marks: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the JSON data that goes into an answer under the key `receipt`."""
    note: dict[str, Any] = {"type": f"{_FAMILY}{kind}", "v": _VERSION, "names": list(names)}
    optional = {"evicted": list(evicted), "marks": dict(marks)}
    return note | {key: value for key, value in optional.items() if value}


def read_receipt(answer: str) -> Receipt | None:
    """Return the receipt in an answer's JSON; None if there is none that this version can read."""
    if _FAMILY not in answer:  # a cheap test: most answers of other tools are long and have no receipt
        return None
    try:
        return receipt_of(json.loads(answer)["receipt"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def receipt_of(note: Any) -> Receipt | None:
    """Return a receipt's JSON data as a value; None if it is not a receipt that this version can read."""
    try:
        kind = {f"{_FAMILY}loaded": "loaded", f"{_FAMILY}unloaded": "unloaded"}[note["type"]]
        version, names, evicted = note["v"], note["names"], note.get("evicted", [])
        marks = note.get("marks", {})
    except (TypeError, KeyError, AttributeError):
        return None
    if type(version) is not int or version != _VERSION or not (_is_names(names) and _is_names(evicted)):
        return None
    if not isinstance(marks, dict) or not _is_names(list(marks.values())):
        return None
    return Receipt(
        kind=kind,  # type: ignore[arg-type]  # a value of the dict above
        names=tuple(names),
        evicted=tuple(evicted),
        marks=marks,
    )


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
