"""Servers: which one, its variables, and relative ones."""

import re

import pytest

from tests.providers.openapi.apis import api
from tool_search_processor.errors import ConfigurationError, InvalidToolError
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.operations import list_operations
from tool_search_processor.providers.openapi.servers import Servers, joined

REGION = {
    "url": "https://{region}.example.com:{port}/v1",
    "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}, "port": {"default": "443"}},
}


def read(*, servers=None, item=None, operation=None, url=None):
    item = {"get": {"servers": operation} if operation else {}, **({"servers": item} if item else {})}
    root = {**api({"/p": item}), "servers": servers}
    document = OpenAPIDocument({k: v for k, v in root.items() if v is not None}, label="api", url=url)
    (node,) = list_operations(document)
    return document, node


def server(variables=None, *, base_url=None, client_url=None, **where):
    document, node = read(**where)
    return Servers(document, variables=variables or {}, base_url=base_url, client_url=client_url).url(node)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"servers": [{"url": "https://a"}, {"url": "https://b"}]}, "https://a"),
        ({"servers": [{"url": "https://a"}], "item": [{"url": "https://b"}]}, "https://b"),
        ({"item": [{"url": "https://b"}], "operation": [{"url": "https://c"}]}, "https://c"),
        ({"servers": [{"url": "/v1"}, {"url": "https://b"}]}, "https://b"),
        ({"servers": [{"url": "/v1"}], "url": "https://h/docs/api.json"}, "https://h/v1"),
        ({"servers": [{"url": "v1"}], "url": "https://h/docs/api.json"}, "https://h/docs/v1"),
        ({"servers": [{"url": "//h2/v1"}], "url": "https://h/docs/api.json"}, "https://h2/v1"),
        ({"url": "https://h/docs/api.json"}, "https://h/"),
        ({"servers": [REGION]}, "https://eu.example.com:443/v1"),
        ({"servers": [REGION], "variables": {"region": "us"}}, "https://us.example.com:443/v1"),
        ({"servers": [{"url": "https://{x}", "variables": {"x": {"enum": ["one"]}}}]}, "https://one"),
        ({"servers": [{"url": "https://{x}"}], "variables": {"x": "two"}}, "https://two"),
        ({"servers": [{"url": "https://a/{v}"}, {"url": "https://b"}]}, "https://b"),
        ({"servers": [{"url": "https://a?key=1"}]}, "https://a?key=1"),
    ],
)
def test_the_server(where, expected):
    assert server(**where) == expected


@pytest.mark.parametrize(
    ("url", "filled"),
    [
        ("https://{x}.example.com/v1", None),
        ("https://{x}/v1", None),
        ("https://{x}", None),
        ("https://api-{x}.example.com", None),
        ("https://{x}-api.example.com", None),
        ("https://example.{x}", None),
        ("https://example.com:{x}/v1", None),
        ("https://user@{x}/v1", None),
        ("https://example.com/{x}/v1", None),
        ("{x}://example.com", None),
        ("{x}", None),
        ("/{x}/v1", None),
        ("https://{x}example.com", "https://example.com"),
        ("https://example.com/{x}", "https://example.com/"),
        ("https://example.com{x}/v1", "https://example.com/v1"),
        ("https://example.com/v1?key={x}", "https://example.com/v1?key="),
        ("{x}/v1", "https://h/v1"),
    ],
)
@pytest.mark.parametrize("where", ["default", "enum", "given"])
def test_an_empty_variable_is_a_value_only_where_the_url_lacks_nothing(where, url, filled):
    declared = {"default": {"default": ""}, "enum": {"enum": [""]}, "given": {"default": "a"}}[where]
    servers = [{"url": url, "variables": {"x": declared}}]
    given = {"x": ""} if where == "given" else {}
    if filled is not None:
        assert server(given, servers=servers, url="https://h/api.json") == filled
        return
    told = (
        f"it has the server {url!r} without a value of its variable 'x': give server_variables={{'x': '…'}}"
    )
    with pytest.raises(InvalidToolError, match=f"^{re.escape(told)}"):
        server(given, servers=servers, url="https://h/api.json")


@pytest.mark.parametrize("default", ["", None])
def test_a_variable_without_a_default_needs_a_value(default):
    servers = [{"url": "https://{x}.example.com", "variables": {"x": {"default": default}}}]
    with pytest.raises(InvalidToolError, match="without a value of its variable 'x'"):
        server(servers=servers)
    assert server({"x": "eu"}, servers=servers) == "https://eu.example.com"


def test_a_variable_has_one_of_its_values():
    with pytest.raises(
        InvalidToolError, match=r"server_variables: 'region' is one of \['eu', 'us'\]; .* not one of them$"
    ):
        server({"region": "moon"}, servers=[REGION])


def test_a_variable_that_no_server_has_is_told():
    document, node = read(servers=[REGION])
    Servers(document, variables={"port": "1"}).check_variables([node])
    with pytest.raises(ConfigurationError, match=r"variable 'prot'; there are \['port', 'region'\]"):
        Servers(document, variables={"prot": "1"}).check_variables([node])


@pytest.mark.parametrize(
    ("servers", "told"),
    [
        (
            [{"url": "https://{region}.api.test/{v}"}],
            r"^it has the server 'https://\{region\}.* without a value of its variable 'region'.*"
            r"server_variables=\{'region': '…'\}",
        ),
        ([{"url": "/v1/"}], r"^it names no absolute server, but '/v1'.*base_url='https://…/v1'"),
        ([{"url": "v1"}], r"^it names no absolute server: give base_url='https://…'$"),
        ([{"url": "ftp://a"}], r"^it names no absolute server: give base_url='https://…'$"),
        ([3], "^it names no absolute server: "),
        (None, "^it names no absolute server: "),
    ],
)
def test_a_server_that_cannot_be_called_is_told(servers, told):
    with pytest.raises(InvalidToolError, match=told):
        server(servers=servers)


@pytest.mark.parametrize(
    ("servers", "base_url", "expected"),
    [
        ([{"url": "/v1"}], "https://h", "https://h/v1"),
        ([{"url": "/v1/"}], "https://h/", "https://h/v1"),
        ([{"url": "/v1"}], "https://h/v2", "https://h/v2"),
        ([{"url": "/"}], "https://h", "https://h"),
        ([{"url": "//h2/v1"}], "https://h", "https://h"),
        ([{"url": "https://a/v1"}], "https://h", "https://h"),
    ],
)
def test_a_relative_server_stands_behind_a_host_that_is_given_alone(servers, base_url, expected):
    assert server(servers=servers, base_url=base_url) == expected


@pytest.mark.parametrize(
    ("server", "target", "url"),
    [
        ("https://h/v1/", "/p", "https://h/v1/p"),
        ("https://h/v1?key=1", "/p", "https://h/v1/p?key=1"),
        ("https://h?key=1", "/p?q=2", "https://h/p?q=2&key=1"),
        ("https://h/v1#top", "/p", "https://h/v1/p"),
    ],
)
def test_the_url_of_a_path_at_a_server(server, target, url):
    assert joined(server, target) == url
