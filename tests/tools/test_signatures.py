"""Functions as tools: schema from the signature, texts from the docstring, values in the function's types."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import enum
import functools
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, NotRequired, Optional, Union, Unpack

import pytest
from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, Json, PastDate
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict  # pydantic reads the one of `typing` from Python 3.12 on

from tool_search_processor.errors import InvalidToolError, ToolArgumentsError, ToolNotCallableError
from tool_search_processor.tools import Tool, ToolContext, tool

if TYPE_CHECKING:
    from tool_search_processor.tools import ToolContext as Hidden


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Item(BaseModel):
    """One item."""

    price: float = Field(ge=0)
    parts: list[Item] = []


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    verbose: bool
    depth: NotRequired[int]


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    model_config = ConfigDict(title="A good dog")

    kind: Literal["dog"]
    name: str


WORDS = Field(default_factory=lambda: ["w"])


class Opaque:
    pass


def properties(function):
    return Tool.from_function(function).parameters["properties"]


async def refusal(made, arguments):
    with pytest.raises(ToolArgumentsError) as caught:
        await made.call(arguments)
    return str(caught.value)


# --- the README's tool -------------------------------------------------------------------------------


@tool(tags={"github"}, keywords=["bug"], namespace="git", requires_approval=True)
def create_issue(repo: str, title: str, body: str = "") -> str:
    """Create an issue in a GitHub repository.

    It is open at first.

    Args:
        repo: Owner and name,
            such as "octo/hello".
        title: What it is about.

    Returns:
        Where it stands.
    """
    return f"{repo}: {title}{body}"


def test_a_decorated_function_is_a_tool():
    assert isinstance(create_issue, Tool)
    assert create_issue.name == "create_issue"
    assert create_issue.description == "Create an issue in a GitHub repository.\n\nIt is open at first."
    assert (create_issue.tags, create_issue.keywords) == ({"github"}, ("bug",))
    assert (create_issue.namespace, create_issue.requires_approval) == ("git", True)
    assert create_issue.output_schema == {"type": "string"}
    assert create_issue.parameters == {
        "type": "object",
        "properties": {
            "repo": {"type": "string", "description": 'Owner and name, such as "octo/hello".'},
            "title": {"type": "string", "description": "What it is about."},
            "body": {"type": "string", "default": ""},
        },
        "required": ["repo", "title"],
        "additionalProperties": False,
    }


async def test_it_can_be_called_as_the_function_and_as_a_tool():
    assert create_issue("octo/hello", "Bug") == "octo/hello: Bug"
    assert create_issue("octo/hello", title="Bug", body="!") == "octo/hello: Bug!"
    assert await create_issue.call({"repo": "octo/hello", "title": "Bug"}) == "octo/hello: Bug"
    assert create_issue.replace(name="other")("a", "b") == "a: b"
    with pytest.raises(ToolNotCallableError):
        create_issue.replace(execute=print)("a", "b")


def test_equal_functions_make_equal_tools():
    def ping() -> None:
        """Answer."""

    assert Tool.from_function(ping) == tool(ping)
    assert hash(tool(ping).execute) == hash(tool(ping).execute)
    assert tool(ping).execute != ping
    assert repr(tool(ping).execute).startswith("ToolFunction(<function test_equal")


async def test_async_functions_are_tools_too():
    @tool
    async def fetch(url: str) -> str:
        await asyncio.sleep(0)
        return url

    assert await fetch.call({"url": "x"}) == "x"
    assert await fetch("y") == "y"


@pytest.mark.parametrize(
    ("fields", "match"),
    [({"name": "a b"}, "a name such as 'a_b'"), ({"tags": "x"}, "collection of strings")],
)
def test_fields_are_checked_as_ever(fields, match):
    with pytest.raises(InvalidToolError, match=match):
        tool(**fields)(google)


def test_name_and_description_can_be_given():
    made = Tool.from_function(lambda x: x, name="echo", description="Say it again.", pinned=True)
    assert (made.name, made.description, made.pinned) == ("echo", "Say it again.", True)
    with pytest.raises(InvalidToolError, match="a lambda has no name"):
        Tool.from_function(lambda x: x)
    with pytest.raises(InvalidToolError, match="is written above a function, found 'echo'"):
        tool("echo")
    with pytest.raises(InvalidToolError, match=r"'echo' is a tool already: change it with tool\.replace"):
        tool(made)


def test_a_name_in_another_alphabet_is_made_valid():
    def größe():  # noqa: PLC2401
        """Measure."""

    assert (tool(größe).name, tool(größe).metadata) == ("gro_e", {"original_name": "größe"})


# --- schemas -----------------------------------------------------------------------------------------


def test_types_become_json_schema_without_noise():
    def f(
        colour: Colour,
        mode: Literal["fast", "slow"],
        item: Item,
        point: Point,
        options: Options,
        day: dt.date,
        names: list[str],
        maybe: Optional[int] = None,  # noqa: UP045
        loose: str = None,  # noqa: RUF013  # written often
        count: Annotated[int, Field(ge=1, description="How many.")] = 3,
        limited: Annotated[str, Field(min_length=2)] = None,  # noqa: RUF013
        anything=None,
    ):
        pass

    made = Tool.from_function(f)
    assert made.parameters["properties"] == {
        "colour": {"$ref": "#/$defs/Colour"},
        "mode": {"type": "string", "enum": ["fast", "slow"]},
        "item": {"$ref": "#/$defs/Item"},
        "point": {"$ref": "#/$defs/Point"},
        "options": {"$ref": "#/$defs/Options"},
        "day": {"type": "string", "format": "date"},
        "names": {"type": "array", "items": {"type": "string"}},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "loose": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "count": {"type": "integer", "minimum": 1, "default": 3, "description": "How many."},
        "limited": {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}], "default": None},
        "anything": {"default": None},
    }
    assert made.parameters["required"] == ["colour", "mode", "item", "point", "options", "day", "names"]
    assert made.parameters["$defs"]["Item"] == {
        "type": "object",
        "description": "One item.",
        "properties": {
            "price": {"type": "number", "minimum": 0},
            "parts": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "default": []},
        },
        "required": ["price"],
    }
    assert '"title"' not in made.definition_json


def test_titles_that_somebody_wrote_stay():
    def f(dog: Dog, x: Annotated[int, Field(title="The X")]):
        pass

    parameters = Tool.from_function(f).parameters
    assert parameters["$defs"]["Dog"]["title"] == "A good dog"
    assert parameters["properties"]["x"]["title"] == "The X"


def test_a_function_without_parameters():
    def ping():
        pass

    assert Tool.from_function(ping).parameters == {
        "type": "object", "properties": {}, "additionalProperties": False,
    }  # fmt: skip
    assert Tool.from_function(ping).description == ""


def test_defaults_that_json_cannot_carry_are_left_out():
    def f(x: Any = object(), y: dt.date = dt.date(2020, 1, 1)):  # noqa: B008
        pass

    assert properties(f) == {"x": {}, "y": {"type": "string", "format": "date", "default": "2020-01-01"}}


async def test_names_that_models_have_for_themselves_are_fine():
    @tool
    def f(schema: str, model_config: int, copy: bool, _private: str = "p", json: str = "j") -> Any:
        return schema, model_config, copy, _private, json

    assert list(f.parameters["properties"]) == ["schema", "model_config", "copy", "_private", "json"]
    assert await f.call({"schema": "s", "model_config": 1, "copy": True}) == ("s", 1, True, "p", "j")


async def test_fields_as_defaults_and_aliases():
    @tool
    def f(
        count: int = Field(3, ge=1, description="How many."),
        words: Annotated[list[str], Field(default_factory=list)] = WORDS,
        from_: Annotated[str, Field(alias="from")] = "here",
    ) -> Any:
        """Do.

        Args:
            count: Not this.
            from_: Whence.
        """
        return count, words, from_

    assert f.parameters["properties"]["count"] == {
        "type": "integer", "minimum": 1, "default": 3, "description": "How many.",
    }  # fmt: skip
    assert f.parameters["properties"]["from"] == {
        "type": "string",
        "default": "here",
        "description": "Whence.",
    }
    assert await f.call({}) == (3, ["w"], "here")
    assert await f.call({"from": "there", "count": 4, "words": []}) == (4, [], "there")


@pytest.mark.parametrize(
    ("returns", "properties", "required"),
    [
        (Point, {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}}, ["x"]),
        (Options, {"verbose": {"type": "boolean"}, "depth": {"type": "integer"}}, ["verbose"]),
        (
            Cat,
            {"kind": {"type": "string", "const": "cat"}, "lives": {"type": "integer"}},
            ["kind", "lives"],
        ),
    ],
)
def test_the_output_schema_is_that_of_an_object(returns, properties, required):
    def f():
        pass

    f.__annotations__["return"] = returns
    assert Tool.from_function(f).output_schema == {
        "type": "object",
        "properties": properties,
        "required": required,
    }


@pytest.mark.parametrize(
    ("returns", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (float, {"type": "number"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Iterator[int], {"type": "array", "items": {"type": "integer"}}),
        (AsyncIterator[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (dict, {"type": "object", "additionalProperties": True}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (dt.date, {"type": "string", "format": "date"}),
        ("list[str]", {"type": "array", "items": {"type": "string"}}),
        (Annotated[int, "a count"], {"type": "integer"}),
    ],
)
def test_the_output_schema_is_that_of_the_return_annotation(returns, schema):
    def f():
        pass

    f.__annotations__["return"] = returns
    assert Tool.from_function(f).output_schema == schema


def test_the_output_schema_of_a_list_of_objects_has_their_definitions():
    def f() -> list[Point]:
        pass

    schema = Tool.from_function(f).output_schema
    assert schema["items"] == {"$ref": "#/$defs/Point"}
    assert list(schema["$defs"]) == ["Point"]


class Broken:
    """A type whose own code fails."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        raise RuntimeError("no schema today")


