"""What happens when two tools want one name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from tool_search_processor.errors import ConfigurationError, DuplicateToolError, ReservedToolNameError
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.tools import Tool
from tool_search_processor.tools.names import hashed_tool_name


class NameRegister:
    """Gives out names: the earlier tool keeps one; a later one is told apart by a hash, or refused.

    Told apart is what an importer renamed: two different originals that meet in one name. Tools with
    equal originals, or without one, clash.
    """

    def __init__(
        self, *, taken: Mapping[str, Tool], reserved: Collection[str] = (), strict: bool = False
    ) -> None:
        """Begin a register.

        Args:
            taken: Tools that have their names already.
            reserved: Names that no tool may bear.
            strict: Raise at the first refusal.
        """
        self.refused: list[RefusedTool] = []
        # Only looked into: a request pays for its own tools, however many are shared.
        self._shared = taken
        self._entered: dict[str, tuple[Tool, str]] = {}
        self._reserved = reserved
        self._strict = strict

    def enter(self, tools: Iterable[Tool], *, origin: str) -> list[Tool]:
        """Return those of the tools that get a name, some under a new one.

        Args:
            tools: The candidates, in order.
            origin: Where they come from, for errors and status.

        Raises:
            DuplicateToolError: Where a name is taken, in a strict register.
            ReservedToolNameError: Where a name is reserved, in a strict register.
        """
        entered = []
        for tool in tools:
            named = self._named(tool)
            if named.name in self._reserved:
                self._refuse(named, origin, _reserved_error(named.name, origin))
            elif (holder := self._holder(named.name)) is not None:
                self._refuse(named, origin, DuplicateToolError(named.name, (holder[1], origin)))
            else:
                self._entered[named.name] = (named, origin)
                entered.append(named)
        return entered

    def _named(self, tool: Tool) -> Tool:
        holder = self._holder(tool.name)
        original = tool.original_name
        if holder is None or original == holder[0].original_name:
            return tool
        metadata = {**tool.metadata, "original_name": original}
        return tool.replace(name=hashed_tool_name(tool.name, original), metadata=metadata)

    def _holder(self, name: str) -> tuple[Tool, str] | None:
        """Return the tool that has a name, and where it came from."""
        shared = self._shared.get(name)
        return self._entered.get(name) if shared is None else (shared, "the tools that all requests share")

    def _refuse(self, tool: Tool, origin: str, error: ConfigurationError) -> None:
        if self._strict:
            raise error
        self.refused.append(RefusedTool(name=tool.name, provider=origin, reason=str(error)))


def _reserved_error(name: str, origin: str) -> ReservedToolNameError:
    return ReservedToolNameError(
        f"the tool {name!r} from {origin} bears the name of a meta-tool: rename it, put it in a namespace, "
        "or give the meta-tool another name (search_tool_name=, load_tool_name=, call_tool_name=, "
        "unload_tool_name=)"
    )
