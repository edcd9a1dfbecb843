"""Definitions of other systems, in and out."""

import json
from types import SimpleNamespace

import mcp_types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tool_search_processor.errors import InvalidToolError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.tool_names import is_tool_name
from tool_search_processor.wire.plain import visible_text

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "x-hint": [1]}, "next": {"$ref": "#/$defs/Day"}},
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"Day": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Day"}}}},
}
FUNCTION = {"name": "get_weather", "description": "The weather.", "parameters": SCHEMA}


@pytest.mark.parametrize(
    "definition",
    [{"type": "function", "function": FUNCTION}, {"type": "function", **FUNCTION}, FUNCTION],
    ids=["chat", "responses", "bare"],
)
def test_every_openai_shape_is_read_and_the_chat_shape_written(definition):
    tool = Tool.from_openai(definition)
    assert (tool.name, tool.description, tool.parameters) == ("get_weather", "The weather.", SCHEMA)
    assert tool.metadata == {}
    assert tool.to_openai() == {"type": "function", "function": FUNCTION}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("place", ["function", "outside"])
def test_strict_is_kept(strict, place):
    function = FUNCTION | ({"strict": strict} if place == "function" else {})
    outside = {"strict": strict} if place == "outside" else {}
    tool = Tool.from_openai({"type": "function", "function": function, **outside})
    assert tool.metadata == {"strict": strict}
    assert tool.to_openai()["function"]["strict"] is strict


