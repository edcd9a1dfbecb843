"""Spans: what they say of a search, a load and a call, and that they never say anything of the user's."""

import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.server.rest.serving import SEARCH, client
from tests.support import Run, make, needs
from tool_search_processor import ToolSearchProcessor, telemetry
from tool_search_processor.errors import ToolArgumentsError

SECRET = "hunter2"


@pytest.fixture
def spans(monkeypatch):
    """Record spans in memory, and return what is finished as `(name, attributes, status)`."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", lambda: provider.get_tracer("test"))

    def finished():
        found = exporter.get_finished_spans()
        assert all(not span.events and SECRET not in span.to_json() for span in found)
        return [(span.name, dict(span.attributes), span.status.status_code.name) for span in found]

    yield finished
    provider.shutdown()


def call_span(name, **more):
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        **more,
    }


def fail(word):
    raise RuntimeError(f"no such word: {word}")


async def test_a_search_a_load_and_a_call(spans):
    run = Run(ToolSearchProcessor([needs("send_mail", "to"), make("read_mail")]))
    await run.search("send_mail", "hunter2 mail")
    await run.load("send_mail", SECRET)
    await run.step()
    await run.call("send_mail", to=SECRET)
    (search, search_attributes, _), load, call = spans()
    assert search == "tool_search.search"
    assert search_attributes == {
        "tool_search.queries": 2,
        "tool_search.query.length": len("send_mail") + len("hunter2 mail"),
        "tool_search.hits": 2,
        "tool_search.top_score": 1.0,
    }
    assert load == ("tool_search.load", {"tool_search.requested": 2, "tool_search.loaded": 1}, "UNSET")
    assert call == ("execute_tool send_mail", call_span("send_mail"), "UNSET")


async def test_a_failure_is_told_by_its_type_alone(spans):
    run = Run(ToolSearchProcessor([make("fail", execute=fail), needs("send_mail", "to")]))
    await run.load("fail", "send_mail")
    await run.step()
    with pytest.raises(RuntimeError):
        await run.call("fail", word=SECRET)
    with pytest.raises(ToolArgumentsError):
        await run.call("send_mail", other=SECRET)
    assert spans()[1:] == [
        ("execute_tool fail", call_span("fail", **{"error.type": "RuntimeError"}), "ERROR"),
        ("execute_tool send_mail", call_span("send_mail", **{"error.type": "ToolArgumentsError"}), "ERROR"),
    ]


async def test_a_direct_call_and_a_proxied_one_are_calls(spans):
    run = Run(ToolSearchProcessor([make("read_mail")]))
    await run.direct("read_mail")
    proxy = Run(ToolSearchProcessor([make("read_mail")], mode="call"))
    await proxy.call("call_tool", name="read_mail", arguments={"secret": SECRET})
    await proxy.search("no such thing at all")
    names = [name for name, _, _ in spans()]
    assert names == ["execute_tool read_mail", "execute_tool read_mail", "tool_search.search"]
    assert spans()[-1][1]["tool_search.top_score"] == 0.0


async def test_a_search_over_rest(spans):
    async with client() as http:
        await http.post(SEARCH, json={"query": "send_email"})
        await http.post(SEARCH, json={})
    ((name, attributes, _),) = spans()
    assert name == "tool_search.search"
    assert attributes["tool_search.mode"] == "hybrid"
    assert attributes["tool_search.query.length"] == len("send_email")
    assert (attributes["tool_search.hits"], attributes["tool_search.top_score"]) == (4, 1.0)


def test_without_the_package_nothing_is_recorded_and_errors_pass(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    telemetry._api.cache_clear()
    try:
        with telemetry.span("anything", {}) as span:
            span.set({telemetry.HITS: 1})
        with pytest.raises(KeyError), telemetry.span("anything", {}):
            raise KeyError
    finally:
        telemetry._api.cache_clear()


def test_with_the_api_alone_spans_lead_nowhere():
    telemetry._api.cache_clear()
    with telemetry.span("anything", {telemetry.HITS: 1}) as span:
        span.set({telemetry.TOP_SCORE: 0.5})
