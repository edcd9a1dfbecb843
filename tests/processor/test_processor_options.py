"""Options that can't work raise at construction, name themselves, and tell what was found."""

import re

import pytest

from tests.support import make
from tool_search_processor import ConfigurationError, MemoryStore, StaticProvider, Tool, ToolSearchProcessor

TOOLS = [make("send_mail")]
NAN = float("nan")
NAMES = ("search_tool_name", "load_tool_name", "call_tool_name", "unload_tool_name")


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("top_k", [0, -1, 21, 2.5, "5", True, None]),
        ("min_score", [-0.1, 1.1, NAN, "0", None, True]),
        ("mode", ["lazy", "", None, 3, ["load"]]),
        ("ttl_seconds", [0, -1, "60", NAN, True, [1]]),
        ("max_loaded", [0, -5, 1.5, "100", True]),
        ("filter", [5, "deny", True, ["search"], lambda tool, context: True]),
        ("filter_timeout_seconds", [0, -1, "1", NAN, True]),
        ("transforms", [5, None, ["namespace"]]),
        ("pinned", [5, None, [5], [None], TOOLS]),
        ("catalog_token_limit", [0, -1, 1.5, "4000", True, None]),
        ("preload", [-1, 1.5, "1", True, None]),
        ("result_detail", ["full", "", 5, ["brief"]]),
        ("passthrough_tokens", [-1, 0.5, "0", True, None]),
        ("counter", [5, "litellm"]),
        ("clock", [5, "now"]),
        ("id", ["", None, 5]),
        ("search", ["bm26", "", 5, None]),
        ("store", [5, "redis", object(), MemoryStore]),
        (
            "tools",
            [5, None, "send_mail", TOOLS[0], [5], [int], [None], {"a": 5}, StaticProvider, [StaticProvider]],
        ),
    ],
)
def test_a_bad_option_names_itself_and_what_was_found(option, values):
    for value in values:
        tools, options = (value, {}) if option == "tools" else (TOOLS, {option: value})
        with pytest.raises(ConfigurationError) as caught:
            ToolSearchProcessor(tools, **options)
        text = str(caught.value)
        assert option.removesuffix("s") in text, (value, text)
        found = value[0] if isinstance(value, list) and repr(value[0]) in text else value
        found = found["a"] if isinstance(found, dict) else found
        assert repr(found)[:50] in text, (value, text)
        assert len(text) < 400


@pytest.mark.parametrize("value", ["", "a b", "a.b", "x" * 65, "naïve", 5, None])
@pytest.mark.parametrize("option", NAMES)
def test_a_meta_tools_name_is_one_that_every_provider_accepts(option, value):
    mode = "call" if option == "call_tool_name" else "load"
    with pytest.raises(ConfigurationError, match="64 of the characters") as caught:
        ToolSearchProcessor(TOOLS, mode=mode, allow_unload=True, **{option: value})
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"load_tool_name": "search_tools"},
        {"mode": "call", "search_tool_name": "call_tool"},
        {"mode": "auto_load", "allow_unload": True, "unload_tool_name": "search_tools"},
        {"allow_unload": True, "unload_tool_name": "load_tool"},
    ],
)
def test_equal_names_of_meta_tools_raise(options):
    with pytest.raises(ConfigurationError, match=r"need different names.*change search_tool_name"):
        ToolSearchProcessor(TOOLS, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"call_tool_name": "search_tools"},
        {"mode": "auto_load", "load_tool_name": "search_tools"},
        {"unload_tool_name": "load_tool"},
        {"mode": "call", "load_tool_name": "call_tool"},
    ],
)
def test_names_of_meta_tools_that_are_not_there_do_not_clash(options):
    assert ToolSearchProcessor(TOOLS, **options).reserved_names


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 1},
        {"top_k": 20},
        {"min_score": 0},
        {"min_score": 1},
        {"ttl_seconds": None},
        {"ttl_seconds": 0.5},
        {"max_loaded": None},
        {"max_loaded": 1},
        {"filter_timeout_seconds": 0.001},
        {"pinned": "send_mail"},
        {"pinned": ("send_mail", "send_mail")},
        {"pinned": {"send_mail"}},
        {"catalog_token_limit": 1},
        {"passthrough_tokens": 10**9},
        {"preload": 1000},
        {"store": MemoryStore()},
        {"search": "fuzzy"},
        {"id": "any text / at all"},
    ],
)
def test_options_at_their_edges_work(options):
    assert ToolSearchProcessor(TOOLS, **options).id


def test_every_option_is_keyword_only_but_the_tools():
    with pytest.raises(TypeError, match="positional"):
        ToolSearchProcessor(TOOLS, "bm25")


def test_no_tools_at_all_will_do():
    assert ToolSearchProcessor().reserved_names == {"search_tools", "load_tool"}
    assert ToolSearchProcessor({}).reserved_names == {"search_tools", "load_tool"}


def test_a_configuration_error_is_a_value_error_of_the_package():
    with pytest.raises(ValueError, match=re.escape("top_k must be a whole number from 1 to 20, found 0")):
        ToolSearchProcessor(TOOLS, top_k=0)


@pytest.mark.parametrize("names", [5, None, [5], [Tool("a")]])
async def test_programs_that_name_no_texts_are_told(names):
    processor = ToolSearchProcessor(TOOLS)
    for method in (processor.load, processor.unload):
        with pytest.raises(ConfigurationError, match="names must be a string or a list of strings, found"):
            await method(names, thread_id="t")
