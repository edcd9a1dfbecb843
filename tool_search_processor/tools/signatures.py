"""Functions as tools: a signature becomes a JSON Schema and a check of the model's arguments."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Optional, Self

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.tools.arguments import ArgumentsCheck, Checked, inexact_problems, schema_check
from tool_search_processor.tools.docstrings import read_docstring
from tool_search_processor.tools.execution import CallPlan, is_context_annotation, keyword_plan
from tool_search_processor.tools.frozen import FrozenDict, freeze
from tool_search_processor.tools.generated import schema_generator, without_titles
from tool_search_processor.tools.hints import Hints
from tool_search_processor.tools.model_errors import model_problems, with_choices_read
from tool_search_processor.tools.outputs import output_schema_of

if TYPE_CHECKING:
    from pydantic import BaseModel

_EMPTY = inspect.Parameter.empty
_CONTEXT_NAMES = ("context", "ctx")
_OBJECT_NAMES = ("self", "cls")
_Parameters = list[inspect.Parameter]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ToolFunction:
    """A function that is run by a tool; calling it calls the function. Equal if the functions are."""

    function: Callable[..., Any]
    name: str | None
    """The function's own name; None for a lambda."""
    parameters: FrozenDict
    """The JSON Schema made from the signature."""
    description: str
    """The docstring's text before its parameters."""
    output_schema: FrozenDict | None
    plan: CallPlan
    model: type[BaseModel]
    """The pydantic model that checks the arguments; its fields have the parameters' names as aliases."""
    names: Mapping[str, str]
    """Parameter name by field name."""
    always_passed: frozenset[str]
    """Parameters whose value comes from the model even when it was not given."""
    _schema_check: ArgumentsCheck
    method: Any = None
    """The method, while it still lacks its object or class; None if nothing is missing."""

    @property
    def label(self) -> str:
        """What errors call it."""
        return _label(self.function)

    @property
    def missing_object(self) -> str | None:
        """Why the function cannot run, if it is a method that was taken from its class."""
        if self.method is None:
            return None
        return f"{self.label!r} is a method: take it from an object, such as instance.{self.name}"

    def bound(self, instance: object, owner: type | None) -> Self:
        """Return it as the method of an object, or as the class method of a class."""
        if self.method is None or (instance is None and not isinstance(self.method, classmethod)):
            return self
        return dataclasses.replace(self, function=self.method.__get__(instance, owner), method=None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, unchecked."""
        return self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ToolFunction) and self.function == other.function

    def __repr__(self) -> str:
        return f"ToolFunction({self.function!r})"

    def __hash__(self) -> int:
        return hash(self.function)

    def check(self, arguments: Any) -> Checked:
        """Return the arguments as the function's own types, by parameter name, or the problems."""
        from pydantic import ValidationError

        if problems := inexact_problems(arguments, self._schema_check):
            return Checked(arguments, problems)
        try:
            values = self._read(arguments)
        except ValidationError as exc:
            by_schema = self._schema_check(arguments).problems
            found = model_problems(exc, arguments, by_schema=by_schema, schema=self.parameters)
            return Checked(arguments, tuple(found))
        given = {
            name: getattr(values, field)
            for field, name in self.names.items()
            if field in values.model_fields_set or name in self.always_passed
        }
        return Checked({**given, **(values.model_extra or {})})

    def _read(self, arguments: Any) -> BaseModel:
        """Return the arguments as the model reads them, numbers among choices in strings too: "1" for 1."""
        from pydantic import ValidationError

        try:
            return self._validated(arguments)
        except ValidationError as exc:
            mended = with_choices_read(exc, arguments)
            if mended is arguments:
                raise
            try:
                return self._validated(mended)
            except ValidationError:
                raise exc from None

    def _validated(self, arguments: Any) -> BaseModel:
        """Return the arguments as the model reads them: as Python's, and else as JSON's.

        A strict type takes a string as a date, or a list as a tuple, from JSON only.
        """
        from pydantic import ValidationError

        try:
            return self.model.model_validate(arguments)
        except ValidationError as exc:
            first = exc
        try:
            return self.model.model_validate_json(json.dumps(arguments))
        except ValidationError as exc:
            told = exc.errors(include_url=False)
            # half characters, say, or a type that nothing of JSON is
            is_no_json = any(e["loc"] == () or e["type"] == "needs_python_object" for e in told)
            raise first if is_no_json else exc from None
        except (TypeError, ValueError, RecursionError):
            raise first from None


def is_method(function: object) -> bool:
    """Return True for a function written in a class, whose first argument is an object or the class."""
    if isinstance(function, classmethod):
        return True
    around = str(getattr(function, "__qualname__", "")).rpartition(".")[0]
    if not inspect.isfunction(function) or not around or around.endswith("<locals>"):
        return False
    return next(iter(inspect.signature(function).parameters), None) in _OBJECT_NAMES


def inspect_method(method: Any) -> ToolFunction:
    """Return what a tool needs to know about a function of a class, whose object is not an argument.

    Raises:
        InvalidToolError: If no schema can be made of its signature; says which parameter and why.
    """
    function = method.__func__ if isinstance(method, classmethod) else method
    return dataclasses.replace(inspect_function(function, skip=1), method=method)


def inspect_function(function: Callable[..., Any], *, skip: int = 0) -> ToolFunction:
    """Return what a tool needs to know about a function.

    Args:
        function: The function.
        skip: How many of its first parameters are no arguments of the tool.

    Raises:
        InvalidToolError: If no schema can be made of its signature; says which parameter and why.
    """
    label = _label(function)
    parameters = _parameters(function, label, skip=skip)
    hints = Hints(function, label)
    context = next((p.name for p in parameters if is_context_annotation(p.annotation)), None)
    parameters = [
        p if p.name == context else p.replace(annotation=hints.resolve(p.annotation, p.name))
        for p in parameters
    ]
    # An alias of ToolContext shows only now.
    context = next((p.name for p in parameters if is_context_annotation(p.annotation)), None)
    own = [p for p in parameters if p.name != context]
    _refuse_bare_context(own, label)
    names = {f"argument_{i}": p.name for i, p in enumerate(own) if p.kind is not p.VAR_KEYWORD}
    model = _arguments_model(own, names, label)
    description, texts = read_docstring(function)
    schema = freeze(_described(_model_schema(model, label), texts, names, model))
    return ToolFunction(
        function=function,
        name=_function_name(function),
        parameters=schema,
        description=description,
        output_schema=output_schema_of(hints.returned),
        plan=keyword_plan(parameters, context_keyword=context),
        model=model,
        names=names,
        always_passed=frozenset(p.name for p in own if _is_passed(p.default)),
        _schema_check=_lazy_check(schema),
    )


def _label(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def _lacks_object(parameters: _Parameters) -> bool:
    return bool(parameters) and parameters[0].name in _OBJECT_NAMES and parameters[0].annotation is _EMPTY


def _refuse_bare_context(parameters: _Parameters, label: str) -> None:
    """Refuse a parameter that is named like a context and has no annotation.

    Raises:
        InvalidToolError: Says how to say it.
    """
    for parameter in parameters:
        if parameter.name in _CONTEXT_NAMES and parameter.annotation is _EMPTY:
            raise InvalidToolError(
                f"the parameter {parameter.name!r} of {label!r} has no annotation: annotate it as "
                "ToolContext to get the request's context, or with its type if the model is to fill it in; a "
                f"function that gives tools goes into a list as CallableProvider({label})"
            )


def _function_name(function: Callable[..., Any]) -> str | None:
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    return None if name == "<lambda>" else name


def _lazy_check(schema: FrozenDict) -> ArgumentsCheck:
    """Compile the check when it is first needed: for the words of an error."""
    compiled = functools.cache(lambda: schema_check(schema))

    def check(arguments: Any) -> Checked:
        return compiled()(arguments)

    return check


def _parameters(function: Callable[..., Any], label: str, *, skip: int) -> _Parameters:
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
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
    if _lacks_object(parameters):
        raise InvalidToolError(
            f"{label!r} is a method without its object: use Tool.from_function(instance.method)"
        )
    return parameters


def _is_passed(default: Any) -> bool:
    """Return True if a parameter gets the pydantic model's value even if the call did not give one.

    Python gives every call the same list or dict as a default; pydantic copies it for each call.
    """
    from pydantic.fields import FieldInfo

    if default is _EMPTY or isinstance(default, FieldInfo):
        return True
    try:
        hash(default)
    except TypeError:
        return _can_be_copied(default)
    return False


def _can_be_copied(value: Any) -> bool:
    try:
        copy.deepcopy(value)
    except Exception:  # noqa: BLE001  # foreign objects: a lock, say, or an open file
        return False
    return True


def _arguments_model(parameters: _Parameters, names: Mapping[str, str], label: str) -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, create_model
    from pydantic.errors import PydanticUserError
    from pydantic_core import SchemaError

    by_name = {p.name: p for p in parameters}
    extra = next((p for p in parameters if p.kind is p.VAR_KEYWORD), None)
    namespace: dict[str, Any] = {
        "model_config": ConfigDict(extra="allow" if extra else "forbid", protected_namespaces=())
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
    except (PydanticUserError, SchemaError, TypeError) as exc:
        raise _no_schema(label, parameters, exc) from exc


def _field(parameter: inspect.Parameter) -> tuple[Any, Any]:
    """Return annotation and default of the model's field; its alias is the parameter's name."""
    from pydantic import Field

    annotation: Any = Any if parameter.annotation is _EMPTY else parameter.annotation
    extras: Sequence[Any] = ()
    if typing.get_origin(annotation) is Annotated:
        annotation, *extras = typing.get_args(annotation)
    if parameter.default is None and annotation is not Any:
        annotation = Optional[annotation]  # noqa: UP045  # `x: str = None` is written often
    # The alias stands first, so that one given by the user stands over it.
    annotation = Annotated[(annotation, Field(alias=parameter.name), *extras)]
    return annotation, ... if parameter.default is _EMPTY else parameter.default


def _no_schema(label: str, parameters: _Parameters, cause: Exception) -> InvalidToolError:
    from pydantic import TypeAdapter

    for parameter in parameters:
        try:
            TypeAdapter(parameter.annotation).json_schema()
        except Exception as exc:  # noqa: BLE001  # whatever it is, this is the one that fails
            reason = str(getattr(exc, "message", exc)).partition("\n\n")[0].rstrip(".")
            return InvalidToolError(
                f"parameter {parameter.name!r} of {label!r} has the type {parameter.annotation!r}, which "
                "has no JSON Schema: take a type that JSON can carry, or ToolContext if it is the context "
                f"({reason})"
            )
    return InvalidToolError(f"no schema can be made of the signature of {label!r}: {cause}")


def _model_schema(model: type[BaseModel], label: str) -> dict[str, Any]:
    from pydantic.errors import PydanticUserError

    try:
        schema = model.model_json_schema(schema_generator=schema_generator())
    except PydanticUserError as exc:
        parameters = [
            inspect.Parameter(str(info.alias), inspect.Parameter.KEYWORD_ONLY, annotation=info.annotation)
            for info in model.model_fields.values()
        ]
        raise _no_schema(label, parameters, exc) from exc
    schema = without_titles(schema)
    return {"type": "object", "properties": {}, **schema}


def _described(
    schema: dict[str, Any], texts: Mapping[str, str], names: Mapping[str, str], model: type[BaseModel]
) -> dict[str, Any]:
    """Return the schema with the docstring's words at parameters that have no description of their own."""
    properties = dict(schema["properties"])
    for field, info in model.model_fields.items():
        text, alias = texts.get(names[field]), info.validation_alias or info.alias
        if text and isinstance(alias, str) and alias in properties:
            properties[alias] = {
                **properties[alias],
                "description": properties[alias].get("description", text),
            }
    return {**schema, "properties": properties}
