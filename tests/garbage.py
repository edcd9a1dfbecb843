"""Values that belong nowhere, and every place of a value to put them."""

from __future__ import annotations

import copy

GARBAGE = [
    None,
    True,
    0,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**30,
    "",
    "x",
    "search_tools",
    "{",
    "[]",
    '{"a": NaN}',
    "\ud800",
    "[" * 5_000,
    '{"a":' * 3_000 + "1" + "}" * 3_000,
    "a" * 100_000,
    [],
    {},
    [None],
    [5],
    ["x"],
    [[]],
    {"a": 1},
    {"function": 5},
    {"function": {"name": "tool_0", "arguments": {}}},
    [{"function": {"name": 5, "arguments": 5}}],
    [{"id": {}, "function": {"name": ["tool_0"], "arguments": [1]}}],
    [{"id": [1], "type": "tool_use", "name": "tool_0", "input": "x"}],
]


def places(value, path=()):
    """Yield the path of a value and of everything in it."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def with_garbage(value, path, garbage):
    """Return a copy of a value with something else at a path."""
    if not path:
        return garbage
    place = changed = copy.deepcopy(value)
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = garbage
    return changed
