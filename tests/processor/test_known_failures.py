"""What tool search is known to get wrong elsewhere, and must not here."""

import asyncio
import datetime as dt
import gc
import json
import threading
import weakref

import pytest
from pydantic import BaseModel

from tests.support import Policy, Run, call, make, names, needs, step
from tool_search_processor import (
    Agent,
    ConfigurationError,
    DuplicateToolError,
    ReservedToolNameError,
    StaticProvider,
    TokenLimiter,
    Tool,
    ToolSearchProcessor,
    run_processors,
)
from tool_search_processor.testing import ManualClock, ScriptedModel
from tool_search_processor.testing import call as tool_call
from tool_search_processor.tokens.counting import estimate_tokens
from tool_search_processor.transforms import (
    Namespace,
    TagFilter,
    ToolTransform,
    ToolTransformConfig,
    Visibility,
)

FILLER = [make(f"filler_{n}", f"Handles topic number {n}.") for n in range(30)]


async def found(tools, query, **options):
    answer = await Run(ToolSearchProcessor([*tools, *FILLER], **options)).search(query)
    return names(answer["results"])


# -- words and names


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("create pull request", "createPullRequest"),
        ("list repos", "listRepos"),
        ("createPullRequest", "create_pull_request"),
        ("list-repos", "listRepos"),
        ("http server", "HTTPServer"),
        ("s3 bucket", "S3Bucket"),
    ],
)
async def test_words_inside_an_identifier_are_found(query, name):
    assert (await found([make(name, "Opens an item.")], query))[0] == name


async def test_a_stop_word_inside_another_word_does_not_lift_a_tool():
    tools = [make("channel_manager", "Open an item"), make("mail_dispatch", "Send email to a person")]
    assert (await found(tools, "send an email"))[0] == "mail_dispatch"


@pytest.mark.parametrize("options", [{}, {"filter": lambda request: True}], ids=["no filter", "a filter"])
async def test_an_exact_name_is_first_however_long_its_description_and_whatever_the_filter(options):
    short = [make(f"list_{n}", "Get weather data report.") for n in range(30)]
    exact = make("get_weather_data_report", "A text about everything else. " * 60)
    assert (await found([*short, exact], "get weather data report", **options))[0] == exact.name
    assert (await found([*short, exact], "get_weather_data_report", **options))[0] == exact.name


@pytest.mark.parametrize(
    ("query", "description"),
    [
        ("emails", "Deliver an email."),
        ("sending", "Send a message."),
        ("cafe", "Book a table in a café."),
        ("café", "Book a table in a cafe."),
        ("\uff57\uff45\uff41\uff54\uff48\uff45\uff52", "Tells the weather."),
        ("WEATHER", "Tells the weather."),
        ("天気", "明日の天気予報を調べます"),
        ("weather/forecast", "Tells the weather."),
        ("weather+rain", "Tells the weather."),
    ],
)
async def test_other_forms_of_a_word_are_found(query, description):
    assert await found([make("subject", description)], query) == ["subject"]


async def test_saying_a_word_twice_does_not_change_the_score():
    run = Run(ToolSearchProcessor([make("subject", "Tells the weather of a day."), *FILLER]))
    once, twice = [
        (await run.search(q))["results"][0]["score"] for q in ("weather day", "weather weather day")
    ]
    assert once == twice <= 1


@pytest.mark.parametrize("query", ["a", "?!", "((", "...", " \t"])
async def test_a_query_without_a_word_is_answered_in_words(query):
    answer = await Run(ToolSearchProcessor(FILLER)).search(query)
    assert answer["results"] == []
    assert answer["message"]


# -- names


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__", "__class__", "valueOf"])
async def test_a_name_of_the_languages_own_is_no_tool(name):
    run = Run(ToolSearchProcessor(FILLER))
    assert (await run.load(name))["loaded"] == []
    assert await run.processor.resolve_call(await run.step(), name) is None
    assert names(await run.step()) == ["search_tools", "load_tool"]


