"""The lists that servers have, and the entries that are left out of them, with the reason."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from tool_search_processor.concurrency.once import Once
from tool_search_processor.providers.refusals import RefusedTool

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ListKind:
    """One kind of list that servers have."""

    method: str
    """The method of the request."""
    entry: str
    """What the log calls one entry."""
    wire_key: str
    """Where the list stands in an answer."""
    attribute: str
    """The same in the SDK's page."""
    key: str
    """The attribute that identifies an entry."""


TOOLS = ListKind("tools/list", "a tool", "tools", "tools", "name")
RESOURCES = ListKind("resources/list", "a resource", "resources", "resources", "uri")
TEMPLATES = ListKind(
    "resources/templates/list",
    "a template of resources",
    "resourceTemplates",
    "resource_templates",
    "uri_template",
)
PROMPTS = ListKind("prompts/list", "a prompt", "prompts", "prompts", "name")
LISTS = {kind.method: kind for kind in (TOOLS, RESOURCES, TEMPLATES, PROMPTS)}

_LONGEST_NAME = 100
"""Characters; a server may give a name of any length."""


class LeftOut:
    """Collects what is left out of one server's lists; each is logged once."""

    def __init__(self, server: str) -> None:
        """Begin with nothing left out; `server` is what the log and the status call it."""
        self.tools: Sequence[RefusedTool] = ()
        """The tools left out of the list that was read last."""
        self.server = server
        self._noted: dict[tuple[str, str], RefusedTool] = {}
        self._told = Once()

    def begin(self) -> None:
        """Note that the list of tools is read from its first page."""
        self._noted = {}

    def note(self, method: str, name: str, reason: str) -> None:
        """Note an entry that is left out of the list that answers `method`."""
        name = shortened(name)
        if method == "tools/list":
            key = (name, reason if name else f"nameless {len(self._noted)}")
            self._noted[key] = RefusedTool(name=name, provider=self.server, reason=reason)
        if self._told.is_new((method, name, reason)):
            logger.warning(
                "%s of the MCP server %r is left out: %r: %s", LISTS[method].entry, self.server, name, reason
            )

    def note_hidden(self, method: str, name: str, count: int) -> None:
        """Warn about an entry that held invisible characters, which a model would have read."""
        if count and self._told.is_new((method, name, count)):
            what = f"{LISTS[method].entry} of the MCP server {self.server!r}"
            logger.warning("%d hidden characters were taken out of %s: %r", count, what, shortened(name))

    def end(self) -> None:
        """Note that the list of tools has been read to its end."""
        self.tools = tuple(self._noted.values())


def shortened(name: str) -> str:
    """Return a server's name for something, as the log and the status tell it."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
