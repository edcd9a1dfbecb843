"""Many servers in one file, in the format that clients of the protocol share."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.providers.provider import Provider
from tool_search_processor.tools.tool_names import make_tool_name
from tool_search_processor.tools.wording import near_name
from tool_search_processor.transforms.namespace import Namespace
from tool_search_processor.wire.checks import check_flags
from tool_search_processor.wire.files import read_json

logger = logging.getLogger(__name__)

CLIENTS_KEYS = frozenset(
    [
        "$schema",
        "type",
        "transport",
        "transportType",
        "alwaysAllow",
        "autoApprove",
        "disabled",
        "enabled",
        "timeout",
        "name",
        "title",
        "label",
        "description",
        "icon",
        "icons",
        "version",
        "tags",
    ]
)
"""Keys of an entry that clients write, and that change nothing here or are read elsewhere."""

_ROOT = "mcpServers"
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_CLIENTS_VARIABLE = re.compile(r"\$\{[A-Za-z][A-Za-z0-9_]*:[^}]*\}")
"""What a client fills in: `${input:token}` is asked of a person, `${workspaceFolder:name}` read elsewhere."""
_HTTP_TYPES = frozenset({"http", "streamable-http", "streamable_http", "streamableHttp"})
_KEYS = {"stdio": ("command", "args", "env", "cwd"), "http": ("url", "headers")}
_MOST_TOLD = 5
_LONGEST_PREFIX = 32
_LONGEST_VARIABLE = 80

MakeProvider = Callable[[str, str, Mapping[str, Any]], Provider]
"""Takes a name, "stdio" or "http", and the arguments of that constructor."""

MakeBroken = Callable[[str, ConfigurationError], Provider]
"""Takes a name, and why there is no provider for it."""


class VariableError(ConfigurationError):
    """A string names a variable that is not set, or whose value can't work."""


def config_providers(
    config: str | Path | Mapping[str, Any],
    make: MakeProvider,
    *,
    namespaced: bool,
    make_broken: MakeBroken | None,
) -> list[Provider]:
    """Return a provider for each server of a configuration that isn't disabled, in its order.

    Args:
        config: A path, or what such a file holds.
        make: Makes one provider.
        namespaced: Whether its name becomes a prefix.
        make_broken: Makes a stand-in for a server with a variable that isn't set, or has a value that can't
            work; if it is None, such a server raises.

    Raises:
        ConfigurationError: Names the file, or the server and the key.
    """
    check_flags(namespaced=namespaced)
    where, content = _load(config)
    servers = content.get(_ROOT) if isinstance(content, Mapping) else None
    if not isinstance(servers, Mapping):
        raise ConfigurationError(f'{where}: expected {{"{_ROOT}": {{name: {{…}}}}}}, found {told(content)}')
    providers: list[Provider] = []
    prefixes: dict[str, str] = {}
    for name, entry in servers.items():
        at = f"{where}: server {name!r}"
        if not isinstance(entry, Mapping):
            raise ConfigurationError(f"{at} is an object, found {told(entry)}")
        if _is_disabled(entry, at):
            continue
        try:
            provider = _provider(name, entry, make, at=at)
        except VariableError as exc:
            if make_broken is None:
                raise
            provider = make_broken(name, exc)
        prefix = prefix_of(name)
        if namespaced and prefix in prefixes:
            raise ConfigurationError(
                f"{at} and {prefixes[prefix]!r} would both have the prefix {prefix!r}: rename one"
            )
        prefixes[prefix] = name
        providers.append(provider.with_transforms(Namespace(prefix)) if namespaced else provider)
    return providers


def prefix_of(name: str) -> str:
    """Return the prefix of a server's tool names."""
    return make_tool_name(name)[:_LONGEST_PREFIX]