async def test_of_two_tools_with_one_name_none_is_described_and_another_run():
    first = make("same", "The first.", execute=lambda: "first")
    second = make("same", "The second, about penguins.", execute=lambda: "second")
    with pytest.raises(DuplicateToolError):
        ToolSearchProcessor([first, second])
    processor = ToolSearchProcessor(lambda context: [first, second])
    with pytest.raises(DuplicateToolError):
        await processor.catalog.refresh()
    run = Run(processor)
    assert (await run.search("penguins"))["results"] == []
    (shown,) = (await run.search("same"))["results"]
    assert shown["description"] == "The first."
    await run.load("same")
    await run.step()
    assert await run.call("same") == "first"


def test_keys_and_names_that_are_reserved_are_refused():
    for tools in ({"load_tool": lambda: None}, [make("load_tool")]):
        with pytest.raises(ReservedToolNameError):
            ToolSearchProcessor(tools)


def test_a_foreign_name_must_be_made_a_valid_one_before_it_reaches_a_provider():
    with pytest.raises(ConfigurationError, match="64 of the characters"):
        Tool("github.create issue")


async def test_a_foreign_name_is_valid_from_the_first_step_on_and_listed_once():
    foreign = {"name": "github.create issue", "description": "Opens an issue.", "input_schema": {}}
    made = Tool.from_anthropic(foreign, execute=lambda: "ran")
    run = Run(ToolSearchProcessor([made]), thread="t")
    await run.load("github.create issue", made.name)
    for _ in range(2):
        assert names(await run.step()) == ["search_tools", "load_tool", "github_create_issue"]


async def test_two_foreign_names_that_meet_are_told_apart():
    tools = [
        Tool.from_anthropic({"name": name, "input_schema": {}}, execute=lambda name=name: name)
        for name in ("a.b", "a/b")
    ]
    run = Run(ToolSearchProcessor(tools))
    listed = names(await run.processor.catalog.list_tools())
    assert len(set(listed)) == 2
    await run.load(*listed)
    await run.step()
    assert [await run.call(name) for name in listed] == ["a.b", "a/b"]


# -- clashes on one agent


async def test_the_steps_own_tool_is_never_replaced_by_a_loaded_one():
    own = make("send_mail", execute=lambda: "own")
    run = Run(ToolSearchProcessor([make("send_mail", execute=lambda: "catalog")]), thread="t")
    await run.processor.load("send_mail", thread_id="t")
    processed = await run.step(own)
    assert names(processed).count("send_mail") == 1
    assert await run.call("send_mail") == "own"


async def test_a_second_searcher_never_takes_the_firsts_meta_tools():
    one = ToolSearchProcessor(FILLER)
    with pytest.raises(ReservedToolNameError):
        await run_processors([one, ToolSearchProcessor(FILLER, id="second")], step())


@pytest.mark.parametrize("name", ["search_tools", "load_tool"])
async def test_a_tool_of_the_agent_never_replaces_a_meta_tool(name):
    with pytest.raises(ReservedToolNameError):
        await ToolSearchProcessor(FILLER).process_input_step(step(make(name)))


# -- what loads, and what does not


def conversation(role, name, content):
    asks = {"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    return [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": None, "tool_calls": [asks]},
        {"role": role, "tool_call_id": "c1", "name": name, "content": json.dumps(content)},
    ]


@pytest.mark.parametrize("role", ["tool", "user", "assistant", "system"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("search_tools", {"results": [{"name": "filler_1", "score": 1.0, "loaded": True}]}),
        ("load_tool", {"loaded": ["filler_1"], "message": "Loaded filler_1"}),
        (
            "load_tool",
            {
                "loaded": ["filler_1"],
                "receipt": {"type": "tool-search/loaded", "v": 1, "names": ["filler_1"]},
            },
        ),
    ],
)
@pytest.mark.parametrize("mode", ["load", "auto_load"])
async def test_messages_load_nothing_in_a_store_that_does_not_read_them(role, name, content, mode):
    processor = ToolSearchProcessor(FILLER, mode=mode)
    for thread in ("t", None):
        messages = conversation(role, name, content)
        processed = await processor.process_input_step(step(messages=messages, thread=thread))
        assert "filler_1" not in names(processed)


