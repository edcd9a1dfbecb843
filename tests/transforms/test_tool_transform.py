"""ToolTransform: overlays of tools, and calls through them."""

import logging
import threading
from typing import Literal

import pytest
from pydantic import BaseModel

from tool_search_processor.errors import ConfigurationError, ToolArgumentsError, ToolNotCallableError
from tool_search_processor.tools import Tool, ToolContext
from tool_search_processor.transforms import ArgTransform, Namespace, ToolTransform, ToolTransformConfig
from tool_search_processor.transforms.rows import apply_transforms

Config, Arg = ToolTransformConfig, ArgTransform


class Label(BaseModel):
    """A label and those below it."""

    name: str
    children: list["Label"] = []


def create_issue(
    repo: str,
    title: str,
    body: str = "",
    labels: list[Label] | None = None,
    kind: Literal["bug", "idea"] = "bug",
) -> dict[str, object]:
    """Create an issue.

    Args:
        repo: Owner and name.
        title: One line.
    """
    return {"repo": repo, "title": title, "body": body, "labels": labels, "kind": kind}


ISSUE = Tool.from_function(create_issue, tags={"github"}, keywords=("ticket",))


def echo(schema, name="echo"):
    async def run(arguments):
        return dict(arguments)

    return Tool(name, parameters=schema, execute=run)


ECHO = echo(
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}
)


async def overlaid(tool, config):
    transform = ToolTransform({tool.name: config})
    transform.check([tool])
    (changed,) = await transform.list_tools([tool])
    return changed


async def with_arguments(tool, **arguments):
    return await overlaid(tool, Config(arguments=arguments))


@pytest.mark.parametrize(
    ("config", "changes"),
    [
        (Config(), {}),
        (Config(name="new"), {"name": "new"}),
        (Config(description="D"), {"description": "D"}),
        (Config(description=""), {"description": ""}),
        (Config(tags={"a"}), {"tags": frozenset("a")}),
        (Config(tags=set()), {"tags": frozenset()}),
        (Config(keywords=["k"]), {"keywords": ("k",)}),
        (Config(keywords=()), {"keywords": ()}),
        (Config(tags=iter(["a"]), keywords=iter(["k"])), {"tags": frozenset("a"), "keywords": ("k",)}),
        (Config(example_requests=iter(["File it."])), {"example_requests": ("File it.",)}),
        (Config(pinned=True, requires_approval=True), {"pinned": True, "requires_approval": True}),
        ({"name": "new", "tags": ["a"]}, {"name": "new", "tags": frozenset("a")}),
    ],
)
async def test_fields(config, changes):
    changed = await overlaid(ISSUE, config)
    assert changed == ISSUE.replace(**changes)
    assert changed("o/h", "T")["title"] == "T"


async def test_flags_can_be_taken_away():
    changed = await overlaid(
        ISSUE.replace(pinned=True, requires_approval=True), Config(pinned=False, requires_approval=False)
    )
    assert (changed.pinned, changed.requires_approval) == (False, False)


async def test_a_disabled_tool_is_gone():
    transform = ToolTransform({"echo": Config(enabled=False)})
    transform.check([ECHO])
    assert await transform.list_tools([ECHO, ISSUE]) == [ISSUE]


async def test_names_can_be_swapped():
    one, two = echo({}, "one"), echo({}, "two")
    changed = await apply_transforms(
        [ToolTransform({"one": {"name": "two"}, "two": {"name": "one"}})], [one, two]
    )
    assert [tool.name for tool in changed] == ["two", "one"]
    assert changed[0].execute is one.execute


async def test_a_rename_onto_another_tool_leaves_both_for_the_catalog_to_refuse():
    changed = await ToolTransform({"one": {"name": "two"}}).list_tools([echo({}, "one"), echo({}, "two")])
    assert [tool.name for tool in changed] == ["two", "two"]


async def test_rename_of_arguments():
    changed = await with_arguments(
        ISSUE, repo=Arg(name="project"), title=Arg(name="summary", description="S")
    )
    assert list(changed.parameters["properties"]) == ["project", "summary", "body", "labels", "kind"]
    assert changed.parameters["properties"]["summary"]["description"] == "S"
    assert changed.parameters["properties"]["project"]["description"] == "Owner and name."
    assert changed.parameters["required"] == ["project", "summary"]
    assert changed.parameters["$defs"] == ISSUE.parameters["$defs"]
    result = await changed.call({"project": "o/h", "summary": "T", "labels": [{"name": "x", "children": []}]})
    assert (result["repo"], result["title"], result["labels"]) == ("o/h", "T", [Label(name="x")])
    with pytest.raises(ToolNotCallableError, match="was not made from a function"):
        changed("o/h", "T")


