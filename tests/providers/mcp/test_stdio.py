"""A server in a process of its own: what it lists, what its calls come to, and what becomes of it."""

import asyncio
import json
import logging
import os
import signal
import sys

import pytest

from tests.providers.mcp.asking import SMALL, call, changed, ended, process_of, tools_of, until
from tool_search_processor import Catalog, ToolContext
from tool_search_processor.errors import ConfigurationError, ProviderError, ToolCallError
from tool_search_processor.providers import MCPProvider
from tool_search_processor.providers.mcp import is_destructive
from tool_search_processor.session.tool_results import encode_result, error_text


def texts(error):
    return error_text(error.value)


async def test_tools_keep_what_the_server_says_of_them(provide):
    tools = await tools_of(provide(name="my server"))
    count, process = tools["count"], tools["process_id"]
    assert (count.tool_type, count.namespace) == ("external_mcp", "my server")
    assert count.annotations == {"readOnlyHint": True, "idempotentHint": True}
    assert count.tags == {"text"}
    assert list(count.output_schema["properties"]) == ["letters"]
    assert process.metadata == {"original_name": "process.id", "title": "Process"}
    assert [tool.name for tool in tools.values() if not is_destructive(tool)] == ["count"]


async def test_pages_are_read_whatever_their_size(provide):
    assert list(await tools_of(provide("--page", "4"))) == list(await tools_of(provide()))


async def test_a_list_that_never_ends_is_cut(provide, caplog):
    assert len(await tools_of(provide("--endless", max_tools=5))) == 5
    assert list(await tools_of(provide("--endless", "--circle"))) == ["tool_0", "tool_1"]
    assert [message.partition("was cut: ")[2] for message in caplog.messages if "cut" in message] == [
        "it has more than 5",
        "it says the same cursor again",
    ]


async def test_results_are_what_a_model_can_read(provide):
    provider = provide()
    assert await call(provider, "echo", text="hello") == "hello"
    counted = await call(provider, "count", text="hello")
    assert encode_result(counted) == '{"letters": 5}\n5 letters'
    assert counted.structured_content == {"letters": 5}
    shown = await call(provider, "show")
    assert shown.splitlines() == [
        "A picture:",
        "[image: image/png, 8 bytes, not shown]",
        "[audio: audio/wav, 8 bytes, not shown]",
        "[resource file:///a.txt]",
        "Inside.",
        "[resource file:///a.bin: x/y, 8 bytes, not shown]",
        "[resource file:///b.txt (b): Another.]",
    ]
    assert [block["type"] for block in shown.content][:2] == ["text", "image"]


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("fail", {"text": "It is\nclosed."}, "Error: It is\nclosed."),
        ("refuse", {}, "Error: the server 'small' refused refuse: no, and\nthat is final"),
        (
            "garble",
            {},
            "Error: garble was run, but the server 'small' answered in a form that the protocol doesn't "
            "know.",
        ),
    ],
)
async def test_failures_are_told_in_words(name, arguments, text, provide):
    with pytest.raises(ToolCallError) as failure:
        await call(provide(), name, **arguments)
    assert texts(failure) == text


async def test_a_long_result_is_cut(provide):
    assert await call(provide(max_result_characters=3), "echo", text="hello") == (
        "hel\n[cut: 3 of 5 characters]"
    )


async def test_the_environment_is_not_handed_on_unless_it_is_listed(provide, monkeypatch):
    monkeypatch.setenv("SECRET", "s")
    monkeypatch.setenv("WANTED", "w")
    provider = provide(env={"GIVEN": "g"}, inherit_env=["WANTED", "NOT_SET"])
    environment = json.loads(await call(provider, "environment"))
    assert (environment["WANTED"], environment["GIVEN"]) == ("w", "g")
    assert "PATH" in environment
    assert not {"SECRET", "NOT_SET"} & set(environment)


async def test_a_changed_list_moves_the_mark_and_the_catalog_follows(provide):
    provider = provide()
    catalog = Catalog([provider])
    before = await catalog.list_tools()
    mark = provider.version()
    await (await catalog.get_tool("grow")).call({"name": "new.tool"})
    await changed(provider, mark)
    after = await catalog.list_tools()
    assert [tool.name for tool in after] == [*(tool.name for tool in before), "new_tool"]
    assert all(new is old for new, old in zip(after, before, strict=False))


