"""Functions as tools: a signature becomes a JSON Schema and a check of what a model wrote."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Optional

from tool_search_processor.arguments import ArgumentsCheck, Checked, schema_check
from tool_search_processor.errors import InvalidToolError
from tool_search_processor.execution import CallPlan, ToolContext, is_context_annotation, keyword_plan
from tool_search_processor.frozen import FrozenDict, freeze
from tool_search_processor.schemas import resolve_pointer
from tool_search_processor.wording import Path, Problem, expected_text, found_text, unknown_text

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_EMPTY = inspect.Parameter.empty
_Parameters = list[inspect.Parameter]


@dataclass(frozen=True, slots=True, eq=False)
class ToolFunction:
    """A function that is run by a tool; calling it calls the function. Equal if the functions are."""

    function: Callable[..., Any]
    parameters: FrozenDict
    """The JSON Schema made from the signature."""
    description: str
    """The docstring's text before its parameters."""
    output_schema: FrozenDict | None
    plan: CallPlan
    model: type[BaseModel]
    """What checks the arguments; its fields bear the parameters' names as aliases."""
    names: Mapping[str, str]
    """Parameter name by field name."""
    always_passed: frozenset[str]
    """Parameters whose value comes from the model even when it was not given."""
    _schema_check: ArgumentsCheck

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, unchecked."""
        return self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolFunction) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)

    def check(self, arguments: Any) -> Checked:
        """Return the arguments as the function's own types, by parameter name, or the problems."""
        from pydantic import ValidationError

        try:
            values = self.model.model_validate(arguments)
        except ValidationError as exc:
            return Checked(arguments, tuple(self._problems(exc, arguments)))
        given = {
            name: getattr(values, field)
            for field, name in self.names.items()
            if field in values.model_fields_set or name in self.always_passed
        }
        return Checked({**given, **(values.model_extra or {})})

    def _problems(self, error: ValidationError, arguments: Any) -> Iterator[Problem]:
        # Pydantic finds the faults; the words are those of the JSON Schema, which the model knows.
        by_schema = self._schema_check(arguments).problems
        for detail in error.errors(include_url=False):
            path = _path_of(detail, arguments)
            at_path = [p for p in by_schema if _is_prefix(p.path, path) or _is_prefix(path, p.path)]
            own = _own_text(detail)
            if own is None and at_path:
                yield from at_path
            else:
                yield Problem(path, own or _fallback_text(detail, path, self.parameters))


def inspect_function(function: Callable[..., Any]) -> ToolFunction:
    """Return what a tool needs to know of a function.

    Raises:
        InvalidToolError: If no schema can be made of its signature; says which parameter and why.
    """
    label = getattr(function, "__qualname__", None) or type(function).__qualname__
    parameters = _parameters(function, label)
    hints = _Hints(function, label)
    context = next((p.name for p in parameters if is_context_annotation(p.annotation)), None)
    parameters = [
        p if p.name == context else p.replace(annotation=hints.resolve(p.annotation, p.name))
        for p in parameters
    ]
    # An alias of ToolContext shows only now.
    context = next((p.name for p in parameters if is_context_annotation(p.annotation)), None)
    own = [p for p in parameters if p.name != context]
    names = {f"argument_{i}": p.name for i, p in enumerate(own) if p.kind is not p.VAR_KEYWORD}
    model = _arguments_model(own, names, label)
    description, texts = _docstring(function)
    schema = freeze(_described(_model_schema(model, label), texts, names, model))
    return ToolFunction(
        function=function,
        parameters=schema,
        description=description,
        output_schema=_output_schema(hints),
        plan=keyword_plan(parameters, context_keyword=context),
        model=model,
        names=names,
        always_passed=frozenset(p.name for p in own if p.default is _EMPTY or _is_field_info(p.default)),
        _schema_check=_lazy_check(schema),
    )


