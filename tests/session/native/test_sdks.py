"""Native loops over the providers' own SDKs, on a transport that answers from a script."""

from __future__ import annotations

import itertools
import json

import httpx2
import pytest
from openai import AsyncOpenAI

from tests.session.native.conversations import bytes_of, declared_in
from tests.session.native.replies import BETA, CALLS, MORE, events, message, response
from tests.session.native.sdk_types import check_anthropic, check_responses
from tests.support import make
from tool_search_processor import ToolSearchProcessor


class Server:
    """Answers requests from a script, and writes them down."""

    def __init__(self, replies):
        self.replies = iter(replies)
        self.bodies, self.betas = [], []
        self.client = httpx2.AsyncClient(transport=httpx2.MockTransport(self.answer))

    def answer(self, request):
        self.bodies.append(json.loads(request.content))
        self.betas.append(request.headers.get("anthropic-beta"))
        reply = next(self.replies)
        if isinstance(reply, str):
            return httpx2.Response(200, text=reply, headers={"content-type": "text/event-stream"})
        return httpx2.Response(200, json=reply)

    def check(self, names, *, requests):
        assert len(self.bodies) == requests
        assert len({json.dumps(body["tools"]) for body in self.bodies}) == 1
        sent = [bytes_of(body) for body in self.bodies]
        assert all(later.startswith(before) for before, later in itertools.pairwise(sent))
        assert names <= declared_in(self.bodies[-1]).keys()


def search():
    return ToolSearchProcessor([make("weather"), make("calendar")])


@pytest.mark.parametrize("native", ["definition", "reference", None])
async def test_anthropic(native):
    anthropic = pytest.importorskip("anthropic")
    server = Server(message(number, call) for number, call in enumerate([*CALLS, *MORE]))
    client = anthropic.AsyncAnthropic(api_key="x", http_client=server.client)
    searcher, messages = search(), []
    for text in ("weather?", "and my calendar"):
        messages.append({"role": "user", "content": text})
        async with searcher.session(thread_id="t") as session:
            reply = None
            while reply is None or reply.stop_reason == "tool_use":
                request = await session.anthropic_request(messages, native=native)
                reply = await client.beta.messages.create(model="claude-opus-5", max_tokens=99, **request)
                messages.append({"role": "assistant", "content": reply.content})
                if reply.stop_reason == "tool_use":
                    messages.append({"role": "user", "content": await session.execute(reply)})
    for body in server.bodies:
        check_anthropic(body)
    assert [beta for beta in server.betas if beta] == [BETA] * (6 if native == "definition" else 0)
    if native == "definition":
        server.check({"weather", "calendar"}, requests=6)
    await client.close()


@pytest.mark.parametrize("as_event", [False, True], ids=["whole", "streamed"])
async def test_responses(as_event):
    replies = [response(number, call) for number, call in enumerate([*CALLS, *MORE])]
    server = Server(map(events, replies) if as_event else replies)
    client = AsyncOpenAI(api_key="x", http_client=server.client)
    searcher, items = search(), []
    for text in ("weather?", "and my calendar"):
        items.append({"role": "user", "content": text})
        async with searcher.session(thread_id="t") as session:
            results = [None]
            while results:
                request = await session.responses_request(items, native=True)
                reply = await client.responses.create(model="gpt-5.5", stream=as_event, **request)
                if as_event:
                    reply = [event async for event in reply][-1]
                results = await session.execute(reply)
                items += (reply.response if as_event else reply).output
                items += results
    for body in server.bodies:
        check_responses(body)
    server.check({"weather", "calendar"}, requests=6)
    assert [item["type"] for item in server.bodies[-1]["input"] if item.get("type") == "reasoning"]
    await client.close()