async def test_progress_is_told_in_the_caller_s_loop(provide):
    reports = []
    running = asyncio.get_running_loop()

    def note(report):
        assert asyncio.get_running_loop() is running
        reports.append((report.tool_name, report.progress, report.total, report.message))
        reports.append(report.context.tool_call_id)
        raise ValueError("a mistake of the hook costs nothing")

    tools = await tools_of(provide(on_progress=note))
    await tools["steps"].call({}, ToolContext(tool_call_id="c1"))
    assert reports == [part for step in (1, 2, 3) for part in (("steps", step, 3, f"step {step}"), "c1")]


async def test_a_call_that_takes_too_long_is_cancelled_at_the_server(provide, caplog):
    provider = provide(call_timeout_seconds=0.2)
    with pytest.raises(ToolCallError) as failure:
        await call(provider, "hang")
    assert texts(failure) == (
        "Error: hang took longer than 0.2 seconds on the server 'small' and was cancelled; it may have been "
        "carried out in part."
    )
    assert await call(provider, "cancelled") == '["hang"]'


@pytest.mark.slow
async def test_progress_extends_the_time_where_that_is_asked(provide):
    provider = provide(progress_extends_timeout=True, call_timeout_seconds=1.0)
    assert await call(provider, "slow_steps") == "done"


async def test_cancelling_a_call_cancels_it_at_the_server(provide):
    begun = asyncio.Event()
    provider = provide(on_progress=lambda report: begun.set())
    task = asyncio.create_task(call(provider, "hang"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await call(provider, "cancelled") == '["hang"]'


async def test_a_server_that_is_killed_during_a_call_is_told_and_started_anew(provide, caplog):
    begun = asyncio.Event()
    provider = provide(on_progress=lambda report: begun.set())
    process = await process_of(provider)
    mark = provider.version()
    task = asyncio.create_task(call(provider, "hang"))
    await begun.wait()
    os.kill(process, signal.SIGKILL)
    with pytest.raises(ToolCallError) as failure:
        await task
    assert texts(failure) == (
        "Error: the connection to the server 'small' ended during the call of hang, which may have been "
        "carried out or not: look before you repeat it. The next call connects again."
    )
    await changed(provider, mark)
    assert ended(process)
    assert "the connection to the MCP server 'small' ended: it hung up" in caplog.text
    tool = (await tools_of(provider))["process_id"]
    assert int(await tool.call({})) != process


async def test_a_server_that_dies_while_nobody_asks_is_noticed(provide):
    provider = provide()
    tools = await tools_of(provider)
    first = int(await tools["process_id"].call({}))
    mark = provider.version()
    os.kill(first, signal.SIGKILL)
    await changed(provider, mark)
    assert int(await tools["process_id"].call({})) != first


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["/no/such/program"], "could not be started: .*No such file.*: run its command by hand to see why"),
        (["uvx mcp-server-git"], r"could not be started: .*: give its arguments apart .*, args=\[…\]"),
        (
            [sys.executable, ["-c", "raise SystemExit('no license found')"]],
            "ended before it answered; it said: 'no license found': run its command by hand",
        ),
        (
            [sys.executable, ["-c", "raise ExceptionGroup('many', [ValueError('no license found')])"]],
            "ended before it answered; it said: 'ValueError: no license found': run",
        ),
    ],
)
async def test_a_server_that_does_not_start_is_left_alone_for_a_while(arguments, text):
    async with MCPProvider.stdio(*arguments, name="dead") as provider:
        with pytest.raises(ProviderError, match=f"the MCP server 'dead' {text}"):
            await provider.list_tools({})
        with pytest.raises(ProviderError, match=r"the next try is possible in 0\.\d s"):
            await provider.list_tools({})


async def test_a_dead_server_never_takes_the_others_down(provide):
    dead = provide("--last-words", "no disk", name="dead")
    catalog = Catalog([dead, provide()])
    await catalog.refresh()
    assert len(await catalog.list_tools()) == 16
    status = {each.name: each for each in catalog.status().providers}
    assert (status["dead"].up, status["small"].up) == (False, True)
    assert "the MCP server 'dead' ended before it answered; it said: 'no disk'" in status["dead"].error


