"""How a catalog's providers are doing, and which of their tools are not served or have changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tool_search_processor.catalog.components import ComponentCatalog
from tool_search_processor.catalog.drift import Drift
from tool_search_processor.catalog.merging import Seen
from tool_search_processor.catalog.provider_cache import Source
from tool_search_processor.catalog.status import CatalogStatus
from tool_search_processor.providers.provider import tools_refused_by
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.tools import Tool
from tool_search_processor.tools.origins import Origin


class ReportingCatalog(ComponentCatalog):
    """A catalog that says how its providers are doing, and takes a changed tool once it is accepted."""

    _sources: Sequence[Source[Tool]]
    _drift: Drift
    _seen: Seen

    def status(self) -> CatalogStatus:
        """Return which providers are up, how many tools each has, and what is not served or has changed."""
        providers = [self._judged(source.status(), source.provider) for source in self._sources]
        held = {name: tool.change for name, tool in self._seen.held.items() if tool.change}
        changed = [replace(change, name=name) for name, change in held.items()]
        changed += [change for change in self._drift.changes() if change not in held.values()]
        return CatalogStatus(
            providers=tuple(providers), refused=tuple(self.refused_tools()), changed=tuple(changed)
        )

    def refused_tools(self) -> Sequence[RefusedTool]:
        """Return the tools that are not served: left out by their provider, or refused for their name."""
        left_out = [tool for source in self._sources for tool in tools_refused_by(source.provider)]
        return (*left_out, *self._seen.refused)

    def failure(self) -> str | None:
        """Return which providers are down and why, for an outer catalog's status; None if all are up."""
        down = [provider for provider in self.status().providers if provider.up is False]
        return "; ".join(f"{provider.name}: {provider.error}" for provider in down) or None

    def outages(self) -> Collection[Origin]:
        """Return the origins of the tools that can't be reached now."""
        return frozenset(origin for source in self._sources for origin in source.outages())

    def accept(self, name: str, *, fingerprint: str | None = None) -> None:
        """Accept the changed definition of a foreign tool; a blocked tool is served from now on.

        Args:
            name: The tool's name as `status` tells it, in this catalog.
            fingerprint: The `new_fingerprint` that was looked at: a tool that has changed again since
                then is not accepted. None accepts what is offered now.

        Raises:
            ConfigurationError: When no tool of this name has changed, or it has changed again.
        """
        held = self._seen.held.get(name)
        if held is None or held.accept is None:
            self._drift.accept(name, fingerprint)
        else:
            held.accept(fingerprint)
            self._seen.held = {other: tool for other, tool in self._seen.held.items() if other != name}

    def fingerprints(self) -> dict[str, str]:
        """Return the accepted fingerprint of each foreign tool that was seen, by its provider's name for it.

        If you keep them in a file and give them to the next process as `known_fingerprints`, it notices
        what has changed in between. Fingerprints are of tools after their provider's transforms.
        """
        return self._drift.fingerprints()
