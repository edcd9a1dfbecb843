"""The protocol of a store for experience."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class ExperienceStore(Protocol):
    """Keeps one string for each tool of each scope, whose content is up to `Experience`.

    ```python
    experience = Experience(SQLiteExperienceStore("experience.db"))
    search = ToolSearchProcessor([create_issue], experience=experience)
    ```

    If a method raises, searches go on without experience, with a warning.

    A store may have `read_only`: while it is true, nothing is learned, and what the store has is used. It may
    have `async purge()`, which `Experience.forget` calls at its end: after it, nothing that was removed or
    replaced is left on the disk.
    """

    async def read(self, scope: str) -> Mapping[str, str]:
        """Return the text of each tool of a scope."""
        ...

    async def version(self, scope: str) -> object:
        """Return a mark that differs after each change of a scope, by whichever process."""
        ...

    async def swap(self, scope: str, tool: str, old: str | None, new: str | None) -> bool:
        """Replace a tool's text atomically if it is still `old`; return whether it was.

        None means no text: as `old`, the tool must be unknown; as `new`, it is removed.
        """
        ...

    async def scopes(self) -> Sequence[str]:
        """Return all scopes that have a text."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...