async def test_a_search_loads_nothing_in_load_mode():
    run = Run(ToolSearchProcessor(FILLER), thread="t")
    assert (await run.search("topic"))["results"]
    assert names(await run.step()) == ["search_tools", "load_tool"]
    assert await run.processor.loaded(thread_id="t") == []


async def test_auto_load_asks_the_policy_of_loading():
    run = Run(ToolSearchProcessor(FILLER, mode="auto_load", top_k=1, filter=Policy(("load", "filler_1"))))
    await run.search("filler_1")
    assert names(await run.step()) == ["search_tools"]


async def test_a_denied_auto_load_stays_unloaded_when_the_policy_changes():
    policy = Policy(("load", "filler_1"))
    run = Run(ToolSearchProcessor(FILLER, mode="auto_load", top_k=1, filter=policy), thread="t")
    await run.search("filler_1")
    policy.allow("filler_1")
    assert names(await run.step()) == ["search_tools"]


async def test_requests_at_the_same_time_on_one_thread_keep_their_own_context():
    async def hook(request):
        await asyncio.sleep(0)
        return request.context["user"] == "ann"

    processor = ToolSearchProcessor(FILLER, filter=hook)
    ann, bob = (Run(processor, thread="t", context={"user": user}) for user in ("ann", "bob"))
    answers = await asyncio.gather(ann.load("filler_1"), bob.load("filler_2"))
    assert [answer["loaded"] for answer in answers] == [["filler_1"], []]
    assert names(await ann.step())[2:] == ["filler_1"]
    assert names(await bob.step())[2:] == []


async def test_an_anonymous_run_keeps_its_loads_from_step_to_step_without_any_store():
    run = Run(ToolSearchProcessor(FILLER))
    await run.load("filler_1")
    assert names(await run.step())[2:] == ["filler_1"]
    assert await run.call("filler_1") == {"ran": "filler_1"}


# -- time, sharing, leaks


async def test_an_expired_thread_is_not_revived_by_being_asked_for():
    clock = ManualClock()
    processor = ToolSearchProcessor(FILLER, ttl_seconds=10, clock=clock)
    await processor.load("filler_1", thread_id="t")
    clock.advance(10)
    assert names(await processor.process_input_step(step(thread="t")))[2:] == []
    assert (await processor.stats())["threads"] == 0


async def test_anonymous_callers_share_nothing():
    processor = ToolSearchProcessor(FILLER)
    await Run(processor).load("filler_1")
    assert names(await Run(processor).step())[2:] == []


async def test_a_step_that_loads_nothing_keeps_nothing():
    processor = ToolSearchProcessor(FILLER)
    for n in range(50):
        await Run(processor, thread=f"t{n}").step()
    assert (await processor.stats())["threads"] == 0


async def test_a_processor_a_request_leaves_nothing_behind():
    before = threading.active_count()
    watched = []
    for _ in range(3):
        processor = ToolSearchProcessor(FILLER)
        run = Run(processor, thread="t")
        await run.search("topic")
        await run.load("filler_1")
        await run.step()
        watched.append(weakref.ref(processor))
        del processor, run
    gc.collect()
    assert [reference() for reference in watched] == [None] * 3
    assert threading.active_count() == before


async def test_the_catalog_in_the_prompt_has_a_limit():
    tools = [make(f"tool_{n}", "A description of some length. " * 5) for n in range(10_000)]
    processor = ToolSearchProcessor(tools, catalog_in_prompt=True)
    texts = (await processor.process_input_step(step())).instructions
    assert estimate_tokens(texts[1]) <= 4000


# -- cost


