"""One resource under several URIs: hidden under one of them, it is hidden under all."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_MOST_DECODINGS = 3
_RESERVED = ":/?#[]@!$&'()*+,;=~"
_UNSEEN = re.compile(r"[\x00-\x1f\x7f]")
_PARTS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/*(.*)", re.DOTALL)


def spellings_of(uri: str) -> list[str]:
    """Return a URI and the other spellings that servers treat as equal; no others if it contains `..`.

    Servers follow https://url.spec.whatwg.org: the scheme in any case, what is percent-encoded, controls and
    blanks at the ends, slashes either way round, twice or at the end, and a fragment make no difference.
    """
    text = _UNSEEN.sub("", uri).strip()
    for _ in range(_MOST_DECODINGS):
        text = _UNSEEN.sub("", unquote(text, errors="replace"))
    text = text.strip().replace("\\", "/").partition("#")[0]
    path, mark, query = text.partition("?")
    if not {".", ".."}.isdisjoint(path.split("/")):
        return []  # only its server knows where that leads
    plain = _plain(path) + (mark + query if query else "")
    return list(dict.fromkeys((uri, plain, quote(plain, safe=_RESERVED))))


def _plain(path: str) -> str:
    match = _PARTS.fullmatch(path)
    if match is None:
        return path
    scheme, rest = match[1].lower(), re.sub("/{2,}", "/", match[2]).rstrip("/")
    if scheme == "file":
        return f"file:///{rest.removeprefix('localhost/')}"
    return f"{scheme}://{rest}"
