"""Styles of parameters: the table of the specification (OpenAPI 3.1.1, 4.8.12.5) and what it leaves open."""

import pytest

from tool_search_processor.providers.openapi.routes import Argument
from tool_search_processor.providers.openapi.styles import (
    cookie_text,
    header_text,
    path_text,
    query_parts,
    text_of_value,
)

COLORS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}


def argument(style, *, explode, name="color", place="query", **more):
    return Argument(name=name, wire_name=name, place=place, style=style, explode=explode, **more)


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("matrix", False, "blue", ";color=blue"),
        ("matrix", False, COLORS, ";color=blue,black,brown"),
        ("matrix", False, RGB, ";color=R,100,G,200,B,150"),
        ("matrix", True, "blue", ";color=blue"),
        ("matrix", True, COLORS, ";color=blue;color=black;color=brown"),
        ("matrix", True, RGB, ";R=100;G=200;B=150"),
        ("label", False, "blue", ".blue"),
        ("label", False, COLORS, ".blue,black,brown"),
        ("label", False, RGB, ".R,100,G,200,B,150"),
        ("label", True, "blue", ".blue"),
        ("label", True, COLORS, ".blue.black.brown"),
        ("label", True, RGB, ".R=100.G=200.B=150"),
        ("simple", False, "blue", "blue"),
        ("simple", False, COLORS, "blue,black,brown"),
        ("simple", False, RGB, "R,100,G,200,B,150"),
        ("simple", True, COLORS, "blue,black,brown"),
        ("simple", True, RGB, "R=100,G=200,B=150"),
        ("unknown", False, COLORS, "blue,black,brown"),
        ("simple", False, "a/b.c ?#%", "a%2Fb.c%20%3F%23%25"),
        ("simple", False, ["a,b", "c"], "a%2Cb,c"),
    ],
)
def test_path(style, explode, value, expected):
    assert path_text(argument(style, explode=explode, place="path"), value) == expected


@pytest.mark.parametrize(
    ("style", "explode", "value", "expected"),
    [
        ("form", False, "blue", "color=blue"),
        ("form", False, "", "color="),
        ("form", False, COLORS, "color=blue,black,brown"),
        ("form", False, RGB, "color=R,100,G,200,B,150"),
        ("form", True, COLORS, "color=blue&color=black&color=brown"),
        ("form", True, RGB, "R=100&G=200&B=150"),
        ("form", True, {"R": None, "G": 1}, "G=1"),
        ("spaceDelimited", False, COLORS, "color=blue%20black%20brown"),
        ("spaceDelimited", False, RGB, "color=R%20100%20G%20200%20B%20150"),
        ("spaceDelimited", True, COLORS, "color=blue&color=black&color=brown"),
        ("pipeDelimited", False, COLORS, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, RGB, "color=R%7C100%7CG%7C200%7CB%7C150"),
        ("tabDelimited", False, COLORS, "color=blue%09black%09brown"),
        ("deepObject", True, RGB, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", True, {"a": {"b": 1}, "c": None}, "color%5Ba%5D%5Bb%5D=1"),
        ("deepObject", True, ["x", "y"], "color%5B%5D=x&color%5B%5D=y"),
        (
            "deepObject",
            True,
            {"a": [{"b": 1}, {"b": 2}]},
            "color%5Ba%5D%5B0%5D%5Bb%5D=1&color%5Ba%5D%5B1%5D%5Bb%5D=2",
        ),
        ("deepObject", True, "blue", "color=blue"),
        ("form", True, [], ""),
        ("form", False, [], ""),
        ("form", False, {}, ""),
        ("form", True, [{"a": 1}], "color=%7B%22a%22%3A1%7D"),
        ("form", False, "a&b=c#d+e ü", "color=a%26b%3Dc%23d%2Be%20%C3%BC"),
        ("form", False, ["a,b", "c"], "color=a%2Cb,c"),
    ],
)
def test_query(style, explode, value, expected):
    assert "&".join(query_parts(argument(style, explode=explode), value)) == expected


def test_reserved_characters_may_stay_but_for_those_that_end_a_value():
    allowed = argument("form", explode=False, allow_reserved=True)
    assert query_parts(allowed, "a/b?c:d,e&f=g#h+i") == ["color=a/b?c:d,e%26f%3Dg%23h%2Bi"]
    assert query_parts(allowed, ["a,b", "c"]) == ["color=a%2Cb,c"]


def test_names_are_encoded_too():
    assert query_parts(argument("form", explode=True, name="a&b[]"), [1]) == ["a%26b%5B%5D=1"]
    assert path_text(argument("matrix", explode=False, name="a/b"), 1) == ";a%2Fb=1"


@pytest.mark.parametrize(
    ("explode", "value", "expected"),
    [
        (False, "blue", "blue"),
        (False, COLORS, "blue,black,brown"),
        (False, RGB, "R,100,G,200,B,150"),
        (True, RGB, "R=100,G=200,B=150"),
        (False, "a b", "a b"),
    ],
)
def test_header(explode, value, expected):
    assert header_text(argument("simple", explode=explode, place="header"), value) == expected


def test_cookie():
    assert cookie_text(argument("form", explode=True, place="cookie"), "a; b=c") == "color=a%3B%20b%3Dc"
    assert cookie_text(argument("form", explode=False, place="cookie"), COLORS) == "color=blue,black,brown"


def test_json_content_is_json_everywhere():
    value = {"a": ["x", 1], "b": "ü"}
    given = {place: argument("form", explode=True, place=place, is_json=True) for place in ("query", "path")}
    text = "%7B%22a%22%3A%5B%22x%22%2C1%5D%2C%22b%22%3A%22%C3%BC%22%7D"
    assert query_parts(given["query"], value) == [f"color={text}"]
    assert path_text(given["path"], value) == text
    assert header_text(argument("simple", explode=False, is_json=True), [1]) == "[1]"
    assert cookie_text(argument("form", explode=False, is_json=True), "x") == "color=%22x%22"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"), (True, "true"), (None, "null"), (3, "3"), (2.0, "2"), (2.5, "2.5"), (1e30, "1"),
        ([1, "ü"], '[1,"ü"]'), ({"a": 1}, '{"a":1}'), ("\ud83d", "\ufffd"), (float("inf"), "Infinity"),
    ],
)  # fmt: skip
def test_text_of_a_value(value, text):
    assert text_of_value(value).startswith(text)
