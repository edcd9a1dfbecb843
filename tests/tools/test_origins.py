"""Where a tool comes from, as its copies tell."""

import pickle

from tool_search_processor.processor.guarded import guard
from tool_search_processor.providers.changes import hold
from tool_search_processor.tools import Tool
from tool_search_processor.tools.origins import Origin, mark_origin, origin_of


def test_the_first_origin_stays_and_every_copy_has_it():
    first, second, tool = Origin("first"), Origin("second"), Tool("a")
    assert origin_of(tool) is None
    assert mark_origin(tool, first) is first
    assert mark_origin(tool, second) is first
    copies = [tool.replace(name="b"), tool.replace(name="b").replace(name="c"), guard(tool, None)]
    copies.append(hold(tool, None, None))
    assert [origin_of(copy) for copy in copies] == [first] * 4
    assert origin_of(Tool("a")) is None


def test_an_origin_is_no_part_of_the_definition():
    tool = Tool("a")
    before = tool.fingerprint
    mark_origin(tool, Origin("first"))
    assert tool == Tool("a")
    assert tool.replace().fingerprint == before
    assert origin_of(pickle.loads(pickle.dumps(tool))) is None
