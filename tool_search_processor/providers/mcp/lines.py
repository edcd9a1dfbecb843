"""The lines that a process writes, bounded: the SDK reads its standard output by this encoding.

The SDK keeps what it has read of a line until the line ends, and looks through all of it at each piece: a
server that writes 100 MB in one line would cost a minute of CPU, and one that never ends its line all memory.
How bytes become text is the one step of this reading that the SDK leaves to its caller.
"""

from __future__ import annotations

import codecs

ENCODING = "mcp_lines"
"""The name under which `codecs` knows the encoding, once `register_encoding` has been called."""

MAX_MESSAGE_BYTES = 32 * 1024 * 1024
"""The longest message of a server that is read."""

ENDLESS = "\0"
"""Replaces a line of more than eight times the limit; its server is then given up."""

_ENDLESS_TIMES = 8
_EDGE = 500
"""Bytes that are kept of each end of a line that is too long: the number of the request stands there."""


class LineDecoder(codecs.IncrementalDecoder):
    """Gives whole lines of UTF-8; of a line that is too long, its two ends.

    Bytes that aren't UTF-8 become the replacement character: they cost their line, not the connection.
    """

    def __init__(self, errors: str = "strict", *, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        """Begin with an empty line; `errors` is what `codecs` gives, and nothing here fails."""
        super().__init__(errors)
        self._max_bytes = max_bytes
        self.reset()

    def reset(self) -> None:
        """Forget the line that has been begun."""
        self._parts: list[bytes] = []
        self._size = 0
        self._end = b""

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override] # noqa: FBT001, FBT002
        """Return the lines that end in `data`; an unfinished line waits for its end."""
        *ends, rest = data.split(b"\n")
        lines = []
        for end in ends:
            self._add(end)
            lines.append(self._take() + "\n")
        self._add(rest)
        if self._size > _ENDLESS_TIMES * self._max_bytes:
            self.reset()
            lines.append(ENDLESS + "\n")
        return "".join(lines) + (self._take() if final else "")

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._max_bytes:
            self._parts.append(part)
            return
        if not self._end:
            self._end = b"".join(self._parts)
            self._parts = [(self._end + part[:_EDGE])[:_EDGE]]
        self._end = (self._end[-_EDGE:] + part)[-_EDGE:]

    def _take(self) -> str:
        line = b"".join(self._parts)
        if self._size > self._max_bytes:
            # without the NUL it could be a message by chance, and say something else
            line += b"\0" + self._end
        self.reset()
        return line.decode(errors="replace")


def register_encoding() -> None:
    """Make the encoding known to `codecs`; once is enough, and more do no harm."""
    try:
        codecs.lookup(ENCODING)
    except LookupError:
        codecs.register(_find)


def _find(name: str) -> codecs.CodecInfo | None:
    if name != ENCODING:
        return None
    utf8 = codecs.lookup("utf-8")
    return codecs.CodecInfo(
        name=ENCODING, encode=utf8.encode, decode=utf8.decode, incrementaldecoder=LineDecoder
    )
