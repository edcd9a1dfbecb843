"""Resources, templates and prompts of all providers, through transforms, one of each name."""

import asyncio

import pytest

from tool_search_processor import Catalog
from tool_search_processor.components import Prompt, PromptArgument, Resource, ResourceTemplate
from tool_search_processor.providers import StaticProvider
from tool_search_processor.providers.provider import TransformedProvider
from tool_search_processor.server.mcp.request_providers import RequestProviders
from tool_search_processor.testing import ManualClock
from tool_search_processor.tools import Tool
from tool_search_processor.transforms import Namespace, Transform, Visibility

KINDS = ["resource", "resource_template", "prompt"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind, name, **fields):
    if kind == "resource":
        return Resource(uri=f"data://{name}", **fields)
    if kind == "resource_template":
        return ResourceTemplate(uri_template=f"data://{name}/{{x}}", **fields)
    return Prompt(name=name, **fields)


def key(kind, name):
    """Return what a thing is asked for by."""
    return {"resource": f"data://{name}", "resource_template": f"data://{name}/1"}.get(kind, name)


def keys(listed):
    return [getattr(item, "uri", None) or getattr(item, "uri_template", None) or item.name for item in listed]


class Server:
    """A provider of everything, in the middle of others."""

    def __init__(self, *names, name="server", version=1):
        self.names, self.name, self.mark = names, name, version
        self.error = None
        self.hangs = False
        self.asked = asyncio.Event()
        self.reads = 0

    def version(self):
        return self.mark

    async def list_tools(self, context):
        return [Tool(self.name)]

    def list_resources(self, context):
        return self._list("resource", context)

    async def list_resource_templates(self, context):
        return await self._list("resource_template", context)

    async def list_prompts(self, context):
        return await self._list("prompt", context)

    async def _list(self, kind, context):
        self.reads += 1
        self.asked.set()
        if self.hangs:
            await asyncio.Event().wait()
        if self.error:
            raise self.error
        own = () if self.mark else context.get("names", ())
        return [make(kind, name) for name in (*self.names, *own)]


class Knowing(Transform):
    """Its get methods know better than its lists of `denied`, and fail at `broken`."""

    async def get_resource(self, uri, call_next):
        return await self._get(uri, call_next)

    async def get_resource_template(self, uri, call_next):
        return await self._get(uri, call_next)

    async def get_prompt(self, name, call_next):
        return await self._get(name, call_next)

    async def _get(self, asked, call_next):
        found = await call_next(asked)
        if "broken" in asked:
            raise RuntimeError("lookup failed")
        return None if "denied" in asked or found is None else found.replace()


class Clumsy(Transform):
    """Gives all one name."""

    async def list_prompts(self, prompts):
        return [prompt.replace(name="same") for prompt in prompts]


async def listed(catalog, kind, context=None):
    return keys(await getattr(catalog, f"list_{kind}s")(context))


async def given(catalog, kind, name, context=None):
    return await getattr(catalog, f"get_{kind}")(key(kind, name), context)


def expected(kind, *names):
    return keys(make(kind, name) for name in names)


@every_kind
async def test_all_providers_are_gathered_in_their_order(kind):
    catalog = Catalog([Tool("x"), Server("b"), StaticProvider([Tool("y")]), Server("a", name="other")])
    assert await listed(catalog, kind) == expected(kind, "b", "a")
    assert keys([await given(catalog, kind, "a")]) == expected(kind, "a")
    assert await given(catalog, kind, "c") is None


@every_kind
@pytest.mark.parametrize("transforms", [(), (Namespace("n"),), (Knowing(),)], ids=["none", "shipped", "own"])
async def test_a_catalog_without_any_has_none(kind, transforms):
    catalog = Catalog([Tool("x")], transforms=transforms)
    assert await listed(catalog, kind) == []
    assert await given(catalog, kind, "a") is None


@every_kind
async def test_of_equal_names_the_first_stays(kind, caplog):
    first, second = Server("a", "b"), Server("b", "c", name="second")
    catalog = Catalog([first, second])
    for _ in range(2):
        assert await listed(catalog, kind) == expected(kind, "a", "b", "c")
    (record,) = caplog.records
    what = kind.replace("_", " ")
    assert record.getMessage().startswith(f"the {what} {expected(kind, 'b')[0]!r} of second is not served")


async def test_names_are_unique_behind_the_transforms_too(caplog):
    catalog = Catalog([Server("a", "b")], transforms=[Clumsy()])
    assert await listed(catalog, "prompt") == ["same"]
    assert "the prompt 'same' of the transforms of catalog is not served" in caplog.text


