"""Options are checked with one wording for each kind of mistake."""

import math

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.wire.checks import (
    as_names,
    as_strings,
    check_callable,
    check_choice,
    check_count,
    check_fraction,
    check_positive,
    check_string,
)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_string("name", " "), "name must be a string that is not blank, found ' '"),
        (lambda: check_string("name", 3), "name must be a string that is not blank, found 3"),
        (lambda: check_positive("wait", 0), "wait must be a number above 0, found 0"),
        (lambda: check_positive("wait", True), "wait must be a number above 0, found True"),
        (lambda: check_positive("wait", math.nan), "wait must be a number above 0, found nan"),
        (lambda: check_positive("wait", None), "wait must be a number above 0, found None"),
        (
            lambda: check_positive("wait", "5", optional=True),
            "wait must be a number above 0 or None, found '5'",
        ),
        (
            lambda: check_positive("wait", math.inf, finite=True),
            "wait must be a finite number above 0, found inf",
        ),
        (lambda: check_count("most", 0), "most must be a whole number of at least 1, found 0"),
        (lambda: check_count("most", 2.0), "most must be a whole number of at least 1, found 2.0"),
        (lambda: check_count("most", True), "most must be a whole number of at least 1, found True"),
        (
            lambda: check_count("most", 21, least=0, most=20, optional=True),
            "most must be a whole number from 0 to 20 or None, found 21",
        ),
        (lambda: check_fraction("share", 1.5), "share must be a number from 0 to 1, found 1.5"),
        (lambda: check_fraction("share", math.nan), "share must be a number from 0 to 1, found nan"),
        (
            lambda: check_callable("clock", 12, "() -> seconds"),
            "clock must be a function () -> seconds, found 12",
        ),
        (
            lambda: check_callable("hook", 12, "(item)", optional=True),
            "hook must be a function (item) or None, found 12",
        ),
        (lambda: check_choice("mode", "c", ("a", "b")), "mode must be 'a' or 'b', found 'c'"),
        (lambda: check_choice("mode", [], ("a", "b", "c")), "mode must be 'a', 'b' or 'c', found []"),
        (lambda: as_names([1]), "names must be a string or a list of strings, found [1]"),
        (
            lambda: as_strings("tags", "a"),
            "tags must be a collection of strings, found 'a': write ['a', 'b']",
        ),
        (
            lambda: as_strings("tags", [1]),
            "tags must be a collection of strings, found [1]: write ['a', 'b']",
        ),
        (
            lambda: as_strings("tags", 1),
            "tags must be a collection of strings, found 1: write ['a', 'b']",
        ),
    ],
)
def test_an_option_that_cannot_work_is_refused(check, message):
    with pytest.raises(ConfigurationError) as refusal:
        check()
    assert str(refusal.value) == message


def test_options_that_work_pass():
    check_string("name", "a")
    check_positive("wait", 0.5, finite=True)
    check_positive("wait", math.inf)
    check_positive("wait", None, optional=True)
    check_count("most", 0, least=0)
    check_count("most", None, optional=True)
    check_fraction("share", 1)
    check_callable("clock", print, "()")
    check_callable("clock", None, "()", optional=True)
    check_choice("mode", "a", ("a", "b"))
    assert as_names("ab") == ("ab",)
    assert as_names(["b", "a", "b"]) == ("b", "a")
    assert as_strings("tags", ["a", "a"]) == {"a"}


def test_a_long_value_is_cut():
    with pytest.raises(ConfigurationError, match=r"^name must be .*, found \[0, 1, .{60,80}$"):
        check_string("name", list(range(1000)))


def test_a_class_in_the_place_of_its_objects_is_told():
    from tool_search_processor.testing import ScriptedModel

    with pytest.raises(
        ConfigurationError, match=r"completion is the class ScriptedModel: create it, Scripted"
    ):
        check_callable("completion", ScriptedModel, "such as litellm.acompletion", optional=True)
    check_callable("clock", dict, "() -> seconds")
