"""JSON and YAML texts as plain values."""

from __future__ import annotations

import functools
import json
import re
from importlib import import_module
from typing import Any

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.tools.frozen import values_in
from tool_search_processor.wire.files import json_in

_MAX_NODES = 5_000_000
"""Values in one YAML text, aliases written out; GitHub's document has 600,000."""

# YAML 1.2's core schema. PyYAML's own is that of 1.1, in which `no` is False, `12:30` is 750 and a date is
# no text; a number with a leading zero stays the text that it is.
_SCALARS = (
    ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", "~|null|Null|NULL|", ("~", "n", "N", "")),
    ("int", "[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)", "-+.0123456789"),
    ("merge", "<<", "<"),
)


def parse_text(text: str, *, label: str) -> Any:
    """Return the value of a string: JSON if it begins like JSON, otherwise YAML.

    Args:
        text: A byte order mark before it is passed over.
        label: What errors call it.

    Raises:
        ConfigurationError: If it is neither; says where it breaks.
        ImportError: If it is YAML and PyYAML is not installed.
    """
    text = text.removeprefix("\ufeff")
    if not text.lstrip().startswith(("{", "[")):
        return parse_yaml(text, label=label)
    return json_in(text, label=label)


def parse_yaml(text: str, *, label: str) -> Any:
    """Return the value of a YAML string as JSON would have it: keys and dates are strings.

    Raises:
        ConfigurationError: If it is not YAML, is nested too deeply, or its aliases multiply.
        ImportError: If PyYAML is not installed.
    """
    try:
        yaml: Any = import_module("yaml")
    except ImportError as exc:
        raise ImportError(
            f'{label} is YAML, which needs PyYAML: pip install "tool-search-processor[openapi]"'
        ) from exc
    try:
        value = yaml.load(text, _loader(yaml))
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        reason = " ".join(str(exc).split())
        if isinstance(exc, RecursionError) or "maximum nesting depth" in reason:  # libyaml's, a thousand
            raise ConfigurationError(f"{label} is nested too deeply") from exc
        raise ConfigurationError(f"{label} is not YAML: {reason}") from exc
    if any(number >= _MAX_NODES for number, _ in enumerate(values_in(value))):
        raise ConfigurationError(f"{label} holds itself, or its aliases (*name) stand for too much")
    return value


@functools.cache
def _loader(yaml: Any) -> type[Any]:
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is ten times faster

    def construct_mapping(self: Any, node: Any, deep: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        mapping = base.construct_mapping(self, node, deep=deep)
        return {key if isinstance(key, str) else json.dumps(key): item for key, item in mapping.items()}

    members = {"yaml_implicit_resolvers": {}, "construct_mapping": construct_mapping}
    loader: Any = type("Loader", (base,), members)
    for kind, pattern, first in _SCALARS:
        tag = f"tag:yaml.org,2002:{kind}"
        loader.add_implicit_resolver(tag, re.compile(f"(?:{pattern})$"), list(first))
    return loader  # type: ignore[no-any-return]  # the base is foreign