@pytest.mark.parametrize(
    "returns",
    [
        None, Opaque, "Missing", Any, object, NoReturn, list, tuple, list[Any], Sequence, Any | None, Broken,
        Awaitable[int], AsyncIterator, Callable, CallToolResult, TextContent,
        list[ImageContent], ImageContent | None, dict[str, TextContent], Annotated[TextContent, "x"],
    ],
)  # fmt: skip
def test_returns_that_say_nothing_of_the_data_have_no_output_schema(returns):
    def f():
        pass

    f.__annotations__["return"] = returns
    assert Tool.from_function(f).output_schema is None


def test_an_output_that_has_no_schema_has_none():
    @dataclasses.dataclass
    class Holder:
        inner: Opaque

    def f() -> Holder:
        pass

    assert Tool.from_function(f).output_schema is None


# --- values ------------------------------------------------------------------------------------------


async def test_functions_get_their_own_types():
    @tool
    def f(item: Item, point: Point, options: Options, colour: Colour, day: dt.date, key: uuid.UUID,
          pair: tuple[int, str], unique: set[int], number: int = 0) -> Any:  # fmt: skip
        return item, point, options, colour, day, key, pair, unique, number

    key = uuid.uuid4()
    given = {
        "item": {"price": 1, "parts": [{"price": 2.5}]},
        "point": {"x": "3"},
        "options": {"verbose": True},
        "colour": "red",
        "day": "2026-01-02",
        "key": str(key),
        "pair": [1, "b"],
        "unique": [1, 1],
        "number": "7",
    }
    assert await f.call(given) == (
        Item(price=1, parts=[Item(price=2.5)]), Point(3), {"verbose": True}, Colour.RED,
        dt.date(2026, 1, 2), key, (1, "b"), {1}, 7,
    )  # fmt: skip