@every_kind
@pytest.mark.parametrize(
    "wrap",
    [
        lambda server: Catalog([server.with_transforms(Namespace("n"), Namespace("m"))]),
        lambda server: Catalog([server], transforms=[Namespace("n"), Namespace("m")]),
        lambda server: Catalog([server.with_transforms(Namespace("n"))], transforms=[Namespace("m")]),
        lambda server: Catalog([Catalog([server], transforms=[Namespace("n")])], transforms=[Namespace("m")]),
        lambda server: Catalog([Catalog([server]).with_transforms(Namespace("n"))]).adapted(
            transforms=[Namespace("m")]
        ),
    ],
    ids=["provider", "catalog", "both", "nested", "adapted"],
)
async def test_transforms_apply_at_every_level(kind, wrap):
    class Provided(Server, StaticProvider):
        static = False

    server = Provided("a")
    catalog = wrap(server)
    name = "m_n_a" if kind == "prompt" else "m/n/a"
    for _ in range(2):
        assert await listed(catalog, kind) == expected(kind, name)
    assert keys([await given(catalog, kind, name)]) == expected(kind, name)
    assert await given(catalog, kind, "a") is None
    assert server.reads == 1
    server.names, server.mark = ("b",), 2
    assert await listed(catalog, kind) == expected(kind, name[:-1] + "b")


@every_kind
@pytest.mark.parametrize("where", ["catalog", "provider"])
async def test_a_get_method_that_disagrees_denies(kind, where, caplog):
    class Provided(Server, StaticProvider):
        static = False

    server = Provided("a", "denied", "broken")
    catalog = (
        Catalog([server], transforms=[Knowing()])
        if where == "catalog"
        else Catalog([server.with_transforms(Knowing())])
    )
    assert keys([await given(catalog, kind, "a")]) == expected(kind, "a")
    assert await given(catalog, kind, "denied") is None
    assert await given(catalog, kind, "broken") is None
    assert f"a get_{kind} of ['Knowing'] failed" in caplog.text
    assert f"the get_{kind} of ['Knowing'] disagrees with list_{kind}s" in caplog.text


@every_kind
async def test_what_a_get_method_disowns_is_gone_in_an_outer_catalog(kind):
    async def refuse(self, key, call_next):
        return None if "b" in key else await call_next(key)

    refusing = type("Refusing", (Transform,), {f"get_{kind}": refuse})()
    outer = Catalog([Catalog([Server("a", "b")], transforms=[refusing])])
    assert keys(await getattr(outer, f"list_{kind}s")()) == keys([make(kind, "a")])
    assert await getattr(outer, f"get_{kind}")(key(kind, "b")) is None


async def test_what_a_rule_hides_is_hidden():
    catalog = Catalog([Server("a", "b")], transforms=[Visibility(False, names={"*a", "*a/*"})])
    for kind in KINDS:
        assert await listed(catalog, kind) == expected(kind, "b")
        assert await given(catalog, kind, "a") is None


class Pages:
    """Lists one of the pages that its template makes."""

    name = "pages"

    async def list_tools(self, context):
        return []

    async def list_resources(self, context):
        return [Resource(uri="page://a1", tags={"old"}), Resource(uri="page://2"), Resource(uri="page://b2")]

    async def list_resource_templates(self, context):
        return [ResourceTemplate(uri_template="page://{n}", read=lambda uri: uri)]


class HideOne(Transform):
    """Hides by its list method alone."""

    async def list_resources(self, resources):
        return [resource for resource in resources if not resource.uri.endswith("1")]


class DisownOne(Transform):
    """Hides by its get method alone."""

    async def get_resource(self, uri, call_next):
        found = await call_next(uri)
        return None if uri.endswith("1") else found


@pytest.mark.parametrize(
    "hide",
    [Visibility(False, tags={"old"}), Visibility(False, names={"page://*1"}), HideOne(), DisownOne()],
    ids=["by tag", "by name", "list method", "get method"],
)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda hide: Catalog([Pages()], transforms=[hide, Namespace("n")]),
        lambda hide: Catalog([Pages()], transforms=[Namespace("n"), hide]),
        lambda hide: Catalog([TransformedProvider(Pages(), [Namespace("n"), hide])]),
        lambda hide: Catalog([TransformedProvider(Pages(), [hide, Namespace("n")])]),
        lambda hide: Catalog([TransformedProvider(Pages(), [hide])], transforms=[Namespace("n")]),
        lambda hide: Catalog([Catalog([Pages()], transforms=[hide]).with_transforms(Namespace("n"))]),
        lambda hide: Catalog([RequestProviders(lambda _: [hidden_pages(hide)], timeout_seconds=9)]),
    ],
)
async def test_no_template_makes_a_resource_that_is_hidden(hide, wrap):
    catalog = wrap(hide)
    assert [each.uri for each in await catalog.list_resources()] == ["page://n/2", "page://n/b2"]
    for uri in ("page://n/a1", "page://n/a%31", "PAGE://n/a1#a", "page://n/A1", "page://n/b%2F..%2Fa1"):
        assert await catalog.get_resource_template(uri) is None
    for uri in ("page://n/2", "page://n/3", "page://n/B2", "page://n/{n}"):
        assert (await catalog.get_resource_template(uri)).uri_template == "page://n/{n}"


