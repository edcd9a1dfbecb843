"""What a search learns from use: from whom, how much, for how long, and what it never does."""

import asyncio
import json
import logging
import os
from types import MappingProxyType

import pytest

from tests.catalog.learning import ASKED, call, names, searcher, tools, use
from tests.search.fake_embedder import FakeEmbedder
from tests.support import make
from tool_search_processor import Agent, Experience, ToolSearchProcessor, testing
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.stores.experience import MemoryExperienceStore, SQLiteExperienceStore
from tool_search_processor.testing import ManualClock, ScriptedModel

DAY = 24 * 3600.0


async def test_a_tool_that_was_called_after_a_search_is_found_by_its_words():
    search = searcher(Experience())
    assert await names(search) == []
    await use(search, "op_7")
    assert await names(search) == ["op_7"]


async def test_the_user_s_turn_is_learned_too():
    search = searcher(Experience())
    await use(search, "op_7", query=None, turn="Remind the late payers, please")
    assert await names(search, "remind late payers") == ["op_7"]


async def test_an_agent_teaches_it():
    search = searcher(Experience())
    script = [testing.call("search_tools", {"query": ASKED}), testing.call("op_3"), "Done."]
    model = ScriptedModel(script)
    await Agent("a", "scripted", input_processors=[search], completion=model).run("hi")
    assert await names(search) == ["op_3"]


@pytest.mark.parametrize("mode", ["load", "auto_load", "call"])
async def test_every_mode_teaches_it(mode):
    search = searcher(Experience(), mode=mode)
    messages = [{"role": "user", "content": ASKED}]
    async with search.session(thread_id="t") as session:
        await session.openai_tools(messages)
        asked = call("call_tool", {"name": "op_3", "arguments": {}}) if mode == "call" else call("op_3")
        await session.execute([asked])
    assert await names(search) == ["op_3"]


async def test_a_call_that_fails_teaches_nothing():
    def fail():
        raise ValueError("no")

    search = searcher(Experience(), given=[make("broken", execute=fail), *tools()])
    assert "no" in await use(search, "broken")
    assert await names(search) == []


async def test_a_search_is_credited_to_the_tool_that_it_found():
    given = [make("send_mail", "Sends an email."), make("pay", "Pays an invoice.")]
    experience = Experience()
    search = searcher(experience, given=given)
    messages = [{"role": "user", "content": "x" * 600}]
    async with search.session(thread_id="t") as session:
        await session.openai_tools(messages)
        await session.execute([call("search_tools", {"query": ["email", "invoice"]})])
        await session.execute([call("search_tools", {"query": "pay a bill"})])
        await session.openai_tools(messages)
        await session.execute([call("pay", call_id="2")])
    known = {record["query"] for record in await experience.export()}
    assert "pay a bill" in known
    assert all(record["tool"] == "pay" for record in await experience.export())


async def test_tenants_learn_for_themselves():
    experience = Experience(scope=lambda context: context.get("tenant"))
    search = searcher(experience)
    await use(search, "op_7", context={"tenant": "a"})
    await use(search, "op_9", thread="u", context={})
    assert await names(search, context={"tenant": "a"}) == ["op_7"]
    assert await names(search, context={"tenant": "b"}) == []
    assert await names(search) == []


async def test_a_scope_that_fails_lets_the_request_go_on(caplog):
    search = searcher(Experience(scope=lambda context: context["tenant"]))
    assert json.loads(await use(search, "op_7")) == {"ran": "op_7"}
    assert await names(search) == []
    assert "a function of Experience failed" in caplog.text


async def test_it_fades():
    clock = ManualClock(0.0)
    search = searcher(Experience(half_life_seconds=DAY, clock=clock))
    await use(search, "op_7")
    clock.advance(3 * DAY)
    assert await names(search) == ["op_7"]
    clock.advance(DAY)
    assert await names(search) == []


