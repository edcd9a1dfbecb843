"""Checksums, digests and signatures, by `hashlib`, `hmac`, `zlib` and `binascii`."""

from __future__ import annotations

import binascii
import hashlib
import hmac
import zlib
from typing import Annotated, Literal

from pydantic import Field

Algorithm = Literal["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512"]


def hash_text(text: str, algorithm: Algorithm = "sha256") -> str:
    """Compute the hash (digest) of a text: MD5, SHA-1, SHA-256, SHA-512 or SHA-3.

    Args:
        text: The text, hashed as UTF-8.
        algorithm: The hash function.
    """
    return hashlib.new(algorithm, text.encode(), usedforsecurity=False).hexdigest()


def blake2_hash(text: str, size: Annotated[int, Field(ge=1, le=64)] = 32) -> str:
    """Compute the BLAKE2b hash of a text, of any size.

    Args:
        text: The text, hashed as UTF-8.
        size: The digest's length in bytes.
    """
    return hashlib.blake2b(text.encode(), digest_size=size).hexdigest()


def shake_hash(text: str, size: Annotated[int, Field(ge=1, le=1000)] = 32) -> str:
    """Compute the SHAKE-256 hash of a text, of any length.

    Args:
        text: The text, hashed as UTF-8.
        size: The digest's length in bytes.
    """
    return hashlib.shake_256(text.encode()).hexdigest(size)


def sign_with_hmac(message: str, key: str, *, algorithm: Algorithm = "sha256") -> str:
    """Compute an HMAC signature of a message, as webhooks carry it.

    Args:
        message: The message, as UTF-8.
        key: The shared secret.
        algorithm: The hash function.
    """
    return hmac.new(key.encode(), message.encode(), algorithm).hexdigest()


def verify_hmac(message: str, key: str, *, signature: str, algorithm: Algorithm = "sha256") -> bool:
    """Check an HMAC signature of a message, in constant time.

    Args:
        message: The message, as UTF-8.
        key: The shared secret.
        signature: The signature to check, in hexadecimal.
        algorithm: The hash function.
    """
    expected = hmac.new(key.encode(), message.encode(), algorithm).hexdigest()
    return hmac.compare_digest(expected, signature.lower())


def derive_key(
    password: str, salt: str, *, iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 100_000
) -> str:
    """Derive a key from a password with PBKDF2-HMAC-SHA256.

    Args:
        password: The password.
        salt: The salt.
        iterations: How often the hash is applied.
    """
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), iterations).hex()


def crc32_checksum(text: str) -> str:
    """Compute the CRC-32 checksum of a text, as ZIP files carry it.

    Args:
        text: The text, as UTF-8.
    """
    return f"{zlib.crc32(text.encode()):08x}"


def adler32_checksum(text: str) -> str:
    """Compute the Adler-32 checksum of a text.

    Args:
        text: The text, as UTF-8.
    """
    return f"{zlib.adler32(text.encode()):08x}"


def crc16_checksum(text: str) -> str:
    """Compute the CRC-CCITT (16 bit) checksum of a text.

    Args:
        text: The text, as UTF-8.
    """
    return f"{binascii.crc_hqx(text.encode(), 0):04x}"


def list_hash_algorithms() -> list[str]:
    """List the hash algorithms that are available on every platform."""
    return sorted(hashlib.algorithms_guaranteed)
