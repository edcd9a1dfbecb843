"""Tables and progress bars in a terminal (extra `cli`), and strings that are safe to show there."""

from __future__ import annotations

import importlib.util
import json
import logging
import re
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import rich.table

_WIDTH = 200
"""Columns of a table if the output is not a terminal, so that nothing is cut."""
_ENDLESS = 100_000
_GAP = 3
"""Columns between two columns of a table."""
_READABLE = 10
"""The least width of a column of sentences."""
_CONTROL = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_MISSING = 'tables need the package rich: pip install "tool-search-processor[cli]" (or ask for --json)'


def show(*lines: str) -> None:
    """Print lines to the standard output."""
    for line in lines:
        sys.stdout.write(f"{line}\n")


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    show(json.dumps(value, ensure_ascii=False, indent=2))


def write_output(text: str, path: str | None, *, what: str) -> None:
    """Write text to a file, and say so on the standard error; without a path, to the standard output."""
    if path is None:
        sys.stdout.write(text)
        return
    # half a surrogate pair becomes the escape that JSON has for it
    Path(path).write_text(text, "utf-8", errors="backslashreplace")
    warn(f"wrote {what} to {path}")


def warn(text: str) -> None:
    """Print a sentence to the standard error."""
    sys.stderr.write(f"tool-search: {text}\n")


class LineFormatter(logging.Formatter):
    """Writes a record as one line; tracebacks only where they were asked for."""

    def __init__(self, *, verbose: bool) -> None:
        """Set whether tracebacks are shown."""
        super().__init__()
        self._verbose = verbose

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; if `verbose`, the record with its traceback."""
        if self._verbose:
            return super().format(record)
        return f"tool-search: {printable(record.getMessage())}"


def log_to_stderr(*, verbose: bool) -> None:
    """Write warnings to the standard error, a line each; if `verbose`, also details and tracebacks."""
    handler = logging.StreamHandler(sys.stderr)  # standard output is the command's
    handler.setFormatter(LineFormatter(verbose=verbose))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    if verbose:
        logging.getLogger("tool_search_processor").setLevel(logging.DEBUG)


def require_tables() -> None:
    """Check early, before long work, that tables can be shown.

    Raises:
        ImportError: Without the extra `cli`.
    """
    if importlib.util.find_spec("rich") is None:
        raise ImportError(_MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table to print."""

    heads: Sequence[str]
    """The columns' names; empty ones are fine."""
    rows: Sequence[Sequence[str]]
    """The cells; nothing in them is markup."""
    text: frozenset[str]
    """Names of the columns of strings: aligned to the left, and wrapped if needed."""
    whole: frozenset[str] = frozenset()
    """Names of the columns that are never wrapped."""
    title: str = ""
    is_tight: bool = False
    """Leave less space between columns."""

    def widths(self) -> list[int]:
        """Return how wide each column is if nothing in it is wrapped."""
        from rich.cells import cell_len

        columns = zip(self.heads, *self.rows, strict=True)
        return [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in columns]

    def least_width(self) -> int:
        """Return the least width of a terminal in which every column can be read."""
        wraps = self.text - self.whole
        columns = zip(self.heads, self.widths(), strict=True)
        return sum(_GAP + (min(width, _READABLE) if head in wraps else width) for head, width in columns)


def show_table(table: Table) -> None:
    """Print a table, or a list of its rows where its columns would be too narrow to read."""
    from rich.console import Console

    if sys.stdout.isatty() and table.least_width() > Console().width:
        _show_rows(table)
    else:
        show_first_that_fits([table])


def _show_rows(table: Table) -> None:
    """Print each row as lines of heading and cell."""
    indent = max(map(len, table.heads)) + 2
    for row in table.rows:
        for head, cell in zip(table.heads, row, strict=True):
            lines = textwrap.wrap(printable(cell), max(_READABLE, get_terminal_size().columns - indent))
            show(*(f"{head if not place else '':{indent}}{line}" for place, line in enumerate(lines)))
        show("")


def show_first_that_fits(*choices: Sequence[Table]) -> Sequence[Table]:
    """Print the first choice that fits into the terminal with no cell wrapped; the last one if none does.

    The tables of a choice stand below each other and have the same columns, which are aligned.

    Returns:
        What was printed.
    """
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    for tables in choices:
        widths = [max(column) for column in zip(*(table.widths() for table in tables), strict=True)]
        aligned = [_rich_table(table, widths) for table in tables]
        if all(Console(width=_ENDLESS).measure(made).maximum <= console.width for made in aligned):
            break
    else:
        aligned = [_rich_table(table, [0] * len(table.heads)) for table in tables]
    for place, (table, made) in enumerate(zip(tables, aligned, strict=True)):
        if table.title:
            show(*[""] * (place > 0), printable(table.title))
        with console.capture() as captured:  # written by ourselves: rich ends the program on a broken pipe
            console.print(made)
        show("\n".join(line.rstrip() for line in captured.get().split("\n")).strip("\n"))
    return tables


def _rich_table(table: Table, widths: Sequence[int]) -> rich.table.Table:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=table.is_tight)
    for head, width in zip(table.heads, widths, strict=True):
        if head in table.text:
            made.add_column(head, overflow="fold", no_wrap=head in table.whole, min_width=width)
        else:
            made.add_column(head, justify="right", no_wrap=True, min_width=width)
    for row in table.rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    return made


@contextmanager
def progress(total: int | None, label: str) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error while the block runs, if that is a terminal.

    Args:
        total: How many steps there will be; None if that is not known.
        label: What is being done.

    Yields:
        A function to call with the number of steps done since the last call.
    """
    done = 0
    with staged_progress(is_counted=total is not None) as tell:

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            tell(label, done, total)

        advance(0)
        yield advance


@contextmanager
def staged_progress(*, is_counted: bool = True) -> Iterator[Callable[[str, int, int | None], object]]:
    """Show a bar on standard error, or only the time, for work whose stages report how far they are.

    Yields:
        A function to call with a stage's name, the number of its steps that are done, and their total. It
        does nothing if standard error is not a terminal, or can't show a bar.
    """
    if not sys.stderr.isatty() or importlib.util.find_spec("rich") is None:
        yield lambda _stage, _done, _total: None
        return
    from rich import progress as shown
    from rich.console import Console

    counted = (shown.BarColumn(), shown.MofNCompleteColumn(), shown.TimeRemainingColumn())
    columns = (
        shown.SpinnerColumn(),
        shown.TextColumn("{task.description}", markup=False),
        *(counted if is_counted else (shown.TimeElapsedColumn(),)),
    )
    with shown.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda stage, done, total: bar.update(
            task, description=printable(stage), completed=done, total=total
        )


def printable(text: str) -> str:
    """Return a string without anything that a terminal would obey: control and text direction characters.

    Line breaks become spaces. A catalog comes from others, and a name may hold anything.
    """
    spaced = re.sub("[\n\r\t]", " ", text)
    return "".join("\ufffd" if unicodedata.category(each) in _CONTROL else each for each in spaced)