async def test_the_mark_moves_when_a_server_answers_that_did_not(tmp_path):
    program = tmp_path / "server.py"
    program.write_text("raise SystemExit('not yet')")
    provider = MCPProvider.stdio(sys.executable, [str(program)], name="late")
    with pytest.raises(ProviderError):
        await provider.list_tools({})
    mark = provider.version()
    program.write_text("import runpy, sys\nrunpy.run_path(sys.argv[1], run_name='__main__')")
    provider.transport.args.append(SMALL)
    provider._connector._backoff.succeed()
    await provider.list_tools({})
    assert provider.version() != mark
    await provider.aclose()


async def test_an_old_server_that_ends_at_an_unknown_method_is_asked_otherwise(provide):
    provider = provide("--strict")
    with pytest.raises(ProviderError, match="ended before it answered; it said: 'unknown method'"):
        await provider.list_tools({})
    provider._connector._backoff.succeed()
    assert await call(provider, "echo", text="hello") == "hello"


async def test_servers_that_do_not_answer(provide):
    mute = provide("--mute", connect_timeout_seconds=0.5)
    with pytest.raises(ProviderError, match=r"'small' did not answer within 0.5 s"):
        await mute.list_tools({})
    silent = provide("--mute-tools", list_timeout_seconds=0.2)
    with pytest.raises(ProviderError, match=r"'small' gave no list within 0.2 s"):
        await silent.list_tools({})


async def test_a_call_to_a_server_that_is_away_did_not_run(provide):
    provider = provide()
    tools = await tools_of(provider)
    await provider.aclose()
    with pytest.raises(ToolCallError) as failure:
        await tools["echo"].call({"text": "a"})
    assert texts(failure) == (
        "Error: the server 'small' cannot be reached; echo was not run. Try again later."
    )
    with pytest.raises(ProviderError, match="the MCP provider 'small' was closed: make another"):
        await provider.list_tools({})


async def test_closing_during_a_call_and_during_a_connect(provide):
    begun = asyncio.Event()
    provider = provide(on_progress=lambda report: begun.set())
    process = await process_of(provider)
    task = asyncio.create_task(call(provider, "hang"))
    await begun.wait()
    await provider.aclose()
    assert ended(process)
    with pytest.raises(ToolCallError, match="ended during the call of hang"):
        await task

    mute = provide("--mute")
    task = asyncio.create_task(mute.list_tools({}))
    await until(lambda: mute._connector._connection is not None)
    await mute.aclose()
    with pytest.raises(ProviderError, match="was closed"):
        await task


async def test_what_a_server_asks_is_refused_unless_there_is_a_hook(provide):
    provider = provide()
    assert await call(provider, "ask", name="sampling/createMessage") == "Sampling not supported"
    assert await call(provider, "ask", name="roots/list") == "List roots not supported"
    assert await call(provider, "ask", name="ping") == "{}"

    from mcp.types import ListRootsResult, Root

    async def roots(context):
        return ListRootsResult(roots=[Root(uri="file:///work")])

    assert '"file:///work"' in await call(provide(list_roots=roots), "ask", name="roots/list")


async def test_a_hook_answers_what_a_server_asks(provide):
    from mcp.types import CreateMessageResult, TextContent

    async def sample(context, params):
        (message,) = params.messages
        content = TextContent(type="text", text=f"{message.content.text} yourself")
        return CreateMessageResult(role="assistant", content=content, model="m")

    answer = await call(provide(sampling=sample), "ask", name="sampling/createMessage")
    assert json.loads(answer)["content"]["text"] == "hi yourself"


@pytest.mark.parametrize(
    ("option", "method"), [("sampling", "sampling/createMessage"), ("list_roots", "roots/list")]
)
async def test_a_hook_that_hangs_is_ended_and_the_server_is_told(provide, caplog, option, method):
    ended = []

    async def hang(*asked):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(asked)

    provider = provide(**{option: hang}, call_timeout_seconds=0.2)
    with pytest.raises(ToolCallError, match="ask took longer than"):
        await call(provider, "ask", name=method)
    await until(lambda: ended)
    await until(lambda: f"{option} took longer than 0.2 s to answer the MCP server 'small'" in caplog.text)
    assert await call(provider, "echo", text="hello") == "hello"


