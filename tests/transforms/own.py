"""Transforms as users write them, which several tests share."""

from tool_search_processor.transforms import Transform, apply_transforms


class RequiredTags(Transform):
    """The tag filter of FastMCP's documentation, as a user writes it."""

    def __init__(self, required_tags):
        self.required_tags = required_tags

    async def list_tools(self, tools):
        return [t for t in tools if t.tags & self.required_tags]

    async def get_tool(self, name, call_next):
        tool = await call_next(name)
        if tool and tool.tags & self.required_tags:
            return tool
        return None


class Prefix(Transform):
    """The prefixer of FastMCP's documentation, as a user writes it."""

    def __init__(self, prefix):
        self.prefix = prefix

    async def list_tools(self, tools):
        return [t.replace(name=f"{self.prefix}_{t.name}") for t in tools]

    async def get_tool(self, name, call_next):
        if not name.startswith(f"{self.prefix}_"):
            return None
        tool = await call_next(name[len(self.prefix) + 1 :])
        if tool:
            return tool.replace(name=name)
        return None


class Lenient(Transform):
    """A row as one transform: what is configured for tools that aren't there is no error in these tests."""

    def __init__(self, row):
        self.row = row

    async def list_tools(self, tools):
        return await apply_transforms(self.row, tools)
