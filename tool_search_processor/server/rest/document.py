"""The OpenAPI document of the endpoints."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from tool_search_processor._version import __version__
from tool_search_processor.server.rest.letta import SearchRequest, SearchResult, ToolOut
from tool_search_processor.server.rest.tool_pages import ListRequest

MESSAGE_HEADER = "Tool-Search-Message"
"""The header of a sentence on an answer, whose body has no room for any in Letta's shape."""

_REFERENCE = "#/components/schemas/{model}"
_MESSAGE = {
    "description": "Where nothing was found: a sentence, if some tools can't be reached now.",
    "schema": {"type": "string"},
}
_SAID = {
    400: "No index for this search mode.",
    401: "No valid token.",
    403: "A web page from elsewhere asks.",
    404: "No such tool.",
    408: "The body took too long.",
    413: "The body is too long.",
    421: "This host is not served here.",
    422: "A value doesn't fit, or the body is not JSON.",
    429: "Too many requests of one client.",
    503: "Too many requests at once, or the tools are still being embedded.",
}
_ANY_TIME = (403, 421, 429, 503)
"""What `Protection` answers before any endpoint."""


class Wrong(BaseModel):
    """What is wrong with one value."""

    type: str
    loc: list[str | int]
    msg: str


class Problem(BaseModel):
    """Why a request was not answered."""

    detail: str | list[Wrong] = Field(
        description="A sentence; or, with status 422, what is wrong with each value."
    )


class Health(BaseModel):
    """How a server is doing."""

    status: Literal["ok", "degraded"] = Field(description="degraded: a gateway's upstream is down.")
    version: str
    ready: bool = Field(description="Whether every tool is embedded.")
    upstreams: list[dict[str, Any]] = Field(
        [], description="Of a gateway, for callers with the token: how each upstream is doing."
    )


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the endpoints."""
    models = [(SearchRequest, "validation"), (SearchResult, "serialization"), (ToolOut, "serialization")]
    models += [(Problem, "validation"), (Health, "validation")]
    _, schemas = models_json_schema(models, ref_template=_REFERENCE)  # type: ignore[arg-type]  # a list of pairs
    body = {"required": True, "content": _json(_reference("SearchRequest"))}
    search = _operation(
        "search_tools",
        "Search the tools",
        _many("SearchResult"),
        problems=(400, 401, 408, 413, 422),
        requestBody=body,
    )
    search["responses"]["200"]["headers"] = {MESSAGE_HEADER: _MESSAGE}
    listing = _operation(
        "list_tools",
        "List the tools",
        _many("ToolOut"),
        problems=(401, 404, 422),
        parameters=_parameters(),
    )
    tool_id = {"name": "tool_id", "in": "path", "required": True, "schema": {"type": "string"}}
    one = _operation(
        "retrieve_tool", "Show a tool", _reference("ToolOut"), problems=(401, 404), parameters=[tool_id]
    )
    health = _operation("health", "Show whether the server is up", _reference("Health"), security=[])
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tool search", "version": __version__},
        "paths": {
            "/v1/tools/search": {"post": search},
            "/v1/tools": {"get": listing},
            "/v1/tools/{tool_id}": {"get": one},
            "/health": {"get": health},
        },
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(
    name: str, summary: str, answer: dict[str, Any], *, problems: tuple[int, ...] = (), **more: object
) -> dict[str, Any]:
    refused = {
        str(status): {"description": _SAID[status], "content": _json(_reference("Problem"))}
        for status in sorted({*problems, *_ANY_TIME})
    }
    responses = {"200": {"description": "The answer.", "content": _json(answer)}, **refused}
    return {"operationId": name, "summary": summary, "responses": responses, **more}


def _parameters() -> list[dict[str, Any]]:
    """Return the parameters of the listing, which stand in the URL."""
    properties = ListRequest.model_json_schema()["properties"]
    return [
        {"name": name, "in": "query", "description": schema.pop("description"), "schema": schema}
        for name, schema in properties.items()
    ]


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _many(model: str) -> dict[str, Any]:
    return {"type": "array", "items": _reference(model)}


def _reference(model: str) -> dict[str, Any]:
    return {"$ref": _REFERENCE.format(model=model)}
