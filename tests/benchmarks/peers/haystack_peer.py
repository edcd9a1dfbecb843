"""Haystack's SearchableToolset, its search tool called as an agent calls it."""

import re

from haystack.tools import SearchableToolset, Tool
from protocol import serve

_FOUND = re.compile(r"Found and loaded \d+ tool\(s\): (.*)\. Use them directly as tools\.")


def build(tools):
    """Make a toolset; its index sees names and descriptions, so odd schemas may be left out."""
    toolset = SearchableToolset([make(tool) for tool in tools], top_k=10, search_threshold=1)
    toolset.warm_up()
    search_tool = next(iter(toolset))

    def search(query, limit):
        found = _FOUND.fullmatch(search_tool.invoke(tool_keywords=query, k=limit))
        return found.group(1).split(", ") if found else []

    return search


def make(tool):
    """Make a tool; its schema is checked by Haystack, and replaced where it is refused."""
    given = {"name": tool["name"], "description": tool["description"], "function": lambda **values: values}
    try:
        return Tool(parameters=tool["parameters"], **given)
    except ValueError:
        return Tool(parameters={"type": "object", "properties": {}}, **given)


serve("haystack-ai", build)
