"""Values of any origin become JSON containers that share nothing with their source."""

from __future__ import annotations

import dataclasses
from types import MappingProxyType, SimpleNamespace

import pytest
from pydantic import BaseModel

from tool_search_processor.wire.plain import clean_text, field_of, plain, text_of, visible_text


class Model(BaseModel):
    name: str
    note: str | None = None


class Text(str):
    __slots__ = ()


@dataclasses.dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (MappingProxyType({"a": MappingProxyType({})}), {"a": {}}),
        (Model(name="n"), {"name": "n"}),
        (Point(1), {"x": 1}),
        (SimpleNamespace(a=1, _hidden=2), {"a": 1}),
        (b"ab", "YWI="),
        ({1: None}, {"1": None}),
        ({"f": 1.5, "t": True}, {"f": 1.5, "t": True}),
        (Text("t"), "t"),
        (complex(1, 2), "(1+2j)"),
    ],
)
def test_plain_values(value, expected):
    assert plain(value) == expected


def test_plain_copies_every_container():
    source = {"a": [{"b": 1}]}
    copied = plain(source)
    copied["a"][0]["b"] = 2
    assert source == {"a": [{"b": 1}]}


def test_field_of_mapping_and_object():
    assert field_of({"a": 1}, "a") == field_of(SimpleNamespace(a=1), "a") == 1
    assert field_of({}, "a") is None
    assert field_of(None, "a") is None


def test_clean_text_replaces_lone_surrogates():
    assert clean_text("a\ud83db") == "a\ufffdb"
    assert clean_text("a\ud83d\ude00b") == "a😀b"
    assert clean_text("aé😀") == "aé😀"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, ""),
        ("a", "a"),
        ([{"type": "text", "text": "a"}, {"type": "image_url"}, "b"], "a\nb"),
        (12, "12"),
    ],
)
def test_text_of_content(content, expected):
    assert text_of(content) == expected


def test_what_is_seen_of_halves_of_characters():
    assert visible_text("a\ud800b") == "ab"
