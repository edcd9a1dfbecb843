"""JSON and YAML as plain values."""

import sys

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.openapi.texts import parse_text, parse_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, null, true]}', {"a": [1, 2.5, None, True]}),
        ('\ufeff {"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("a: 1", {"a": 1}),
        ("# {\n---\na: {b: c}", {"a": {"b": "c"}}),
        ("a: [yes, no, on, off, y, NO]", {"a": ["yes", "no", "on", "off", "y", "NO"]}),
        ("a: [true, False, ~, null, '', '1']\nb:", {"a": [True, False, None, None, "", "1"], "b": None}),
        ("a: [2026-11-28, 12:30, 010, 0x1f, 1_000]", {"a": ["2026-11-28", "12:30", "010", "0x1f", "1_000"]}),
        ("a: [1, -2, +3, 0, 1.5, .5, 1e3, -1.e-2]", {"a": [1, -2, 3, 0, 1.5, 0.5, 1000.0, -0.01]}),
        ("200: a\ntrue: b\nnull: c\n1.5: d", {"200": "a", "true": "b", "null": "c", "1.5": "d"}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}\ne: *x", {"a": {"b": 1}, "c": {"b": 1, "d": 2}, "e": {"b": 1}}),
        ("a: |\n  one\n  two\n", {"a": "one\ntwo\n"}),
    ],
)
def test_texts_are_read(text, value):
    read = parse_text(text, label="doc")
    assert read == value
    assert repr(read) == repr(value), "1 is not True"


# Each list holds the one before nine times.
BOMB = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 12))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"doc is not JSON: .* \(line 1, column 2\)"),
        ("[" * 100_000, "doc is nested too deeply"),
        ("a: [", "doc is not YAML: "),
        ("a: b: c", "doc is not YAML: "),
        ("a: !!python/object:os.system {}", "doc is not YAML: "),
        ("a: " + "[" * 5000, "doc is nested too deeply"),
        ("a: &x [*x]", "doc holds itself"),
        (BOMB, "aliases"),
        ("? [a, b]\n: c", "doc is not YAML: "),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_in_one_line(text, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        parse_text(text, label="doc")
    assert "\n" not in str(caught.value)


def test_without_pyyaml_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ImportError, match=r'pip install "tool-search-processor\[openapi\]"'):
        parse_yaml("a: 1", label="doc")
    assert parse_text('{"a": 1}', label="doc") == {"a": 1}
