"""Finds the faults of a catalog: tools that a model confuses, misunderstands, or pays too much for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from tool_search_processor.evaluation.likeness import SIMILARITY, confusable
from tool_search_processor.search.text import is_stop_word, terms, words
from tool_search_processor.tokens.counting import DefinitionCounter, TextCounter, estimate_tokens
from tool_search_processor.tools import Tool
from tool_search_processor.tools.foreign import HIDDEN
from tool_search_processor.tools.schema_walk import BRANCH_KEYWORDS, branches, resolve_pointer
from tool_search_processor.tools.tool_names import MAX_NAME_LENGTH, is_tool_name
from tool_search_processor.wire.plain import hidden_in

MAX_TOKENS = 500
"""The most tokens of a definition without a finding; 50 to 200 are usual."""
_MAX_DEPTH = 6
_LIST_KEYWORDS = (*BRANCH_KEYWORDS, "prefixItems")
_SHOWN = 8

Kind = Literal[
    "duplicate-name",
    "missing-description",
    "empty-description",
    "invalid-name",
    "hidden-characters",
    "confusable",
    "undescribed-parameters",
    "expensive",
]
Severity = Literal["error", "warning"]

_ERRORS: frozenset[Kind] = frozenset(("duplicate-name", "missing-description"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to fix.

    ```python
    report = lint([Tool("a_tool", "")])
    report.findings[0].severity, report.findings[0].tool  # -> ('error', 'a_tool')
    ```
    """

    kind: Kind
    tool: str
    """The name in the file."""
    text: str
    """One sentence that says what was found and what to do."""
    others: tuple[str, ...] = ()
    """Names of the other tools involved."""

    @property
    def severity(self) -> Severity:
        """An error keeps a tool from being served or found; a warning makes it worse."""
        return "error" if self.kind in _ERRORS else "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """All findings of a catalog, and the cost of each tool.

    ```python
    report = lint(load_tools("my_set/tools.jsonl"))
    print(report.total_tokens, report.errors, report.tokens[:3])
    ```
    """

    findings: tuple[Finding, ...]
    """Errors first, then by kind; the most alike and the costliest come first, others in catalog order."""
    tokens: tuple[tuple[str, int], ...]
    """Name and estimated tokens of each definition, the costliest first."""

    @property
    def total_tokens(self) -> int:
        """The cost of sending every definition."""
        return sum(count for _, count in self.tokens)

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity == "error" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "tools": len(self.tokens),
            "total_tokens": self.total_tokens,
            "errors": self.errors,
            "warnings": len(self.findings) - self.errors,
            "findings": [{"severity": found.severity, **asdict(found)} for found in self.findings],
            "tokens": [{"tool": name, "tokens": count} for name, count in self.tokens],
        }


def lint(
    tools: Sequence[Tool],
    *,
    similarity: float = SIMILARITY,
    max_tokens: int = MAX_TOKENS,
    counter: TextCounter = estimate_tokens,
    progress: Callable[[int], None] | None = None,
) -> LintReport:
    """Find what makes a model choose the wrong tool, call it wrongly, or pay too much.

    ```python
    for finding in lint(load_tools("my_set/tools.jsonl")).findings:
        print(finding.severity, finding.tool, finding.text)
    ```

    Args:
        tools: The catalog, as `load_tools` gives it; names may repeat.
        similarity: The least likeness of names and descriptions for two tools to be confusable, above 0 to 1;
            see `likeness.confusable`.
        max_tokens: A definition that costs more is a finding.
        counter: Counts the tokens of a definition.
        progress: Called after each tool, with 1.
    """
    counts = DefinitionCounter(counter)
    costs = [(tool.original_name, counts.count([tool])) for tool in tools]
    costs.sort(key=lambda cost: -cost[1])
    findings = [
        *_duplicates(tools),
        *(
            Finding(kind=kind, tool=tool.original_name, text=text)
            for tool in tools
            for kind, text in _of_one(tool)
        ),
        *_confusable(tools, similarity, progress),
        *(_expensive(name, count, max_tokens) for name, count in costs if count > max_tokens),
    ]
    order = get_args(Kind)
    findings.sort(key=lambda finding: order.index(finding.kind))
    return LintReport(findings=tuple(findings), tokens=tuple(costs))


def _duplicates(tools: Iterable[Tool]) -> Iterator[Finding]:
    for name, count in Counter(tool.original_name for tool in tools).items():
        if count > 1:
            yield Finding(
                kind="duplicate-name",
                tool=name,
                text=f"{count} tools have this name: a catalog serves the first one only. Rename the others, "
                "or give each provider a namespace.",
            )


def _of_one(tool: Tool) -> Iterator[tuple[Kind, str]]:
    """Yield the faults of one tool by itself, each with the text of its finding."""
    name = tool.original_name
    if name != tool.name or not is_tool_name(name):
        yield "invalid-name", _name_text(name, tool.name)
    if not tool.description.strip():
        yield "missing-description", "has no description: say in a sentence what it does and when to use it."
    elif _says_nothing(tool):
        yield (
            "empty-description",
            "has a description that says no more than its name: say what it does and when to use it.",
        )
    if hidden := _hidden_characters(tool):
        yield (
            "hidden-characters",
            f"has {hidden:,} characters that people don't see but a model reads: open it in an editor that "
            "shows them, and remove them.",
        )
    if missing := undescribed_parameters(tool.parameters):
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        shown = f"{', '.join(missing[:_SHOWN])}{more}"
        yield "undescribed-parameters", f"does not describe {shown}: say what each one is, and its format."


def _hidden_characters(tool: Tool) -> int:
    """Return how many hidden characters a tool has, or had before an importer removed them."""
    waiting: list[Any] = [tool.description, tool.parameters, tool.metadata.get("title")]
    count = int(tool.metadata.get(HIDDEN, 0))
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            count += hidden_in(value)
        elif isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value
    return count


def _name_text(original: str, name: str) -> str:
    if len(original) > MAX_NAME_LENGTH:
        return (
            f"is {len(original)} characters long, and providers accept {MAX_NAME_LENGTH}: it becomes {name}."
        )
    return f"holds characters that providers refuse (they accept A-Z a-z 0-9 _ -): it becomes {name}."


def _says_nothing(tool: Tool) -> bool:
    said = {term for word in words(tool.description) if not is_stop_word(word) for term in terms(word)}
    return said <= set(terms(tool.original_name))


def _confusable(
    tools: Sequence[Tool], similarity: float, progress: Callable[[int], None] | None
) -> Iterator[Finding]:
    for pair in confusable(tools, similarity=similarity, progress=progress):
        first, second = (pair.first.original_name, pair.second.original_name)
        yield Finding(
            kind="confusable",
            tool=first,
            others=(second,),
            text=f"reads like {second} (likeness {pair.likeness:.2f}): say in both how they differ, "
            "or offer only one of them.",
        )


def _expensive(name: str, count: int, max_tokens: int) -> Finding:
    return Finding(
        kind="expensive",
        tool=name,
        text=f"costs {count:,} tokens, more than {max_tokens:,}: shorten its description or its parameters.",
    )


def undescribed_parameters(schema: Mapping[str, Any]) -> list[str]:
    """Return the parameters without a description, nested ones by their path (`filter.owner`), in order.

    A description may be at the parameter, in a branch of its combinators, or at the target of its `$ref`.
    """
    found: dict[str, None] = {}
    _undescribed(schema, schema, "", found, 0)
    return list(found)


def _undescribed(schema: Any, root: Mapping[str, Any], path: str, found: dict[str, None], depth: int) -> None:
    if depth > _MAX_DEPTH:
        return
    for node in _nodes(schema, root, depth):
        properties = node.get("properties")
        for name, inner in properties.items() if isinstance(properties, Mapping) else ():
            place = f"{path}.{name}" if path else str(name)
            if not any(_is_described(part) for part in _nodes(inner, root, depth)):
                found[place] = None
            _undescribed(inner, root, place, found, depth + 1)
        if isinstance(node.get("items"), Mapping):
            _undescribed(node["items"], root, f"{path}[]", found, depth + 1)


def _is_described(node: Mapping[str, Any]) -> bool:
    text = node.get("description")
    return isinstance(text, str) and bool(text.strip())


def _nodes(schema: Any, root: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield a schema, the target of its reference, and the branches of its combinators."""
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return
    yield schema
    if "$ref" in schema:
        yield from _nodes(resolve_pointer(root, schema["$ref"]), root, depth + 1)
    for branch in branches(schema, *_LIST_KEYWORDS):
        yield from _nodes(branch, root, depth + 1)
