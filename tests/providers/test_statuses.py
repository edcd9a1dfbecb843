"""Statuses of HTTP in words."""

import pytest

from tool_search_processor.providers.statuses import status_text


@pytest.mark.parametrize(("code", "text"), [(404, "HTTP 404 Not Found"), (599, "HTTP 599")])
def test_a_status_has_the_phrase_of_the_standard(code, text):
    assert status_text(code) == text
