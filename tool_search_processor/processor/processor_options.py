"""A processor's options, checked as a whole before anything is built."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from tool_search_processor.catalog.policy_view import PolicyOptions
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.meta_tools.answers import ResultDetail
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames, Mode
from tool_search_processor.meta_tools.reading import MAX_RESULTS
from tool_search_processor.stores.memory import MemoryStore
from tool_search_processor.stores.protocol import LoadedToolStore
from tool_search_processor.stores.store import Store, adapt_store
from tool_search_processor.wire.checks import check_choice, check_count, check_flags, check_string, refuse

TTL_SECONDS = 3600.0
PROCESSOR_ID = "tool-search"
SEARCH_TOOL_NAME = "search_tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(PolicyOptions):
    """A processor's options; see `ToolSearchProcessor` for their meaning."""

    names: MetaToolNames
    top_k: int
    max_loaded: int | None = None
    pinned: tuple[str, ...] = ()
    include_step_tools: bool = False
    catalog_in_prompt: bool = False
    catalog_token_limit: int = 4000
    preload: int = 0
    result_detail: ResultDetail
    passthrough_tokens: int = 0

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ConfigurationError: If an option can't work; says what was found and what to do.
        """
        check_choice("mode", self.names.mode, get_args(Mode))
        check_choice("result_detail", self.result_detail, get_args(ResultDetail))
        check_count("top_k", self.top_k, most=MAX_RESULTS)
        check_count("preload", self.preload, least=0)
        check_count("passthrough_tokens", self.passthrough_tokens, least=0)
        check_count("catalog_token_limit", self.catalog_token_limit)
        check_count("max_loaded", self.max_loaded, optional=True)
        check_flags(
            include_step_tools=self.include_step_tools,
            catalog_in_prompt=self.catalog_in_prompt,
            allow_unload=self.names.allow_unload,
        )
        PolicyOptions.__post_init__(self)


def processor_id(given: str, *, search_tool_name: str) -> str:
    """Return a processor's id; if the search tool's name was changed, it is added to the default id.

    Raises:
        ConfigurationError: If the id is not a string, or is empty.
    """
    check_string("id", given)
    renamed = given == PROCESSOR_ID and search_tool_name != SEARCH_TOOL_NAME
    return f"{given}:{search_tool_name}" if renamed else given


def check_search(query: str, limit: int | None) -> None:
    """Raise if the arguments of a program's search can't work.

    Raises:
        ConfigurationError: If the query is not a string, or the limit neither a whole number nor None.
    """
    if not isinstance(query, str):
        refuse("query", "a string", query)
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
        refuse("limit", "a whole number", limit, optional=True)


def checked_store(
    store: LoadedToolStore | None, *, ttl_seconds: float | None, clock: Callable[[], float]
) -> Store:
    """Return the given store as a `Store`, or by default a `MemoryStore` with this time to live and clock.

    Raises:
        ConfigurationError: If there are a store and options for the default one, the store lacks a method,
            or it is a class.
    """
    if store is None:
        return MemoryStore(ttl_seconds, clock=clock)
    if ttl_seconds != TTL_SECONDS or clock is not time.time:
        raise ConfigurationError(
            "ttl_seconds and clock are for the default store only: give them to the store that you pass"
        )
    if isinstance(store, type):
        raise ConfigurationError(f"store is {store!r:.80}, a class: create it, {store.__name__}(...)")
    if isinstance(store, str):
        found = "a URL" if "://" in store else repr(store[:80])  # a URL may hold a password
        raise ConfigurationError(f"store is {found}, a string: for a Redis URL, pass RedisStore(url)")
    if not isinstance(store, LoadedToolStore):
        raise ConfigurationError(f"store needs the methods of LoadedToolStore, {_lacking(store)}")
    return adapt_store(store)


def _lacking(store: object) -> str:
    wanted = ("loaded", "add", "touch", "remove", "clear", "stats", "aclose")
    lacks = ", ".join(name for name in wanted if not hasattr(type(store), name))
    return f"found {store!r:.80}, whose class has no {lacks}"
