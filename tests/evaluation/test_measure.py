"""Measuring a search whose answers are known."""

import json
import math
import re

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.evaluation import DataError, Query, evaluate, load_tools, macro_average
from tool_search_processor.evaluation.data import make_dataset
from tool_search_processor.evaluation.measure import MeasuredIndex, foreign_tools, query_count
from tool_search_processor.evaluation.report import DEPTH, METRICS
from tool_search_processor.evaluation.summary import grouped, recall_curve, table_rows, united
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.protocol import Hit
from tool_search_processor.search.regex import RegexIndex
from tool_search_processor.tokens.counting import estimate_tokens
from tool_search_processor.tools import Tool

TOOLS = [Tool(name, f"Does {name}.") for name in "abcdefgh"]


def query(text, *relevant, group=None):
    return Query(text=text, relevant=relevant, id=text, group=group)


class Answers:
    """An index that answers each query with the names that the query lists, scores falling from `top`."""

    def __init__(self, top=0.9):
        self.top = top
        self.names = ()
        self.asked = []

    def update(self, documents):
        self.names = [document.name for document in documents]

    def search(self, query, *, limit=None, within=None, extra=()):
        self.asked.append((query, limit))
        named = [name for name in query.split() if name in self.names]
        return [Hit(name=name, score=self.top - place / 100) for place, name in enumerate(named)][:limit]


class AnswersFromAfar(Answers):
    """The same behind coroutines, which check that they always run in one loop."""

    def __init__(self):
        super().__init__()
        self.loops = set()

    async def update(self, documents):
        self._note()
        super().update(documents)

    async def search(self, query, *, limit=None, within=None, extra=()):
        self._note()
        return super().search(query, limit=limit)

    def _note(self):
        import asyncio

        self.loops.add(asyncio.get_running_loop())


def measured(*queries, index=Answers, **options):
    return evaluate(index, TOOLS, queries, search="s", name="n", **options)


def values(report):
    return {name: estimate.value for name, estimate in report.metrics.items()}


@pytest.mark.parametrize("order", [("math.pow", "math_pow"), ("math_pow", "math.pow")])
def test_relevant_names_are_matched_once(tmp_path, order):
    # The valid name of one tool is the original name of the other: matched again, they changed places.
    tools = load_tools(saved(tmp_path / "tools.jsonl", *({"name": name} for name in order)))
    names = {tool.original_name: tool.name for tool in tools}
    asked = [query(names[name], name) for name in order]
    dataset = make_dataset(tools, asked)
    assert [q.relevant for q in dataset.queries] == [(names[name],) for name in order]
    report = evaluate(Answers, dataset.tools, dataset.queries)
    assert report.metrics["recall@1"].value == 1.0


def saved(path, *records):
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return path


def test_the_means_are_those_of_the_queries():
    report = measured(query("a b c", "a"), query("b a", "a", "c"))
    assert values(report) == pytest.approx(
        {
            "hit@1": 0.5,
            "recall@1": 0.5,
            "recall@3": 0.75,
            "recall@5": 0.75,
            "recall@10": 0.75,
            "ndcg@10": (1 + (1 / math.log2(3)) / (1 + 1 / math.log2(3))) / 2,
            "completeness@5": 0.5,
            "mrr": 0.75,
        }
    )
    assert (report.search, report.set_name, report.tools, report.queries) == ("s", "n", 8, 2)


def test_every_mean_lies_in_its_interval():
    report = measured(*(query("a b c", relevant) for relevant in "abcabd"))
    for name, found in report.metrics.items():
        assert 0 <= found.low <= found.value <= found.high <= 1, name
    assert report.metrics["recall@1"].low < report.metrics["recall@1"].high


def test_the_same_seed_gives_the_same_report_and_samples_of_another_differ():
    asked = [query("a b c", relevant) for relevant in "abcabd"]
    first, second, other = measured(*asked), measured(*asked), measured(*asked, seed=1)
    assert first.metrics == second.metrics
    assert (first.samples != other.samples).any()
    assert values(first) == values(other)


