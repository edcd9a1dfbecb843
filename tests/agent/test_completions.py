"""One call of the model, streamed or not."""

from __future__ import annotations

import pytest

from tests.agent.answers import chunk, response
from tool_search_processor.agent.completions import complete
from tool_search_processor.agent.replies import Reply


class Stream:
    """Chunks that note when they are closed, one way or the other."""

    def __init__(self, chunks, *, closing):
        self.chunks = iter(chunks)
        self.closed = 0
        setattr(self, closing, self._aclose if closing == "aclose" else self._close)

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return next(self.chunks)
        except StopIteration:
            raise StopAsyncIteration from None

    def _close(self):
        self.closed += 1

    async def _aclose(self):
        self.closed += 1


@pytest.mark.parametrize("closing", ["aclose", "close"])
async def test_a_stream_is_closed_when_it_is_left(closing):
    streams = []

    async def completion(**request):
        assert request["stream"] is True
        assert request["stream_options"] == {"include_usage": True}
        streams.append(Stream([chunk(content="a"), chunk(content="b")], closing=closing))
        return streams[-1]

    items = [item async for item in complete(completion, {"model": "m"}, stream=True)]
    assert items == ["a", "b", Reply(text="ab")]
    early = complete(completion, {"model": "m"}, stream=True)
    assert await anext(early) == "a"
    await early.aclose()
    assert [stream.closed for stream in streams] == [1, 1]


@pytest.mark.parametrize(("message", "items"), [({"content": "a"}, ["a"]), ({"content": None}, [])])
async def test_a_completion_that_cannot_stream(message, items):
    def completion(**request):  # and is not async either
        return response(message)

    *texts, reply = [item async for item in complete(completion, {"model": "m"}, stream=True)]
    assert texts == items
    assert reply.text == "".join(items)


async def test_the_callers_stream_options_stand():
    async def completion(**request):
        assert request["stream_options"] is None
        return response({"content": "a"})

    assert [item async for item in complete(completion, {"stream_options": None}, stream=True)]
