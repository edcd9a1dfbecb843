"""What a gateway's configuration may say, and how it is told what is wrong with it."""

import json

import pytest

from tests.server.gateway.support import PETS, config, small
from tool_search_processor.catalog import Catalog
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.gateway import Gateway
from tool_search_processor.server.upstreams import read_upstreams

API = {"document": "pets.json", "base_url": "http://127.0.0.1:9"}


@pytest.fixture
def write(tmp_path):
    """Write a configuration beside the document that it names, and return its path."""
    (tmp_path / "pets.json").write_text(json.dumps(PETS), "utf-8")

    def write_config(content):
        path = tmp_path / "servers.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8-sig")
        return path

    return write_config


async def tools_of(providers):
    """Return the names of the tools of providers that need not be started."""
    return [tool.name for provider in providers for tool in await provider.list_tools({})]


async def test_servers_and_apis_stand_in_one_file(write, monkeypatch):
    monkeypatch.setenv("PETS_KEY", "abc")
    api = {**API, "credentials": {"key": "${PETS_KEY}"}, "exclude": ["DELETE *"]}
    content = {
        **config(git=small(), off={**small(), "disabled": True}),
        "openapi": {
            "pet shop": api,
            "off": {"document": "nowhere", "disabled": True},
            "off too": {"document": "${input:nowhere}", "enabled": False},
        },
        "other": "a client's own settings",
    }
    git, shop = read_upstreams(write(content))
    assert [git.name, shop.name] == ["git", "pet shop"]
    assert await tools_of([shop]) == ["pet_shop_listPets"]


async def test_an_api_alone_is_enough(write):
    assert await tools_of(read_upstreams(write({"openapi": {"a": API}}))) == ["a_listPets", "a_sellPet"]


def test_nothing_gives_nothing():
    assert read_upstreams() == read_upstreams({"mcpServers": {}}) == []


@pytest.mark.parametrize(
    ("given", "names"),
    [("{}", ["pets_listPets", "pets_sellPet"]), ("shop={}", ["shop_listPets", "shop_sellPet"])],
)
async def test_a_document_is_given_by_its_path_and_perhaps_a_name(write, tmp_path, given, names):
    (tmp_path / "pets.json").write_text(json.dumps({**PETS, "servers": [{"url": "http://127.0.0.1:9"}]}))
    assert await tools_of(read_upstreams(openapi=[given.format(tmp_path / "pets.json")])) == names


def test_a_document_may_be_at_a_url_and_is_fetched_later():
    (one, other) = read_upstreams(openapi=["https://a.example/v1/pets.json?a=b", "x=https://a.example/"])
    assert (one.name, other.name) == ("pets", "x")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "servers.json is not JSON"),
        ("[]", 'expected {"mcpServers"'),
        ({"servers": {}}, 'expected {"mcpServers"'),
        ({"openapi": []}, "key 'openapi' is an object, found a list"),
        ({"openapi": {"a": "pets.json"}}, "API 'a': input should be a valid dictionary"),
        ({"openapi": {"a": {}}}, "API 'a': key 'document': field required"),
        ({"openapi": {"a": {**API, "headers": {"X": 1}}}}, "API 'a': key 'headers.X': input should be a"),
        ({"openapi": {"a": {**API, "base": "x"}}}, "API 'a': no known key: 'base'"),
        (
            {"openapi": {"a": {**API, "base_urls": "x"}}},
            "'base_urls' (did you mean 'base_url'?); known are doc",
        ),
        (config(git={}), "server 'git' has either the key 'command' or the key 'url', found neither"),
        ({**config(a=small()), "openapi": {"a": API}}, "'a' and 'a' would both have the prefix 'a'"),
        ({"openapi": {"a b": API, "a.b": API}}, "'a b' and 'a.b' would both have the prefix 'a_b'"),
    ],
)
def test_what_cannot_work_is_told_in_one_sentence(write, content, problem):
    with pytest.raises(ConfigurationError) as told:
        read_upstreams(write(content))
    assert problem in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"document": "pets.json"}, "GET /pets: it names no absolute server: give base_url"),
        ({"document": "no.json"}, "no.json: No such file or directory"),
        ({**API, "base_url": "pets.example"}, "base_url begins with http:// or https://"),
        (
            {**API, "headers": {"X": "${NOT_SET}"}},
            "'headers', 'X': the environment variable NOT_SET isn't set",
        ),
        ({**API, "include": ["nothing*"]}, "include: 'nothing*' matches no operation"),
        ({**API, "credentials": {"other": "x"}}, "'other'"),
    ],
)
async def test_an_api_that_cannot_be_had_tells_why_and_the_others_are_served(write, caplog, entry, problem):
    path = write({**config(git=small()), "openapi": {"bad": entry, "good": API}})
    git, bad, good = read_upstreams(path)
    assert [git.name, bad.name, good.name] == ["git", "bad", "good"]
    catalog = Catalog([bad, good])
    assert [tool.name for tool in await catalog.list_tools()] == ["good_listPets", "good_sellPet"]
    status, other = catalog.status().providers
    assert (status.name, status.up, other.up, other.error) == ("bad", False, True, None)
    assert status.error.startswith(f"{path}: API 'bad'")
    assert problem in status.error
    assert [record.getMessage() for record in caplog.records] == [
        f"the upstream 'bad' is left out: {bad.failure()}"
    ]
    await catalog.refresh()