def test_tokens_are_those_of_the_first_five_hits():
    cost = {tool.name: estimate_tokens(tool.definition_json) for tool in TOOLS}
    report = measured(query("a b c d e f", "a"), query("a", "a"))
    assert report.tokens_all == sum(cost.values())
    assert report.tokens_top5 == (sum(cost[name] for name in "abcde") + cost["a"]) / 2
    assert measured(query("a", "a"), counter=lambda text: 7).tokens_all == 56


def test_ten_hits_are_asked_for_and_the_first_query_warms_up():
    index = Answers()
    measured(query("a", "a"), query("b", "b"), index=lambda: index)
    assert index.asked == [("a", DEPTH), ("a", DEPTH), ("b", DEPTH)]


def test_times_are_measured():
    report = measured(query("a", "a"))
    assert report.milliseconds >= 0
    assert report.build_seconds >= 0


def test_queries_that_no_tool_serves_count_for_abstention_alone():
    report = measured(query("a", "a"), query("nothing"), query("b c"))
    assert report.queries == 1
    assert report.metrics["recall@5"].value == 1.0
    assert report.abstention_auc == 0.75  # 0.9 against 0.0 and 0.9


def test_abstention_against_another_catalog():
    class Sure(Answers):
        def update(self, documents):
            super().update(documents)
            self.top = 0.9 if "a" in self.names else 0.5

    asked = [query("a x", "a"), query("b y", "b")]
    assert measured(*asked).abstention_auc is None
    report = measured(*asked, index=Sure, abstain_tools=[Tool("x"), Tool("y"), Tool("a")])
    assert report.abstention_auc == 1.0
    assert measured(*asked, abstain_tools=[Tool("x"), Tool("y")]).abstention_auc == 0.5
    assert measured(*asked, abstain_tools=TOOLS).abstention_auc is None  # none is left of it


def test_tools_that_the_catalog_has_are_left_out_of_the_other():
    assert foreign_tools([Tool("a")], [Tool("a", "other"), Tool("b")]) == [Tool("b")]


def test_progress_is_told_for_every_query():
    asked = (query("a", "a"), query("b", "b"), query("nothing"))
    for others in ((), [Tool("x")], TOOLS):
        told = []
        measured(*asked, abstain_tools=others, progress=told.append)
        assert sum(told) == query_count(make_dataset(TOOLS, asked), others)


def test_an_index_behind_coroutines_is_asked_in_one_loop():
    index = AnswersFromAfar()
    report = measured(query("a", "a"), query("b", "b"), index=lambda: index)
    assert report.metrics["recall@1"].value == 1.0
    assert len(index.loops) == 1


class Later(Answers):
    """An index that is ready only when waited for, or never."""

    def __init__(self, works=True):
        super().__init__()
        self.works = works
        self.later = ()

    def update(self, documents):
        self.later = documents

    def wait(self, timeout_seconds=None):
        if self.works:
            super().update(self.later)
        return self.works


def test_an_index_that_builds_in_the_background_is_waited_for():
    assert measured(query("a", "a"), index=Later).metrics["recall@1"].value == 1.0


def test_an_index_that_never_gets_ready_is_not_measured():
    with pytest.raises(ConfigurationError, match="did not become ready"):
        measured(query("a", "a"), index=lambda: Later(works=False))


@pytest.mark.parametrize(
    ("tools", "queries", "message"),
    [
        (TOOLS, [query("a", "z")], "not in the catalog: 'z'"),
        ([*TOOLS, Tool("a")], [query("a", "a")], "two tools are named 'a'"),
        (TOOLS, [query("a")], "no query with a tool that should be found"),
    ],
)
def test_what_can_not_be_measured(tools, queries, message):
    with pytest.raises(DataError, match=message):
        evaluate(Answers, tools, queries)


