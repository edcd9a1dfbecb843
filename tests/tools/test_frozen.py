"""Frozen JSON values: unchangeable, and plain to everybody who reads them."""

import copy
import enum
import json
import pickle
from types import MappingProxyType

import pytest

from tool_search_processor.tools.frozen import FrozenDict, FrozenList, freeze
from tool_search_processor.wire.plain import copied

PLAIN = {"a": [1, {"b": [None, True, "x"]}], "c": {"d": {}}, "e": 1.5}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 1),
        lambda d: d.__delitem__("a"),
        lambda d: d.update(a=1),
        lambda d: d.setdefault("z", 1),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.clear(),
        lambda d: d.__ior__({"z": 1}),
        lambda d: d["a"].append(1),
        lambda d: d["a"].extend([1]),
        lambda d: d["a"].insert(0, 1),
        lambda d: d["a"].remove(1),
        lambda d: d["a"].pop(),
        lambda d: d["a"].clear(),
        lambda d: d["a"].sort(),
        lambda d: d["a"].reverse(),
        lambda d: d["a"].__setitem__(0, 1),
        lambda d: d["a"].__delitem__(0),
        lambda d: d["a"].__iadd__([1]),
        lambda d: d["a"].__imul__(2),
        lambda d: d["a"][1]["b"].append(1),
        lambda d: d["c"]["d"].update(x=1),
    ],
)
def test_every_change_is_refused_at_any_depth(change):
    frozen = freeze(PLAIN)
    with pytest.raises(TypeError, match=r"tool\.replace"):
        change(frozen)
    assert frozen == PLAIN


def test_frozen_values_equal_plain_ones_and_are_written_like_them():
    frozen = freeze(PLAIN)
    assert frozen == PLAIN
    assert frozen["a"] == PLAIN["a"]
    assert json.dumps(frozen) == json.dumps(PLAIN)
    assert isinstance(frozen["c"]["d"], FrozenDict)
    assert isinstance(frozen["a"][1]["b"], FrozenList)


def test_what_is_frozen_comes_back_as_it_is():
    frozen = freeze(PLAIN)
    assert freeze(frozen) is frozen
    assert freeze(frozen["a"]) is frozen["a"]
    assert freeze({"x": frozen})["x"] is frozen


def test_nothing_of_the_caller_is_shared():
    given = copy.deepcopy(PLAIN)
    frozen = freeze(given)
    given["a"][1]["b"].append("changed")
    given["c"]["d"]["changed"] = True
    assert frozen == PLAIN


@pytest.mark.parametrize("thawed", [copy.deepcopy, copied], ids=["deepcopy", "copied"])
def test_deep_copies_are_plain_and_can_be_changed(thawed):
    frozen = freeze(PLAIN)
    plain = thawed(frozen)
    assert type(plain) is dict
    assert type(plain["a"]) is list
    assert type(plain["a"][1]) is dict
    plain["a"][1]["b"].append("mine")
    assert frozen == PLAIN


@pytest.mark.parametrize("copied", [copy.copy, lambda value: value.copy()], ids=["copy.copy", "method"])
def test_shallow_copies_are_plain(copied):
    frozen = freeze(PLAIN)
    assert type(copied(frozen)) is dict
    assert type(copied(frozen["a"])) is list
    assert copied(frozen) == PLAIN


def test_pickle_keeps_them_frozen():
    restored = pickle.loads(pickle.dumps(freeze(PLAIN)))
    assert restored == PLAIN
    assert type(restored) is FrozenDict
    assert type(restored["a"]) is FrozenList


def test_other_containers_become_json_like_ones():
    frozen = freeze({"tuple": (1, [2]), "proxy": MappingProxyType({"a": []}), "set": {1, 2}})
    assert frozen == {"tuple": [1, [2]], "proxy": {"a": []}, "set": frozenset({1, 2})}
    assert type(frozen["tuple"]) is FrozenList
    assert type(frozen["proxy"]) is FrozenDict


def test_objects_are_kept():
    value = object()
    assert freeze({"x": value})["x"] is value
    assert copied(freeze([value, (1,)])) == [value, [1]]


class Word(enum.StrEnum):
    ONE = "one"


def test_what_json_cannot_carry_is_refused_where_json_is_asked_for():
    assert freeze({"a": Word.ONE}, json_only=True) == {"a": "one"}
    with pytest.raises(TypeError, match=r"\{1\} is not a value that JSON can carry"):
        freeze({"a": [{1}]}, json_only=True)


def test_a_container_that_holds_itself_is_no_json():
    loop: dict = {}
    loop["self"] = loop
    with pytest.raises(RecursionError):
        freeze(loop)