def test_anthropic_goes_in_and_out():
    definition = {"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA}
    tool = Tool.from_anthropic(definition)
    assert tool.to_anthropic() == definition
    assert tool == Tool.from_anthropic({**definition, "type": "custom"})


MCP = {
    "name": "get_weather",
    "title": "Weather",
    "description": "The weather.",
    "inputSchema": SCHEMA,
    "outputSchema": {"type": "object", "properties": {"degrees": {"type": "number"}}},
    "annotations": {"readOnlyHint": True, "title": "W"},
    "_meta": {"fastmcp": {"tags": ["geo", "sky"]}, "other": 1},
}


def test_mcp_goes_in_and_out():
    tool = Tool.from_mcp(MCP)
    assert tool.to_mcp() == MCP
    assert tool.annotations == {"readOnlyHint": True, "title": "W"}
    assert tool.metadata == {"title": "Weather", "_meta": MCP["_meta"]}
    assert tool.tags == {"geo", "sky"}
    assert tool.tool_type == "external_mcp"


def test_an_mcp_object_is_read_like_the_dict():
    class Annotations(BaseModel):
        read_only: bool | None = Field(None, alias="readOnlyHint")
        title: str | None = None
        idempotent: bool | None = Field(None, alias="idempotentHint")

    attributes = {key: value for key, value in MCP.items() if key != "_meta"}
    attributes["annotations"] = Annotations(readOnlyHint=True, title="W")
    assert Tool.from_mcp(SimpleNamespace(**attributes, meta=MCP["_meta"])) == Tool.from_mcp(MCP)
    snake = {"name": "get_weather", "input_schema": SCHEMA, "annotations": None}
    assert Tool.from_mcp(SimpleNamespace(**snake)).to_mcp() == {
        "name": "get_weather", "description": "", "inputSchema": SCHEMA,
    }  # fmt: skip


def test_only_the_fields_that_a_model_has_are_read():
    """FastMCP gives the SDK's models attributes that warn."""

    class Model(mcp_types.Tool):
        @property
        def inputSchema(self):  # noqa: N802 - the SDK's name before its second version
            raise AssertionError("deprecated")

    tool = Tool.from_mcp(Model(name="a", input_schema={"type": "object", "title": "A"}))
    assert tool.parameters["title"] == "A"


@pytest.mark.parametrize(
    "meta", [{"fastmcp": 1}, {"_fastmcp": {"tags": "x"}}, "odd", {"fastmcp": {"tags": [1]}}]
)
def test_odd_meta_makes_no_tags(meta):
    assert Tool.from_mcp({"name": "a", "_meta": meta}).tags == frozenset()


IMPORTERS = {
    "openai": (Tool.from_openai, lambda name, schema: {"name": name, "parameters": schema}),
    "anthropic": (Tool.from_anthropic, lambda name, schema: {"name": name, "input_schema": schema}),
    "mcp": (Tool.from_mcp, lambda name, schema: {"name": name, "inputSchema": schema}),
}
every_importer = pytest.mark.parametrize("kind", IMPORTERS)


def imported(kind, name="a", schema=None, /, **fields):
    importer, definition = IMPORTERS[kind]
    return importer(definition(name, schema), **fields)


@every_importer
def test_a_foreign_name_is_made_valid_and_the_original_kept(kind):
    tool = imported(kind, "github.issues/create")
    assert tool.name == "github_issues_create"
    assert tool.metadata["original_name"] == "github.issues/create"


@every_importer
def test_fields_given_stand_over_what_was_found(kind):
    async def run(arguments):
        return arguments

    tool = imported(
        kind,
        "a.b",
        SCHEMA,
        execute=run,
        name="mine",
        namespace="n",
        tags=["t"],
        pinned=True,
        metadata={"x": 1},
    )
    assert (tool.name, tool.namespace, tool.tags, tool.pinned) == ("mine", "n", {"t"}, True)
    assert tool.execute is run
    assert tool.metadata == {"original_name": "a.b", "x": 1}
    assert imported(kind, "a", SCHEMA, name="b").metadata == {"original_name": "a"}


@every_importer
@pytest.mark.parametrize("schema", [None, True, False])
def test_a_missing_schema_is_one_without_parameters(kind, schema):
    assert imported(kind, "a", schema).parameters == {"type": "object", "properties": {}}


@every_importer
def test_foreign_types_are_mapped(kind):
    schema = {
        "type": "dict",
        "properties": {"type": {"type": "float"}, "any": {"type": "any", "enum": ["int"]}},
    }
    assert imported(kind, "a", schema).parameters == {
        "type": "object", "properties": {"type": {"type": "number"}, "any": {"enum": ["int"]}},
    }  # fmt: skip


@every_importer
@pytest.mark.parametrize("name", [None, "", 3])
def test_a_definition_without_a_name_is_refused(kind, name):
    with pytest.raises(InvalidToolError, match="needs a name"):
        imported(kind, name)


@every_importer
def test_a_schema_that_json_cannot_carry_is_refused(kind):
    with pytest.raises(InvalidToolError, match="not a value that JSON can carry"):
        imported(kind, "a", {"type": "object", "properties": {"a": {"default": object()}}})


@pytest.mark.slow
@every_importer
def test_a_schema_that_holds_itself_is_refused(kind):
    schema: dict = {"type": "object", "properties": {}}
    schema["properties"]["self"] = schema
    with pytest.raises(InvalidToolError, match=r"\$ref"):
        imported(kind, "a", schema)


@pytest.mark.parametrize(
    ("importer", "definition"),
    [
        (Tool.from_openai, {"type": "web_search"}),
        (Tool.from_openai, {"type": "function", "function": "get_weather"}),
        (Tool.from_anthropic, {"type": "bash_20250124", "name": "bash"}),
    ],
)
def test_what_a_provider_runs_itself_is_no_tool(importer, definition):
    with pytest.raises(InvalidToolError, match="only definitions of type"):
        importer(definition)


WRITTEN = {
    "from_openai": {"type": "function", "name": "a", "parameters": SCHEMA},
    "from_anthropic": {"type": "custom", "name": "a", "input_schema": SCHEMA},
    "from_mcp": {"name": "a", "inputSchema": SCHEMA},
}


@pytest.mark.parametrize(
    ("importer", "kind"),
    [(importer, kind) for importer in WRITTEN for kind in WRITTEN if importer != kind]
    + [("from_anthropic", "chat"), ("from_mcp", "chat")],
)
def test_the_wrong_importer_is_told_instead_of_a_tool_without_parameters(importer, kind):
    if (importer, kind) == ("from_mcp", "from_anthropic"):  # as the attributes of the SDK's objects are
        assert Tool.from_mcp(WRITTEN[kind]).parameters == SCHEMA
        return
    right = "from_openai" if kind == "chat" else kind
    definition = {"type": "function", "function": WRITTEN[right]} if kind == "chat" else WRITTEN[right]
    with pytest.raises(InvalidToolError, match=rf"the definition of 'a' has no .*: use Tool\.{right}"):
        getattr(Tool, importer)(definition)


@pytest.mark.parametrize("importer", [Tool.from_openai, Tool.from_anthropic])
def test_a_definition_is_a_mapping(importer):
    with pytest.raises(InvalidToolError, match="is a mapping, found 'get_weather'"):
        importer("get_weather")


# --- any schema goes in and out unharmed -----------------------------------------------------------

# what can't be seen is taken out: see test_foreign.py
texts = st.text(max_size=8).map(visible_text)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(["a", "type", "properties", "$ref", "enum", "default", "items", "input", "é"])
types = st.sampled_from(["object", "array", "string", "number", "integer", "boolean", "null"])


def keywords(inner):
    maps = st.dictionaries(names, inner, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": types | st.lists(types, min_size=1, max_size=3, unique=True),
            "description": texts,
            "default": json_values,
            "enum": st.lists(json_values, min_size=1, max_size=3),
            "const": json_values,
            "examples": st.lists(json_values, max_size=2),
            "properties": maps,
            "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
            "required": st.lists(names, max_size=2),
            "additionalProperties": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "$defs": maps,
            "$ref": st.sampled_from(["#", "#/$defs/a", "#/properties/a"]),
            "x-vendor": json_values,
        },
    )


