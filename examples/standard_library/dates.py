"""Dates and durations, by `datetime`."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field


def days_between(start: date, end: date) -> int:
    """Count the days from one date to another; negative when the end is earlier.

    Args:
        start: The first date, YYYY-MM-DD.
        end: The last date, YYYY-MM-DD.
    """
    return (end - start).days


def add_days(day: date, days: int) -> str:
    """Find the date some days after (or, negative, before) a date.

    Args:
        day: The date to start from, YYYY-MM-DD.
        days: How many days to add.
    """
    return (day + timedelta(days=days)).isoformat()


def add_workdays(day: date, workdays: Annotated[int, Field(ge=0, le=10_000)]) -> str:
    """Find the date some working days (Monday to Friday) after a date; knows no holidays.

    Args:
        day: The date to start from, YYYY-MM-DD.
        workdays: How many working days to add.
    """
    while workdays:
        day += timedelta(days=1)
        workdays -= day.weekday() < 5
    return day.isoformat()


def count_workdays(start: date, end: date) -> int:
    """Count the working days (Monday to Friday) of a period, both ends included; knows no holidays.

    Args:
        start: The first date, YYYY-MM-DD.
        end: The last date, YYYY-MM-DD, not before the first.
    """
    return sum((start + timedelta(days=n)).weekday() < 5 for n in range((end - start).days + 1))


def weekday_of_date(day: date) -> str:
    """Tell which day of the week a date is.

    Args:
        day: The date, YYYY-MM-DD.
    """
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return names[day.weekday()]


def iso_week(day: date) -> dict[str, int]:
    """Find the ISO 8601 calendar week of a date.

    Args:
        day: The date, YYYY-MM-DD.
    """
    year, week, weekday = day.isocalendar()
    return {"year": year, "week": week, "weekday": weekday}


def date_of_iso_week(year: int, week: Annotated[int, Field(ge=1, le=53)], *, weekday: int = 1) -> str:
    """Find the date of a day in an ISO 8601 calendar week.

    Args:
        year: The ISO year.
        week: The week's number.
        weekday: 1 for Monday to 7 for Sunday.
    """
    return date.fromisocalendar(year, week, weekday).isoformat()


def day_of_year(day: date) -> int:
    """Count which day of its year a date is, from 1.

    Args:
        day: The date, YYYY-MM-DD.
    """
    return day.timetuple().tm_yday


def age_in_years(birthday: date, on: date) -> int:
    """Compute a person's age in full years at a date.

    Args:
        birthday: The date of birth, YYYY-MM-DD.
        on: The date to compute the age for, YYYY-MM-DD.
    """
    return on.year - birthday.year - ((on.month, on.day) < (birthday.month, birthday.day))


def format_date(day: date, pattern: str) -> str:
    """Write a date in a wanted format.

    Args:
        day: The date, YYYY-MM-DD.
        pattern: A strftime pattern, such as "%d.%m.%Y".
    """
    return day.strftime(pattern)


def parse_date(text: str, pattern: str) -> str:
    """Read a date or time from text by a format, and write it in ISO 8601.

    Args:
        text: The text, such as "28.11.2026 08:30".
        pattern: A strptime pattern, such as "%d.%m.%Y %H:%M".
    """
    return datetime.strptime(text, pattern).isoformat()


def seconds_between(start: datetime, end: datetime) -> float:
    """Measure the time between two moments, in seconds.

    Args:
        start: The first moment, in ISO 8601.
        end: The last moment, in ISO 8601.
    """
    return (end - start).total_seconds()


def add_duration(
    moment: datetime, days: int = 0, *, hours: int = 0, minutes: int = 0, seconds: int = 0
) -> str:
    """Find the moment some days, hours, minutes and seconds later (or, negative, earlier).

    Args:
        moment: The moment to start from, in ISO 8601.
        days: Days to add.
        hours: Hours to add.
        minutes: Minutes to add.
        seconds: Seconds to add.
    """
    return (moment + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)).isoformat()


def format_duration(seconds: int) -> str:
    """Write a number of seconds as days and hours:minutes:seconds.

    Args:
        seconds: The duration.
    """
    return str(timedelta(seconds=seconds))


def unix_timestamp_to_date(timestamp: float) -> str:
    """Convert a Unix timestamp (epoch seconds) to a date and time in UTC.

    Args:
        timestamp: Seconds since 1970-01-01.
    """
    return datetime.fromtimestamp(timestamp, UTC).isoformat()


def date_to_unix_timestamp(moment: datetime) -> float:
    """Convert a date and time to a Unix timestamp (epoch seconds).

    Args:
        moment: The moment in ISO 8601; UTC where it names no offset.
    """
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def current_utc_time(unit: Literal["seconds", "minutes", "hours"] = "seconds") -> str:
    """Tell the current date and time in UTC.

    Args:
        unit: How exactly to write it.
    """
    return datetime.now(UTC).isoformat(timespec=unit)


def todays_date() -> str:
    """Tell today's date in UTC."""
    return datetime.now(UTC).date().isoformat()