async def test_many_requests_fade_one_after_the_other():
    clock = ManualClock(0.0)
    experience = Experience(half_life_seconds=DAY, clock=clock)
    search = searcher(experience)
    for number in range(8):
        await use(search, "op_7", thread=f"t{number}")
    scores = []
    for _ in range(4):
        scores.append((await search.search(ASKED))[0].score)
        clock.advance(DAY)
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4
    assert await search.search(ASKED) == []


async def test_a_tool_with_another_schema_begins_anew():
    store = MemoryExperienceStore()
    await use(searcher(Experience(store)), "op_7")
    same = [*tools(7), make("op_7", "Now told in other words.")]
    changed = [*tools(7), make("op_7", parameters={"type": "object", "properties": {"a": {}}})]
    assert await names(searcher(Experience(store), given=same)) == ["op_7"]
    other = searcher(Experience(store), given=changed)
    assert await names(other) == []
    await use(other, "op_7", query="another request")
    assert await names(other, "another request") == ["op_7"]
    assert await names(other) == []


async def test_a_denied_tool_stays_hidden_whatever_was_learned():
    experience = Experience()
    await use(searcher(experience), "op_7")
    strict = searcher(experience, filter=lambda request: request.tool_name != "op_7")
    assert await names(strict) == []
    assert await names(searcher(experience), limit=5, tags=["none"]) == []


async def test_nothing_that_one_user_asked_is_sent_to_another():
    experience = Experience()
    search = searcher(experience, result_detail="schema")
    await use(search, "op_7", query="zebra secret overdue", turn="my password is hunter2")
    async with search.session(thread_id="other") as session:
        listed = await session.openai_tools([{"role": "user", "content": "x"}])
        answers = await session.execute([call("search_tools", {"query": "overdue"})])
    sent = json.dumps([listed, answers, session.messages], default=str)
    assert "op_7" in sent
    assert not any(word in sent for word in ("zebra", "secret", "hunter2"))


async def test_an_attacker_with_a_thousand_calls_in_one_thread_moves_nothing_beyond_the_cap():
    given = [make("pay_invoice", "Pays an invoice of a supplier."), make("evil", "Does something else.")]
    experience = Experience()
    search = searcher(experience, given=[*given, *tools()])
    query = "pay the invoice of a supplier"
    before = await search.search(query)
    for number in range(1000):
        await use(search, "evil", query=f"pay the invoice of supplier {number}", thread="attacker")
    mine = [record for record in await experience.export() if record["tool"] == "evil"]
    assert len({record["thread"] for record in mine}) == 1
    assert len(mine) <= 4
    after = await search.search(query)
    assert [hit.name for hit in before][:1] == [hit.name for hit in after][:1] == ["pay_invoice"]
    assert after[0].score == before[0].score


async def test_a_thread_takes_no_other_thread_s_place():
    experience = Experience(max_requests=20)
    search = searcher(experience)
    for number in range(17):
        await use(search, "op_7", query=f"honest request {number}", thread=f"t{number}", turn="")
    for number in range(50):
        await use(search, "op_7", query=f"spam {number}", thread="attacker", turn="")
    kept = {record["query"] for record in await experience.export()}
    assert sum(query.startswith("honest") for query in kept) == 17


async def test_a_thread_counts_once_however_often_it_calls():
    experience, other = Experience(), Experience()
    search, once = searcher(experience), searcher(other)
    for _ in range(5):
        await use(search, "op_7")
    await use(once, "op_7")
    assert await search.search(ASKED) == await once.search(ASKED)
    await use(search, "op_7", thread="u")
    assert (await search.search(ASKED))[0].score > (await once.search(ASKED))[0].score


async def test_requests_and_tools_are_bounded():
    experience = Experience(max_requests=4, max_tools=3)
    search = searcher(experience)
    for number in range(8):
        await use(search, "op_1", query=f"one {number}", thread=f"t{number}", turn="")
        await use(search, f"op_{number}", query=f"each {number}", thread=f"u{number}", turn="")
    records = await experience.export()
    assert {record["tool"] for record in records} == {"op_1", "op_6", "op_7"}
    assert sum(record["tool"] == "op_1" for record in records) == 4


