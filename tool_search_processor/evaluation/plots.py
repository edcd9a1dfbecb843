"""Plots as SVG strings that take their colors from the surrounding page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from tool_search_processor.evaluation.metrics import Estimate

_COLORS = 6
_LEFT, _TOP, _BOTTOM = 40, 34, 40
_HEIGHT = 220
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LABEL_CHARACTERS = 18
_CHARACTER = 7.0
"""The approximate width of a character: text can't be measured here."""


def bars(values: Mapping[str, Sequence[Estimate]], series: Sequence[str], *, title: str) -> str:
    """Return a plot of grouped bars with whiskers for intervals; values from 0 to 1.

    Args:
        values: For each group, by label, one estimate for each series.
        series: The names of the bars in a group, in order.
        title: The plot's heading.
    """
    bar = max(8.0, 22.0 - 2 * len(series))
    longest = max((len(_short(label)) for label in values), default=0)
    step = max(bar * len(series) + 16, longest * _CHARACTER + 8)
    width = _LEFT + step * len(values) + 10
    parts = []
    for place, (label, estimates) in enumerate(values.items()):
        middle = _LEFT + step * (place + 0.5)
        start = middle - bar * len(estimates) / 2
        parts.append(_label(middle, _HEIGHT + 16, label))
        for number, found in enumerate(estimates):
            x = start + bar * number
            parts.append(
                f'<rect x="{x:.1f}" y="{_y(found.value):.1f}" width="{bar - 2:.1f}" '
                f'height="{_HEIGHT - _y(found.value):.1f}" fill="{_color(number)}">'
                f"<title>{escape(_series_name(series, number))} {escape(label)}: {found.value:.3f} "
                f"({found.low:.3f} to {found.high:.3f})</title></rect>"
            )
            parts.append(_whisker(x + (bar - 2) / 2, found))
    return _svg(width, parts, series, title)


def curves(values: Mapping[str, Sequence[float]], *, title: str) -> str:
    """Return a plot with one line for each series over 1, 2, 3 …; values from 0 to 1.

    Args:
        values: The points of each series, by its name.
        title: The plot's heading.
    """
    count = max(map(len, values.values()), default=0)
    step = 38.0
    parts = [_label(_LEFT + step * (place + 0.5), _HEIGHT + 16, str(place + 1)) for place in range(count)]
    for number, (name, points) in enumerate(values.items()):
        drawn = [(_LEFT + step * (place + 0.5), _y(value)) for place, value in enumerate(points)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in drawn)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{_color(number)}" stroke-width="2"/>')
        parts.extend(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_color(number)}">'
            f"<title>{escape(name)}, {place} results: {value:.3f}</title></circle>"
            for place, ((x, y), value) in enumerate(zip(drawn, points, strict=True), start=1)
        )
    return _svg(_LEFT + step * count + 10, parts, list(values), title)


def _svg(width: float, parts: Sequence[str], series: Sequence[str], title: str) -> str:
    legend, used = _legend(series)
    width = max(width, used, len(title) * _CHARACTER + _LEFT)
    grid = "".join(
        f'<line class="grid" x1="{_LEFT}" x2="{width - 6:.0f}" y1="{_y(tick):.1f}" y2="{_y(tick):.1f}"/>'
        f'<text class="soft" x="{_LEFT - 6}" y="{_y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in _TICKS
    )
    height = _HEIGHT + _BOTTOM + 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" aria-label="{escape(title, quote=True)}">'
        f'<text x="{_LEFT}" y="16" font-weight="600">{escape(title)}</text>'
        f"{grid}{''.join(parts)}{legend}</svg>"
    )


def _legend(series: Sequence[str]) -> tuple[str, float]:
    """Return the legend and its width."""
    x, parts = float(_LEFT), []
    for number, name in enumerate(series):
        y = _HEIGHT + _BOTTOM
        parts.append(
            f'<rect x="{x:.0f}" y="{y - 9}" width="10" height="10" fill="{_color(number)}"/>'
            f'<text x="{x + 14:.0f}" y="{y}">{escape(_short(name))}</text>'
        )
        x += 30 + len(_short(name)) * _CHARACTER
    return "".join(parts), x


def _whisker(x: float, found: Estimate) -> str:
    low, high = _y(found.low), _y(found.high)
    return f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'


def _label(x: float, y: float, text: str) -> str:
    return f'<text class="soft" x="{x:.1f}" y="{y:.0f}" text-anchor="middle">{escape(_short(text))}</text>'


def _series_name(series: Sequence[str], number: int) -> str:
    return series[number] if number < len(series) else ""


def _short(text: str) -> str:
    return text if len(text) <= _LABEL_CHARACTERS else f"{text[: _LABEL_CHARACTERS - 1]}…"


def _color(number: int) -> str:
    return f"var(--s{number % _COLORS})"


def _y(value: float) -> float:
    return _TOP + (1 - value) * (_HEIGHT - _TOP)
