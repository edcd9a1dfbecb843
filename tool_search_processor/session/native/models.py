"""Which models take definitions inside a conversation, and by which routes they are reached.

Sources, as of 2026-11-28. "definition": the flag `mid_conversation_tools` of the profiles in
langchain-anthropic 1.7.10, and pydantic-ai 2.68's list of models for additions by reference; the two agree.
"reference": Anthropic's page on its tool search tool. "responses": the same flag in langchain-openai 1.7.4,
and the authors of pydantic-ai, who tried `additional_tools` on 13 models from gpt-4o-mini to gpt-5.6. This
package has not tried any of it against a provider. Azure, Bedrock, Vertex, OpenRouter and other gateways are
not in the table: some refuse what they don't know, others drop it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

Native: TypeAlias = Literal["off", "definition", "reference", "responses"]
"""How loaded tools are declared: in the list of tools; by Anthropic's `tool_addition` or `tool_reference`; by
`additional_tools` of OpenAI's Responses API."""
NATIVES: tuple[Native, ...] = get_args(Native)

DEFINITION_MODELS = frozenset(
    {
        ("opus", 4, 8), ("opus", 5, 0), ("opus", 5, 5), ("sonnet", 5, 5), ("haiku", 5, 5),
        ("fable", 5, 0), ("fable", 5, 1), ("mythos", 5, 0), ("mythos", 5, 1),
    }
)  # fmt: skip
REFERENCE_FAMILIES = frozenset({"opus", "sonnet", "haiku"})
REFERENCE_SINCE = (4, 5)
RESPONSES_MODELS = frozenset(
    {
        "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5.1", "gpt-5.2",
        "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.5", "gpt-5.6", "o3", "o3-pro", "o4-mini",
    }
)  # fmt: skip

_HOSTS = {"anthropic": "api.anthropic.com", "openai": "api.openai.com"}
_BASES = {
    "anthropic": ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
}
_REROUTING = (
    "custom_llm_provider",
    "model_list",
    "fallbacks",
    "use_litellm_proxy",
    "client",
    "mock_response",
)
_REROUTING_GLOBALS = ("use_litellm_proxy", "model_alias_map", "model_fallbacks")
"""What leads all calls of a process elsewhere, as attributes of the module litellm."""
_CLAUDE = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[.-](\d{1,2}))?(?:-\d{8}|-latest)?")
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def native_for(
    model: str | None, settings: Mapping[str, Any], *, environ: Mapping[str, str] | None = None
) -> Native:
    """Return how a LiteLLM model takes loaded tools; "off" unless model and route are in the table.

    Args:
        model: A model name of LiteLLM, with or without its provider.
        settings: What is passed with the call; an address of a server that is not the provider's own, or
            anything else that leads elsewhere, is off.
        environ: The environment, whose addresses LiteLLM takes too.
    """
    provider, _, name = (model or "").rpartition("/")
    provider = provider or ("anthropic" if name.startswith("claude-") else "openai")
    if provider not in _HOSTS or not _is_direct(
        provider, settings, os.environ if environ is None else environ
    ):
        return "off"
    return claude_native(name) if provider == "anthropic" else openai_native(name)


def claude_native(name: str) -> Native:
    """Return how one of Anthropic's models takes loaded tools, by its name at Anthropic."""
    found = _CLAUDE.fullmatch(name)
    if found is None:
        return "off"
    family, major, minor = found[1], int(found[2]), int(found[3] or 0)
    if (family, major, minor) in DEFINITION_MODELS:
        return "definition"
    return "reference" if family in REFERENCE_FAMILIES and (major, minor) >= REFERENCE_SINCE else "off"


def openai_native(name: str) -> Native:
    """Return how one of OpenAI's models takes loaded tools, by its name at OpenAI."""
    return "responses" if _DATED.sub("", name) in RESPONSES_MODELS else "off"


def _is_direct(provider: str, settings: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Return True if the call goes to the provider's own server."""
    litellm = sys.modules.get("litellm")
    if any(settings.get(key) for key in _REROUTING) or environ.get("USE_LITELLM_PROXY"):
        return False
    if any(getattr(litellm, name, None) for name in _REROUTING_GLOBALS):
        return False
    bases = [settings.get("api_base"), settings.get("base_url"), getattr(litellm, "api_base", None)]
    bases += map(environ.get, _BASES[provider])
    return all(_host(str(base)) == _HOSTS[provider] for base in bases if base)


def _host(base: str) -> str | None:
    try:
        return urlsplit(base).hostname
    except ValueError:
        return None
