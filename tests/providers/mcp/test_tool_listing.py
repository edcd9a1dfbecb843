from types import SimpleNamespace

from tool_search_processor import Tool
from tool_search_processor.providers.mcp.left_out import LeftOut
from tool_search_processor.providers.mcp.tool_listing import ToolImporter


def test_a_definition_that_has_not_changed_keeps_its_tool(caplog):
    left_out = LeftOut("s")
    importer = ToolImporter(lambda each: Tool(name=each.name, description=each.text), left_out=left_out)

    def definition(name, text):
        return SimpleNamespace(name=name, text=text)

    first = importer.tools([definition("a", "1"), definition("b", "1"), definition("no name", "1")])
    again = importer.tools([definition("b", "2"), definition("a", "1")])

    assert [tool.name for tool in first] == ["a", "b"]
    assert [tool.description for tool in again] == ["2", "1"]
    assert again[1] is first[0]
    assert caplog.text.count("a tool of the MCP server 's' is left out: 'no name'") == 1