async def test_arguments_can_be_swapped():
    changed = await with_arguments(ISSUE, title=Arg(name="body"), body=Arg(name="title"))
    assert changed.parameters["required"] == ["repo", "body"]
    result = await changed.call({"repo": "o/h", "body": "T", "title": "B"})
    assert (result["title"], result["body"]) == ("T", "B")


async def test_texts_alone_leave_a_function_a_function():
    changed = await with_arguments(ISSUE, title=Arg(description="S", examples=["Login fails"]))
    assert changed.parameters["properties"]["title"]["examples"] == ["Login fails"]
    assert changed("o/h", "T")["title"] == "T"
    assert (await changed.call({"repo": "o/h", "title": "T"}))["kind"] == "bug"


@pytest.mark.parametrize("default", ["x", None, 0, False, [], {"k": [1]}])
async def test_a_default_makes_optional(default):
    tool = echo({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]})
    changed = await with_arguments(tool, a=Arg(default=default))
    assert changed.parameters == {
        "type": "object",
        "properties": {"a": {"default": default}, "b": {}},
        "required": ["b"],
    }
    assert await changed.call({"b": 1}) == {"a": default, "b": 1}
    assert await changed.call({"a": "own", "b": 1}) == {"a": "own", "b": 1}


async def test_a_mutable_default_is_not_shared_between_calls():
    async def grow(a: list[int]) -> list[int]:
        a.append(len(a))
        return a

    tool = Tool("grow", parameters={"properties": {"a": {"type": "array"}}}, execute=grow)
    default = []
    changed = await with_arguments(tool, a=Arg(default=default))
    default.append("later")
    assert [await changed.call({}), await changed.call({})] == [[0], [0]]


async def test_a_hidden_value_may_be_any_object_and_is_not_copied():
    lock = threading.Lock()  # which cannot be copied

    async def run(a: object) -> object:
        return a

    tool = Tool("t", parameters={"properties": {"a": {}}}, execute=run)
    overlay = Arg(default=lock, hide=True)
    assert await (await with_arguments(tool, a=overlay)).call({}) is lock
    assert "lock" not in repr(overlay)


