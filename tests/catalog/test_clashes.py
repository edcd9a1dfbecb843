"""Who gets a name that two tools want."""

import pytest

from tool_search_processor.catalog.clashes import NameRegister, RefusedTool
from tool_search_processor.errors import DuplicateToolError, ReservedToolNameError
from tool_search_processor.tools import Tool
from tool_search_processor.tools.names import hashed_tool_name


class LookupOnly(dict):
    """A mapping that may be looked into but not gone through."""

    def _refuse(self, *_):
        raise AssertionError("the shared tools are gone through for each request")

    __iter__ = keys = values = items = _refuse


def imported(original, name="a_b", **fields):
    return Tool(name, metadata={"original_name": original}, **fields)


def names(tools):
    return [tool.name for tool in tools]


def test_names_that_are_free_are_given_out_in_order():
    register = NameRegister(taken={})
    b, a = Tool("b"), Tool("a")
    entered = register.enter(iter([b, a]), origin="one")
    assert entered == [b, a]
    assert entered[0] is b
    assert register.enter([Tool("c")], origin="two") == [Tool("c")]
    assert register.refused == []


def test_the_earlier_tool_keeps_the_name():
    register = NameRegister(taken={})
    register.enter([Tool("a", description="first")], origin="one")
    assert names(register.enter([Tool("b"), Tool("a"), Tool("c")], origin="two")) == ["b", "c"]
    (refused,) = register.refused
    assert refused == RefusedTool(name="a", provider="two", reason=refused.reason)
    assert "one from one, one from two" in refused.reason
    assert "Namespace" in refused.reason


def test_a_strict_register_raises_with_both_origins():
    register = NameRegister(taken={}, strict=True)
    register.enter([Tool("a")], origin="one")
    with pytest.raises(DuplicateToolError) as caught:
        register.enter([Tool("a")], origin="two")
    assert (caught.value.name, caught.value.origins) == ("a", ("one", "two"))


def test_what_all_requests_share_comes_before_and_is_only_looked_into():
    register = NameRegister(taken=LookupOnly({"a": Tool("a"), "x_y": imported("x.y", "x_y")}))
    entered = register.enter([Tool("a"), Tool("b"), imported("x/y", "x_y")], origin="request")
    assert names(entered) == ["b", hashed_tool_name("x_y", "x/y")]
    assert "the tools that all requests share" in register.refused[0].reason


def test_a_reserved_name_is_given_to_nobody():
    register = NameRegister(taken={}, reserved={"search_tools"})
    assert names(register.enter([Tool("a"), Tool("search_tools")], origin="one")) == ["a"]
    assert "bears the name of a meta-tool" in register.refused[0].reason
    assert "search_tool_name=" in register.refused[0].reason
    with pytest.raises(ReservedToolNameError, match="'search_tools' from one"):
        NameRegister(taken={}, reserved={"search_tools"}, strict=True).enter(
            [Tool("search_tools")], origin="one"
        )


@pytest.mark.parametrize("strict", [False, True])
def test_different_originals_that_meet_are_told_apart_by_a_hash(strict):
    register = NameRegister(taken={}, strict=strict)
    entered = register.enter([imported("a.b"), imported("a/b"), imported("a b"), Tool("a_b")], origin="one")
    assert names(entered) == ["a_b", *(hashed_tool_name("a_b", o) for o in ("a/b", "a b", "a_b"))]
    assert entered[1].metadata["original_name"] == "a/b"
    assert register.refused == []


def test_the_hash_does_not_hang_on_who_else_is_there():
    first = NameRegister(taken={}).enter([imported("a.b"), imported("a/b")], origin="one")
    second = NameRegister(taken={}).enter([imported("a b"), imported("a.b"), imported("a/b")], origin="one")
    assert first[1].name == second[2].name


def test_equal_originals_clash():
    register = NameRegister(taken={})
    entered = register.enter([imported("a.b"), imported("a/b"), imported("a.b"), imported("a/b")], origin="x")
    assert names(entered) == ["a_b", hashed_tool_name("a_b", "a/b")]
    assert len(register.refused) == 2
    with pytest.raises(DuplicateToolError):
        NameRegister(taken={}, strict=True).enter([imported("a.b"), imported("a.b")], origin="x")


def test_a_hash_may_be_reserved_too():
    name = hashed_tool_name("a_b", "a/b")
    register = NameRegister(taken={}, reserved={name})
    assert names(register.enter([imported("a.b"), imported("a/b")], origin="x")) == ["a_b"]
    assert register.refused[0].name == name


def test_a_tool_that_is_told_apart_keeps_its_own_name_as_the_original():
    register = NameRegister(taken={})
    register.enter([imported("a/b")], origin="one")
    (native,) = register.enter([Tool("a_b")], origin="two")
    assert native.metadata["original_name"] == "a_b"
