"""A loop over OpenAI's Responses API, as a strictly typed program writes it."""

from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseInputItemParam

from tool_search_processor import ToolSearchProcessor


async def answer(
    client: AsyncOpenAI, search: ToolSearchProcessor, items: list[ResponseInputItemParam]
) -> str:
    """Ask twice, with loaded tools listed and declared."""
    async with search.session() as session:
        listed = await session.responses_request(items)
        reply: Response = await client.responses.create(model="m", **listed)
        items += await session.execute(reply)
        declared = await session.responses_request(items, native=True)
        reply = await client.responses.create(model="m", tool_choice="auto", **declared)
        return reply.output_text
