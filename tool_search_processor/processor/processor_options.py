"""A processor's options, checked as a whole before anything is built."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.meta_tools import MAX_RESULTS, MetaToolNames, ResultDetail
from tool_search_processor.policy.filters import Filter, require_filter
from tool_search_processor.stores.memory import MemoryStore
from tool_search_processor.stores.protocol import LoadedToolStore
from tool_search_processor.tokens.counting import TextCounter, estimate_tokens
from tool_search_processor.tools.tool_names import is_tool_name
from tool_search_processor.wire.plain import is_number

TTL_SECONDS = 3600.0
PROCESSOR_ID = "tool-search"
NAME = "Tool Search Processor"
"""What people are shown of a processor, whatever its id."""
SEARCH_TOOL_NAME = "search_tools"
_MODES = ("load", "auto_load", "call")
_DETAILS = ("brief", "signature", "schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a processor was asked to do; see `ToolSearchProcessor` for each option's meaning."""

    names: MetaToolNames
    top_k: int
    min_score: float
    max_loaded: int | None
    filter: Filter | None
    filter_timeout_seconds: float | None
    pinned: tuple[str, ...]
    include_step_tools: bool
    catalog_in_prompt: bool
    catalog_token_limit: int
    preload: int
    result_detail: ResultDetail
    passthrough_tokens: int

    def __post_init__(self) -> None:
        """Refuse what can't work.

        Raises:
            ConfigurationError: Says what was found and what to do.
        """
        _one_of("mode", self.names.mode, _MODES)
        _one_of("result_detail", self.result_detail, _DETAILS)
        _whole("top_k", self.top_k, least=1, most=MAX_RESULTS)
        _whole("preload", self.preload, least=0)
        _whole("passthrough_tokens", self.passthrough_tokens, least=0)
        _whole("catalog_token_limit", self.catalog_token_limit, least=1)
        if self.max_loaded is not None:
            _whole("max_loaded", self.max_loaded, least=1)
        if not is_number(self.min_score) or not 0 <= self.min_score <= 1:
            raise ConfigurationError(f"min_score is from 0 to 1, found {self.min_score!r}")
        require_filter(self.filter, timeout_seconds=self.filter_timeout_seconds)
        self._check_names()

    def _check_names(self) -> None:
        present = self.names.present
        for name in present:
            if not isinstance(name, str) or not is_tool_name(name):
                raise ConfigurationError(
                    f"a meta-tool can't be named {name!r}: use 1 to 64 of the characters A-Z a-z 0-9 _ -"
                )
        if len(set(present)) < len(present):
            raise ConfigurationError(
                f"the meta-tools need different names, found {present!r}: change search_tool_name, "
                "load_tool_name, call_tool_name or unload_tool_name"
            )


def processor_id(given: str, *, search_tool_name: str) -> str:
    """Return a processor's id; the default one gets the search tool's name added where that was changed.

    Raises:
        ConfigurationError: For something else than a text that is not empty.
    """
    if not isinstance(given, str) or not given:
        raise ConfigurationError(f"id is a text that is not empty, found {given!r}")
    renamed = given == PROCESSOR_ID and search_tool_name != SEARCH_TOOL_NAME
    return f"{given}:{search_tool_name}" if renamed else given


def check_search(query: str, limit: int | None) -> None:
    """Raise where a program's search is for no text, or for no number of hits.

    Raises:
        ConfigurationError: Says what was found.
    """
    if not isinstance(query, str):
        raise ConfigurationError(f"query is a text, found {query!r:.80}")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
        raise ConfigurationError(f"limit is a whole number or None, found {limit!r:.80}")


def checked_store(
    store: LoadedToolStore | None, *, ttl_seconds: float | None, clock: Callable[[], float]
) -> LoadedToolStore:
    """Return the store that was given, or a default one of this life and clock.

    Raises:
        ConfigurationError: When both were given, the store lacks a method, or it is a class.
    """
    if store is None:
        return MemoryStore(ttl_seconds, clock=clock)
    if ttl_seconds != TTL_SECONDS or clock is not time.time:
        raise ConfigurationError(
            "ttl_seconds and clock shape the default store only: give them to the store that you pass"
        )
    if isinstance(store, type):
        raise ConfigurationError(f"store is {store!r:.80}, a class: create it, {store.__name__}(...)")
    if not isinstance(store, LoadedToolStore):
        raise ConfigurationError(f"store needs the methods of LoadedToolStore, {_lacking(store)}")
    return store


def _lacking(store: object) -> str:
    wanted = ("loaded", "add", "touch", "remove", "clear", "stats", "aclose")
    lacks = ", ".join(name for name in wanted if not hasattr(type(store), name))
    return f"found {store!r:.80}, whose class has no {lacks}"


def checked_counter(counter: TextCounter | None) -> TextCounter:
    """Return the counter that was given, or an estimate from characters.

    Raises:
        ConfigurationError: When it can't be called.
    """
    if counter is not None and not callable(counter):
        raise ConfigurationError(f"counter is a function (text) -> tokens, found {counter!r:.80}")
    return counter or estimate_tokens


def _one_of(option: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigurationError(f"{option} is one of {', '.join(map(repr, allowed))}, found {value!r}")


def _whole(option: str, value: object, *, least: int, most: int | None = None) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or value < least
        or (most is not None and value > most)
    ):
        bound = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ConfigurationError(f"{option} is a whole number {bound}, found {value!r}")
