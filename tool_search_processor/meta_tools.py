"""Everything the model sees: names, schemas, texts and result shapes of the meta-tools."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tool_search_processor.tools import Tool, ToolContext

Mode = Literal["load", "auto_load", "call"]
ResultDetail = Literal["brief", "signature", "schema"]

MAX_RESULTS = 20
"""The most results of one query, and of one whole answer."""
MAX_QUERIES = 10
"""The most queries of one search that are answered."""
MAX_NAMES = 100
"""The most names of one load or unload that are looked at."""
DESCRIPTION_CHARACTERS = 150
_ECHO_CHARACTERS = 80
_MAX_NAMESPACES = 20
_SIGNATURE_DEFAULT = 30
_LAST_WORD = re.compile(r"\s+\S*\Z")

Handler = Callable[[Mapping[str, Any], ToolContext], Awaitable[Any]]
Target = Callable[[Mapping[str, Any], ToolContext], Awaitable[tuple[Tool, Mapping[str, Any]] | None]]


@dataclass(frozen=True)
class MetaTool(Tool):
    """A tool of the processor's own: what the model gets wrong is answered in words."""

    __hash__ = Tool.__hash__

    handler: Handler | None = field(default=None, repr=False, compare=False)
    proxy: Target | None = field(default=None, repr=False, compare=False)

    async def call(self, arguments: Any = None, context: ToolContext | None = None) -> Any:
        """Answer a call; any arguments will do."""
        return await self.handler(as_object(arguments), context or ToolContext())  # type: ignore[misc]

    async def target(
        self, arguments: Any, context: ToolContext | None = None
    ) -> tuple[Tool, Mapping[str, Any]]:
        """Return what a proxied call really runs, or this tool where it will answer itself."""
        given = as_object(arguments)
        found = await self.proxy(given, context or ToolContext()) if self.proxy else None
        return found or (self, given)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaToolNames:
    """What the meta-tools are called, and which of them there are."""

    mode: Mode
    search: str
    load: str
    call: str
    unload: str
    allow_unload: bool

    @property
    def present(self) -> tuple[str, ...]:
        """The names of the meta-tools that are listed, in their order."""
        second = {"load": (self.load,), "auto_load": (), "call": (self.call,)}[self.mode]
        return (self.search, *second, *((self.unload,) if self.allow_unload else ()))

    @property
    def loading(self) -> frozenset[str]:
        """The names of the meta-tools whose results load."""
        return {
            "load": frozenset({self.load}),
            "auto_load": frozenset({self.search}),
            "call": frozenset[str](),
        }[self.mode]


# -- what a model writes -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCall:
    """What a call of the search tool asks for."""

    queries: tuple[str, ...]
    limit: int
    tags: frozenset[str]


def as_object(arguments: Any) -> Mapping[str, Any]:
    """Return the arguments as an object, however a model wrote them; what is none becomes empty."""
    if isinstance(arguments, str):
        arguments = _decoded(arguments)
    return arguments if isinstance(arguments, Mapping) else {}


def read_search(arguments: Mapping[str, Any], *, default_limit: int) -> SearchCall:
    """Read a search call: one query or several, however a model encodes them."""
    given = next((arguments[key] for key in ("query", "queries", "pattern", "q") if key in arguments), ())
    queries = dict.fromkeys(query for text in _texts(given) if (query := text.strip()))
    return SearchCall(
        queries=tuple(queries)[:MAX_QUERIES],
        limit=_limit(arguments.get("limit"), default_limit),
        tags=frozenset(_texts(arguments.get("tags", ()))),
    )


