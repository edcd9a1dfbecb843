"""Addresses and headers of a user: what can't work is refused, and no value is shown."""

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.web import check_headers, check_url, check_value, shown_url, status_text


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost",
        "https://me:p%2Fss@a.example:8443/mcp?key=1#x",
        "http://[::1]:80/",
        "https://10.0.0.1",
    ],
)
def test_a_url_that_can_be_called(url):
    check_url(url, option="url")


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("", "begins with http:// or https://, found neither"),
        ("me:sesame@a.example", "found neither"),
        ("sesame sesame://a.example", "found neither"),
        ("ftp://me:sesame@a.example", "found 'ftp'"),
        ("https://", "has a host and perhaps a port"),
        ("https:///sesame", "has a host"),
        (
            "https://me:sesame/1@a.example",
            "has a host and perhaps a port; in a password before them, write / as",
        ),
        ("https://me:sesame#1@a.example", "has a host"),
        ("https://a.example:sesame", "has a host"),
        ("https://a.example:70000/sesame", "has a host"),
        ("https://[sesame/", "has a host"),
    ],
)
def test_a_url_that_cannot_be_called_is_not_shown(url, found):
    with pytest.raises(ConfigurationError, match=f"^where .*{found}") as told:
        check_url(url, option="where")
    assert "sesame" not in str(told.value)


def test_a_url_is_shown_without_what_may_be_secret():
    assert shown_url("https://me:sesame@a.example:8443/mcp?key=1#x") == "https://a.example:8443/mcp"


def test_a_value_from_a_file_has_its_line_end_taken_off():
    assert check_headers({"X-Key": " sesame\r\n", "X-Empty": ""}) == {"X-Key": "sesame", "X-Empty": ""}


@pytest.mark.parametrize("value", ["se\nsame", "se\0same", 5, None, b"sesame", ["sesame"]])
def test_a_value_of_more_than_a_line_is_not_shown(value):
    with pytest.raises(
        ConfigurationError, match=r"the key is a string without line breaks, found a .* that"
    ) as told:
        check_value(value, "the key")
    assert "sesame" not in str(told.value)


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        (["X: sesame"], "headers is a mapping of strings, found a list"),
        ({"X Key": "sesame"}, "'X Key' is not a header name"),
        ({"X-Key:": "sesame"}, "'X-Key:' is not a header name"),
        ({"": "sesame"}, "'' is not a header name"),
        ({1: "sesame"}, "1 is not a header name"),
        ({"X-Key": 5}, "the header 'X-Key' is a string"),
    ],
)
def test_headers_that_cannot_be_sent(headers, problem):
    with pytest.raises(ConfigurationError, match=problem) as told:
        check_headers(headers)
    assert "sesame" not in str(told.value)


@pytest.mark.parametrize(("code", "text"), [(404, "HTTP 404 Not Found"), (599, "HTTP 599")])
def test_a_status_has_the_phrase_of_the_standard(code, text):
    assert status_text(code) == text
