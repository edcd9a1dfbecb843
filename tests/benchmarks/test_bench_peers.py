"""The benchmark against peers, without the peers: its own row, its table, and how a peer is talked to."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent

PEER = """
import sys
sys.path.insert(0, {folder!r})
from protocol import serve, text_of
async def build(tools):
    print("this must not reach the answers")
    texts = {{tool["name"]: text_of(tool) for tool in tools}}
    async def search(query, limit):
        return [name for name, text in texts.items() if query in text][:limit]
    return search
serve("pytest", build)
"""

TOOLS = [
    {"name": "create_issue", "description": "Open a ticket.", "parameters": {}},
    {
        "name": "send_mail",
        "description": "Write.",
        "parameters": {"properties": {"to": {"description": "Wer es bekömmt."}, "cc": True}},
    },
]


def test_a_peer_answers_line_by_line():
    asked = [{"tools": TOOLS}, {"query": "bekömmt", "limit": 5}, {"query": "t", "limit": 1}]
    done = subprocess.run(
        [sys.executable, "-c", PEER.format(folder=str(HERE / "peers"))],
        input="\n".join(map(json.dumps, asked)),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    first, *answers = map(json.loads, done.stdout.splitlines())
    assert first["version"] == pytest.__version__
    assert first["build_seconds"] >= 0
    assert [answer["names"] for answer in answers] == [["send_mail"], ["create_issue"]]
    assert all(answer["ms"] >= 0 for answer in answers)
    assert "this must not reach the answers" in done.stderr


def test_the_table_holds_our_own_row(tmp_path):
    folders = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "tools.jsonl").write_text("\n".join(map(json.dumps, TOOLS)), "utf-8")
        query = {"query": "open a ticket", "relevant": ["create_issue"]}
        (folder / "queries.jsonl").write_text(json.dumps(query), "utf-8")
        folders += ["--set", str(folder)]
    arguments = [*folders, "--only", "--sizes", "50", "--queries", "5", "--search", "bm25", "fuzzy"]
    done = subprocess.run(
        [sys.executable, HERE / "bench_peers.py", *arguments], capture_output=True, text=True, check=True
    )
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line]
    assert lines[0] == [
        "engine", "version", "recall@5", "nDCG@10", "ms (mean of sets)", "ms at 50", "build s at 50",
    ]  # fmt: skip
    assert [line[0] for line in lines[2:4]] == ["ours, bm25", "ours, fuzzy"]
    assert lines[2][2:4] == ["1.000", "1.000"]
    assert lines[4] == ["recall@5", "tools", "ours, bm25", "ours, fuzzy"]
    assert [line[:3] for line in lines[6:8]] == [["one", "2", "1.000"], ["two", "2", "1.000"]]


def test_it_says_what_it_needs():
    done = subprocess.run(
        [sys.executable, HERE / "bench_peers.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "give --set, --sizes, or both" in done.stderr
