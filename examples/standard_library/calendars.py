"""Months, years and weekdays, by `calendar`."""

from __future__ import annotations

import calendar
from typing import Annotated

from pydantic import Field

Year = Annotated[int, Field(ge=1, le=9999)]
Month = Annotated[int, Field(ge=1, le=12)]
Weekday = Annotated[int, Field(ge=1, le=7)]


def is_leap_year(year: Year) -> bool:
    """Check whether a year is a leap year.

    Args:
        year: The year, such as 2028.
    """
    return calendar.isleap(year)


def count_leap_years(first: Year, last: Year) -> int:
    """Count the leap years from one year up to, not including, another.

    Args:
        first: The first year.
        last: The year to stop before.
    """
    return calendar.leapdays(first, last)


def days_in_month(year: Year, month: Month) -> int:
    """Tell how many days a month has.

    Args:
        year: The year, which matters for February.
        month: The month, 1 to 12.
    """
    return calendar.monthrange(year, month)[1]


def month_calendar(year: Year, month: Month) -> str:
    """Draw the calendar of a month as text, weeks starting on Monday.

    Args:
        year: The year.
        month: The month, 1 to 12.
    """
    return calendar.TextCalendar().formatmonth(year, month)


def year_calendar(year: Year, columns: Annotated[int, Field(ge=1, le=6)] = 3) -> str:
    """Draw the calendar of a whole year as text.

    Args:
        year: The year.
        columns: How many months stand side by side.
    """
    return calendar.TextCalendar().formatyear(year, m=columns)


def weeks_of_month(year: Year, month: Month) -> list[list[int]]:
    """List a month's weeks as rows of days, Monday first; 0 stands for a day of another month.

    Args:
        year: The year.
        month: The month, 1 to 12.
    """
    return calendar.monthcalendar(year, month)


def nth_weekday_of_month(year: Year, month: Month, *, weekday: Weekday, n: int = 1) -> str:
    """Find a date such as the second Tuesday or (n = -1) the last Friday of a month.

    Args:
        year: The year.
        month: The month, 1 to 12.
        weekday: 1 for Monday to 7 for Sunday.
        n: Which one, from 1; -1 is the last.
    """
    days = [week[weekday - 1] for week in calendar.monthcalendar(year, month) if week[weekday - 1]]
    return f"{year:04d}-{month:02d}-{days[n - 1 if n > 0 else n]:02d}"


def name_of_month(month: Month) -> dict[str, str]:
    """Tell a month's name and its abbreviation.

    Args:
        month: The month, 1 to 12.
    """
    return {"name": calendar.month_name[month], "abbreviation": calendar.month_abbr[month]}


def fridays_the_thirteenth(year: Year) -> list[str]:
    """List the Fridays that fall on the 13th of a month in a year.

    Args:
        year: The year.
    """
    months = (month for month in range(1, 13) if calendar.weekday(year, month, 13) == calendar.FRIDAY)
    return [f"{year:04d}-{month:02d}-13" for month in months]


def html_month_calendar(year: Year, month: Month) -> str:
    """Make an HTML table with the calendar of a month.

    Args:
        year: The year.
        month: The month, 1 to 12.
    """
    return calendar.HTMLCalendar().formatmonth(year, month)
