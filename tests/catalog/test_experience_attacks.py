"""Experience under attack: nobody steers others or reads their words, and nothing that fails is felt."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest

from tests.catalog.learning import ASKED, call, names, searcher, tools, use
from tests.search.fake_embedder import FakeEmbedder
from tests.support import make, warnings
from tool_search_processor import Agent, Experience, StaticProvider, testing
from tool_search_processor.search.experience.entries import Entry, Limits, Observation
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.stores.experience import MemoryExperienceStore, SQLiteExperienceStore
from tool_search_processor.testing import ManualClock, ScriptedModel

PAY = "remit money to the vendor"


def tenant(context):
    return context.get("tenant")


def by(user):
    return {"user": user}


@pytest.mark.parametrize("by_author", [False, True], ids=["learned", "of the author"])
async def test_a_pattern_reads_what_the_author_wrote_and_not_what_users_asked(by_author):
    given = [make("op_1", "Does one.", example_requests=(PAY,) if by_author else ()), *tools(0)]
    search = searcher(Experience(), given=given, search="regex")
    await use(search, "op_1", query=PAY, turn=PAY)
    assert await names(search, "^rem.t money") == (["op_1"] if by_author else [])


class TestOneUserAgainstMany:
    @pytest.mark.parametrize("threads", [2, 5, 40])
    async def test_a_user_counts_once_however_many_threads(self, threads):
        given = [make("settle", "Settles bills."), make("evil", "Does something else."), *tools()]
        search = searcher(Experience(), given=given)
        for number in range(3):
            await use(search, "settle", query=PAY, thread=f"h{number}", turn="", context=by(f"u{number}"))
        for number in range(threads):
            await use(search, "evil", query=PAY, thread=f"a{number}", turn=PAY, context=by("mallory"))
        assert (await names(search, PAY))[0] == "settle"

    async def test_a_perfect_answer_of_the_catalog_stays_first(self):
        given = [make("pay_invoice", "Pays an invoice of a supplier."), make("evil", "Does something else.")]
        search = searcher(Experience(), given=[*given, *tools()])
        query = "pay the invoice of a supplier"
        await use(search, "op_1", query="something else", thread="h", turn="", context=by("ann"))
        for number in range(40):
            await use(search, "evil", query=query, thread=f"a{number}", turn=query, context=by("mallory"))
        assert (await names(search, query))[0] == "pay_invoice"

    async def test_a_user_alone_teaches_as_much_as_threads_without_a_user(self):
        known, unknown = searcher(Experience()), searcher(Experience())
        for number in range(6):
            await use(known, "op_7", query=f"chase payment {number}", thread=f"{number}", context=by("ann"))
            await use(unknown, "op_7", query=f"chase payment {number}", thread=f"{number}")
        assert await known.search("chase payment") == await unknown.search("chase payment")

    async def test_a_user_takes_no_other_user_s_place_of_a_tool(self):
        experience = Experience(max_requests=6)
        search = searcher(experience)
        for number in range(3):
            await use(search, "op_7", query=f"honest {number}", thread=f"h{number}", context=by(f"u{number}"))
        for number in range(50):
            await use(search, "op_7", query=f"spam {number}", thread=f"a{number}", context=by("mallory"))
        kept = {record["query"] for record in await experience.export()}
        assert {"honest 0", "honest 1", "honest 2"} <= kept

    async def test_one_caller_pushes_out_no_tool_that_several_have_taught(self):
        experience = Experience(max_tools=4)
        search = searcher(experience)
        for number in range(2):
            await use(search, "op_0", query=PAY, thread=f"h{number}", turn="", context=by(f"u{number}"))
        for number in range(1, 20):
            await use(search, f"op_{number}", query="spam", thread=f"a{number}", context=by("mallory"))
        assert {record["tool"] for record in await experience.export()} >= {"op_0", "op_19"}
        assert (await names(search, PAY))[0] == "op_0"

    async def test_what_has_faded_goes_before_what_few_have_taught(self):
        clock = ManualClock(0.0)
        experience = Experience(max_tools=2, half_life_seconds=10.0, clock=clock)
        search = searcher(experience)
        for number in range(5):
            await use(search, "op_0", query=PAY, thread=f"{number}", turn="")
        clock.advance(1000)
        for number in (1, 2):
            await use(search, f"op_{number}", query="new", thread="t", turn="")
        assert {record["tool"] for record in await experience.export()} == {"op_1", "op_2"}


class TestTenants:
    @pytest.mark.parametrize("who", ["tenant", "user"])
    async def test_threads_of_one_name_share_no_request(self, who):
        """Many programs call every thread "default"."""
        experience = Experience(scope=tenant)
        search = searcher(experience)
        ann, bob = ({"tenant": "x", "user": "x", who: name} for name in ("ann", "bob"))
        async with search.session(thread_id="default", context=ann) as session:
            await session.openai_tools([{"role": "user", "content": ""}])
            await session.execute([call("search_tools", {"query": "secret of ann"})])
        async with search.session(thread_id="default", context=bob) as session:
            await session.openai_tools([{"role": "user", "content": "hello"}])
            await session.execute([call("op_3")])
        assert [record["query"] for record in await experience.export()] == ["hello"]

    @pytest.mark.parametrize(
        "value", [object(), lambda: "x", True, {"id": 1}, ["a"], b"a", 1.5, ("a", object())]
    )
    async def test_a_scope_that_is_no_id_is_not_used(self, value, caplog):
        experience = Experience(scope=lambda context: value)
        search = searcher(experience)
        for _ in range(3):
            assert json.loads(await use(search, "op_7")) == {"ran": "op_7"}
        assert await names(search) == []
        assert await experience.export() == []
        [warning] = warnings(caplog)
        assert "scope= of Experience must return a string" in warning
        assert type(value).__name__ in warning

    async def test_scope_and_user_may_be_async(self):
        async def scope(context):
            return context["tenant"]

        async def user(context):
            return context["who"]

        experience = Experience(scope=scope, user=user)
        search = searcher(experience)
        await use(search, "op_7", context={"tenant": "a", "who": "ann"})
        assert await names(search, context={"tenant": "a", "who": "bob"}) == ["op_7"]
        assert await names(search, context={"tenant": "b", "who": "ann"}) == []
        assert await experience.forget(user="ann") == 1
        assert await names(search, context={"tenant": "a", "who": "bob"}) == []

    @pytest.mark.parametrize("is_async", [False, True])
    @pytest.mark.parametrize("which", ["scope", "user"])
    async def test_a_function_that_raises_lets_the_request_go_on(self, which, is_async, caplog):
        def fails(context):
            raise ValueError("no")

        async def fails_later(context):
            raise ValueError("no")

        experience = Experience(**{which: fails_later if is_async else fails})
        search = searcher(experience)
        for _ in range(3):
            assert json.loads(await use(search, "op_7")) == {"ran": "op_7"}
        assert await experience.export() == []
        [warning] = warnings(caplog)
        assert "a function of Experience failed" in warning


class TestForgetting:
    async def test_a_search_of_a_forgotten_user_is_not_learned_afterwards(self):
        experience = Experience()
        search = searcher(experience)
        messages = [{"role": "user", "content": ""}]
        async with search.session(thread_id="t", context=by("ann")) as session:
            await session.openai_tools(messages)
            await session.execute([call("search_tools", {"query": ASKED})])
            await experience.forget(user="ann")
            await session.execute([call("op_7", call_id="2")])
        assert await experience.export() == []

    @pytest.mark.parametrize("user", [{"sub": "ann", "exp": 1}, {"id": "ann"}, "ann"])
    async def test_a_user_is_known_by_the_id_in_its_token(self, user):
        experience = Experience()
        await use(searcher(experience), "op_7", context={"user": user})
        assert await experience.forget(user="ann") == 1

    async def test_an_object_is_known_by_its_id_or_else_unknown(self):
        class User:
            id = 7

        experience = Experience()
        await use(searcher(experience), "op_7", context={"user": User()}, thread="a")
        await use(searcher(experience), "op_8", context={"user": object()}, thread="b")
        assert {record["tool"]: record["user"] for record in await experience.export()}["op_8"] == ""
        assert await experience.forget(user=7) == 1

    async def test_records_of_a_program_s_own_can_be_forgotten_too(self):
        experience = Experience()
        records = [
            {"query": "one", "tool": "op_1", "thread": "t1", "user": "ann"},
            {"query": "two", "tool": "op_2", "thread": "t2", "user": "bob", "scope": "\ud800"},
        ]
        assert await experience.load(records) == 2
        assert not {"t1", "t2", "ann", "bob"} & {v for r in await experience.export() for v in r.values()}
        assert await experience.forget(thread_id="t1") == 1
        assert await experience.forget(user="bob") == 1
        assert await experience.export() == []

    async def test_nothing_that_was_forgotten_is_left_in_the_files(self, tmp_path):
        store = SQLiteExperienceStore(tmp_path / "learned.db")
        search = searcher(experience := Experience(store))
        for number in range(30):
            await use(search, "op_7", query=f"xyzzy {number}", thread=f"{number}", context=by("ann"), turn="")
            await use(search, "op_8", query=f"plugh {number}", thread=f"{number}", context=by("bob"), turn="")
        await experience.forget(user="ann")
        content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"xyzzy" not in content
        assert b"plugh" in content
        await store.aclose()

    async def test_vectors_of_what_was_asked_are_not_written_to_the_disk(self, tmp_path):
        embedder = FakeEmbedder()
        embedder.model_id = "fake"
        path = tmp_path / "vectors.db"
        search = searcher(Experience(), search=HybridIndex(vector=VectorIndex(embedder, cache_path=path)))
        await names(search)
        before = path.read_bytes()
        await use(search, "op_7")
        assert (await names(search))[0] == "op_7"
        assert path.read_bytes() == before


class TestTermsOnly:
    async def test_no_sentence_is_anywhere(self, tmp_path, caplog):
        caplog.set_level(logging.DEBUG)
        store = SQLiteExperienceStore(tmp_path / "learned.db")
        experience = Experience(store, keep="terms")
        search = searcher(experience)
        sentence = "Chase the overdue Payment of Zoe!"
        async with search.session(thread_id="t") as session:
            await session.openai_tools([{"role": "user", "content": sentence}])
            await session.execute([call("search_tools", {"query": sentence})])
            held = repr(list(experience._recent._asked.values()))
            await session.execute([call("op_7", call_id="2")])
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir()).decode(errors="replace")
        for text in (held, kept, json.dumps(await experience.export()), repr(experience), repr(search)):
            assert "the overdue Payment" not in text
        assert "chase overdue payment zoe" in kept
        await store.aclose()

    async def test_a_failing_store_logs_nothing_of_it(self, caplog):
        class Broken(MemoryExperienceStore):
            async def swap(self, scope, tool, old, new):
                raise OSError("down")

        await use(searcher(Experience(Broken())), "op_7", query="xyzzy", turn="plugh")
        assert warnings(caplog)
        assert "xyzzy" not in caplog.text
        assert "plugh" not in caplog.text


class Slow(MemoryExperienceStore):
    """Answers when it is let."""

    def __init__(self):
        super().__init__()
        self.gate = asyncio.Event()

    async def version(self, scope):
        await self.gate.wait()
        return await super().version(scope)

    async def swap(self, scope, tool, old, new):
        await self.gate.wait()
        return await super().swap(scope, tool, old, new)


class TestSlowStores:
    async def test_a_call_does_not_wait_and_is_learned_from_nevertheless(self, caplog):
        search = searcher(experience := Experience(Slow()))
        assert json.loads(await asyncio.wait_for(use(search, "op_7"), 5)) == {"ran": "op_7"}
        assert await asyncio.wait_for(names(search), 5) == []
        experience.store.gate.set()
        await experience.aclose()
        assert {record["tool"] for record in await experience.export()} == {"op_7"}
        assert await names(search) == ["op_7"]
        assert warnings(caplog) == []

    async def test_no_call_runs_out_of_its_own_time_because_of_it(self):
        search = searcher(experience := Experience(Slow()))
        script = [testing.call("search_tools", {"query": ASKED}), testing.call("op_3"), "Done."]
        agent = Agent(
            "a", "m", input_processors=[search], completion=ScriptedModel(script), tool_timeout_seconds=5
        )
        result = await asyncio.wait_for(agent.run("hi"), 4)
        assert "ran" in result.messages[-2]["content"]
        experience.store.gate.set()
        await experience.aclose()

    async def test_calls_pile_up_to_a_bound(self):
        search = searcher(experience := Experience(Slow()))
        await asyncio.gather(*(use(search, "op_7", thread=f"{number}", query=None) for number in range(300)))
        assert len(experience._patience._tasks) <= 200
        experience.store.gate.set()
        await experience.aclose()


class TestHugeAndOdd:
    async def test_huge_requests_are_kept_nowhere(self):
        experience = Experience()
        search = searcher(experience)
        await use(search, "op_7", query="word " * 200_000, turn="other " * 200_000)
        assert await experience.export() == []
        assert not any(experience._recent._asked.values())

    @pytest.mark.parametrize(
        "text",
        ["[" * 100_000, '["*", {"t": [1' + "0" * 400 + ', "", ["a"]]}]', '["*", {"t": [NaN, "", ["a"]]}]',
         '["*", {"t": [1, "", "' + "x" * 1_000_000 + '"]}]', "3", "null", "\0"],
    )  # fmt: skip
    async def test_a_store_s_nonsense_is_an_empty_entry(self, text, caplog):
        store = MemoryExperienceStore()
        await store.swap("", "op_7", None, text)
        search = searcher(Experience(store))
        assert await names(search) == []
        await use(search, "op_7")
        assert await names(search) == ["op_7"]
        assert warnings(caplog) == []

    async def test_a_clock_that_was_ahead_leaves_nothing_that_outlives_the_rest(self):
        clock = ManualClock(1e6)
        experience = Experience(max_requests=2, half_life_seconds=100.0, clock=clock)
        search = searcher(experience)
        await use(search, "op_7", query="of the future", thread="a", turn="")
        clock.now = 1000.0
        for number in range(2):
            clock.advance(1)
            await use(search, "op_7", query=f"request {number}", thread=f"{number}", turn="")
        assert {record["query"] for record in await experience.export()} == {"request 0", "request 1"}

    async def test_a_record_of_the_future_wipes_out_nothing(self):
        """Some logs count in milliseconds."""
        experience = Experience()
        await use(searcher(experience), "op_7")
        await experience.load([{"query": "from a log", "tool": "op_7", "time": 1.8e12}])
        assert await names(searcher(experience)) == ["op_7"]

    def test_an_entry_reads_what_it_wrote(self):
        limits = Limits(half_life_seconds=10.0, max_requests=5)
        entry = Entry()
        for number in range(9):
            seen = Observation(
                lines=(f"\u5186 \"{number}'", "x"), tool="t", mark="m", thread=f"{number}", time=number
            )
            entry = entry.learned(seen, limits)
        assert Entry.from_json(entry.to_json()) == entry
        assert len(entry.threads) == 5


class TestPolicy:
    """What was learned changes an order, and admits nothing."""

    def strict(self, experience, **options):
        return searcher(experience, filter=lambda request: request.tool_name != "op_7", **options)

    @pytest.fixture
    async def taught(self):
        experience = Experience()
        free = searcher(experience)
        for number in range(10):
            await use(free, "op_7", thread=f"{number}", turn=ASKED)
        return experience

    @pytest.mark.parametrize("options", [{}, {"mode": "auto_load"}, {"mode": "call"}, {"preload": 3}])
    async def test_a_denied_tool_is_never_named(self, options, taught):
        search = self.strict(taught, **options)
        messages = [{"role": "user", "content": ASKED}]
        async with search.session(thread_id="t") as session:
            listed = await session.openai_tools(messages)
            answers = await session.execute([call("search_tools", {"query": [ASKED, "overdue", "op 7"]})])
            again = await session.openai_tools([*messages, *answers])
            instructions = session.system
        assert "op_7" not in json.dumps([listed, answers, again, instructions])

    async def test_a_call_that_was_denied_teaches_nothing(self):
        experience = Experience()
        search = self.strict(experience)
        assert "op_7" in await use(search, "op_7")
        assert await experience.export() == []

    async def test_a_tool_of_one_tenant_alone_is_not_found_by_another(self):
        async def tools_of(context):
            return [make("secret_tool", "Does its own thing."), *tools(3)][: context.get("see", 9)]

        async def others(context):
            return tools(3)

        experience = Experience()
        await use(searcher(experience, given=tools_of), "secret_tool")
        assert await names(searcher(experience, given=others)) == []

    async def test_a_tool_of_another_origin_or_name_begins_anew(self):
        store = MemoryExperienceStore()
        await use(searcher(Experience(store), given=[StaticProvider([make("op_7")], name="one")]), "op_7")
        same = searcher(Experience(store), given=[StaticProvider([make("op_7")], name="one")])
        moved = searcher(Experience(store), given=[StaticProvider([make("op_7")], name="two")])
        renamed = searcher(Experience(store), given=[StaticProvider([make("op_70")], name="one")])
        assert await names(same) == ["op_7"]
        assert await names(moved) == await names(renamed) == []
