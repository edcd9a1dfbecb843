"""A tool: its definition, and what runs when it is called."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, Unpack

from tool_search_processor.errors import (
    InvalidToolError,
    ToolArgumentsError,
    ToolNotCallableError,
    ToolUnavailableError,
)
from tool_search_processor.tools import importers
from tool_search_processor.tools.arguments import (
    ArgumentsCheck,
    both_checks,
    checked_arguments,
    parse_arguments,
    schema_check,
)
from tool_search_processor.tools.defaulted import without_defaulted
from tool_search_processor.tools.definition import ToolDefinition
from tool_search_processor.tools.docstrings import tell_undescribed
from tool_search_processor.tools.execution import CallPlan, ToolContext, plan_call, run_callable
from tool_search_processor.tools.fields import COLLECTIONS, NOTHING, check_plain, frozen_field, wrong_name
from tool_search_processor.tools.foreign import hidden_counted
from tool_search_processor.tools.frozen import FrozenDict
from tool_search_processor.tools.importers import ToolFields
from tool_search_processor.tools.origins import keep_origin
from tool_search_processor.tools.schemas import EMPTY_PARAMETERS
from tool_search_processor.tools.signatures import ToolFunction, inspect_function, inspect_method
from tool_search_processor.tools.tool_names import is_tool_name
from tool_search_processor.tools.wording import found_text
from tool_search_processor.wire.plain import clean_text


@dataclass(frozen=True)
class Tool(ToolDefinition):
    """A tool's definition, and what runs when it is called.

    ```python
    schema = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
    add = Tool("add", "Adds two numbers.", schema, lambda a, b: a + b, tags={"math"})
    await add.call({"a": 1, "b": 2})  # -> 3
    ```

    `execute` is called with the arguments as keywords. If its first positional parameter is not one of the
    schema's properties and is named `arguments`, `args`, `params`, `input` or the like (or could not be
    filled otherwise), it is called `execute(arguments)`, and `execute(arguments, context)` if it has a
    second parameter. A parameter annotated `ToolContext` always gets the context. A sync callable runs in
    a thread, an async one is awaited. A tool without `execute` is a definition only.

    A tool does not change: its dicts are frozen copies of what was given. Equal if all fields are; hashed
    by name and namespace.

    Args:
        name: 1 to 64 characters of `A-Z a-z 0-9 _ -`; importers make such a name from a foreign one.
        description: What the tool does, as the model reads it.
        parameters: A JSON Schema of the arguments, kept as it was given; a model gets `wire_schema()`.
        execute: What runs, as described above; None for a definition only.
        namespace: The group or server that the tool belongs to: a label, not part of the name.
        tags: Labels by which searches, filters and transforms select tools.
        keywords: Words for search only, never sent to a model.
        pinned: Always list the tool, and leave it out of search results.
        requires_approval: Stop a run before each call until the call is approved.
        tool_type: Where the tool comes from, such as `custom` or `external_mcp`; searches can select by it.
        output_schema: A JSON Schema of what a call returns, which MCP clients get.
        annotations: Hints of the Model Context Protocol: `readOnlyHint`, `destructiveHint` …
        metadata: Anything else; `original_name` holds the foreign name where it differs, `aliases` a list
            of others.
        example_requests: What people ask when they want this tool, in their words: for search only, never
            sent to a model. At most 100, of 500 characters each.

    Raises:
        InvalidToolError: If a field cannot work; says what was found and what to do.
    """

    name: str
    description: str = field(default="", hash=False)
    parameters: Mapping[str, Any] = field(default_factory=lambda: EMPTY_PARAMETERS, hash=False)
    execute: Callable[..., Any] | None = field(default=None, hash=False)
    namespace: str | None = None
    tags: frozenset[str] = field(default=frozenset(), hash=False)
    keywords: tuple[str, ...] = field(default=(), hash=False)
    pinned: bool = field(default=False, hash=False)
    requires_approval: bool = field(default=False, hash=False)
    tool_type: str = field(default="custom", hash=False)
    output_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    annotations: Mapping[str, Any] = field(default_factory=lambda: NOTHING, hash=False)
    metadata: Mapping[str, Any] = field(default_factory=lambda: NOTHING, hash=False)
    example_requests: tuple[str, ...] = field(default=(), hash=False)

    if TYPE_CHECKING:
        # The dataclass's own, but for the collections of strings, which take more than they become.
        def __init__(
            self,
            name: str,
            description: str = "",
            parameters: Mapping[str, Any] = ...,
            execute: Callable[..., Any] | None = None,
            namespace: str | None = None,
            tags: Iterable[str] = (),
            keywords: Iterable[str] = (),
            pinned: bool = False,  # noqa: FBT001, FBT002
            requires_approval: bool = False,  # noqa: FBT001, FBT002
            tool_type: str = "custom",
            output_schema: Mapping[str, Any] | None = None,
            annotations: Mapping[str, Any] = ...,
            metadata: Mapping[str, Any] = ...,
            example_requests: Iterable[str] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        """Check the fields, and freeze the containers."""
        name = self.name
        if not isinstance(name, str) or not is_tool_name(name):
            raise wrong_name(name)
        put = object.__setattr__
        if self.description is None:
            put(self, "description", "")  # type: ignore[unreachable]  # foreign definitions have it
        check_plain(name, vars(self))
        for key in ("description", "namespace"):
            text = getattr(self, key)
            if text and not text.isascii():
                put(self, key, clean_text(text))
        for key, collected in COLLECTIONS.items():
            value = getattr(self, key)
            if value or type(value) is not (frozenset if key == "tags" else tuple):
                put(self, key, collected(name, value))
        for key in ("parameters", "annotations", "metadata", "output_schema"):
            value = getattr(self, key)
            if type(value) is not FrozenDict and not (value is None and key == "output_schema"):
                put(self, key, frozen_field(name, key, value))

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed: it holds compiled checks."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @classmethod
    def from_function(cls, function: Callable[..., Any], /, **fields: Unpack[ToolFields]) -> Self:
        """Make a tool of a function: schema from its annotations, descriptions from its docstring.

        A parameter annotated `ToolContext` gets the context of the call and is not in the schema. The
        return annotation becomes the output schema, where it says what the data is.

        Args:
            function: Sync or async; a bound method and a `functools.partial` work too.
            fields: Fields of `Tool`, over what the function says.

        Raises:
            InvalidToolError: If no schema can be made of the signature; says which parameter and why.
        """
        if isinstance(function, Tool):
            raise InvalidToolError(f"{function.name!r} is a tool already: change it with tool.replace(...)")
        return cls._of_function(inspect_function(function), fields)

    @classmethod
    def from_method(cls, method: Any, /, **fields: Unpack[ToolFields]) -> Self:
        """Make a tool of a function or class method inside its class, as `@tool` does there.

        Taken from an object (`account.pay`), it is a tool that runs for this object. A class method can
        also be taken from the class.

        Args:
            method: Its first parameter is the object or the class, and not in the schema.
            fields: Fields of `Tool`, over what the function says.

        Raises:
            InvalidToolError: If no schema can be made of the signature; says which parameter and why.
        """
        return cls._of_function(inspect_method(method), fields)

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        """Bind the tool of a method to the object that it is taken from; any other tool stays as it is."""
        if not isinstance(self.execute, ToolFunction):
            return self
        bound = self.execute.bound(instance, owner)
        return self if bound is self.execute else self.replace(execute=bound)

    @classmethod
    def _made(
        cls, found: importers.Fields, fields: Mapping[str, Any], execute: Callable[..., Any] | None
    ) -> Self:
        options = [f.name for f in dataclasses.fields(cls) if f.name != "execute"]
        importers.check_options(fields, options)
        return cls(**importers.merged(found, fields), execute=execute)

    @classmethod
    def _imported(
        cls,
        read: Callable[[Any], importers.Fields],
        definition: object,
        fields: Mapping[str, Any],
        execute: Callable[..., Any] | None,
    ) -> Self:
        with hidden_counted() as hidden:
            found = read(definition)
        return cls._made({**found, "metadata": {**found["metadata"], **hidden}}, fields, execute)

    @classmethod
    def _of_function(cls, call: ToolFunction, fields: Mapping[str, Any]) -> Self:
        found: importers.Fields = {
            "description": call.description,
            "parameters": call.parameters,
            "output_schema": call.output_schema,
        }
        if "name" not in fields:
            if call.name is None:
                raise InvalidToolError("a lambda has no name: give one, Tool.from_function(fn, name=...)")
            found |= importers.named(call.name)
        made = cls._made(found, fields, call)
        if not made.description:
            tell_undescribed(f"{getattr(call.function, '__module__', '')}.{call.label}", made.name)
        return made

    @classmethod
    def from_openai(
        cls,
        definition: Mapping[str, Any],
        *,
        execute: Callable[..., Any] | None = None,
        **fields: Unpack[ToolFields],
    ) -> Self:
        """Make a tool of an OpenAI definition.

        Args:
            definition: The chat shape `{"type": "function", "function": {…}}`, the flat one of Responses,
                or the bare function.
            execute: What runs; None for a definition only.
            fields: Fields of `Tool`, over what the definition says.

        Raises:
            InvalidToolError: If it is not a function or has no name.
        """
        return cls._imported(importers.read_openai, definition, fields, execute)

    @classmethod
    def from_anthropic(
        cls,
        definition: Mapping[str, Any],
        *,
        execute: Callable[..., Any] | None = None,
        **fields: Unpack[ToolFields],
    ) -> Self:
        """Make a tool of an Anthropic definition: `name`, `description`, `input_schema`.

        Args:
            definition: As it is sent to the Messages API.
            execute: What runs; None for a definition only.
            fields: Fields of `Tool`, over what the definition says.

        Raises:
            InvalidToolError: If it has no name, or is one of the tools that run at the provider.
        """
        return cls._imported(importers.read_anthropic, definition, fields, execute)

    @classmethod
    def from_mcp(
        cls, definition: object, *, execute: Callable[..., Any] | None = None, **fields: Unpack[ToolFields]
    ) -> Self:
        """Make a tool of an entry of an MCP `tools/list` result.

        Args:
            definition: An object of the SDK, or the dict: `name`, `title`, `description`, `inputSchema`,
                `outputSchema`, `annotations`, `icons`, `execution`, `_meta`.
            execute: What runs; None for a definition only.
            fields: Fields of `Tool`, over what the definition says.

        Raises:
            InvalidToolError: If it has no name.
        """
        return cls._imported(importers.read_mcp, definition, fields, execute)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        importers.check_options(changes, [f.name for f in dataclasses.fields(self)])
        copy = dataclasses.replace(self, **changes)
        keep_origin(copy, self)
        return copy

    @property
    def missing_object(self) -> str | None:
        """Why the tool cannot run, if it is a method that was taken from its class; None otherwise."""
        return self.execute.missing_object if isinstance(self.execute, ToolFunction) else None

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything but `execute`, in hexadecimal; equal for equal content, in any process."""
        content = {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(Tool)
            if f.name not in ("execute", "tags")
        }
        content["tags"] = sorted(self.tags)
        if not self.example_requests:
            del content["example_requests"]
        try:
            text = json.dumps(content, sort_keys=True, default=_stable)
        except TypeError:  # keys of several kinds, which have no order
            text = json.dumps(content, default=_stable)
        return hashlib.sha256(text.encode()).hexdigest()

    async def target(
        self, arguments: Mapping[str, Any], context: ToolContext | None = None
    ) -> tuple[Tool, Mapping[str, Any]]:
        """Return the tool and arguments that a call really runs: these, unless the tool is a proxy."""
        return self, arguments

    async def call(
        self, arguments: Mapping[str, Any] | str | None = None, context: ToolContext | None = None
    ) -> Any:
        """Check the arguments, run the tool, and return what it returned.

        Args:
            arguments: An object, the JSON text of one, or None for no arguments.
            context: What `ToolContext` parameters get; an empty one if None.

        Raises:
            ToolNotCallableError: If there is nothing to run.
            ToolArgumentsError: If the arguments do not fit; its message is meant for the model.
            Exception: Whatever the tool raises.
        """
        if self.execute is None:
            raise ToolNotCallableError(
                f"the tool {self.name!r} is a definition only: give it execute=..., "
                "or let the program that defined it run it"
            )
        if self.missing_object:
            raise ToolNotCallableError(self.missing_object)
        values = self.check_arguments(arguments)
        args, kwargs = self._plan.bind(values, context or ToolContext())
        run = self.execute.function if isinstance(self.execute, ToolFunction) else self.execute
        try:
            return await run_callable(run, args, kwargs)
        except (ToolArgumentsError, ToolUnavailableError) as exc:
            exc.ran = exc.ran or isinstance(self.execute, ToolFunction)
            raise

    def check_arguments(self, arguments: Mapping[str, Any] | str | None = None) -> Any:
        """Return the arguments as `call` passes them on: decoded, unwrapped, and in a function's own types.

        Raises:
            ToolArgumentsError: If they do not fit; one sentence for each problem, five at most.
        """
        value, shown = self._wire.unwrap(parse_arguments(arguments))
        if self._wire.wrapper is None and not isinstance(value, Mapping):
            raise ToolArgumentsError(f"The arguments must be an object, found {found_text(value)}.")
        return checked_arguments(value, self._check, shown=shown)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function that the tool was made from, unchecked: as if it were not a tool.

        Raises:
            ToolNotCallableError: If the tool was not made from a function.
        """
        if not isinstance(self.execute, ToolFunction):
            raise ToolNotCallableError(
                f"the tool {self.name!r} was not made from a function: use `await tool.call({{...}})`"
            )
        return self.execute(*args, **kwargs)

    @functools.cached_property
    def _plan(self) -> CallPlan:
        if isinstance(self.execute, ToolFunction):
            return self.execute.plan
        properties = self.parameters.get("properties") or ()
        return CallPlan() if self.execute is None else plan_call(self.execute, properties)

    @functools.cached_property
    def _check(self) -> ArgumentsCheck:
        if not isinstance(self.execute, ToolFunction):
            is_remote = self.tool_type == "external_mcp"  # a server checks, and fills in, by itself
            return schema_check(without_defaulted(self.parameters) if is_remote else self.parameters)
        if self.parameters == self.execute.parameters:
            return self.execute.check
        return both_checks(schema_check(self.parameters), self.execute.check)


def _stable(value: object) -> object:
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
