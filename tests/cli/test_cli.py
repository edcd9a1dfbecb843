"""The command `tool-search`: what it prints, what it exits with, and that it never shows a traceback."""

import argparse
import importlib.util
import io
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tool_search_processor import __version__
from tool_search_processor.cli import main
from tool_search_processor.cli.choices import index_maker
from tool_search_processor.cli.serve_command import make_gateway
from tool_search_processor.cli.serve_options import add_options
from tool_search_processor.cli.terminal import printable, progress
from tool_search_processor.evaluation import load_tools

TOOLS = [
    {
        "name": "create_issue",
        "description": "Open a ticket in a repository.",
        "server": "github",
        "parameters": {
            "type": "object",
            "properties": {"title": {"type": "string", "description": "What is wrong."}},
        },
    },
    {"name": "send.mail", "description": "Write to somebody."},
    {"name": "get_weather", "description": "Tell the weather of a city."},
]
QUERIES = [
    {"query": "open a ticket", "relevant": ["create_issue"]},
    {"query": "write to somebody", "relevant": ["send.mail"]},
    {"query": "qqq zzz", "relevant": ["get_weather"]},
]
OTHERS = [
    {"name": "paint", "description": "Paints a wall."},
    {"name": "cook", "description": "Cooks a soup."},
]

needs_rich = pytest.mark.skipif(importlib.util.find_spec("rich") is None, reason="extra cli")


def write(folder, tools=TOOLS, queries=QUERIES):
    """Write a set into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, records in (("tools", tools), ("queries", queries)):
        lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
        (folder / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
    return str(folder)


@pytest.fixture
def tools(tmp_path):
    """Return the path of a catalog."""
    return str(Path(write(tmp_path / "one")) / "tools.jsonl")


@pytest.fixture
def sets(tmp_path):
    """Return two folders that are sets."""
    other_queries = [{"query": "paint the wall", "relevant": ["paint"]}]
    return [write(tmp_path / "one"), write(tmp_path / "two", OTHERS, other_queries)]


@pytest.fixture
def run(capsys):
    """Return a function that runs the command: its exit code, its output, its complaints."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exc:  # argparse
            code = exc.code
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


