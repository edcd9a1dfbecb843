"""Arguments as an HTTP request: nothing that a model writes can become another path, header or host."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote, unquote, unquote_to_bytes

from tool_search_processor.errors import ToolArgumentsError, ToolCallError
from tool_search_processor.providers.openapi import styles
from tool_search_processor.providers.openapi.routes import (
    VARIABLE,
    Argument,
    Body,
    Encoding,
    Route,
    split_path,
)
from tool_search_processor.providers.web import CONTROL
from tool_search_processor.tools.wording import Problem
from tool_search_processor.wire.plain import clean_text

_PATH_SAFE = "/:@!$&'()*+,;=~%"
_QUERY_SAFE = _PATH_SAFE + "?"
_EMPTY_FORM = (b"--empty--\r\n", "multipart/form-data; boundary=empty")
"""A multipart form without fields, of which the library would send nothing at all."""
_SEPARATORS = re.compile(r"[/\\]")
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,]*)*(;base64)?,", re.ASCII)

Field = tuple[str, tuple[str | None, bytes, str | None]]
"""A field of a multipart form: its name, and file name, content and media type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request without its server and credentials."""

    method: str
    target: str
    """Path and query, percent-encoded."""
    headers: Mapping[str, str]
    """By names in small letters."""
    cookies: tuple[str, ...] = ()
    content: bytes | None = None
    fields: tuple[Field, ...] = ()
    """The parts of a multipart form; then there is no `content`."""


def build_request(route: Route, arguments: Mapping[str, Any]) -> Outgoing:
    """Return the request for a call.

    Args:
        route: How the operation is called.
        arguments: Checked against the tool's schema already; null stands for an argument left out, but in
            a body.

    Raises:
        ToolArgumentsError: If an argument can't be sent as it is; the text is fit for the model.
        ToolCallError: If the document's own path leads out of its server's.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    placed = [(one, given[one.name]) for one in route.arguments if one.name in given]
    headers = {one.wire_name.lower(): _header(one, value) for one, value in placed if one.place == "header"}
    path, template = split_path(route.path)
    in_template = set(VARIABLE.findall(template))
    fixed = _fixed_query(template, placed)
    listed = [(one, v) for one, v in placed if one.place == "query" and one.wire_name not in in_template]
    query = [*fixed, *(part for one, value in listed for part in styles.query_parts(one, value))]
    target = _path(path, {one.wire_name: (one, value) for one, value in placed if one.place == "path"})
    outgoing = Outgoing(
        method=route.method,
        target="?".join((target, "&".join(query))) if query else target,
        headers={"accept": CONTROL.sub("", route.accept), **headers},
        cookies=tuple(styles.cookie_text(one, value) for one, value in placed if one.place == "cookie"),
    )
    return outgoing if route.body is None else _with_body(outgoing, route.body, arguments)


def _path(template: str, values: Mapping[str, tuple[Argument, Any]]) -> str:
    def filled(name: str) -> str:
        argument, value = values[name]
        text = styles.path_text(argument, value)
        if not text:
            raise _problem(argument.name, "must not be empty")
        if not {".", ".."}.isdisjoint(_SEPARATORS.split(unquote(text))):
            raise _problem(argument.name, "must not hold `.` or `..` as a step of a path")
        return text

    missing = [name for name in VARIABLE.findall(template) if name not in values]
    if missing:
        raise _problem(missing[0], "is required but missing")
    path = _filled(template, filled, safe=_PATH_SAFE)
    if not {".", ".."}.isdisjoint(unquote(path).split("/")):  # of the document's own
        raise ToolCallError(f"The path {template} has `.` or `..` as a step, which is not sent.")
    return path


def _filled(template: str, fill: Callable[[str], str], *, safe: str) -> str:
    """Return a template with its variables filled in, and what stands between them percent-encoded."""
    pieces = enumerate(VARIABLE.split(template))
    return "".join(fill(piece) if place % 2 else quote(piece, safe=safe) for place, piece in pieces)


def _fixed_query(template: str, placed: Sequence[tuple[Argument, Any]]) -> list[str]:
    """Return the parts of the query that stands in the path's key, without those that have no value."""
    values = {
        one.wire_name: (one, value)
        for place in ("query", "path")
        for one, value in placed
        if one.place == place
    }
    given = (part for part in template.split("&") if part and values.keys() >= {*VARIABLE.findall(part)})
    return [filled for part in given for filled in _filled_parts(part, values)]


def _filled_parts(part: str, values: Mapping[str, tuple[Argument, Any]]) -> list[str]:
    name, _, text = part.partition("=")
    whole = VARIABLE.fullmatch(text)
    if whole and values[whole[1]][0].place == "query":
        argument, value = values[whole[1]]
        return styles.query_parts(replace(argument, wire_name=unquote(name)), value)
    return [_filled(part, lambda name: styles.path_text(*values[name]), safe=_QUERY_SAFE)]


