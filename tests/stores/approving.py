"""An agent whose one tool needs approval, made anew in every process that works on the conversation.

As a program it resumes the paused run that it reads, as JSON, from its standard input:
`python -m tests.stores.approving KIND URL LOG`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tool_search_processor import Agent, Tool, ToolSearchProcessor
from tool_search_processor.errors import ResumeError
from tool_search_processor.stores import HistoryStore, MemoryStore, RedisStore
from tool_search_processor.testing import ScriptedModel, call, say

BEFORE = [call("load_tool", {"tool_names": ["erase"]}), call("erase", {"path": "/a"}), say("Done.")]
AFTER = [say("Done.")]


def make_agent(kind, url, log, *, script=AFTER, policy=None, on_error="raise", **options):
    """Return an agent of a new process, and its processor."""

    def erase(path: str) -> str:
        """Erase a file."""
        with Path(log).open("a") as lines:
            lines.write(f"{path}\n")
        return f"erased {path}"

    stores = {
        "memory": MemoryStore,
        "history": HistoryStore,
        "redis": lambda: RedisStore(url, on_error=on_error, timeout_seconds=30),
    }
    tools = [Tool.from_function(erase, requires_approval=True)]
    processor = ToolSearchProcessor(tools, store=stores[kind](), filter=policy, **options)
    model = ScriptedModel(script)
    agent = Agent(name="a", model="scripted", completion=model, input_processors=[processor])
    return agent, processor, model


async def main(kind, url, log):
    agent, processor, model = make_agent(kind, url, log)
    paused, approvals = json.loads(sys.stdin.read())
    try:
        result = await agent.resume(paused, approvals, thread_id="t")
        answer = {"output": result.output, "tools": model.requests[0].tool_names}
    except ResumeError as exc:
        answer = {"error": str(exc)}
    await processor.aclose()
    print(json.dumps(answer))  # noqa: T201 - what the test reads


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
