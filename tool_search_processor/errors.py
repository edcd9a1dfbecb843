"""The error tree.

    ToolSearchError
    ├── ConfigurationError        (ValueError)    an option that cannot work
    │   ├── InvalidToolError                      a name or a schema that no provider accepts
    │   ├── DuplicateToolError                    two tools of one catalog with one name
    │   └── ReservedToolNameError                 a tool with a meta-tool's name
    ├── ToolArgumentsError        (ValueError)    arguments that do not fit a tool's schema
    ├── ToolUnavailableError      (LookupError)   a call of a tool that is unknown, denied or gone
    ├── ToolNotCallableError      (TypeError)     a definition without anything to run
    ├── ToolCallError             (RuntimeError)  a server refused a call, failed, or could not be reached
    ├── InvalidPatternError       (ValueError)    a search pattern that does not compile
    ├── TokenLimitError           (ValueError)    what must be sent does not fit
    ├── ResumeError               (ValueError)    an approval that does not fit the pending call
    ├── StoreError                (RuntimeError)  a store that cannot do what is asked
    ├── ProviderError             (RuntimeError)  a source of tools that cannot be reached
    ├── RunningLoopError          (RuntimeError)  a sync door opened inside a running event loop
    └── AbortRun                                  a processor ends the run; not a failure

A mistake of the program raises. A mistake of the *model* never does: it is answered in words, as the
result of its tool call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType


class ToolSearchError(Exception):
    """Base of every error this package raises.

    ```python
    try:
        result = await agent.run("File a bug about the login page")
    except ToolSearchError as error:
        print(error)
    ```
    """


class ConfigurationError(ToolSearchError, ValueError):
    """An option, or a combination of options, that cannot work.

    ```python
    ToolSearchProcessor(top_k=0)  # raises ConfigurationError
    ```
    """


class InvalidToolError(ConfigurationError):
    """A tool whose name or schema model providers would refuse.

    ```python
    Tool("not a name")  # raises InvalidToolError
    ```
    """


class DuplicateToolError(ConfigurationError):
    """Two tools of a catalog have the same name.

    ```python
    Catalog([create_issue, create_issue])  # raises DuplicateToolError
    Catalog([create_issue, StaticProvider([create_issue]).with_transforms(Namespace("old"))])
    ```
    """

    def __init__(self, name: str, origins: Sequence[str]) -> None:
        """Build the message from the clash.

        Args:
            name: The name that is taken twice.
            origins: Where the tools came from, the earlier one first.
        """
        self.name = name
        self.origins = tuple(origins)
        super().__init__(
            f"two tools are named {name!r}: one from {self.origins[0]}, one from {self.origins[-1]}. "
            "Rename one, or put a prefix before the names of one provider: "
            'StaticProvider([...]).with_transforms(Namespace("...")), of tool_search_processor.transforms'
        )

    def __reduce__(self) -> tuple[type[DuplicateToolError], tuple[str, tuple[str, ...]]]:
        """Pickle by what the constructor takes, not by the message."""
        return type(self), (self.name, self.origins)


class ReservedToolNameError(ConfigurationError):
    """A tool has the name of a meta-tool.

    ```python
    ToolSearchProcessor([Tool("load_tool")])  # raises ReservedToolNameError
    ToolSearchProcessor([Tool("load_tool")], load_tool_name="load")
    ```
    """


class ToolArgumentsError(ToolSearchError, ValueError):
    """Arguments that do not fit a tool's schema; its message is fit for the model to read.

    ```python
    await tool(create_issue).call({"titel": "Login"})  # raises ToolArgumentsError
    ```
    """

    ran: bool = False
    """Whether the tool's own function raised it: it is about another call, and the tool had begun."""