class Order(BaseModel):
    model_config = ConfigDict(strict=True)

    day: dt.date
    colour: Colour
    sizes: tuple[int, ...] = ()
    key: uuid.UUID | None = None


async def test_strict_types_take_what_json_has():
    @tool
    def f(order: Order) -> Any:
        return order

    key = uuid.uuid4()
    given = {"day": "2026-01-02", "colour": "red", "sizes": [1], "key": str(key)}
    expected = Order(day=dt.date(2026, 1, 2), colour=Colour.RED, sizes=(1,), key=key)
    assert await f.call({"order": given}) == expected
    assert await f.call({"order": expected}) == expected
    assert await refusal(f, {"order": {**given, "sizes": ["1"], "day": "soon"}}) == (
        '`order.day` must be a string in date format, found the string "soon". '
        '`order.sizes[0]` must be an integer, found the string "1".'
    )
    assert await refusal(f, {"order": {"day": "2026-01-02"}}) == "`order.colour` is required but missing."
    assert "`order.colour` must be one of" in await refusal(f, {"order": {**given, "colour": "\ud800"}})


async def test_defaults_are_the_functions_own_objects():
    marker = object()

    @tool
    def f(x: Any = marker, y: list[int] = [1]) -> Any:  # noqa: B006
        return x, y

    assert await f.call({}) == (marker, [1])


