"""Packed contents in pieces: what comes out, and how much of it."""

import gzip
import zlib

import pytest

from tool_search_processor.providers.unpacking import UnpackError, read_bounded

TEXT = b"some words, and some words again " * 50


def frameless(content):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


async def pieces(content, size):
    for at in range(0, len(content), size):
        yield content[at : at + size]


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("", bytes),
        ("identity", bytes),
        ("gzip", gzip.compress),
        (" X-GZip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", frameless),
    ],
)
async def test_a_content_is_read_up_to_the_limit(encoding, pack, size):
    packed = pack(TEXT)

    async def read(max_bytes):
        return await read_bounded(pieces(packed, size), encoding=encoding, max_bytes=max_bytes)

    assert await read(len(TEXT)) == (TEXT, True)
    assert await read(len(TEXT) - 1) == (TEXT[:-1], False)
    assert await read(10) == (TEXT[:10], False)


@pytest.mark.parametrize(
    ("encoding", "content", "words"),
    [
        ("br", b"x", "packed as 'br', which was not asked for"),
        ("gzip, gzip", b"x", "packed as 'gzip, gzip'"),
        ("gzip", b"no gzip", "packed, and broken"),
        ("deflate", b"\xff\xff\xff\xff", "packed, and broken"),
    ],
)
async def test_what_cannot_be_unpacked_is_told(encoding, content, words):
    with pytest.raises(UnpackError, match=words):
        await read_bounded(pieces(content, 5), encoding=encoding, max_bytes=100)
