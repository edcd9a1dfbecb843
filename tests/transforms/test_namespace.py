"""Namespace: names, URIs, and the way back."""

import pytest

from tool_search_processor.components import Prompt, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import Namespace

LONG = "a" * 64


def below(*components, key="name"):
    found = {getattr(component, key): component for component in components}

    async def call_next(name):
        return found.get(name)

    return call_next


async def test_tools_are_prefixed_and_labelled():
    tool = Tool("process", execute=lambda: "done", metadata={"k": 1})
    (named,) = await Namespace("api").list_tools([tool])
    assert named.name == "api_process"
    assert named.namespace == "api"
    assert named.metadata == {"original_name": "process", "k": 1, "uri_prefix": "api"}
    assert await named.call({}) == "done"
    assert (tool.name, tool.namespace, tool.metadata) == ("process", None, {"k": 1})


async def test_what_an_importer_wrote_stays():
    tool = Tool("repo_get", namespace="GitHub", metadata={"original_name": "repo.get"})
    (named,) = await Namespace("gh").list_tools([tool])
    assert (named.namespace, named.metadata["original_name"]) == ("GitHub", "repo.get")


async def test_a_function_can_still_be_called_as_one():
    (named,) = await Namespace("api").list_tools([Tool.from_function(double)])
    assert named(4) == 8
    assert await named.call({"n": 4}) == 8


def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@pytest.mark.parametrize("prefix", ["a", "api", "git-hub", "v1_2", "x" * 32])
def test_prefixes(prefix):
    assert Namespace(prefix).prefix == prefix
    assert repr(Namespace(prefix)) == f"Namespace({prefix!r})"


@pytest.mark.parametrize("prefix", ["", "my server", "a.b", "a/b", "é", "x" * 33, None, 3, "a\n"])
def test_a_prefix_that_no_name_can_hold_raises(prefix):
    with pytest.raises(ConfigurationError, match="a namespace prefix is 1 to 32 letters"):
        Namespace(prefix)


async def test_long_names_are_cut_and_stay_apart():
    tools = [Tool(LONG), Tool(LONG[:-1] + "b"), Tool("c" * 60)]
    first = await Namespace("api").list_tools(tools)
    names = [tool.name for tool in first]
    assert len(set(names)) == 3
    assert [len(name) for name in names] == [64, 64, 64]
    assert names[0].startswith("api_aaaa")
    assert [t.fingerprint for t in await Namespace("api").list_tools(tools)] == [t.fingerprint for t in first]


async def test_get_tool_takes_the_prefix_off():
    namespace = Namespace("api")
    call_next = below(Tool("process"), Tool("api_process"))
    assert (await namespace.get_tool("api_process", call_next)).name == "api_process"
    assert (await namespace.get_tool("api_process", call_next)).metadata["original_name"] == "process"
    assert (await namespace.get_tool("api_api_process", call_next)).name == "api_api_process"
    for name in ("process", "api_", "api", "api_none", "xapi_process"):
        assert await namespace.get_tool(name, call_next) is None


async def test_get_tool_knows_cut_names_after_listing():
    namespace = Namespace("api")
    (listed,) = await namespace.list_tools([Tool(LONG)])
    assert await namespace.get_tool(listed.name, below(Tool(LONG))) == listed
    assert await Namespace("api").get_tool(listed.name, below(Tool(LONG))) is None
    assert await namespace.get_tool(f"api_{LONG}", below(Tool(LONG))) is None


async def test_cut_names_are_remembered_within_bounds(monkeypatch):
    monkeypatch.setattr("tool_search_processor.transforms.namespace._LONG_NAMES", 2)
    namespace = Namespace("api")
    tools = [Tool(letter * 64) for letter in "abc"]
    listed = await namespace.list_tools(tools)
    assert await namespace.get_tool(listed[2].name, below(*tools)) == listed[2]


@pytest.mark.parametrize(
    ("uri", "outer"),
    [
        ("data://x", "data://api/x"),
        ("data://x/y?z=1#f", "data://api/x/y?z=1#f"),
        ("file:///etc/hosts", "file://api//etc/hosts"),
        ("https://host:80/p", "https://api/host:80/p"),
        ("urn:isbn:1", "urn:api/isbn:1"),
        ("plain", "api/plain"),
        ("a/b://c", "api/a/b://c"),
    ],
)
async def test_uris_and_back(uri, outer):
    namespace, resource = Namespace("api"), Resource(uri=uri, read=lambda: uri)
    (named,) = await namespace.list_resources([resource])
    assert (named.uri, named.namespace, named.metadata["original_uri"]) == (outer, "api", uri)
    assert named.read() == uri
    call_next = below(resource, key="uri")
    assert await namespace.get_resource(outer, call_next) == named
    assert await namespace.get_resource(uri, call_next) is None


async def test_templates_read_under_their_own_uri():
    template = ResourceTemplate(uri_template="repo://{owner}/{name}", read=lambda uri: f"read {uri}")
    namespace = Namespace("gh")
    (named,) = await namespace.list_resource_templates([template])
    assert named.uri_template == "repo://gh/{owner}/{name}"
    assert named.matches("repo://gh/octo/hello")
    assert named.read("repo://gh/octo/hello") == "read repo://octo/hello"
    with pytest.raises(ConfigurationError, match="is not a URI of the namespace 'gh'"):
        named.read("repo://octo/hello")

    async def call_next(uri):
        return template if template.matches(uri) else None

    assert (
        await namespace.get_resource_template("repo://gh/a/b", call_next)
    ).uri_template == named.uri_template
    assert await namespace.get_resource_template("repo://a/b", call_next) is None
    assert await namespace.get_resource_template("repo://gh/a", call_next) is None


async def test_a_template_that_is_a_definition_only_stays_one():
    (named,) = await Namespace("gh").list_resource_templates([ResourceTemplate(uri_template="a://{x}")])
    assert named.read is None


async def test_prompts():
    namespace, prompt = Namespace("api"), Prompt(name="greet", render=lambda arguments: ["hi"])
    (named,) = await namespace.list_prompts([prompt])
    assert (named.name, named.namespace, named.metadata["original_name"]) == ("api_greet", "api", "greet")
    assert named.render({}) == ["hi"]
    assert await namespace.get_prompt("api_greet", below(prompt)) == named
    assert await namespace.get_prompt("greet", below(prompt)) is None
    assert await namespace.get_prompt("api_none", below(prompt)) is None


async def test_namespaces_nest():
    inner, outer = Namespace("in"), Namespace("out")
    (tool,) = await outer.list_tools(await inner.list_tools([Tool("x")]))
    assert (tool.name, tool.namespace, tool.metadata["original_name"]) == ("out_in_x", "in", "x")
    assert tool.metadata["uri_prefix"] == "out/in"  # as in `data://out/in/x`
    (resource,) = await outer.list_resources(await inner.list_resources([Resource(uri="d://x")]))
    assert (resource.uri, resource.metadata["original_uri"]) == ("d://out/in/x", "d://x")


async def test_an_unchanged_tool_is_not_made_again():
    namespace, tools = Namespace("api"), [Tool("a"), Tool("b")]
    first = await namespace.list_tools(tools)
    second = await namespace.list_tools([*tools, Tool("c")])
    assert [second[0] is first[0], second[1] is first[1]] == [True, True]
