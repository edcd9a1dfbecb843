import pytest

from tool_search_processor.providers.mcp.parts import has_more_levels, has_more_parts


@pytest.mark.parametrize(
    ("message", "count"),
    [
        (None, 0),
        ("a text", 0),
        ([1, 2, 3], 3),
        ({"a": 1, "b": [1, {"c": 1}]}, 5),
        ({"structuredContent": [1] * 100, "_meta": {"a": [1] * 100}}, 2),
        ({"inputSchema": {"properties": {"a": {"x": [1] * 100}}, "required": ["a", "b"]}}, 1 + 2 + 1 + 2),
        ({"outputSchema": "none", "inputSchema": {"properties": 7}}, 2 + 1),
        ([[[[1]]]], 4),
    ],
)
def test_parts_are_counted_where_they_are_checked(message, count):
    assert not has_more_parts(message, count)
    assert has_more_parts(message, count - 1) or count == 0


def test_depth_is_no_matter():
    message = []
    for _ in range(100_000):
        message = [message]
    assert has_more_parts(message, 99_999)
    assert not has_more_parts(message, 100_000)
    while message:
        message = message.pop()


@pytest.mark.parametrize(
    ("value", "levels"),
    [("a text", 1), ({}, 1), ([1, {}], 2), ({"a": 1, "b": [{"c": []}, 1]}, 4), ([[[1]]], 4)],
)
def test_levels_are_counted_along_the_deepest_way(value, levels):
    assert not has_more_levels(value, levels)
    assert has_more_levels(value, levels - 1)
