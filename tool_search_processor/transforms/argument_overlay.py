"""Changes single arguments of a tool, and maps a call's arguments back to the tool's own."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tool_search_processor.concurrency.foreign_calls import awaited, takes_none
from tool_search_processor.errors import ConfigurationError, ToolArgumentsError
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.tools.arguments import problems_text
from tool_search_processor.tools.frozen import freeze
from tool_search_processor.tools.wording import Problem, path_text, unknown_text
from tool_search_processor.transforms.schema_scope import Overlay
from tool_search_processor.wire.checks import check_types
from tool_search_processor.wire.plain import copied

logger = logging.getLogger(__name__)

_ARGUMENT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
"""What model providers accept as a property's name."""

_TEXT: tuple[type, ...] = (str, type(None))
_TYPES: Mapping[str, tuple[type, ...]] = {
    "name": _TEXT,
    "description": _TEXT,
    "hide": (bool,),
    "required": (bool, type(None)),
    "examples": (list, tuple, type(None)),
}


class _Missing:
    """The type of the default that is not given: None is a value."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()
DefaultFactory = Callable[..., Any | Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgTransform:
    """Changes to one argument of a tool; what is not given stays as it is.

    ```python
    tenant = ArgTransform(default="acme", hide=True)
    words = ArgTransform(name="query", description="What to look for.", required=True)
    ToolTransform({"find": ToolTransformConfig(arguments={"tenant": tenant, "words": words})})
    ```
    """

    name: str | None = None
    """The name that the model sees."""
    description: str | None = None
    default: Any = field(default=MISSING, repr=False)
    """Any JSON value: given to the tool when the model leaves the argument out, or always if `hide`. It is
    left out of the `repr`, since a hidden default may be a secret."""
    default_factory: DefaultFactory | None = None
    """Makes the value of a hidden argument at each call; sync (and quick) or async. If it has a required
    parameter, it gets the `ToolContext`."""
    hide: bool = False
    """The model does not see the argument and cannot set it."""
    required: bool | None = None
    """True: the model must give it, and the tool's own default is not shown."""
    examples: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot work.

        Raises:
            ConfigurationError: The name is invalid, the default is not a JSON value, or options contradict.
        """
        check_types("an ArgTransform", {key: getattr(self, key) for key in _TYPES}, _TYPES)
        if self.name is not None and not _ARGUMENT_NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"an argument's name is 1 to 64 letters, digits, '_', '.' or '-', found {self.name!r}"
            )
        has_default, factory = self.default is not MISSING, self.default_factory
        is_made = factory is not None
        contradictions = {
            "a hidden argument cannot be required of the model": self.hide and self.required is True,
            "an argument has a default or a default_factory, not both": has_default and is_made,
            "default_factory needs hide=True: its values are not fixed": is_made and not self.hide,
            "default_factory is a function": is_made and not callable(factory),
            "a required argument has no default": has_default and self.required is True,
        }
        for reason, is_wrong in contradictions.items():
            if is_wrong:
                raise ConfigurationError(f"{reason}: {self!r}")
        object.__setattr__(self, "default", freeze(self.default))
        if not self.hide:
            _require_json("default", None if self.default is MISSING else self.default)
        if self.examples is not None:
            _require_json("examples", list(self.examples))

    @property
    def fills(self) -> bool:
        """Whether the overlay itself has a value for the argument."""
        return self.default is not MISSING or self.default_factory is not None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ArgumentMap:
    """Turns the arguments that a model gave into those of the tool itself."""

    tool: Tool
    """The tool as it was."""
    overlay: Overlay = field(default_factory=Overlay)
    visible: tuple[str, ...] = ()
    """The names that the model sees, in the schema's order."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Fixed values, by the tool's own names."""
    factories: Mapping[str, DefaultFactory] = field(default_factory=dict)
    """Functions that make values, by the tool's own names."""

    # the parameter's name never clashes with one of the tool's own arguments
    async def call(self, _all_arguments_: Any, context: ToolContext) -> Any:
        """Call the tool under its own names.

        Raises:
            ToolArgumentsError: With the names that the model sees.
        """
        mapped = await self._mapped(_all_arguments_, context)
        try:
            return await self.tool.call(mapped, context)
        except ToolArgumentsError as exc:
            if exc.ran:
                raise
            raise self._renamed(exc) from exc

    async def _mapped(self, arguments: object, context: ToolContext) -> dict[str, Any]:
        if not isinstance(arguments, Mapping):  # a schema may allow more than objects; an overlay does not
            raise ToolArgumentsError(Problem((), "must be an object").sentence())
        originals: Mapping[str, str] = {new: old for old, new in self.overlay.names.items()}
        gone = self.overlay.hidden | self.overlay.names.keys()
        unknown = [name for name in arguments if name in gone and name not in originals]
        if unknown:
            problems = [Problem((name,), unknown_text(name, self.visible)) for name in unknown]
            raise ToolArgumentsError(problems_text(problems))
        mapped = {originals.get(name, name): value for name, value in arguments.items()}
        for name, value in self.values.items():
            if name not in mapped:
                # a copy each time: what one call does to its list must not reach the next
                mapped[name] = copied(value)
        for name, factory in self.factories.items():
            made = factory() if takes_none(factory) else factory(context)
            mapped[name] = await awaited(made)
        return mapped

    def _renamed(self, error: ToolArgumentsError) -> ToolArgumentsError:
        """Return the error in terms the model knows, or an error that says the fault is not the model's."""
        text = str(error)
        mentioned = {_root(match) for match in _PATH.finditer(text)} & self.overlay.hidden
        if mentioned:
            logger.warning(
                "the fixed arguments %s of tool %r do not fit it", sorted(mentioned), self.tool.name
            )
            return ToolArgumentsError(
                "The tool was set up with a value that it does not accept. "
                "Other arguments will not help: use another tool, or say that this one is out of order."
            )
        outer = self.overlay.names

        def renamed(match: re.Match[str]) -> str:
            root = _root(match)
            return f"{path_text((outer[root],))[:-1]}{match['rest']}`" if root in outer else match[0]

        return ToolArgumentsError(_PATH.sub(renamed, text))


_PATH = re.compile(r'`(?:(?P<plain>[\w$-]+)|\["(?P<odd>[^"`]*)"\])(?P<rest>[^`]*)`')
"""A path as argument errors write it: the argument it begins with, and the rest of the way."""


def _root(match: re.Match[str]) -> str:
    return str(match["plain"] or match["odd"])


def _require_json(what: str, value: object) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as exc:
        raise ConfigurationError(
            f"{what} of an argument is shown to the model, so it is a JSON value, found {value!r:.80}: {exc}"
        ) from exc