async def test_a_uri_that_is_too_long_is_only_looked_for_in_lists():
    class Reading(Pages):
        async def get_unlisted_resource(self, uri, context):
            return Resource(uri=uri)

        async def list_resources(self, context):
            return [Resource(uri="page://" + "a" * 9000)]

    catalog = Catalog([Reading()])
    for length, is_found in ((8192 - 7, True), (8192 - 6, False)):
        uri = "page://" + "b" * length
        assert (await catalog.get_resource_template(uri) is not None) is is_found
        assert (await catalog.get_unlisted_resource(uri) is not None) is is_found
    assert await catalog.get_resource("page://" + "a" * 9000) is not None


def hidden_pages(hide):
    return TransformedProvider(Pages(), [hide, Namespace("n")])


@pytest.mark.parametrize("where", ["catalog", "provider"])
async def test_what_may_be_hidden_is_not_made_while_that_cannot_be_told(where, caplog):
    class Failing(Transform):
        async def get_resource(self, uri, call_next):
            raise RuntimeError("lookup failed")

    pages = TransformedProvider(Pages(), [Failing()])
    catalog = Catalog([pages]) if where == "provider" else Catalog([Pages()], transforms=[Failing()])
    assert await catalog.get_resource_template("page://1") is None
    assert "can't tell whether it hides 'page://1'" in caplog.text


async def test_a_provider_is_not_asked_for_its_resources_where_nothing_hides_any():
    server = Server("a")
    catalog = Catalog([TransformedProvider(server, [Namespace("n")])])
    for _ in range(3):
        assert await given(catalog, "resource_template", "n/a") is not None
    assert server.reads == 1


@every_kind
async def test_lists_by_request_are_the_requests_own(kind):
    catalog = Catalog([Server("a", version=None), Server("b", name="shared")])
    assert await listed(catalog, kind, {"names": ["x"]}) == expected(kind, "a", "x", "b")
    assert await listed(catalog, kind) == expected(kind, "a", "b")
    assert await given(catalog, kind, "x") is None


@every_kind
@pytest.mark.parametrize("way", ["fails", "hangs", "lists something else"])
async def test_a_failing_provider_is_skipped_and_reported(kind, way, caplog):
    server, other = Server("a"), Server("b", name="other")
    clock = ManualClock()
    catalog = Catalog([server, other], clock=clock, provider_timeout_seconds=0.01)
    await catalog.list_tools()
    server.hangs, server.error = way == "hangs", ConnectionError("gone") if way == "fails" else None
    if way == "lists something else":
        server._list = lambda kind, context: asyncio.sleep(0, ["a"])
    for _ in range(3):
        assert await listed(catalog, kind) == expected(kind, "b")
    assert len(caplog.records) == 1
    assert f"the provider 'server' failed to list its {kind.replace('_', ' ')}s: " in caplog.text
    status, fine = catalog.status().providers
    assert (status.up, status.tools, fine.up) == (False, 1, True)
    assert status.error.startswith(f"list_{kind}s: ")
    server.hangs, server.error = False, None
    vars(server).pop("_list", None)
    clock.advance(1)
    assert await listed(catalog, kind) == expected(kind, "a", "b")
    assert catalog.status().providers[0].up


async def test_closing_ends_what_is_under_way():
    server = Server("a")
    server.hangs = True
    catalog = Catalog([server])
    request = asyncio.create_task(listed(catalog, "prompt"))
    await server.asked.wait()
    await catalog.aclose()
    assert await request == []


async def test_what_is_read_and_rendered_is_the_providers_own():
    class Speaking(Server):
        async def list_prompts(self, context):
            return [Prompt(name="p", render=lambda arguments: arguments)]

        async def list_resource_templates(self, context):
            return [ResourceTemplate(uri_template="data://{x}", read=lambda uri: uri)]

    catalog = Catalog([Speaking()], transforms=[Namespace("n")])
    prompt = await catalog.get_prompt("n_p")
    assert prompt.render({"a": "1"}) == {"a": "1"}
    template = await catalog.get_resource_template("data://n/3")
    assert template.read("data://n/3") == "data://3"


@pytest.mark.parametrize(
    "component",
    [
        Resource(uri="data://x\u200b", name="N\u202e", title="T\u202e", description="D\r\nE\ud800"),
        ResourceTemplate(
            uri_template="data://x\u200b", name="N\u202e", title="T\u202e", description="D\r\nE\ud800"
        ),
        Prompt(name="N\u202e", title="T\u202e", description="D\r\nE\ud800"),
    ],
    ids=KINDS,
)
def test_nothing_is_hidden_in_their_texts(component):
    assert keys([component])[0] in ("data://x", "N")
    assert (component.name, component.title, component.description) == ("N", "T", "D\nE\ufffd")


def test_nothing_is_hidden_in_a_prompts_arguments():
    assert PromptArgument(name="a", description="D\u202e").description == "D"
