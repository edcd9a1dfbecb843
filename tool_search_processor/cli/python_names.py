"""Tools and indexes in Python, which options name as `package.module:attribute`."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import redirect_stdout
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

from tool_search_processor.catalog import Catalog, CatalogStatus
from tool_search_processor.cli.terminal import warn
from tool_search_processor.errors import ConfigurationError, ToolSearchError
from tool_search_processor.evaluation.files import DataError
from tool_search_processor.tools import Tool

_PYTHON_NAME = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")


def is_python_name(text: str) -> bool:
    """Return True if an option names something in Python; a file of that name takes precedence."""
    return _PYTHON_NAME.fullmatch(text) is not None and not Path(text).exists()


def imported(option: str, name: str) -> Any:
    """Return what `package.module:attribute` names; modules of the current folder are found.

    What a module prints while it is imported goes to standard error: standard output is the command's.

    Raises:
        ConfigurationError: If there is no such module or attribute, or the module raises.
    """
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:  # an installed command does not look in the current folder by itself
        sys.path.insert(0, str(Path.cwd()))
    try:
        with redirect_stdout(sys.stderr):
            return attrgetter(attribute)(import_module(module))
    except Exception as exc:  # the module is the user's, and may raise anything
        is_plain = isinstance(exc, ImportError | AttributeError | SyntaxError | ValueError)
        reason = str(exc) if is_plain else f"{type(exc).__name__}: {exc}"
        raise ConfigurationError(f"{option} {name!r} can't be imported: {reason}") from exc


def python_catalog(name: str) -> Catalog:
    """Return the tools that `package.module:attribute` names, as a catalog.

    The attribute is anything that a `ToolSearchProcessor` takes as its tools, a single tool, or an object
    that has a catalog, such as a processor.

    Raises:
        ConfigurationError: If it can't be imported, or does not give tools.
    """
    given = imported("--tools", name)
    given = getattr(given, "catalog", given)
    if isinstance(given, Catalog):
        return given
    try:
        return Catalog([given] if isinstance(given, Tool) else given, name=name)
    except ToolSearchError as exc:
        raise _unusable(name, exc) from exc


def python_tools(name: str) -> list[Tool]:
    """Return the tools of `python_catalog`, under the names that a model would see.

    Providers are asked once, and then closed; one that is down is reported in a warning.

    Raises:
        ConfigurationError: If it can't be imported, or does not give tools.
        DataError: If there are no tools.
    """
    catalog = python_catalog(name)
    try:
        with redirect_stdout(sys.stderr):
            tools, status = asyncio.run(_listed(catalog))
    except ToolSearchError as exc:
        raise _unusable(name, exc) from exc
    problems = _problems(status)
    if not tools:
        raise DataError("; ".join([f"{name} holds no tools", *problems]))
    for problem in problems:
        warn(problem)
    return tools


def _unusable(name: str, error: ToolSearchError) -> ConfigurationError:
    return ConfigurationError(f"--tools {name!r} can't be used: {error}")


async def _listed(catalog: Catalog) -> tuple[list[Tool], CatalogStatus]:
    try:
        await catalog.refresh()
        return await catalog.list_tools(), catalog.status()
    finally:
        await catalog.aclose()


def _problems(status: CatalogStatus) -> list[str]:
    down = [
        f"{row.name} is down, and its tools are missing: {row.error}"
        for row in status.providers
        if row.up is False
    ]
    return down + [f"{tool.name} of {tool.provider} is left out: {tool.reason}" for tool in status.refused]
