"""The search inside AutoGen: its agent gets two functions for 80 tools; the model is scripted.

See the tools as a model gets them, and two calls, without a model; AutoGen takes async functions.

    pip install tool-search-processor autogen-core
    python examples/frameworks/functions_autogen.py
"""

from __future__ import annotations

import asyncio

from autogen_core import CancellationToken
from autogen_core.tools import FunctionTool
from demo_catalog import CALL, SEARCH, searcher


async def main() -> None:
    """Make AutoGen's tools, and call them as an agent does."""
    search = searcher()
    # README begin
    functions = search.functions(context={"plan": "pro"})
    tools = [FunctionTool(function, description=function.__doc__ or "") for function in functions]
    # README end
    for tool, arguments in zip(tools, (SEARCH, CALL), strict=True):
        print(f"{tool.name}: {', '.join(tool.schema['parameters']['properties'])}")
        answer = await tool.run_json(arguments, CancellationToken())
        print(f"answer of a tool: {tool.return_value_as_string(answer)[:100]}")


if __name__ == "__main__":
    asyncio.run(main())
