"""The upstreams of a gateway: MCP servers and OpenAPI documents, each under a prefix of its own."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.mcp.config import (
    VariableError,
    expanded,
    prefix_of,
    told,
    unknown_keys,
    warn_of_unknown,
)
from tool_search_processor.providers.provider import Context, Provider
from tool_search_processor.providers.web import WEB
from tool_search_processor.tools import Tool
from tool_search_processor.transforms.namespace import Namespace
from tool_search_processor.wire.files import read_json

logger = logging.getLogger(__name__)

_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.+)", re.DOTALL)
_SERVERS, _APIS = "mcpServers", "openapi"


class ApiEntry(BaseModel):
    """One API of a configuration."""

    model_config = ConfigDict(strict=True)

    document: str
    """A path, from the configuration's folder, or a URL."""
    base_url: str | None = None
    include: list[str] | None = None
    exclude: list[str] = []
    headers: dict[str, str] = Field(default={}, repr=False)  # what is secret
    credentials: dict[str, str] = Field(default={}, repr=False)
    server_variables: dict[str, str] = {}
    disabled: bool = False
    enabled: bool = True


class BrokenUpstream(Provider):
    """Stands for an upstream that could not be used at this start, and says why."""

    def __init__(self, name: str, problem: ConfigurationError) -> None:
        """Log the problem of the upstream `name`."""
        self.name = name
        self._problem = str(problem)
        logger.warning("the upstream %r is left out: %s", name, self._problem)

    async def list_tools(self, context: Context) -> Sequence[Tool]:
        """Return nothing."""
        return ()

    def version(self) -> int:
        """Return the same mark always."""
        return 0

    def failure(self) -> str:
        """Return the problem."""
        return self._problem


def read_upstreams(
    config: str | Path | Mapping[str, Any] | None = None,
    *,
    openapi: Sequence[str] = (),
    call_timeout_seconds: float = 60.0,
) -> list[Provider]:
    """Return a provider for each server and each API, with its name before its tools'.

    ```python
    upstreams = read_upstreams("servers.json", openapi=["pets=https://example.com/pets.json"])
    [upstream.name for upstream in upstreams]  # -> ['git', 'pets']
    ```

    A configuration of a wrong shape raises. If one upstream can't be started (its document can't be read, or
    names no server; a variable isn't set), it is replaced by a provider that lists nothing and says why
    (`failure`), so that the others are served.

    Args:
        config: `{"mcpServers": {name: {…}}, "openapi": {name: {…}}}`, or the path of a file that holds it;
            either key may be absent. For servers see `MCPProvider.from_config`. An API has `document` (a
            path, from the file's folder, or a URL), and may have `base_url`, `include`, `exclude`,
            `headers`, `credentials` and `server_variables` as `OpenAPIProvider` has them, and `disabled`
            or `enabled`.
            In all strings `${NAME}` stands for an environment variable.
        openapi: More documents, paths or URLs, each perhaps as `name=document`; without a name, that of its
            file is taken.
        call_timeout_seconds: The longest time of one call.

    Raises:
        ConfigurationError: Names the file, or the entry and the key.
        ImportError: An extra is not installed.
    """
    where, content = _load(config)
    warn_of_unknown(content, (_SERVERS, _APIS), at=where)
    apis = content.get(_APIS, {})
    if not isinstance(apis, Mapping):
        raise ConfigurationError(f"{where}: key {_APIS!r} is an object, found {told(apis)}")
    providers: list[Provider] = []
    if _SERVERS in content or (config is not None and not apis):
        providers += _servers(config, call_timeout_seconds)
    folder = Path(config).parent if isinstance(config, str | Path) else Path()
    for name, given in apis.items():
        at = f"{where}: API {name!r}"
        entry = _entry(given, at)
        if entry.enabled and not entry.disabled:
            providers.append(_api_or_why(name, entry, folder=folder, at=at, seconds=call_timeout_seconds))
    for name, document in map(_named, openapi):
        entry = ApiEntry(document=document)
        at = f"the OpenAPI document {name!r}"
        providers.append(_api_or_why(name, entry, folder=Path(), at=at, seconds=call_timeout_seconds))
    check_distinct(providers)
    return providers


def check_distinct(providers: Sequence[Provider]) -> None:
    """Refuse two providers of one prefix.

    Raises:
        ConfigurationError: Names them.
    """
    names: dict[str, str] = {}
    for provider in providers:
        prefix = prefix_of(provider.name)
        if prefix in names:
            raise ConfigurationError(
                f"{names[prefix]!r} and {provider.name!r} would both have the prefix {prefix!r}: rename one"
            )
        names[prefix] = provider.name


def _load(config: str | Path | Mapping[str, Any] | None) -> tuple[str, Mapping[str, Any]]:
    """Return what errors call the configuration, and its content."""
    if config is None or isinstance(config, Mapping):
        return "the configuration", config or {}
    content = read_json(config)
    return str(config), content if isinstance(content, Mapping) else {}


def _servers(config: Any, call_timeout_seconds: float) -> list[Provider]:
    from tool_search_processor.providers.mcp import MCPProvider
    from tool_search_processor.server.mcp import forward_elicitation, forward_progress, forward_sampling

    return MCPProvider.from_config(
        config,
        make_broken=BrokenUpstream,
        on_progress=forward_progress,
        elicitation=forward_elicitation,
        sampling=forward_sampling,
        call_timeout_seconds=call_timeout_seconds,
    )


def _entry(given: Any, at: str) -> ApiEntry:
    fields = ApiEntry.model_fields
    if isinstance(given, Mapping):
        unknown = [*unknown_keys(given, fields)]
        if unknown:
            raise ConfigurationError(
                f"{at}: no known key: {', '.join(unknown)}; known are {', '.join(fields)}"
            )
        given = {key: value for key, value in given.items() if key in fields}  # without keys for clients
    try:
        return ApiEntry.model_validate(given)
    except ValidationError as exc:
        raise ConfigurationError(f"{at}: {'; '.join(_problems(exc))}") from exc


def _problems(exc: ValidationError) -> Iterator[str]:
    """Yield the problems, without the values: they may be secrets."""
    for error in exc.errors(include_url=False, include_input=False, include_context=False):
        key = ".".join(map(str, error["loc"]))
        yield f"key {key!r}: {error['msg'].lower()}" if key else error["msg"].lower()


def _api_or_why(name: str, entry: ApiEntry, *, folder: Path, at: str, seconds: float) -> Provider:
    """Return the provider of an API, or a stand-in that reports why it can't be made."""
    from tool_search_processor.providers.openapi import OpenAPIProvider

    try:
        options = expanded(entry.model_dump(exclude={"disabled", "enabled"}), at)
    except VariableError as exc:
        return BrokenUpstream(name, exc)
    document = options.pop("document")
    place = document if document.startswith(WEB) else folder / document
    try:
        provider = OpenAPIProvider(place, name=name, timeout_seconds=seconds, **options)
    except ConfigurationError as exc:
        problem = str(exc).replace(str(place), entry.document)  # as written: a variable may hold a secret
        return BrokenUpstream(name, ConfigurationError(f"{at}: {problem}"))
    upstream = provider.with_transforms(Namespace(prefix_of(name)))
    # Refused later, as a server's tool is: a tool with a meta-tool's name must not stop the gateway.
    upstream.static = False
    return upstream


def _named(given: str) -> tuple[str, str]:
    """Return the name and the place of a document that is given as `[name=]document`."""
    match = _NAMED.fullmatch(given)
    if match is not None:
        return match[1], match[2]
    return Path(urlsplit(given).path).stem or given, given
