"""What pydantic-ai sends when a tool is loaded in the middle of a run: the prompt cache stays valid."""

import json
from itertools import pairwise

import pytest

pytest.importorskip("pydantic_ai", reason='needs pip install "pydantic-ai-slim[anthropic,openai]"')
pytest.importorskip("openai", reason='needs pip install "pydantic-ai-slim[anthropic,openai]"')
pytest.importorskip("anthropic", reason='needs pip install "pydantic-ai-slim[anthropic,openai]"')

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent, Tool
from pydantic_ai.capabilities import ToolSearch
from pydantic_ai.messages import ToolAvailabilityDeltaPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tests.adapters.frameworks.test_pydantic_ai import ADA, CALL, LOAD, META, catalog, many
from tool_search_processor import ToolSearchProcessor
from tool_search_processor.adapters.pydantic_ai import ToolSearchCapability, search_strategy


def transport(replies):
    """Return a client that is answered with these replies, and the bodies that it sent."""
    script, bodies = iter(replies), []

    def handle(request):
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, json=next(script))

    return httpx2.AsyncClient(transport=httpx2.MockTransport(handle)), bodies


def anthropic_reply(number, step):
    block = {"type": "text", "text": step}
    if not isinstance(step, str):
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": step[0], "input": step[1]}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [block],
        "stop_reason": "end_turn" if isinstance(step, str) else "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def openai_reply(number, step):
    text = [{"type": "output_text", "text": step, "annotations": []}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": text}
    if not isinstance(step, str):
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": step[0],
            "arguments": json.dumps(step[1]),
            "status": "completed",
        }
    details = {
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": "r",
        "created_at": 0,
        "model": "m",
        "object": "response",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
        "output": [item],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
    }


def anthropic(name, *steps):
    client, bodies = transport([anthropic_reply(*numbered) for numbered in enumerate(steps)])
    provider = AnthropicProvider(anthropic_client=AsyncAnthropic(api_key="x", http_client=client))
    return AnthropicModel(name, provider=provider), bodies


def openai(name, *steps):
    client, bodies = transport([openai_reply(*numbered) for numbered in enumerate(steps)])
    provider = OpenAIProvider(openai_client=AsyncOpenAI(api_key="x", http_client=client))
    return OpenAIResponsesModel(name, provider=provider), bodies


async def run(model, **options):
    agent = Agent(model, capabilities=[ToolSearchCapability(ToolSearchProcessor(catalog()))], **options)
    return await agent.run("weather?", deps=ADA, model_settings={"max_tokens": 1000})


def prefixed(bodies, key):
    """Return True if the messages of each request begin with those of the one before, but for cache marks."""
    texts = [json.dumps(body[key]) for body in bodies]
    return all(after.startswith(before[:-1]) for before, after in pairwise(texts))


@pytest.mark.parametrize("name", ["gpt-5.5", "gpt-4.1"])
async def test_openai_gets_a_loaded_tool_as_an_item_and_the_list_stays(name):
    model, bodies = openai(name, LOAD, CALL, "done")
    result = await run(model)
    assert result.output == "done"
    assert [[tool["name"] for tool in body["tools"]] for body in bodies] == [META] * 3
    added = [item for item in bodies[-1]["input"] if item.get("type") == "additional_tools"]
    assert [tool["name"] for item in added for tool in item["tools"]] == ["weather_forecast"]
    assert prefixed(bodies, "input")


@pytest.mark.parametrize("name", ["claude-opus-4-8", "claude-opus-5"])
async def test_anthropic_gets_a_loaded_tool_as_an_addition_behind_its_result(name):
    model, bodies = anthropic(name, LOAD, CALL, "done")
    assert (await run(model)).output == "done"
    assert [tool["name"] for tool in bodies[0]["tools"]] == META
    assert [(t["name"], t.get("defer_loading", False)) for t in bodies[-1]["tools"]] == [
        ("search_tools", False),
        ("load_tool", False),
        ("weather_forecast", True),
    ]
    assert "tool_addition" in json.dumps(bodies[-1]["messages"])
    assert prefixed(bodies, "messages")


@pytest.mark.parametrize("name", ["claude-sonnet-5", "claude-haiku-4-5"])
async def test_older_claude_gets_it_by_reference(name):
    model, bodies = anthropic(name, LOAD, CALL, "done")
    assert (await run(model)).output == "done"
    assert [tool["name"] for tool in bodies[-1]["tools"]] == [*META, "weather_forecast"]
    assert "tool_reference" in json.dumps(bodies[-1]["messages"])
    assert prefixed(bodies, "messages")


async def test_pydantic_ai_records_what_became_available():
    model, _ = openai("gpt-5.5", LOAD, CALL, "done")
    messages = (await run(model)).all_messages()
    deltas = [part for m in messages for part in m.parts if isinstance(part, ToolAvailabilityDeltaPart)]
    assert [delta.tools_added for delta in deltas] == [["weather_forecast"]]


async def test_a_hidden_tool_of_the_agent_takes_the_same_way():
    def greet(name: str) -> str:
        """Greet a person."""
        return f"hello {name}"

    model, bodies = openai(
        "gpt-5.5", ("load_tool", {"tool_names": ["greet"]}), ("greet", {"name": "Bo"}), "done"
    )
    capability = ToolSearchCapability(ToolSearchProcessor(), hide_own=True)
    tools = [Tool(greet, defer_loading=True)]
    await Agent(model, tools=tools, capabilities=[capability]).run("hi", deps=ADA)
    assert [[tool["name"] for tool in body["tools"]] for body in bodies] == [META] * 3
    assert "hello Bo" in json.dumps(bodies[-1]["input"])
    assert prefixed(bodies, "input")


async def test_a_strategy_answers_anthropic_with_references():
    ask = ("search_tools", {"queries": ["create an invoice"]})
    model, bodies = anthropic("claude-opus-4-8", ask, ("create_invoice", {"text": "a"}), "done")
    agent = Agent(model, tools=many(), capabilities=[ToolSearch(strategy=search_strategy())])
    await agent.run("hi", deps=ADA, model_settings={"max_tokens": 1000})
    assert len({json.dumps(body["tools"]) for body in bodies}) == 1
    (answer,) = [
        block["content"]
        for message in bodies[1]["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]
    assert answer[0] == {"type": "tool_reference", "tool_name": "create_invoice"}
