"""A chat backend of two workers that share the stored conversation and nothing else.

See a turn wait for approval, the other worker go on, and the next turn there need neither search nor load.

    pip install . starlette httpx
    python examples/web_chat.py [--model openai/gpt-5.5]
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import standard_library
from approval import delete_account
from models import choose_model, find_load_call

from tool_search_processor import Agent, HistoryStore, ResumeError, RunResult, ToolSearchProcessor
from tool_search_processor.agent import Done, TextDelta
from tool_search_processor.testing import Reply, call

try:
    import httpx
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse, StreamingResponse
    from starlette.routing import Route
except ImportError:
    print("They are not installed: pip install starlette httpx")
    raise SystemExit from None

DATABASE: dict[str, str] = {}  # the last result of each thread, as JSON


def make_worker(script: list[Reply]) -> Starlette:
    """Make one process's application."""
    search = ToolSearchProcessor([delete_account, *standard_library.tools()], store=HistoryStore())
    agent = Agent(name="chat", input_processors=[search], **choose_model(script))
    print(f"model: {agent.model}")

    async def events(user: str, thread: str, text: str) -> AsyncIterator[str]:
        before = RunResult.from_json(DATABASE[thread]).messages if thread in DATABASE else []
        context = {"user": user}  # for tools and filters; from a login, where a client could lie
        stream = agent.stream(text, context=context, thread_id=thread, messages=before)
        async with aclosing(stream) as run:
            async for event in run:
                if isinstance(event, TextDelta):
                    yield f"data: {json.dumps({'text': event.text})}\n\n"
                elif isinstance(event, Done):
                    DATABASE[thread] = event.result.to_json()
                    waiting = [each.to_dict() for each in event.result.pending]
                    yield f"data: {json.dumps({'steps': event.result.steps, 'pending': waiting})}\n\n"

    async def chat(request: Request) -> StreamingResponse:
        return StreamingResponse(events(**await request.json()), media_type="text/event-stream")

    async def approve(request: Request) -> JSONResponse:
        asked = await request.json()
        try:
            paused = RunResult.from_json(DATABASE[asked["thread"]])  # which never holds the context
            result = await agent.resume(paused, asked["answers"], context={"user": asked["user"]})
        except ResumeError as error:  # nothing waits, or it was decided before
            return JSONResponse({"error": str(error)}, status_code=409)
        DATABASE[asked["thread"]] = result.to_json()
        return JSONResponse({"output": result.output})

    return Starlette(routes=[Route(f"/{do.__name__}", do, methods=["POST"]) for do in (chat, approve)])


async def post(worker: Starlette, path: str, **body: object) -> None:
    """Be a client."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(worker)) as client:
        answer = await client.post(f"http://chat{path}", json={"user": "ada", "thread": "t-1", **body})
    print(f"{path} {body}: {answer.status_code}\n{answer.text.strip()}")


if __name__ == "__main__":
    *first, last = find_load_call("delete a user account", {"name": "bob"}, answer="The tool says: {}")
    one, two = make_worker(first), make_worker([last, call("delete_account", {"name": "ada"})])
    asyncio.run(post(one, "/chat", text="Please delete bob's account."))
    (waiting,) = RunResult.from_json(DATABASE["t-1"]).pending
    asyncio.run(post(two, "/approve", answers={waiting.call_id: True}))
    asyncio.run(post(two, "/chat", text="And that of ada."))
