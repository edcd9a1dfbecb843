import base64
import json

import pytest
from mcp.types import CallToolResult, TextContent

from tool_search_processor.providers.mcp.rendering import cut, render_result

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(73)) * 4).decode()
NOTE = "[image/png, 300 bytes, not shown]"


def result(*texts, **fields):
    return CallToolResult(content=[TextContent(type="text", text=text) for text in texts], **fields)


def test_texts_stand_one_below_the_other():
    rendered = render_result(result("one", "two"), limit=None)
    assert rendered == "one\ntwo"
    assert rendered.content == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert rendered.structured_content is None


@pytest.mark.parametrize(
    ("structured", "texts"),
    [
        ({"name": "Zoë", "n": 1}, ['{\n  "n": 1, "name": "Zoë"}']),
        ({"result": "three words here"}, ["three words here"]),
        ({"result": [1, 2]}, ["[1, 2]"]),
        ({"result": [{"a": 1}, "b"]}, ['{"a": 1}', "b"]),
        ({"summary": "Deleted 3 rows.", "rows": 3}, [" Deleted 3 rows.\n"]),
        ([1, {"a": [None]}], ['[1, {"a": [null]}]']),
    ],
)
def test_a_text_that_says_the_same_as_the_structured_content_is_not_repeated(structured, texts):
    rendered = render_result(result(*texts, structured_content=structured), limit=None)
    assert json.loads(rendered) == structured
    assert rendered.structured_content == structured
    assert [block["text"] for block in rendered.content] == texts


@pytest.mark.parametrize(
    ("structured", "texts", "shown"),
    [
        ({"chapters": ["one"]}, ["Two chapters read."], '{"chapters": ["one"]}\nTwo chapters read.'),
        ({"a": 1}, ['{"a": 1}', '{"a": 2}'], '{"a": 1}\n{"a": 2}'),
        ({}, ["Deleted 3 rows."], "Deleted 3 rows."),
        ({}, [], "{}"),
        (0, ["No rows."], "0\nNo rows."),
        (None, ["  "], "The tool was run and returned nothing."),
        (None, [], "The tool was run and returned nothing."),
    ],
)
def test_what_stands_beside_structured_content_is_shown_and_emptiness_is_told(structured, texts, shown):
    assert render_result(result(*texts, structured_content=structured), limit=None) == shown


IMAGE = {"type": "image", "mimeType": "image/png", "data": PICTURE}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (IMAGE, {**IMAGE, "data": NOTE}),
        ({**IMAGE, "caption": "Sales"}, {**IMAGE, "data": NOTE, "caption": "Sales"}),
        ({"a": [{"b": [IMAGE]}]}, {"a": [{"b": [{**IMAGE, "data": NOTE}]}]}),
        ({"type": "image", "data": PICTURE}, {"type": "image", "data": "[image, 300 bytes, not shown]"}),
        (
            {"source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
            {"source": {"type": "base64", "media_type": "image/png", "data": NOTE}},
        ),
        ({"uri": "a://b", "blob": "AAAA"}, {"uri": "a://b", "blob": "[unknown type, 3 bytes, not shown]"}),
        ({"url": f"data:image/png;base64,{PICTURE}"}, {"url": NOTE}),
        ({"html": f"<img src='data:image/png;base64,{PICTURE}'> A"}, {"html": f"<img src='{NOTE}'> A"}),
        ({"screenshot": PICTURE}, {"screenshot": NOTE}),
    ],
)
def test_media_in_structured_content_is_told_by_kind_and_size(given, shown):
    rendered = render_result(result(structured_content={"result": given}), limit=None)
    assert json.loads(rendered) == {"result": shown}
    assert rendered.structured_content == {"result": given}


@pytest.mark.parametrize(
    "given",
    [
        {"mimeType": "text/plain", "data": "hello"},
        {"mimeType": "application/json", "data": "1234"},
        {"contentType": "article", "data": "hello"},
        {"type": "blob", "sha": "3f2a9c"},
        {"blob": "3f2a9c"},
        {"type": "image", "data": "not base64: a path"},
        {"type": ["image"], "data": 7},
        {"sequence": "ACGT" * 100},
    ],
)
def test_data_that_is_no_media_stays(given):
    assert json.loads(render_result(result(structured_content=given), limit=None)) == given


def test_half_characters_become_one_that_a_wire_carries():
    assert render_result(result("a\ud800"), limit=None) == "a\ufffd"


def test_what_is_too_long_says_so():
    assert cut("abcdef", limit=4) == "abcd\n[cut: 4 of 6 characters]"
    assert cut("abcd", limit=4) == "abcd"
    assert render_result(result("abcdef"), limit=4) == "abcd\n[cut: 4 of 6 characters]"


def test_an_error_keeps_its_structured_content_and_one_without_words_gets_some():
    def words(*texts, **fields):
        return render_result(result(*texts, is_error=True, **fields), limit=None)

    assert words("no") == "no"
    assert words(structured_content={"code": "SPENT"}) == '{"code": "SPENT"}'
    assert words("no", structured_content={"code": 1}) == '{"code": 1}\nno'
    assert words(" ") == "the tool failed without saying why."