async def test_hidden_arguments_are_not_seen_and_not_set():
    changed = await with_arguments(ECHO, a=Arg(hide=True, default="secret"), b=Arg(name="n"))
    assert changed.parameters == {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert await changed.call({"n": 1}) == {"a": "secret", "b": 1}
    assert "secret" not in str(changed.to_openai())
    for name in "ab":
        with pytest.raises(ToolArgumentsError, match=f'`{name}` is not a known field; known are "n"'):
            await changed.call({name: "stolen"})
    with pytest.raises(ToolArgumentsError, match=r"`b` is not .* `a` is not"):
        await changed.call({"b": 1, "a": "x"})


async def test_a_visible_argument_may_take_the_name_of_a_hidden_one():
    changed = await with_arguments(ECHO, a=Arg(hide=True, default="fixed"), b=Arg(name="a"))
    assert await changed.call({"a": 3}) == {"a": "fixed", "b": 3}


async def test_a_hidden_optional_argument_without_a_value_is_left_to_the_tool():
    changed = await with_arguments(ISSUE, kind=Arg(hide=True), body=Arg(hide=True), labels=Arg(hide=True))
    assert list(changed.parameters["properties"]) == ["repo", "title"]
    assert "$defs" not in changed.parameters
    assert (await changed.call({"repo": "o/h", "title": "T"}))["kind"] == "bug"


@pytest.mark.parametrize("hide", [Arg(hide=True), Arg(required=False)])
async def test_the_schemas_own_default_stands_in(hide):
    tool = echo({"properties": {"a": {"default": "own"}, "b": {}}, "required": ["a"]})
    changed = await with_arguments(tool, a=hide)
    assert "required" not in changed.parameters
    assert await changed.call({}) == {"a": "own"}


async def async_value():
    return "async"


@pytest.mark.parametrize(
    ("factory", "value"),
    [
        (lambda: "sync", "sync"),
        (async_value, "async"),
        (str, ""),
        (lambda context: context.context["tenant"], "acme"),
        (lambda context=None: str(context), "None"),
    ],
)
async def test_factories(factory, value):
    changed = await with_arguments(ECHO, a=Arg(hide=True, default_factory=factory))
    assert await changed.call({}, ToolContext(context={"tenant": "acme"})) == {"a": value}


async def test_a_factory_is_asked_at_each_call():
    numbers = iter("123")
    changed = await with_arguments(ECHO, a=Arg(hide=True, default_factory=lambda: next(numbers)))
    assert [await changed.call({}) for _ in range(3)] == [{"a": "1"}, {"a": "2"}, {"a": "3"}]


async def test_a_factory_without_a_signature_is_called_without_context():
    tool = echo({"properties": {"a": {}}})
    assert await (await with_arguments(tool, a=Arg(hide=True, default_factory=dict))).call({}) == {"a": {}}


async def test_the_context_reaches_the_tool():
    async def who(a: str, context: ToolContext) -> str:
        return f"{a} {context.thread_id}"

    changed = await with_arguments(Tool.from_function(who), a=Arg(name="b"))
    assert await changed.call({"b": "x"}, ToolContext(thread_id="t")) == "x t"


async def test_required():
    changed = await with_arguments(ISSUE, body=Arg(required=True), title=Arg(required=True))
    assert changed.parameters["required"] == ["repo", "title", "body"]
    assert "default" not in changed.parameters["properties"]["body"]
    with pytest.raises(ToolArgumentsError, match="`body` is required but missing"):
        await changed.call({"repo": "o/h", "title": "T"})
    optional = await with_arguments(ISSUE, body=Arg(required=False))
    assert optional.parameters == ISSUE.parameters


async def test_the_seen_schema_is_the_one_that_is_checked():
    changed = await with_arguments(ISSUE, repo=Arg(name="project"))
    with pytest.raises(ToolArgumentsError, match=r"^`project` must be a string, found the number 3\.$"):
        await changed.call({"project": 3, "title": "T"})


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        ("`a` must be x.", "`n` must be x."),
        ("`a[0].a` must be x.", "`n[0].a` must be x."),
        ('`b.a` must be x, found the string "a".', '`b.a` must be x, found the string "a".'),
        ("`aa` and a.", "`aa` and a."),
        ('`["odd key"].a` must be x.', "`odd.a` must be x."),
        (
            "`b` is required where `a` is given, but missing.",
            "`b` is required where `n` is given, but missing.",
        ),
    ],
)
async def test_errors_of_the_tool_itself_name_what_the_model_sees(raised, seen):
    def refuse(arguments):
        raise ToolArgumentsError(raised)

    schema = {"properties": {"a": {}, "b": {}, "odd key": {}}}
    changed = await with_arguments(
        Tool("t", parameters=schema, execute=refuse), **{"a": Arg(name="n"), "odd key": Arg(name="odd")}
    )
    with pytest.raises(ToolArgumentsError) as caught:
        await changed.call({})
    assert str(caught.value) == seen


async def test_a_fault_of_a_hidden_value_is_not_the_models(caplog):
    changed = await with_arguments(ECHO, a=Arg(hide=True, default_factory=lambda: 3))
    with caplog.at_level(logging.WARNING), pytest.raises(ToolArgumentsError) as caught:
        await changed.call({})
    assert "set up with a value that it does not accept" in str(caught.value)
    assert "`a`" not in str(caught.value)
    assert "the fixed arguments ['a'] of tool 'echo' do not fit it" in caplog.text


async def test_other_errors_pass_as_they_are():
    def fail(a: str) -> None:
        raise KeyError(a)

    changed = await with_arguments(Tool.from_function(fail), a=Arg(name="b"))
    with pytest.raises(KeyError, match="x"):
        await changed.call({"b": "x"})


@pytest.mark.parametrize("name", ["arguments", "args", "context", "self", "kwargs", "input", "tool", "name"])
async def test_arguments_of_any_name_reach_the_tool(name):
    tool = echo({"type": "object", "properties": {"a": {}, name: {}}})

    async def run(**values):
        return values

    changed = await with_arguments(tool.replace(execute=run), a=Arg(name="b"))
    assert await changed.call({"b": 1, name: 2}) == {"a": 1, name: 2}


async def test_a_schema_whose_root_is_a_union():
    tool = echo(
        {
            "anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
            ]
        }
    )
    changed = await with_arguments(tool, a=Arg(name="x"))
    assert await changed.call({"input": {"x": "1"}}) == {"a": "1"}
    assert await changed.call({"input": {"b": 1}}) == {"b": 1}


async def test_a_call_that_is_no_object():
    tool = echo({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {}}}]})
    changed = await with_arguments(tool, a=Arg(name="x"))
    with pytest.raises(ToolArgumentsError, match="must be an object"):
        await changed.call({"input": "text"})