schemas = st.recursive(st.booleans() | keywords(st.booleans()), keywords, max_leaves=8).filter(
    lambda schema: isinstance(schema, dict)
)
slow = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
CHANGED = ['"array"', "$ref", "$defs", "required", "true", "false"]
COMBINATORS = {"$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"}


@pytest.mark.slow
@slow
@given(schema=schemas)
@every_importer
def test_any_schema_is_kept_and_is_sent_as_an_object(kind, schema):
    tool = imported(kind, "a", schema)
    assert tool.parameters == schema
    sent = tool.to_openai()["function"]["parameters"]
    assert sent["type"] == "object"
    assert isinstance(sent["properties"], dict)
    assert COMBINATORS.isdisjoint(sent)
    assert tool.to_anthropic()["input_schema"] == sent
    if schema.get("type") == "object":
        assert tool.to_mcp()["inputSchema"] == schema
        text = json.dumps(schema)
        if COMBINATORS.isdisjoint(schema) and not any(word in text for word in CHANGED):
            assert sent == {"properties": {}, **schema}


@pytest.mark.slow
@slow
@given(schema=schemas)
def test_what_was_exported_is_imported_as_the_same(schema):
    tool = Tool("a", "d", schema).replace(parameters=Tool("a", parameters=schema).wire_schema())
    assert Tool.from_openai(tool.to_openai()) == tool
    assert Tool.from_anthropic(tool.to_anthropic()) == tool
    assert Tool.from_mcp(tool.to_mcp(), tool_type="custom") == tool


@given(name=st.text(min_size=1, max_size=100))
@every_importer
def test_any_name_becomes_a_valid_one(kind, name):
    tool = imported(kind, name)
    assert is_tool_name(tool.name)
    assert tool.metadata.get("original_name", tool.name) == name


@pytest.mark.parametrize(
    ("given", "listed"),
    [
        (None, {"type": "object", "properties": {}}),
        ([], {"type": "object", "properties": {}}),
        ({"type": "object", "properties": []}, {"type": "object", "properties": {}}),
        ({"type": "object", "required": True}, {"type": "object", "required": []}),
        (
            {"type": "object", "properties": {"a": "text", "b": True}},
            {"type": "object", "properties": {"a": {}, "b": True}},
        ),
    ],
)
def test_a_schema_that_is_a_little_wrong_is_listed_as_clients_can_read_it(given, listed):
    tool = Tool.from_mcp({"name": "a", "inputSchema": given})
    assert tool.to_mcp()["inputSchema"] == listed
    assert tool.to_openai()["function"]["parameters"]["type"] == "object"
