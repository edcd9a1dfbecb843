"""The soak's runs in LangChain: one agent for all of them, and a model that reads its script from the run."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from tool_search_processor.adapters.langchain import ToolSearchMiddleware

if TYPE_CHECKING:
    from tests.benchmarks.soak import Run, Soak

_TURN: ContextVar[list[list[tuple[str, Any]]]] = ContextVar("turn")


class TurnModel(BaseChatModel):
    """Replies with the current run's calls, one reply after the other, then with "done"."""

    @property
    def _llm_type(self) -> str:
        return "soak"

    def bind_tools(self, tools: Any, **options: Any) -> TurnModel:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        step, turn = sum(isinstance(message, AIMessage) for message in messages), _TURN.get()
        reply = AIMessage("done")
        if step < len(turn):
            # LangChain parses arguments itself, so a model of its own has none that can't be read.
            calls = [
                {"name": name, "args": arguments if isinstance(arguments, dict) else {}, "id": f"c{step}_{n}"}
                for n, (name, arguments) in enumerate(turn[step])
            ]
            reply = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


class LangChainRuns:
    """Runs one agent of LangChain's on the soak's processor."""

    def __init__(self, soak: Soak) -> None:
        self._soak = soak
        self._agent = create_agent(
            TurnModel(), middleware=[ToolSearchMiddleware(soak.processor)], context_schema=dict
        )

    async def run(self, run: Run) -> None:
        """Run the agent once."""
        _TURN.set(run.turn)
        config: Any = {"configurable": {"thread_id": run.thread}} if run.thread else None
        result = await self._agent.ainvoke({"messages": [("user", "go")]}, config, context=run.context)
        messages = result["messages"]
        results = sum(isinstance(message, ToolMessage) for message in messages)
        self._soak.check(messages[-1].text == "done" and results == sum(map(len, run.turn)), messages)
        self._soak.steps += len(run.turn) + 1