def _lazy_check(schema: FrozenDict) -> ArgumentsCheck:
    """Compile the check when it is first needed: for the words of an error."""
    compiled = functools.cache(lambda: schema_check(schema))

    def check(arguments: Any) -> Checked:
        return compiled()(arguments)

    return check


def _parameters(function: Callable[..., Any], label: str) -> _Parameters:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError) as exc:
        raise InvalidToolError(
            f"{label!r} has no readable signature: write a function with annotated parameters that calls it"
        ) from exc
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidToolError(f"{label!r} is a generator: a tool returns its result whole, such as a list")
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise InvalidToolError(
                f"{label!r} takes *{parameter.name}, but a model gives every argument by name: "
                f"take one parameter `{parameter.name}: list[...]` in its place"
            )
    if parameters and parameters[0].name in ("self", "cls") and parameters[0].annotation is _EMPTY:
        raise InvalidToolError(
            f"{label!r} is a method without its object: use Tool.from_function(instance.method)"
        )
    return parameters


class _Hints:
    """Annotations of one function, strings among them evaluated where the function was written."""

    def __init__(self, function: Callable[..., Any], label: str) -> None:
        self.label = label
        while isinstance(function, functools.partial):
            function = function.func
        function = inspect.unwrap(getattr(function, "__func__", function))
        if not hasattr(function, "__code__"):
            call: Any = getattr(function, "__call__", function)  # noqa: B004  # a callable object's method
            function = getattr(call, "__func__", call)
        self.function = function
        self.globals: dict[str, Any] = getattr(function, "__globals__", {})

    @property
    def returned(self) -> Any:
        """The return annotation, or None where there is none or it cannot be evaluated."""
        annotation = getattr(self.function, "__annotations__", {}).get("return")
        try:
            return self.resolve(annotation, "return")
        except InvalidToolError:
            return None

    def resolve(self, annotation: Any, name: str) -> Any:
        """Return an annotation with the strings in it evaluated."""
        if annotation is _EMPTY or annotation is None:
            return annotation
        holder = types.SimpleNamespace(__annotations__={name: annotation})
        for namespace in (self._closure, self._frames):
            try:
                return typing.get_type_hints(
                    holder, self.globals, typing.cast("dict[str, Any]", namespace()), include_extras=True
                )[name]
            except NameError as exc:
                missing = exc
            except (TypeError, SyntaxError, AttributeError) as exc:
                raise InvalidToolError(
                    f"parameter {name!r} of {self.label!r} has an annotation that cannot be read: {exc}"
                ) from exc
        raise InvalidToolError(
            f"parameter {name!r} of {self.label!r} has the annotation {annotation!r}, but {missing}: "
            "import or define that name before the function"
        )

    def _closure(self) -> Mapping[str, Any]:
        names = getattr(getattr(self.function, "__code__", None), "co_freevars", ())
        cells = getattr(self.function, "__closure__", None) or ()
        values: dict[str, Any] = {}
        for name, cell in zip(names, cells, strict=False):
            try:
                values[name] = cell.cell_contents
            except ValueError:  # not filled yet
                continue
        return values

    def _frames(self) -> Mapping[str, Any]:
        """Return the local names of the module's running functions: where a local type is defined."""
        scopes: list[Mapping[str, Any]] = [self._closure()]
        frame = inspect.currentframe()
        while frame is not None:
            if frame.f_globals is self.globals:
                scopes.append(frame.f_locals)
            frame = frame.f_back
        return ChainMap(*(dict(scope) for scope in scopes), self.globals, {"ToolContext": ToolContext})


def _is_field_info(default: Any) -> bool:
    from pydantic.fields import FieldInfo

    return isinstance(default, FieldInfo)


