"""Base64, hexadecimal, HTML, quoted-printable, bytes and compression."""

from __future__ import annotations

import base64
import html
import quopri
import struct
import zlib
from typing import Annotated, Literal

from pydantic import Field

Size = Annotated[str, Field(max_length=1_000_000)]


def base64_encode(text: Size, alphabet: Literal["standard", "url"] = "standard") -> str:
    """Encode a text in Base64.

    Args:
        text: The text, as UTF-8.
        alphabet: "url" writes - and _ in place of + and /.
    """
    encode = base64.b64encode if alphabet == "standard" else base64.urlsafe_b64encode
    return encode(text.encode()).decode()


def base64_decode(data: Size, alphabet: Literal["standard", "url"] = "standard") -> str:
    """Decode a Base64 text.

    Args:
        data: The Base64 text; missing padding is added.
        alphabet: "url" reads - and _ in place of + and /.
    """
    padded = data + "=" * (-len(data) % 4)
    return base64.b64decode(padded, altchars=b"-_" if alphabet == "url" else None, validate=True).decode()


def base32_encode(text: Size) -> str:
    """Encode a text in Base32, as one-time password secrets are.

    Args:
        text: The text, as UTF-8.
    """
    return base64.b32encode(text.encode()).decode()


def base32_decode(data: Size) -> str:
    """Decode a Base32 text, in either case.

    Args:
        data: The Base32 text.
    """
    return base64.b32decode(data, casefold=True).decode()


def base85_encode(text: Size) -> str:
    """Encode a text in Base85, as Git patches are.

    Args:
        text: The text, as UTF-8.
    """
    return base64.b85encode(text.encode()).decode()


def base85_decode(data: Size) -> str:
    """Decode a Base85 text.

    Args:
        data: The Base85 text.
    """
    return base64.b85decode(data).decode()


def text_to_hexadecimal(text: Size) -> str:
    """Write the bytes of a text in hexadecimal.

    Args:
        text: The text, as UTF-8.
    """
    return text.encode().hex(" ")


def hexadecimal_to_text(data: Size) -> str:
    """Read a text from hexadecimal bytes.

    Args:
        data: The bytes, with or without spaces between them.
    """
    return bytes.fromhex(data).decode()


def text_to_binary(text: Annotated[str, Field(max_length=10_000)]) -> str:
    """Write the bytes of a text as zeros and ones.

    Args:
        text: The text, as UTF-8.
    """
    return " ".join(f"{byte:08b}" for byte in text.encode())


def html_escape(text: str) -> str:
    """Escape text for HTML: &, <, > and quotes become entities.

    Args:
        text: The text.
    """
    return html.escape(text)


def html_unescape(text: str) -> str:
    """Turn HTML entities such as &amp; and &euro; back into characters.

    Args:
        text: The text with entities.
    """
    return html.unescape(text)


def quoted_printable_encode(text: Size) -> str:
    """Encode a text as quoted-printable, as mails are.

    Args:
        text: The text, as UTF-8.
    """
    return quopri.encodestring(text.encode()).decode()


def quoted_printable_decode(data: Size) -> str:
    """Decode a quoted-printable text from a mail.

    Args:
        data: The quoted-printable text.
    """
    return quopri.decodestring(data.encode()).decode()


def compress_text(text: Size, level: Annotated[int, Field(ge=0, le=9)] = 6) -> dict[str, str | int]:
    """Compress a text with zlib (deflate) and tell the size saved.

    Args:
        text: The text, as UTF-8.
        level: From 0 (none) to 9 (smallest).
    """
    packed = zlib.compress(text.encode(), level)
    return {
        "data": base64.b64encode(packed).decode(),
        "bytes": len(packed),
        "bytes_before": len(text.encode()),
    }


def decompress_text(data: Size) -> str:
    """Decompress a text that was packed with zlib, at most one million bytes of it.

    Args:
        data: The packed bytes, in Base64.
    """
    return zlib.decompressobj().decompress(base64.b64decode(data), 1_000_000).decode()


def pack_integer(
    number: int, layout: Literal["int8", "int16", "int32", "int64"], *, order: str = "big"
) -> str:
    """Write a signed whole number as bytes (struct), big or little endian, in hexadecimal.

    Args:
        number: The number.
        layout: The size in bits.
        order: The byte order: "big" or "little".
    """
    code = {"int8": "b", "int16": "h", "int32": "i", "int64": "q"}[layout]
    return struct.pack({"big": ">", "little": "<"}[order] + code, number).hex()


def unpack_integer(data: str, order: Literal["big", "little"] = "big") -> int:
    """Read a signed whole number from bytes.

    Args:
        data: The bytes in hexadecimal.
        order: The byte order.
    """
    return int.from_bytes(bytes.fromhex(data), order, signed=True)


def float_to_bytes(number: float, layout: Literal["half", "single", "double"] = "double") -> str:
    """Show the IEEE 754 bytes of a floating point number, in hexadecimal.

    Args:
        number: The number.
        layout: The precision: 16, 32 or 64 bits.
    """
    return struct.pack({"half": ">e", "single": ">f", "double": ">d"}[layout], number).hex()


def bytes_in_encoding(text: Size, encoding: Literal["utf-8", "utf-16", "utf-32", "latin-1", "ascii"]) -> int:
    """Count the bytes that a text takes in a character encoding.

    Args:
        text: The text.
        encoding: The character encoding.
    """
    return len(text.encode(encoding))
