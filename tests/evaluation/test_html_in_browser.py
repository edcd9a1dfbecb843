"""The page of a report as a browser lays it out: on a phone and on a wide screen, light and dark."""

import pytest

from tests.server.rest.browser import CHROMEDRIVER, CHROMIUM, Browser
from tool_search_processor.evaluation import Query, evaluate, html_report
from tool_search_processor.search.bm25 import BM25Index
from tool_search_processor.search.fuzzy import FuzzyIndex
from tool_search_processor.tools import Tool

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="needs Chromium and its driver: apt-get install chromium chromium-driver",
    ),
]

WIDTHS = [360, 390, 768, 1024, 1600, 2400]
SEARCHES = {
    "bm25": BM25Index,
    "fuzzy": FuzzyIndex,
    "my_package.indexes:MyOwnIndex": BM25Index,
}
SETS = ["mcp_vendors", "toolbench_rapidapi_with_a_long_name", "s" * 64]
TOOLS = [
    Tool("create_issue", "Open a ticket in a repository."),
    Tool("send_mail", "Write to somebody."),
    Tool("n" * 64, "A name without an end."),
]
OTHERS = [Tool("paint", "Paints a wall.")]
QUERIES = [
    Query(text="open a ticket", relevant=("create_issue",), id="1", group="tickets"),
    Query(
        text="a request that nothing finds, " * 12,
        relevant=("send_mail",),
        id="2",
        group="a_group_with_a_long_name",
    ),
    Query(text="q" * 200, relevant=tuple(tool.name for tool in TOOLS), id="3", group="more"),
]
MOST_PIXELS_OF_A_ROW = 72
LEAST_PIXELS_OF_TEXT = 11

# Every line of text that is seen, with its box cut to what its scrolling table shows, and its size.
TEXTS = """(() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || element.closest("title")) continue;
    const frame = element.closest(".wide, figure")?.getBoundingClientRect();
    const scale = element.closest("svg") ? element.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const left = Math.max(box.left, frame?.left ?? 0), right = Math.min(box.right, frame?.right ?? 1e6);
      if (right - left < 1 || !box.height || element.checkVisibility() === false) continue;
      if (element.closest(".hint")?.clientWidth === 0) continue;
      found.push({text: node.data.trim(), size, left, right, top: box.top, bottom: box.bottom});
    }
  }
  return found;
})()"""
LAYOUT = """(() => ({
  page: document.documentElement.scrollWidth,
  rows: [...document.querySelectorAll(".wide tbody tr:not(.set)")].map(row => row.offsetHeight),
  hints: [...document.querySelectorAll(".wide")].map(
    wide => [wide.scrollWidth > wide.clientWidth, wide.querySelector(".hint").clientWidth > 50]),
  used: Math.max(...[...document.querySelectorAll("table, svg")].map(
    one => one.getBoundingClientRect().right)),
}))()"""
# What lies on top at the middle of each point of the first search, and at the rims of those of the last.
ON_TOP = """(() => {
  const svg = [...document.querySelectorAll("svg")].find(one => one.querySelector("circle"));
  svg.scrollIntoView();
  const at = (circle, part) => {
    const box = circle.getBoundingClientRect();
    const hit = document.elementFromPoint(
      box.x + box.width / 2, box.y + box.height / 2 + part * box.height / 2);
    return hit.getAttribute("fill");
  };
  const circles = [...svg.querySelectorAll("circle")];
  const of = (number) => circles.filter(one => one.getAttribute("fill") === `var(--s${number})`);
  return {first: of(0).map(one => at(one, 0)), last: of(2).map(one => at(one, 0.9))};
})()"""


def report(search, name):
    return evaluate(SEARCHES[search], TOOLS, QUERIES, search=search, name=name, abstain_tools=OTHERS)


@pytest.fixture(scope="module")
def browser():
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=[1, 3], ids=["one set", "three sets"])
def url(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    reports = [report(search, name) for name in SETS[: request.param] for search in SEARCHES]
    path.write_text(html_report(reports), "utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, url):
    """Return a function that opens the page in a width, and every part of it that is folded."""

    def open_page(width, scheme="light"):
        browser.prefer(scheme)
        browser.resize(width, 900)
        browser.open(url)
        browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        return browser

    yield open_page
    assert browser.errors() == []


def overlapping(texts):
    """Return the pairs of texts whose boxes share more than a pixel each way."""
    placed = sorted(texts, key=lambda text: text["top"])
    return [
        (one["text"], other["text"])
        for place, one in enumerate(placed)
        for other in placed[place + 1 :]
        if other["top"] < one["bottom"] - 3
        and min(one["right"], other["right"]) - max(one["left"], other["left"]) > 1
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_is_readable_in_every_width(page, width):
    opened = page(width)
    layout, texts = opened.run(LAYOUT), opened.run(TEXTS)
    assert layout["page"] <= width, "the page itself scrolls sideways"
    assert max(layout["rows"]) <= MOST_PIXELS_OF_A_ROW
    assert [text for text in texts if text["size"] < LEAST_PIXELS_OF_TEXT] == []
    assert [text for text in texts if text["right"] > width or text["left"] < 0] == []
    assert overlapping(texts) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_that_scrolls_says_so_and_no_other_does(page, width):
    hints = page(width).run(LAYOUT)["hints"]
    assert [says for scrolls, says in hints] == [scrolls for scrolls, says in hints]
    assert hints[0][0] == (width < 1000), "the figures scroll on a phone alone"


def test_a_name_stays_in_view_when_its_table_scrolls(page):
    opened = page(390)
    opened.run("document.querySelector('.wide').scrollLeft = 300")
    left = opened.run("document.querySelector('.wide tbody .name').getBoundingClientRect().left")
    assert left == opened.run("document.querySelector('.wide').getBoundingClientRect().left")


@pytest.mark.parametrize("width", [1024, 1600])
def test_a_wide_screen_is_used(page, width):
    assert page(width).run(LAYOUT)["used"] >= width * 0.95


def test_no_search_is_hidden_under_another_with_the_same_figures(page):
    found = page(390).run(ON_TOP)
    assert found["first"] == ["var(--s0)"] * 10
    assert found["last"] == ["var(--s2)"] * 10


CONTRAST = """(() => {
  const style = getComputedStyle(document.documentElement);
  const luminance = (name) => {
    const [r, g, b] = style.getPropertyValue(name).trim().slice(1).replace(/^(.)(.)(.)$/, "$1$1$2$2$3$3")
      .match(/../g).map((part) => {
        const value = parseInt(part, 16) / 255;
        return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
      });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  return {text: ["--ink", "--soft"].flatMap(ink => [contrast(ink, "--page"), contrast(ink, "--band")]),
    plots: [0, 1, 2, 3, 4, 5].map(number => contrast(`--s${number}`, "--page"))};
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_plots_are_seen_in_both_color_schemes(page, scheme):
    opened = page(1024, scheme)
    contrast = opened.run(CONTRAST)
    assert min(contrast["text"]) >= 4.5
    assert min(contrast["plots"]) >= 3
    background = opened.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(background) < 128 * 3) == (scheme == "dark")
    names = opened.run("getComputedStyle(document.querySelector('tbody .name')).backgroundColor")
    assert names == opened.run("getComputedStyle(document.body).backgroundColor")