async def test_keyword_arguments_of_any_name():
    @tool
    def f(a: int, **extra: int) -> Any:
        """Do.

        Args:
            a: The first.
            **extra: More.
        """
        return a, extra

    @tool
    def g(**extra) -> Any:
        return extra

    assert f.parameters["additionalProperties"] == {"type": "integer"}
    assert await f.call({"a": 1, "argument_0": "2", "b": 3}) == (1, {"argument_0": 2, "b": 3})
    assert await refusal(f, {"a": 1, "b": "x"}) == '`b` must be an integer, found the string "x".'
    assert g.parameters == {"type": "object", "properties": {}, "additionalProperties": True}
    assert await g.call({"x": [1]}) == {"x": [1]}


async def test_positional_only_parameters():
    @tool
    def f(a: int, b: int = 2, /, c: int = 3) -> Any:
        return a, b, c

    assert await f.call({"a": 1, "c": 5}) == (1, 2, 5)
    assert await f.call({"a": 1, "b": 4}) == (1, 4, 3)


class Counter:
    """Counts."""

    def __init__(self, start: int) -> None:
        self.start = start

    def add(self, number: int) -> int:
        """Add a number.

        :param number: What to add.
        """
        return self.start + number

    @classmethod
    def zero(cls, number: int) -> int:
        return number

    @staticmethod
    def twice(number: int) -> int:
        return number * 2

    def __call__(self, number: int) -> int:
        """Count on."""
        return self.start + number


class Shop:
    class Ticket(BaseModel):
        number: int

    def place(self, ticket: Ticket) -> int:
        return ticket.number

    def __call__(self, tickets: list[Ticket]) -> int:
        return len(tickets)


class Branch(Shop):
    pass


async def test_types_that_stand_in_the_class_of_a_method_are_found():
    place = Tool.from_function(Branch().place)
    assert place.parameters["properties"]["ticket"] == {"$ref": "#/$defs/Ticket"}
    assert await place.call({"ticket": {"number": 3}}) == 3
    assert await Tool.from_function(functools.partial(Shop().place)).call({"ticket": {"number": 4}}) == 4
    assert await Tool.from_function(Shop()).call({"tickets": [{"number": 1}]}) == 1


async def test_methods_partials_and_callable_objects():
    method = Tool.from_function(Counter(1).add)
    assert method.name == "add"
    assert method.parameters["properties"] == {"number": {"type": "integer", "description": "What to add."}}
    assert await method.call({"number": 2}) == 3
    assert await Tool.from_function(Counter.zero).call({"number": 2}) == 2
    assert await Tool.from_function(Counter.twice).call({"number": 2}) == 4
    called = Tool.from_function(Counter(5))
    assert (called.name, called.description) == ("Counter", "Count on.")
    assert await called.call({"number": "2"}) == 7
    part = Tool.from_function(functools.partial(create_issue.execute.function, body="!"))
    assert part.name == "create_issue"
    assert part.description.startswith("Create an issue")
    assert part.parameters["properties"]["body"]["default"] == "!"
    assert await part.call({"repo": "r", "title": "t"}) == "r: t!"


async def test_wrapped_functions_show_what_they_wrap():
    def loud(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs).upper()

        return wrapper

    @tool
    @loud
    def greet(name: str) -> str:
        """Greet."""
        return f"hi {name}"

    assert greet.parameters["required"] == ["name"]
    assert await greet.call({"name": "bo"}) == "HI BO"


