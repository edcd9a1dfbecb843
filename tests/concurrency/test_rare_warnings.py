"""A failure that goes on is a warning now and then, and in the log for debugging in between."""

import logging

from tool_search_processor.concurrency.rare_warnings import RareWarnings
from tool_search_processor.testing import ManualClock

LOGGER = logging.getLogger(__name__)


def levels(caplog):
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def test_each_message_is_a_warning_once_in_some_minutes(caplog):
    caplog.set_level(logging.DEBUG)
    clock = ManualClock()
    warnings = RareWarnings(LOGGER, seconds=60, clock=clock)
    warnings.warn("the disk is full")
    clock.advance(59)
    warnings.warn("the disk is full")
    warnings.warn("the disk is 100% gone")
    clock.advance(1)
    warnings.warn("the disk is full")
    assert levels(caplog) == [
        ("WARNING", "the disk is full"),
        ("DEBUG", "the disk is full"),
        ("WARNING", "the disk is 100% gone"),
        ("WARNING", "the disk is full"),
    ]


def test_messages_about_the_same_are_one_warning(caplog):
    caplog.set_level(logging.DEBUG)
    warnings = RareWarnings(LOGGER)
    warnings.warn("3 files are unreadable", about="files")
    warnings.warn("4 files are unreadable", about="files")
    assert [level for level, _ in levels(caplog)] == ["WARNING", "DEBUG"]


def test_the_exception_is_logged_if_that_is_wanted(caplog):
    try:
        raise ValueError("of the store")
    except ValueError:
        RareWarnings(LOGGER).warn("nothing is learned", exc_info=True)
    assert "ValueError: of the store" in caplog.text