async def test_a_hook_s_own_timeout_is_the_hook_s_own_failure(provide, caplog):
    async def sample(context, params):
        raise TimeoutError("the model is slow")

    answer = await call(provide(sampling=sample), "ask", name="sampling/createMessage")
    assert answer == "the model is slow"


async def test_lines_that_are_no_messages_cost_nothing(provide, caplog):
    caplog.set_level(logging.DEBUG, "tool_search_processor.providers.mcp")
    assert await call(provide("--chatty"), "echo", text="hello") == "hello"
    assert any("what it sent can't be read" in message for message in caplog.messages)


async def test_a_server_s_log_cannot_forge_lines(provide, caplog):
    caplog.set_level(logging.DEBUG, "tool_search_processor.providers.mcp")
    provider = provide()
    await call(provider, "echo", text="a")
    await call(provider, "echo", text="b")
    assert (
        "tool_search_processor.providers.mcp.notices",
        logging.WARNING,
        r"small: 'ready\nforged line'",
    ) in (caplog.record_tuples)
    await provider.aclose()
    assert any(message.endswith(": 'on standard error'") for message in caplog.messages)


async def test_resources_and_prompts_as_tools(provide):
    provider = provide(resources_as_tools=True, prompts_as_tools=True)
    tools = await tools_of(provider)
    assert all(tool is tools[name] for name, tool in (await tools_of(provider)).items())
    assert list(tools)[-4:] == ["list_resources", "read_resource", "list_prompts", "get_prompt"]
    assert tools["read_resource"].annotations == {"readOnlyHint": True}
    assert await tools["list_resources"].call({}) == {
        "resources": [{"uri": "note://one", "name": "one"}],
        "templates": [{"uri_template": "note://{id}", "name": "note"}],
    }
    assert await tools["read_resource"].call({"uri": "note://7"}) == (
        "[resource note://7]\nThe text of note://7."
    )
    (prompt,) = (await tools["list_prompts"].call({}))["prompts"]
    assert prompt["arguments"] == [{"name": "who", "description": "", "required": True}]
    assert (
        await tools["get_prompt"].call({"name": "greet", "arguments": {"who": "Bob"}}) == "user: Greet Bob."
    )


async def test_resources_and_prompts_for_a_gateway(provide):
    provider = provide()
    (resource,) = await provider.list_resources({})
    (template,) = await provider.list_resource_templates({})
    (prompt,) = await provider.list_prompts({})
    assert await resource.read() == [{"uri": "note://one", "text": "The text of note://one."}]
    assert await template.read("note://2") == [{"uri": "note://2", "text": "The text of note://2."}]
    assert await prompt.render({"who": "Bob"}) == [
        {"role": "user", "content": {"type": "text", "text": "Greet Bob."}}
    ]


@pytest.mark.parametrize(
    ("rule", "names"),
    [(is_destructive, {"wipe", "echo"}), (True, {"wipe", "echo", "count"}), (False, set())],
)
async def test_destructive_tools_can_need_approval(rule, names, provide):
    tools = await tools_of(provide(requires_approval=rule))
    assert {name for name in ("wipe", "echo", "count") if tools[name].requires_approval} == names


async def test_an_extra_tool_takes_no_name_that_the_server_s_own_tool_has(provide):
    provider = provide(resources_as_tools=True)
    await call(provider, "grow", name="list_resources")
    tools = await tools_of(provider)
    assert "list_resources" in tools
    assert "server_list_resources" in tools


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": " "}, "name must be a string that is not blank, found ' '"),
        ({"connect_timeout_seconds": 0}, "connect_timeout_seconds must be a number above 0, found 0"),
        ({"call_timeout_seconds": True}, "call_timeout_seconds must be a number above 0 or None, found True"),
        (
            {"max_result_characters": "9"},
            "max_result_characters must be a whole number of at least 1 or None, found '9'",
        ),
        ({"on_progress": 1}, r"on_progress must be a function \(progress\) or None, found 1"),
        (
            {"requires_approval": lambda: True},
            "requires_approval must be True, False or a function .*, found",
        ),
        ({"requires_approval": "yes"}, "requires_approval must be True, False or a function .*, found 'yes'"),
    ],
)
def test_options_that_cannot_work(options, message):
    with pytest.raises(ConfigurationError, match=message):
        MCPProvider.stdio("server", **options)
