"""Catalogs and queries, read from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tool_search_processor.catalog.name_register import NameRegister, Offer
from tool_search_processor.evaluation.files import (
    STDIN,
    DataError,
    label_of,
    names_in,
    read_records,
    read_values,
)
from tool_search_processor.evaluation.formats import read_tools
from tool_search_processor.tools import Tool

_SHOWN_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A request, and the tools that should be found for it.

    ```python
    query = Query(text="file a bug", relevant=("create_issue",), id="1", group="issues")
    no_tool = Query(text="tell a joke", relevant=(), id="2")
    ```
    """

    text: str
    relevant: tuple[str, ...]
    """Names of tools. If empty, no tool serves this request, and the best score should be low."""
    id: str
    group: str | None = None
    """A category or the like; figures are also given for each group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A catalog with its queries.

    ```python
    query = Query(text="file a bug", relevant=("create_issue",), id="1")
    dataset = Dataset(name="mine", tools=(tool(create_issue),), queries=(query,))
    ```
    """

    name: str
    tools: tuple[Tool, ...]
    """Unique names."""
    queries: tuple[Query, ...]
    """Their relevant names are names of `tools`."""
    missing: int = 0
    """How many relevant names were left out because no tool has them."""


def load_tools(path: str | Path) -> list[Tool]:
    """Read tools from a file in any common format; `-` is the standard input.

    ```python
    tools = load_tools("my_set/tools.jsonl")
    search = ToolSearchProcessor(tools)
    ```

    It reads JSON Lines and JSON lists of definitions, an OpenAI or Anthropic `tools` array, an MCP
    `tools/list` result, and an OpenAPI document (2.0 or 3.x; YAML with PyYAML). A `namespace` or
    `server` in a definition becomes the namespace; `tags`, `keywords` and `pinned` are read as well. Names
    that providers refuse are changed into valid ones, with a hash if two become equal; the original stays in
    `metadata["original_name"]`. Tools with the same name are all returned.

    Raises:
        DataError: If the file can't be read, or something in it is not a tool; the message says where.
    """
    tools = _told_apart(read_tools(read_values(path), label_of(path)))
    if not tools:
        raise DataError(f"{label_of(path)} holds no tools")
    return tools


def load_queries(path: str | Path) -> list[Query]:
    """Read queries from JSON Lines or a JSON list: `query`, `relevant`, and optionally `id` and `group`.

    ```python
    load_queries("my_set/queries.jsonl")[0].relevant  # -> ('create_issue',)
    ```

    Raises:
        DataError: If the file can't be read, or a record has no query or no list of relevant names.
    """
    records = read_records(path, "query", key="relevant")
    if not records:
        raise DataError(f"{label_of(path)} holds no queries")
    return [
        Query(
            text=record["query"],
            relevant=names_in(
                record.get("relevant"), place, wanted="'relevant' must be a list of tool names"
            ),
            id=str(record.get("id", number)),
            group=None if record.get("group") is None else str(record["group"]),
        )
        for number, (place, record) in enumerate(records, start=1)
    ]


def load_dataset(
    tools: str | Path | Sequence[Tool],
    queries: str | Path,
    *,
    name: str | None = None,
    allow_missing: bool = False,
) -> Dataset:
    """Read queries, and a catalog unless it is given, and match the relevant names; see `make_dataset`.

    ```python
    dataset = load_dataset("my_set/tools.jsonl", "my_set/queries.jsonl", name="mine")
    report = evaluate(BM25Index, dataset.tools, dataset.queries)
    ```
    """
    if isinstance(tools, str | Path) and str(tools) == STDIN == str(queries):
        raise DataError("only one of the two files can be the standard input")
    return make_dataset(
        load_tools(tools) if isinstance(tools, str | Path) else tools,
        load_queries(queries),
        name=label_of(queries) if name is None else name,
        allow_missing=allow_missing,
    )