async def test_local_types_and_string_annotations_are_found():
    class Local(BaseModel):
        x: int

    alias = Literal["a", "b"]

    @tool
    def f(one: Local, many: list[Local], choice: alias, quoted: "Optional[Local]" = None) -> Any:  # noqa: UP037, UP045
        return one, many, choice, quoted

    assert await f.call({"one": {"x": 1}, "many": [{"x": 2}], "choice": "a"}) == (
        Local(x=1), [Local(x=2)], "a", None,
    )  # fmt: skip


if sys.version_info >= (3, 12):  # the syntax is new there

    async def test_type_parameters_are_found():
        module = {}
        exec("from __future__ import annotations\ndef first[T: int](of: list[T]) -> T: return of[0]", module)
        made = Tool.from_function(module["first"])
        assert made.parameters["properties"] == {"of": {"type": "array", "items": {"type": "integer"}}}
        assert await made.call({"of": [1]}) == 1


def test_a_name_that_the_enclosing_function_never_gets_to_define_is_missed():
    def f(x: later):
        return later

    with pytest.raises(InvalidToolError, match="'later'"):
        Tool.from_function(f)
    if f is None:
        later = int


def make_tool_with(kind):
    def f(x: kind) -> Any:
        return x, kind

    return f


async def test_names_of_an_enclosing_function_that_has_returned_are_found():
    made = Tool.from_function(make_tool_with(int))
    assert (await made.call({"x": "1"}))[0] == 1


# --- context -----------------------------------------------------------------------------------------


def context_last(x: int, run: ToolContext) -> Any:
    return x, run


def context_first(run: ToolContext | None, x: int) -> Any:
    return x, run


def context_optional(x: int, *, run: Annotated[Optional[ToolContext], "why"] = None) -> Any:  # noqa: UP045
    return x, run


def context_hidden(x: int, run: Hidden) -> Any:
    return x, run


def context_quoted(run: "ToolContext", /, x: int) -> Any:  # noqa: UP037
    return x, run


@pytest.mark.parametrize(
    "function", [context_last, context_first, context_optional, context_quoted], ids=lambda f: f.__name__
)
async def test_the_context_is_given_and_not_in_the_schema(function):
    made = Tool.from_function(function)
    assert list(made.parameters["properties"]) == ["x"]
    context = ToolContext(thread_id="t", context={"plan": "pro"})
    assert await made.call({"x": 1}, context) == (1, context)
    assert await made.call({"x": 1}) == (1, ToolContext())
    assert await refusal(made, {"x": 1, "run": {}}) == '`run` is not a known field; known are "x".'


def test_a_context_that_only_a_type_checker_imports():
    with pytest.raises(InvalidToolError, match="annotation 'Hidden', but name 'Hidden' is not defined"):
        Tool.from_function(context_hidden)

    def f(run, x):
        pass

    function = type(f)(f.__code__, {"__builtins__": __builtins__})
    function.__annotations__ = {"run": "ToolContext | None", "x": "int"}
    assert list(properties(function)) == ["x"]


# --- docstrings --------------------------------------------------------------------------------------


def google(x: int, y: int):
    """Add numbers.

    Carefully.

    Args:
        x (int): First one,
            on two lines.
        y: Second.
    """


def numpy_style(x: int, y: int):
    """Add numbers.

    Carefully.

    Parameters
    ----------
    x : int
        First one,
        on two lines.
    y : int
        Second.
    """


def rest(x: int, y: int):
    """Add numbers.

    Carefully.

    :param x: First one,
        on two lines.
    :param int y: Second.
    """


@pytest.mark.parametrize("function", [google, numpy_style, rest], ids=lambda f: f.__name__)
def test_every_style_of_docstring_is_read(function):
    made = Tool.from_function(function)
    assert made.description == "Add numbers.\n\nCarefully."
    assert made.parameters["properties"]["x"]["description"] == "First one, on two lines."
    assert made.parameters["properties"]["y"]["description"] == "Second."


