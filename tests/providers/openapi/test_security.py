"""Credentials of security schemes."""

import pytest

from tests.providers.openapi.apis import api
from tool_search_processor import ToolContext
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.routes import Route
from tool_search_processor.providers.openapi.security import Credentials, Proof

SCHEMES = {
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "a key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "bearer": {"type": "http", "scheme": "Bearer"},
    "basic": {"type": "http", "scheme": "basic"},
    "token": {"type": "http", "scheme": "token"},
    "oauth": {"type": "oauth2", "flows": {}},
    "oidc": {"type": "openIdConnect"},
    "reference": {"$ref": "#/components/securitySchemes/bearer"},
    "mutual": {"type": "mutualTLS"},
    "body": {"type": "apiKey", "in": "body", "name": "k"},
}


def credentials(secrets, schemes=SCHEMES, **version):
    parts = {"securityDefinitions": schemes} if version else {"components": {"securitySchemes": schemes}}
    return Credentials(OpenAPIDocument(api({"/p": {"get": {}}}, **parts, **version), label="api"), secrets)


async def proof(secrets, *security, context=None, **more):
    route = Route(method="GET", path="/p", server="", security=security)
    return await credentials(secrets, **more).proof(route, context or ToolContext())


@pytest.mark.parametrize(
    ("name", "secret", "expected"),
    [
        ("header", "s", Proof(headers={"x-key": "s"})),
        ("query", "s&t", Proof(query=["a%20key=s%26t"])),
        ("cookie", "s", Proof(cookies=["sid=s"])),
        ("bearer", "s", Proof(headers={"authorization": "Bearer s"})),
        (
            "basic",
            "Aladdin:open sesame",
            Proof(headers={"authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}),
        ),
        ("token", "s", Proof(headers={"authorization": "Token s"})),
        ("oauth", "s", Proof(headers={"authorization": "Bearer s"})),
        ("oidc", "s", Proof(headers={"authorization": "Bearer s"})),
        ("reference", "s", Proof(headers={"authorization": "Bearer s"})),
    ],
)
async def test_a_scheme_says_where_its_secret_goes(name, secret, expected):
    assert await proof({name: secret}, (name,)) == expected


async def test_swagger_has_its_own_words():
    schemes = {"key": SCHEMES["header"], "basic": {"type": "basic"}}
    found = await proof({"key": "s", "basic": "a:b"}, ("key", "basic"), schemes=schemes, version="2.0")
    assert found == Proof(headers={"x-key": "s", "authorization": "Basic YTpi"})


@pytest.mark.parametrize(
    ("security", "expected"),
    [
        ([("bearer",), ("header", "query")], Proof(headers={"x-key": "1"}, query=["a%20key=2"])),
        ([("header",), ("query",)], Proof(headers={"x-key": "1"})),
        ([("header", "bearer"), ("cookie",)], Proof()),
        ([(), ("header",)], Proof(headers={"x-key": "1"})),
        ([()], Proof()),
        ([], Proof()),
    ],
)
async def test_the_first_alternative_that_can_be_met_is(security, expected):
    assert await proof({"header": "1", "query": "2"}, *security) == expected


async def test_a_secret_may_be_that_of_the_request():
    async def late(context):
        return context.context.get("token")

    secrets = {"bearer": late, "header": lambda context: context.thread_id}
    context = ToolContext(thread_id="t", context={"token": "s"})
    assert await proof(secrets, ("bearer",), context=context) == Proof(headers={"authorization": "Bearer s"})
    assert await proof(secrets, ("bearer",), ("header",), context=ToolContext(thread_id="t")) == Proof(
        headers={"x-key": "t"}
    )
    assert await proof(secrets, ("bearer",)) == Proof()


async def test_a_secret_is_one_line_and_never_shown():
    with pytest.raises(
        ConfigurationError, match="the credential 'bearer' is a string without line breaks"
    ) as caught:
        await proof({"bearer": "se\ncret"}, ("bearer",))
    assert "cret" not in str(caught.value).replace("credential", "")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("heder", r"api has no security scheme 'heder'; it has \['basic', 'bearer'"),
        ("mutual", "the security scheme 'mutual' is of type 'mutualTLS', which takes more than a string"),
        ("body", "the security scheme 'body' is of type 'apiKey'"),
    ],
)
def test_schemes_that_take_no_secret(name, message):
    with pytest.raises(ConfigurationError, match=message):
        credentials({name: "s"})