async def test_a_definition_only_stays_one():
    tool = ECHO.replace(execute=None)
    changed = await with_arguments(tool, a=Arg(name="x"))
    assert "x" in changed.parameters["properties"]
    with pytest.raises(ToolNotCallableError):
        await changed.call({"x": "1"})


async def test_strict_mode_ends_where_an_argument_becomes_optional():
    tool = ECHO.replace(metadata={"strict": True, "k": 1})
    assert (await with_arguments(tool, a=Arg(name="x"))).metadata == {"strict": True, "k": 1}
    assert (await with_arguments(tool, a=Arg(default="x"))).metadata == {"strict": False, "k": 1}
    assert (await with_arguments(tool, b=Arg(examples=[1]))).metadata == {"strict": False, "k": 1}


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ({"a": {"nam": "b"}}, "tool 'a' has no option 'nam': there are name, description"),
        ({"a": {"arguments": {"x": {"typo": 1}}}}, "argument 'x' has no option 'typo'"),
        ({"a": {"arguments": {"x": "y"}}}, r"argument 'x' takes ArgTransform\(...\), found 'y'"),
        ({"a": "b"}, r"tool 'a' takes ToolTransformConfig\(...\), found 'b'"),
        ({"a": {"name": "no name"}}, "a tool's name is .* found 'no name'"),
        ({"a": {"name": "x" * 65}}, "a tool's name"),
        (["a"], r"tools of a ToolTransform is Mapping, found \['a'\]"),
        ({"a": {"enabled": "false"}}, "enabled of a ToolTransformConfig is bool, found 'false'"),
        ({"a": {"pinned": 1}}, "pinned of a ToolTransformConfig is bool or None"),
        ({"a": {"description": 1}}, "description of a ToolTransformConfig is str or None"),
        ({"a": {"arguments": ["x"]}}, "arguments of a ToolTransformConfig is Mapping"),
        ({"a": {"tags": "admin"}}, "tags of .* a collection of strings, such as"),
        ({"a": {"keywords": "word"}}, "keywords of .* a collection of strings, such as"),
        ({"a": {"example_requests": [" "]}}, "an example request of the tool '' is one to"),
        ({"a": {"name": "c"}, "b": {"name": "c"}}, "the tools 'a', 'b' would all be called 'c'"),
        ({"a": {"name": "b"}, "b": {}}, "the tools 'a', 'b' would all be called 'b'"),
        (
            {"a": {"arguments": {"x": {"name": "z"}, "y": {"name": "z"}}}},
            "the arguments 'x', 'y' would all be called 'z'",
        ),
        ({"a": {"arguments": {"x": {"hide": True, "required": True}}}}, "cannot be required"),
    ],
)
def test_configurations_that_cannot_work_raise(tools, message):
    with pytest.raises(ConfigurationError, match=message):
        ToolTransform(tools)


def test_what_is_out_of_sight_clashes_with_nothing():
    ToolTransform({"a": {"name": "c", "enabled": False}, "b": {"name": "c"}})
    ToolTransform({"a": {"arguments": {"x": {"hide": True}, "y": {"name": "x"}}}})


MISFITS = {
    "no such tool": (
        {"ecoh": Config(name="x")},
        r"there is no tool 'ecoh' to transform \(did you mean 'echo'\?\)",
    ),
    "no such tool, nothing near": ({"zzz": Config(name="x")}, "there is no tool 'zzz' to transform$"),
    "no such argument": (
        {"echo": Config(arguments={"c": Arg(name="x"), "b": Arg(name="n")})},
        r"tool 'echo' has no argument 'c' \(it has 'a', 'b'\)",
    ),
    "a name that is taken": (
        {"echo": Config(arguments={"a": Arg(name="b")})},
        "argument 'a' of tool 'echo' cannot be called 'b': another argument has that name",
    ),
    "made optional without a value": (
        {"echo": Config(arguments={"a": Arg(required=False)})},
        "argument 'a' of tool 'echo' is needed by the tool: to make it optional, give it a default",
    ),
}


@pytest.mark.parametrize(("tools", "message"), MISFITS.values(), ids=MISFITS)
async def test_what_does_not_fit_raises_where_the_tools_are_known_and_else_is_logged_once(
    tools, message, caplog
):
    transform = ToolTransform(tools)
    with pytest.raises(ConfigurationError, match=message):
        transform.check([ECHO])
    for tool in (ECHO, ECHO.replace(description="changed"), ECHO.replace(description="again")):
        (changed,) = await transform.list_tools([tool])
        assert await changed.call({"a": "1"}) == {"a": "1"}
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("ToolTransform: ")


