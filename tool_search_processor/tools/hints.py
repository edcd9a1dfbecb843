"""Annotations of a function, strings among them evaluated where the function was written."""

from __future__ import annotations

import functools
import inspect
import traceback
import types
import typing
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.tools.execution import ToolContext

_EMPTY = inspect.Parameter.empty


class Hints:
    """Annotations of one function, strings among them evaluated where the function was written."""

    def __init__(self, function: Callable[..., Any], label: str) -> None:
        self.label = label
        while isinstance(function, functools.partial):
            function = function.func
        self.holder: object = getattr(function, "__self__", None)
        """The object of a method, or its class."""
        function = inspect.unwrap(getattr(function, "__func__", function))
        if not hasattr(function, "__code__"):
            self.holder = function
            call: Any = getattr(function, "__call__", function)  # noqa: B004  # a callable object's method
            function = getattr(call, "__func__", call)
        self.function = function
        self.globals: dict[str, Any] = getattr(function, "__globals__", {})

    @property
    def returned(self) -> Any:
        """The return annotation; None if it is missing or cannot be evaluated."""
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
        for namespace in (self._closure, self._frames, self._classes):
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
        advice = "import or define that name before the function"
        if "<locals>" in self.label:
            advice = (
                "if it is a name of the function around, which has returned, make the tool in there (@tool "
                "above the function), or define the type at the top of the module"
            )
        raise InvalidToolError(
            f"parameter {name!r} of {self.label!r} has the annotation {annotation!r}, but {missing}: {advice}"
        )

    def _closure(self) -> Mapping[str, Any]:
        names = getattr(getattr(self.function, "__code__", None), "co_freevars", ())
        cells = getattr(self.function, "__closure__", None) or ()
        values: dict[str, Any] = {t.__name__: t for t in getattr(self.function, "__type_params__", ())}
        for name, cell in zip(names, cells, strict=False):
            try:
                values[name] = cell.cell_contents
            except ValueError:  # not filled yet
                continue
        return values

    def _classes(self) -> Mapping[str, Any]:
        """Return the names in the class of a method, where it was written, and in the bases."""
        first = self.holder if isinstance(self.holder, type) else type(self.holder)
        scopes = (
            {t.__name__: t for t in vars(kind).get("__type_params__", ())} | dict(vars(kind))
            for kind in first.__mro__
        )
        return ChainMap({**self._closure()}, *scopes)

    def _frames(self) -> Mapping[str, Any]:
        """Return the local names of the module's running functions: where a local type is defined."""
        running = (frame for frame, _ in traceback.walk_stack(inspect.currentframe()))
        local = [dict(frame.f_locals) for frame in running if frame.f_globals is self.globals]
        return ChainMap({**self._closure()}, *local, self.globals, {"ToolContext": ToolContext})