def refused(result, message):
    """Check that there was one clear sentence, nothing else, and exit code 2."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("tool-search: ")
    assert err.count("\n") == 1
    assert message in err


# -- the command line


def test_the_bare_command_shows_what_there_is(run):
    code, out, err = run()
    assert (code, out) == (2, "")
    for command in ("search", "eval", "learn", "lint", "export", "page", "serve"):
        assert f"    {command} " in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serch"], "there is no 'serch': did you mean search? (see tool-search --help)"),
        (["zzz"], "there is no 'zzz': choose from search, eval, learn, lint, export, page, serve"),
        (["--verison"], "there is no option --verison: did you mean --version?"),
        (["-tools", "t.json", "search"], "there is no option -tools (see tool-search --help)"),
        (["lint", "-tools", "t.json"], "there is no option -tools: did you mean --tools?"),
        (["export", "--tools", "t.json", "--format", "opnai"], "there is no 'opnai': did you mean openai?"),
        (
            ["search", "x", "--tols", "t.json"],
            "there is no option --tols: did you mean --tools? (see tool-search s",
        ),
        (["search", "x", "--tols=t.json"], "there is no option --tols: did you mean --tools?"),
        (
            ["search", "x", "--tools", "t.json", "--zzz"],
            "there is no option --zzz (see tool-search search --help)",
        ),
        (["search", "x"], "the following arguments are required: --tools (see tool-search search --help)"),
        (["serve", "--mode", "all"], "there is no 'all': choose from discovery, normal"),
        (["eval", "--fail-under", "recall=1"], "there is no metric 'recall'"),
        (
            ["search", "x", "--tools", "mytools"],
            "there is no file mytools: tools in Python are named package.mod",
        ),
        (
            ["lint", "--tools", "my.tools"],
            "there is no file my.tools: tools in Python are named package.module",
        ),
    ],
)
def test_a_mistake_on_the_command_line_is_answered_in_one_line(run, arguments, message):
    refused(run(*arguments), message)


def test_a_query_that_begins_with_a_dash_and_holds_a_blank_is_no_option(run, tools):
    code, out, _ = run("search", "--json", "--tools", tools, "--open a ticket")
    assert (code, json.loads(out)["query"]) == (0, "--open a ticket")


FILES = {
    "nope.json": (None, "can't read {}: No such file or directory"),
    "folder": ("folder", "can't read {}: Is a directory"),
    "utf-16": (b"\xff\xfe{\0}\0", "{} is not UTF-8 text: byte 0 can't be read"),
    "text.json": (b"hello", "{} is not JSON: Expecting value (line 1, column 1)"),
    "deep": (b"[" * 100_000, "{} is nested too deeply"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "arguments",
    [
        "search x --json --tools {}",
        "lint --json --tools {}",
        "export --tools {}",
        "page --tools {}",
        "learn {}",
        "eval --json --queries {}.jsonl --tools {}",
        "eval --json --tools {tools} --queries {}",
        "eval --json --set {set} --history {}",
        "eval --json --set {set} --abstain-tools {}",
        "serve --config {}",
        "serve --openapi {}",
        "serve --http 0 --token-file {}",
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_sentence(run, sets, tmp_path, arguments, name):
    content, message = FILES[name]
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    given = [part.format(path, set=sets[0], tools=f"{sets[0]}/tools.jsonl") for part in arguments.split()]
    code, out, err = run(*given)
    assert (code, out) == (2, "")
    if "openapi" in arguments:  # the upstream is logged, too
        assert path.name in err
    elif "token" in arguments and name in ("text.json", "deep"):
        assert "there is nothing to serve" in err
    else:
        assert err == f"tool-search: {message.format(path)}\n"


@pytest.mark.slow
def test_a_function_that_fails_is_told_without_a_traceback(tmp_path):
    (tmp_path / "mine.py").write_text("def tools(context):\n    raise RuntimeError('no database')\n", "utf-8")
    program = [sys.executable, "-m", "tool_search_processor"]
    asked = [*program, "search", "x", "--json", "--tools", "mine:tools"]
    done = subprocess.run(asked, check=False, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "RuntimeError: no database" in done.stderr
    assert all(line.startswith("tool-search: ") for line in done.stderr.splitlines())


def test_what_follows_two_dashes_is_no_option(run, tools):
    code, out, _ = run("search", "--json", "--tools", tools, "--", "--ticket")
    assert (code, json.loads(out)["query"]) == (0, "--ticket")


# -- search


@needs_rich
def test_search_shows_a_table(run, tools):
    code, out, err = run("search", "open a ticket", "--tools", tools)
    assert (code, err) == (0, "")
    first, _, row = out.splitlines()[:3]
    assert first.split() == ["score", "name", "namespace", "description", "matched", "tokens"]
    assert "create_issue" in row
    assert "github" in row
    assert "Open a ticket in a repository." in row


@needs_rich
def test_columns_that_would_be_empty_are_left_out(run, tools):
    assert run("search", "write", "--tools", tools)[1].splitlines()[0].split() == [
        "score", "name", "description", "matched", "tokens",
    ]  # fmt: skip


def test_search_as_json(run, tools):
    code, out, _ = run("search", "write to somebody", "--tools", tools, "--json")
    found = json.loads(out)
    assert (code, found["query"], found["tools"]) == (0, "write to somebody", 3)
    (result,) = found["results"]
    assert 0 < result.pop("score") <= 1
    assert result.pop("tokens") > 0
    assert result == {
        "name": "send_mail",
        "original_name": "send.mail",
        "namespace": None,
        "description": "Write to somebody.",
        "matched": ["write", "somebody"],
    }


@needs_rich
def test_finding_nothing_is_no_failure(run, tools):
    assert run("search", "qqq zzz", "--tools", tools) == (0, "None of 3 tools fits.\n", "")
    assert run("search", "open", "--tools", tools, "--min-score", 0.99)[1] == "None of 3 tools fits.\n"


def test_limit(run, tools):
    out = run("search", "a city, a ticket, somebody", "--tools", tools, "--json", "--limit", 1)[1]
    assert len(json.loads(out)["results"]) == 1
    refused(
        run("search", "x", "--tools", tools, "--limit", 0),
        "--limit must be a whole number of at least 1, found 0",
    )
    for score in ("5", "nan"):
        refused(
            run("search", "x", "--tools", tools, "--min-score", score),
            "--min-score must be a number from 0 to 1, found",
        )


@pytest.mark.parametrize("strategy", ["regex", "fuzzy"])
def test_search_by_another_strategy(run, tools, strategy):
    out = run("search", "create_issue", "--tools", tools, "--json", "--search", strategy)[1]
    assert json.loads(out)["results"][0]["name"] == "create_issue"


def test_a_bad_pattern_is_a_sentence(run, tools):
    code, out, err = run("search", "(", "--tools", tools, "--search", "regex", "--json")
    assert (code, out) == (2, "")
    assert err.startswith("tool-search: ")


def test_the_standard_input(run, monkeypatch):
    text = "\n".join(map(json.dumps, TOOLS))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert json.loads(run("search", "weather", "--tools", "-", "--json")[1])["tools"] == 3


def test_an_index_of_ones_own(run, tools, monkeypatch, tmp_path):
    (tmp_path / "my_index_module.py").write_text(
        "from tool_search_processor.search.protocol import Hit\n"
        "class Fixed:\n"
        "    def update(self, documents): self.name = documents[-1].name\n"
        "    def search(self, query, **options): return [Hit(name=self.name, score=0.5)]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    arguments = ("search", "open a ticket", "--tools", tools, "--json", "--search")
    for _ in range(2):
        found = json.loads(run(*arguments, "my_index_module:Fixed")[1])["results"]
        assert [result["name"] for result in found] == ["get_weather"]
    refused(run(*arguments, "my_index_module:None_"), "--search 'my_index_module:None_' can't be imported")
    refused(run(*arguments, "no_such_module_here:A"), "No module named 'no_such_module_here'")
    refused(run(*arguments, ":A"), "can't be imported")
    refused(run(*arguments, "json:__name__"), "there is no search strategy 'json'")
    refused(run(*arguments, "bm26"), "there is no search strategy 'bm26'")


@pytest.fixture
def embeddings():
    """Leave a test out without the extra `embeddings`."""
    pytest.importorskip("wordllama")
    pytest.importorskip("tokenizers")


@pytest.mark.usefixtures("embeddings")
@pytest.mark.parametrize("strategy", ["vector", "hybrid"])
def test_the_embedder_can_be_chosen_and_vectors_are_kept(run, tools, tmp_path, strategy):
    kept = tmp_path / "vectors.db"
    arguments = ("search", "compose an email", "--tools", tools, "--json", "--search", strategy)
    found = json.loads(run(*arguments, "--embedder", "static", "--vectors", kept)[1])["results"]
    assert found[0]["name"] == "send_mail"
    assert kept.stat().st_size > 0
    assert run(*arguments, "--embedder", "nonsense")[0] == 2


@pytest.mark.parametrize(("waits", "limit"), [(True, {"timeout_seconds": None}), (False, {})])
def test_what_measures_waits_for_its_vectors(waits, limit, monkeypatch):
    monkeypatch.setattr("tool_search_processor.search.vector.VectorIndex", dict)
    options = argparse.Namespace(search="vector", embedder="static", vectors=None)
    made = index_maker("vector", options, waits=waits)()
    assert made == {"cache_path": None, "embedder": "static", **limit}


@pytest.mark.parametrize("waits", [True, False])
def test_what_serves_answers_by_words_until_the_vectors_are_there(waits, monkeypatch):
    monkeypatch.setattr("tool_search_processor.search.vector.VectorIndex", dict)
    monkeypatch.setattr("tool_search_processor.search.hybrid.HybridIndex", dict)
    options = argparse.Namespace(search="hybrid", embedder="static", vectors=None)
    made = index_maker("hybrid", options, waits=waits)()
    assert made["vector"]["background"] is not waits


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        ((), {"index"}),
        (("--search", "hybrid"), {"index", "db"}),
        (("--search", "hybrid", "--embedder", "static"), {"index", "db"}),
        (("--search", "hybrid", "--embedder", "static", "--vectors", "OTHER"), {"index"}),
    ],
)
@pytest.mark.usefixtures("embeddings")
async def test_a_gateway_keeps_its_index_in_a_folder(arguments, files, tmp_path):
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "http://127.0.0.1:9"}],
        "paths": {"/pets": {"get": {"operationId": "listPets", "summary": "List the pets."}}},
    }
    pets = tmp_path / "pets.json"
    pets.write_text(json.dumps(document), "utf-8")
    parser = argparse.ArgumentParser()
    add_options(parser)
    arguments = [str(tmp_path / "other.db") if each == "OTHER" else each for each in arguments]
    kept = tmp_path / "kept"
    gateway = make_gateway(
        parser.parse_args(["--openapi", str(pets), "--index-cache", str(kept), *arguments])
    )
    assert await gateway.warm_up()
    assert {path.suffix[1:] for path in kept.iterdir()} == files


# -- eval


def figures(out):
    return {(r["set"], r["search"]): r for r in json.loads(out)["reports"]}


def test_eval_as_json(run, sets):
    folder = Path(sets[0])
    code, out, err = run(
        "eval", "--tools", folder / "tools.jsonl", "--queries", folder / "queries.jsonl", "--json"
    )
    assert (code, err) == (0, "")
    (report,) = figures(out).values()
    assert report["metrics"]["recall@5"]["value"] == pytest.approx(2 / 3)
    assert report["search"] == "bm25"
    assert json.loads(out)["averages"] == []


@needs_rich
def test_eval_shows_a_table_with_averages(run, sets):
    arguments = (
        "--set",
        sets[0],
        "--set",
        sets[1],
        "--search",
        "bm25",
        "--search",
        "fuzzy",
        "--search",
        "bm25",
    )
    code, out, err = run("eval", *arguments)
    lines = [line.split() for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [" ".join(line[:3]) for line in lines[2:8]] == [
        "one bm25 3", "one fuzzy 3", "two bm25 2", "two fuzzy 2", "macro average bm25", "macro average fuzzy",
    ]  # fmt: skip
    assert " ".join(lines[0]).startswith("set search tools queries recall@1 recall@5 recall@10 nDCG@10")
    assert "0.667 [0.000, 1.000]" in out
    assert "AUC" not in out


def set_and_search(lines, names, searches):
    """Return which set and search each row of figures says it is of, in any of the forms of the table."""
    found, current = [], None
    for line in lines:
        current = next((name for name in names if re.match(rf"{name}\b", line.strip())), current)
        search = re.search(rf"(?<!\S)({'|'.join(searches)})(?!\S)", line.replace(":", " ").replace(",", " "))
        if search:
            found.append((current, search[1]))
    return found


@needs_rich
@pytest.mark.parametrize("more", [[], ["--abstain"]])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 180, 250])
def test_figures_can_be_told_apart_in_terminals_of_every_width(run, sets, monkeypatch, width, more):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    searches = ["bm25", "fuzzy", "regex"]
    asked = [part for name in searches for part in ("--search", name)]
    code, out, _ = run("eval", "--set", sets[0], "--set", sets[1], *asked, *more)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out).splitlines()
    assert code == 0
    assert "…" not in out
    names = ["one", "two", "macro average"]
    assert set_and_search(lines, names, searches) == [(name, search) for name in names for search in searches]
    assert "0.667" in out  # recall@5 of the first set
    if width >= 80:
        assert max(map(len, lines)) <= width
        assert ("[0.000, 1.000]" in out) == (width >= 100 + 7 * len(more))
        assert ("95 % intervals." in out) == ("[0.000" not in out)


@needs_rich
def test_a_search_with_a_long_name_is_named_in_full(run, sets, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    long = "tool_search_processor.search.bm25:BM25Index"
    out = run("eval", "--set", sets[0], "--search", long, "--search", "fuzzy")[1]
    assert f"one, {long}: 3 tools" in out
    assert "one, fuzzy: 3 tools" in out


def test_eval_with_a_history(run, sets, tmp_path):
    folder = Path(sets[0])
    queries = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    history = tmp_path / "history.jsonl"
    past = [{"query": query["query"], "tools": query["relevant"]} for query in queries]
    history.write_text("\n".join(map(json.dumps, past)))
    code, out, err = run("eval", "--set", folder, "--json", "--history", history)
    (report,) = figures(out).values()
    assert code == 0
    assert report["metrics"]["recall@5"]["value"] == 1.0
    assert f"{len(queries)} queries are in {history} word for word" in err


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"tool": "a"}', "record 1: 'query' must be a string that is not empty, found None"),
        ('{"query": "x"}', "record 1: 'tool' must be a name, or 'tools' a list of names, found None"),
        ("3", "record 1: it must be an object with 'query' and 'tool', found 3"),
    ],
)
def test_eval_refuses_what_is_no_history(run, sets, tmp_path, line, complaint):
    (tmp_path / "history.jsonl").write_text(line)
    refused(run("eval", "--set", sets[0], "--json", "--history", tmp_path / "history.jsonl"), complaint)


def test_learn_makes_a_history_of_a_log(run, tmp_path):
    call = {"id": "1", "type": "function", "function": {"name": "create_issue", "arguments": "{}"}}
    log = [
        {"role": "user", "content": "tell the developers"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
    ]
    path, made = tmp_path / "log.json", tmp_path / "history.jsonl"
    path.write_text(json.dumps(log))
    code, out, _ = run("learn", path)
    record = json.loads(out)
    assert (code, record["query"], record["tool"]) == (0, "tell the developers", "create_issue")
    answer = run("learn", path, path, "--output", made)
    assert answer == (0, "", f"tool-search: wrote 1 request of 1 tool to {made}\n")
    refused(run("learn", path, "--output", tmp_path / "nowhere" / "x"), "can't be written: its folder")
    path.write_text("[]")
    assert "nothing to learn" in run("learn", path)[2]


def test_eval_tells_that_a_history_is_of_other_tools(run, sets, tmp_path):
    (tmp_path / "history.jsonl").write_text('{"query": "x", "tool": "unknown"}')
    code, _, err = run("eval", "--set", sets[0], "--json", "--history", tmp_path / "history.jsonl")
    assert code == 0
    assert "names no tool of the catalog" in err


@needs_rich
def test_eval_with_abstention(run, sets):
    code, out, _ = run("eval", "--set", sets[0], "--set", sets[1], "--abstain")
    assert code == 0
    assert "AUC" in out.splitlines()[0]


def test_abstention_by_another_catalog(run, sets):
    other = Path(sets[1]) / "tools.jsonl"
    arguments = ("eval", "--set", sets[0], "--json", "--abstain-tools")
    # Two queries of three are answered by their own catalog alone, the third by none.
    found = figures(run(*arguments, other)[1])[("one", "bm25")]
    assert found["abstention_auc"] == pytest.approx((3 + 3 + 1.5) / 9)
    refused(run(*arguments, Path(sets[0]) / "tools.jsonl"), "holds only tools that the catalog has as well")


def test_sets_are_paired_with_one_that_shares_no_tool(run, tmp_path):
    one = write(tmp_path / "one")
    same = write(tmp_path / "same")
    other = write(tmp_path / "other", OTHERS, [{"query": "paint", "relevant": ["paint"]}])
    found = figures(run("eval", "--set", one, "--set", same, "--set", other, "--abstain", "--json")[1])
    assert found[("one", "bm25")]["abstention_auc"] == found[("same", "bm25")]["abstention_auc"] is not None


@needs_rich
def test_a_report_is_written(run, sets, tmp_path):
    page = tmp_path / "report.html"
    code, _, err = run("eval", "--set", sets[0], "--report", page)
    assert (code, err) == (0, f"tool-search: wrote {page}\n")
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    surrogates = write(
        tmp_path / "odd", [{"name": "a", "description": "\ud800"}], [{"query": "\ud800", "relevant": ["a"]}]
    )
    assert run("eval", "--set", surrogates, "--report", page)[0] == 0


@pytest.mark.parametrize("report", [".", "nowhere/report.html"])
def test_a_report_that_can_not_be_written_is_refused_before_the_work(
    run, sets, tmp_path, report, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    refused(
        run("eval", "--set", sets[0], "--json", "--report", report), f"--report {report!r} can't be written"
    )


def test_fail_under(run, sets):
    arguments = ("eval", "--set", sets[0], "--json", "--fail-under")
    assert run(*arguments, "recall@5=0.6")[0] == 0
    code, out, err = run(*arguments, "recall@5=0.6", "--fail-under", "nDCG@10=0.9", "--fail-under", "mrr=1")
    assert code == 1
    assert json.loads(out)
    assert (
        err == "tool-search: bm25: ndcg@10 is 0.6667, under 0.9\ntool-search: bm25: mrr is 0.6667, under 1\n"
    )


def test_fail_under_holds_for_the_average_of_several_sets(run, sets):
    arguments = ("eval", "--set", sets[0], "--set", sets[1], "--json", "--fail-under")
    assert run(*arguments, "recall@5=0.83")[0] == 0  # (2/3 + 1) / 2
    assert run(*arguments, "recall@5=0.84")[0] == 1


def test_fail_under_of_abstention(run, sets):
    arguments = ("eval", "--set", sets[0], "--json", "--fail-under", "abstention_auc=0.9")
    refused(run(*arguments), "abstention_auc is measured with --abstain-tools or --abstain")
    assert run(*arguments, "--abstain-tools", Path(sets[1]) / "tools.jsonl")[0] == 1


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        ("recall@7=0.5", "there is no metric 'recall@7': choose one of hit@1, recall@1"),
        ("recall@5", "a bound is recall@5=VALUE with a value from 0 to 1"),
        ("recall@5=80", "with a value from 0 to 1, found 'recall@5=80'"),
        ("recall@5=nan", "with a value from 0 to 1"),
    ],
)
def test_a_bound_that_can_not_be(run, sets, bound, message):
    code, _, err = run("eval", "--set", sets[0], "--fail-under", bound)
    assert code == 2
    assert message in " ".join(err.split())


def test_names_that_no_tool_bears(run, tmp_path):
    folder = write(tmp_path / "set", queries=[*QUERIES, {"query": "x", "relevant": ["gone", "create_issue"]}])
    refused(run("eval", "--set", folder, "--json"), "name tools that are not in the catalog: 'gone'")
    code, out, err = run("eval", "--set", folder, "--json", "--allow-missing")
    assert (code, json.loads(out)["reports"][0]["queries"]) == (0, 4)
    assert err == "tool-search: set: 1 relevant name is not in the catalog and is left out\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give --tools and --queries, or --set"),
        (["--tools", "a"], "give --tools and --queries, or --set"),
        (["--set", "a", "--queries", "b"], "not both"),
        (["--set", "nowhere"], "can't read nowhere/tools.jsonl: No such file or directory"),
        (["--tools", "-", "--queries", "-"], "only one of the two files can be the standard input"),
    ],
)
def test_arguments_that_do_not_fit_each_other(run, arguments, message):
    refused(run("eval", "--json", *arguments), message)


def test_abstention_needs_two_sets_and_sets_need_different_names(run, sets, tmp_path):
    refused(run("eval", "--json", "--set", sets[0], "--abstain"), "--abstain needs two sets at least")
    twin = write(tmp_path / "x" / "one")
    refused(run("eval", "--json", "--set", sets[0], "--set", twin), "two sets have one name: one, one")


# -- lint


@needs_rich
def test_lint_shows_findings_and_costs(run, tools):
    code, out, err = run("lint", "--tools", tools)
    assert (code, err) == (0, "")
    assert "warning   invalid-name   send.mail" in out
    assert "it becomes send_mail." in out
    assert "costliest tools" in out
    assert "3 tools, " in out
    assert "0 errors, 1 warning." in out


@needs_rich
def test_lint_shows_every_cost_when_asked(run, tmp_path):
    folder = write(
        tmp_path / "many", [{"name": f"t{i}", "description": f"Moves {i} stones."} for i in range(15)]
    )
    tools = Path(folder) / "tools.jsonl"
    count = [sum("  t" in f"  {line}" for line in run("lint", "--tools", tools, *more)[1].splitlines()[-20:])
             for more in ((), ("--all",))]  # fmt: skip
    assert count[0] < count[1]


@needs_rich
def test_lint_shows_the_worst_of_each_kind_and_how_many_more(run, tmp_path):
    words = ["red", "green", "blue", "white", "black", "grey", "pink"]
    alike = [{"name": f"get_{word}_paint", "description": "Pours one bucket of paint."} for word in words]
    silent = [{"name": f"tool_{number}"} for number in range(11)]
    path = Path(write(tmp_path / "set", [*alike, *silent])) / "tools.jsonl"
    asked = ("lint", "--tools", path, "--similarity", "0.1")
    out = run(*asked)[1]
    assert "error missing-description and 1 more --verbose shows them." in [
        " ".join(line.split()) for line in out.splitlines()
    ]
    every = run(*asked, "--all")[1]
    assert run(*asked, "--verbose")[1] == every
    assert " more " not in every
    assert every.count("confusable ") == 21
    assert len(json.loads(run(*asked, "--json")[1])["findings"]) == 11 + 21


@needs_rich
def test_lint_names_what_it_found_in_full_in_a_narrow_terminal(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    tool = {"name": "n" * 40, "description": "Paints.", "parameters": {"properties": {"a": {}}}}
    path = Path(write(tmp_path / "set", [tool])) / "tools.jsonl"
    out = run("lint", "--tools", path)[1]
    assert "warning   undescribed-parameters   nnn" in out
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", out).splitlines())) <= 70


@needs_rich
def test_rows_are_listed_where_columns_would_be_too_narrow(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    tool = {
        "name": "paint_wall",
        "description": "Colors all of it with the brush that you choose, in any color.",
        "parameters": {"properties": {"a": {}}},
    }
    path = Path(write(tmp_path / "set", [tool])) / "tools.jsonl"
    assert run("lint", "--tools", path)[1].startswith(
        "         warning\n"
        "finding  undescribed-parameters\n"
        "tool     paint_wall\n"
        "what     does not describe a: say what each\n"
        "         one is, and its format.\n"
        "\n"
    )
    found = run("search", "paint a wall", "--tools", path)[1].splitlines()
    assert found[1] == "name         paint_wall"
    assert max(map(len, found)) <= 44


@needs_rich
def test_lint_shows_look_alikes_in_groups_and_every_pair_when_asked(run, tmp_path):
    colors = ["red", "green", "blue", "white", "black", "grey", "pink"]
    alike = [{"name": f"get_{color}_paint", "description": "Pours one bucket of paint."} for color in colors]
    others = [
        {"name": f"{verb}_order_{number}", "description": f"Reads order {number * 7919}."}
        for number in range(11)
        for verb in ("get", "fetch")
    ]
    path = Path(write(tmp_path / "set", [*alike, *others])) / "tools.jsonl"
    asked = ("lint", "--tools", path, "--similarity", "0.3")
    pairs = json.loads(run(*asked, "--json")[1])["findings"]
    out = run(*asked)[1]
    lines = [line.split() for line in out.splitlines() if " confusable " in line]
    assert lines[0][2] in {f"get_{color}_paint" for color in colors}
    assert " ".join(lines[0]).endswith(" and 2 more")
    assert " ".join(lines[-1]).startswith(
        f"warning confusable and 2 more groups {len(pairs)} pairs among 29 tools: say how each tool differs"
    )
    assert len(lines) == 11
    every = run(*asked, "--verbose")[1]
    assert every.count(" confusable ") == len(pairs) > 11


@pytest.mark.parametrize(
    ("tools", "more", "code"),
    [
        ([TOOLS[0]], [], 0),
        ([TOOLS[0]], ["--strict"], 0),
        (TOOLS, [], 0),
        (TOOLS, ["--strict"], 1),
        ([TOOLS[0], TOOLS[0]], [], 1),
        ([{"name": "a"}], [], 1),
        (TOOLS[:1], ["--max-tokens", "5", "--strict"], 1),
    ],
)
def test_lints_exit_code(run, tmp_path, tools, more, code):
    path = Path(write(tmp_path / "set", tools)) / "tools.jsonl"
    found, out, err = run("lint", "--tools", path, "--json", *more)
    assert (found, err) == (code, "")
    assert json.loads(out)["tools"] == len(tools)


@pytest.mark.parametrize("similarity", ["0", "1.5"])
def test_a_similarity_that_can_not_be(run, tools, similarity):
    refused(
        run("lint", "--tools", tools, "--similarity", similarity),
        "--similarity must be above 0 and at most 1",
    )


# -- tools in Python, and export

PYTHON_TOOLS = """
import sys
from tool_search_processor import Catalog, Namespace, StaticProvider, Tool, ToolSearchProcessor, tool

