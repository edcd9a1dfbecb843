"""Who may ask: tokens in every form in which they come, and functions that know their users."""

import base64

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.access import Access, Caller, presented_token


def basic(text):
    return f"Basic {base64.b64encode(text.encode()).decode()}"


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer secret", b"secret"),
        ("bearer   secret ", b"secret"),
        ("Bearer", None),
        ("Bearer ", None),
        (basic("anyone:secret"), b"secret"),
        (basic(":a:b"), b"a:b"),
        (basic("anyone"), None),
        ("Basic %%%", None),
        ("Basic abc", None),
        ("Digest secret", None),
        ("secret", None),
        ("", None),
        (None, None),
        ("Bearer \xe9", b"\xe9"),
        ("Bearer \u20ac", b"?"),
    ],
)
def test_a_token_is_read_from_its_header(header, token):
    assert presented_token(header) == token


async def test_without_a_token_everybody_is_let_in():
    access = Access(None)
    assert access.is_open
    assert await access.admit(None) == await access.admit("Bearer anything") == Caller(user=None)


@pytest.mark.parametrize(
    "header", ["Bearer s\xe9cret", "Bearer secre", "Bearer secret2", "Bearer SECRET", None]
)
async def test_another_token_is_refused(header):
    access = Access("secret")
    assert not access.is_open
    assert await access.admit(header) is None
    assert await access.admit("Bearer secret") == Caller()


async def test_a_token_may_hold_any_characters():
    sent = "Bearer schlüssel€".encode().decode("latin-1")  # as servers hand headers on
    assert await Access("schlüssel€").admit(sent) == Caller()


USERS = {"a": "ada", "b": {"name": "bob"}}


async def user_of(token):
    return USERS.get(token)


@pytest.mark.parametrize("check", [user_of, USERS.get])
async def test_a_function_tells_the_user_of_a_token(check):
    access = Access(check)
    assert await access.admit("Bearer a") == Caller(user="ada")
    assert await access.admit(basic("x:b")) == Caller(user={"name": "bob"})
    assert await access.admit("Bearer c") is None
    assert await access.admit(None) is None


async def test_a_function_that_fails_refuses_and_is_reported(caplog):
    assert await Access(lambda token: 1 / 0).admit("Bearer a") is None
    assert "the check of a token failed" in caplog.text
    assert await Access(lambda token: False).admit("Bearer a") is None
    assert await Access(lambda token: token).admit("Bearer \xe9") is None  # no UTF-8


@pytest.mark.parametrize("token", ["", "  ", 7, b"secret"])
def test_what_cannot_check_is_refused_at_once(token):
    with pytest.raises(ConfigurationError, match="token is a text"):
        Access(token)
