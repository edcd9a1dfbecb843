"""A tool: its fields, its copies, its calls."""

import ast
import asyncio
import contextlib
import copy
import dataclasses
import functools
import inspect
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tool_search_processor.errors import InvalidToolError, ToolArgumentsError, ToolNotCallableError
from tool_search_processor.tools import Tool, ToolContext, tool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


async def echo(**arguments):
    return arguments


# --- fields ------------------------------------------------------------------------------------------


def test_defaults():
    plain = Tool("ping")
    assert plain.parameters == {"type": "object", "properties": {}}
    assert (plain.description, plain.execute, plain.namespace) == ("", None, None)
    assert (plain.tags, plain.keywords, plain.pinned, plain.requires_approval) == (
        frozenset(),
        (),
        False,
        False,
    )
    assert (plain.tool_type, plain.output_schema, plain.annotations, plain.metadata) == (
        "custom",
        None,
        {},
        {},
    )


def test_the_order_of_the_fields_is_part_of_the_contract():
    assert [f.name for f in dataclasses.fields(Tool)] == [
        "name", "description", "parameters", "execute", "namespace", "tags", "keywords", "pinned",
        "requires_approval", "tool_type", "output_schema", "annotations", "metadata", "example_requests",
    ]  # fmt: skip


def test_what_type_checkers_are_told_of_the_constructor_is_what_it_takes():
    [source] = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(Tool)))
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    assert [argument.arg for argument in source.args.args[1:]] == [f.name for f in dataclasses.fields(Tool)]
    assert not source.args.kwonlyargs
    made = Tool("a", tags=["x"], keywords={"k": 1})
    assert (made.tags, made.keywords) == (frozenset({"x"}), ("k",))


def test_containers_are_frozen_copies():
    parameters = copy.deepcopy(SCHEMA)
    made = Tool("a", parameters=parameters, metadata={"x": [1]}, tags=["t", "t"], keywords=iter(["k"]))
    parameters["properties"]["city"]["type"] = "changed"
    assert made.parameters == SCHEMA
    assert made.tags == frozenset({"t"})
    assert made.keywords == ("k",)
    for change in (
        lambda: made.parameters.update(x=1),
        lambda: made.parameters["properties"]["city"].update(x=1),
        lambda: made.metadata["x"].append(2),
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"


@pytest.mark.parametrize("parameters", [None, True, False])
def test_no_schema_is_one_without_parameters(parameters):
    assert Tool("a", parameters=parameters).parameters == {"type": "object", "properties": {}}


def test_none_stands_for_the_default():
    assert Tool("a", description=None, annotations=None, metadata=None) == Tool("a")


@pytest.mark.parametrize("name", ["", "a.b", "x" * 65, "a b", "é", "a\n", None, 3])
def test_a_name_that_providers_refuse_is_refused_with_what_to_do(name):
    with pytest.raises(InvalidToolError, match=r"(a name such as '|give it one).*from_openai"):
        Tool(name)


def test_a_function_in_the_place_of_the_name_is_told_how_it_becomes_a_tool():
    with pytest.raises(InvalidToolError, match=r"takes a name first, found <.*len>: .*Tool\.from_function"):
        Tool(len)


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"description": 3}, "description of the tool 'a' is a string, found 3"),
        ({"namespace": 3}, "namespace of the tool 'a' is a string or None, found 3"),
        ({"execute": "run"}, "execute of the tool 'a' is a function or None, found 'run'"),
        ({"tags": "github"}, "tags of the tool 'a' is a collection of strings.*found 'github'"),
        ({"tags": [1]}, r"tags of the tool 'a' is a collection of strings only, found \[1\]"),
        ({"tags": 3}, "tags of the tool 'a' is a collection of strings.*found 3"),
        ({"keywords": "word"}, "keywords of the tool 'a' is a collection of strings.*found 'word'"),
        ({"parameters": ["city"]}, r"parameters of the tool 'a' is a mapping.*found \['city'\]"),
        (
            {"parameters": {"default": {1}}},
            r"parameters of the tool 'a' is a JSON Schema, but \{1\} is not a value",
        ),
        (
            {"output_schema": {"default": object}},
            "output_schema of the tool 'a' is a JSON Schema, but <class",
        ),
        ({"output_schema": "x"}, "output_schema of the tool 'a' is a mapping"),
        ({"annotations": 1}, "annotations of the tool 'a' is a mapping"),
        ({"metadata": "x"}, "metadata of the tool 'a' is a mapping"),
    ],
)
def test_a_field_of_the_wrong_kind_is_refused(fields, match):
    with pytest.raises(InvalidToolError, match=match):
        Tool("a", **fields)


