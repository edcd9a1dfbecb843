"""An API's responses in the form that a model gets."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from http.client import NOT_MODIFIED
from typing import TYPE_CHECKING, Any

from tool_search_processor.errors import ToolCallError
from tool_search_processor.providers.unpacking import UnpackError, read_bounded
from tool_search_processor.providers.web import status_text

if TYPE_CHECKING:
    import httpx

_MAX_ERROR_CHARS = 2_000
_SHOWN_HEADERS = ("content-type", "content-length", "last-modified", "etag", "link", "location")
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,80}/[\w.+-]{1,80}", re.ASCII)
_TEXTUAL = re.compile(r"text/|.*(?:xml|yaml|javascript|x-www-form-urlencoded|json)")
_UNSEEN = re.compile(r"<(?:(script|style|head)\b|!--)", re.IGNORECASE)
_UNSEEN_ENDS = {
    "": re.compile("-->"),
    **{tag: re.compile(rf"</{tag}\s*>", re.IGNORECASE) for tag in ("script", "style", "head")},
}
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLimits:
    """How much of an answer is taken."""

    max_bytes: int
    """No more is read."""
    max_chars: int
    """No more reaches the model."""


async def read_answer(response: httpx.Response, *, limits: AnswerLimits, label: str) -> Any:
    """Return the answer: data from JSON, otherwise a string.

    Args:
        response: Not read yet; reading stops at the limit.
        limits: How much of it is taken.
        label: What messages call the request.

    Raises:
        ToolCallError: If the status is not a success; quotes the status and the answer. Or if the
            answer can't be unpacked.
    """
    try:
        content, is_whole = await read_content(response, limits.max_bytes)
    except UnpackError as exc:
        raise ToolCallError(f"The answer of {label} can't be read: {exc}.") from exc
    if not response.is_success and response.status_code != NOT_MODIFIED:
        raise ToolCallError(_error_text(response, content, label))
    status = status_text(response.status_code)
    if response.request.method == "HEAD":
        headers = {name: response.headers[name] for name in _SHOWN_HEADERS if name in response.headers}
        return {"status": response.status_code, "headers": headers}
    if not content:
        return f"{status}; the answer is empty."
    kind = _media_type(response)
    text = _text(response, content, kind)
    if text is None:
        size = f"{len(content):,} bytes" if is_whole else f"more than {limits.max_bytes:,} bytes"
        return f"{status}; the answer is {kind or 'binary data'} of {size}, which can't be shown as text."
    if "json" in kind and is_whole:
        return _data(text, limits.max_chars)
    return _cut(text, limits.max_chars, is_whole=is_whole)


async def read_content(response: httpx.Response, max_bytes: int) -> tuple[bytes, bool]:
    """Return the content up to the limit, and whether that is all.

    Raises:
        UnpackError: If it is packed in another way than was asked for, or broken.
    """
    if response.is_stream_consumed:  # by a hook of the user's client
        return response.content[:max_bytes], len(response.content) <= max_bytes
    encoding = response.headers.get("content-encoding", "")
    return await read_bounded(response.aiter_raw(), encoding=encoding, max_bytes=max_bytes)


def _data(text: str, max_chars: int) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _cut(text, max_chars, is_whole=True)
    is_short = len(text) <= max_chars
    compact = text if is_short else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value if len(compact) <= max_chars else _cut(compact, max_chars, is_whole=True)


def _cut(text: str, max_chars: int, *, is_whole: bool) -> str:
    if len(text) <= max_chars and is_whole:
        return text
    size = f"{len(text):,}" if is_whole else f"more than {len(text):,}"
    shown = text[:max_chars]
    return f"{shown}\n… (the first {len(shown):,} of {size} characters; ask for less, such as a smaller page)"


def _text(response: httpx.Response, content: bytes, kind: str) -> str | None:
    """Return the content as text; None if it is not text."""
    if kind and not _TEXTUAL.match(kind):
        return None
    charset = response.charset_encoding or "utf-8"
    if "punycode" in charset.lower():  # no charset, and 2 MB of it would take minutes to decode
        charset = "utf-8"
    try:
        text = content.decode(charset, "replace" if kind else "strict")
    except (LookupError, UnicodeError):  # no charset, or one that fails at any content, such as `idna`
        if not kind:
            return None
        text = content.decode("utf-8", "replace")
    text = text.removeprefix("\ufeff")
    return _readable(text) if "html" in kind else text


def _readable(markup: str) -> str:
    """Return the words of a page of HTML."""
    lines = (" ".join(line.split()) for line in html.unescape(_TAG.sub(" ", _seen(markup))).split("\n"))
    return "\n".join(line for line in lines if line)


def _seen(markup: str) -> str:
    """Return a page without the parts that a browser doesn't show.

    Not one regular expression: each beginning without an end would have it read to the end of the page.
    """
    parts, at, endless = [], 0, set()
    for begin in _UNSEEN.finditer(markup):
        tag = (begin[1] or "").lower()
        if begin.start() < at or tag in endless:
            continue
        end = _UNSEEN_ENDS[tag].search(markup, begin.end())
        if end is None:
            endless.add(tag)
            continue
        parts.append(markup[at : begin.start()])
        at = end.end()
    return " ".join((*parts, markup[at:]))


def _error_text(response: httpx.Response, content: bytes, label: str) -> str:
    wait = response.headers.get("retry-after", "")
    hint = f" It may be tried again after {wait} seconds." if wait.isdecimal() else ""
    text = (_text(response, content, _media_type(response)) or "").strip()
    shown = text if len(text) <= _MAX_ERROR_CHARS else f"{text[:_MAX_ERROR_CHARS]}…"
    said = f" It says: {shown}" if shown else ""
    return f"{label} was answered with {status_text(response.status_code)}.{hint}{said}"


def _media_type(response: httpx.Response) -> str:
    found = _MEDIA_TYPE.match(response.headers.get("content-type", "").strip())
    return found[0].lower() if found else ""
