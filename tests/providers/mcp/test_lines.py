"""The encoding by which the lines of a process are read."""

import codecs

import pytest

from tool_search_processor.providers.mcp import lines


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_lines_come_whole_whatever_their_pieces(size):
    lines.register_encoding()
    text = "one\nzwölf 字\n\n" + "x" * 50
    data = text.encode()
    decoder = codecs.getincrementaldecoder(lines.ENCODING)()
    pieces = [decoder.decode(data[at : at + size]) for at in range(0, len(data), size)]
    assert "".join(pieces) + decoder.decode(b"", final=True) == text
    assert text.encode(lines.ENCODING) == data


def test_a_line_that_is_too_long_keeps_its_ends_and_no_meaning():
    decoder = lines.LineDecoder(max_bytes=2_000)
    long = '{"id":1,"result":{"a":"' + "x" * 5_000 + '"}}'
    (line, rest) = decoder.decode(long.encode() + b"\n{}\n").split("\n", 1)
    assert rest == "{}\n"
    assert line.startswith('{"id":1,')
    assert line.endswith('"}}')
    assert "\0" in line
    assert len(line) < 1_100


def test_what_never_ends_is_told_and_kept_nowhere():
    decoder = lines.LineDecoder(max_bytes=1_000)
    said = "".join(decoder.decode(b"x" * 900) for _ in range(20))
    assert set(said.split("\n")) == {lines.ENDLESS, ""}