def test_parameters_of_one_line_and_of_other_sections():
    def f(x: int, y: int, z: int = 0):
        """Add.

        Parameters
        ----------
        x, y : int
            Both.
        """

    def g(x: int, *, y: int, z: int = 0):
        """Add.

        Args:
            x: First.

        Keyword Args:
            y: Second.
        """

    assert [one.get("description") for one in properties(f).values()] == ["Both.", "Both.", None]
    assert [one.get("description") for one in properties(g).values()] == ["First.", "Second.", None]


@pytest.mark.parametrize(
    ("text", "description"),
    [
        (None, ""),
        ("One line.", "One line."),
        ("First\nsecond line: with a colon.", "First\nsecond line: with a colon."),
        (":param x", ":param x"),
        ("Do.\n\n:param x", "Do.\n\n:param x"),
        ("Do.\n\n: : x", "Do.\n\n: : x"),
    ],
)
def test_descriptions(text, description):
    def f():
        pass

    f.__doc__ = text
    assert Tool.from_function(f).description == description


# --- what cannot be a tool ---------------------------------------------------------------------------


def star(*paths: str):
    pass


def opaque(x: int, thing: Opaque):
    pass


def undefined(x: Missing):  # noqa: F821
    pass


def unreadable(x: "not a type ]"):  # noqa: F722
    pass


def unpacked(**options: Unpack[Options]):
    pass


def generator():
    yield 1


async def async_generator():
    yield 1


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (star, r"'star' takes \*paths.*`paths: list\[\.\.\.\]`"),
        (opaque, "parameter 'thing' of 'opaque' has the type.*Opaque.*no JSON Schema"),
        (undefined, "parameter 'x' of 'undefined'.*'Missing'.*not defined"),
        (unreadable, "parameter 'x' of 'unreadable' has an annotation that cannot be read"),
        (unpacked, r"Unpack\[\.\.\.\]: name its parameters one by one"),
        (generator, "'generator' is a generator"),
        (async_generator, "'async_generator' is a generator"),
        (Counter.add, r"method without its object: use Tool\.from_function\(instance\.method\)"),
        (3, "no readable signature"),
    ],
)
def test_what_cannot_be_a_tool_says_why(function, match):
    with pytest.raises(InvalidToolError, match=match):
        Tool.from_function(function)


def test_a_pattern_that_nothing_reads_is_named():
    def f(x: int, word: Annotated[str, Field(pattern="(?=a)")]):
        pass

    with pytest.raises(InvalidToolError, match=r"(?s)parameter 'word' of .*look-around") as caught:
        Tool.from_function(f)
    assert "\n\n" not in str(caught.value)


def test_a_type_that_validates_but_has_no_schema_is_named():
    def f(x: int, call: Callable[[], int]):
        pass

    with pytest.raises(InvalidToolError, match=r"parameter 'call' of .* has the type .*no JSON Schema"):
        Tool.from_function(f)


# --- what a model gets wrong -------------------------------------------------------------------------


def even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even.")
    return number


def never(value: Any) -> Any:
    raise PydanticCustomError("own", "nothing fits {value}", {"value": value})


