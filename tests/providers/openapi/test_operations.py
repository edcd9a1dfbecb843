"""Names of operations, and which of them a selection means."""

import re

import pytest

from tests.providers.openapi.apis import api
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.operations import (
    Operation,
    as_selection,
    list_operations,
    select,
)
from tool_search_processor.tools.tool_names import is_tool_name

PATHS = {
    "/pets": {"get": {"operationId": "pets/list", "tags": ["pets"]}, "post": {"tags": ["pets", "admin"]}},
    "/pets/{id}": {"get": {"deprecated": True}, "delete": {"operationId": "pets/remove"}},
    "/users/{id}/pets": {"get": {"operationId": "users.pets"}},
}


def nodes(paths=None):
    return list_operations(OpenAPIDocument(api(paths or PATHS), label="api"))


def test_operations_are_listed_in_order():
    assert [node.operation for node in nodes()][:3] == [
        Operation(
            name="pets_list", method="GET", path="/pets", operation_id="pets/list", tags=frozenset({"pets"})
        ),
        Operation(name="post_pets", method="POST", path="/pets", tags=frozenset({"pets", "admin"})),
        Operation(name="get_pets_id", method="GET", path="/pets/{id}", deprecated=True),
    ]


def test_methods_without_a_key_of_their_own_are_operations_too():
    more = {"COPY": {"operationId": "copy"}, "Lock": {}, "no method": {}, "SEARCH": None}
    found = nodes({"/a": {"get": {}, "query": {}, "additionalOperations": more}})
    assert [node.operation.route for node in found] == ["GET /a", "QUERY /a", "COPY /a", "Lock /a"]


@pytest.mark.parametrize(
    ("path", "operation", "name"),
    [
        ("/", {}, "get"),
        ("/users/{id}", {"operationId": ""}, "get_users_id"),
        ("/ü", {}, "get"),
        ("pets", {}, "get_pets"),
        ("/a", {"operationId": "valid-Name_1"}, "valid-Name_1"),
        ("/a", {"operationId": 3}, "get_a"),
    ],
)
def test_names(path, operation, name):
    assert nodes({path: {"get": operation}})[0].operation.name == name


def test_a_path_begins_with_a_slash_and_an_extension_is_none():
    found = nodes({"pets": {"get": {}}, "x-paths": {"get": {}}, "//a": {"get": {}}})
    assert [node.operation.path for node in found] == ["/pets", "//a"]


def test_equal_names_are_told_apart_and_none_is_lost():
    same = {"operationId": "do/it"}
    found = nodes({"/a": {"get": same, "put": same}, "/b": {"get": same, "put": {"operationId": "do.it"}}})
    names = [node.operation.name for node in found]
    assert names[0] == "do_it"
    assert len(set(names)) == 4
    assert all(is_tool_name(name) and name.startswith("do_it") for name in names)
    assert [node.operation.operation_id for node in found] == ["do/it", "do/it", "do/it", "do.it"]


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (["pets"], ["pets_list", "post_pets"]),
        (["pets_*"], ["pets_list", "pets_remove"]),
        (["pets/*"], ["pets_list", "pets_remove"]),
        (["/pets*"], ["pets_list", "post_pets", "get_pets_id", "pets_remove"]),
        (["/pets/{id}"], ["get_pets_id", "pets_remove"]),
        (["DELETE *", "POST /pets"], ["post_pets", "pets_remove"]),
        (["* /users/*"], ["users_pets"]),
        ([], []),
        (lambda operation: operation.deprecated, ["get_pets_id"]),
        (lambda operation: operation.route == "GET /pets", ["pets_list"]),
    ],
)
def test_a_selection(selection, names):
    assert [node.operation.name for node in select(nodes(), selection, option="include")] == names


@pytest.mark.parametrize("glob", ["/cats", "PUT *", "cat*", "get *"])
def test_a_glob_that_means_nothing_is_told(glob):
    with pytest.raises(ConfigurationError, match=re.escape(f"exclude: {glob!r} matches no operation")):
        select(nodes(), ["pets", glob], option="exclude")


@pytest.mark.parametrize("given", ["pets", None, 3, ["pets", 3]])
def test_what_is_no_selection(given):
    with pytest.raises(ConfigurationError, match=r"^include is a "):
        as_selection(given, option="include")


def test_globs_may_come_from_anywhere():
    assert as_selection((glob for glob in ("a", "b")), option="include") == ("a", "b")
