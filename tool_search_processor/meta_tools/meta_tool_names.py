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
    def kinds(self) -> tuple[str, ...]:
        """Which meta-tools are listed, in their order: the fields that have their names."""
        second = () if self.mode == "auto_load" else (self.mode,)
        return ("search", *second, *(("unload",) if self.allow_unload else ()))

    @property
    def present(self) -> tuple[str, ...]:
        """The names of the meta-tools that are listed, in their order."""
        return tuple(getattr(self, kind) for kind in self.kinds)

    @property
    def options(self) -> dict[str, str]:
        """The names of the meta-tools that are listed, each with the option that changes it."""
        return {getattr(self, kind): f"{kind}_tool_name" for kind in self.kinds}

    @property
    def loading(self) -> frozenset[str]:
        """The names of the meta-tools whose results load."""
        return frozenset({"load": (self.load,), "auto_load": (self.search,), "call": ()}[self.mode])
