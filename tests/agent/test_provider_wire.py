"""What LiteLLM makes of any schema for each provider, seen on its wire."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import jsonschema
import pytest
import respx
from hypothesis import given

from tests.adversarial.any_schema import schemas
from tests.adversarial.depth import examples
from tool_search_processor import Agent, ConfigurationError, Tool, ToolSearchProcessor

pytestmark = [
    pytest.mark.usefixtures("litellm_closed"),
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
OPENAI = {
    "id": "x", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE,
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}],
}  # fmt: skip
ANTHROPIC = {
    "id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip
GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1},
}
BEDROCK = {
    "output": {"message": {"role": "assistant", "content": [{"text": "ok"}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
    "metrics": {"latencyMs": 1},
}
AWS = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "aws_region_name": "us-east-1"}
PROVIDERS: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "openai": ("openai/gpt-4.1", {"api_key": "k"}, OPENAI),
    "anthropic": ("anthropic/claude-sonnet-4-20250514", {"api_key": "k"}, ANTHROPIC),
    "gemini": ("gemini/gemini-2.0-flash", {"api_key": "k"}, GEMINI),
    "bedrock": ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", AWS, BEDROCK),
    "mistral": ("mistral/mistral-large-latest", {"api_key": "k"}, OPENAI),
}
each_provider = pytest.mark.parametrize("provider", PROVIDERS)


async def sent_to(provider: str, *tools: Tool) -> list[dict[str, Any]]:
    """Return the schemas of tools as they went to a provider."""
    import litellm

    if provider == "bedrock":
        pytest.importorskip("boto3")
    model, settings, answer = PROVIDERS[provider]
    bodies: list[dict[str, Any]] = []

    def answered(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json=answer)

    with respx.mock() as mock:
        mock.route().mock(side_effect=answered)
        await litellm.acompletion(
            model=model,
            messages=[{"role": "user", "content": "hi"}],
            tools=[tool.to_openai() for tool in tools],
            num_retries=0,
            **settings,
        )
    (body,) = bodies
    return list(schemas_of(body))


def schemas_of(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for entry in body["tools"] if "tools" in body else body["toolConfig"]["tools"]:
        if "input_schema" in entry:
            yield entry["input_schema"]
        elif "toolSpec" in entry:
            yield entry["toolSpec"]["inputSchema"]["json"]
        elif "function" in entry:
            yield entry["function"]["parameters"]
        else:
            declared = entry.get("function_declarations") or entry["functionDeclarations"]
            yield from (one["parameters"] for one in declared)


def check_sent(provider: str, schema: Any) -> None:
    """Check a schema as its provider does."""
    assert schema["type"] == "object"
    if provider != "gemini":
        jsonschema.Draft202012Validator.check_schema(schema)
        return
    waiting = [schema]
    while waiting:  # Google's Schema is another language: objects everywhere, and nothing demanded in vain
        part = waiting.pop()
        assert isinstance(part, dict)
        waiting.extend(part.get("properties", {}).values())
        waiting.extend(part.get("anyOf", ()))
        waiting.extend([part["items"]] if "items" in part else [])


@pytest.mark.slow
@each_provider
@examples(40)
@given(schema=schemas().filter(lambda schema: isinstance(schema, dict)))
async def test_any_schema_can_be_sent(provider, schema):
    try:
        tool = Tool("a", "d", schema)
    except ConfigurationError:  # what JSON cannot carry
        return
    (sent,) = await sent_to(provider, tool)
    check_sent(provider, sent)


TREE = {
    "type": "object",
    "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}, "value": True},
    "required": ["value", "gone"],
}
PROPS = "#/definitions/Props"
REAL = {
    "recursive": {**TREE, "$defs": {"Tree": TREE, "Unused": {"type": "string"}}},
    "any value": {"type": "object", "properties": {"value": True, "never": False}, "required": ["value"]},
    "kubernetes": {
        "type": "object",
        "properties": {
            "schema": {
                "type": "object",
                "properties": {
                    "$ref": {"type": "string"},
                    "definitions": {"type": "object", "additionalProperties": {"$ref": PROPS}},
                    "items": {"$ref": PROPS},
                },
                "required": ["$ref"],
            }
        },
        "definitions": {"Props": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    },
    "either": {
        "type": "object",
        "properties": {
            "target": {
                "type": "object",
                "properties": {"id": {"type": ["integer", "uuid", "Widget"]}, "name": {"type": "string"}},
                "oneOf": [{"required": ["id"]}, {"required": ["name"]}, {"required": ["slug"]}],
                "not": {"required": ["id", "name"]},
            }
        },
    },
    "old draft": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}, True], "additionalItems": False},
            "limit": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "default": {"$ref": 1}},
        },
        "dependencies": {"pair": ["limit"], "gone": ["pair"]},
    },
}  # fmt: skip


@each_provider
async def test_schemas_as_servers_have_them_can_be_sent_together(provider):
    tools = [
        Tool.from_mcp({"name": f"t{place}", "description": "d", "inputSchema": schema})
        for place, schema in enumerate(REAL.values())
    ]
    for sent in await sent_to(provider, *tools):
        check_sent(provider, sent)


@each_provider
async def test_an_odd_schema_that_was_loaded_doesnt_poison_the_thread(provider):
    if provider == "bedrock":
        pytest.importorskip("boto3")
    model, settings, answer = PROVIDERS[provider]
    odd = Tool.from_mcp({"name": "odd", "inputSchema": REAL["any value"]}, execute=lambda **given: "x")
    search = ToolSearchProcessor([odd, Tool("good", execute=lambda: "y")])
    agent = Agent("a", model, input_processors=[search], model_settings={**settings, "num_retries": 0})
    await search.load("odd", thread_id="t")
    with respx.mock() as mock:
        mock.route().respond(json=answer)
        assert (await agent.run("hi", thread_id="t")).output == "ok"
