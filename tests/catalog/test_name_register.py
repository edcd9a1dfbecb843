"""Who gets a name that two tools want."""

import pytest

from tests.support import names
from tool_search_processor.catalog.name_register import GIVEN_DIRECTLY, NameRegister, Offer
from tool_search_processor.errors import DuplicateToolError, ReservedToolNameError
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.tools import Tool
from tool_search_processor.tools.tool_names import hashed_tool_name


class LookupOnly(dict):
    """A mapping that may be looked into but not gone through."""

    def _refuse(self, *_):
        raise AssertionError("the shared tools are gone through for each request")

    __iter__ = keys = values = items = _refuse


def imported(original, name="a_b", **fields):
    return Tool(name, metadata={"original_name": original}, **fields)


def offers(*tools, place="one"):
    return [Offer(tool, place, place or "tools") for tool in tools]


def settled(register, *given):
    """Return the names that the offers get; None for what is refused."""
    return [tool and tool.name for tool in register.settle(given)]


A_B, A_SLASH_B = imported("a.b"), imported("a/b")
HASH = hashed_tool_name("a_b", "a/b")


def test_names_that_are_free_are_given_to_the_tools_as_they_are():
    register = NameRegister(taken={})
    b, a = Tool("b"), Tool("a")
    entered = register.settle(offers(b, a))
    assert entered == [b, a]
    assert entered[0] is b
    assert register.refused == []


def test_the_earlier_tool_keeps_the_name():
    register = NameRegister(taken={})
    given = [*offers(Tool("a", "first")), *offers(Tool("b"), Tool("a"), Tool("c"), place="two")]
    assert settled(register, *given) == ["a", "b", None, "c"]
    (refused,) = register.refused
    assert refused == RefusedTool(name="a", provider="two", reason=refused.reason)
    assert "one from one, one from two" in refused.reason
    assert "Namespace" in refused.reason


def test_a_strict_register_raises_with_both_origins():
    register = NameRegister(taken={}, strict=True)
    with pytest.raises(DuplicateToolError) as caught:
        register.settle([*offers(Tool("a")), *offers(Tool("a"), place="two")])
    assert (caught.value.name, caught.value.origins) == ("a", ("one", "two"))


def test_what_all_requests_share_comes_before_and_is_only_looked_into():
    register = NameRegister(taken=LookupOnly({"a": Tool("a"), "x_y": imported("x.y", "x_y")}))
    given = offers(Tool("a"), Tool("b"), imported("x/y", "x_y"), Tool("x_y"), place="request")
    assert settled(register, *given) == [None, "b", hashed_tool_name("x_y", "x/y"), None]
    assert "the tools that all requests share" in register.refused[0].reason
    assert "'x.y' of the tools that all requests share" in register.refused[1].reason


def test_a_reserved_name_is_given_to_nobody():
    register = NameRegister(taken={}, reserved={"search_tools"})
    assert settled(register, *offers(Tool("a"), Tool("search_tools"))) == ["a", None]
    assert "has the name of a meta-tool" in register.refused[0].reason
    assert "search_tool_name=" in register.refused[0].reason
    with pytest.raises(ReservedToolNameError, match="'search_tools' from one"):
        NameRegister(taken={}, reserved={"search_tools"}, strict=True).settle(offers(Tool("search_tools")))


@pytest.mark.parametrize("strict", [False, True])
def test_a_valid_name_stays_and_each_made_one_that_meets_others_gets_a_hash(strict):
    register = NameRegister(taken={}, strict=strict)
    entered = register.settle(offers(A_B, A_SLASH_B, imported("a b"), Tool("a_b"), imported("c.d", "c_d")))
    hashes = [hashed_tool_name("a_b", original) for original in ("a.b", "a/b", "a b")]
    assert names(entered) == [*hashes, "a_b", "c_d"]
    assert entered[1].metadata["original_name"] == "a/b"
    assert register.refused == []


