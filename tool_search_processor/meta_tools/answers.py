"""The shapes of the meta-tools' answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tool_search_processor.meta_tools.texts import cut
from tool_search_processor.tools import Tool
from tool_search_processor.wire.plain import sendable

TARGET_META = "tool-search-processor/target"
"""The `_meta` key that tells, in the result of an MCP call through the proxy, which tool ran."""

ResultDetail = Literal["brief", "signature", "schema"]

_SIGNATURE_DEFAULT = 30


def search_result(tool: Tool, *, score: float, loaded: bool, detail: ResultDetail) -> dict[str, Any]:
    """Return a tool as it appears in a search's answer; `loaded` says whether it can be called at once."""
    result: dict[str, Any] = {
        "name": tool.name,
        "description": cut(tool.shown_description),
        "score": round(score, 3) or score,
        "loaded": loaded,
    }
    if detail == "signature":
        result["signature"] = signature(tool)
    elif detail == "schema":
        result["parameters"] = tool.wire_schema()
    return result


def search_answer(
    results: Sequence[Mapping[str, Any]],
    *,
    total: int | None,
    message: str,
    receipt: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the answer of a search, which always has this shape, and the receipt if there is one."""
    return _with_receipt({"results": list(results), "total": total, "message": message}, receipt)


def load_answer(
    *,
    loaded: Sequence[str] = (),
    already_loaded: Sequence[str] = (),
    not_found: Sequence[Mapping[str, Any]] = (),
    message: str,
    receipt: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the answer of a load, which always has this shape, and the receipt if there is one."""
    answer = {
        "loaded": list(loaded),
        "already_loaded": list(already_loaded),
        "not_found": list(not_found),
        "message": message,
    }
    return _with_receipt(answer, receipt)


def unload_answer(
    *,
    unloaded: Sequence[str] = (),
    not_loaded: Sequence[str] = (),
    message: str,
    receipt: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the answer of an unload, which always has this shape, and the receipt if there is one."""
    answer = {"unloaded": list(unloaded), "not_loaded": list(not_loaded), "message": message}
    return _with_receipt(answer, receipt)


def _with_receipt(answer: dict[str, Any], receipt: Mapping[str, Any] | None) -> dict[str, Any]:
    return answer if receipt is None else {**answer, "receipt": dict(receipt)}


def signature(tool: Tool) -> str:
    """Return a compact parameter list, in one line: `name(a: string, b?: integer = 5)`."""
    schema = tool.wire_schema()
    required = set(schema.get("required", ()))
    parts = [
        f"{name}{'' if name in required else '?'}: {_type_word(part)}{_default(part)}"
        for name, part in schema.get("properties", {}).items()
    ]
    # A foreign parameter's name may have line breaks: the rest of it could pose as another tool.
    return " ".join(f"{tool.name}({', '.join(parts)})".splitlines())


def _type_word(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if isinstance(schema.get("enum"), list):
        return "|".join(json.dumps(value, ensure_ascii=False, default=str) for value in schema["enum"])
    if "type" not in schema:
        branches = schema.get("anyOf") or schema.get("oneOf") or ()
        return "|".join(dict.fromkeys(map(_type_word, branches))) or (
            str(schema["$ref"]).rpartition("/")[2] if "$ref" in schema else "any"
        )
    kind = schema["type"]
    if kind == "array":
        return f"{_type_word(schema.get('items', {}))}[]"
    return "|".join(map(str, kind)) if isinstance(kind, list | tuple) else str(kind)


def _default(schema: Any) -> str:
    if not isinstance(schema, Mapping) or schema.get("default") is None:
        return ""
    text = json.dumps(schema["default"], ensure_ascii=False, default=str)
    return f" = {text}" if len(text) <= _SIGNATURE_DEFAULT else " = …"


def target_meta(tool: Tool) -> dict[str, Any]:
    """Return what the `_meta` of a proxied call's result says about the tool that ran."""
    return {TARGET_META: {"name": tool.name, "annotations": sendable(tool.annotations)}}


def invalid_arguments_answer(tool: Tool, *, problem: str, loaded: bool) -> dict[str, Any]:
    """Return the answer to a call of an unlisted tool whose arguments don't fit."""
    more = " The tool is loaded now." if loaded else ""
    return {
        "error": problem,
        "parameters": tool.wire_schema(),
        "message": f"{tool.name} was not run.{more} Call it again with arguments that fit its parameters.",
    }