def _arguments_model(parameters: _Parameters, names: Mapping[str, str], label: str) -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, create_model
    from pydantic.errors import PydanticUserError

    by_name = {p.name: p for p in parameters}
    extra = next((p for p in parameters if p.kind is p.VAR_KEYWORD), None)
    namespace: dict[str, Any] = {
        "model_config": ConfigDict(
            extra="allow" if extra else "forbid", alias_generator=names.__getitem__, protected_namespaces=()
        )
    }
    if extra is not None and extra.annotation is not _EMPTY:
        if typing.get_origin(extra.annotation) is typing.Unpack:
            raise InvalidToolError(
                f"{label!r} takes **{extra.name}: Unpack[...]: name its parameters one by one"
            )
        namespace["__annotations__"] = {"__pydantic_extra__": dict[str, extra.annotation]}  # type: ignore[name-defined]  # at run time a type
    try:
        base = types.new_class("Base", (BaseModel,), {}, lambda ns: ns.update(namespace))
        fields: dict[str, Any] = {field: _field(by_name[name]) for field, name in names.items()}
        return create_model("Arguments", __base__=base, **fields)
    except (PydanticUserError, TypeError) as exc:
        raise _no_schema(label, parameters, exc) from exc


def _field(parameter: inspect.Parameter) -> tuple[Any, Any]:
    annotation: Any = Any if parameter.annotation in (_EMPTY, None) else parameter.annotation
    if parameter.default is None:
        annotation = _optional(annotation)
    return annotation, ... if parameter.default is _EMPTY else parameter.default


def _optional(annotation: Any) -> Any:
    """Allow null where the default is None: `x: str = None` is written often."""
    if typing.get_origin(annotation) is Annotated:
        inner, *extras = typing.get_args(annotation)
        return Annotated[(Optional[inner], *extras)]  # noqa: UP045  # type: ignore[return-value]  # built at run time
    return Optional[annotation]  # noqa: UP045  # `|` fails for strings and special forms


def _no_schema(label: str, parameters: _Parameters, cause: Exception) -> InvalidToolError:
    from pydantic import TypeAdapter

    for parameter in parameters:
        try:
            TypeAdapter(_field(parameter)[0]).json_schema()
        except Exception:  # noqa: BLE001  # whatever it is, this is the one that fails
            return InvalidToolError(
                f"parameter {parameter.name!r} of {label!r} has the type {parameter.annotation!r}, which "
                "has no JSON Schema: take a type that JSON can carry, or ToolContext if it is the context"
            )
    return InvalidToolError(f"no schema can be made of the signature of {label!r}: {cause}")


def _model_schema(model: type[BaseModel], label: str) -> dict[str, Any]:
    from pydantic.errors import PydanticUserError

    try:
        schema = model.model_json_schema(schema_generator=_schema_generator())
    except PydanticUserError as exc:
        parameters = [
            inspect.Parameter(str(info.alias), inspect.Parameter.KEYWORD_ONLY, annotation=info.annotation)
            for info in model.model_fields.values()
        ]
        raise _no_schema(label, parameters, exc) from exc
    schema = _without_titles(schema)
    return {"type": "object", "properties": {}, **schema}


