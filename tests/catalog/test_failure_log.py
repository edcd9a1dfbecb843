"""One warning for each outage of a provider, whatever it lists and however often it is asked."""

import logging

import pytest

from tests.support import warnings
from tool_search_processor import Catalog
from tool_search_processor.catalog.failure_log import FailureLog
from tool_search_processor.errors import ProviderError
from tool_search_processor.providers.provider import Provider
from tool_search_processor.testing import ManualClock

KINDS = ["tools", "resources", "resource_templates", "prompts"]


class Down(Provider):
    """A server that fails at whatever it is asked, until `error` is taken away."""

    name = "down"

    def __init__(self, error):
        self.error = error

    def version(self):
        return 1

    async def list_tools(self, context):
        if self.error is not None:
            raise self.error
        return []

    list_resources = list_resource_templates = list_prompts = list_tools


async def list_everything(catalog):
    for kind in KINDS:
        await getattr(catalog, f"list_{kind}")()


@pytest.mark.parametrize("error", [ConnectionError("gone"), ProviderError("the server has ended")])
async def test_an_outage_is_one_warning_for_all_lists_and_retries(error, caplog):
    caplog.set_level(logging.DEBUG, logger="tool_search_processor.catalog.failure_log")
    clock = ManualClock()
    catalog = Catalog([Down(error)], clock=clock)
    for _ in range(3):
        await list_everything(catalog)
        clock.advance(100)
    assert len(caplog.records) == 12
    assert warnings(caplog) == [
        f"the provider 'down' failed to list its tools: {type(error).__name__}: {error}"
    ]


async def test_two_providers_that_fail_alike_are_two_warnings(caplog):
    await list_everything(Catalog([Down(ProviderError("no key")), Down(ProviderError("no key"))]))
    assert len(warnings(caplog)) == 2


async def test_another_cause_is_another_warning_and_so_is_the_next_outage(caplog):
    clock = ManualClock()
    server = Down(None)
    catalog = Catalog([server], clock=clock)
    for reason in ("there is no such file", "no key was given", None, "no key was given"):
        server.error = None if reason is None else ProviderError(reason)
        clock.advance(100)
        await catalog.refresh()
        await list_everything(catalog)
    assert [text.rpartition(": ")[2] for text in warnings(caplog)] == [
        "there is no such file",
        "no key was given",
        "no key was given",
    ]


def test_causes_that_take_turns_are_a_warning_each(caplog):
    log = FailureLog("behind a proxy")
    for said in ("can't be reached", "502 Bad Gateway") * 3:
        log.fail("tools", said, ProviderError(said))
    assert len(warnings(caplog)) == 2


def test_numbers_that_differ_are_no_other_cause(caplog):
    log = FailureLog("node")
    for said in ("process 7 ended at 10:20:01", "process 81 ended at 10:21:09"):
        log.fail("tools", said, ProviderError(said))
    assert len(warnings(caplog)) == 1


def test_what_failed_for_a_cause_of_its_own_stays_told_when_another_list_is_read(caplog):
    log = FailureLog("half")
    for _ in range(3):
        log.succeed("tools")
        log.fail("prompts", "gave no list", ProviderError("gave no list"))
    assert len(warnings(caplog)) == 1


async def test_the_seconds_until_the_next_try_are_no_part_of_the_cause(caplog):
    clock = ManualClock()
    server = Down(None)
    catalog = Catalog([server], clock=clock)
    for wait in (None, 0.4, 1.9):
        server.error = ProviderError("it is down", retry_in_seconds=wait)
        clock.advance(100)
        await list_everything(catalog)
    assert str(server.error) == "it is down (the next try is possible in 1.9 s)"
    assert catalog.status().providers[0].error == "ProviderError: it is down"
    assert len(warnings(caplog)) == 1
