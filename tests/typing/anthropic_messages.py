"""A loop over Anthropic's Messages API, as a strictly typed program writes it."""

from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import Message, MessageParam
from anthropic.types.beta import BetaMessage, BetaMessageParam

from tool_search_processor import ToolSearchProcessor


async def answer(client: AsyncAnthropic, search: ToolSearchProcessor, messages: list[MessageParam]) -> str:
    """Ask until the model stops calling tools."""
    async with search.session(thread_id="t", context={"plan": "pro"}) as session:
        while True:
            tools = await session.anthropic_tools(messages)
            reply: Message = await client.messages.create(
                model="m", max_tokens=1024, messages=messages, tools=tools, system=session.system
            )
            messages.append({"role": "assistant", "content": reply.content})
            if reply.stop_reason != "tool_use":
                return "".join(block.text for block in reply.content if block.type == "text")
            messages.append({"role": "user", "content": await session.execute(reply)})


async def native(
    client: AsyncAnthropic, search: ToolSearchProcessor, messages: list[BetaMessageParam]
) -> None:
    """Declare what was loaded in the conversation."""
    async with search.session() as session:
        request = await session.anthropic_request(messages, native="definition")
        reply: BetaMessage = await client.beta.messages.create(model="m", max_tokens=1024, **request)
        messages.append({"role": "user", "content": await session.execute(reply)})
        async with client.beta.messages.stream(model="m", max_tokens=1024, **request) as parts:
            await parts.get_final_message()


async def beta_and_sync(
    client: Anthropic, search: ToolSearchProcessor, messages: list[BetaMessageParam]
) -> None:
    """Give the list of tools to the beta client, and to one that blocks."""
    async with search.session() as session:
        tools = await session.anthropic_tools(messages)
        client.beta.messages.create(model="m", max_tokens=1024, messages=messages, tools=tools)
