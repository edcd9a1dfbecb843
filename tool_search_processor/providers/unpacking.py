"""Packed answers over HTTP, unpacked no further than they are wanted."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

ACCEPT_ENCODING = "gzip, deflate"
"""What is asked for: of brotli and Zstandard, nobody bounds how much a small piece becomes."""

_GZIP = 16 + zlib.MAX_WBITS
_FRAME_BYTES = 2
_BITS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}


class UnpackError(Exception):
    """A content can't be unpacked; its text is fit for a model."""


async def read_bounded(pieces: AsyncIterable[bytes], *, encoding: str, max_bytes: int) -> tuple[bytes, bool]:
    """Return the content up to a limit, and whether that is all.

    A few kilobytes can stand for gigabytes, packed once, and for any number packed twice: httpx unpacks each
    piece as a whole.

    Args:
        pieces: As they come from the wire.
        encoding: The header `content-encoding`; empty for a content that is not packed.
        max_bytes: No more is unpacked, or read.

    Raises:
        UnpackError: It is packed in another way than was asked for, or broken.
    """
    kind = encoding.strip().lower()
    if kind not in ("", "identity", *_BITS):
        raise UnpackError(f"it is packed as {kind!r:.40}, which was not asked for")
    unpacker = _Unpacker(_BITS[kind]) if kind in _BITS else None
    parts, room = [], max_bytes + 1
    async for piece in pieces:
        part = piece if unpacker is None else unpacker.unpack(piece, room)
        parts.append(part[:room])
        room -= len(parts[-1])
        if room == 0:
            return b"".join(parts)[:max_bytes], False
    return b"".join(parts), True


class _Unpacker:
    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._inner = zlib.decompressobj(bits)
        self._begin = b""

    def unpack(self, piece: bytes, room: int) -> bytes:
        """Return at most `room` bytes; what is left over is wanted only where they are fewer."""
        if self._bits == zlib.MAX_WBITS and len(self._begin) < _FRAME_BYTES:
            self._begin += piece
            if len(self._begin) < _FRAME_BYTES:
                return b""
            piece = self._begin
            # some servers leave out the frame, whose first two bytes are such (RFC 1950, 2.2)
            if piece[0] & 0x8F != zlib.DEFLATED or int.from_bytes(piece[:_FRAME_BYTES]) % 31:
                self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._inner.decompress(piece, room)
        except zlib.error as exc:
            raise UnpackError("it is packed, and broken") from exc
