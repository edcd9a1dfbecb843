"""Credentials of a document's security schemes."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tool_search_processor.concurrency.foreign_calls import awaited
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.openapi.documents import OpenAPIDocument
from tool_search_processor.providers.openapi.routes import Route
from tool_search_processor.providers.openapi.swagger import to_security_schemes
from tool_search_processor.providers.web import check_value
from tool_search_processor.tools import ToolContext
from tool_search_processor.wire.plain import mapping_of

Secret = str | Callable[[ToolContext], str | Awaitable[str | None] | None]
"""A token, key or `user:password`; or a function that gives the one of a call's request, None for none."""


@dataclass(slots=True)
class Proof:
    """Credentials in the form that a request carries them."""

    headers: dict[str, str] = field(default_factory=dict)
    """By names in small letters."""
    query: list[str] = field(default_factory=list)
    cookies: list[str] = field(default_factory=list)


class Credentials:
    """Secrets for security schemes, put where the document says."""

    def __init__(self, document: OpenAPIDocument, secrets: Mapping[str, Secret]) -> None:
        """Match secrets with the schemes of a document.

        Raises:
            ConfigurationError: If there is no such scheme, or it takes more than a secret.
        """
        self._secrets = secrets
        stated = mapping_of(document.root.get("components")).get("securitySchemes")
        given = to_security_schemes(document.root) if document.is_swagger else mapping_of(stated)
        self._schemes: dict[str, Mapping[str, Any]] = {}
        for name in secrets:
            if name not in given:
                raise ConfigurationError(
                    f"credentials: {document.label} has no security scheme {name!r}; it has "
                    f"{sorted(given)!r}; headers= and auth= need no scheme"
                )
            self._schemes[name] = document.follow(given[name], base=document.base)[0]
            _put(self._schemes[name], "", Proof(), name)

    async def proof(self, route: Route, context: ToolContext) -> Proof:
        """Return the credentials of a call, for the first alternative of its operation that can be met."""
        for names in route.security:
            if not names or not self._secrets.keys() >= set(names):
                continue
            secrets = [await _secret(self._secrets[name], context) for name in names]
            if None not in secrets:
                proof = Proof()
                for name, secret in zip(names, secrets, strict=True):
                    value = check_value(str(secret), f"the credential {name!r}")
                    _put(self._schemes[name], value, proof, name)
                return proof
        return Proof()


async def _secret(secret: Secret, context: ToolContext) -> str | None:
    given: str | None = secret if isinstance(secret, str) else await awaited(secret(context))
    return given


def _put(scheme: Mapping[str, Any], secret: str, proof: Proof, name: str) -> None:
    kind, place, key = scheme.get("type"), scheme.get("in"), str(scheme.get("name"))
    if kind in ("oauth2", "openIdConnect"):
        proof.headers["authorization"] = f"Bearer {secret}"
    elif kind == "http":
        word = str(scheme.get("scheme", "")).lower()
        if word == "basic":
            secret = base64.b64encode(secret.encode()).decode()
        proof.headers["authorization"] = f"{word.title()} {secret}"
    elif kind == "apiKey" and place == "header":
        proof.headers[key.lower()] = secret
    elif kind == "apiKey" and place == "query":
        proof.query.append(f"{quote(key, safe='')}={quote(secret, safe='')}")
    elif kind == "apiKey" and place == "cookie":
        proof.cookies.append(f"{key}={secret}")
    else:
        raise ConfigurationError(
            f"credentials: the security scheme {name!r} is of type {kind!r}, which takes more than a string: "
            "give client= with what it needs"
        )
