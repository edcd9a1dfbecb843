"""Every shipped transform over every feature of JSON Schema: what is listed is what can be called."""

import jsonschema
import pytest

from tests.transforms.own import Lenient
from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.providers import StaticProvider
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import (
    ArgTransform,
    Namespace,
    TagFilter,
    ToolTransform,
    ToolTransformConfig,
    Transform,
    Visibility,
)

S = {"type": "string"}
N = {"type": "integer"}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


def of(a=S, **keywords):
    return {"type": "object", "properties": {"a": a, "b": N}, **keywords}


# A schema, a call that fits it and one that does not. Each has the argument `a`, and perhaps `b`.
FEATURES = {
    "plain": (of(required=["a"]), {"a": "k"}, {"a": 3}),
    "closed": (of(additionalProperties=False), {"a": "k", "b": 1}, {"c": 1}),
    "open to one type": (of(additionalProperties=N), {"a": "k", "c": 1}, {"c": "k"}),
    "enum": (of({"enum": ["k", 3, None]}), {"a": None}, {"a": "l"}),
    "const": (of({"const": "k"}), {"a": "k"}, {"a": "l"}),
    "several types": (of({"type": ["string", "null"]}), {"a": None}, {"a": 3}),
    "default": (of({**S, "default": "k"}), {"b": 1}, {"a": 3}),
    "texts": (of({**S, "title": "a", "description": "a of b", "examples": ["k"]}), {"a": "k"}, {"a": 3}),
    "bounds": (of({**S, "minLength": 2, "pattern": "^k"}), {"a": "kk"}, {"a": "k"}),
    "array": (of({"type": "array", "items": S, "minItems": 1}), {"a": ["k"]}, {"a": []}),
    "tuple": (of({"type": "array", "prefixItems": [S, N]}), {"a": ["k", 1]}, {"a": [1, 1]}),
    "nested": (
        of({"type": "object", "properties": {"a": N}, "required": ["a"], "additionalProperties": False}),
        {"a": {"a": 1}},
        {"a": {"x": 1}},
    ),
    "nested anyOf": (of({"anyOf": [N, {"type": "null"}]}), {"a": None}, {"a": "k"}),
    "nested oneOf": (of({"oneOf": [{"minimum": 5}, {"maximum": 2}]}), {"a": 1}, {"a": 3}),
    "nested allOf": (of({"allOf": [N, {"minimum": 2}]}), {"a": 2}, {"a": 1}),
    "nested not": (of({"not": S}), {"a": 3}, {"a": "k"}),
    "boolean schema": (of(True, additionalProperties=False), {"a": [1]}, {"c": 1}),
    "reference": (of({"$ref": "#/$defs/k"}, **{"$defs": {"k": {"enum": ["k"]}}}), {"a": "k"}, {"a": "l"}),
    "old reference": (
        of({"$ref": "#/definitions/k"}, definitions={"k": {"enum": ["k"]}}),
        {"a": "k"},
        {"a": "l"},
    ),
    "reference to an argument": (
        of(properties={"a": S, "b": {"$ref": "#/properties/a"}}),
        {"b": "k"},
        {"b": 3},
    ),
    "cycle": (
        of(
            {"$ref": "#/$defs/node"},
            **{"$defs": {"node": {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}, "n": N}}}},
        ),
        {"a": {"a": {"n": 1}}},
        {"a": {"a": {"n": "k"}}},
    ),
    "root anyOf": (of(anyOf=[{"required": ["a"]}, {"required": ["b"]}]), {"a": "k"}, {}),
    "root allOf": (of(allOf=[{"required": ["a"]}]), {"a": "k"}, {"b": 1}),
    "root not": (of(**{"not": {"required": ["a", "b"]}}), {"a": "k"}, {"a": "k", "b": 1}),
    "conditions": (
        of(**{"if": {"properties": {"a": {"const": "k"}}, "required": ["a"]}, "then": {"required": ["b"]}}),
        {"a": "k", "b": 1},
        {"a": "k"},
    ),
    "dependencies": (of(dependentRequired={"b": ["a"]}), {"a": "k", "b": 1}, {"b": 1}),
    "dependent schemas": (of(dependentSchemas={"b": {"required": ["a"]}}), {"a": "k", "b": 1}, {"b": 1}),
    "old dependencies": (of(dependencies={"b": ["a"]}, **DRAFT_7), {"a": "k", "b": 1}, {"b": 1}),
    "patterns": (of(patternProperties={"^z": N}), {"a": "k", "z1": 1}, {"z1": "k"}),
    "names": (of(propertyNames={"enum": ["a", "b"]}), {"a": "k"}, {"c": 1}),
    "number of arguments": (of(minProperties=1), {"a": "k"}, {}),
    "unevaluated": (of(unevaluatedProperties=False), {"a": "k"}, {"c": 1}),
    "unknown keywords": (of({**S, "x-order": {"a": 1}}, **{"x-a": ["a"]}), {"a": "k"}, {"a": 3}),
}  # fmt: skip


