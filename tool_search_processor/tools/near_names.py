"""Finds the name that a model certainly meant when it wrote a name slightly wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_LONGEST = 200
_SEPARATORS = re.compile(r"[\W_]+")
_TOKEN = re.compile(r"<[|\uff5c][^<>|\uff5c]*[|\uff5c]?>?")
"""A mark of a chat template, such as `<|channel|>`, perhaps cut; some write the bar in full width."""
_GROUP = re.compile(
    r"\A(?:to=)?(?:(?:functions?|tools?|default_api|mcp)(?:[.:/]+|__)|default_api_|to=)", re.IGNORECASE
)
"""Prefixes that models were trained to write before the name of any tool."""
_NUMBER = re.compile(r":\d+\Z")
"""The place of a call among those of a reply."""
_AROUND = " \t\r\n\"'`*.,:;"


def plain_form(name: str) -> str:
    """Return a name without case and separators: `createissue` for `Create-Issue`."""
    return _SEPARATORS.sub("", name[:_LONGEST]).casefold()


def spoken_names(name: str) -> Iterator[str]:
    """Yield a name as it was written, then without what formats of calls put around one.

    ```python
    list(spoken_names("functions.create_issue<|channel|>commentary"))
    # -> ['functions.create_issue<|channel|>commentary', 'functions.create_issue', 'create_issue']
    ```

    That is white space, quotes, marks of chat templates, brackets of a call, a number, and the group that all
    tools are in. Each is removed only if something is left.
    """
    yield name
    bare = name[:_LONGEST]
    for part in (_first_part, _without_call, lambda name: _GROUP.sub("", name)):
        shorter = part(bare).strip(_AROUND)
        if shorter and shorter not in (bare, name):
            yield shorter
        bare = shorter or bare


def meant_name(name: str, names: Iterable[str]) -> str | None:
    """Return the name that a model certainly means; None if no name or more than one fits."""
    known = list(names)
    for spoken in spoken_names(name):
        if spoken in known:
            return spoken
        form = plain_form(spoken)
        near = [each for each in known if plain_form(each) == form] if form else []
        if near:
            return near[0] if len(near) == 1 else None
    return None


def _first_part(name: str) -> str:
    parts = (part.strip() for part in _TOKEN.split(name))
    return next((part for part in parts if part), "").partition("<")[0]


def _without_call(name: str) -> str:
    return _NUMBER.sub("", name.partition("(")[0])