def load_folder(folder: str | Path, *, allow_missing: bool = False) -> Dataset:
    """Read the `tools.jsonl` and `queries.jsonl` of a folder; the set is named after the folder.

    ```python
    dataset = load_folder("my_set")
    dataset.name  # -> 'my_set'
    ```
    """
    path = Path(folder)
    return load_dataset(
        path / "tools.jsonl", path / "queries.jsonl", name=path.resolve().name, allow_missing=allow_missing
    )


def make_dataset(
    tools: Sequence[Tool], queries: Iterable[Query], *, name: str = "", allow_missing: bool = False
) -> Dataset:
    """Combine tools and queries; a relevant name may be a tool's name or its original name.

    ```python
    queries = [Query(text="file a bug", relevant=("create_issue",), id="1")]
    dataset = make_dataset([tool(create_issue)], queries)
    make_dataset([tool(list_issues)], queries)  # raises DataError
    ```

    Args:
        tools: The catalog; names must be unique.
        queries: The requests.
        name: The name of the set in reports.
        allow_missing: Leave out relevant names that no tool has, and queries without any other.

    Raises:
        DataError: If two tools have one name, or relevant names are unknown and `allow_missing` is False.
    """
    known = {tool.name: tool.name for tool in tools}
    known |= {tool.original_name: tool.name for tool in tools}  # files use these names
    return _matched(tools, queries, known, name=name, allow_missing=allow_missing)


def as_dataset(tools: Sequence[Tool], queries: Iterable[Query], *, name: str) -> Dataset:
    """Combine tools and queries that match already: a tool's name takes precedence over an original name.

    Raises:
        DataError: See `make_dataset`.
    """
    known = {tool.original_name: tool.name for tool in tools}
    known |= {tool.name: tool.name for tool in tools}
    return _matched(tools, queries, known, name=name, allow_missing=False)


def _matched(
    tools: Sequence[Tool],
    queries: Iterable[Query],
    known: Mapping[str, str],
    *,
    name: str,
    allow_missing: bool,
) -> Dataset:
    check_unique(tools, name)
    missing: list[str] = []
    kept: list[Query] = []
    for query in queries:
        missing += [wanted for wanted in query.relevant if wanted not in known]
        names = tuple(dict.fromkeys(known[wanted] for wanted in query.relevant if wanted in known))
        if names or not query.relevant:
            kept.append(replace(query, relevant=names))
    if missing and not allow_missing:
        raise DataError(_missing_text(missing, name))
    if not any(query.relevant for query in kept):
        raise DataError(f"{name or 'the set'} has no query with a tool that should be found")
    return Dataset(name=name, tools=tuple(tools), queries=tuple(kept), missing=len(missing))


def _missing_text(missing: Sequence[str], name: str) -> str:
    distinct = list(dict.fromkeys(missing))
    shown = ", ".join(map(repr, distinct[:_SHOWN_NAMES]))
    more = f" and {len(distinct) - _SHOWN_NAMES} more" if len(distinct) > _SHOWN_NAMES else ""
    where = f" of {name}" if name else ""
    return (
        f"the queries{where} name tools that are not in the catalog: {shown}{more}; "
        "correct the names, or leave them out with --allow-missing (allow_missing=True)"
    )


def check_unique(tools: Sequence[Tool], name: str) -> None:
    """Check that names are unique.

    Raises:
        DataError: If two tools have the same name.
    """
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            where = f" in {name}" if name else ""
            raise DataError(
                f"two tools{where} are named {tool.name!r}, and a search couldn't tell them apart: "
                "rename one (`tool-search lint` lists all)"
            )
        seen.add(tool.name)


def _told_apart(tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools under the names that a catalog would give them; tools that clash keep one name."""
    settled = NameRegister(taken={}).settle([Offer(tool, place="", origin="") for tool in tools])
    names = {tool.original_name: tool.name for tool in settled if tool is not None}
    return [
        named or tool.replace(name=names.get(tool.original_name, tool.name))
        for tool, named in zip(tools, settled, strict=True)
    ]
