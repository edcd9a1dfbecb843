"""In mode "call" the list of tools never changes, so the provider's prompt cache is never broken.

See the fingerprint of the definitions at each step, in mode "load" and in mode "call".

    python examples/call_mode.py
"""

from __future__ import annotations

import hashlib
from typing import Literal

import standard_library
from models import find_load_call, last_result

from tool_search_processor import Agent, ToolSearchProcessor
from tool_search_processor.testing import Reply, ScriptedModel, call

QUERY = "is a year a leap year"

SCRIPTS: dict[Literal["load", "call"], list[Reply]] = {
    "load": find_load_call(QUERY, {"year": 2028}, answer="A leap year: {}"),
    "call": [
        call("search_tools", {"query": QUERY}),
        lambda request: call(
            "call_tool", {"name": last_result(request)["results"][0]["name"], "arguments": {"year": 2028}}
        ),
        lambda request: f"A leap year: {request.messages[-1]['content']}",
    ],
}


def main() -> None:
    """Ask the same question in both modes."""
    print("model: scripted (scripted model, not an LLM)")
    for mode, script in SCRIPTS.items():
        model = ScriptedModel(script)
        search = ToolSearchProcessor(standard_library.tools(), mode=mode)
        agent = Agent(name=mode, model="scripted", input_processors=[search], completion=model)
        answer = agent.run_sync("Is 2028 a leap year?").output
        print(f'mode "{mode}": {answer}')
        for number, request in enumerate(model.requests, start=1):
            fingerprint = hashlib.sha256(request.tools_bytes).hexdigest()[:8]
            print(f"  step {number}: {fingerprint}  {', '.join(request.tool_names)}")


if __name__ == "__main__":
    main()