def expanded(value: Any, at: str) -> Any:
    """Return a value with the variables in its strings replaced.

    Raises:
        VariableError: A variable isn't set, or only a client can fill it in; `at` is where.
    """
    if isinstance(value, str):
        for match in _CLIENTS_VARIABLE.finditer(value):
            if not _VARIABLE.fullmatch(match[0]):
                raise VariableError(
                    f"{at}: {match[0][:_LONGEST_VARIABLE]} is filled in by other clients, not here: put the "
                    "value into an environment variable and write ${NAME}"
                )
        return _VARIABLE.sub(lambda match: _variable(match, at), value)
    if isinstance(value, list):
        return [expanded(item, at) for item in value]
    if isinstance(value, Mapping):
        return {key: expanded(item, f"{at}, {key!r}") for key, item in value.items()}
    return value


def warn_of_unknown(entry: Mapping[str, Any], known: Collection[str], *, at: str) -> None:
    """Log one warning about the unknown keys, each with the known key that may be meant.

    Args:
        entry: What was given.
        known: The keys that are read.
        at: Where it stands.
    """
    if unknown := [*unknown_keys(entry, known)]:
        more = f" and {len(unknown) - _MOST_TOLD:,} more" if len(unknown) > _MOST_TOLD else ""
        logger.warning("%s: ignored unknown keys: %s%s", at, ", ".join(unknown[:_MOST_TOLD]), more)


def unknown_keys(entry: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    """Yield as a string each key that is neither known nor common among clients."""
    for key in map(str, entry):
        if key not in known and key not in CLIENTS_KEYS:
            near = near_name(key[:40], [*known])
            yield f"{key[:40]!r}" if near is None else f"{key[:40]!r} (did you mean {near!r}?)"


def told(content: Any) -> str:
    """Return what an error says of a part of a configuration: its keys, as values may be secret."""
    if not isinstance(content, Mapping):
        return f"a {type(content).__name__}"
    keys = ", ".join(repr(key)[:40] for key in list(content)[:5])
    return f"the keys {keys}" if keys else "an empty object"


def _load(config: str | Path | Mapping[str, Any]) -> tuple[str, Any]:
    """Return what errors call the configuration, and its content."""
    if isinstance(config, Mapping):
        return "the MCP configuration", config
    if not isinstance(config, str | Path):
        raise ConfigurationError(f"config is a path or a mapping, found {config!r:.80}")
    return str(config), read_json(config)


def _is_disabled(entry: Mapping[str, Any], at: str) -> bool:
    for key in ("disabled", "enabled"):
        if not isinstance(entry.get(key, False), bool):
            raise ConfigurationError(f"{at}: key {key!r} is true or false, found {entry[key]!r:.80}")
    return entry.get("disabled", False) or not entry.get("enabled", True)


def _provider(name: str, entry: Mapping[str, Any], make: MakeProvider, *, at: str) -> Provider:
    kind = _kind(entry, at)
    warn_of_unknown(entry, [key for keys in _KEYS.values() for key in keys], at=at)
    written = {key: entry[key] for key in _KEYS[kind] if entry.get(key) is not None}
    arguments = {key: expanded(value, f"{at}: key {key!r}") for key, value in written.items()}
    try:
        return make(name, kind, arguments)
    except ConfigurationError as exc:
        error = ConfigurationError if arguments == written else VariableError
        raise error(f"{at}: {exc}") from exc


def _kind(entry: Mapping[str, Any], at: str) -> str:
    given = entry.get("type", entry.get("transport"))
    if ("command" in entry) == ("url" in entry):
        found = "both" if "url" in entry else f"neither: {told(entry)}"
        raise ConfigurationError(f"{at} has either the key 'command' or the key 'url', found {found}")
    kind = "http" if "url" in entry else "stdio"
    if given is None or given == kind or (kind == "http" and given in _HTTP_TYPES):
        return kind
    raise ConfigurationError(
        f"{at}: key 'type' is 'stdio' with 'command' and 'http' (streamable HTTP) with 'url', "
        f"found {given!r:.40}"
    )


def _variable(match: re.Match[str], at: str) -> str:
    name, fallback = match.groups()
    value = os.environ.get(name, fallback)
    if value is None:
        raise VariableError(
            f"{at}: the environment variable {name} isn't set: set it, or write ${{{name}:-…}}"
        )
    return value
