"""A conversation in a loop of one's own, over one processor and then perhaps another."""

from __future__ import annotations

import json

from tool_search_processor import ToolSearchProcessor

THREAD = "t"


class Chat:
    """What a user says and a model calls; each user turn is a run."""

    def __init__(self, processor: ToolSearchProcessor, *, thread_id: str | None = THREAD, context=None):
        self.processor = processor
        self.messages = []
        self._thread_id = thread_id
        self._context = context or {}
        self._session = None
        self._calls = 0

    async def turn(self, text="please help"):
        """End the run before, let the user say something, and return what the next step lists."""
        await self.end()
        self.messages.append({"role": "user", "content": text})
        self._open()
        return await self.step()

    async def step(self):
        """Return the names of the tools that the next step lists beside the meta-tools."""
        if self._session is None:
            self._open()
        tools = await self._session.tools(self.messages)
        return [tool.name for tool in tools if tool.name not in self.processor.reserved_names]

    async def call(self, name, /, **arguments):
        """Let the model call a tool, and return its answer."""
        return (await self.calls((name, arguments)))[0]

    async def calls(self, *calls):
        """Let the model call several tools in one step, and return their answers."""
        asked = []
        for name, arguments in calls:
            self._calls += 1
            function = {"name": name, "arguments": json.dumps(arguments)}
            asked.append({"id": f"call_{self._calls}", "type": "function", "function": function})
        self.messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        answers = await self._session.execute(asked)
        self.messages += answers
        texts = [answer["content"] for answer in answers]
        return [json.loads(text) if text.startswith("{") else text for text in texts]

    async def load(self, *names):
        return await self.call("load_tool", tool_names=list(names))

    async def unload(self, *names):
        return await self.call("unload_tool", tool_names=list(names))

    async def end(self):
        """End the run."""
        if self._session is not None:
            await self._session.aclose()
            self._session = None

    async def restart(self, processor: ToolSearchProcessor):
        """Lose the process in the middle of whatever it does; another goes on with the messages."""
        await self.processor.aclose()
        self.processor, self._session = processor, None

    def _open(self):
        self._session = self.processor.session(thread_id=self._thread_id, context=self._context)