def read_names(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Read the tool names of a load or unload: a list, one string, or a list as a JSON string."""
    names: dict[str, None] = {}
    for key in ("tool_names", "tool_name", "names", "name"):
        for text in _texts(arguments.get(key, ())):
            names |= dict.fromkeys(part for part in re.split(r"[,\s]+", text.strip()) if part)
    return tuple(names)[:MAX_NAMES]


def read_call(arguments: Mapping[str, Any]) -> tuple[str, Any]:
    """Read a proxied call: the tool's name, and its arguments as they were written."""
    name = next((arguments[key] for key in ("name", "tool_name", "tool") if key in arguments), "")
    given = next((arguments[key] for key in ("arguments", "parameters", "args") if key in arguments), None)
    return (name.strip() if isinstance(name, str) else ""), ({} if given is None else given)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a string, a list, or a list that was encoded as a JSON string."""
    if isinstance(value, str):
        decoded = _decoded(value) if value.lstrip().startswith("[") else None
        yield from _texts(decoded) if isinstance(decoded, list) else (value,)
    elif isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, str))


def _limit(value: Any, default: int) -> int:
    try:
        wanted = default if value is None or isinstance(value, bool) else int(value)
    except (TypeError, ValueError, OverflowError):
        wanted = default
    return max(1, min(wanted, MAX_RESULTS))


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# -- definitions ---------------------------------------------------------------------------------------


def search_tool(
    names: MetaToolNames, *, inventory: str, takes_pattern: bool, default_limit: int, handler: Handler
) -> MetaTool:
    """Return the search tool.

    Args:
        names: What the meta-tools are called.
        inventory: A sentence about what stands behind it, or nothing.
        takes_pattern: Whether queries are regular expressions.
        default_limit: Results of a query unless the model says otherwise.
        handler: Answers a call.
    """
    what = {
        "load": f"Then make tools callable with {names.load}.",
        "auto_load": "The tools it returns become callable in your next step.",
        "call": f"Then run a tool with {names.call}.",
    }[names.mode]
    query = (
        "A case-insensitive regular expression over names, descriptions and parameters (RE2 syntax, at most "
        "200 characters), such as 'issue|ticket'."
        if takes_pattern
        else "What you need to do, in a few words, such as 'create github issue'; or a tool's name."
    )
    text = {"type": "string"}
    return MetaTool(
        name=names.search,
        description=" ".join(
            part for part in ("Find tools that are available but not listed.", inventory, what) if part
        ),
        parameters={
            "type": "object",
            "properties": {
                "query": {
                    "anyOf": [text, {"type": "array", "items": text}],
                    "description": f"{query} A list asks several things at once.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_RESULTS,
                    "description": f"Most results for each query; {default_limit} by default.",
                },
                "tags": {
                    "type": "array",
                    "items": text,
                    "description": "Only tools that bear any of these tags.",
                },
            },
            "required": ["query"],
        },
        annotations={"readOnlyHint": True},
        pinned=True,
        handler=handler,
    )


def load_tool(names: MetaToolNames, *, handler: Handler) -> MetaTool:
    """Return the tool that loads tools by name."""
    return MetaTool(
        name=names.load,
        description=f"Load tools that {names.search} found, by name. They become callable in your next step.",
        parameters=_names_schema("Names of the tools to load, as the search gave them."),
        pinned=True,
        handler=handler,
    )


def unload_tool(names: MetaToolNames, *, handler: Handler) -> MetaTool:
    """Return the tool that unloads tools by name."""
    return MetaTool(
        name=names.unload,
        description="Unload tools that you no longer need. They stay findable and can be loaded again.",
        parameters=_names_schema("Names of the tools to unload."),
        pinned=True,
        handler=handler,
    )


def call_tool(names: MetaToolNames, *, handler: Handler, proxy: Target) -> MetaTool:
    """Return the tool that runs another tool by name."""
    return MetaTool(
        name=names.call,
        description=f"Run a tool that {names.search} found, with arguments that fit its parameters.",
        parameters={
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The tool's name, as the search gave it."},
                "arguments": {
                    "type": "object",
                    "description": "The tool's arguments, as its parameters describe them.",
                    "additionalProperties": True,
                },
            },
            "required": ["name"],
        },
        pinned=True,
        handler=handler,
        proxy=proxy,
    )


def inventory_text(count: int, namespaces: Mapping[str, int]) -> str:
    """Return the sentence that tells how many tools there are, and in which namespaces."""
    if not namespaces:
        return f"There are {count} of them."
    shown = [f"{name} ({size})" for name, size in list(namespaces.items())[:_MAX_NAMESPACES]]
    more = len(namespaces) - len(shown)
    tail = f" and {more} more namespaces" if more else ""
    return f"There are {count} of them, among others for: {', '.join(shown)}{tail}."


def _names_schema(description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "tool_names": {"type": "array", "items": {"type": "string"}, "description": description}
        },
        "required": ["tool_names"],
    }


# -- instructions --------------------------------------------------------------------------------------


def instruction_text(names: MetaToolNames) -> str:
    """Return the fixed instruction; it names the meta-tools that are present, and nothing else."""
    use = {
        "load": f"load what fits with {names.load}, and call it in your next step",
        "auto_load": "and call what fits in your next step: what the search returns is loaded for you",
        "call": f"and run what fits with {names.call}",
    }[names.mode]
    unload = f" Free what you no longer need with {names.unload}." if names.allow_unload else ""
    return (
        f"More tools are available than are listed. When no listed tool fits, search with {names.search}, "
        f"{use}. Don't say that something can't be done before you have searched.{unload}"
    )


def catalog_text(lines: Sequence[str], names: MetaToolNames) -> str:
    """Return the list of tools for the instruction."""
    return (
        f"Some of the tools that can be found (there may be more: search with {names.search}):\n"
        + "\n".join(lines)
    )


def catalog_line(tool: Tool) -> str:
    """Return a tool's line in the list."""
    description = cut(one_line(tool.description))
    return f"- {tool.name}: {description}" if description else f"- {tool.name}"


# -- results -------------------------------------------------------------------------------------------


def search_result(tool: Tool, *, score: float, loaded: bool, detail: ResultDetail) -> dict[str, Any]:
    """Return one tool of a search's answer."""
    result: dict[str, Any] = {
        "name": tool.name,
        "description": cut(tool.description),
        "score": round(score, 3) or score,
        "loaded": loaded,
    }
    if detail == "signature":
        result["signature"] = signature(tool)
    elif detail == "schema":
        result["parameters"] = tool.wire_schema()
    return result


def search_answer(results: Sequence[Mapping[str, Any]], *, total: int | None, message: str) -> dict[str, Any]:
    """Return the answer of a search; always this shape."""
    return {"results": list(results), "total": total, "message": message}


def load_answer(
    *,
    loaded: Sequence[str] = (),
    already_loaded: Sequence[str] = (),
    not_found: Sequence[Mapping[str, Any]] = (),
    message: str,
) -> dict[str, Any]:
    """Return the answer of a load; always this shape."""
    return {
        "loaded": list(loaded),
        "already_loaded": list(already_loaded),
        "not_found": list(not_found),
        "message": message,
    }


def unload_answer(
    *, unloaded: Sequence[str] = (), not_loaded: Sequence[str] = (), message: str
) -> dict[str, Any]:
    """Return the answer of an unload; always this shape."""
    return {"unloaded": list(unloaded), "not_loaded": list(not_loaded), "message": message}


def receipt(names: Iterable[str], *, kind: Literal["loaded", "unloaded"] = "loaded") -> dict[str, Any]:
    """Return the typed, versioned note by which a conversation tells what it has loaded."""
    return {"type": f"tool-search/{kind}", "v": 1, "names": list(names)}


def signature(tool: Tool) -> str:
    """Return a compact parameter list: `name(a: string, b?: integer = 5)`."""
    schema = tool.wire_schema()
    required = set(schema.get("required", ()))
    parts = [
        f"{name}{'' if name in required else '?'}: {_type_word(part)}{_default(part)}"
        for name, part in schema.get("properties", {}).items()
    ]
    return f"{tool.name}({', '.join(parts)})"


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


# -- sentences -----------------------------------------------------------------------------------------


def found_text(names: MetaToolNames, *, found: int, newly_loaded: Sequence[str], loaded: int) -> str:
    """Return the sentence that goes with results."""
    tools = "1 tool" if found == 1 else f"{found} tools"
    if names.mode == "call":
        return f"Found {tools}. Run one with {names.call}."
    if names.mode == "load":
        return f"Found {tools}. Load what you need with {names.load}; call it in your next step."
    if newly_loaded:
        return f"Found {tools}. Loaded: {', '.join(newly_loaded)}; callable from your next step."
    if loaded:
        return f"Found {tools}. They are loaded already: call them."
    return f"Found {tools}, none of which can be loaded."


def nothing_found_text(queries: Sequence[str], *, tags: Collection[str]) -> str:
    """Return the sentence for a search without a match."""
    asked = " or ".join(repr(clip(query)) for query in queries[:3])
    narrowed = f" with a tag of {', '.join(sorted(map(clip, tags)))}" if tags else ""
    return (
        f"No tool matches {asked}{narrowed}. Try other words once, for the action and the thing it acts on; "
        "if that finds nothing, no tool fits: stop searching and say so."
    )


EMPTY_QUERY = "The query is empty. Say in a few words what you need to do, such as 'create github issue'."
NO_NAMES = "No tool was named. Give tool_names: a list of names as the search gave them."


def guard_text(kind: Literal["repeated", "fruitless"], *, loaded: Sequence[str], names: MetaToolNames) -> str:
    """Return the sentence that tells a model to stop searching.

    Args:
        kind: Whether the same query came again, or many brought nothing new.
        loaded: The tools that it can call.
        names: What the meta-tools are called.
    """
    told = {
        "repeated": "You have searched for this before, and the results are the same.",
        "fruitless": "Your last searches have brought nothing new.",
    }[kind]
    have = f" Loaded and callable: {', '.join(loaded)}." if loaded else ""
    use = {
        "load": f"load one of the results with {names.load}",
        "auto_load": "call one of the results",
        "call": f"run one of the results with {names.call}",
    }[names.mode]
    return f"{told}{have} Stop searching: {use}, or say that no tool fits."


def loaded_text(
    *, loaded: Sequence[str], already: Sequence[str], missing: Sequence[str], full: Sequence[str], limit: int
) -> str:
    """Return the sentence that goes with a load."""
    parts = []
    if loaded:
        parts.append(f"Loaded {', '.join(loaded)}: callable from your next step.")
    if already:
        parts.append(f"Already loaded: {', '.join(already)}.")
    if missing:
        parts.append(f"Not found: {', '.join(map(clip, missing))}. Search for tools by what they do.")
    if full:
        parts.append(
            f"Not loaded, since {limit} tools are loaded, which is the most, and all are in use: "
            f"{', '.join(full)}."
        )
    return " ".join(parts)


def unloaded_text(*, unloaded: Sequence[str], missing: Sequence[str]) -> str:
    """Return the sentence that goes with an unload."""
    parts = []
    if unloaded:
        parts.append(f"Unloaded {', '.join(unloaded)}.")
    if missing:
        parts.append(f"Not loaded: {', '.join(map(clip, missing))}.")
    return " ".join(parts)


def missing_tool_text(name: str, *, suggestions: Sequence[str], names: MetaToolNames) -> str:
    """Return the sentence for a call of a tool that is unknown or denied, which it does not tell apart."""
    alike = f" Did you mean {', '.join(suggestions)}?" if suggestions else ""
    return f"There is no tool {clip(name)!r} to call.{alike} Find tools with {names.search}."


def meta_tool_refused_text(name: str, *, names: MetaToolNames) -> str:
    """Return the sentence for a meta-tool that is called through the proxy."""
    return f"{name} can't be run through {names.call}: call it directly."


def invalid_arguments_answer(tool: Tool, *, problem: str, loaded: bool) -> dict[str, Any]:
    """Return the answer for a tool that was called before it was listed, with arguments that don't fit."""
    more = " The tool is loaded now." if loaded else ""
    return {
        "error": problem,
        "parameters": tool.wire_schema(),
        "message": f"{tool.name} was not run.{more} Call it again with arguments that fit its parameters.",
    }


def one_line(text: str) -> str:
    """Return a text with every run of white space as one blank."""
    return " ".join(text.split())


def cut(text: str, limit: int = DESCRIPTION_CHARACTERS) -> str:
    """Return a text of at most `limit` characters, cut at a word where there is one."""
    if len(text) <= limit:
        return text
    words = _LAST_WORD.sub("", text[:limit])
    return f"{words if limit // 2 <= len(words) < limit else text[: limit - 1].rstrip()}…"


def clip(text: str) -> str:
    """Return what a model wrote, short enough to be repeated to it."""
    return text if len(text) <= _ECHO_CHARACTERS else f"{text[: _ECHO_CHARACTERS - 1]}…"
