"""Angles, distances, vectors and complex numbers, by `math` and `cmath`."""

from __future__ import annotations

import cmath
import math
from typing import Annotated, Literal

from pydantic import Field

Vector = Annotated[list[float], Field(min_length=1, max_length=1000)]

_TRIGONOMETRIC = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
}


def trigonometric_function(
    function: Literal["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"], value: float
) -> float:
    """Evaluate sine, cosine, tangent, their inverses, or a hyperbolic function.

    Args:
        function: Which function.
        value: The argument; angles are in radians.
    """
    return _TRIGONOMETRIC[function](value)


def degrees_to_radians(degrees: float) -> float:
    """Convert an angle from degrees to radians.

    Args:
        degrees: The angle in degrees.
    """
    return math.radians(degrees)


def radians_to_degrees(radians: float) -> float:
    """Convert an angle from radians to degrees.

    Args:
        radians: The angle in radians.
    """
    return math.degrees(radians)


def distance_between_points(first: Vector, second: Vector) -> float:
    """Measure the straight-line (Euclidean) distance of two points in any number of dimensions.

    Args:
        first: The coordinates of one point.
        second: The coordinates of the other, equally many.
    """
    return math.dist(first, second)


def hypotenuse(legs: Vector) -> float:
    """Compute the hypotenuse of a right triangle, or the length of a vector.

    Args:
        legs: The two legs, or the vector's components.
    """
    return math.hypot(*legs)


def dot_product(first: Vector, second: Vector) -> float:
    """Compute the dot (scalar) product of two vectors.

    Args:
        first: One vector.
        second: The other, of the same length.
    """
    return math.fsum(a * b for a, b in zip(first, second, strict=True))


def direction_of_vector(x: float, y: float) -> float:
    """Find the angle of a vector from the x axis, in degrees between -180 and 180.

    Args:
        x: The horizontal component.
        y: The vertical component.
    """
    return math.degrees(math.atan2(y, x))


def great_circle_distance(
    latitude_from: float, longitude_from: float, *, latitude_to: float, longitude_to: float
) -> float:
    """Estimate the distance over ground of two places on Earth, in kilometres (haversine formula).

    Args:
        latitude_from: Latitude of the first place, in degrees.
        longitude_from: Longitude of the first place, in degrees.
        latitude_to: Latitude of the second place, in degrees.
        longitude_to: Longitude of the second place, in degrees.
    """
    north, south = math.radians(latitude_from), math.radians(latitude_to)
    half_east = math.radians(longitude_to - longitude_from) / 2
    half_north = (south - north) / 2
    chord = math.sin(half_north) ** 2 + math.cos(north) * math.cos(south) * math.sin(half_east) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(chord))


def circle_area(radius: Annotated[float, Field(ge=0)]) -> dict[str, float]:
    """Compute the area and the circumference of a circle.

    Args:
        radius: The circle's radius.
    """
    return {"area": math.pi * radius**2, "circumference": math.tau * radius}


def solve_quadratic_equation(a: float, b: float, *, c: float) -> list[str]:
    """Solve a x² + b x + c = 0; the roots may be complex.

    Args:
        a: The factor of x squared, not 0.
        b: The factor of x.
        c: The constant term.
    """
    root = cmath.sqrt(b * b - 4 * a * c)
    return [_complex_text((-b + sign * root) / (2 * a)) for sign in (1, -1)]


def multiply_complex_numbers(first: str, second: str) -> str:
    """Multiply two complex numbers.

    Args:
        first: Such as "1+2j".
        second: Such as "3-1j".
    """
    return _complex_text(complex(first.replace(" ", "")) * complex(second.replace(" ", "")))


def complex_to_polar(number: str) -> dict[str, float]:
    """Convert a complex number to polar form: modulus (radius) and phase (angle).

    Args:
        number: Such as "1+1j".
    """
    radius, phase = cmath.polar(complex(number.replace(" ", "")))
    return {"radius": radius, "phase_degrees": math.degrees(phase)}


def polar_to_complex(radius: float, phase_degrees: float) -> str:
    """Convert polar coordinates to a complex number.

    Args:
        radius: The distance from the origin.
        phase_degrees: The angle from the real axis, in degrees.
    """
    return _complex_text(cmath.rect(radius, math.radians(phase_degrees)))


def _complex_text(number: complex) -> str:
    real, imaginary = round(number.real, 12) + 0.0, round(number.imag, 12) + 0.0
    return f"{real:g}" if imaginary == 0 else f"{real:g}{imaginary:+g}j"