print("a module may print")

@tool(tags={"mail"}, namespace="office", keywords=["letter"], pinned=True,
      example_requests=["tell her that I am late"])
def send_mail(to: str) -> str:
    \"\"\"Write to somebody.\"\"\"

def get_weather(city: str) -> str:
    \"\"\"Tell the weather of a city.\"\"\"

class Down:
    name = "broken"
    async def list_tools(self, context):
        raise OSError("no route to the server")

tools = [send_mail, get_weather]
by_name = {"send_mail": send_mail, "get_weather": get_weather}
catalog = Catalog(tools)
provider = StaticProvider(tools)
processor = ToolSearchProcessor(tools)
class app:
    processor = processor
def of_request(context):
    return tools
partly = Catalog([*tools, Down()])
down = Catalog([Down()])
empty = []
number = 7
"""


@pytest.fixture
def in_python(tmp_path, monkeypatch):
    """Write a module of tools into the current folder, and forget it afterwards."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "my_tools.py").write_text(PYTHON_TOOLS)
    (tmp_path / "raising.py").write_text("import os\nKEY = os.environ['NO_SUCH_KEY_HERE']\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield
    for name in ("shop", "shop.my_tools", "raising"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize(
    "attribute",
    ["tools", "by_name", "catalog", "provider", "processor", "app.processor", "of_request", "partly"],
)
def test_tools_in_python_are_named_as_an_index_is(run, attribute):
    code, out, err = run("search", "the weather", "--json", "--tools", f"shop.my_tools:{attribute}")
    assert code == 0
    assert [result["name"] for result in json.loads(out)["results"]] == ["get_weather"]
    assert ("broken is down" in err) == (attribute == "partly")


@pytest.mark.usefixtures("in_python")
def test_a_single_tool_is_a_catalog_of_one(run):
    definitions = json.loads(run("export", "--tools", "shop.my_tools:send_mail")[1])
    assert [definition["function"]["name"] for definition in definitions] == ["send_mail"]


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shop.my_tools:missing", "--tools 'shop.my_tools:missing' can't be imported: module"),
        ("no_such_module_here:tools", "No module named 'no_such_module_here'"),
        ("raising:KEY", "can't be imported: KeyError: 'NO_SUCH_KEY_HERE'"),
        ("shop.my_tools:empty", "shop.my_tools:empty holds no tools"),
        ("shop.my_tools:number", "--tools 'shop.my_tools:number' can't be used: "),
        ("shop.my_tools:get_weather", "if it is a tool, put it in a list; if it returns tools"),
        ("shop.my_tools:down", "no route to the server"),
        ("C:\\tools.json", "can't read C:\\tools.json"),
        ("http://example.invalid/tools.json", "can't read http://"),
    ],
)
def test_tools_in_python_that_can_not_be_used_are_told_in_a_sentence(run, name, message):
    code, out, err = run("lint", "--json", "--tools", name)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]


