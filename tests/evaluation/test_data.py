"""Catalogs and queries from files: every format, every way in which a file can be wrong."""

import io
import json
import sys

import pytest

from tool_search_processor.evaluation import (
    DataError,
    Query,
    load_dataset,
    load_folder,
    load_queries,
    load_tools,
)
from tool_search_processor.evaluation.data import make_dataset
from tool_search_processor.tools import Tool

SCHEMA = {"type": "object", "properties": {"title": {"type": "string", "description": "What is wrong."}}}
OPENAI = {"name": "create_issue", "description": "Open a ticket.", "parameters": SCHEMA}
ANTHROPIC = {"name": "create_issue", "description": "Open a ticket.", "input_schema": SCHEMA}
MCP = {"name": "create_issue", "description": "Open a ticket.", "inputSchema": SCHEMA}


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file: texts as they are, other values as JSON, several as lines."""

    def write(*values, name="tools.json"):
        path = tmp_path / name
        lines = [value if isinstance(value, str) else json.dumps(value) for value in values]
        path.write_text("\n".join(lines), "utf-8")
        return path

    return write


def fields(tool):
    return tool.name, tool.description, tool.parameters


@pytest.mark.parametrize(
    "values",
    [
        [OPENAI],
        [[OPENAI]],
        [{"tools": [OPENAI]}],
        [{"type": "function", "function": OPENAI}],
        [[{"type": "function", "function": OPENAI}]],
        [[{"type": "function", **OPENAI}]],
        [{"model": "m", "tools": [{"type": "function", "function": OPENAI}]}],
        [[ANTHROPIC]],
        [{**ANTHROPIC, "type": "custom"}],
        [{"tools": [MCP], "nextCursor": None}],
        [{"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}}],
        ["", OPENAI, "", ""],
        ["\ufeff" + json.dumps(OPENAI)],
        [json.dumps(OPENAI, indent=2)],
    ],
    ids=[
        "one line", "list", "object with tools", "nested line", "nested list", "flat list", "request body",
        "anthropic", "anthropic custom", "tools/list", "tools/list response", "blank lines",
        "byte-order mark", "indented",
    ],
)  # fmt: skip
def test_every_format_gives_the_same_tool(write, values):
    (tool,) = load_tools(write(*values))
    assert fields(tool) == ("create_issue", "Open a ticket.", SCHEMA)


def test_lines_may_be_of_different_formats_and_keep_their_order(write):
    second, third = {**ANTHROPIC, "name": "b"}, {"tools": [{**MCP, "name": "c"}, {**MCP, "name": "d"}]}
    tools = load_tools(write(OPENAI, second, third))
    assert [tool.name for tool in tools] == ["create_issue", "b", "c", "d"]


def test_lines_end_at_line_feeds_alone(write):
    text = json.dumps({"name": "a", "description": "one\u2028two\x85three"}, ensure_ascii=False)
    tools = load_tools(write(text, {"name": "b"}))
    assert [tool.description for tool in tools] == ["one\ntwo\nthree", ""]


@pytest.mark.parametrize("word", ["server", "namespace"])
@pytest.mark.parametrize("shape", ["bare", "nested", "mcp"])
def test_what_a_definition_says_beyond_its_format_is_taken(write, word, shape):
    more = {word: "github", "tags": ["code"], "keywords": ["bug"], "pinned": True}
    record = {
        "bare": {**OPENAI, **more},
        "nested": {"type": "function", "function": OPENAI, **more},
        "mcp": {**MCP, **more},
    }[shape]
    (tool,) = load_tools(write(record))
    assert (tool.namespace, tool.tags, tool.keywords, tool.pinned) == (
        "github", frozenset({"code"}), ("bug",), True,
    )  # fmt: skip


def test_foreign_names_become_valid_and_two_that_meet_are_told_apart(write):
    tools = load_tools(write({"name": "math.pow"}, {"name": "math/pow"}, {"name": "math_pow"}))
    assert tools[2].name == "math_pow"
    assert [tool.metadata.get("original_name", tool.name) for tool in tools] == [
        "math.pow",
        "math/pow",
        "math_pow",
    ]
    assert len({tool.name for tool in tools}) == 3


def test_tools_that_bear_one_name_are_all_returned(write):
    assert [tool.name for tool in load_tools(write({"name": "a"}, {"name": "a"}))] == ["a", "a"]


def test_yaml_is_read_and_its_dates_stay_texts(write):
    pytest.importorskip("yaml")
    path = write(
        "tools:",
        "- name: report",
        "  description: Make a report.",
        "  parameters: {type: object, properties: {day: {type: string, enum: [2026-11-28]}}}",
        name="tools.yaml",
    )
    (tool,) = load_tools(path)
    assert tool.parameters["properties"]["day"]["enum"] == ["2026-11-28"]


@pytest.mark.parametrize("text", ["tools: [", "a: b: c"])
def test_broken_yaml_is_told_in_one_line(write, text):
    pytest.importorskip("yaml")
    with pytest.raises(DataError, match=r"tools\.yml is not YAML: ") as caught:
        load_tools(write(text, name="tools.yml"))
    assert "\n" not in str(caught.value)


def test_yaml_that_holds_itself_is_refused(write):
    pytest.importorskip("yaml")
    with pytest.raises(DataError):
        load_tools(write("tools: [{name: a, parameters: &x {properties: *x}}]", name="tools.yaml"))


def test_nesting_without_end_is_refused(write):
    pytest.importorskip("yaml")
    with pytest.raises(DataError, match=r"tools\.yaml is nested too deeply"):
        load_tools(write("tools: " + "[" * 5000, name="tools.yaml"))


def test_yaml_without_pyyaml_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(
        DataError, match=r"is YAML, which needs PyYAML: pip install .tool-search-processor\[openapi\]"
    ):
        load_tools(write("openapi: 3.1.0", name="api.txt"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([""], "holds no tools"),
        (["[]"], "holds no tools"),
        ([{"tools": []}], "holds no tools"),
        (["{"], r"is not JSON: .*line 1, column 2"),
        # Python 3.13 points at the comma
        (['[{"name": "a"},', "]"], r"is not JSON: .*line (2, column 1|1, column 15)\b"),
        ([OPENAI, "", "oops"], r"tools\.json, line 3, is not JSON: Expecting value"),
        (["hello"], "is not JSON: Expecting value"),
        ([3], r"tools\.json, tool 1: a tool's definition must be an object, found 3"),
        ([[OPENAI, "create_issue"]], "tool 2: a tool's definition must be an object, found 'create_issue'"),
        ([OPENAI, {"description": "Nameless."}], "tool 2: a tool's definition needs a name, found None"),
        (
            [{"mcpServers": {}}],
            r"names servers, not tools: `tool-search serve --config .*tools\.json` serves",
        ),
        ([{"name": ""}], "tool 1: a tool's definition needs a name, found ''"),
        ([[{"type": "web_search"}]], "tool 1: only definitions of type 'function' are tools"),
        ([{"name": "a", "parameters": [1]}], "tool 1: parameters of the tool 'a'"),
        ([{"name": "a", "description": 7}], "tool 1: description of the tool 'a' is a string"),
        ([{"name": "a", "server": {"url": "x"}}], "tool 1: namespace of the tool 'a'"),
        ([{"name": "a", "tags": 5}], "tool 1: tags of the tool 'a'"),
        (["9" * 5000], "is not JSON: "),
        (["[" * 100_000], "nested too deeply"),
    ],
)
def test_what_is_no_catalog_is_refused_with_the_place(write, values, message):
    with pytest.raises(DataError, match=message):
        load_tools(write(*values))


def test_files_that_can_not_be_read(tmp_path):
    with pytest.raises(DataError, match=r"can't read .*nowhere\.json: No such file"):
        load_tools(tmp_path / "nowhere.json")
    with pytest.raises(DataError, match="can't read"):
        load_tools(tmp_path)
    with pytest.raises(DataError, match="can't read"):
        load_tools("a\0b")
    (tmp_path / "latin.json").write_bytes(b'{"name": "caf\xe9"}')
    with pytest.raises(DataError, match="is not UTF-8 text: byte 13 can't be read"):
        load_tools(tmp_path / "latin.json")


def feed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_the_standard_input(monkeypatch):
    feed(monkeypatch, json.dumps(OPENAI))
    assert [tool.name for tool in load_tools("-")] == ["create_issue"]
    feed(monkeypatch, "")
    with pytest.raises(DataError, match="the standard input holds no tools"):
        load_tools("-")


# -- queries


def test_queries_with_and_without_what_is_optional(write):
    path = write(
        {"query": "file a bug", "relevant": ["create_issue"]},
        {"id": 7, "query": "Привет", "relevant": "a", "group": 2, "more": True},
        {"query": "sing", "relevant": []},
    )
    assert load_queries(path) == [
        Query(id="1", text="file a bug", relevant=("create_issue",)),
        Query(id="7", text="Привет", relevant=("a",), group="2"),
        Query(id="3", text="sing", relevant=()),
    ]


def test_queries_may_be_one_list(write):
    assert len(load_queries(write([{"query": "a", "relevant": ["b"]}] * 2))) == 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([""], "holds no queries"),
        (["[]"], "holds no queries"),
        (["x"], "is not JSON"),
        ([["x"]], r"query 1: it must be an object with 'query' and 'relevant', found 'x'"),
        ([{"query": "a", "relevant": ["b"]}, {"relevant": ["b"]}], "query 2: 'query' must be a string"),
        ([{"query": "  ", "relevant": ["b"]}], "query 1: 'query' must be a string that is not empty"),
        ([{"query": "a"}], "query 1: 'relevant' must be a list of tool names, found None"),
        ([{"query": "a", "relevant": [1]}], "query 1: 'relevant' must be a list of tool names"),
        ([{"query": "a", "relevant": {"b": 1}}], "query 1: 'relevant' must be a list of tool names"),
    ],
)
def test_what_are_no_queries_is_refused_with_the_place(write, values, message):
    with pytest.raises(DataError, match=message):
        load_queries(write(*values))


# -- sets


def query(*relevant, text="q"):
    return Query(text=text, relevant=relevant, id="1")


def test_relevant_names_are_matched_by_name_and_by_original_name(write):
    tools = load_tools(write({"name": "math.pow"}, {"name": "math_pow"}, {"name": "c"}))
    dataset = make_dataset(tools, [query("math.pow", "c"), query("math_pow"), query(tools[0].name, "c", "c")])
    assert [q.relevant for q in dataset.queries] == [
        (tools[0].name, "c"), ("math_pow",), (tools[0].name, "c"),
    ]  # fmt: skip
    only = load_tools(write({"name": "math.pow"}))
    assert make_dataset(only, [query("math_pow")]).queries[0].relevant == ("math_pow",)


def test_unknown_relevant_names_are_listed(write):
    tools = [Tool("a")]
    with pytest.raises(
        DataError, match=r"name tools that are not in the catalog: 'x', 'y'; correct .*--allow-missing"
    ):
        make_dataset(tools, [query("a", "x"), query("y", "x")])
    with pytest.raises(DataError, match=r"'t0', 't1', 't2', 't3', 't4' and 3 more; "):
        make_dataset(tools, [query(*(f"t{i}" for i in range(8)))])


def test_unknown_relevant_names_can_be_left_out():
    dataset = make_dataset([Tool("a")], [query("a", "x"), query("y"), query()], allow_missing=True)
    assert [q.relevant for q in dataset.queries] == [("a",), ()]
    assert dataset.missing == 2


def test_a_set_needs_a_query_that_a_tool_serves():
    with pytest.raises(DataError, match="mine has no query with a tool that should be found"):
        make_dataset([Tool("a")], [query()], name="mine")
    with pytest.raises(DataError, match="the set has no query"):
        make_dataset([Tool("a")], [query("x")], allow_missing=True)


def test_two_tools_of_one_name_can_not_be_measured():
    with pytest.raises(DataError, match="two tools in mine are named 'a'"):
        make_dataset([Tool("a"), Tool("a", "other")], [query("a")], name="mine")


def test_a_folder_is_a_set(write, tmp_path):
    write(OPENAI, name="tools.jsonl")
    write({"query": "file a bug", "relevant": ["create_issue"]}, name="queries.jsonl")
    dataset = load_folder(tmp_path)
    assert (dataset.name, len(dataset.tools), len(dataset.queries)) == (tmp_path.name, 1, 1)


def test_only_one_file_can_be_the_standard_input():
    with pytest.raises(DataError, match="only one of the two files"):
        load_dataset("-", "-")


def test_a_python_file_is_told_how_its_tools_are_named(write):
    with pytest.raises(DataError, match=r"mytools\.py is Python: name what is in it, module:attribute$"):
        load_tools(write("from x import tools", name="mytools.py"))
