"""Lists that change, and clients that are told so."""

import asyncio

from mcp_types import (
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ToolListChangedNotification,
)

from tool_search_processor import Tool
from tool_search_processor.components import Prompt, Resource, ResourceTemplate


class Heard:
    """Counts what a client is told of one kind of lists, and can be waited for."""

    def __init__(self, kind=ToolListChangedNotification):
        self.count = 0
        self._kind = kind
        self._more = asyncio.Event()

    async def __call__(self, message):
        if isinstance(message, self._kind):
            self.count += 1
            self._more.set()

    async def once(self):
        await asyncio.wait_for(self._more.wait(), 10)
        self._more.clear()


class Ears:
    """Tells what a client hears to one `Heard` for each kind of lists."""

    def __init__(self):
        self.tools, self.resources = Heard(), Heard(ResourceListChangedNotification)
        self.prompts = Heard(PromptListChangedNotification)

    async def __call__(self, message):
        for heard in (self.tools, self.resources, self.prompts):
            await heard(message)

    @property
    def counts(self):
        return self.tools.count, self.resources.count, self.prompts.count


class Shelf:
    """A provider whose lists grow by themselves."""

    name = "shelf"

    def __init__(self):
        self.resources, self.templates, self.prompts = ["a"], ["t"], ["p"]

    def version(self):
        return tuple(map(tuple, (self.resources, self.templates, self.prompts)))

    async def list_tools(self, context):
        def hide(arguments, context):
            context.context["session_rules"].disable(names=["p"], components=["prompt"])

        return [Tool(name="hide", execute=hide)]

    async def list_resources(self, context):
        return [Resource(uri=f"doc://{name}", read=lambda: "text") for name in self.resources]

    async def list_resource_templates(self, context):
        return [ResourceTemplate(uri_template=f"{name}://{{n}}", read=str) for name in self.templates]

    async def list_prompts(self, context):
        return [Prompt(name=name, render=str) for name in self.prompts]
