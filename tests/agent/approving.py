"""What tests of approval share: an agent whose calls wait for it, and the forms in which they are kept."""

import json

from tool_search_processor.agent import Agent
from tool_search_processor.testing import ScriptedModel, call
from tool_search_processor.tools import Tool

BOTH = [call("erase", {"path": "/a"}, text="on it"), call("add", {"a": 1}), call("erase", {"path": "/b"})]


class Disk:
    """What the tools act on."""

    def __init__(self):
        self.erased = []
        self.tool = Tool.from_function(self.erase, requires_approval=True)

    async def erase(self, path: str) -> str:
        """Erase a file."""
        self.erased.append(path)
        return f"erased {path}"


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def agent_of(script, *tools, processors=(), **options):
    return Agent(
        name="a",
        model="m",
        completion=ScriptedModel(script),
        tools=tools,
        input_processors=processors,
        **options,
    )


async def paused(script=(BOTH, "done"), **options):
    disk = Disk()
    agent = agent_of(script, disk.tool, add, **options)
    result = await agent.run("q", thread_id="t")
    assert result.finish_reason == "pending"
    return agent, disk, result


def contents(result):
    return [message["content"] for message in result.messages if message["role"] == "tool"]


def as_result(result):
    return result


def as_dict(result):
    return json.loads(json.dumps(result.to_dict()))


def as_messages(result):
    return result.messages


FORMS = [as_result, as_dict, as_messages]