@pytest.mark.usefixtures("in_python")
def test_every_command_that_takes_tools_takes_them_from_python(run, sets, tmp_path):
    name, other = "shop.my_tools:tools", Path(sets[1]) / "tools.jsonl"
    queries = tmp_path / "weather.jsonl"
    queries.write_text('{"query": "the weather", "relevant": ["get_weather"]}')
    assert json.loads(run("lint", "--json", "--tools", name)[1])["tools"] == 2
    found = figures(run("eval", "--json", "--tools", name, "--queries", queries, "--abstain-tools", other)[1])
    (report,) = found.values()
    assert report["abstention_auc"] == 1
    assert figures(run("eval", "--json", "--set", sets[1], "--abstain-tools", name)[1])


@pytest.mark.usefixtures("in_python")
def test_a_file_comes_before_a_module_of_its_name(run, tools):
    Path("shop:tools").write_text(Path(tools).read_text("utf-8"), "utf-8")
    assert json.loads(run("lint", "--json", "--tools", "shop:tools")[1])["tools"] == 3


@pytest.mark.parametrize(
    ("shape", "key"), [("openai", "function"), ("anthropic", "input_schema"), ("mcp", None)]
)
def test_an_export_has_the_shape_that_was_asked_for_and_is_read_again(run, tools, tmp_path, shape, key):
    code, out, err = run("export", "--tools", tools, "--format", shape)
    value = json.loads(out)
    assert (code, err) == (0, "")
    definitions = value["tools"] if shape == "mcp" else value
    assert all((key or "inputSchema") in definition for definition in definitions)
    (tmp_path / "again.json").write_text(out, "utf-8")
    assert run("export", "--tools", tmp_path / "again.json", "--format", shape)[1] == out
    again = json.loads(run("search", "open a ticket", "--json", "--tools", tmp_path / "again.json")[1])
    assert [result["name"] for result in again["results"]] == ["create_issue"]


