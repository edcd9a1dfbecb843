import pytest

from tool_search_processor.providers.mcp.backoff import FIRST_SECONDS, LONGEST_SECONDS, Backoff
from tool_search_processor.testing import ManualClock


def test_each_failure_doubles_the_time_up_to_the_longest():
    backoff = Backoff(clock=ManualClock(), chance=lambda: 0.5)
    waits = [backoff.fail() for _ in range(40)]
    assert waits[:4] == [FIRST_SECONDS, 1.0, 2.0, 4.0]
    assert waits[-1] == LONGEST_SECONDS


@pytest.mark.parametrize(("chance", "factor"), [(0.0, 0.75), (1.0, 1.25)])
def test_chance_makes_it_a_quarter_shorter_or_longer(chance, factor):
    assert Backoff(clock=ManualClock(), chance=lambda: chance).fail() == FIRST_SECONDS * factor


def test_time_passes_and_success_forgets():
    clock = ManualClock()
    backoff = Backoff(clock=clock, chance=lambda: 0.5)
    assert backoff.remaining() == 0
    backoff.fail()
    clock.advance(0.3)
    assert backoff.remaining() == pytest.approx(0.2)
    clock.advance(1)
    assert backoff.remaining() == 0
    backoff.fail()
    backoff.succeed()
    assert backoff.remaining() == 0
    assert backoff.fail() == FIRST_SECONDS
