"""Plots as SVG strings that take their colors from the surrounding page, and are narrow enough for a phone.

Text keeps its size: a plot may grow, but never shrinks. Headings and legends are the page's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from tool_search_processor.evaluation.metrics import Estimate

WIDTH = 340.0
"""The greatest width of a plot in pixels, unless a single group of bars is wider: phones have 360 or more."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 10, 12, 26
_HEIGHT = 220
_GROWTH = 1.25
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LABEL_CHARACTERS = 18
_CHARACTER = 7.0
"""The approximate width of a character: text can't be measured here."""
_COLORS = 6
_SAME = 3.0
"""Points closer together than this, in pixels, hide each other."""
_RADIUS, _STROKE = 3.0, 2.0
_RIM = 3.0
"""How far a point or line shows around the point or line on top of it."""


def bar_plots(values: Mapping[str, Sequence[Estimate]], series: Sequence[str], *, title: str) -> list[str]:
    """Return plots of grouped bars, as `bars` draws them, with as many groups in each as fit into `WIDTH`."""
    labels = list(values)
    fitting = max(1, int((WIDTH - _LEFT - _RIGHT) // _step(labels, series)))
    size = math.ceil(len(labels) / max(1, math.ceil(len(labels) / fitting)))
    parts = (labels[start : start + size] for start in range(0, len(labels), max(1, size)))
    return [bars({label: values[label] for label in part}, series, title=title) for part in parts]


def bars(values: Mapping[str, Sequence[Estimate]], series: Sequence[str], *, title: str) -> str:
    """Return a plot of grouped bars with whiskers for intervals; values from 0 to 1.

    Args:
        values: For each group, by label, one estimate for each series.
        series: The names of the bars in a group, in order.
        title: What the plot shows, for who can't see it.
    """
    bar, step = _bar_width(series), _step(list(values), series)
    parts = []
    for place, (label, estimates) in enumerate(values.items()):
        middle = _LEFT + step * (place + 0.5)
        start = middle - bar * len(estimates) / 2
        parts.append(_label(middle, label))
        for number, found in enumerate(estimates):
            x = start + bar * number
            parts.append(
                f'<rect x="{x:.1f}" y="{_y(found.value):.1f}" width="{bar - 2:.1f}" '
                f'height="{_HEIGHT - _y(found.value):.1f}" fill="{color(number)}">'
                f"<title>{escape(series[number])} {escape(label)}: {found.value:.3f} "
                f"({found.low:.3f} to {found.high:.3f})</title></rect>"
            )
            parts.append(_whisker(x + (bar - 2) / 2, found))
    return _svg(_LEFT + step * len(values) + _RIGHT, parts, f"{title}: {', '.join(values)}")


def curves(values: Mapping[str, Sequence[float]], *, title: str) -> str:
    """Return a plot with a line for each series over 1, 2, 3 …; values from 0 to 1.

    The first series lies on top. Where a series has the same values as earlier ones, it is drawn wider, so
    that it is seen around them.

    Args:
        values: The points of each series, by its name.
        title: What the plot shows, for who can't see it.
    """
    count = max(map(len, values.values()), default=0)
    step = (WIDTH - _LEFT - _RIGHT) / max(1, count)
    parts = [_label(_LEFT + step * (place + 0.5), str(place + 1)) for place in range(count)]
    drawn = [list(_curve(number, list(values.items()), step)) for number in range(len(values))]
    parts += (element for elements in reversed(drawn) for element in elements)
    return _svg(WIDTH, parts, title)


def color(number: int) -> str:
    """Return the color of a series, as a value of CSS."""
    return f"var(--s{number % _COLORS})"


def _curve(number: int, named: Sequence[tuple[str, Sequence[float]]], step: float) -> Iterator[str]:
    """Yield the lines and points of one series."""
    name, points = named[number]
    rims = [_RIM * count for count in _hidden_by(points, [others for _, others in named[:number]])]
    drawn = [(_LEFT + step * (place + 0.5), _y(value)) for place, value in enumerate(points)]
    for place in range(len(drawn) - 1):
        (x, y), (next_x, next_y) = drawn[place : place + 2]
        width = _STROKE + 2 * min(rims[place : place + 2])
        yield (
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{next_x:.1f}" y2="{next_y:.1f}" '
            f'stroke="{color(number)}" stroke-width="{width:.0f}"/>'
        )
    for place, ((x, y), value) in enumerate(zip(drawn, points, strict=True)):
        yield (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS + rims[place]:.0f}" fill="{color(number)}">'
            f"<title>{escape(name)}, {place + 1} results: {value:.3f}</title></circle>"
        )


def _hidden_by(points: Sequence[float], others: Sequence[Sequence[float]]) -> list[int]:
    """Return how many of the other series have a point at the place of each point."""
    return [
        sum(place < len(other) and abs(_y(other[place]) - _y(value)) < _SAME for other in others)
        for place, value in enumerate(points)
    ]


def _svg(width: float, parts: Sequence[str], title: str) -> str:
    grid = "".join(
        f'<line class="grid" x1="{_LEFT}" x2="{width - 6:.0f}" y1="{_y(tick):.1f}" y2="{_y(tick):.1f}"/>'
        f'<text class="soft" x="{_LEFT - 6}" y="{_y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        for tick in _TICKS
    )
    height = _HEIGHT + _BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" aria-label="{escape(title, quote=True)}" '
        f'style="flex: 1 0 {width:.0f}px; max-width: {width * _GROWTH:.0f}px">{grid}{"".join(parts)}</svg>'
    )


def _bar_width(series: Sequence[str]) -> float:
    return max(8.0, 22.0 - 2 * len(series))


def _step(labels: Sequence[str], series: Sequence[str]) -> float:
    """Return the distance between groups of bars."""
    longest = max((len(_short(label)) for label in labels), default=0)
    return max(_bar_width(series) * len(series) + 16, longest * _CHARACTER + 8)


def _whisker(x: float, found: Estimate) -> str:
    low, high = _y(found.low), _y(found.high)
    return f'<line class="whisker" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'


def _label(x: float, text: str) -> str:
    y, shown = _HEIGHT + 18, escape(_short(text))
    return f'<text class="soft" x="{x:.1f}" y="{y}" text-anchor="middle">{shown}</text>'


def _short(text: str) -> str:
    return text if len(text) <= _LABEL_CHARACTERS else f"{text[: _LABEL_CHARACTERS - 1]}…"


def _y(value: float) -> float:
    return _TOP + (1 - value) * (_HEIGHT - _TOP)