@pytest.mark.usefixtures("in_python")
def test_an_export_for_mcp_keeps_what_searches_know(run, tmp_path):
    out = run("export", "--tools", "shop.my_tools:tools", "--format", "mcp")[1]
    (tmp_path / "kept.json").write_text(out, "utf-8")
    mail, weather = load_tools(tmp_path / "kept.json")
    assert (mail.tags, mail.namespace, mail.keywords, mail.pinned) == ({"mail"}, "office", ("letter",), True)
    assert mail.example_requests == ("tell her that I am late",)
    assert (weather.tags, weather.namespace, weather.pinned) == (frozenset(), None, False)
    assert run("export", "--tools", tmp_path / "kept.json", "--format", "mcp")[1] == out


def test_an_export_into_a_file_says_where_it_is(run, tools, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("export", "--tools", tools, "--output", "out.json") == (
        0,
        "",
        "tool-search: wrote 3 tools to out.json\n",
    )
    assert Path("out.json").read_text("utf-8") == run("export", "--tools", tools)[1]
    refused(
        run("export", "--tools", tools, "--output", "nowhere/x.json"), "--output 'nowhere/x.json' can't be"
    )


# -- what all have in common


@pytest.mark.parametrize("command", [["search", "x"], ["lint"]])
@pytest.mark.parametrize(
    ("text", "message"),
    [("", "holds no tools"), ("{", "is not JSON"), ('{"name": 3}', "tool 1: "), ("[]", "holds no tools")],
)
def test_bad_files_are_one_sentence(run, tmp_path, command, text, message):
    (tmp_path / "bad.json").write_text(text)
    refused(run(*command, "--json", "--tools", tmp_path / "bad.json"), message)


def test_a_name_twice_can_not_be_searched(run, tmp_path):
    path = Path(write(tmp_path / "set", [TOOLS[0], TOOLS[0]])) / "tools.jsonl"
    refused(run("search", "x", "--json", "--tools", path), "are named 'create_issue'")


@needs_rich
def test_names_can_not_write_to_the_terminal(run, tmp_path):
    evil = {"name": "a\x1b[31m[bold]\u202eb\u2028", "description": "Paints\x07 the [red]moon[/red].\nTwice."}
    path = Path(write(tmp_path / "set", [evil])) / "tools.jsonl"
    for arguments in (["search", "paint the moon"], ["lint", "--all"]):
        out = run(*arguments, "--tools", path)[1]
        assert not set("\x1b\x07\u202e\u2028").intersection(out)
    assert "the [red]moon[/red]. Twice." in run("search", "paint the moon", "--tools", path)[1]


def test_printable():
    assert printable("a\tb\nc\x1b\u200e\ud800é漢") == "a b c\ufffd\ufffd\ufffdé漢"


@pytest.mark.parametrize("arguments", [["search", "x"], ["eval"], ["lint"]])
def test_without_the_extra_tables_say_what_to_install_and_json_works(run, sets, monkeypatch, arguments):
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    more = ["--set", sets[0]] if arguments == ["eval"] else ["--tools", f"{sets[0]}/tools.jsonl"]
    refused(run(*arguments, *more), 'pip install "tool-search-processor[cli]"')
    code, out, _ = run(*arguments, *more, "--json")
    assert code == 0
    assert json.loads(out)


def test_the_command_starts_without_what_other_commands_need(tools):
    missing = dict.fromkeys(["mcp", "starlette", "uvicorn", "prometheus_client", "litellm", "rich"])
    code = f"import sys; sys.modules.update({missing}); from tool_search_processor.cli import main; main()"
    for arguments in (["search", "issue", "--json", "--tools", tools], ["serve", "--help"]):
        asked = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@needs_rich
def test_a_progress_bar_is_shown_in_a_terminal_alone(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    shown = []
    for stream in (io.StringIO(), Terminal()):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress(3, "queries [red]") as advance:
            advance(1)
            advance(2)
        shown.append(stream.getvalue())
    assert shown[0] == ""
    assert "queries [red]" in shown[1]
    assert "3/3" in shown[1]


@needs_rich
@pytest.mark.parametrize(
    ("arguments", "labels"),
    [
        (["search", "x"], ["reading ", "indexing 3 tools"]),
        (["lint"], ["reading ", "tools "]),
        (["export"], ["reading "]),
    ],
)
def test_what_may_take_a_second_says_what_it_is_doing(tools, monkeypatch, arguments, labels):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main([*arguments, "--tools", tools]) == 0
    for label in labels:
        assert label in sys.stderr.getvalue()
    assert "\x1b" not in sys.stdout.getvalue()


def test_help_and_version(run):
    assert run("--version") == (0, f"tool-search {__version__}\n", "")
    for command in ("search", "eval", "lint", "export", "page"):
        assert f"usage: tool-search {command}" in run(command, "--help")[1]
    code, _, err = run()
    assert code == 2
    assert "COMMAND" in err


def test_an_interruption_is_quiet(run, tools, monkeypatch):
    def interrupt(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("tool_search_processor.cli.lint_command.lint", interrupt)
    assert run("lint", "--tools", tools, "--json") == (130, "", "")


def command(*arguments, **options):
    options.setdefault("capture_output", True)
    return subprocess.run([sys.executable, "-m", "tool_search_processor", *arguments], check=False, **options)


@pytest.mark.slow
def test_it_runs_as_a_module_and_speaks_utf8_whatever_the_locale(tmp_path):
    path = (
        Path(write(tmp_path / "set", [{"name": "wetter", "description": "Sagt 天気 für morgen."}]))
        / "tools.jsonl"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = command("search", "天気", "--tools", str(path), "--json", env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.decode("utf-8"))["results"][0]["description"] == "Sagt 天気 für morgen."


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_trouble(tools):
    reader, writer = os.pipe()
    os.close(reader)
    done = command("search", "ticket", "--tools", tools, "--json", stdout=writer, stderr=subprocess.PIPE,
                   capture_output=False)  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_the_console_script_is_this_command():
    from importlib.metadata import entry_points

    (script,) = entry_points(group="console_scripts", name="tool-search")
    assert script.load() is main


def test_a_set_is_paired_with_one_of_like_size(run, tmp_path):
    one = write(tmp_path / "one")
    many = [{"name": f"paint_{number}", "description": "Paint a wall."} for number in range(40)]
    large = write(tmp_path / "large", many, [{"query": "paint", "relevant": ["paint_0"]}])
    like = write(tmp_path / "like", OTHERS, [{"query": "paint", "relevant": ["paint"]}])
    sets = ("--set", one, "--set", large, "--set", like)
    paired = figures(run("eval", *sets, "--abstain", "--json")[1])[("one", "bm25")]
    alone = figures(run("eval", "--set", one, "--json", "--abstain-tools", Path(like) / "tools.jsonl")[1])
    assert paired["abstention_auc"] == alone[("one", "bm25")]["abstention_auc"]


@pytest.mark.parametrize("search", [[], ["--search", "bm25"]])
@pytest.mark.parametrize("option", ["--embedder", "--vectors"])
def test_an_option_that_shapes_no_search_asked_for_is_refused(run, tools, option, search):
    result = run("search", "ticket", "--tools", tools, "--json", option, "static", *search)
    refused(result, "add --search vector or --search hybrid")


# -- page


def test_a_port_that_is_taken_is_told_with_the_way_out(run, tools):
    pytest.importorskip("uvicorn")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(run("page", "--tools", tools, "--port", port), "tool-search: Address already in use")
