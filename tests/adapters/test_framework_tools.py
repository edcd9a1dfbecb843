"""Tools of a framework of three lines: each is made once, and kept while it is asked for."""

from tool_search_processor import InvalidToolError
from tool_search_processor.adapters.framework_tools import MAX_KEPT, FrameworkTools
from tool_search_processor.session.foreign_tools import ForeignTool


class TheirTool:
    def __init__(self, name):
        self.name = name


def converted(original):
    return ForeignTool(original.name, f"Does {original.name}.", {"type": "object"}, original=original)


def test_one_tool_is_made_for_each_object():
    made = []
    own = FrameworkTools(lambda original: made.append(original) or converted(original))
    objects = [TheirTool("a"), TheirTool("b")]

    first, second = own.of(objects), own.of(reversed(objects))

    assert [tool.name for tool in first] == ["a", "b"]
    assert second == first[::-1]
    assert all(a is b for a, b in zip(first, reversed(second), strict=True))
    assert made == objects


def test_another_object_of_the_same_name_is_another_tool():
    own = FrameworkTools(converted)
    (first,), (second,) = own.of([TheirTool("a")]), own.of([TheirTool("a")])
    assert first is not second


def test_an_object_that_cant_be_a_tool_is_left_out_and_said_once(caplog):
    def make(original):
        raise InvalidToolError("no schema")

    own, objects = FrameworkTools(make), [TheirTool("a")]
    assert own.of(objects) == own.of(objects) == []
    assert [record.message.count("no schema") for record in caplog.records] == [1]


def test_a_bounded_number_is_kept():
    own, first = FrameworkTools(converted), TheirTool("a")
    (kept,) = own.of([first])
    assert own.of([first])[0] is kept
    own.of([TheirTool("a") for _ in range(MAX_KEPT)])
    assert own.of([first])[0] is not kept
