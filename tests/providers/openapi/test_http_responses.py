"""Answers: data, texts cut to length, what can't be shown, and failures in words."""

import asyncio
import json

import httpx
import pytest

from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers.openapi.http_responses import AnswerLimits, read_answer

PAGE = (
    "<html><head><title>T</title><style>a{}</style></head>"
    "<body><h1>Not &amp; found</h1>\n\n <p>Go <b>away</b></p></body>"
)


def read(
    content=b"",
    *,
    kind="application/json",
    status=200,
    method="GET",
    max_bytes=1000,
    max_chars=100,
    **headers,
):
    """Return what a model gets of an answer."""
    content = content if isinstance(content, bytes) else json.dumps(content).encode()
    response = httpx.Response(
        status,
        headers={"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}},
        stream=httpx.ByteStream(content),
        request=httpx.Request(method, "https://api.example.com/p"),
    )
    limits = AnswerLimits(max_bytes=max_bytes, max_chars=max_chars)
    return asyncio.run(read_answer(response, limits=limits, label=f"{method} /p"))


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        ({"a": [1, None]}, "application/json", {"a": [1, None]}),
        ([1], "application/vnd.github+json; charset=utf-8", [1]),
        (b"{broken", "application/json", "{broken"),
        (b"[" * 90, "application/json", "[" * 90),
        (b"null", "application/json", None),
        (b'\xef\xbb\xbf{"a": 1}', "application/json", {"a": 1}),
        ("hü".encode(), "text/plain", "hü"),
        ("hü".encode("latin-1"), "text/plain; charset=latin-1", "hü"),
        ("hü".encode("latin-1"), "text/plain; charset=martian", "h\ufffd"),
        (b"h\xff", "text/plain; charset=idna", "h\ufffd"),
        (b"h\xff", "text/plain; charset=undefined", "h\ufffd"),
        (b"h-abc", "text/plain; charset=PunyCode", "h-abc"),
        (b"\xff", "text/plain", "\ufffd"),
        (b"a,b", "text/csv", "a,b"),
        (b"<a/>", "application/atom+xml", "<a/>"),
        (b"a: 1", "application/yaml", "a: 1"),
        (PAGE.encode(), "text/html", "Not & found\nGo away"),
        (b"plain", "", "plain"),
        (b"plain", "no type\r\n", "plain"),
        (b"", "text/plain", "HTTP 200 OK; the answer is empty."),
    ],
)
def test_answers(content, kind, expected):
    assert read(content, kind=kind) == expected


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        (b"\x89PNG\0", "image/png", "image/png of 5 bytes"),
        (b"\xff\xfe\0", "", "binary data of 3 bytes"),
        (b"x" * 2000, "application/zip", "application/zip of more than 1,000 bytes"),
    ],
)
def test_what_is_no_text_is_described(content, kind, expected):
    assert read(content, kind=kind) == f"HTTP 200 OK; the answer is {expected}, which can't be shown as text."


def test_long_texts_are_cut_and_say_so():
    assert read(b"x" * 300, kind="text/plain") == (
        "x" * 100 + "\n… (the first 100 of 300 characters; ask for less, such as a smaller page)"
    )
    assert read(b"x" * 3000, kind="text/plain").endswith(
        "(the first 100 of more than 1,000 characters; ask for less, such as a smaller page)"
    )
    assert "the first 50 of more than 50 characters" in read(b"x" * 80, kind="text/plain", max_bytes=50)


def test_long_json_is_cut_as_text_unless_it_is_only_spread_out():
    assert read({"a": "x" * 200}).startswith('{"a":"xxx')
    assert read(json.dumps({"a": [1] * 20}, indent=4).encode()) == {"a": [1] * 20}
    assert read([1] * 500, max_bytes=90).startswith("[1, 1, 1")


def test_head_gives_headers():
    assert read(method="HEAD", etag='"x"', set_cookie="a=b") == {
        "status": 200, "headers": {"content-type": "application/json", "etag": '"x"'},
    }  # fmt: skip


@pytest.mark.parametrize("status", [204, 304])
def test_an_empty_answer_says_its_status(status):
    phrase = {204: "No Content", 304: "Not Modified"}[status]
    assert read(status=status) == f"HTTP {status} {phrase}; the answer is empty."


@pytest.mark.parametrize(
    ("status", "content", "kind", "text"),
    [
        (404, b'{"message": "no pet"}', "application/json",
         'GET /p was answered with HTTP 404 Not Found. It says: {"message": "no pet"}'),
        (500, b"", "", "GET /p was answered with HTTP 500 Internal Server Error."),
        (599, b"x", "text/plain", "GET /p was answered with HTTP 599. It says: x"),
        (502, PAGE.encode(), "text/html",
         "GET /p was answered with HTTP 502 Bad Gateway. It says: Not & found\nGo away"),
        (400, b"\0\xff", "image/png", "GET /p was answered with HTTP 400 Bad Request."),
        (302, b"", "", "GET /p was answered with HTTP 302 Found."),
    ],
)  # fmt: skip
def test_a_failure_is_told_in_words(status, content, kind, text):
    with pytest.raises(ToolCallError) as caught:
        read(content, kind=kind, status=status)
    assert str(caught.value) == text


def test_a_failure_says_when_to_try_again_and_not_more_than_fits():
    with pytest.raises(ToolCallError, match="may be tried again after 30 seconds") as caught:
        read(b"x" * 9000, kind="text/plain", status=429, retry_after="30", max_bytes=9000)
    assert len(str(caught.value)) < 2200
    with pytest.raises(ToolCallError) as caught:
        read(status=503, retry_after="Fri, 31 Dec 2027 23:59:59 GMT")
    assert "again" not in str(caught.value)