def _header(argument: Argument, value: Any) -> str:
    text = styles.header_text(argument, value).strip()
    if CONTROL.search(text):
        raise _problem(argument.name, "must not hold line breaks or other control characters")
    return text


def _with_body(outgoing: Outgoing, body: Body, arguments: Mapping[str, Any]) -> Outgoing:
    if body.argument is not None:
        value = arguments.get(body.argument)
        if body.argument not in arguments or (value is None and not body.required):
            return outgoing
    else:
        value = {wire: arguments[name] for name, wire in body.fields.items() if name in arguments}
        if not value and not body.required:
            return outgoing
        missing = [name for name in body.needed if name not in arguments]
        if missing:
            raise _problem(missing[0], "is required where other fields of the body are given, but missing")
    content, media_type, fields = _encoded_body(body, value)
    # The library that sends a multipart form names its boundary itself.
    kind = {} if fields else {"content-type": CONTROL.sub("", media_type)}
    return replace(outgoing, headers={**outgoing.headers, **kind}, content=content, fields=fields)


def _encoded_body(body: Body, value: Any) -> tuple[bytes | None, str, tuple[Field, ...]]:
    if body.kind == "json":
        return styles.json_text(value).encode(), body.media_type, ()
    if body.kind == "raw":
        content, media_type = _file(body.argument or "body", value)
        is_open = "*" in body.media_type
        return content, (media_type or "application/octet-stream") if is_open else body.media_type, ()
    values = value if isinstance(value, Mapping) else {}
    if body.kind == "form":
        parts = [part for name, item in values.items() for part in _form_parts(body, name, item)]
        return "&".join(parts).encode(), body.media_type, ()
    fields = tuple(f for name, item in values.items() for f in _fields(body, name, item))
    return (None, body.media_type, fields) if fields else (*_EMPTY_FORM, ())


def _form_parts(body: Body, name: str, value: Any) -> list[str]:
    if value is None:
        return []
    encoding = body.encodings.get(name, Encoding())
    as_json = isinstance(value, Mapping) or _is_json(encoding.content_type)
    return _styled_parts(name, encoding, value, is_json=encoding.style is None and as_json)


def _styled_parts(name: str, encoding: Encoding, value: Any, *, is_json: bool = False) -> list[str]:
    style, explode = encoding.style or "form", encoding.explode
    argument = Argument(
        name=name, wire_name=name, place="query", style=style, explode=explode, is_json=is_json
    )
    return styles.query_parts(argument, value)


def _fields(body: Body, name: str, value: Any) -> Iterator[Field]:
    encoding = body.encodings.get(name, Encoding())
    is_file = name in body.files
    is_styled = encoding.style is not None or not encoding.explode
    if is_styled and not is_file and isinstance(value, Mapping | list | tuple):
        for part in _styled_parts(name, encoding, value):
            key, _, text = part.partition("=")
            yield unquote(key), (None, unquote_to_bytes(text), None)
        return
    for item in value if isinstance(value, list | tuple) else [value]:
        if item is None:
            continue
        if is_file or (name in body.file_or_text and _DATA_URL.match(styles.text_of_value(item))):
            content, media_type = _file(name, item)
            kind = _media_type(encoding.content_type, media_type) or "application/octet-stream"
            yield name, (name, content, kind)
        else:
            is_data = isinstance(item, Mapping | list)
            as_json = is_data or _is_json(encoding.content_type)
            text = _json_part(item) if as_json else styles.text_of_value(item)
            said = "application/json" if is_data else None
            yield name, (None, text.encode(), _media_type(encoding.content_type, said))


def _is_json(content_type: str | None) -> bool:
    return "json" in (content_type or "")


def _json_part(value: Any) -> str:
    """Return a value as JSON; a string that is JSON of an object or a list already stays as it is."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            json.loads(value)
            return clean_text(value)
    return styles.json_text(value)


def _media_type(declared: str | None, own: str | None) -> str | None:
    """Return the media type of a part: of those that a form takes the content's own, else the first one."""
    kinds = [kind.strip() for kind in (declared or "").split(",") if kind.strip()]
    if own is not None and any(fnmatchcase(own.lower(), kind.lower()) for kind in kinds):
        return own
    return next((CONTROL.sub("", kind) for kind in kinds if "*" not in kind), own)


def _file(name: str, value: Any) -> tuple[bytes, str | None]:
    """Return the content that an argument stands for, and its media type where that is said."""
    text = styles.text_of_value(value)
    found = _DATA_URL.match(text)
    if found is None:
        return text.encode(), None
    data = unquote_to_bytes(text[found.end() :])
    if not found[2]:
        return data, found[1]
    try:
        return base64.b64decode(data, validate=True), found[1]
    except binascii.Error as exc:
        raise _problem(name, "is a data: URL whose base64 can't be read") from exc


def _problem(name: str, text: str) -> ToolArgumentsError:
    return ToolArgumentsError(Problem((name,), text).sentence())