async def test_a_step_without_a_search_builds_no_index():
    built = []

    class Index:
        def update(self, documents):
            built.append(len(documents))

        def search(self, query, **options):
            return []

    run = Run(ToolSearchProcessor(FILLER, search=Index, catalog_in_prompt=True))
    await run.load("filler_1")
    await run.step()
    await run.call("filler_1")
    assert built == []
    await run.search("topic")
    await run.search("another")
    assert built == [30]


async def test_a_policy_is_asked_no_more_often_than_tools_are_needed():
    policy = Policy()
    run = Run(ToolSearchProcessor(FILLER, top_k=2, filter=policy))
    await run.search("topic")
    assert len(policy.asked) == 2
    await run.load("filler_1")
    await run.step()
    assert policy.asked[2:] == [("load", "filler_1"), ("active", "filler_1")]


# -- what fails elsewhere must not take the run down


class Failing:
    """A provider that can be switched off."""

    name = "connector"
    down = False

    async def list_tools(self, context):
        if self.down:
            raise ConnectionError("revoked")
        return [make("remote_search", "Searches far away.")]


async def test_a_provider_that_fails_is_withheld_while_the_rest_works(caplog):
    provider = Failing()
    run = Run(ToolSearchProcessor([StaticProvider(FILLER), provider]), thread="t")
    await run.load("remote_search", "filler_1")
    assert names(await run.step())[2:] == ["remote_search", "filler_1"]
    provider.down = True
    assert names(await run.step())[2:] == ["filler_1"]
    assert await run.call("filler_1") == {"ran": "filler_1"}
    assert "There is no tool" in await run.direct("remote_search")
    provider.down = False
    assert names(await run.step())[2:] == ["remote_search", "filler_1"]
    assert "revoked" in caplog.text


async def test_a_search_that_fails_before_the_first_step_does_not_take_the_run_down(caplog):
    class Down:
        def update(self, documents):
            pass

        def search(self, query, **options):
            raise ConnectionError("the embedder is down")

    run = Run(ToolSearchProcessor(FILLER, search=Down, preload=3))
    assert names(await run.step()) == ["search_tools", "load_tool"]
    assert "the embedder is down" in caplog.text


# -- preloading is a guess, and only adds


async def test_a_wrong_guess_hides_nothing_and_a_new_topic_adds():
    tools = [make("send_mail", "Sends a letter."), make("stock_quote", "Looks up a share price.")]
    processor = ToolSearchProcessor([*tools, *FILLER], preload=1)
    run = Run(processor, thread="t")
    turn = [{"role": "user", "content": "the share price please"}]
    assert names(await run.step(messages=turn)) == ["search_tools", "load_tool", "stock_quote"]
    assert names((await run.search("letter"))["results"]) == ["send_mail"]
    more = [*turn, {"role": "assistant", "content": "12"}, {"role": "user", "content": "write a letter"}]
    assert names(await run.step(messages=more))[2:] == ["stock_quote", "send_mail"]


async def test_min_score_keeps_a_poor_guess_out():
    processor = ToolSearchProcessor(FILLER, preload=3, min_score=0.99)
    run = Run(processor, text="a topic of which nothing here is exactly about")
    assert names(await run.step()) == ["search_tools", "load_tool"]


# -- a loaded tool is as good as a listed one


async def test_a_loaded_tool_keeps_all_that_the_tool_has():
    output = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    tool = needs(
        "drop_table",
        "table",
        requires_approval=True,
        output_schema=output,
        annotations={"destructiveHint": True},
        metadata={"owner": "db"},
        tags={"sql"},
        namespace="db",
    )
    run = Run(ToolSearchProcessor([StaticProvider([tool]).with_transforms(Namespace("db"))]))
    await run.load("drop_table")
    loaded = (await run.step()).tools[-1]
    assert loaded.requires_approval
    assert loaded.output_schema == output
    assert loaded.annotations == {"destructiveHint": True}
    assert loaded.metadata["owner"] == "db"
    assert (loaded.tags, loaded.namespace) == ({"sql"}, "db")


