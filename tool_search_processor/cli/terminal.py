"""Tables and progress bars in a terminal (extra `cli`), and strings that are safe to show there."""

from __future__ import annotations

import importlib.util
import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

_WIDTH = 200
"""Columns of a table if the output is not a terminal: nothing needs to be cut."""
_CONTROL = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_MISSING = 'tables need the package rich: pip install "tool-search-processor[cli]" (or ask for --json)'


def show(*lines: str) -> None:
    """Print lines to the standard output."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    show(json.dumps(value, ensure_ascii=False, indent=2))


def warn(text: str) -> None:
    """Print a sentence to the standard error."""
    sys.stderr.write(f"tool-search: {text}\n")


def require_tables() -> None:
    """Check early, before long work, that tables can be shown.

    Raises:
        ImportError: Without the extra `cli`.
    """
    if importlib.util.find_spec("rich") is None:
        raise ImportError(_MISSING)


def show_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, text: frozenset[str]) -> None:
    """Print a table.

    Args:
        heads: The columns' names; empty ones are fine.
        rows: The cells; nothing in them is markup.
        text: Names of the columns of strings: aligned to the left, and wrapped if needed.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table: Table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        if head in text:
            table.add_column(head, overflow="fold")
        else:
            table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    with console.capture() as captured:  # written by ourselves: rich ends the program on a broken pipe
        console.print(table)
    show("\n".join(line.rstrip() for line in captured.get().split("\n")).strip("\n"))


@contextmanager
def progress(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on the standard error while the block runs, if that is a terminal.

    Args:
        total: How many steps there will be.
        label: What is being done.

    Yields:
        A function to call with the number of steps done since the last call.
    """
    if not sys.stderr.isatty() or importlib.util.find_spec("rich") is None:
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(printable(label), total=total)
        yield lambda steps: bar.advance(task, steps)


def printable(text: str) -> str:
    """Return a string without what a terminal would obey: control characters and directions of writing.

    Line breaks become spaces. A catalog comes from others, and a name may hold anything.
    """
    return "".join(
        " "
        if character in "\n\r\t"
        else "\ufffd"
        if unicodedata.category(character) in _CONTROL
        else character
        for character in text
    )


def _ignore(_steps: int) -> None:
    """Nobody watches."""
