"""How long a provider may take, and when one that failed is asked again."""

import pytest

from tool_search_processor.catalog.backoff import HoldOff, ProviderLimits
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.testing import ManualClock

# -- limits


@pytest.mark.parametrize("value", [0, -1, "30", True, [1]])
@pytest.mark.parametrize(
    ("field", "option"),
    [("timeout_seconds", "provider_timeout_seconds"), ("max_stale_seconds", "max_stale_seconds")],
)
def test_seconds_that_cannot_be_are_refused(field, option, value):
    with pytest.raises(ConfigurationError, match=f"{option} must be a number above 0 or None, found"):
        ProviderLimits(**{field: value})


def test_a_clock_is_a_function():
    with pytest.raises(ConfigurationError, match=r"clock must be a function .*, found 12"):
        ProviderLimits(clock=12)


# -- the hold-off


def held_for(hold_off, clock):
    """Return the whole seconds until it is over, and go there."""
    seconds = 0
    while hold_off.is_on("v1"):
        clock.advance(1)
        seconds += 1
    return seconds


def test_the_hold_off_doubles_up_to_a_minute_and_begins_anew_after_an_answer():
    clock = ManualClock(100)
    hold_off = HoldOff(clock)
    assert not hold_off.is_on("v1")
    assert hold_off.left_seconds() is None
    spans = []
    for _ in range(9):
        hold_off.begin(took_seconds=0, mark="v1")
        spans.append(held_for(hold_off, clock))
    assert spans == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    hold_off.end()
    hold_off.begin(took_seconds=0, mark="v1")
    assert hold_off.left_seconds() == 1


def test_the_hold_off_is_no_shorter_than_the_failure():
    hold_off = HoldOff(ManualClock())
    hold_off.begin(took_seconds=90, mark="v1")
    assert hold_off.left_seconds() == 90


def test_a_moved_mark_ends_the_hold_off():
    hold_off = HoldOff(ManualClock())
    hold_off.begin(took_seconds=0, mark="v1")
    assert hold_off.is_on("v1")
    assert not hold_off.is_on("v2")


def test_a_clock_that_is_set_back_holds_nothing_off():
    clock = ManualClock(1000)
    hold_off = HoldOff(clock)
    hold_off.begin(took_seconds=0, mark=None)
    clock.now = 10
    assert not hold_off.is_on(None)
