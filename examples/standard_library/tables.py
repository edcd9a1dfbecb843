"""Rows and columns, by `csv` and an in-memory `sqlite3`."""

from __future__ import annotations

import csv
import io
import sqlite3
import time
from contextlib import closing
from typing import Annotated, Literal

from pydantic import Field

Table = Annotated[str, Field(max_length=200_000)]
Cell = str | int | float | None
Delimiter = Annotated[str, Field(min_length=1, max_length=1)]


def csv_to_records(table: Table, delimiter: Delimiter = ",") -> list[dict[str, str]]:
    """Read a CSV table into one record (object) a row.

    Args:
        table: The CSV text; its first line holds the column names.
        delimiter: What stands between cells.
    """
    return [dict(row) for row in csv.DictReader(io.StringIO(table), delimiter=delimiter)]


def records_to_csv(records: list[dict[str, Cell]]) -> str:
    """Write records as a CSV table, with a line of column names.

    Args:
        records: Objects with the same keys.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(records[0]) if records else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


def csv_column(table: Table, column: str) -> list[str]:
    """Read one column of a CSV table.

    Args:
        table: The CSV text; its first line holds the column names.
        column: The column's name.
    """
    return [row[column] for row in csv.DictReader(io.StringIO(table))]


def sort_csv(table: Table, column: str, *, order: Literal["ascending", "descending"] = "ascending") -> str:
    """Sort the rows of a CSV table by one column, numbers as numbers.

    Args:
        table: The CSV text; its first line holds the column names.
        column: The column to sort by.
        order: The direction.
    """
    rows = csv_to_records(table)
    rows.sort(key=lambda row: _sort_key(row[column]), reverse=order == "descending")
    return records_to_csv([dict(row) for row in rows])


def _sort_key(cell: str) -> tuple[int, float, str]:
    try:
        return 0, float(cell), ""
    except ValueError:
        return 1, 0.0, cell


def convert_csv_delimiter(table: Table, old: Delimiter, *, new: Delimiter) -> str:
    """Change the delimiter of a CSV table, such as semicolons to commas; quotes as needed.

    Args:
        table: The CSV text.
        old: What stands between cells now.
        new: What shall stand there.
    """
    out = io.StringIO()
    csv.writer(out, delimiter=new, lineterminator="\n").writerows(
        csv.reader(io.StringIO(table), delimiter=old)
    )
    return out.getvalue()


def detect_csv_delimiter(table: Table) -> str:
    """Guess which character separates the cells of a CSV table.

    Args:
        table: The CSV text, at least two lines.
    """
    return csv.Sniffer().sniff(table, delimiters=",;\t|").delimiter


def csv_to_markdown(table: Table) -> str:
    """Turn a CSV table into a Markdown table.

    Args:
        table: The CSV text; its first line holds the column names.
    """
    header, *rows = csv.reader(io.StringIO(table))
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def query_records_with_sql(
    records: Annotated[list[dict[str, Cell]], Field(min_length=1)], sql: str
) -> list[list[Cell]]:
    """Run an SQL SELECT over records, in memory: filter, group, join and aggregate rows.

    Args:
        records: Objects with the same keys; they are the table `records`.
        sql: Such as "SELECT city, sum(sales) FROM records GROUP BY city". Takes at most one second.
    """
    columns = list(records[0])
    names = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE records ({names})")
        marks = ", ".join("?" * len(columns))
        rows = ([record.get(column) for column in columns] for record in records)
        database.executemany(f"INSERT INTO records VALUES ({marks})", rows)
        database.set_authorizer(_read_only)
        deadline = time.monotonic() + 1
        database.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
        return [list(row) for row in database.execute(sql).fetchmany(1000)]


def _read_only(action: int, *_: str | None) -> int:
    reads = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
    return sqlite3.SQLITE_OK if action in reads else sqlite3.SQLITE_DENY


def check_sql_statement(sql: str) -> bool:
    """Check whether a text is a complete SQL statement that ends in a semicolon.

    Args:
        sql: The statement.
    """
    return sqlite3.complete_statement(sql)
