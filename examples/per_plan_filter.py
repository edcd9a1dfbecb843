"""A filter decides for each request who may find, load and use which tool.

See that everyone finds `generate_password`, that only the pro plan may load it, that for the free plan it
seems not to exist, and that a filter that fails (no plan in the context) denies.

    python examples/per_plan_filter.py
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import standard_library

from tool_search_processor import FilterRequest, ToolSearchProcessor


def policy(request: FilterRequest) -> bool:
    """Let everyone search, and only the pro plan load and use tools with the tag "security"."""
    if request.phase == "search":
        return True
    return "security" not in request.tool.tags or request.context["plan"] == "pro"


async def show(search: ToolSearchProcessor, context: Mapping[str, Any]) -> None:
    """Search and load as one request."""
    hits = await search.search("generate a password", context=context, limit=2)
    names = ["generate_password", "no_such_tool", "count_words"]
    answer = await search.load(names, thread_id=f"thread of {context}", context=context)
    missing = [item["name"] for item in answer["not_found"]]
    print(f"{context or 'no plan at all'}")
    print(f"  finds {', '.join(hit.name for hit in hits)}")
    print(f"  loads {', '.join(answer['loaded']) or 'nothing'}; not found: {', '.join(missing)}")


async def main() -> None:
    """Make the same request on three plans."""
    # The warning about the hook that failed, with its traceback, belongs into a log.
    logging.basicConfig(level=logging.ERROR)
    search = ToolSearchProcessor(standard_library.tools(), filter=policy)
    for context in ({"plan": "free"}, {"plan": "pro"}, {}):
        await show(search, context)


if __name__ == "__main__":
    asyncio.run(main())
