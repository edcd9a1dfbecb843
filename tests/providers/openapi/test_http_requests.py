"""Arguments as requests: where each goes, and what no argument can become."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.providers.openapi.apis import body, definitions, in_path, query
from tool_search_processor.errors import ToolArgumentsError, ToolCallError
from tool_search_processor.providers.openapi.http_requests import build_request

TEXT = {"type": "string"}
PET = {"type": "object", "properties": {"name": TEXT, "age": {"type": "integer"}}}
HEADER = {"name": "X-Trace", "in": "header", "schema": TEXT}


def request(operation, arguments, *, path="/p", method="post", **parts):
    """Return the request of one operation."""
    (one,) = definitions({path: {method: operation}}, **parts)
    return build_request(one.route, arguments)


def test_each_argument_goes_to_its_place():
    sent = request(
        {
            "parameters": [
                in_path("id"),
                query("id"),
                query("none"),
                HEADER,
                {**query("sid"), "in": "cookie"},
            ],
            **body(PET),
        },
        {
            "id": "a b",
            "id__query": [1, 2],
            "none": None,
            "X-Trace": "t",
            "sid": "s",
            "name": "Rex",
            "age": None,
        },
        path="/p/{id}/x",
    )
    assert (sent.method, sent.target) == ("POST", "/p/a%20b/x?id=1&id=2")
    assert sent.headers == {"accept": "*/*", "x-trace": "t", "content-type": "application/json"}
    assert sent.cookies == ("sid=s",)
    assert json.loads(sent.content) == {"name": "Rex", "age": None}


def test_a_parameter_that_is_the_whole_query_is_sent_as_a_form():
    schema = {"type": "object", "properties": {"a": TEXT, "l": {"type": "array", "items": TEXT}}}
    content = {"application/x-www-form-urlencoded": {"schema": schema}}
    whole = {"name": "all", "in": "querystring", "content": content, "required": True}
    sent = request({"parameters": [whole]}, {"all": {"a": "1 2&"}}, version="3.2.0")
    assert sent.target == "/p?a=1%202%26"


def test_a_parameter_in_an_unknown_place_is_told(caplog):
    assert request({"parameters": [{"name": "a", "in": "matrix"}]}, {}).target == "/p"
    assert "its parameter 'a' is left out: there is no place 'matrix'" in caplog.text


@pytest.mark.parametrize(
    ("template", "value", "target"),
    [
        ("/p/{id}", "a/b", "/p/a%2Fb"),
        ("/p/{id}", "a?b#c%", "/p/a%3Fb%23c%25"),
        ("/p/{id}", "main.py", "/p/main.py"),
        ("/p/{id}", "..a", "/p/..a"),
        ("/p/{id}", "\r\nHost: evil", "/p/%0D%0AHost%3A%20evil"),
        ("/p/{id}", "//evil.example", "/p/%2F%2Fevil.example"),
        ("/p/{id}:run", 3, "/p/3:run"),
        ("/p ä/{id}", 1, "/p%20%C3%A4/1"),
        ("/p/{id}?comp=list", 1, "/p/1?comp=list"),
        ("/p/{id}#anchor", 1, "/p/1"),
    ],
)
def test_paths(template, value, target):
    assert request({"parameters": [in_path("id", {})]}, {"id": value}, path=template).target == target


@pytest.mark.parametrize("value", ["..", ".", "../admin", "a/../b", "a\\..\\b", "a/.", "%2e/.."])
def test_a_path_cannot_be_climbed(value):
    with pytest.raises(
        ToolArgumentsError, match=r"^`id` must not hold `\.` or `\.\.` as a step of a path\.$"
    ):
        request({"parameters": [in_path("id")]}, {"id": value}, path="/p/{id}")


@pytest.mark.parametrize("value", ["", []])
def test_an_empty_step_would_be_another_path(value):
    with pytest.raises(ToolArgumentsError, match=r"^`id` must not be empty"):
        request({"parameters": [in_path("id", {})]}, {"id": value}, path="/p/{id}", method="delete")


def test_nor_by_the_document():
    with pytest.raises(ToolCallError, match=r"The path /p/\.\./\{a\} has"):
        request({}, {"a": "x"}, path="/p/../{a}")
    assert (
        request({"parameters": [in_path("b", style="label")]}, {"a": "x", "b": "y"}, path="/p/{a}{b}").target
        == "/p/x.y"
    )


@pytest.mark.parametrize("arguments", [{}, {"id": None}])
def test_a_path_needs_all_its_arguments(arguments):
    with pytest.raises(ToolArgumentsError, match=r"^`id` is required but missing"):
        request({"parameters": [in_path("id")]}, arguments, path="/p/{id}")


@pytest.mark.parametrize("value", ["a\r\nHost: evil", "a\nb", "a\0", "a\x7f", ["a", "b\rc"]])
def test_a_header_holds_one_line(value):
    with pytest.raises(ToolArgumentsError, match=r"^`X-Trace` must not hold line breaks"):
        request({"parameters": [{**HEADER, "schema": {}}]}, {"X-Trace": value})


@pytest.mark.parametrize(
    ("template", "parameters", "arguments", "target"),
    [
        ("/p?q={q}", [query("q")], {"q": "x y&z"}, "/p?q=x%20y%26z"),
        ("/p?q={q}", [in_path("q")], {"q": "x y"}, "/p?q=x%20y"),
        ("/p?q={q}", [], {"q": "ü"}, "/p?q=%C3%BC"),
        ("/p?q={q}&v=1", [query("q")], {}, "/p?v=1"),
        ("/p?q={q}", [query("q")], {}, "/p"),
        ("/p?q={q}", [query("q"), query("r")], {"q": 1, "r": 2}, "/p?q=1&r=2"),
        ("/p?q={q}", [query("q", {"type": "array"})], {"q": [1, 2]}, "/p?q=1&q=2"),
        ("/p?ids={q}", [query("q", {"type": "array"}, explode=False)], {"q": [1, 2]}, "/p?ids=1,2"),
        ("/p?f=a:{q}", [query("q")], {"q": "x&y"}, "/p?f=a:x%26y"),
        ("/p/{q}?r={r}", [in_path("q"), query("r")], {"q": "a", "r": "b"}, "/p/a?r=b"),
        ("/p/{q}?q={q}", [in_path("q")], {"q": "a"}, "/p/a?q=a"),
        ("/p?{q}", [query("q")], {"q": "a=b"}, "/p?a%3Db"),
        ("/p?v=ä b", [], {}, "/p?v=%C3%A4%20b"),
        ("/p#{q}", [], {}, "/p"),
    ],
)
def test_a_query_in_a_paths_key(template, parameters, arguments, target):
    assert request({"parameters": parameters}, arguments, path=template).target == target


@given(st.text(), st.text())
def test_whatever_a_model_writes_path_and_query_stay_apart(step, word):
    operation = {"parameters": [in_path("id"), query("q")]}
    try:
        sent = request(operation, {"id": step, "q": word}, path="/p/{id}/end")
    except ToolArgumentsError:
        return
    path, _, rest = sent.target.partition("?")
    assert sent.target.isascii()
    assert path.split("/")[:2] == ["", "p"]
    assert path.split("/")[3:] == ["end"]
    assert rest.startswith("q=")
    assert not set(rest) & set("&#?/\r\n ")


@pytest.mark.parametrize(
    ("operation", "arguments", "content"),
    [
        (body(PET), {}, b"{}"),
        (body(PET, required=False), {}, None),
        (body(PET, required=False), {"age": 3}, b'{"age":3}'),
        (body({"type": "array"}), {"body": [1, "\u00fc\ud83d"]}, '[1,"ü\ufffd"]'.encode()),
        (body({"type": "array"}, required=False), {}, None),
        (body({"type": "array"}, required=False), {"body": None}, None),
        (body({"type": "array", "nullable": True}), {"body": None}, b"null"),
        (body({"properties": {"a[b]": {}}}), {"a_b": 1}, b'{"a[b]":1}'),
        (body(TEXT, kind="text/plain"), {"body": "hü"}, "hü".encode()),
        (body({}, kind="application/octet-stream"), {"body": "data:;base64,AAH/"}, b"\x00\x01\xff"),
        (body({}, kind="application/octet-stream"), {"body": "data:text/plain;charset=utf-8,a%20b"}, b"a b"),
        (body({}, kind="text/plain"), {"body": "data: none"}, b"data: none"),
    ],
)
def test_bodies(operation, arguments, content):
    sent = request(operation, arguments)
    assert sent.content == content
    assert ("content-type" in sent.headers) == (content is not None)


def test_a_body_that_is_given_is_whole():
    operation = body({**PET, "required": ["name"]}, required=False)
    assert request(operation, {}).content is None
    assert request(operation, {"name": "Rex"}).content == b'{"name":"Rex"}'
    with pytest.raises(ToolArgumentsError, match=r"^`name` is required where other fields of the body"):
        request(operation, {"age": 3})


@pytest.mark.parametrize(
    ("kind", "value", "sent_kind"),
    [
        ("application/json", "x", "application/json"),
        ("text/markdown", "x", "text/markdown"),
        ("image/*", "data:image/png;base64,AA==", "image/png"),
        ("image/*", "x", "application/octet-stream"),
        ("text/x\r\nEvil: 1", "x", "text/xEvil: 1"),
    ],
)
def test_the_type_of_a_body(kind, value, sent_kind):
    assert request(body({"type": "string"}, kind=kind), {"body": value}).headers["content-type"] == sent_kind


def test_broken_base64_is_told():
    operation = body({"type": "string", "format": "binary"}, kind="image/png")
    with pytest.raises(ToolArgumentsError, match=r"^`body` is a data: URL whose base64 can't be read"):
        request(operation, {"body": "data:image/png;base64,AAA"})


PNG = "data:image/png;base64,AA=="
FORM = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}


@pytest.mark.parametrize(
    ("encoding", "arguments", "content"),
    [
        ({}, {"a": "x y&z", "b": True, "c": None}, "a=x%20y%26z&b=true"),
        ({}, {"a": [1, 2]}, "a=1&a=2"),
        ({}, {"a": {"k": 1}}, "a=%7B%22k%22%3A1%7D"),
        ({"a": {"style": "form", "explode": False}}, {"a": [1, 2]}, "a=1,2"),
        ({"a": {"style": "spaceDelimited"}}, {"a": [1, 2]}, "a=1%202"),
        ({"a": {"style": "deepObject"}}, {"a": {"k": 1}}, "a%5Bk%5D=1"),
        ({"a": {"contentType": "application/json"}}, {"a": [1]}, "a=%5B1%5D"),
        ({"a": 3, "b": {"style": 3}}, {"b": 1}, "b=1"),
    ],
)
def test_forms(encoding, arguments, content):
    operation = body(FORM, kind="application/x-www-form-urlencoded", encoding=encoding)
    sent = request(operation, arguments)
    assert sent.content.decode() == content
    assert sent.headers["content-type"] == "application/x-www-form-urlencoded"


def test_a_form_that_is_one_argument():
    whole = {**FORM, "additionalProperties": True}
    sent = request(body(whole, kind="application/x-www-form-urlencoded"), {"body": {"a": 1, "z": "ü"}})
    assert sent.content == b"a=1&z=%C3%BC"
    assert request(body({}, kind="application/x-www-form-urlencoded"), {"body": "x"}).content == b""


def test_multipart_forms():
    file = {"type": "string", "format": "binary"}
    files = {"photo": file, "more": {"type": "array", "items": file}}
    form = {"properties": {**files, "name": {}, "tags": {}, "note": {}}}
    encoding = {"note": {"contentType": "text/markdown"}, "photo": {"contentType": "image/gif"}}
    sent = request(
        body(form, kind="multipart/form-data", encoding=encoding),
        {"photo": PNG, "more": ["text", "data:text/csv,a"], "name": "Rex", "tags": [1, {"k": 2}]},
    )
    assert sent.content is None
    assert sent.fields == (
        ("photo", ("photo", b"\0", "image/gif")),
        ("more", ("more", b"text", "application/octet-stream")),
        ("more", ("more", b"a", "text/csv")),
        ("name", (None, b"Rex", None)),
        ("tags", (None, b"1", None)),
        ("tags", (None, b'{"k":2}', "application/json")),
    )
    assert "content-type" not in sent.headers


FILE = {"type": "string", "format": "binary"}
MULTIPART = {"properties": {"f": FILE, "a": {}}}


def part(encoding, value, *, name="a", schema=None):
    """Return the parts that one field of a multipart form becomes."""
    form = {"properties": {**MULTIPART["properties"], **({name: schema} if schema else {})}}
    sent = request(body(form, kind="multipart/form-data", encoding={name: encoding}), {name: value})
    return [(field, content, media_type) for field, (_, content, media_type) in sent.fields]


@pytest.mark.parametrize(
    ("declared", "media_type"),
    [
        ("image/png", "image/png"),
        ("image/gif", "image/gif"),
        ("image/gif, image/png", "image/png"),
        ("image/gif, image/jpeg", "image/gif"),
        ("image/*", "image/png"),
        ("text/*", "image/png"),
        (None, "image/png"),
        ("image/gif\r\nEvil: 1", "image/gifEvil: 1"),
    ],
)
def test_a_file_has_a_media_type_that_the_form_takes(declared, media_type):
    encoding = {} if declared is None else {"contentType": declared}
    assert part(encoding, PNG, name="f") == [("f", b"\0", media_type)]


@pytest.mark.parametrize(
    ("encoding", "value", "parts"),
    [
        ({"style": "form", "explode": False}, ["x", "y,z"], [("a", b"x,y,z", None)]),
        ({"explode": False}, [1, 2], [("a", b"1,2", None)]),
        ({"style": "pipeDelimited"}, ["x", "y"], [("a", b"x|y", None)]),
        ({"style": "form"}, ["x", "y"], [("a", b"x", None), ("a", b"y", None)]),
        ({"style": "deepObject"}, {"k": "v w"}, [("a[k]", b"v w", None)]),
        ({"style": "form"}, "x", [("a", b"x", None)]),
        ({"contentType": "application/json"}, {"k": 1}, [("a", b'{"k":1}', "application/json")]),
        ({"contentType": "application/json"}, "x", [("a", b'"x"', "application/json")]),
        ({"contentType": "application/json"}, '{"k": 1}', [("a", b'{"k": 1}', "application/json")]),
        ({"contentType": "application/json"}, "{x", [("a", b'"{x"', "application/json")]),
        ({"contentType": "application/vnd.x+json"}, {"k": 1}, [("a", b'{"k":1}', "application/vnd.x+json")]),
        ({"contentType": "text/csv"}, "x", [("a", b"x", "text/csv")]),
    ],
)
def test_the_parts_of_a_form_are_written_as_it_says(encoding, value, parts):
    assert part(encoding, value) == parts


def test_a_field_that_is_a_file_or_a_text():
    schema = {"anyOf": [FILE, {"type": "string", "format": "uri"}]}
    form = body({"properties": {"a": schema}}, kind="multipart/form-data")
    assert request(form, {"a": PNG}).fields == (("a", ("a", b"\0", "image/png")),)
    assert request(form, {"a": "https://x.example"}).fields == (("a", (None, b"https://x.example", None)),)