async def test_the_bytes_of_a_scope_are_bounded():
    experience = Experience(max_bytes=600)
    search = searcher(experience)
    for number in range(10):
        await use(search, f"op_{number}", query=f"{number} " + "long words " * 20, turn="")
    kept = await experience.store.read("")
    assert "op_9" in kept
    assert sum(map(len, kept.values())) <= 600


async def test_a_tool_a_thread_or_a_user_can_be_forgotten():
    experience = Experience()
    search = searcher(experience)
    await use(search, "op_1", query="first", thread="a", context={"user": "ann"}, turn="")
    await use(search, "op_2", query="second", thread="b", context={"user": "bob"}, turn="")
    await use(search, "op_3", query="third", thread="c", context={"user": "bob"}, turn="")
    assert await experience.forget(tool="op_1") == 1
    assert await names(search, "first") == []
    assert await experience.forget(thread_id="b") == 1
    assert await names(search, "second") == []
    assert await experience.forget(user="bob") == 1
    assert await experience.export() == []
    assert await experience.forget(user="bob") == 0
    with pytest.raises(ConfigurationError, match="say what to forget"):
        await experience.forget()


async def test_only_words_are_kept_where_that_is_asked():
    experience = Experience(keep="terms")
    search = searcher(experience)
    await use(search, "op_7", query="Chase the overdue Payment of Zoe!", turn="")
    assert [record["query"] for record in await experience.export()] == ["chase overdue payment zoe"]
    assert await names(search) == ["op_7"]


async def test_what_was_exported_can_be_loaded():
    first, second = Experience(), Experience()
    await use(searcher(first), "op_7")
    records = json.loads(json.dumps(await first.export()))
    assert await second.load(records) == len(records) == 2
    assert await second.export() == records
    assert await names(searcher(second)) == ["op_7"]
    logged = Experience()
    assert (
        await logged.load([{"query": ASKED, "tools": ["op_1", "op_2"]}, {"query": " ", "tool": "op_3"}]) == 2
    )
    assert sorted(await names(searcher(logged))) == ["op_1", "op_2"]


@pytest.mark.parametrize("logs_first", [True, False])
async def test_what_logs_taught_and_what_use_teaches_count_together(logs_first):
    experience = Experience()
    search = searcher(experience)
    logged = [{"query": "from the logs", "tool": "op_7"}]
    if logs_first:
        await experience.load(logged)
    await use(search, "op_7")
    if not logs_first:
        await experience.load(logged)
    assert await names(search) == await names(search, "from the logs") == ["op_7"]


async def test_of_two_users_of_one_thread_each_can_be_forgotten():
    experience = Experience()
    search = searcher(experience)
    await use(search, "op_7", query="what ann asked", context={"user": "ann"}, turn="")
    await use(search, "op_7", query="what bob asked", context={"user": "bob"}, turn="")
    await experience.forget(user="bob")
    assert await experience.export() == []


async def test_a_file_that_can_not_be_written_is_used_and_nothing_is_learned(tmp_path, monkeypatch, caplog):
    path = tmp_path / "learned.db"
    teacher = searcher(Experience(SQLiteExperienceStore(path)))
    await use(teacher, "op_7")
    await teacher.aclose()
    access = os.access
    monkeypatch.setattr(os, "access", lambda given, mode: given != path and access(given, mode))
    search = searcher(Experience(SQLiteExperienceStore(path)))
    await use(search, "op_8", query="hold the line", thread="u", turn="hold the line")
    assert await names(search) == ["op_7"]
    assert await names(search, "hold the line") == []
    assert [record.getMessage().partition(" ")[2] for record in caplog.records] == [
        "can't be written: what it holds is used, and nothing is learned"
    ]
    await search.aclose()