def test_a_container_that_holds_itself_is_refused():
    loop: dict = {}
    loop["self"] = loop
    with pytest.raises(InvalidToolError, match="holds itself"):
        Tool("a", metadata=loop)


# --- copies and identity -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Guarded(Tool):
    """What others build on tools: one field more, another call."""

    guard: Callable[[], bool] | None = None

    async def call(self, arguments: Any = None, context: ToolContext | None = None) -> Any:
        return await super().call(arguments, context) if self.guard and self.guard() else "denied"


def test_replace_changes_a_copy_and_leaves_the_rest():
    original = Tool("a", "d", SCHEMA, echo, tags={"t"})
    changed = original.replace(description="other")
    assert (original.description, changed.description) == ("d", "other")
    assert changed.parameters is original.parameters
    assert changed.replace(description="d") == original
    with pytest.raises(InvalidToolError):
        original.replace(name="a b")


async def test_subclasses_stay_what_they_are():
    guarded = Guarded("a", parameters=SCHEMA, execute=echo, guard=lambda: True)
    assert await guarded.call({"city": "Rome"}) == {"city": "Rome"}
    closed = guarded.replace(guard=lambda: False)
    assert type(closed) is Guarded
    assert await closed.call({"city": "Rome"}) == "denied"
    assert len({guarded, closed}) == 2
    assert type(Guarded.from_openai(Tool("a").to_openai())) is Guarded


def test_the_original_name_is_kept_where_an_importer_changed_it():
    foreign = Tool.from_openai({"name": "files.read"})
    assert (foreign.name, foreign.original_name) == ("files_read", "files.read")
    assert Tool("read").original_name == "read"


def test_tools_are_equal_by_their_fields_and_hashed_by_their_name():
    assert Tool("a", parameters=SCHEMA) == Tool("a", parameters=copy.deepcopy(SCHEMA))
    assert hash(Tool("a", "x")) == hash(Tool("a", "y"))
    assert Tool("a", "x") != Tool("a", "y")
    assert len({Tool("a", parameters=SCHEMA), Tool("a", parameters=SCHEMA), Tool("a", namespace="n")}) == 2


def test_copies_are_the_tool_itself_and_pickle_restores_it():
    original = Tool("a", "d", SCHEMA, print, tags={"t"}, metadata={"x": [1]})
    original.check_arguments({"city": "x"})
    assert copy.copy(original) is original
    assert copy.deepcopy([original])[0] is original
    restored = pickle.loads(pickle.dumps(original))
    assert restored == original
    assert restored.fingerprint == original.fingerprint


def test_the_fingerprint_is_of_the_content_alone():
    base = Tool("a", "d", SCHEMA, tags={"x", "y"}, metadata={"set": {1, 2}, "object": Tool})
    same = Tool(
        "a", "d", {key: SCHEMA[key] for key in reversed(SCHEMA)}, print, tags=["y", "x"],
        metadata={"object": Tool, "set": {2, 1}},
    )  # fmt: skip
    assert base.fingerprint == same.fingerprint
    assert len(base.fingerprint) == 64
    assert Tool("a", metadata={1: 1, "b": 2}).fingerprint != Tool("a").fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"name": "b"},
        {"description": "x"},
        {"parameters": {}},
        {"namespace": "n"},
        {"tags": {"t"}},
        {"keywords": ["k"]},
        {"pinned": True},
        {"requires_approval": True},
        {"tool_type": "mcp"},
        {"output_schema": {}},
        {"annotations": {"readOnlyHint": True}},
        {"metadata": {"x": 1}},
        {"example_requests": ["file a bug"]},
    ],
)
def test_every_field_is_in_the_fingerprint(change):
    assert Tool("a").replace(**change).fingerprint != Tool("a").fingerprint


# --- export ------------------------------------------------------------------------------------------


def test_exports_are_fresh_plain_dicts():
    made = Tool("a", "d", SCHEMA)
    for export in (made.to_openai, made.to_anthropic, made.to_mcp, made.wire_schema):
        first = export()
        assert type(first) is dict
        json.dumps(first)
        first.clear()
        assert export()
    parameters = made.to_openai()["function"]["parameters"]
    parameters["properties"]["city"]["type"] = "mine"
    assert made.to_openai() == {
        "type": "function", "function": {"name": "a", "description": "d", "parameters": SCHEMA},
    }  # fmt: skip


