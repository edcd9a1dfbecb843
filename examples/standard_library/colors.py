"""Colors, by `colorsys`; a color is written as #rrggbb."""

from __future__ import annotations

import colorsys
from typing import Annotated

from pydantic import Field

Hex = Annotated[str, Field(pattern=r"^#?[0-9A-Fa-f]{6}$")]
Channel = Annotated[int, Field(ge=0, le=255)]


def _channels(color: str) -> tuple[float, float, float]:
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return red / 255, green / 255, blue / 255


def _hex(channels: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in channels)


def hex_color_to_rgb(color: Hex) -> dict[str, int]:
    """Convert a hexadecimal web color to red, green and blue.

    Args:
        color: Such as "#ff8800".
    """
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return {"red": red, "green": green, "blue": blue}


def rgb_to_hex_color(red: Channel, green: Channel, *, blue: Channel) -> str:
    """Convert red, green and blue to a hexadecimal web color.

    Args:
        red: From 0 to 255.
        green: From 0 to 255.
        blue: From 0 to 255.
    """
    return f"#{red:02x}{green:02x}{blue:02x}"


def color_to_hsl(color: Hex) -> dict[str, float]:
    """Convert a color to hue (degrees), saturation and lightness (percent).

    Args:
        color: Such as "#ff8800".
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(color))
    return {
        "hue": round(hue * 360, 1),
        "saturation": round(saturation * 100, 1),
        "lightness": round(lightness * 100, 1),
    }


def color_to_hsv(color: Hex) -> dict[str, float]:
    """Convert a color to hue (degrees), saturation and value (percent).

    Args:
        color: Such as "#ff8800".
    """
    hue, saturation, value = colorsys.rgb_to_hsv(*_channels(color))
    return {
        "hue": round(hue * 360, 1),
        "saturation": round(saturation * 100, 1),
        "value": round(value * 100, 1),
    }


def color_to_yiq(color: Hex) -> dict[str, float]:
    """Convert a color to YIQ, the color space of NTSC television.

    Args:
        color: Such as "#ff8800".
    """
    y, i, q = colorsys.rgb_to_yiq(*_channels(color))
    return {"y": round(y, 4), "i": round(i, 4), "q": round(q, 4)}


def hsl_to_color(hue: float, saturation: float, *, lightness: float) -> str:
    """Make a web color from hue, saturation and lightness.

    Args:
        hue: In degrees, 0 to 360.
        saturation: In percent, 0 to 100.
        lightness: In percent, 0 to 100.
    """
    return _hex(colorsys.hls_to_rgb(hue / 360, lightness / 100, saturation / 100))


def complementary_color(color: Hex) -> str:
    """Find the complementary color, opposite on the color wheel.

    Args:
        color: Such as "#ff8800".
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(color))
    return _hex(colorsys.hls_to_rgb((hue + 0.5) % 1, lightness, saturation))


def lighten_color(color: Hex, percent: Annotated[float, Field(ge=-100, le=100)]) -> str:
    """Make a color lighter or (negative) darker.

    Args:
        color: Such as "#ff8800".
        percent: Percentage points of lightness to add.
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(color))
    return _hex(colorsys.hls_to_rgb(hue, min(1, max(0, lightness + percent / 100)), saturation))


def mix_colors(first: Hex, second: Hex, *, share: Annotated[float, Field(ge=0, le=1)] = 0.5) -> str:
    """Blend two colors.

    Args:
        first: One color.
        second: The other color.
        share: How much of the second color, from 0 to 1.
    """
    red, green, blue = (a + (b - a) * share for a, b in zip(_channels(first), _channels(second), strict=True))
    return _hex((red, green, blue))


def color_gradient(first: Hex, last: Hex, *, steps: Annotated[int, Field(ge=2, le=100)] = 5) -> list[str]:
    """Make a palette of evenly spaced colors between two colors.

    Args:
        first: The color to start with.
        last: The color to end with.
        steps: How many colors, both ends included.
    """
    return [mix_colors(first, last, share=n / (steps - 1)) for n in range(steps)]


def color_contrast(first: Hex, second: Hex) -> float:
    """Compute the WCAG contrast ratio of two colors, from 1 to 21 (4.5 is readable).

    Args:
        first: One color, such as the text's.
        second: The other, such as the background's.
    """
    darker, lighter = sorted(map(_luminance, (first, second)))
    return round((lighter + 0.05) / (darker + 0.05), 2)


def _luminance(color: str) -> float:
    linear = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _channels(color))
    return sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