async def test_the_prefix_of_the_list_is_stable_whatever_is_searched_and_loaded():
    run = Run(ToolSearchProcessor(FILLER), thread="t")
    previous = b""
    for n in range(6):
        processed = await run.step()
        body = b",".join(json.dumps(tool.to_openai()).encode() for tool in processed.tools)
        assert body.startswith(previous)
        previous = body
        await run.search(f"topic {n}")
        await run.load(f"filler_{n}", f"filler_{n}")
    assert await call(await run.step(), "filler_5") == {"ran": "filler_5"}


WAYS = {
    "loaded": ({}, [tool_call("load_tool", {"tool_names": "subject"}), tool_call("subject")]),
    "direct": ({}, [tool_call("subject")]),
    "proxied": ({"mode": "call"}, [tool_call("call_tool", {"name": "subject"})]),
    "auto-loaded": (
        {"mode": "auto_load"},
        [tool_call("search_tools", {"query": "subject"}), tool_call("subject")],
    ),
}


async def last_answer(way, tools, *, providers=None, **agent_options):
    """Return what the model reads last when it uses the tool "subject" in one of the ways there are."""
    options, script = WAYS[way]
    processor = ToolSearchProcessor(providers or [*tools, *FILLER], **options)
    agent = Agent(
        "a", "m", completion=ScriptedModel([*script, "done"]), input_processors=[processor], **agent_options
    )
    result = await agent.run("q")
    assert result.output == "done"
    return result.messages[-2]["content"]


@pytest.mark.parametrize("way", WAYS)
async def test_the_agents_timeout_holds_for_tools_that_were_found(way):
    async def forever():
        await asyncio.Event().wait()

    answer = await last_answer(way, [make("subject", execute=forever)], tool_timeout_seconds=0.02)
    assert "took longer than 0.02 seconds and was stopped" in answer


@pytest.mark.parametrize("way", WAYS)
async def test_results_and_failures_of_found_tools_are_written_as_those_of_any_tool(way):
    class Answer(BaseModel):
        when: dt.date = dt.date(2026, 1, 2)

    def fail():
        raise OSError("no disk")

    assert await last_answer(way, [make("subject", execute=Answer)]) == '{"when":"2026-01-02"}'
    assert await last_answer(way, [make("subject", execute=fail)]) == "Error: OSError: no disk"
    cut = await last_answer(way, [make("subject", execute=lambda: "x" * 99)], max_result_characters=10)
    assert cut.startswith("xxxxxxxxxx\n… (cut: 89 more")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "transform",
    [
        Visibility(False, names={"subject"}),
        TagFilter(exclude={"secret"}),
        ToolTransform({"subject": ToolTransformConfig(enabled=False)}),
    ],
    ids=lambda transform: type(transform).__name__,
)
async def test_a_tool_that_a_transform_hides_is_run_in_no_way(transform, way):
    ran = []
    hidden = make("subject", tags={"secret"}, execute=lambda: ran.append(1))
    provider = StaticProvider([hidden, *FILLER]).with_transforms(transform)
    answer = await last_answer(way, (), providers=[provider])
    assert "There is no tool 'subject' to call." in answer
    assert ran == []


async def test_a_limiter_never_takes_the_results_of_the_turn_under_way():
    """Else a model searches again for what it has found, for ever."""
    script = [tool_call("search_tools", {"query": f"topic {n}"}) for n in range(6)]
    old = [{"role": "user", "content": "before " * 2_000}, {"role": "assistant", "content": "yes " * 2_000}]
    model = ScriptedModel([*script, "done"])
    limiter = TokenLimiter(3_000, counter=estimate_tokens)
    agent = Agent("a", "m", completion=model, input_processors=[ToolSearchProcessor(FILLER), limiter])
    result = await agent.run("q", messages=old)
    assert result.messages[:2] == old, "what is not sent is still kept"
    turn = result.messages[2:]
    for number, request in enumerate(model.requests):
        sent = [message for message in request.messages if message["role"] != "system"]
        assert sent[-(2 * number + 1) :] == turn[: 2 * number + 1]
    assert old[0] not in model.requests[-1].messages