def test_the_definition_as_json_is_what_is_sent():
    made = Tool("a", "Größe", {"anyOf": [{"type": "string"}]}, metadata={"strict": True})
    assert json.loads(made.definition_json) == made.to_openai()
    assert "Größe" in made.definition_json
    assert ": " not in made.definition_json
    assert made.definition_json is made.definition_json


def test_mcp_keeps_the_original_root_if_it_is_an_object():
    combined = {"type": "object", "anyOf": [{"required": ["a"]}]}
    assert Tool("a", parameters=combined).to_mcp()["inputSchema"] == combined
    assert Tool("a", parameters={"anyOf": [{}]}).to_mcp()["inputSchema"]["properties"] == {
        "input": {"anyOf": [{}]}
    }


# --- calls -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{"city": "Rome"}, '{"city": "Rome"}', '"{\\"city\\": \\"Rome\\"}"'])
async def test_a_call_takes_an_object_or_its_text(arguments):
    assert await Tool("a", parameters=SCHEMA, execute=echo).call(arguments) == {"city": "Rome"}


async def test_no_arguments():
    assert await Tool("a", execute=echo).call() == {}
    with pytest.raises(ToolArgumentsError, match="`city` is required but missing"):
        await Tool("a", parameters=SCHEMA, execute=echo).call(None)


@pytest.mark.parametrize("arguments", ["[1]", [1], "3", 3])
async def test_arguments_that_are_no_object(arguments):
    for schema in (SCHEMA, {}, {"properties": ["broken"]}):
        with pytest.raises(ToolArgumentsError, match=r"^The arguments must be an object, found"):
            await Tool("a", parameters=schema, execute=echo).call(arguments)


async def test_a_definition_only_cannot_be_called():
    with pytest.raises(ToolNotCallableError, match="the tool 'a' is a definition only: give it execute="):
        await Tool("a").call({})
    with pytest.raises(ToolNotCallableError, match=r"await tool\.call"):
        Tool("a", execute=echo)(city="Rome")


async def test_a_parameter_of_a_name_that_providers_refuse_has_another_for_them():
    parameters = {
        "type": "object",
        "properties": {"$top": {"type": "integer"}, "tags[]": {"type": "array"}},
        "required": ["$top"],
    }
    made = Tool("list", parameters=parameters, execute=lambda arguments: arguments)
    assert made.to_openai()["function"]["parameters"] == made.to_anthropic()["input_schema"]
    assert list(made.wire_schema()["properties"]) == ["top", "tags"]
    assert made.to_mcp()["inputSchema"] == parameters
    assert await made.call({"top": 5, "tags": '["a"]'}) == {"$top": 5, "tags[]": ["a"]}
    assert await made.call({"$top": 5}) == {"$top": 5}
    with pytest.raises(ToolArgumentsError, match=r"^`top` must be an integer, found"):
        await made.call({"top": "x"})


async def test_a_wrapped_root_is_unwrapped_at_the_call():
    schema = {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"$ref": "#/$defs/A"}],
              "$defs": {"A": {"type": "object", "required": ["z"]}}}  # fmt: skip
    made = Tool("a", parameters=schema, execute=lambda value: value)
    assert await made.call({"input": [1]}) == [1]
    assert await made.call({"input": {"z": 1}}) == {"z": 1}
    assert await made.call({"z": 1}) == {"z": 1}
    assert await made.call([1]) == [1]
    assert await made.call('{"input": "[1, 2]"}') == [1, 2]
    with pytest.raises(
        ToolArgumentsError, match=r'^`input\[0\]` must be an integer, found the string "x"\.$'
    ):
        await made.call({"input": ["x"]})


async def test_a_wrapped_object_reaches_keywords():
    schema = {**SCHEMA, "anyOf": [{"required": ["city"]}]}
    made = Tool("a", parameters=schema, execute=echo)
    assert await made.call({"input": {"city": "Rome"}}) == {"city": "Rome"}
    assert await made.call({"city": "Rome"}) == {"city": "Rome"}


async def test_an_empty_context_is_nobody_elses():
    async def write(run: ToolContext):
        run.context["seen"] = run.context.get("seen", 0) + 1
        return run.context["seen"]

    made = Tool("a", execute=write)
    assert [await made.call({}), await made.call({})] == [1, 1]


async def test_the_context_is_given_or_empty():
    async def who(city, run: ToolContext):
        return run

    made = Tool("a", parameters=SCHEMA, execute=who)
    context = ToolContext(thread_id="t", context={"plan": "pro"})
    assert await made.call({"city": "x"}, context) is context
    assert await made.call({"city": "x"}) == ToolContext()