async def test_a_name_that_no_tool_may_bear_costs_that_tool_and_not_the_gateway(tmp_path):
    paths = {f"/{each}": {"get": {"operationId": each}} for each in ("tools", "more")}
    (tmp_path / "search.json").write_text(json.dumps({**PETS, "paths": paths}), "utf-8")
    api = {"document": str(tmp_path / "search.json"), "base_url": "http://127.0.0.1:9"}
    made = Gateway(read_upstreams({"openapi": {"search": api}}))
    assert [each.name for each in await made.catalog.list_tools()] == ["search_more"]
    assert [(each.name, each.provider) for each in made.status().refused] == [("search_tools", "search")]
    assert all(each.up for each in made.upstreams())


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer ${NOT_SET}"}},
            "server 'bad': key 'headers', 'Authorization': the environment variable",
        ),
        ({"url": "${SECRET}"}, "server 'bad': url begins with http:// or https://"),
    ],
)
async def test_a_server_whose_variable_cannot_be_used_tells_so_and_the_others_are_served(
    write, monkeypatch, entry, problem
):
    monkeypatch.setenv("SECRET", "sesame")
    bad, _ = read_upstreams(write(config(bad=entry, git=small())))
    assert problem in bad.failure()
    assert "sesame" not in bad.failure()
    assert list(await bad.list_tools({})) == []


@pytest.mark.parametrize(
    "entry",
    [
        {"document": "me:${SECRET}@a.example/pets.json"},
        {"document": "https://me:${SECRET}/1@a.example/pets.json"},
        {**API, "base_url": "${SECRET}"},
        {**API, "base_url": "https://a.example:${SECRET}/?key=${SECRET}"},
    ],
)
def test_no_value_of_a_variable_is_shown(write, monkeypatch, caplog, entry):
    monkeypatch.setenv("SECRET", "sesame")
    (bad,) = read_upstreams(write({"openapi": {"bad": entry}}))
    assert "API 'bad': " in bad.failure()
    assert "sesame" not in bad.failure() + caplog.text


async def test_a_document_of_the_command_line_that_cannot_be_had_is_one_upstream_too(tmp_path):
    (bad,) = read_upstreams(openapi=[f"pets={tmp_path / 'no.json'}"])
    assert bad.failure().startswith("the OpenAPI document 'pets': can't read")


def test_a_key_that_nobody_reads_is_told_once_with_the_one_that_is_near(write, caplog):
    servers = config(git={**small(), "argz": [], "x": 1}, web={"url": "http://127.0.0.1:9", "header": {}})
    read_upstreams(write({**servers, "openAPI": {}}))
    git, path = "server 'git'", str(write({**servers, "openAPI": {}}))
    assert [record.getMessage().removeprefix(f"{path}: ") for record in caplog.records] == [
        "ignored unknown keys: 'openAPI' (did you mean 'openapi'?)",
        f"{git}: ignored unknown keys: 'argz' (did you mean 'args'?), 'x'",
        "server 'web': ignored unknown keys: 'header' (did you mean 'headers'?)",
    ]


def test_of_many_such_keys_the_first_are_told(write, caplog):
    read_upstreams({"mcpServers": {}, **{f"{number:03}" * 100: 0 for number in range(8)}})
    [record] = caplog.records
    assert record.getMessage().endswith(" and 3 more")
    assert len(record.getMessage()) < 400


def test_what_clients_commonly_have_passes_silently(write, caplog):
    common = dict.fromkeys(("alwaysAllow", "autoApprove", "timeout", "description", "icon"), "theirs")
    server = {**small(), **common, "type": "stdio", "transport": "stdio", "disabled": False}
    content = {"$schema": "x", **config(git=server), "openapi": {"a": {**API, **common, "type": "openapi"}}}
    assert [each.name for each in read_upstreams(write(content))] == ["git", "a"]
    assert caplog.records == []


def test_a_secret_is_not_told(write):
    with pytest.raises(ConfigurationError) as told:
        read_upstreams(write({"openapi": {"a": {**API, "credentials": ["hunter2"]}}}))
    assert "hunter2" not in str(told.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ConfigurationError, match=r"^can't read .*nowhere\.json: No such file"):
        read_upstreams(tmp_path / "nowhere.json")
