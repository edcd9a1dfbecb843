"""The model of these examples: a script, or with `--model NAME` a real one, also on a server of your own."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from typing import Any

from tool_search_processor.testing import ModelRequest, Reply, ScriptedModel, call


def choose_model(script: list[Reply]) -> dict[str, Any]:
    """Return an agent's `model` and `completion`: the script, or what the command line names.

    Args:
        script: What a real model would send, decided from what it is shown.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help='a LiteLLM model name such as "openai/gpt-5.5"; needs its API key')
    parser.add_argument("--base-url", help="where an OpenAI-compatible server answers --model openai/NAME")
    given = parser.parse_args()
    if given.base_url:
        os.environ["OPENAI_API_BASE"] = given.base_url
        os.environ.setdefault("OPENAI_API_KEY", "none")  # a local server asks for no key
    if given.model:
        return {"model": given.model}
    os.environ.setdefault("LITELLM_OFFLINE_MODE", "true")
    return {"model": "scripted (scripted model, not an LLM)", "completion": ScriptedModel(script)}


def find_load_call(query: str, arguments: Mapping[str, Any], *, answer: str) -> list[Reply]:
    """Return the script of a model that searches, loads the best hit, calls it and answers.

    It knows no tool: the name comes out of the search result it was shown.

    Args:
        query: What it searches for.
        arguments: What it calls the tool with.
        answer: Its answer; `{}` stands for what the tool returned.
    """
    return [
        call("search_tools", {"query": query}),
        lambda request: call("load_tool", {"tool_names": [last_result(request)["results"][0]["name"]]}),
        lambda request: call(last_result(request)["loaded"][0], arguments),
        lambda request: answer.format(request.messages[-1]["content"]),
    ]


def last_result(request: ModelRequest) -> Any:
    """Return the newest tool result that the model is shown, as data."""
    return json.loads(request.messages[-1]["content"])