@tool
def check_me(
    number: int = 0,
    choice: Literal["a", "b"] = "a",
    item: Item | None = None,
    pet: Union[Cat, Dog, None] = None,  # noqa: UP007
    tagged: Annotated[Union[Cat, Dog], Field(discriminator="kind")] | None = None,  # noqa: UP007
    day: dt.date | None = None,
    moment: dt.datetime = dt.datetime(2020, 1, 1),
    pair: tuple[int, str] = (1, "a"),
    table: dict[str, int] = {},  # noqa: B006
    point: Point | None = None,
    even_number: Annotated[int, AfterValidator(even)] = 0,
    custom: Annotated[int, AfterValidator(never)] = 0,
    mapping_keys: dict[int, int] = {},  # noqa: B006
    past: PastDate | None = None,
    aware: AwareDatetime | None = None,
    short: Annotated[dt.timedelta, Field(le=dt.timedelta(hours=1))] = dt.timedelta(0),
    price: Annotated[Decimal, Field(max_digits=3)] = Decimal(0),
    path: Path = Path(),
    sequence: Sequence[int] = (),
    inner: Json[Any] = None,
) -> str:
    return "ok"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"number": "x"}, '`number` must be an integer, found the string "x".'),
        ({"number": 1.5}, "`number` must be an integer, found the number 1.5."),
        ({"choice": "c"}, '`choice` must be one of "a", "b", found the string "c".'),
        ({"item": {"price": -1}}, "`item.price` must be at least 0, found the number -1."),
        ({"item": {"price": 1, "parts": [{"price": "x"}]}},
         '`item.parts[0].price` must be a number, found the string "x".'),
        ({"item": {}}, "`item.price` is required but missing."),
        ({"pet": {"kind": "cat", "lives": "x"}}, '`pet.lives` must be an integer, found the string "x".'),
        ({"pet": {"kind": "bird"}}, '`pet.kind` must be one of "cat", "dog", found the string "bird".'),
        ({"pet": 3}, "`pet` must be an object or null, found the number 3."),
        ({"tagged": {"kind": "bird"}}, '`tagged.kind` must be one of "cat", "dog", found the string "bird".'),
        ({"tagged": {"kind": "dog"}}, "`tagged.name` is required but missing."),
        ({"day": "soon"}, '`day` must be a string in date format or null, found the string "soon".'),
        ({"moment": "soon"}, '`moment` must be a string in date-time format, found the string "soon".'),
        ({"pair": [1]}, "`pair` must be an array of at least 2 items, found the array [1]."),
        ({"table": {"a": "x"}}, '`table.a` must be an integer, found the string "x".'),
        ({"point": {"x": 1, "z": 2}}, '`point.z` is not a known field; known are "y".'),
        ({"even_number": 3}, "`even_number` is not valid: must be even."),
        ({"custom": 3}, "`custom` is not valid: nothing fits 3."),
        ({"numbr": 3}, "`numbr` is not a known field (did you mean `number`?)."),
        ({"mapping_keys": {"x": 1}}, "`mapping_keys.x` has a name that does not fit here."),
        ({"past": "2999-01-01"}, "`past` is not valid: Date should be in the past."),
        ({"aware": "2020-01-01T00:00"}, "`aware` is not valid: Input should have timezone info."),
        ({"short": "PT2H"}, "`short` is not valid: Input should be less than or equal to 1 hour."),
        ({"price": "12.345"},
         "`price` is not valid: Decimal input should have no more than 3 digits in total."),
        ({"price": "x"}, "`price` is not valid: Input should be a valid decimal."),
        ({"path": 3}, "`path` must be a string, found the number 3."),
        ({"sequence": "12"}, '`sequence` must be an array, found the string "12".'),
        ({"inner": "{"},
         "`inner` is not valid: Invalid JSON: EOF while parsing an object at line 1 column 1."),
    ],
)  # fmt: skip
async def test_each_problem_is_one_sentence_in_the_words_of_json(arguments, text):
    assert await refusal(check_me, arguments) == text
    for python in ("pydantic", "http", "dict", "Item", "Cat,", "datetime", "type=", "str,"):
        assert python not in text


async def test_nested_values_encoded_as_text_are_decoded():
    @tool
    def f(item: Item, names: list[str], text: str = "") -> Any:
        return item, names, text

    assert await f.call({"item": '{"price": 1}', "names": '["a"]', "text": "[1]"}) == (
        Item(price=1),
        ["a"],
        "[1]",
    )
    assert await refusal(f, {"item": "cheap", "names": "[1]"}) == (
        '`item` must be an object, found the string "cheap". '
        '`names` must be an array, found the string "[1]".'
    )


async def test_an_error_of_the_function_is_not_one_of_the_arguments():
    @tool
    def f(x: int) -> int:
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside") as caught:
        await f.call({"x": 1})
    assert not isinstance(caught.value, ToolArgumentsError)


def bare_context(context, text: str = ""): ...
def bare_ctx(text: str, ctx=None): ...


@pytest.mark.parametrize("function", [bare_context, bare_ctx])
def test_a_context_without_an_annotation_is_refused_with_both_ways_out(function):
    with pytest.raises(InvalidToolError, match=r"annotate it as ToolContext .* or with its type"):
        Tool.from_function(function)
    with pytest.raises(InvalidToolError, match=rf"CallableProvider\({function.__name__}\)"):
        Tool.from_function(function)


