"""Whatever a tool returns or raises becomes text."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import itertools
import json
import pathlib
import uuid

import numpy as np
import pytest
from pydantic import BaseModel

from tool_search_processor.errors import ToolArgumentsError, ToolCallError
from tool_search_processor.session.tool_results import (
    cut_result,
    encode_result,
    error_text,
    is_fit_for_the_model,
    read_result,
    told_text,
)
from tool_search_processor.wire.plain import safe_repr


class Model(BaseModel):
    when: dt.date


@dataclasses.dataclass
class Point:
    x: int


class Colour(enum.Enum):
    RED = "red"


class Opaque:
    def __repr__(self):
        return "Opaque()"


class Broken:
    def __repr__(self):
        raise RuntimeError

    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as is", "as is"),
        ("", ""),
        ("a\ud83d", "a\ufffd"),
        (None, "null"),
        (True, "true"),
        ({"a": [1, 2.5, "é"]}, '{"a":[1,2.5,"é"]}'),
        (Model(when=dt.date(2026, 1, 2)), '{"when":"2026-01-02"}'),
        ([Point(1)], '[{"x":1}]'),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), '"2026-01-02T03:04:00Z"'),
        (decimal.Decimal("1.10"), '"1.10"'),
        ({3}, "[3]"),
        (b"text", '"text"'),
        (b"\xff\x00", '"_wA="'),
        (float("nan"), "NaN"),
        ([float("-inf")], "[-Infinity]"),
        (Colour.RED, '"red"'),
        (pathlib.PurePosixPath("/a"), '"/a"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (10**30, "1000000000000000000000000000000"),
        ([Opaque()], '["Opaque()"]'),
        ({"a": Opaque()}, '{"a":"Opaque()"}'),
        (np.array([1, 2]), "[1,2]"),
        ({"n": np.float64(0.5)}, '{"n":0.5}'),
        (Broken(), '"<Broken>"'),
        ({"s": "\ud83d"}, '{"s": "\ufffd"}'),
        ({("a", 1): 2}, '{"a,1":2}'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_encode(value, text):
    assert encode_result(value) == text


def test_a_generator_is_a_list():
    assert encode_result(n for n in range(2)) == "[0,1]"


def test_a_cycle_is_its_repr():
    cycle: list[object] = []
    cycle.append(cycle)
    assert encode_result(cycle) == "[[...]]"


def test_deep_nesting_does_not_raise():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert isinstance(encode_result(deep), str)


def test_a_mapping_keeps_its_order():
    assert list(json.loads(encode_result({"z": 1, "a": 2}))) == ["z", "a"]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("bad\n  value"), "Error: ValueError: bad value"),
        (KeyError(), "Error: KeyError"),
        (ToolArgumentsError("a is missing"), "Error: a is missing"),
        (ToolCallError("404\n  Not Found"), "Error: 404\n  Not Found"),
        (ExceptionGroup("g", [ExceptionGroup("h", [OSError("x")])]), "Error: OSError: x"),
        (ExceptionGroup("g", [OSError("x"), OSError("y")]), "Error: ExceptionGroup: g (2 sub-exceptions)"),
        (ValueError("\ud83d"), "Error: ValueError: \ufffd"),
        (ValueError("x" * 5000), "Error: ValueError: " + "x" * 1000 + "…"),
        (ValueError(Broken()), "Error: ValueError"),
    ],
)
def test_error_text(error, text):
    assert error_text(error) == text


def test_safe_repr():
    assert safe_repr(1) == "1"
    assert safe_repr(Broken()) == "<Broken>"


@pytest.mark.parametrize(
    "make",
    [
        itertools.count,
        lambda: {"numbers": itertools.count()},
        lambda: [itertools.count()],
        lambda: (itertools.count(),),
        lambda: iter(int, 1),
        lambda: itertools.repeat("x"),
    ],
)
def test_an_iterator_without_an_end_is_cut(make):
    text = encode_result(make())
    assert "… and more" in text
    assert len(text) < 100_000


async def test_an_async_iterator_without_an_end_is_cut():
    async def numbers():
        for number in itertools.count():
            yield number

    items = await read_result(numbers())
    assert (items[:2], len(items), items[-1]) == ([0, 1], 10_001, "… and more")


def test_iterators_are_read_once():
    assert encode_result(iter([1, 2])) == "[1,2]"
    assert encode_result({"a": (x for x in "bc"), "d": 1}) == '{"a":["b","c"],"d":1}'


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, RuntimeError])
def test_texts_that_raise_whatever(error):
    class Odd(Exception):  # noqa: N818
        def __repr__(self):
            raise error

        __str__ = __repr__

    assert safe_repr(Odd()) == "<Odd>"
    assert error_text(Odd()) == "Error: Odd"


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("", 1, ""),
        ("abc", 3, "abc"),
        ("abc", None, "abc"),
        ("abcd", 3, "abc\n… (cut: 1 more characters were left out. Ask for less at a time.)"),
    ],
)
def test_a_cut_result_says_how_much_was_left_out(text, limit, cut):
    assert cut_result(text, limit) == cut


def of_another_call():
    error = ToolArgumentsError("a is missing")
    error.ran = True
    return error


@pytest.mark.parametrize(
    ("error", "is_told"),
    [
        (ToolArgumentsError("a is missing"), True),
        (ToolCallError("404"), True),
        (ExceptionGroup("g", [ToolCallError("404")]), True),
        (of_another_call(), False),
        (ExceptionGroup("g", [ToolArgumentsError("a is missing")]), False),
        (OSError("hunter2"), False),
        (ExceptionGroup("g", [ToolCallError("404"), OSError("hunter2")]), False),
    ],
    ids=repr,
)
def test_where_details_are_masked_only_what_was_written_for_the_caller_is_told(error, is_told):
    assert told_text(error, masked="masked") == (error_text(error) if is_told else "masked")
    assert told_text(error, masked=None) == error_text(error)


def test_what_was_written_for_the_model_is_known_inside_a_group_too():
    assert is_fit_for_the_model(ExceptionGroup("g", [ToolCallError("404")]))
    assert not is_fit_for_the_model(OSError("404"))


@pytest.mark.parametrize("count", [9_999, 10_000, 10_001])
async def test_ten_thousand_items_of_an_iterator_are_taken(count):
    async def later():
        for number in range(count):
            yield number

    expected = list(range(count)) if count <= 10_000 else [*range(10_000), "… and more"]
    assert json.loads(encode_result(iter(range(count)))) == expected
    assert await read_result(later()) == await read_result(iter(range(count))) == expected


async def test_what_holds_no_iterator_is_the_same_object():
    for value in ({"a": [1]}, [1], (1,), "text", range(3)):
        assert await read_result(value) is value
    assert await read_result(({"x": 1}, iter("ab"))) == [{"x": 1}, ["a", "b"]]
    assert await read_result({"x": iter("ab"), "y": 1}) == {"x": ["a", "b"], "y": 1}


@pytest.mark.parametrize(("length", "expected"), [(1_000, "x" * 1_000), (1_001, "x" * 1_000 + "…")])
def test_a_long_message_of_an_error_is_cut(length, expected):
    assert error_text(ValueError("x" * length)) == f"Error: ValueError: {expected}"


def test_an_interrupt_while_an_error_is_worded_passes_through():
    class Interrupting(Exception):  # noqa: N818
        def __str__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        error_text(Interrupting())
