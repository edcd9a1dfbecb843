"""Closing at the end of an `async with`."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class AsyncClosing:
    """Base of classes with connections: `async with` closes them, as `aclose` does."""

    __slots__ = ()

    async def aclose(self) -> None:
        """Close the connections."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