async def test_the_rest_of_an_overlay_that_does_not_fit_holds():
    transform = ToolTransform(
        {"echo": Config(name="e", arguments={"none": Arg(hide=True), "b": Arg(name="n")})}
    )
    (changed,) = await transform.list_tools([ECHO])
    assert changed.name == "e"
    assert list(changed.parameters["properties"]) == ["a", "n"]


async def test_one_clash_may_bring_about_another():
    tool = echo({"properties": {"a": {}, "b": {}, "c": {}}})
    transform = ToolTransform({"echo": {"arguments": {"a": {"name": "b"}, "b": {"name": "c"}}}})
    with pytest.raises(ConfigurationError, match="'b' of tool 'echo' cannot be called 'c'"):
        transform.check([tool])
    (changed,) = await transform.list_tools([tool])
    assert list(changed.parameters["properties"]) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}, "b": {}}, "required": ["a"]},
        {"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["a", "b"]}]},
    ],
)
async def test_a_tool_that_needs_a_hidden_argument_without_a_value_is_left_out(schema, caplog):
    transform = ToolTransform({"echo": {"arguments": {"a": {"hide": True}}}})
    with pytest.raises(ConfigurationError, match=r"without \['a'\]: give each hidden argument"):
        transform.check([echo(schema)])
    assert await transform.list_tools([echo(schema), ISSUE]) == [ISSUE]
    assert "no call of tool 'echo' could fit its schema" in caplog.text


async def test_a_schema_too_intricate_to_change(caplog):
    levels = {f"L{n}": {"allOf": [{"$ref": f"#/$defs/L{n + 1}"}] * 2} for n in range(30)}
    tool = echo({"$ref": "#/$defs/L0", "$defs": {**levels, "L30": {"properties": {"a": {}}}}})
    transform = ToolTransform({"echo": {"arguments": {"a": {"name": "b"}}}})
    with pytest.raises(ConfigurationError, match="too intricate to change"):
        transform.check([tool])
    assert await transform.list_tools([tool]) == []
    assert "too intricate" in caplog.text


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            Arg(default=3),
            "the default of 'a' does not fit tool 'echo': `a` must be a string, found the number 3",
        ),
        (Arg(default=None, hide=True), "`a` must be a string, found null"),
    ],
)
def test_a_default_that_does_not_fit_is_found_at_construction(argument, message):
    with pytest.raises(ConfigurationError, match=message):
        ToolTransform({"echo": Config(arguments={"a": argument})}).check([ECHO])


async def test_complaints_are_remembered_within_bounds(caplog):
    await ToolTransform({f"tool_{number}": {} for number in range(1001)}).list_tools([ECHO])
    assert len(caplog.records) == 1000


async def test_an_empty_list_is_no_reason_to_complain(caplog):
    assert await ToolTransform({"a": {}}).list_tools([]) == []
    assert not caplog.records


async def test_an_unchanged_tool_is_not_made_again():
    transform = ToolTransform({"echo": {"arguments": {"a": {"name": "x"}}}})
    (first,) = await transform.list_tools([ECHO])
    assert (await transform.list_tools([ISSUE, ECHO]))[1] is first


async def test_equal_overlays_give_equal_definitions():
    arguments = {"a": Arg(name="x", default=1), "b": Arg(hide=True)}
    one, two = [
        (await ToolTransform({"echo": Config(arguments=arguments)}).list_tools([tool]))[0]
        for tool in (ECHO, echo(ECHO.parameters))
    ]
    assert one.fingerprint == two.fingerprint


async def test_get_tool_maps_names_back():
    transform = ToolTransform({"one": {"name": "uno"}, "two": {"enabled": False}, "three": {"tags": ["t"]}})
    tools = {name: echo({}, name) for name in ("one", "two", "three", "four")}

    async def call_next(name):
        return tools.get(name)

    found = {name: await transform.get_tool(name, call_next) for name in ("uno", *tools, "none")}
    assert {name: tool.name for name, tool in found.items() if tool} == {
        "uno": "uno",
        "three": "three",
        "four": "four",
    }
    assert found["three"].tags == {"t"}


def test_repr():
    assert "ToolTransformConfig(name='b'" in repr(ToolTransform({"a": {"name": "b"}}))


async def test_the_stack_of_the_documentation():
    tool = Tool("verbose_name", parameters={"properties": {"data": {}}}, execute=lambda data: f"did {data}")
    row = [Namespace("api"), ToolTransform({"api_verbose_name": Config(name="short")})]
    (short,) = await apply_transforms(row, [tool])
    assert short.name == "short"
    assert short.metadata["original_name"] == "verbose_name"
    assert await short.call({"data": 1}) == "did 1"
