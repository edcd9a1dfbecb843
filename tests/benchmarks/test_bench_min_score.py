"""The benchmark of `min_score` on two small sets: its table, and what it refuses."""

import json

import pytest

from tests.benchmarks import bench_min_score

pytestmark = pytest.mark.slow

SETS = {
    "mail": [("send_mail", "Send an email to a person.", "send an email")],
    "cars": [("rent_car", "Rent a car for some days.", "rent a car")],
}


@pytest.fixture
def folders(tmp_path):
    for name, rows in SETS.items():
        folder = tmp_path / name
        folder.mkdir()
        tools = [json.dumps({"name": tool, "description": text}) for tool, text, _ in rows]
        queries = [json.dumps({"query": query, "relevant": [tool]}) for tool, _, query in rows]
        (folder / "tools.jsonl").write_text("\n".join(tools), "utf-8")
        (folder / "queries.jsonl").write_text("\n".join(queries), "utf-8")
    return [str(tmp_path / name) for name in SETS]


def test_requests_of_one_set_are_asked_in_the_catalog_of_the_other(folders, capsys):
    bench_min_score.main(["--set", folders[0], "--set", folders[1], "--search", "bm25"])
    title, scores, answered, recall, no_answer = capsys.readouterr().out.splitlines()
    assert title == "bm25, 2 sets"
    assert scores.split() == ["min_score", "0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]
    assert answered.split()[1:] == recall.split()[1:] == no_answer.split()[2:] == ["1.00"] * 6


def test_one_set_is_not_enough(folders, capsys):
    with pytest.raises(SystemExit):
        bench_min_score.main(["--set", folders[0]])
    assert "give --set twice at least" in capsys.readouterr().err
