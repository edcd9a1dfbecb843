"""A tool that needs a person's approval stops the run; `resume` goes on, also in another process.

See the run stop with a pending call, and how it ends when the call is approved and when it is refused.

    python examples/approval.py
    python examples/approval.py --model openai/gpt-5.5
"""

from __future__ import annotations

import standard_library
from models import choose_model, find_load_call

from tool_search_processor import Agent, RunResult, ToolSearchProcessor, tool

ACCOUNTS = ["ada", "bob"]


@tool(requires_approval=True, tags={"admin"})
def delete_account(name: str) -> str:
    """Delete a user's account for good.

    Args:
        name: The user's name.
    """
    ACCOUNTS.remove(name)
    return f"deleted {name}"


def make_agent() -> Agent:
    """Make an agent with a few hundred tools and the dangerous one."""
    script = find_load_call("delete a user account", {"name": "bob"}, answer="The tool says: {}")
    return Agent(
        name="admin",
        input_processors=[ToolSearchProcessor([delete_account, *standard_library.tools()])],
        **choose_model(script),
    )


def main() -> None:
    """Run until the approval is needed, and go on from plain JSON: once refused, once approved."""
    for answer in ("Bob still works here.", True):
        agent = make_agent()
        print(f"model: {agent.model}")
        stopped = agent.run_sync("Please delete bob's account.")
        kept = stopped.to_json()  # in a database, until somebody has decided

        paused = RunResult.from_json(kept)
        for call in paused.pending:
            print(f"{paused.finish_reason}: {call.name}({dict(call.arguments)}), accounts: {ACCOUNTS}")
        done = agent.resume_sync(paused, {call.call_id: answer for call in paused.pending})
        print(f"answer {answer!r}: {done.output}\naccounts: {ACCOUNTS}\n")


if __name__ == "__main__":
    main()
