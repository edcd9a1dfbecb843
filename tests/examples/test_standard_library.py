"""Every tool of the examples' catalog runs with real arguments and gives the right answer."""

import base64
import json
import math
import re
import zlib
from collections import Counter
from pathlib import Path
from zoneinfo import available_timezones

import pytest
import standard_library

from tool_search_processor import Tool

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "standard_library.jsonl").read_text("utf-8").splitlines()
]
"""One call a tool; `answer` is the whole answer, `matches` a pattern of its text where it varies."""

TOOLS = {tool.name: tool for tool in standard_library.tools()}

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def same(found: object, wanted: object) -> bool:
    """Compare two JSON values; floating point numbers up to rounding of the last digits."""
    if isinstance(wanted, float) and isinstance(found, int | float):
        return math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-15)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if isinstance(wanted, dict) and isinstance(found, dict):
        return list(found) == list(wanted) and all(same(found[key], wanted[key]) for key in wanted)
    return type(found) is type(wanted) and found == wanted


@pytest.mark.parametrize("case", CASES, ids=[case["tool"] for case in CASES])
async def test_answer(case):
    tool = TOOLS[case["tool"]]
    if tool.namespace == "timezones" and "zone" in "".join(case["arguments"]) and not available_timezones():
        with pytest.raises(ValueError, match="install the package tzdata"):
            await tool.call(case["arguments"])
        return

    answer = json.loads(json.dumps(await tool.call(case["arguments"])))

    if "answer" in case:
        assert same(answer, case["answer"]), answer
    else:
        text = answer if isinstance(answer, str) else json.dumps(answer)
        assert re.fullmatch(case["matches"], text, re.DOTALL), text


def test_every_tool_is_called_once():
    assert [case["tool"] for case in CASES] == list(TOOLS)


def test_catalog_is_large_and_complete():
    tools = standard_library.tools()
    assert len(tools) >= 220
    assert all(isinstance(tool, Tool) for tool in tools)
    assert Counter(tool.name for tool in tools).most_common(1)[0][1] == 1
    assert all(tool.namespace and tool.tags and tool.description for tool in tools)


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_every_parameter_is_described(tool):
    properties = tool.parameters.get("properties", {})
    assert [name for name, schema in properties.items() if not schema.get("description")] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("calculate", {"expression": "__import__('os').getcwd()"}, "only numbers"),
        ("calculate", {"expression": "9**9**9**9"}, "range error|Result too large"),
        ("find_pattern", {"pattern": "(a+)+$", "text": "a" * 40 + "b"}, "takes more than 2 s"),
        ("find_pattern", {"pattern": "(", "text": "a"}, "unterminated"),
        ("xml_texts", {"document": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "path": "."}, "DOCTYPE"),
        ("query_records_with_sql", {"records": [{"a": 1}], "sql": "ATTACH 'x.db' AS x"}, "not authorized"),
        ("query_records_with_sql", {"records": [{"a": 1}], "sql": "DROP TABLE records"}, "not authorized"),
        ("query_records_with_sql", {"records": [{"a": 1}], "sql": ENDLESS}, "interrupted"),
        ("current_time_in_zone", {"zone": "Mars/Olympus"}, "no time zone 'Mars/Olympus'"),
        ("current_time_in_zone", {"zone": "../../etc/passwd"}, "no time zone"),
        ("http_status_meaning", {"code": 999}, "999"),
        ("factorial", {"n": 10_000}, "n"),
        ("rgb_to_hex_color", {"red": 300, "green": 0, "blue": 0}, "red"),
    ],
)
async def test_what_cannot_be_answered_raises(name, arguments, text):
    with pytest.raises(Exception, match=text):
        await TOOLS[name].call(arguments)


async def test_a_packed_bomb_is_cut():
    packed = base64.b64encode(zlib.compress(b"0" * 5_000_000)).decode()
    assert len(await TOOLS["decompress_text"].call({"data": packed})) == 1_000_000
