"""Takes the picture of the page: python -m tests.server.rest.screenshot examples/search_page.png."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "examples"))

from standard_library import tools

from tests.http_server import HttpServer
from tests.server.rest.browser import Browser
from tool_search_processor.search.hybrid import HybridIndex
from tool_search_processor.search.vector import VectorIndex
from tool_search_processor.server.rest import create_app

SHOWN = "q=same+word+backwards&first=score&second=fts"
SIZE = (1100, 720)


def take(path: Path) -> None:
    """Save the page as it shows one query in two rankings."""
    index = HybridIndex(vector=VectorIndex(background=False))
    browser = Browser()
    try:
        with HttpServer(create_app(tools(), search=index)) as server:
            browser.resize(*SIZE)
            browser.open(f"{server.url}/#{SHOWN}")
            browser.until("document.querySelectorAll('#columns.two .row').length > 8")
            browser.press("Down")
            browser.screenshot(path)
    finally:
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
