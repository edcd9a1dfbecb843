"""An agent over an API that only its OpenAPI document describes: a small library on loopback.

See a namespace before the names, an overlay that renames a tool and fills in an argument, the operation that
a person has to approve, and calls that carry the token of the request's own user.

    pip install ".[openapi,server]"
    python examples/openapi_catalog.py
    python examples/openapi_catalog.py --model openai/gpt-5.5
"""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

from models import choose_model, last_result

from tool_search_processor import Agent, Catalog, ToolSearchProcessor
from tool_search_processor.providers import OpenAPIProvider
from tool_search_processor.testing import Reply, call
from tool_search_processor.transforms import ArgTransform, Namespace, ToolTransform, ToolTransformConfig

PACKAGES = ("httpx", "yaml", "starlette", "uvicorn")
DOCUMENT = Path(__file__).parent / "library" / "openapi.yaml"
SCRIPT: list[Reply] = [
    call("search_tools", {"query": ["find books by title", "borrow a book"]}),
    lambda request: call(
        "load_tool", {"tool_names": [hit["name"] for hit in last_result(request)["results"]]}
    ),
    call("find_books", {"words": ["moby", "dick"]}),
    lambda request: call("library_loans_begin", {"book": last_result(request)[0]["id"]}),
    lambda request: f"{last_result(request)['reader']} has book {last_result(request)['book']} now.",
]


async def main() -> None:
    """Serve the API, ask the question, and print what was offered and said."""
    from library import serving  # here: starlette may be missing

    overlay = ToolTransformConfig(
        name="find_books", arguments={"branch": ArgTransform(hide=True, default="main street")}
    )
    async with serving() as url:
        provider = OpenAPIProvider(
            DOCUMENT,
            base_url=url,
            requires_approval=["DELETE *"],
            auth=lambda request: {"Authorization": f"Bearer {request.context['token']}"},
        )
        shaped = provider.with_transforms(
            Namespace("library"), ToolTransform({"library_books_find": overlay})
        )
        catalog = Catalog([shaped])
        for tool in await catalog.list_tools():
            needs = " needs approval" if tool.requires_approval else ""
            print(f"  {tool.namespace}: {tool.name}({', '.join(tool.parameters['properties'])}){needs}")
        agent = Agent(name="library", input_processors=[ToolSearchProcessor(catalog)], **choose_model(SCRIPT))
        result = await agent.run("Borrow Moby-Dick for me.", context={"token": "token-of-ada"})
        print(f"model: {agent.model}\nAnswer: {result.output}")
        await catalog.aclose()


if __name__ == "__main__":
    if all(map(importlib.util.find_spec, PACKAGES)):
        asyncio.run(main())
    else:
        print('What this needs is not installed: pip install ".[openapi,server]"')