def test_the_real_index_finds_tools_by_what_they_say():
    tools = [Tool("create_issue", "Open a ticket."), Tool("send_mail", "Write to somebody.")]
    report = evaluate(BM25Index, tools, [query("open a ticket", "create_issue"), query("write", "send_mail")])
    assert report.metrics["recall@1"].value == 1.0


def test_a_query_that_is_no_pattern_finds_nothing():
    report = measured(query("(", "a"), query("^a$", "a"), index=RegexIndex)
    assert report.metrics["recall@1"].value == 0.5


def test_the_engine_measures_each_filling():
    with MeasuredIndex(BM25Index()) as engine:
        engine.fill(TOOLS)
        assert engine.search("a", limit=1)[0].name == "a"
        assert engine.outcome(query("b", "b")).ranked[0] == "b"
        assert engine.outcome(query("zzz", "b")).best_score == 0.0


# -- reports


def test_groups_have_means_of_their_own():
    report = measured(
        query("a", "a", group="x"), query("b a", "a", group="x"), query("c", "d", group="y"), query("a", "a")
    )
    groups = report.groups()
    assert list(groups) == ["x", "y"]
    assert groups["x"]["recall@1"] == 0.5
    assert groups["y"] == dict.fromkeys(METRICS, 0.0)


def test_misses_are_the_queries_that_lack_a_tool_the_worst_first():
    report = measured(query("a b", "a", "c"), query("a", "a"), query("b", "a"))
    assert [outcome.query.text for outcome in report.misses()] == ["b", "a b"]
    assert [outcome.query.text for outcome in report.misses(k=1)] == ["b", "a b"]


def test_reports_can_be_compared_and_shown():
    report = measured(query("a", "a"))
    assert report == report.__class__(
        **{name: getattr(report, name) for name in report.__dataclass_fields__} | {"samples": None}
    )
    assert len(repr(report)) < 1500


def test_a_report_is_json():
    report = measured(query("a", "a", group="x"))
    read = json.loads(json.dumps(report.as_json()))
    assert read["metrics"]["recall@5"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert (read["search"], read["set"], read["tools"], read["queries"]) == ("s", "n", 8, 1)
    assert read["groups"]["x"]["mrr"] == 1.0


def several():
    first = evaluate(Answers, TOOLS, [query("a", "a")] * 9, search="s", name="one", seed=0)
    second = evaluate(
        Answers, TOOLS, [query("b", "a"), query("b a", "a"), query("x")], search="s", name="two", seed=1
    )
    return first, second


def test_each_set_counts_once_in_an_average():
    first, second = several()
    average = macro_average([first, second])
    assert average.metrics["recall@5"].value == 0.75
    assert average.metrics["recall@5"].low == 0.5  # the first set has no spread, the second all of it
    assert average.metrics["recall@5"].high == 1.0
    assert average.abstention_auc == second.abstention_auc
    assert (average.tools, average.queries, average.set_name) == (16, 11, "macro average")
    assert average.groups() == {}


def test_the_lines_of_a_table_are_set_by_set_then_the_averages():
    first, second = several()
    other = evaluate(Answers, TOOLS, [query("a", "a")], search="t", name="one")
    lines = [(report.set_name, report.search) for report in table_rows([first, second, other])]
    assert lines == [("one", "s"), ("one", "t"), ("two", "s"), ("macro average", "s")]
    assert [report.set_name for report in table_rows([first])] == ["one"]
    assert list(grouped([first, second, other])) == ["s", "t"]
    assert united([first]) is first


def test_the_recall_curve_ends_at_recall_at_ten():
    first, second = several()
    curve = recall_curve([first, second])
    assert len(curve) == DEPTH
    assert curve[0] == 0.5
    assert curve[1] == curve[-1] == 0.75
    assert re.fullmatch(r"[\d.]+", str(curve[0]))
