"""A loop over OpenAI's chat completions, as a strictly typed program writes it."""

from typing import TYPE_CHECKING

from openai import AsyncOpenAI, AsyncStream, OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam

from tool_search_processor import TokenLimiter, ToolSearchProcessor, ToolSession, tool

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionToolParam


@tool
def weather(city: str) -> str:
    """Say how the weather is."""
    return f"sunny in {city}"


search = ToolSearchProcessor([weather])


async def answer(client: AsyncOpenAI, messages: list[ChatCompletionMessageParam]) -> str | None:
    """Ask until the model stops calling tools."""
    async with ToolSession(search, TokenLimiter(8_000), thread_id="t") as session:
        while True:
            tools = await session.openai_tools(messages)
            reply = await client.chat.completions.create(model="m", messages=session.messages, tools=tools)
            completion: ChatCompletion = reply
            message = completion.choices[0].message
            if not message.tool_calls:
                return message.content
            messages.extend(await session.execute(message))


async def stream(client: AsyncOpenAI, messages: list[ChatCompletionMessageParam]) -> None:
    """Ask for a stream, with a list of definitions of its own type."""
    async with search.session() as session:
        tools: list[ChatCompletionToolParam] = await session.openai_tools(messages)
        parts = await client.chat.completions.create(model="m", messages=messages, tools=tools, stream=True)
        chunks: AsyncStream[ChatCompletionChunk] = parts
        await chunks.close()


def without_async(client: OpenAI, messages: list[ChatCompletionMessageParam]) -> str | None:
    """Ask a client that blocks, in a loop that does."""
    with search.session() as session:
        tools = session.openai_tools_sync(messages)
        reply = client.chat.completions.create(model="m", messages=messages, tools=tools)
        messages.extend(session.execute_sync(reply.choices[0].message))
        return reply.choices[0].message.content


class Account:
    """Has a tool of its own."""

    @tool
    def close(self) -> str:
        """Close the account."""
        return "closed"


own = ToolSearchProcessor([Account().close.replace(name="close_account")])