async def test_processes_learn_from_each_other(tmp_path, monkeypatch):
    monkeypatch.setattr("tool_search_processor.catalog.known_scopes._REFRESH_SECONDS", 0.0)
    one = searcher(Experience(SQLiteExperienceStore(tmp_path / "learned.db")))
    two = searcher(Experience(SQLiteExperienceStore(tmp_path / "learned.db")))
    assert await names(two) == []
    await use(one, "op_7")
    assert await names(two) == ["op_7"]
    await Experience(SQLiteExperienceStore(tmp_path / "learned.db")).forget(tool="op_7")
    assert await names(two) == await names(one) == []
    await asyncio.gather(*(use(s, "op_8", thread=str(n)) for n, s in enumerate((one, two) * 4)))
    assert (
        len([r for r in await Experience(one._options.experience.store).export() if r["tool"] == "op_8"]) >= 8
    )
    await one.aclose()
    await two.aclose()


class Failing(MemoryExperienceStore):
    """Fails at everything."""

    async def read(self, scope):
        raise OSError("down")

    async def version(self, scope):
        raise OSError("down")

    async def swap(self, scope, tool, old, new):
        raise OSError("down")


async def test_a_store_that_fails_costs_a_warning_and_nothing_else(caplog):
    search = searcher(Experience(Failing()))
    with caplog.at_level(logging.WARNING):
        assert json.loads(await use(search, "op_7")) == {"ran": "op_7"}
        assert (await names(search, "op_7"))[0] == "op_7"
    assert caplog.text.count("nothing is learned until the experience store answers again") == 1


class Confused(MemoryExperienceStore):
    """Answers nonsense."""

    async def read(self, scope):
        return {"op_7": 3, "op_8": "[1, 2]", "op_9": '["*", {"t": [1]}]'}

    async def version(self, scope):
        return object()


async def test_nonsense_in_a_store_costs_no_search_and_no_call():
    search = searcher(Experience(Confused()))
    assert await names(search) == []
    assert json.loads(await use(search, "op_7")) == {"ran": "op_7"}


@pytest.mark.parametrize("strategy", ["fuzzy", "vector", "hybrid"])
async def test_every_strategy_that_knows_requests_profits(strategy):
    index = {
        "vector": lambda: VectorIndex(FakeEmbedder()),
        "hybrid": lambda: HybridIndex(vector=VectorIndex(FakeEmbedder())),
    }.get(strategy, strategy)
    search = searcher(Experience(), search=index)
    await use(search, "op_7")
    assert (await names(search))[0] == "op_7"


async def test_tools_of_a_request_are_learned_for_too():
    async def mine(context):
        return [make("own_tool", "Does its own thing.")]

    search = searcher(Experience(), given=mine)
    await use(search, "own_tool")
    assert await names(search) == ["own_tool"]


async def test_without_experience_nothing_is_learned():
    search = searcher(None)
    await use(search, "op_7")
    assert await names(search) == []


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"max_tools": 257}, "max_tools must be a whole number from 1 to 256"),
        ({"max_requests": 0}, "max_requests must be a whole number from 1 to 100"),
        ({"half_life_seconds": 0}, "half_life_seconds must be a number above 0"),
        ({"keep": "all"}, "keep must be 'text' or 'terms'"),
        ({"scope": "tenant"}, r"scope must be a function \(context\) -> scope"),
        ({"store": MemoryExperienceStore}, "store must have the methods of ExperienceStore"),
    ],
)
def test_options_that_cannot_work_are_refused(options, match):
    with pytest.raises(ConfigurationError, match=match):
        Experience(**options)


def test_a_processor_takes_nothing_else_for_experience():
    with pytest.raises(ConfigurationError, match=r"experience must be an Experience\(...\)"):
        ToolSearchProcessor(tools(), experience=MappingProxyType({}))
