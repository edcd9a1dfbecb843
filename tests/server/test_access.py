"""Who may ask: tokens in every form in which they come, and functions that know their users."""

import asyncio
import base64
from concurrent.futures import Future

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
        ("Bearer \xc3\xa0", "à".encode()),  # its second half is a blank to Python
    ],
)
def test_a_token_is_read_from_its_header(header, token):
    assert presented_token(header) == token


async def test_without_a_token_everybody_is_let_in():
    access = Access(None)
    assert await access.admit(None) == await access.admit("Bearer anything") == Caller(user=None)


@pytest.mark.parametrize(
    "header", ["Bearer s\xe9cret", "Bearer secre", "Bearer secret2", "Bearer SECRET", None]
)
async def test_another_token_is_refused(header):
    access = Access("secret")
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


class Sudden(BaseException):
    """What no program waits for."""


def sudden(_):
    raise Sudden


async def exits(_):
    raise SystemExit(3)


async def cancels_itself(_):
    raise asyncio.CancelledError


async def promises(_):
    return user_of("a")


@pytest.mark.parametrize("check", [sudden, exits, cancels_itself, promises, lambda _: Future()])
async def test_whatever_a_function_raises_or_promises_lets_nobody_in(check, caplog):
    assert await Access(check).admit("Bearer a") is None
    assert "the check of a token failed" in caplog.text


async def test_a_token_that_is_no_text_is_nobodys_and_no_failure(caplog):
    assert await Access(lambda token: token).admit("Bearer \xe9") is None
    assert caplog.text == ""


async def test_a_request_that_is_cancelled_is_not_refused():
    asked = asyncio.Event()

    async def waits(_):
        asked.set()
        await asyncio.Event().wait()

    request = asyncio.create_task(Access(waits).admit("Bearer a"))
    await asked.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request


@pytest.mark.parametrize("token", ["secret\n", " secret", "secret\t", "sec\rret", "half \ud800 a character"])
def test_a_token_that_no_header_carries_is_refused_and_not_shown(token):
    with pytest.raises(ConfigurationError, match="no header can carry this token") as refused:
        Access(token)
    assert "ret" not in str(refused.value)


@pytest.mark.parametrize("token", ["", "  ", 7, b"secret"])
def test_what_cannot_check_is_refused_at_once(token):
    with pytest.raises(ConfigurationError, match="token must be a string"):
        Access(token)
