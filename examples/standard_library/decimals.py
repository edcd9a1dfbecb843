"""Exact decimals, fractions and ways to write numbers, by `decimal`, `fractions` and formats."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

Digits = Annotated[str, Field(max_length=100)]


def add_decimals(numbers: list[Digits]) -> str:
    """Add decimal numbers exactly, as money is added.

    Args:
        numbers: The numbers as text, such as "19.99".
    """
    return str(sum(map(Decimal, numbers), Decimal(0)))


def multiply_decimals(first: Digits, second: Digits) -> str:
    """Multiply two decimal numbers exactly, such as a price and a quantity.

    Args:
        first: A number as text, such as "19.99".
        second: The other number as text.
    """
    return str(Decimal(first) * Decimal(second))


def divide_decimals(
    dividend: Digits, divisor: Digits, *, digits: Annotated[int, Field(ge=1, le=200)] = 28
) -> str:
    """Divide two decimal numbers to a wanted number of significant digits.

    Args:
        dividend: The number to divide, as text.
        divisor: What it is divided by, as text.
        digits: How many significant digits the answer has.
    """
    with decimal.localcontext(prec=digits):
        return str(Decimal(dividend) / Decimal(divisor))


def round_decimal(
    number: Digits,
    places: Annotated[int, Field(ge=0, le=50)] = 2,
    *,
    rounding: Literal["half_up", "half_even", "up", "down", "ceiling", "floor"] = "half_up",
) -> str:
    """Round a decimal number to places after the point, by a stated rule such as banker's rounding.

    Args:
        number: The number as text, such as "2.675".
        places: How many digits stay after the point.
        rounding: The rule; half_even is banker's rounding.
    """
    return str(Decimal(number).quantize(Decimal(1).scaleb(-places), rounding="ROUND_" + rounding.upper()))


def percentage_of(percent: Digits, amount: Digits) -> str:
    """Compute a percentage of an amount, such as a tip, a tax or a discount.

    Args:
        percent: The percentage as text, such as "19".
        amount: The amount as text, such as "49.90".
    """
    return str((Decimal(percent) * Decimal(amount) / 100).normalize().quantize(Decimal("0.0001")).normalize())


def square_root_digits(number: Digits, digits: Annotated[int, Field(ge=1, le=500)] = 50) -> str:
    """Compute a square root to many significant digits.

    Args:
        number: The number as text, not negative.
        digits: How many significant digits the answer has.
    """
    with decimal.localcontext(prec=digits):
        return str(Decimal(number).sqrt())


def add_fractions(fractions: list[Digits]) -> str:
    """Add fractions and shorten the sum.

    Args:
        fractions: Such as ["1/2", "1/3"].
    """
    return str(sum(map(Fraction, fractions), Fraction(0)))


def multiply_fractions(fractions: Annotated[list[Digits], Field(max_length=50)]) -> str:
    """Multiply fractions and shorten the product.

    Args:
        fractions: Such as ["2/3", "3/4"].
    """
    result = Fraction(1)
    for fraction in fractions:
        result *= Fraction(fraction)
    return str(result)


def simplify_fraction(numerator: int, denominator: int) -> str:
    """Shorten a fraction to lowest terms.

    Args:
        numerator: The number above the line.
        denominator: The number below the line, not 0.
    """
    return str(Fraction(numerator, denominator))


def decimal_to_fraction(number: Digits, largest_denominator: Annotated[int, Field(ge=1)] = 1000) -> str:
    """Find the fraction nearest to a decimal number, such as 22/7 for pi.

    Args:
        number: The number as text, such as "3.14159".
        largest_denominator: The largest number allowed below the line.
    """
    return str(Fraction(number).limit_denominator(largest_denominator))


def format_thousands(number: float, places: Annotated[int, Field(ge=0, le=20)] = 0) -> str:
    """Write a number with commas between thousands.

    Args:
        number: The number.
        places: How many digits after the point.
    """
    return f"{number:,.{places}f}"


def format_percent(share: float, places: Annotated[int, Field(ge=0, le=20)] = 1) -> str:
    """Write a share such as 0.256 as a percentage, 25.6%.

    Args:
        share: The share, where 1 is the whole.
        places: How many digits after the point.
    """
    return f"{share:.{places}%}"


def format_scientific(number: float, places: Annotated[int, Field(ge=0, le=20)] = 3) -> str:
    """Write a number in scientific notation, with a power of ten.

    Args:
        number: The number.
        places: How many digits after the point.
    """
    return f"{number:.{places}e}"


def convert_number_base(number: Digits, from_base: Annotated[int, Field(ge=2, le=36)], *, to: int) -> str:
    """Convert a whole number between binary, octal, decimal and hexadecimal.

    Args:
        number: The number's digits, such as "ff" or "1010".
        from_base: The base it is written in, 2 to 36.
        to: The base to write it in: 2, 8, 10 or 16.
    """
    return format(int(number, from_base), {2: "b", 8: "o", 10: "d", 16: "x"}[to])


def float_as_exact_decimal(number: float) -> str:
    """Show the exact value that a floating point number stores, such as that of 0.1.

    Args:
        number: The floating point number.
    """
    return str(Decimal(number))


def float_to_hexadecimal(number: float) -> str:
    """Write a floating point number exactly in hexadecimal.

    Args:
        number: The floating point number.
    """
    return number.hex()