def test_equal_originals_clash():
    register = NameRegister(taken={})
    assert settled(register, *offers(A_B, A_SLASH_B, A_B, A_SLASH_B)) == [
        hashed_tool_name("a_b", "a.b"), HASH, None, None,
    ]  # fmt: skip
    assert len(register.refused) == 2
    with pytest.raises(DuplicateToolError):
        NameRegister(taken={}, strict=True).settle(offers(A_B, A_B))


def test_one_original_twice_is_no_meeting_of_different_ones():
    assert settled(NameRegister(taken={}), *offers(A_B, A_B)) == ["a_b", None]


def test_a_hash_may_be_reserved_or_taken_too():
    register = NameRegister(taken={}, reserved={HASH})
    assert settled(register, *offers(A_B, A_SLASH_B, Tool("a_b")))[1:] == [None, "a_b"]
    assert register.refused[0].name == HASH
    assert settled(NameRegister(taken={}), *offers(A_SLASH_B, Tool("a_b"), Tool(HASH))) == [None, "a_b", HASH]


def test_what_was_given_directly_comes_before_what_providers_bring():
    given = [*offers(Tool("a", "provider's")), *offers(Tool("a", "direct"), place=GIVEN_DIRECTLY)]
    assert settled(NameRegister(taken={}), *given) == [None, "a"]


def test_who_had_a_name_keeps_it_from_all_that_are_new():
    first = NameRegister(taken={})
    assert settled(first, *offers(A_B)) == ["a_b"]
    second = NameRegister(taken={}, before=first.given)
    given = [*offers(A_SLASH_B, Tool("a_b"), A_B, place=GIVEN_DIRECTLY), *offers(A_B)]
    assert settled(second, *given) == [HASH, None, None, "a_b"]
    third = NameRegister(taken={}, before=second.given)
    assert settled(third, *offers(A_SLASH_B, place=GIVEN_DIRECTLY)) == [HASH]
    assert settled(NameRegister(taken={}, before=third.given), *offers(A_B)) == ["a_b"]


def test_a_strict_register_raises_for_no_name_that_another_tool_holds():
    first = NameRegister(taken={})
    first.settle(offers(A_B))
    strict = NameRegister(taken={}, before=first.given, strict=True)
    assert settled(strict, *offers(Tool("a_b"), A_B)) == [None, "a_b"]
    assert "given to the tool 'a.b' of one before" in strict.refused[0].reason


DISTINCT = [Tool("a"), imported("x.y", "x_y")]


@pytest.mark.parametrize(
    ("tools", "options"),
    [
        pytest.param(DISTINCT, {}, id="distinct"),
        pytest.param([*DISTINCT, Tool("a")], {}, id="duplicate"),
        pytest.param(DISTINCT, {"taken": LookupOnly({"a": Tool("a")})}, id="taken"),
        pytest.param(DISTINCT, {"reserved": {"x_y": "option"}}, id="reserved"),
    ],
)
def test_all_names_are_given_at_once_only_where_settling_gives_each_tool_its_own(tools, options):
    options = {"taken": {}} | options
    asked = offers(*tools)
    is_plain = NameRegister(**options).settle(asked) == tools
    assert NameRegister(**options).give_all(tools, lambda: asked) is is_plain


def test_names_given_all_at_once_stay_with_their_tools():
    first = NameRegister(taken={})
    assert first.give_all([A_B], lambda: offers(A_B))
    assert first.refused == []
    second = NameRegister(taken={}, before=first.given)
    assert not second.give_all([A_B, Tool("a_b")], list)
    assert settled(second, *offers(Tool("a_b"), A_B)) == [None, "a_b"]


def test_names_are_not_given_at_once_while_a_tool_has_another_than_it_wants():
    first = NameRegister(taken={})
    assert settled(first, *offers(A_SLASH_B, Tool("a_b"))) == [HASH, "a_b"]
    second = NameRegister(taken={}, before=first.given)
    assert not second.give_all([A_SLASH_B], lambda: offers(A_SLASH_B))
    assert settled(second, *offers(A_SLASH_B)) == [HASH]
