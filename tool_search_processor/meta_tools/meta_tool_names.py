"""What the meta-tools are called, and which of them there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["load", "auto_load", "call"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaToolNames:
    """What the meta-tools are called, and which of them there are."""

    mode: Mode
    search: str = "search_tools"
    load: str = "load_tool"
    call: str = "call_tool"
    unload: str = "unload_tool"
    allow_unload: bool = False

    @property
    def present(self) -> tuple[str, ...]:
        """The names of the meta-tools that are listed, in their order."""
        return tuple(name for name, _ in self._listed)

    @property
    def options(self) -> dict[str, str]:
        """The names of the meta-tools that are listed, each with the option that changes it."""
        return dict(self._listed)

    @property
    def loading(self) -> frozenset[str]:
        """The names of the meta-tools whose results load."""
        return frozenset({"load": (self.load,), "auto_load": (self.search,), "call": ()}[self.mode])

    @property
    def _listed(self) -> list[tuple[str, str]]:
        listed = [(self.search, "search_tool_name")]
        if self.mode == "load":
            listed.append((self.load, "load_tool_name"))
        elif self.mode == "call":
            listed.append((self.call, "call_tool_name"))
        if self.allow_unload:
            listed.append((self.unload, "unload_tool_name"))
        return listed
