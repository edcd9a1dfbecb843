"""Files that can't be read are told in one sentence."""

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.files import read_json, read_text


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "{} is not JSON: Expecting value (line 1, column 1)"),
        (b'{\n"a" 1}', "{} is not JSON: Expecting ':' delimiter (line 2, column 5)"),
        (b"9" * 5000, "{} is not JSON: Exceeds the limit"),
        (b"[" * 100_000, "{} is nested too deeply"),
        (b"\xff\xfe{\0}\0", "{} is not UTF-8 text: byte 0 can't be read"),
        (None, "can't read {}: No such file or directory"),
    ],
)
def test_what_is_not_json_is_told_with_its_place(content, problem, tmp_path):
    path = tmp_path / "servers.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError) as told:
        read_json(path)
    assert str(told.value).startswith(problem.format(path))


def test_a_folder_and_a_path_that_no_file_can_have(tmp_path):
    with pytest.raises(ConfigurationError, match=r"^can't read .*: Is a directory$"):
        read_text(tmp_path)
    with pytest.raises(ConfigurationError, match=r"^can't read a.b: embedded null byte$"):
        read_text("a\0b")


def test_a_mark_of_the_byte_order_is_left_out(tmp_path):
    path = tmp_path / "servers.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_json(path) == {"a": 1}
    assert read_text(path) == '{"a": 1}'
