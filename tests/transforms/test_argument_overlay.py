"""ArgTransform: what can be said, and what contradicts itself."""

import math

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.transforms import MISSING, ArgTransform


def make():
    return 1


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"name": "a.b-c_1"},
        {"default": None},
        {"default": {"deep": [1, None, "x"]}},
        {"default": object(), "hide": True},
        {"default_factory": make, "hide": True},
        {"required": True, "examples": ["a", 1]},
        {"required": False, "default": 1},
        {"hide": True, "required": False},
    ],
)
def test_what_can_be_said(options):
    transform = ArgTransform(**options)
    assert {key: getattr(transform, key) for key in options} == options
    assert transform.fills is ("default" in options or "default_factory" in options)


def test_no_default_is_told_from_null():
    assert ArgTransform().default is MISSING
    assert repr(MISSING) == "MISSING"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": ""}, "1 to 64 letters, .* found ''"),
        ({"name": "a b"}, "found 'a b'"),
        ({"name": "x" * 65}, "an argument's name"),
        ({"name": 3}, "name of an ArgTransform is str or None, found 3"),
        ({"description": 3}, "description of an ArgTransform is str or None, found 3"),
        ({"hide": "false"}, "hide of an ArgTransform is bool, found 'false'"),
        ({"required": 1}, "required of an ArgTransform is bool or None, found 1"),
        ({"hide": True, "required": True}, "a hidden argument cannot be required of the model"),
        ({"hide": True, "default": 1, "default_factory": make}, "a default or a default_factory, not both"),
        ({"default_factory": make}, "default_factory needs hide=True"),
        ({"default_factory": 3, "hide": True}, "default_factory is a function"),
        ({"default": 1, "required": True}, "a required argument has no default"),
        ({"default": object()}, "default of an argument is shown to the model, so it is a JSON value"),
        ({"default": math.nan}, "it is a JSON value, found nan"),
        ({"examples": [make]}, "examples of an argument is shown"),
        ({"examples": "abc"}, "examples of an ArgTransform is list or tuple or None, found 'abc'"),
    ],
)
def test_what_cannot_work_raises(options, message):
    with pytest.raises(ConfigurationError, match=message):
        ArgTransform(**options)
