"""A front over standard input and output, as a client would start it; prints what must not be in the way."""

import asyncio

from tests.server.mcp.support import front

print("a line that is no message")  # noqa: T201
asyncio.run(front(mode="discovery").run_stdio())
