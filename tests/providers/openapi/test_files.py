"""Files among the fields of a form."""

import pytest

from tests.providers.openapi.apis import body, definitions

FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
BINARY = {"type": "string", "format": "binary"}
NULL = {"type": "null"}
TEXT = {"type": "string"}
REF = {"$ref": "#/components/schemas/File"}


def sent_body(form, **media):
    schemas = {"File": FILE, "Alias": REF, "Form": {"properties": {"f": REF}}, "Loop": {"allOf": [LOOP]}}
    (one,) = definitions(
        {"/p": {"post": body(form, kind="multipart/form-data", **media)}}, components={"schemas": schemas}
    )
    return one.route.body, one.tool.parameters["properties"]


LOOP = {"$ref": "#/components/schemas/Loop"}


@pytest.mark.parametrize(
    "schema",
    [
        FILE,
        BINARY,
        REF,
        {"$ref": "#/components/schemas/Alias"},
        {"anyOf": [FILE, NULL]},
        {"oneOf": [BINARY, {"type": "array", "items": BINARY}]},
        {"allOf": [REF], "description": "D"},
        {"allOf": [{"anyOf": [REF, NULL]}, {"description": "D"}]},
        {"type": "array", "items": REF},
        {"anyOf": [{"type": "array", "items": FILE}, NULL]},
        {"type": ["string", "null"], "format": "binary"},
        {"type": "file"} | BINARY,
    ],
)
def test_a_file_however_it_is_said(schema):
    sent, shown = sent_body({"type": "object", "properties": {"f": schema, "name": TEXT}})
    assert sent.files == {"f"}
    assert "data: URL" in shown["f"]["description"]
    assert shown["name"] == TEXT


@pytest.mark.parametrize(
    "form",
    [
        {"$ref": "#/components/schemas/Form"},
        {
            "allOf": [
                {"$ref": "#/components/schemas/Form"},
                {"properties": {"name": TEXT}, "minProperties": 1},
            ]
        },
        {"anyOf": [{"$ref": "#/components/schemas/Form"}, {"properties": {"url": TEXT}}]},
    ],
)
def test_the_files_of_a_form_that_is_referred_to_or_consists_of_parts(form):
    assert sent_body(form)[0].files == {"f"}


@pytest.mark.parametrize(
    "schema",
    [
        TEXT,
        {"type": "string", "format": "byte"},
        {**FILE, "contentEncoding": "base64"},
        {"type": "string", "contentMediaType": "application/json"},
        {"type": "object", "properties": {"f": FILE}},
        LOOP,
        {"type": "array"},
        3,
    ],
)
def test_what_is_no_file(schema):
    assert sent_body({"properties": {"f": schema}})[0].files == frozenset()


def test_a_file_or_a_text():
    sent, _ = sent_body({"properties": {"f": {"anyOf": [FILE, TEXT]}}})
    assert (sent.files, sent.file_or_text) == (frozenset(), {"f"})


@pytest.mark.parametrize(
    ("schema", "content_type", "is_file"),
    [
        ({}, "image/png", True),
        (TEXT, "image/png, image/jpeg", True),
        (TEXT, "application/octet-stream", True),
        ({"type": "array", "items": {}}, "image/*", True),
        (TEXT, "text/plain", False),
        (TEXT, "application/json", False),
        (TEXT, "application/xml; charset=utf-8", False),
        ({"type": "object"}, "application/octet-stream", False),
        ({}, 3, False),
    ],
)
def test_a_form_says_by_the_media_type_of_a_part_that_it_is_a_file(schema, content_type, is_file):
    sent, _ = sent_body({"properties": {"f": schema}}, encoding={"f": {"contentType": content_type}})
    assert ("f" in sent.files) is is_file


def test_the_content_of_a_body_that_is_referred_to():
    (one,) = definitions(
        {"/p": {"put": body(REF, kind="application/octet-stream")}}, components={"schemas": {"File": FILE}}
    )
    assert one.tool.parameters["properties"]["body"] == {
        **FILE, "description": "Text, or a data: URL for other content."
    }  # fmt: skip
