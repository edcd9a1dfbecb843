"""The page: complete in itself, well-formed, and deaf to what names say."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from tool_search_processor.evaluation import Query, evaluate, html_report
from tool_search_processor.evaluation.metrics import Estimate
from tool_search_processor.evaluation.plots import WIDTH, bar_plots, bars, curves
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.tools import Tool

HOSTILE = '</title></svg><script>alert(1)</script><img src=x onerror="alert(1)">&amp;\''
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Collects what a browser would see, and checks that elements are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def report(search="bm25", name="one", *, group=None, tools=None, text="open a ticket", others=()):
    tools = tools or [Tool("create_issue", "Open a ticket."), Tool("send_mail", "Write to somebody.")]
    queries = [
        Query(text=text, relevant=(tools[0].name,), id="1", group=group and f"{group} 1"),
        Query(text="zzz qqq", relevant=(tools[1].name,), id="2", group=group and f"{group} 2"),
    ]
    return evaluate(BM25Index, tools, queries, search=search, name=name, abstain_tools=others)


def test_a_page_holds_figures_plots_and_misses():
    page = Page(html_report([report(group="g"), report("other", group="g")]))
    text = " ".join(page.texts)
    for expected in (
        "1 set, 2 tools, 2 queries.", "recall@5", "nDCG@10", "0.500", "What was missed", "zzz qqq",
        "send_mail", "by group", "g 1", "nothing", "Recall by the number of results",
    ):  # fmt: skip
        assert expected in text
    assert page.tags.count("figure") == 2


def test_several_sets_have_averages_and_a_plot_of_their_own():
    page = Page(html_report([report(name="one"), report(name="two")]))
    assert "macro average" in page.texts
    assert "Recall@5 by set" in page.texts
    assert "2 sets, 4 tools, 4 queries." in " ".join(page.texts)
    assert ("class", "average") in page.attributes


def test_abstention_has_a_column_where_it_was_measured():
    others = [Tool("paint", "Paints a wall.")]
    page = Page(html_report([report(others=others), report("other")]))
    assert page.texts.count("abstention AUC") == 1
    assert "0.750" in page.texts
    assert "abstention AUC" not in Page(html_report([report()])).texts


def test_a_page_needs_nothing_from_elsewhere_and_runs_nothing():
    text = html_report([report(), report("other", "two")])
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object", "use", "image"}.intersection(page.tags)
    assert not [name for name, _ in page.attributes if name in ("src", "href") or name.startswith("on")]
    assert not re.search(r"url\(|@import", text)
    assert re.findall(r"https?://[^\"' ]+", text) == ["http://www.w3.org/2000/svg"] * text.count("<svg")


def test_a_page_is_light_and_dark():
    text = html_report([report()])
    assert "color-scheme: light dark" in text
    assert "prefers-color-scheme: dark" in text


def test_hostile_names_are_shown_not_obeyed():
    tools = [Tool("a", HOSTILE, namespace=HOSTILE), Tool("b", metadata={"original_name": HOSTILE})]
    hostile = report(HOSTILE, HOSTILE, group=HOSTILE, tools=tools, text=HOSTILE)
    page = Page(html_report([hostile, report(HOSTILE, "two")], title=HOSTILE))
    assert not {"script", "img"}.intersection(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert page.texts.count(HOSTILE) >= 3


ESTIMATE = Estimate(value=0.5, low=0.25, high=0.75)


@pytest.mark.parametrize(
    "svg",
    [
        bars({HOSTILE: [ESTIMATE], "b": [ESTIMATE]}, [HOSTILE], title=HOSTILE),
        bars({f"set {i}": [ESTIMATE] * 9 for i in range(20)}, [f"s{i}" for i in range(9)], title="Many"),
        curves({HOSTILE: [0.0, 0.5, 1.0], "b": [1.0]}, title=HOSTILE),
        curves({}, title="None"),
    ],
    ids=["bars", "many bars", "curves", "no curves"],
)
def test_plots_are_well_formed_and_within_their_bounds(svg):
    root = ET.fromstring(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    assert root.get("role") == "img"
    assert root.get("aria-label")
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(name, 0)) <= width
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(name, 0)) <= height


def test_bars_stand_on_the_ground_and_are_as_high_as_their_values():
    svg = bars({"a": [ESTIMATE, Estimate(value=1.0, low=1.0, high=1.0)]}, ["x", "y"], title="T")
    first, second, *_ = [element for element in ET.fromstring(svg).iter() if element.tag.endswith("rect")]
    assert float(second.get("height")) == pytest.approx(2 * float(first.get("height")))
    assert float(first.get("y")) + float(first.get("height")) == pytest.approx(220)
    assert "x a: 0.500 (0.250 to 0.750)" in svg


def test_groups_of_bars_are_spread_over_plots_that_fit_a_phone():
    sets = {f"a set {number}": [ESTIMATE] * 3 for number in range(7)}
    plots = [ET.fromstring(svg) for svg in bar_plots(sets, ["a", "b", "c"], title="T")]
    assert [float(plot.get("width")) <= WIDTH for plot in plots] == [True] * len(plots)
    shown = ["".join(text) for plot in plots for text in map(ET.Element.itertext, plot)]
    assert [label for label in sets if label in shown] == list(sets)
    assert bar_plots({}, ["a"], title="T") == []


def test_curves_that_lie_on_each_other_are_all_seen_the_first_on_top():
    svg = curves({"bm25": [0.5, 0.9], "fuzzy": [0.5, 0.8], "regex": [0.5, 0.9]}, title="T")
    circles = [element for element in ET.fromstring(svg).iter() if element.tag.endswith("circle")]
    radii = {}
    for circle in circles:
        radii.setdefault(circle.get("fill"), []).append(float(circle.get("r")))
    assert list(radii) == ["var(--s2)", "var(--s1)", "var(--s0)"]  # what comes last is on top
    assert radii == {"var(--s0)": [3, 3], "var(--s1)": [6, 3], "var(--s2)": [9, 6]}
