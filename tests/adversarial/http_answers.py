"""What servers over HTTP answer that mean harm."""

from tests.providers.openapi.web import reply


def answering(body="", **options):
    """Return what answers every request with a body, or with what a function makes of the request."""

    async def answer(request, writer):
        text = body(request) if callable(body) else body
        await reply(writer, text, **{"content_type": "application/json", **options})

    return answer


def endless(content_type="application/json"):
    """Return what never ends its answer."""

    async def answer(request, writer):
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n\r\n".encode())
        while True:
            writer.write(b" " * 1_000_000)
            await writer.drain()

    return answer
