import json
import sys

import pytest

from tests.providers.mcp.asking import SMALL
from tool_search_processor import Catalog
from tool_search_processor.errors import ConfigurationError, ProviderError
from tool_search_processor.providers import MCPProvider
from tool_search_processor.providers.mcp.transports import HttpTransport, StdioTransport


def servers(**entries):
    return {"mcpServers": entries}


def test_entries_become_providers_with_their_transports(monkeypatch):
    monkeypatch.setenv("TOKEN", "sesame")
    monkeypatch.delenv("FOLDER", raising=False)
    local, remote = MCPProvider.from_config(
        servers(
            local={
                "command": "${env:TOKEN}",
                "args": ["--folder", "${FOLDER:-/tmp}"],
                "env": {"KEY": "a${TOKEN}b"},
                "cwd": "/",
                "autoApprove": ["what other clients know"],
                "enabled": True,
            },
            off={"command": "x", "disabled": True},
            off_too={"command": "${input:x}", "enabled": False},
            off_both={"command": "x", "enabled": True, "disabled": True},
            remote={
                "type": "streamable-http",
                "url": "https://example.com/mcp",
                "headers": {"X-Key": "${TOKEN}"},
            },
        ),
        namespaced=False,
        inherit_env=["LANG"],
        call_timeout_seconds=None,
    )
    assert (local.name, remote.name) == ("local", "remote")
    assert local.transport == StdioTransport(
        command="sesame",
        args=["--folder", "/tmp"],
        env={"KEY": "asesameb"},
        cwd="/",
        inherit_env=["LANG"],
    )
    assert remote.transport == HttpTransport(url="https://example.com/mcp", headers={"X-Key": "sesame"})
    assert "sesame" not in repr(remote.transport)


async def test_a_file_gives_namespaced_tools(tmp_path):
    path = tmp_path / "mcp.json"
    content = json.dumps(servers(**{"my.server": {"command": sys.executable, "args": [SMALL]}}))
    path.write_text(content, "utf-8-sig")  # with a byte order mark, as some editors write it
    catalog = Catalog(MCPProvider.from_config(path))
    tools = await catalog.list_tools()
    assert tools[1].name == "my_server_process_id"
    assert tools[1].namespace == "my.server"
    assert tools[1].metadata["original_name"] == "process.id"
    await catalog.aclose()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (3, "config is a path or a mapping, found 3"),
        ({}, "the MCP configuration: expected .*, found an empty object"),
        ({"servers": {}}, "the MCP configuration: expected .*, found the keys 'servers'"),
        (servers(a=1), "server 'a' is an object, found a int$"),
        (servers(a={}), "server 'a' has either the key 'command' or the key 'url', found neither"),
        (servers(a={"comand": "x", "args": []}), "found neither: the keys 'comand', 'args'"),
        (servers(a={"command": "x", "url": "http://x"}), "found both"),
        (servers(a={"command": "x", "disabled": "no"}), "'a': key 'disabled' is true or false, found 'no'"),
        (servers(a={"command": "x", "enabled": None}), "'a': key 'enabled' is true or false, found None"),
        (
            servers(a={"command": "x", "env": {"TOKEN": "${input:token}"}}),
            r"'a': key 'env', 'TOKEN': \$\{input:token\} is filled in by other clients, not here",
        ),
        (
            servers(a={"url": "https://${input:host:-x}/mcp"}),
            r"'a': key 'url': \$\{input:host:-x\} is filled in",
        ),
        (
            servers(a={"command": "x", "args": ["${PATH}", "${workspaceFolder:main}/a"]}),
            r"'a': key 'args': \$\{workspaceFolder:main\} is filled in",
        ),
        (servers(a={"url": "http://x", "type": "sse"}), "'a': key 'type' is .*, found 'sse'"),
        (servers(a={"command": "x", "type": "http"}), "'a': key 'type' is .*, found 'http'"),
        (servers(a={"command": ["x"]}), "'a': command is a string that isn't blank, found a list$"),
        (servers(a={"command": " "}), "'a': command is a string that isn't blank, found ' '"),
        (servers(a={"command": "x", "args": "y"}), "'a': args is a list of strings, found a str$"),
        (servers(a={"command": "x", "args": ["y", 1]}), r"'a': args\[1\] is a string, found a int$"),
        (servers(a={"url": "user:secret@x"}), "'a': url begins with http:// or https://, found neither$"),
        (servers(a={"command": "x", "env": {"K": 1}}), r"'a': env\['K'\] is a string, found a int"),
        (servers(a={"command": "x", "env": []}), "'a': env is a mapping of strings, found a list"),
        (servers(a={"command": "x", "cwd": 1}), "'a': cwd is a path or None, found a int$"),
        (servers(a={"url": "ftp://user:secret@x"}), "'a': url begins with http:// or https://, found 'ftp'"),
        (
            servers(a={"command": "x", "env": {"K": "${NO_SUCH_VARIABLE}"}}),
            "'a': key 'env', 'K': the environment variable NO_SUCH_VARIABLE isn't set",
        ),
        (
            servers(**{"a.b": {"command": "x"}, "a_b": {"command": "y"}}),
            "'a_b' and 'a.b' would both have the prefix 'a_b'",
        ),
    ],
)
def test_what_cannot_work_names_the_server_and_the_key(config, message):
    with pytest.raises(ConfigurationError, match=message):
        MCPProvider.from_config(config)


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "${SECRET}"},
        {"url": "ws://${SECRET}"},
        {"url": "https://me:${SECRET}/1@127.0.0.1/mcp"},  # the port would be the password's first half
        {"url": "https://127.0.0.1:99999/mcp?key=${SECRET}"},
        {"url": "https://127.0.0.1/mcp", "headers": {"X-Key": "a\n${SECRET}"}},
        {"url": "https://127.0.0.1/mcp", "headers": ["${SECRET}"]},
        {"command": "x", "cwd": ["${SECRET}"]},
    ],
)
def test_a_value_that_cannot_work_is_not_shown(monkeypatch, entry):
    monkeypatch.setenv("SECRET", "sesame")
    with pytest.raises(ConfigurationError, match="the MCP configuration: server 'a': ") as told:
        MCPProvider.from_config(servers(a=entry))
    assert "sesame" not in str(told.value)


async def test_a_command_with_its_arguments_in_one_text_is_told_without_them(monkeypatch):
    monkeypatch.setenv("SECRET", "sesame")
    (provider,) = MCPProvider.from_config(servers(a={"command": "no-such-program --key ${SECRET}"}))
    with pytest.raises(ProviderError, match=r"started: No such file .*: 'no-such-program': give its") as told:
        await provider.list_tools({})
    assert "sesame" not in str(told.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigurationError, match=r"^can't read .*missing\.json: No such file"):
        MCPProvider.from_config(tmp_path / "missing.json")
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(ConfigurationError, match=r"list\.json: expected .*, found a list"):
        MCPProvider.from_config(tmp_path / "list.json")
    with pytest.raises(ConfigurationError, match=r"bad\.json is not JSON: .*line 1, column 2"):
        MCPProvider.from_config(str(tmp_path / "bad.json"))