class OwnTransform(Transform):
    """What a user writes in a few lines."""

    async def list_tools(self, tools):
        return [tool.replace(name=f"own_{tool.name}", tags=tool.tags | {"own"}) for tool in tools]


def overlay(**fields):
    return [ToolTransform({"t": ToolTransformConfig(**fields)})]


def argument(**fields):
    return overlay(arguments={"a": ArgTransform(**fields)})


# What leaves the schema as it is.
UNTOUCHING = {
    "nothing": [],
    "namespace": [Namespace("n")],
    "two namespaces": [Namespace("n"), Namespace("m")],
    "renamed": overlay(name="short"),
    "described": overlay(description="D", tags={"x"}, keywords=["k"]),
    "visible": [Visibility(False, names={"u"}), Visibility(True, names={"t"}, only=True)],
    "tag": [TagFilter({"x"})],
    "own": [OwnTransform()],
    "row": [OwnTransform(), Namespace("n"), TagFilter({"own"}), *overlay(name="s")],
}
every_feature = pytest.mark.parametrize(("schema", "fits", "misfits"), FEATURES.values(), ids=FEATURES)


async def through(transforms, schema, *, where="provider"):
    """Return the one tool behind the transforms; called, it answers with what it got."""
    tool = Tool("t", parameters=schema, tags={"x"}, execute=lambda arguments: arguments)
    provider = StaticProvider([tool])
    row = [Lenient([one]) for one in transforms]
    if where == "catalog":
        catalog = Catalog([provider], transforms=row)
    else:
        catalog = Catalog([provider.with_transforms(*row)])
    (listed,) = await catalog.list_tools()
    assert await catalog.get_tool(listed.name) is listed
    jsonschema.Draft202012Validator.check_schema(listed.wire_schema())
    return listed


@every_feature
@pytest.mark.parametrize("where", ["provider", "catalog"])
@pytest.mark.parametrize("transforms", UNTOUCHING.values(), ids=UNTOUCHING)
async def test_the_schema_survives_what_does_not_concern_it(transforms, where, schema, fits, misfits):
    tool = await through(transforms, schema, where=where)
    assert tool.parameters == schema
    assert await tool.call(fits) == fits
    with pytest.raises(ToolArgumentsError):
        await tool.call(misfits)


def renamed(arguments):
    return {"x" if name == "a" else name: value for name, value in arguments.items()}


@every_feature
async def test_a_renamed_argument_reaches_the_tool_under_its_own_name(schema, fits, misfits):
    tool = await through(argument(name="x"), schema)
    assert [*tool.parameters["properties"]] == ["x", "b"]
    assert await tool.call(renamed(fits)) == fits
    with pytest.raises(ToolArgumentsError) as caught:
        await tool.call(renamed(misfits))
    assert "`a`" not in str(caught.value)
    if "a" in fits:
        with pytest.raises(ToolArgumentsError):
            await tool.call(fits)


@every_feature
@pytest.mark.parametrize(
    "fields", [{"description": "D"}, {"examples": ["k"]}], ids=["description", "examples"]
)
async def test_a_text_of_an_argument_changes_no_call(fields, schema, fits, misfits):
    tool = await through(argument(**fields), schema)
    ((key, value),) = fields.items()
    assert tool.parameters["properties"]["a"][key] == value
    assert tool.parameters["properties"]["b"] == schema["properties"]["b"]
    assert await tool.call(fits) == fits
    with pytest.raises(ToolArgumentsError):
        await tool.call(misfits)


@every_feature
async def test_a_required_argument_must_be_there(schema, fits, misfits):
    tool = await through(argument(required=True), schema)
    assert "a" in tool.parameters["required"]
    if "a" in fits:
        assert await tool.call(fits) == fits
    else:
        with pytest.raises(ToolArgumentsError):
            await tool.call(fits)
    with pytest.raises(ToolArgumentsError):
        await tool.call({"b": 1})


@pytest.mark.parametrize(
    ("schema", "fits"),
    [(schema, fits) for schema, fits, _ in FEATURES.values() if "a" in fits],
    ids=[name for name, (_, fits, _) in FEATURES.items() if "a" in fits],
)
@pytest.mark.parametrize("hide", [True, False], ids=["hidden", "default"])
async def test_a_fixed_argument_is_given_for_the_model(hide, schema, fits):
    tool = await through(argument(default=fits["a"], hide=hide), schema)
    assert ("a" in tool.parameters["properties"]) is not hide
    rest = {name: value for name, value in fits.items() if name != "a"}
    assert await tool.call(rest) == fits
    if hide:
        with pytest.raises(ToolArgumentsError):
            await tool.call(fits)


@every_feature
async def test_a_row_of_renames_reaches_the_tool(schema, fits, misfits):
    row = [
        *argument(name="y"),
        Namespace("n"),
        ToolTransform({"n_t": ToolTransformConfig(name="short", arguments={"y": ArgTransform(name="x")})}),
    ]
    tool = await through(row, schema, where="catalog")
    assert tool.name == "short"
    assert await tool.call(renamed(fits)) == fits
    with pytest.raises(ToolArgumentsError):
        await tool.call(renamed(misfits))
