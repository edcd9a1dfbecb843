from types import SimpleNamespace

import pytest

from tool_search_processor.providers.mcp.left_out import PROMPTS, RESOURCES, TEMPLATES, TOOLS, LeftOut
from tool_search_processor.providers.mcp.server_lists import read_pages


def pages(*names, kind=TOOLS, last_cursor=None):
    """Return what fetches pages of items with these names, and the list of the cursors it was asked for."""
    asked = []

    async def fetch(cursor):
        asked.append(cursor)
        number = int(cursor or 0)
        is_last = number + 1 == len(names)
        items = [SimpleNamespace(**{kind.key: name}) for name in names[min(number, len(names) - 1)]]
        return SimpleNamespace(
            **{kind.attribute: items},
            next_cursor=last_cursor if is_last else str(number + 1),
            model_dump_json=lambda: "",
        )

    return fetch, asked


async def read(fetch, kind=TOOLS, limit=10):
    found = await read_pages(fetch, kind, limit=limit, left_out=LeftOut("s"))
    return "".join(getattr(item, kind.key) for item in found)


@pytest.mark.parametrize("end", [None, ""])
async def test_pages_are_read_to_the_end(end):
    fetch, asked = pages("ab", "", "c", last_cursor=end)
    assert await read(fetch) == "abc"
    assert asked == [None, "1", "2"]


@pytest.mark.parametrize(
    ("names", "last_cursor", "limit", "found", "why"),
    [
        (("ab", "cd", "ef"), None, 3, "abc", "has more than 3"),
        (("abcd",), None, 3, "abc", "has more than 3"),
        (("a", "b", ""), "1", 10, "ab", "says the same cursor again"),
        (("ab",), "8", 10, "ab", "repeats a page"),
        (("ab", "ba", "c"), None, 10, "ab", "repeats a page"),
    ],
)
@pytest.mark.parametrize("kind", [TOOLS, RESOURCES, TEMPLATES, PROMPTS])
async def test_what_never_ends_is_cut_with_a_warning(names, last_cursor, limit, found, why, kind, caplog):
    fetch, _ = pages(*names, kind=kind, last_cursor=last_cursor)
    assert await read(fetch, kind, limit) == found
    assert caplog.messages == [f"the list of {kind.attribute} of the MCP server 's' was cut: it {why}"]


async def test_pages_that_overlap_list_each_item_once(caplog):
    assert await read(pages("ab", "bc", "cad")[0]) == "abcd"
    assert caplog.messages == []