async def test_what_the_tool_raises_comes_through():
    async def fail():
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await Tool("a", execute=fail).call({})


async def test_cancellation_passes():
    started = asyncio.Event()

    async def wait():
        started.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(Tool("a", execute=wait).call({}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_callers_arguments_are_never_changed():
    def change(arguments):
        arguments["city"] = "changed"

    given = {"city": "Rome"}
    await Tool("a", parameters=SCHEMA, execute=change).call(given)
    assert given == {"city": "Rome"}


async def test_the_target_of_a_plain_tool_is_itself():
    made = Tool("a", execute=echo)
    arguments = {"x": 1}
    assert await made.target(arguments) == (made, arguments)


async def test_a_changed_schema_of_a_function_tool_is_checked_besides_its_own():
    @tool
    def double(number: int) -> int:
        return number * 2

    narrow = double.replace(parameters={"properties": {"number": {"maximum": 10}}})
    assert await narrow.call({"number": "4"}) == 8
    with pytest.raises(ToolArgumentsError, match="`number` must be at most 10"):
        await narrow.call({"number": 11})
    with pytest.raises(ToolArgumentsError, match="`number` must be an integer"):
        await narrow.call({"number": "x"})


keys = st.sampled_from(
    ["type", "properties", "required", "items", "enum", "anyOf", "$ref", "pattern", "minimum", "a"]
)
odd = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from(["object", "string", "a", "#", "#/a", "("]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=st.dictionaries(keys, odd, max_size=4), arguments=st.dictionaries(keys, odd, max_size=3))
def test_no_schema_however_odd_makes_a_call_fail_but_for_its_arguments(schema, arguments):
    made = Tool("a", parameters=schema)
    json.dumps(made.to_openai())
    with contextlib.suppress(ToolArgumentsError):
        made.check_arguments(arguments)


LEVELS = {
    "properties": lambda inner: {"properties": {"a": inner}},
    "items": lambda inner: {"items": inner},
    "anyOf": lambda inner: {"anyOf": [inner]},
}


def deep(kind, levels):
    return functools.reduce(lambda inner, _: LEVELS[kind](inner), range(levels), {"type": "string"})


@pytest.mark.parametrize("kind", LEVELS)
@pytest.mark.parametrize("levels", [200, 500, 20_000])
def test_a_schema_that_is_too_deep_is_refused_when_the_tool_is_made(kind, levels):
    with pytest.raises(InvalidToolError, match="nested too deeply"):
        Tool(name="deep", parameters=deep(kind, levels))


@pytest.mark.parametrize("kind", LEVELS)
def test_the_deepest_schema_that_is_taken_works_everywhere(kind):
    schema = {"type": "object", "properties": {"a": deep(kind, 98)}}
    tool = Tool(name="deep", parameters=schema)
    assert tool.to_openai()["function"]["parameters"] == schema
    assert (tool.to_mcp()["inputSchema"], tool.to_anthropic()["input_schema"]) == (schema, schema)
    assert json.loads(tool.definition_json)["function"]["parameters"] == schema
    assert tool.fingerprint == Tool(name="deep", parameters=schema).fingerprint
    with pytest.raises(ToolArgumentsError):
        tool.check_arguments([1])


def test_half_characters_of_foreign_definitions_never_reach_a_wire():
    schema = {
        "type": "object",
        "properties": {"a\udfff": {"description": "\ud800", "enum": ["\ud83d\ude00"]}},
    }
    tool = Tool.from_openai(
        {"name": "odd\ud800", "description": "x\ud800", "parameters": schema},
        namespace="\ud800",
        tags={"\ud800"},
        keywords=["\ud800"],
    )
    json.dumps([tool.to_openai(), tool.to_anthropic(), tool.to_mcp()], ensure_ascii=False).encode()
    "".join([tool.description, tool.namespace, *tool.tags, *tool.keywords, tool.definition_json]).encode()
    assert tool.parameters["properties"] == {"a\ufffd": {"description": "\ufffd", "enum": ["😀"]}}


def test_numbers_that_no_json_has_are_null_in_a_definition():
    schema = {"type": "object", "x": [float("inf"), {"default": float("nan"), "maximum": 1.5}]}
    tool = Tool.from_mcp({"name": "a", "inputSchema": schema, "outputSchema": schema})
    assert tool.parameters["x"] == [None, {"default": None, "maximum": 1.5}]
    json.dumps([tool.to_openai(), tool.to_anthropic(), tool.to_mcp()], allow_nan=False)