@functools.cache
def _schema_generator() -> type[Any]:
    from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

    class Generator(GenerateJsonSchema):
        ignored_warning_kinds: typing.ClassVar[set[JsonSchemaWarningKind]] = {
            "skipped-choice",
            "non-serializable-default",
        }

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

    return Generator


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop the titles that only repeat a class name; titles that somebody wrote stay."""
    definitions = {
        key: {k: v for k, v in value.items() if not (k == "title" and key.endswith(str(v)))}
        for key, value in schema.get("$defs", {}).items()
    }
    root = {key: value for key, value in schema.items() if key not in ("title", "$defs")}
    return {**root, "$defs": definitions} if definitions else root


def _described(
    schema: dict[str, Any], texts: Mapping[str, str], names: Mapping[str, str], model: type[BaseModel]
) -> dict[str, Any]:
    """Put the docstring's texts to the parameters that have no description of their own."""
    properties = dict(schema["properties"])
    for field, info in model.model_fields.items():
        text, alias = texts.get(names[field]), info.validation_alias or info.alias
        if text and isinstance(alias, str) and alias in properties:
            properties[alias] = {
                **properties[alias],
                "description": properties[alias].get("description", text),
            }
    return {**schema, "properties": properties}


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the text before the parameters, and each parameter's text."""
    while isinstance(function, functools.partial):
        function = function.func
    text = inspect.getdoc(function) or "" if hasattr(function, "__name__") else _object_doc(function)
    if "\n" not in text:
        return text.strip(), {}
    import docstring_parser

    try:
        parsed = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return text.strip(), {}
    texts = {p.arg_name: " ".join((p.description or "").split()) for p in parsed.params}
    parts = (parsed.short_description, parsed.long_description)
    separator = "\n\n" if parsed.blank_after_short_description else "\n"
    description = separator.join(part.strip() for part in parts if part)
    return description, {name.lstrip("*"): text for name, text in texts.items()}


def _object_doc(function: Callable[..., Any]) -> str:
    call = getattr(function, "__call__", None)  # noqa: B004  # a callable object's method
    return inspect.cleandoc(getattr(call, "__doc__", None) or type(function).__doc__ or "")


def _output_schema(hints: _Hints) -> FrozenDict | None:
    """Return the schema of what the function returns, if that is an object with named fields."""
    returned = hints.returned
    if not isinstance(returned, type):
        return None
    from pydantic import BaseModel, TypeAdapter
    from pydantic.errors import PydanticUserError

    if not (issubclass(returned, BaseModel) or is_dataclass(returned) or typing.is_typeddict(returned)):
        return None
    try:
        schema = TypeAdapter(returned).json_schema(mode="serialization", schema_generator=_schema_generator())
    except PydanticUserError:
        return None
    frozen: FrozenDict = freeze(_without_titles(schema))
    return frozen


@functools.cache
def _builtin_errors() -> frozenset[str]:
    from pydantic_core import core_schema

    return frozenset(typing.get_args(core_schema.ErrorType)) - {"value_error", "assertion_error"}


def _own_text(detail: ErrorDetails) -> str | None:
    """Return the text that the author of a type wrote for this error, if one did."""
    if detail["type"] in _builtin_errors():
        return None
    cause = detail.get("ctx", {}).get("error")
    text = str(cause) if isinstance(cause, Exception) else detail["msg"]
    return f"is not valid: {text.strip().rstrip('.')}"


def _fallback_text(detail: ErrorDetails, path: Path, root: Mapping[str, Any]) -> str:
    if detail["type"] == "missing":
        return "is required but missing"
    if detail["type"] == "extra_forbidden":
        return unknown_text(str(path[-1]), ())
    return f"must be {expected_text(_schema_at(root, path), root)}, found {found_text(detail['input'])}"


def _path_of(detail: ErrorDetails, arguments: Any) -> Path:
    """Return where in the arguments an error stands: the location without the names of union branches."""
    path: list[str | int] = []
    value = arguments
    for part in detail["loc"]:
        is_item = isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)
        if is_item or (isinstance(value, Mapping) and part in value):
            value = value[part]
            path.append(part)
        elif detail["type"] == "missing" and part == detail["loc"][-1]:
            path.append(part)
    return tuple(path)


def _is_prefix(path: Path, other: Path) -> bool:
    return other[: len(path)] == path


def _schema_at(root: Mapping[str, Any], path: Path) -> Any:
    """Return the schema of a field, or None where more than one could be meant."""
    schema: Any = root
    for part in path:
        if isinstance(schema, Mapping) and "$ref" in schema:
            schema = resolve_pointer(root, schema["$ref"])
        if not isinstance(schema, Mapping):
            return None
        schema = schema.get("items") if isinstance(part, int) else schema.get("properties", {}).get(part)
    return schema