class ToolUnavailableError(ToolSearchError, LookupError):
    """A call of a tool that is unknown, denied or gone; the message does not say which.

    ```python
    open_doors = {"front"}
    pay = Tool("pay", execute=print, pinned=True)
    search = ToolSearchProcessor([pay], filter=lambda request: bool(open_doors))
    step = await search.process_input_step(InputStep(messages=()))
    open_doors.clear()
    await step.tools[-1].call()  # raises ToolUnavailableError
    ```
    """

    ran: bool = True
    """False where the policy of that moment did not let the tool run; a tool may raise this itself."""
    problem: str | None = None
    """Why policy gave no verdict, for the operator and never for a model; None where it did."""


class ToolNotCallableError(ToolSearchError, TypeError):
    """A tool that is a definition only: it has no `execute`.

    ```python
    await Tool("a_definition_only").call()  # raises ToolNotCallableError
    ```
    """


class ToolCallError(ToolSearchError, RuntimeError):
    """A server refused a tool's call, failed, or could not be reached; its message is fit for the model.

    ```python
    async def weather(city: str, stations: Mapping[str, str]) -> str:
        if city not in stations:
            raise ToolCallError(f"There is no station in {city}: try a larger city near it.")
        return stations[city]
    ```
    """


class InvalidPatternError(ToolSearchError, ValueError):
    """A search pattern that does not compile; its message says why and is fit for the model.

    ```python
    search = ToolSearchProcessor([create_issue], search="regex")
    await search.search("create_(")  # raises InvalidPatternError
    ```
    """


class TokenLimitError(ToolSearchError, ValueError):
    """What must be sent costs more tokens than the limit.

    ```python
    step = InputStep(messages=[{"role": "user", "content": "word " * 1000}])
    await TokenLimiter(100, counter=len).process_input_step(step)  # raises TokenLimitError
    ```
    """

    parts: Mapping[str, int] = MappingProxyType({})
    """What has to be sent, and its tokens."""


class ResumeError(ToolSearchError, ValueError):
    """An approval that does not fit what is pending.

    ```python
    result = await agent.run("Hello")
    await agent.resume(result, approvals={"call_1": True})  # raises ResumeError
    ```
    """


class StoreError(ToolSearchError, RuntimeError):
    """A store that cannot do what is asked of it.

    ```python
    search = ToolSearchProcessor([create_issue], store=HistoryStore())
    await search.loaded("t-42")  # raises StoreError
    ```
    """


class ProviderError(ToolSearchError, RuntimeError):
    """A source of tools that cannot be reached, or that gave no answer; not a mistake of the program.

    ```python
    server = MCPProvider.stdio("no-such-program", name="broken")
    await server.list_tools({})  # raises ProviderError
    await Catalog([server, create_issue]).list_tools()  # the others are listed all the same
    ```
    """

    def __init__(self, reason: str = "", *, retry_in_seconds: float | None = None) -> None:
        """Build the message.

        Args:
            reason: What is wrong, and what to do.
            retry_in_seconds: When the source can be asked again, if it was not asked this time.
        """
        self.reason = reason
        self.retry_in_seconds = retry_in_seconds
        later = "" if retry_in_seconds is None else f" (the next try is possible in {retry_in_seconds:.1f} s)"
        super().__init__(f"{reason}{later}")


class RunningLoopError(ToolSearchError, RuntimeError):
    """A synchronous method was called inside a running event loop.

    ```python
    async def ask(question: str) -> RunResult:
        return agent.run_sync(question)

    await ask("Hello")  # raises RunningLoopError
    ```
    """


class AbortRun(ToolSearchError):  # noqa: N818 - not a failure: the run ends with finish_reason "aborted"
    """Raised by an input processor to end the run cleanly.

    ```python
    class Budget:
        id = "budget"

        async def process_input_step(self, step: InputStep) -> InputStep:
            if step.context["euros_left"] <= 0:
                raise AbortRun("The budget of this month is spent.")
            return step
    ```
    """

    def __init__(self, reason: str) -> None:
        """Keep the reason, which becomes the run's output.

        Args:
            reason: Why the run ends; shown to the caller that started it.
        """
        self.reason = reason
        super().__init__(reason)
