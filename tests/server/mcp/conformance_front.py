"""The tools, resources and prompts that the protocol's conformance suite asks for, served by a front.

Run it with a port, and let `npx @modelcontextprotocol/conformance server --url …` ask. What the front does
not have is in conformance_baseline.yml.
"""

import asyncio
import base64
import json
import sys
import warnings

import mcp_types as types

from tool_search_processor import Tool, tool
from tool_search_processor.components import Prompt, PromptArgument, Resource, ResourceTemplate
from tool_search_processor.server.mcp import ToolServer
from tool_search_processor.tools import ToolContext

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=")
IMAGE = types.ImageContent(data=base64.b64encode(PNG).decode(), mime_type="image/png")
AUDIO = types.AudioContent(data=base64.b64encode(WAV).decode(), mime_type="audio/wav")


def embedded(uri, text, mime_type="text/plain"):
    return types.EmbeddedResource(
        resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    )


@tool
def test_simple_text():
    """Return a text."""
    return "This is a simple text response for testing."


@tool
def test_image_content():
    """Return an image."""
    return IMAGE


@tool
def test_audio_content():
    """Return a sound."""
    return AUDIO


@tool
def test_embedded_resource():
    """Return a resource."""
    return embedded("test://embedded-resource", "This is an embedded resource content.")


@tool
def test_multiple_content_types():
    """Return contents of several kinds."""
    data = json.dumps({"test": "data", "value": 123}, separators=(",", ":"))
    return [
        types.TextContent(text="Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", data, "application/json"),
    ]


@tool
async def test_tool_with_logging(context: ToolContext) -> str:
    """Write to the client's log."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        context.context["log"]("info", line)
        await asyncio.sleep(0.05)
    return "logged"


@tool
def test_error_handling():
    """Fail."""
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool
async def test_tool_with_progress(context: ToolContext) -> str:
    """Report progress."""
    for progress in (0, 50, 100):
        context.context["report_progress"](progress, 100)
        await asyncio.sleep(0.05)
    return "done"


@tool
async def test_sampling(prompt: str, context: ToolContext) -> str:
    """Ask the client's model."""
    ctx = context.context["mcp"]
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    with warnings.catch_warnings(action="ignore"):
        answer = await ctx.session.create_message(
            [message], max_tokens=100, related_request_id=ctx.request_id
        )
    return f"LLM response: {answer.content.text}"


@tool
async def test_elicitation(message: str, context: ToolContext) -> str:
    """Ask the user."""
    text = {"type": "string"}
    answer = await ask(context, message, {"username": text, "email": text}, required=["username", "email"])
    return f"User response: {answer.action}, content: {json.dumps(answer.content)}"


async def ask(context, message, properties, **more):
    """Ask the user to fill in a form."""
    ctx = context.context["mcp"]
    schema = {"type": "object", "properties": properties, **more}
    return await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)


@tool
async def test_elicitation_sep1034_defaults(context: ToolContext) -> str:
    """Ask the user, with an answer to everything already filled in."""
    states = ["active", "inactive", "pending"]
    defaults = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": states, "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    answer = await ask(context, "Who are you?", defaults)
    return f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}"


@tool
async def test_elicitation_sep1330_enums(context: ToolContext) -> str:
    """Ask the user to choose, in each way that there is to tell the choices."""
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{number}", "title": f"Choice {number}"} for number in (1, 2, 3)]
    old = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
    choices = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", **old},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    answer = await ask(context, "Which do you take?", choices)
    return f"Elicitation completed: action={answer.action}, content={json.dumps(answer.content)}"


json_schema_2020_12_tool = Tool(
    name="json_schema_2020_12_tool",
    description="Tool with JSON Schema 2020-12 features",
    parameters={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": False,
    },
    execute=lambda **arguments: arguments,
)


def read_template(uri):
    number = uri.split("/")[3]
    return json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})


class Everything:
    """The tools, resources and prompts."""

    async def list_tools(self, context):
        return [value for value in globals().values() if isinstance(value, Tool)]

    async def list_resources(self, context):
        text = "This is the content of the static text resource."
        return [
            Resource(
                uri="test://static-text",
                description="A text.",
                mime_type="text/plain",
                read=lambda: text,
            ),
            Resource(
                uri="test://static-binary", description="A picture.", mime_type="image/png", read=lambda: PNG
            ),
        ]

    async def list_resource_templates(self, context):
        return [
            ResourceTemplate(
                uri_template="test://template/{id}/data", mime_type="application/json", read=read_template
            )
        ]

    async def list_prompts(self, context):
        def message(content):
            return types.PromptMessage(role="user", content=content)

        def text(words):
            return message(types.TextContent(text=words))

        def argument(name):
            return PromptArgument(name=name, description=f"The {name}.", required=True)

        return [
            Prompt(
                name="test_simple_prompt",
                description="Simple.",
                render=lambda _: "This is a simple prompt for testing.",
            ),
            Prompt(
                name="test_prompt_with_arguments",
                description="With arguments.",
                arguments=[argument("arg1"), argument("arg2")],
                render=lambda given: f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'",
            ),
            Prompt(
                name="test_prompt_with_embedded_resource",
                description="With a resource.",
                arguments=[argument("resourceUri")],
                render=lambda given: [
                    message(embedded(given["resourceUri"], "Embedded resource content for testing.")),
                    text("Please process the embedded resource above."),
                ],
            ),
            Prompt(
                name="test_prompt_with_image",
                description="With a picture.",
                render=lambda _: [message(IMAGE), text("Please analyze the image above.")],
            ),
        ]


if __name__ == "__main__":
    server = ToolServer([Everything()])
    asyncio.run(server.run_http(port=int(sys.argv[1]), ready=lambda url: print(url, flush=True)))  # noqa: T201
