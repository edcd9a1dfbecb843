"""The page in a real browser: by keyboard, in both color schemes, on a phone, and with hostile texts."""

import pytest

from tests.http_server import HttpServer
from tests.server.rest.browser import CHROMEDRIVER, CHROMIUM, Browser
from tests.server.rest.serving import TOOLS, hybrid
from tool_search_processor import Tool
from tool_search_processor.server.rest import create_app

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="needs Chromium and its driver: apt-get install chromium chromium-driver",
    ),
]

HOSTILE = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script></li><b>bold</b> \u202e ${1}'
PAGE_TOOLS = [
    *TOOLS,
    Tool("hostile", HOSTILE, {"type": "object", "title": HOSTILE}, tags={HOSTILE}, namespace=HOSTILE),
    Tool("n" * 64, "A name without an end. " + "word" * 100),
]
NAMES = [tool.name for tool in PAGE_TOOLS]
SHOWN = "[...document.querySelectorAll('{} li[data-name]')].map(one => one.dataset.name)"
FOCUSED = "document.activeElement.closest('li')?.dataset.name ?? document.activeElement.id"


@pytest.fixture(scope="module")
def browser():
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def url():
    with HttpServer(create_app(PAGE_TOOLS, search=hybrid())) as server:
        yield f"{server.url}/"


@pytest.fixture
def page(browser, url):
    """Open the page, and check in the end that it complained of nothing."""

    def open_page(shown="", *, at=url):
        browser.open(f"{at}#{shown}")
        browser.until("document.querySelector('#status').textContent")
        return browser

    browser.resize(1280, 900)
    browser.prefer("light")
    browser.errors()
    yield open_page
    assert browser.errors() == []


def shown(page, section="section:first-child"):
    return page.run(SHOWN.format(section))


def choose(page, name, value):
    page.run(
        f"(select => {{ select.value = {value!r}; "
        "select.dispatchEvent(new Event('change', {bubbles: true})); })"
        f"(document.getElementById({name!r}))"
    )


def test_a_typed_query_is_ranked_and_explained(page):
    page = page()
    assert shown(page) == NAMES
    assert page.run("document.querySelector('#status').textContent") == "The first 6 tools of 6."
    page.press("send an email")
    page.until("document.querySelector('#status').textContent.includes('send_email first')")
    first = page.run("document.querySelector('section li').innerText")
    for part in (
        "1",
        "send_email",
        "mail",
        "Send an email to somebody.",
        "words #1",
        "meaning #1",
        " tokens",
        "write",
    ):
        assert part in first
    assert page.run(
        "[...document.querySelectorAll('li:first-child .matched')].map(one => one.textContent)"
    ) == [
        "send",
        "email",
    ]
    assert float(page.run("document.querySelector('.score').innerText")) > 0.5


def test_everything_is_reached_by_keyboard(page):
    page = page("q=email&second=vector")
    page.until("document.querySelectorAll('#columns.two .row').length > 3")
    left, right = shown(page), shown(page, "section:last-child")
    assert page.run(FOCUSED) == "query"
    for key, expected in (
        ("Down", left[0]),
        ("Down", left[1]),
        ("Right", right[1]),
        ("Up", right[0]),
        ("Left", left[0]),
        ("Up", "query"),
        ("Down", left[0]),
        ("Esc", "query"),
        ("Down", left[0]),
    ):
        page.press(key)
        assert page.run(FOCUSED) == expected, key
    assert page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "false"
    page.press("Enter")
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert '"type": "object"' in page.run(
        "document.activeElement.closest('li').querySelector('pre').innerText"
    )
    page.press("Enter")
    assert page.run("document.activeElement.closest('li').querySelector('.more').hidden")
    page.press("/")
    assert page.run(FOCUSED) == "query"
    page.press("weather")
    page.until(
        "document.querySelector('#status').textContent.includes('first are get_weather and get_weather')"
    )


def test_rankings_stand_beside_each_other(page):
    page = page("q=price&first=fts&second=vector")
    page.until("document.querySelectorAll('#columns.two .row').length > 1")
    titles = page.run("[...document.querySelectorAll('h2 span')].map(one => one.textContent)")
    assert titles == ["Words (REST fts)", "Meaning (REST vector)"]
    assert shown(page) == ["stock_price"]
    others = shown(page, "section:last-child")
    assert others[0] == "stock_price"
    assert "beside #1" in page.run("document.querySelector('section:last-child li').innerText")
    assert "only here" in page.run("document.querySelector('section:last-child li:nth-child(2)').innerText")
    page.press("Down")
    assert page.run("document.querySelector('section:last-child .twin').dataset.name") == "stock_price"
    choose(page, "second", "")
    page.until("document.querySelector('section:last-child').hidden")


