"""Integers, roots, logarithms and a calculator, by `math`, `ast` and `operator`."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Annotated

from pydantic import Field

Natural = Annotated[int, Field(ge=0, le=1000)]
Integers = Annotated[list[int], Field(min_length=1, max_length=1000)]

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def calculate(expression: Annotated[str, Field(max_length=300)]) -> float:
    """Work out an arithmetic expression with numbers, + - * / // % ** and parentheses.

    Args:
        expression: Such as "(3 + 4) * 2 ** 3".
    """
    return _evaluate(ast.parse(expression.strip(), mode="eval").body)


def _evaluate(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return math.pow(_evaluate(left), _evaluate(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_evaluate(left), _evaluate(right))
    raise ValueError(
        f"only numbers, + - * / // % ** and parentheses are allowed, found {ast.unparse(node)!r}"
    )


def greatest_common_divisor(numbers: Integers) -> int:
    """Find the greatest common divisor (GCD) of whole numbers.

    Args:
        numbers: The whole numbers.
    """
    return math.gcd(*numbers)


def least_common_multiple(numbers: Annotated[list[int], Field(min_length=1, max_length=50)]) -> int:
    """Find the least common multiple (LCM) of whole numbers.

    Args:
        numbers: The whole numbers.
    """
    return math.lcm(*numbers)


def factorial(n: Natural) -> int:
    """Compute n factorial, the product of all whole numbers up to n.

    Args:
        n: A whole number from 0 to 1000.
    """
    return math.factorial(n)


def prime_factors(number: Annotated[int, Field(ge=2, le=10**12)]) -> list[int]:
    """Factorize a whole number into primes, smallest first.

    Args:
        number: A whole number from 2 to 10 to the 12th.
    """
    factors, divisor = [], 2
    while divisor <= math.isqrt(number):
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return factors + [number] * (number > 1)


def is_prime(number: Annotated[int, Field(le=10**12)]) -> bool:
    """Check whether a whole number is prime.

    Args:
        number: A whole number up to 10 to the 12th.
    """
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))


def square_root(number: Annotated[float, Field(ge=0)]) -> float:
    """Compute the square root of a number.

    Args:
        number: A number that is not negative.
    """
    return math.sqrt(number)


def integer_square_root(number: Annotated[int, Field(ge=0)]) -> dict[str, int]:
    """Find the largest whole number whose square is not above a number, and the remainder.

    Args:
        number: A whole number that is not negative.
    """
    root = math.isqrt(number)
    return {"root": root, "remainder": number - root * root}


def cube_root(number: float) -> float:
    """Compute the cube root of a number.

    Args:
        number: Any number, negative ones included.
    """
    return math.cbrt(number)


def logarithm(number: float, base: float = math.e) -> float:
    """Compute the logarithm of a number to any base; natural by default.

    Args:
        number: A number above 0.
        base: The base, such as 2 or 10; e by default.
    """
    if base in (2, 10):  # the exact ones: log(1000, 10) is 2.9999999999999996
        return math.log2(number) if base == 2 else math.log10(number)
    return math.log(number, base)


def exponential(number: Annotated[float, Field(le=700)]) -> float:
    """Compute e raised to a power.

    Args:
        number: The exponent.
    """
    return math.exp(number)


def power_modulo(base: int, exponent: Annotated[int, Field(ge=0)], *, modulus: int) -> int:
    """Raise a whole number to a power modulo another, as RSA and Diffie-Hellman do.

    Args:
        base: The base.
        exponent: The exponent, not negative.
        modulus: The modulus, not 0.
    """
    return pow(base, exponent, modulus)


def modular_inverse(number: int, modulus: int) -> int:
    """Find the multiplicative inverse of a whole number modulo another.

    Args:
        number: The number to invert.
        modulus: The modulus, with no common factor with the number.
    """
    return pow(number, -1, modulus)


def divide_with_remainder(dividend: int, divisor: int) -> dict[str, int]:
    """Divide two whole numbers into quotient and remainder (floor division and modulo).

    Args:
        dividend: The number to divide.
        divisor: What it is divided by, not 0.
    """
    quotient, remainder = divmod(dividend, divisor)
    return {"quotient": quotient, "remainder": remainder}


def round_up(number: float) -> int:
    """Round a number up to the next whole number (ceiling).

    Args:
        number: The number.
    """
    return math.ceil(number)


def round_down(number: float) -> int:
    """Round a number down to the whole number below it (floor).

    Args:
        number: The number.
    """
    return math.floor(number)


def sum_exactly(values: list[float]) -> float:
    """Add up decimal numbers without the loss of floating point (0.1 ten times is 1).

    Args:
        values: The numbers.
    """
    return math.fsum(values)


def product(values: list[float]) -> float:
    """Multiply all numbers of a list.

    Args:
        values: The numbers.
    """
    return math.prod(values)


def nearly_equal(a: float, b: float, *, relative_tolerance: float = 1e-9) -> bool:
    """Check whether two numbers are equal within a tolerance.

    Args:
        a: The first number.
        b: The second number.
        relative_tolerance: The largest difference allowed, as a share of the larger number.
    """
    return math.isclose(a, b, rel_tol=relative_tolerance)


def gamma_function(x: float) -> float:
    """Compute the gamma function, which extends the factorial to real numbers.

    Args:
        x: Any number but 0 and the negative whole numbers, at most 171.
    """
    return math.gamma(x)