def test_a_context_that_says_what_it_is_is_taken():
    def tell(context: str, ctx: ToolContext) -> str: ...

    assert list(Tool.from_function(tell).parameters["properties"]) == ["context"]


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize(
    ("given", "got"),
    [
        ({"one": "2"}, {"one": 2}),
        ({"one": " 2 "}, {"one": 2}),
        ({"one": 1, "either": "3"}, {"one": 1, "either": 3}),
        ({"one": 1, "either": "a"}, {"one": 1, "either": "a"}),
        ({"one": 1, "maybe": "2"}, {"one": 1, "maybe": 2}),
        ({"one": 1, "many": ["1", 2]}, {"one": 1, "many": [1, 2]}),
        ({"one": 1, "yes": "True"}, {"one": 1, "yes": True}),
        ({"one": 1, "level": "2"}, {"one": 1, "level": Level.HIGH}),
    ],
)
async def test_choices_among_numbers_take_them_in_strings_as_numbers_do(given, got):
    @tool
    def choose(
        one: Literal[1, 2],
        either: Literal["a", 3] = "a",
        maybe: Literal[1, 2] | None = None,
        many: Sequence[Literal[1, 2]] = (),
        yes: Literal[True] = True,
        level: Level = Level.LOW,
    ) -> dict[str, Any]:
        """Choose."""
        return {key: value for key, value in locals().items() if key in given}

    assert await choose.call(given) == got


@pytest.mark.parametrize("given", ["3", "", "one", "1e0", "null", [1]])
async def test_what_is_no_choice_stays_refused(given):
    @tool
    def choose(one: Literal[1, 2]) -> int:
        """Choose."""
        return one

    with pytest.raises(ToolArgumentsError, match="`one` must be one of 1, 2, found"):
        await choose.call({"one": given})


async def test_mutable_defaults_are_fresh_at_each_call():
    @tool
    def collect(into: list[int] = [], seen: dict[str, list[int]] = {"a": []}) -> int:  # noqa: B006
        """Collect."""
        into.append(1)
        seen["a"].append(1)
        return len(into) + len(seen["a"])

    assert [await collect.call() for _ in range(3)] == [2, 2, 2]


def test_a_function_without_a_docstring_is_told_once(caplog):
    def nameless(of: int) -> int:
        return of

    for _ in range(3):
        Tool.from_function(nameless)
    Tool.from_function(nameless, description="Has one.")
    (record,) = caplog.records
    assert "the tool 'nameless' has no description" in record.message
    assert "nameless, or give description=" in record.message


def test_an_option_that_is_not_there_is_told():
    with pytest.raises(InvalidToolError, match="a tool has no option 'tagz': did you mean 'tags'"):
        tool(tagz={"a"})(len)
    with pytest.raises(
        InvalidToolError, match="a tool has no option 'colour': there are name, description, "
    ):
        Tool.from_function(len, colour="red")
    with pytest.raises(InvalidToolError, match="a tool has no option 'tag'"):
        Tool.from_openai({"name": "a"}, tag=["x"])
    with pytest.raises(InvalidToolError, match="did you mean 'execute'"):
        Tool("a").replace(exekute=print)
    with pytest.raises(InvalidToolError, match=r"found 'weather'; options have names: @tool"):
        tool("weather")


def test_a_local_type_of_a_factory_is_made_a_tool_in_there():
    def factory(*, made_here: bool) -> Any:
        class Local(BaseModel):
            a: int

        def take(x: Local) -> int:
            """Take."""
            return x.a

        return tool(take) if made_here else take

    assert factory(made_here=True).parameters["properties"]["x"]
    with pytest.raises(InvalidToolError, match="make the tool in there"):
        Tool.from_function(factory(made_here=False))


async def test_an_unknown_key_of_a_typed_dict_is_named():
    class Point(TypedDict):
        x: int
        y: int

    @tool
    def plot(points: list[Point]) -> int:
        """Plot."""
        return len(points)

    with pytest.raises(
        ToolArgumentsError, match=r"`points\[0\].z` is not a known field; known are \"x\", \"y\""
    ):
        await plot.call({"points": [{"x": 1, "y": 2, "z": 3}]})
