"""Servers: which one, its variables, and relative ones."""

import pytest

from tests.providers.openapi.apis import api
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.openapi.documents import Document
from tool_search_processor.providers.openapi.operations import list_operations
from tool_search_processor.providers.openapi.servers import check_variables, server_url

REGION = {
    "url": "https://{region}.example.com:{port}/v1",
    "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}, "port": {"default": "443"}},
}


def read(*, servers=None, item=None, operation=None, url=None):
    item = {"get": {"servers": operation} if operation else {}, **({"servers": item} if item else {})}
    root = {**api({"/p": item}), "servers": servers}
    document = Document({k: v for k, v in root.items() if v is not None}, label="api", url=url)
    (node,) = list_operations(document)
    return document, node


def server(variables=None, **where):
    document, node = read(**where)
    return server_url(document, node, variables=variables or {})


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"servers": [{"url": "https://a"}, {"url": "https://b"}]}, "https://a"),
        ({"servers": [{"url": "https://a"}], "item": [{"url": "https://b"}]}, "https://b"),
        ({"item": [{"url": "https://b"}], "operation": [{"url": "https://c"}]}, "https://c"),
        ({"servers": [{"url": "/v1"}, {"url": "https://b"}]}, "https://b"),
        ({"servers": [{"url": "ftp://a"}]}, None),
        ({"servers": [3]}, None),
        ({"servers": [{"url": "/v1"}]}, None),
        ({}, None),
        ({"servers": [{"url": "/v1"}], "url": "https://h/docs/api.json"}, "https://h/v1"),
        ({"servers": [{"url": "v1"}], "url": "https://h/docs/api.json"}, "https://h/docs/v1"),
        ({"servers": [{"url": "//h2/v1"}], "url": "https://h/docs/api.json"}, "https://h2/v1"),
        ({"url": "https://h/docs/api.json"}, "https://h/"),
        ({"servers": [REGION]}, "https://eu.example.com:443/v1"),
        ({"servers": [REGION], "variables": {"region": "us"}}, "https://us.example.com:443/v1"),
        ({"servers": [{"url": "https://{x}", "variables": {"x": {"enum": ["one"]}}}]}, "https://one"),
        ({"servers": [{"url": "https://{x}"}], "variables": {"x": "two"}}, "https://two"),
    ],
)
def test_the_server(where, expected):
    assert server(**where) == expected


def test_a_variable_has_one_of_its_values():
    with pytest.raises(
        ConfigurationError, match=r"server_variables: 'region' is one of \['eu', 'us'\]; .* none of them$"
    ):
        server({"region": "moon"}, servers=[REGION])


def test_a_variable_that_no_server_has_is_told():
    document, node = read(servers=[REGION])
    check_variables(document, [node], variables={"port": "1"})
    with pytest.raises(ConfigurationError, match=r"variable 'prot'; there are \['port', 'region'\]"):
        check_variables(document, [node], variables={"prot": "1"})
