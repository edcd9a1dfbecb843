"""A step as processors make it, and the fold over it."""

from collections import deque

import pytest

from tool_search_processor import InputStep, Tool, run_processors
from tool_search_processor.errors import ConfigurationError

USER = {"role": "user", "content": "q"}


@pytest.mark.parametrize(
    ("name", "items"), [("messages", [USER]), ("tools", [Tool("add")]), ("instructions", ["Be brief."])]
)
async def test_what_can_be_read_once_is_read_as_often_as_a_list(name, items):
    class Keeper:
        id = "keeper"

        async def process_input_step(self, step):
            return step.replace(**{name: filter(None, getattr(step, name))})

    step = InputStep(**{"messages": [], name: iter(items)})
    assert getattr(step, name) == tuple(items)
    assert getattr(await run_processors([Keeper()], step), name) == tuple(items)


@pytest.mark.parametrize("items", [[USER], (USER,), deque([USER])])
def test_a_sequence_stays_what_it_is(items):
    assert InputStep(messages=items).messages is items


@pytest.mark.parametrize("name", ["messages", "tools", "instructions"])
@pytest.mark.parametrize("single", ["a text", USER, Tool("add"), None, 5])
def test_a_single_value_is_no_sequence(name, single):
    with pytest.raises(ConfigurationError, match=f"InputStep.{name} is a sequence, found the single value"):
        InputStep(**{"messages": [], name: single})