def test_namespace_and_tag_filter_and_what_is_shown_can_be_sent_on(page):
    page = page()
    choose(page, "namespace", "mail")
    page.until("document.querySelectorAll('section:first-child .row').length === 2")
    choose(page, "tag", "write")
    page.until("document.querySelectorAll('section:first-child .row').length === 1")
    assert shown(page) == ["send_email"]
    address = page.run("location.href")
    assert address.endswith("#namespace=mail&tag=write&first=score")
    page.open(address)
    page.until("document.querySelectorAll('section:first-child .row').length === 1")
    assert page.run("document.getElementById('namespace').value") == "mail"
    choose(page, "tag", "finance")
    page.until("document.querySelector('#status').textContent === 'The first 0 tools of 6.'")
    assert page.run("document.querySelector('.nothing').textContent") == "No tool fits."


def test_what_tools_say_is_text_and_nothing_else(page):
    page = page("q=hostile")
    page.until("document.querySelectorAll('.row').length")
    assert page.run("document.querySelector('li[data-name=hostile] .text').textContent") == HOSTILE
    assert page.run(
        "[...document.getElementById('namespace').options].some(one => one.value.includes('<img'))"
    )
    assert page.run("document.querySelectorAll('li img, li script, li .text *').length") == 0
    assert page.run("window.hurt === undefined")
    assert page.run(
        "(() => { try { document.body.innerHTML = '<b>'; return false } catch { return true } })()"
    )
    errors = page.errors()
    assert all("TrustedHTML" in error for error in errors)


CONTRAST = """(() => {
  const style = getComputedStyle(document.documentElement);
  const luminance = (name) => {
    const [r, g, b] = style.getPropertyValue(name).trim().slice(1).match(/../g).map((part) => {
      const value = parseInt(part, 16) / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [["ink", "card"], ["soft", "card"], ["soft", "page"], ["good", "good-soft"],
    ["accent", "accent-soft"], ["soft", "accent-soft"], ["bad", "page"]].map(([one, other]) => {
      const [light, dark] = [luminance(`--${one}`), luminance(`--${other}`)].sort((a, b) => b - a);
      return (light + 0.05) / (dark + 0.05);
    });
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_color_schemes(page, scheme):
    page = page()
    page.prefer(scheme)
    assert min(page.run(CONTRAST)) >= 4.5
    background = page.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(background) < 128 * 3) == (scheme == "dark")


def test_a_phone_shows_all_of_it(page):
    browser = page("q=name&second=fts")
    browser.resize(360, 740)
    browser.until("document.querySelectorAll('.row').length > 1")
    assert browser.run("document.documentElement.scrollWidth") <= 360
    assert (
        browser.run(
            "getComputedStyle(document.querySelector('#columns')).gridTemplateColumns.split(' ').length"
        )
        == 1
    )


def test_every_control_has_a_name_and_news_are_announced(page):
    page = page()
    tree = page.command("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"searchbox", "combobox", "button"}
    controls = [node for node in tree if node.get("role", {}).get("value") in roles]
    assert len(controls) == 5 + len(NAMES)
    assert [node for node in controls if not node["name"]["value"]] == []
    assert page.run("document.querySelector('#status').getAttribute('aria-live')") == "polite"


def test_a_failure_is_told(page):
    with HttpServer(create_app(TOOLS, search="regex")) as server:
        opened = page("q=(", at=f"{server.url}/")
        assert opened.run("document.querySelector('#status.failed').textContent").startswith("The pattern")
        assert opened.run("document.getElementById('compare').hidden")
        opened.press("/", "|mail)")
        opened.until("document.querySelector('#status:not(.failed)')")
    (refused,) = opened.errors()
    assert "422" in refused


def test_a_browser_sends_the_token_on(page, rest_url):
    opened = page("q=weather", at=rest_url.replace("http://", "http://me:secret@") + "/")
    assert shown(opened)[0] == "get_weather"
