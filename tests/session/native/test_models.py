"""Which models take loaded tools natively, and by which routes they are reached."""

import sys
from types import SimpleNamespace

import pytest

from tool_search_processor.session.native.models import claude_native, native_for, openai_native


@pytest.mark.parametrize(
    ("model", "native"),
    [
        ("claude-opus-4-8", "definition"),
        ("claude-opus-4.8", "definition"),
        ("claude-opus-5", "definition"),
        ("claude-opus-5-20261101", "definition"),
        ("claude-opus-5-5-latest", "definition"),
        ("claude-mythos-5-1", "definition"),
        ("claude-opus-4-5", "reference"),
        ("claude-sonnet-4-5-20250929", "reference"),
        ("claude-sonnet-6", "reference"),
        ("claude-haiku-4-6", "reference"),
        ("claude-opus-4-4", "off"),
        ("claude-opus-4", "off"),
        ("claude-opus-3-9", "off"),
        ("claude-fable-4-9", "off"),
        ("claude-novel-9", "off"),
        ("claude-opus-4-8-preview", "off"),
        ("claude-3-5-sonnet-20241022", "off"),
        ("Claude-opus-5", "off"),
    ],
)
def test_models_of_anthropic(model, native):
    assert claude_native(model) == native
    assert native_for(model, {}, environ={}) == (native if model.startswith("claude-") else "off")
    assert native_for(f"anthropic/{model}", {}, environ={}) == native


@pytest.mark.parametrize(
    ("model", "native"),
    [
        ("gpt-5.5", "responses"),
        ("gpt-4.1-nano", "responses"),
        ("gpt-4.1-nano-2025-04-14", "responses"),
        ("o3", "responses"),
        ("gpt-4o-mini", "off"),
        ("gpt-5.5-2026", "off"),
        ("gpt-5.5-2026-01-01-preview", "off"),
        ("", "off"),
    ],
)
def test_models_of_openai(model, native):
    assert openai_native(model) == native
    for name in (model, f"openai/{model}"):
        assert native_for(name, {}, environ={}) == native


@pytest.mark.parametrize(
    "model",
    [
        None,
        "azure/gpt-5.5",
        "openrouter/openai/gpt-5.5",
        "bedrock/claude-opus-5",
        "openai/claude-opus-5",
        "anthropic/gpt-5.5",
    ],
)
def test_other_routes_are_off(model):
    assert native_for(model, {}, environ={}) == "off"


PROVIDERS = pytest.mark.parametrize(
    ("model", "native", "host", "variables"),
    [
        (
            "claude-opus-5",
            "definition",
            "api.anthropic.com",
            ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"),
        ),
        ("gpt-5.5", "responses", "api.openai.com", ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    ],
)


@PROVIDERS
def test_an_address_of_another_server_is_off_wherever_it_stands(model, native, host, variables, monkeypatch):
    for base, expected in (
        (f"https://{host}/v1", native),
        ("", native),
        (f"https://{host}.evil.example", "off"),
        (f"https://proxy.example/{host}", "off"),
        ("http://[", "off"),
    ):
        for key in ("api_base", "base_url"):
            assert native_for(model, {key: base}, environ={}) == expected
        for name in variables:
            assert native_for(model, {}, environ={name: base}) == expected
            monkeypatch.setenv(name, base)
            assert native_for(model, {}) == expected
            monkeypatch.delenv(name)
        monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace(api_base=base))
        assert native_for(model, {}, environ={}) == expected
        monkeypatch.delitem(sys.modules, "litellm")


def test_the_addresses_of_another_provider_say_nothing():
    assert native_for("gpt-5.5", {}, environ={"ANTHROPIC_BASE_URL": "https://proxy.example"}) == "responses"


@pytest.mark.parametrize(
    "key",
    ["custom_llm_provider", "model_list", "fallbacks", "use_litellm_proxy", "client", "mock_response"],
)
def test_a_setting_that_may_lead_elsewhere_is_off(key):
    assert native_for("gpt-5.5", {key: "x"}, environ={}) == "off"
    assert native_for("gpt-5.5", {key: None}, environ={}) == "responses"


@pytest.mark.parametrize("name", ["use_litellm_proxy", "model_alias_map", "model_fallbacks"])
def test_a_global_of_litellm_that_leads_elsewhere_is_off(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", SimpleNamespace(**{name: {"gpt-5.5": "x"}}))
    assert native_for("gpt-5.5", {}, environ={}) == "off"


def test_a_proxy_that_the_environment_names_is_off():
    assert native_for("gpt-5.5", {}, environ={"USE_LITELLM_PROXY": "true"}) == "off"
