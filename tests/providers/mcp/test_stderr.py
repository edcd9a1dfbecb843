import sys

import pytest

from tool_search_processor.errors import ProviderError
from tool_search_processor.providers import MCPProvider
from tool_search_processor.providers.mcp.stderr import first_telling, last_telling

NODE = """\
node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/no/such.js'
Require stack:
- /app/[eval]
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at evalScript (node:internal/process/execution:133:3) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/app/[eval]' ]
}

Node.js v20.20.2"""
THROWN = """\
file:///tmp/x.mjs:1
const x = process.env.API_KEY; if(!x) throw new TypeError("API_KEY is not set")
                                            ^

TypeError [ERR_X]: API_KEY is not set
    at file:///tmp/x.mjs:1:45 {
  [cause]: RangeError: inner
      at file:///tmp/z.mjs:1:45
}

Node.js v20.20.2"""
PYDANTIC = """\
Traceback (most recent call last):
  File "<string>", line 1, in <module>
    raise ValueError("a source line")
pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings
api_key
  Field required [type=missing, input_value={}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.11/v/missing"""
CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 1, in <module>
KeyError: 'API_KEY'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
app.MissingConfig: see the log"""
NAMED = """\
Traceback (most recent call last):
  File "a.py", line 3, in <module>
    start()
app.MissingConfig: API_KEY
"""
GROUP = """\
  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in <module>
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "a.py", line 2, in main
    | OSError: no disk
    +------------------------------------
"""
NPM = """\
npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/nope - Not found
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log"""
UV = """\
  \u00d7 No solution found when resolving tool dependencies:
  ╰─▶ Because nope was not found in the package registry, we can conclude that
      your requirements are unsatisfiable."""
CLICK = """\
Usage: server [OPTIONS]
Try 'server --help' for help.

Error: Missing option '--token'."""


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (NODE, "Error: Cannot find module '/no/such.js'"),
        (THROWN, "TypeError [ERR_X]: API_KEY is not set"),
        (PYDANTIC, "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings"),
        (CHAINED, "KeyError: 'API_KEY'"),
        (NAMED, "app.MissingConfig: API_KEY"),
        (GROUP, "OSError: no disk"),
        (NPM, "npm error 404 Not Found - GET https://registry.npmjs.org/nope - Not found"),
        (UV, "\u00d7 No solution found when resolving tool dependencies:"),
        (CLICK, "Error: Missing option '--token'."),
        ("Starting\nno license found\n\n", "no license found"),
        ("Node.js v20.20.2", "Node.js v20.20.2"),
        ("----\n", ""),
        ("", ""),
    ],
)
def test_a_program_that_ends_at_once_is_told_by_its_first_telling_line(written, told):
    assert first_telling(written.splitlines()) == told


def test_one_that_ends_later_is_told_by_its_last():
    assert last_telling(["Error: a request failed", "bye", *THROWN.splitlines()[3:5], "Node.js v20"]) == (
        "TypeError [ERR_X]: API_KEY is not set"
    )
    assert last_telling(["Error: a request failed", "closing"]) == "closing"


CRASH = "import os, sys; sys.stderr.write(sys.argv[1] + chr(10)); os._exit(1)"


@pytest.mark.parametrize(
    ("written", "told"), [(NODE, "Cannot find module"), (CHAINED, "KeyError: 'API_KEY'")]
)
async def test_a_crash_at_once_tells_of_the_environment_where_that_was_reduced(written, told, monkeypatch):
    monkeypatch.setenv("API_KEY", "sesame")
    async with MCPProvider.stdio(sys.executable, ["-c", CRASH, written], name="s") as provider:
        with pytest.raises(ProviderError) as failure:
            await provider.list_tools({})
    assert told in str(failure.value)
    assert "inherit_env=" in str(failure.value)
    assert "sesame" not in str(failure.value)


async def test_where_the_whole_environment_is_handed_on_that_is_no_reason(monkeypatch):
    monkeypatch.setattr("os.environ", {"PATH": "/bin", "API_KEY": "sesame"})
    arguments = ["-c", CRASH, "no license"]
    async with MCPProvider.stdio(sys.executable, arguments, name="s", inherit_env=["API_KEY"]) as provider:
        with pytest.raises(ProviderError, match="it said: 'no license': run its command by hand") as failure:
            await provider.list_tools({})
    assert "inherit_env" not in str(failure.value)
