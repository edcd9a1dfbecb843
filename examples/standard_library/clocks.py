"""Time zones and clock arithmetic, by `zoneinfo` and `datetime`.

A system without a time zone database (some containers, Windows without the `tzdata` package) answers
with a sentence that says so.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import Field


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        hint = (
            "install the package tzdata"
            if not available_timezones()
            else 'use a name such as "Europe/Berlin"'
        )
        raise ValueError(f"there is no time zone {name!r} here: {hint}") from exc


def convert_time_zone(moment: datetime, from_zone: str, *, to_zone: str) -> str:
    """Convert a date and time from one time zone to another.

    Args:
        moment: The local date and time, in ISO 8601.
        from_zone: Where that time is read, such as "Europe/Berlin".
        to_zone: Where the answer is read, such as "America/New_York".
    """
    return moment.replace(tzinfo=_zone(from_zone)).astimezone(_zone(to_zone)).isoformat()


def utc_offset_of_zone(zone: str, moment: datetime) -> str:
    """Find a time zone's offset from UTC at a moment, such as +02:00 in summer.

    Args:
        zone: The zone, such as "Europe/Berlin".
        moment: The local date and time, in ISO 8601.
    """
    return moment.replace(tzinfo=_zone(zone)).strftime("%z")


def is_daylight_saving_time(zone: str, moment: datetime) -> bool:
    """Check whether a time zone has daylight saving (summer) time at a moment.

    Args:
        zone: The zone, such as "Europe/Berlin".
        moment: The local date and time, in ISO 8601.
    """
    return bool(moment.replace(tzinfo=_zone(zone)).dst())


def current_time_in_zone(zone: str) -> str:
    """Tell what time it is now in a place's time zone.

    Args:
        zone: The zone, such as "Asia/Tokyo".
    """
    return datetime.now(_zone(zone)).isoformat(timespec="seconds")


def hours_between_zones(first: str, second: str, *, moment: datetime) -> float:
    """Compute how many hours the second time zone is ahead of the first.

    Args:
        first: A zone, such as "Europe/London".
        second: The other zone, such as "Asia/Kolkata".
        moment: When, in ISO 8601 (UTC): offsets change with the seasons.
    """
    at = moment.replace(tzinfo=UTC)
    offsets = [at.astimezone(_zone(name)).utcoffset() for name in (first, second)]
    return (
        sum(sign * offset.total_seconds() for sign, offset in zip((-1, 1), offsets, strict=True) if offset)
        / 3600
    )


def find_time_zones(part: Annotated[str, Field(min_length=2)]) -> list[str]:
    """List the names of time zones that contain a text, such as a city or a continent.

    Args:
        part: Part of the name, such as "berlin".
    """
    return sorted(name for name in available_timezones() if part.casefold() in name.casefold())[:50]


def twelve_hour_clock(time: Annotated[str, Field(pattern=r"^\d{1,2}:\d{2}$")]) -> str:
    """Convert a time of the 24-hour clock to am and pm.

    Args:
        time: Such as "17:30".
    """
    hour, minute = map(int, time.split(":"))
    return f"{(hour - 1) % 12 + 1}:{minute:02d} {'am' if hour % 24 < 12 else 'pm'}"
