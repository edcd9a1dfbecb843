from types import SimpleNamespace

import pytest

from tool_search_processor import Tool
from tool_search_processor.providers.mcp.listing import Marks, ToolImporter, read_pages


def pages(*sizes, last_cursor=None, page_bytes=0):
    """Return what fetches pages of these sizes, and the list of the cursors it was asked for."""
    asked = []

    async def fetch(cursor):
        asked.append(cursor)
        number = int(cursor or 0)
        is_last = number + 1 == len(sizes)
        return SimpleNamespace(
            tools=[f"{number}.{place}" for place in range(sizes[number])],
            next_cursor=last_cursor if is_last else str(number + 1),
            model_dump_json=lambda: "x" * page_bytes,
        )

    return fetch, asked


@pytest.mark.parametrize("end", [None, ""])
async def test_pages_are_read_to_the_end(end):
    fetch, asked = pages(2, 0, 1, last_cursor=end)
    assert await read_pages(fetch, "tools", limit=10, server="s") == ["0.0", "0.1", "2.0"]
    assert asked == [None, "1", "2"]


@pytest.mark.parametrize(
    ("sizes", "last_cursor", "limit", "found", "why"),
    [
        ((2, 2, 2), None, 3, ["0.0", "0.1", "1.0"], "has more than 3"),
        ((4,), None, 3, ["0.0", "0.1", "0.2"], "has more than 3"),
        ((1, 1), "1", 10, ["0.0", "1.0"], "says the same cursor again"),
    ],
)
async def test_what_never_ends_is_cut_with_a_warning(sizes, last_cursor, limit, found, why, caplog):
    fetch, _ = pages(*sizes, last_cursor=last_cursor)
    assert await read_pages(fetch, "tools", limit=limit, server="s") == found
    assert caplog.messages == [f"the list of tools of the MCP server 's' was cut: it {why}"]


def test_a_definition_that_has_not_changed_keeps_its_tool(caplog):
    importer = ToolImporter(lambda each: Tool(name=each.name, description=each.text), server="s")

    def definition(name, text):
        return SimpleNamespace(name=name, text=text)

    first = importer.tools([definition("a", "1"), definition("b", "1"), definition("no name", "1")])
    again = importer.tools([definition("b", "2"), definition("a", "1")])

    assert [tool.name for tool in first] == ["a", "b"]
    assert [tool.description for tool in again] == ["2", "1"]
    assert again[1] is first[0]
    assert "a tool of the MCP server 's' is left out" in caplog.text


def test_marks_move_when_a_server_comes_back_whose_list_was_not_had():
    marks = Marks()
    marks.connected()
    assert marks.count == 0
    marks.fail()
    marks.connected()
    marks.connected()
    assert marks.count == 1
    marks.change()
    assert marks.count == 2
