"""The lines for clients' configurations, in the example and in the command's help, are what clients read."""

import json
import re
from pathlib import Path

import pytest

from tests.server.gateway.support import PETS
from tool_search_processor.cli.program import main
from tool_search_processor.cli.serve_options import EXAMPLES
from tool_search_processor.server.upstreams import read_upstreams

ROOT = Path(__file__).parents[3]
EXAMPLE, RECIPES, README = ROOT / "examples/gateway.py", ROOT / "examples/README.md", ROOT / "README.md"


def objects_of(text):
    """Return the JSON objects that begin lines of a text."""
    decoder = json.JSONDecoder()
    found, position = [], 0
    while match := re.compile(r"^ +\{", re.MULTILINE).search(text, position):
        value, position = decoder.raw_decode(text, match.end() - 1)
        found.append(value)
    return found


def test_every_client_is_told_how_to_start_and_how_to_reach_the_gateway(capsys):
    given = objects_of(EXAMPLE.read_text("utf-8").split('"""')[1])
    entries = [next(iter((each.get("mcpServers") or each["servers"]).values())) for each in given]
    started = [entry["args"] for entry in entries if entry.get("command") == "tool-search"]
    assert [args[:2] for args in started] == [["serve", "--config"]] * 2
    reached = [entry.get("url", entry.get("args", ["no"])[-1]) for entry in entries]
    assert reached.count("http://127.0.0.1:8000/mcp") == 3


def test_the_readme_the_example_and_the_help_say_the_same(capsys):
    section = README.read_text("utf-8").split("## Serve a catalog")[1].split("\n## ")[0]
    entry = json.loads(section.split("```json")[1].split("```")[0])
    assert objects_of(EXAMPLE.read_text("utf-8").split('"""')[1])[0] == entry
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    said = re.sub(r"-\n\s+", "-", capsys.readouterr().out)  # lines of the help end at a hyphen, too
    options = set(re.findall(r"--[a-z-]+", section.split("`create_app(")[0]))
    named = {"search_tools", "call_tool", "X-MCP-Tool-Mode", "?tool_mode=", "TOOL_SEARCH_TOKEN", "/health"}
    assert options >= {"--config", "--http"}
    recipe = RECIPES.read_text("utf-8").split("## Serve Python functions")[1]
    for word in options | named | {"/mcp", "/metrics", "mcpServers", "openapi"}:
        assert word in section + recipe
        assert word in said


def test_the_file_in_the_help_is_one_that_is_read(monkeypatch, tmp_path):
    (given,) = objects_of(EXAMPLES)
    monkeypatch.setenv("DOCS", "secret")
    monkeypatch.setenv("PETS", "secret")
    pets = given["openapi"]["pets"]
    pets["document"] = str(tmp_path / "pets.json")
    key = {"type": "apiKey", "in": "header", "name": "X-Key"}
    schemes = {"securitySchemes": {next(iter(pets["credentials"])): key}}
    paths = {"/pets": PETS["paths"]["/pets"]}
    servers = [{"url": "http://127.0.0.1:9"}]
    document = {**PETS, "servers": servers, "paths": paths, "components": schemes}
    Path(pets["document"]).write_text(json.dumps(document), "utf-8")
    assert [each.name for each in read_upstreams(given)] == ["git", "docs", "pets"]


def test_the_help_tells_every_option_and_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "examples:\n  tool-search serve --config servers.json " in said
    assert max(map(len, said.splitlines())) <= 110
