"""Descriptive statistics and simple models, by `statistics`."""

from __future__ import annotations

import statistics
from typing import Annotated, Literal

from pydantic import Field

Numbers = Annotated[list[float], Field(min_length=1, max_length=10_000)]
Sample = Annotated[list[float], Field(min_length=2, max_length=10_000)]


def arithmetic_mean(values: Numbers) -> float:
    """Compute the average (arithmetic mean) of a list of numbers.

    Args:
        values: The numbers.
    """
    return statistics.fmean(values)


def weighted_mean(values: Numbers, weights: Numbers) -> float:
    """Compute the average of numbers that count differently, such as grades with credits.

    Args:
        values: The numbers.
        weights: How much each number counts, in the same order.
    """
    return statistics.fmean(values, weights)


def geometric_mean(values: Numbers) -> float:
    """Compute the geometric mean, the average of growth factors and ratios.

    Args:
        values: Positive numbers.
    """
    return statistics.geometric_mean(values)


def harmonic_mean(values: Numbers) -> float:
    """Compute the harmonic mean, the average of rates and speeds.

    Args:
        values: Numbers that are not negative.
    """
    return statistics.harmonic_mean(values)


def median(values: Numbers) -> float:
    """Find the median: the middle value of the sorted numbers.

    Args:
        values: The numbers.
    """
    return statistics.median(values)


def median_of_groups(values: Numbers, interval: float = 1.0) -> float:
    """Estimate the median of numbers that were rounded into classes of one width.

    Args:
        values: The class midpoints, one for each observation.
        interval: The width of a class.
    """
    return statistics.median_grouped(values, interval)


def most_common_value(values: list[str]) -> list[str]:
    """Find the mode: the value or values that occur most often.

    Args:
        values: Words, categories or numbers written as text.
    """
    return statistics.multimode(values)


def standard_deviation(values: Sample, kind: Literal["sample", "population"] = "sample") -> float:
    """Compute the standard deviation, how far numbers spread around their mean.

    Args:
        values: At least two numbers.
        kind: Whether the numbers are a sample (divides by n - 1) or the whole population (by n).
    """
    return statistics.stdev(values) if kind == "sample" else statistics.pstdev(values)


def variance(values: Sample, kind: Literal["sample", "population"] = "sample") -> float:
    """Compute the variance, the squared standard deviation.

    Args:
        values: At least two numbers.
        kind: Whether the numbers are a sample (divides by n - 1) or the whole population (by n).
    """
    return statistics.variance(values) if kind == "sample" else statistics.pvariance(values)


def quantiles(values: Sample, parts: Annotated[int, Field(ge=2, le=100)] = 4) -> list[float]:
    """Find the cut points that divide numbers into equal groups: quartiles, deciles, percentiles.

    Args:
        values: At least two numbers.
        parts: The number of groups: 4 for quartiles, 10 for deciles, 100 for percentiles.
    """
    return statistics.quantiles(values, n=parts, method="inclusive")


def z_scores(values: Sample) -> list[float]:
    """Standardize numbers: how many standard deviations each lies from the mean.

    Args:
        values: At least two numbers that are not all equal.
    """
    mean, spread = statistics.fmean(values), statistics.stdev(values)
    return [(value - mean) / spread for value in values]


def covariance(x: Sample, y: Sample) -> float:
    """Compute the sample covariance of two lists of numbers.

    Args:
        x: The first list.
        y: The second list, of the same length.
    """
    return statistics.covariance(x, y)


def correlation(x: Sample, y: Sample) -> float:
    """Compute Pearson's correlation coefficient of two lists, between -1 and 1.

    Args:
        x: The first list.
        y: The second list, of the same length.
    """
    return statistics.correlation(x, y)


def linear_regression(x: Sample, y: Sample) -> dict[str, float]:
    """Fit a straight line through points by least squares: slope and intercept.

    Args:
        x: The independent values.
        y: The dependent values, of the same length.
    """
    line = statistics.linear_regression(x, y)
    return {"slope": line.slope, "intercept": line.intercept}


def normal_probability(value: float, mean: float = 0.0, *, standard_deviation: float = 1.0) -> float:
    """Compute the probability that a normally distributed quantity is at most a value.

    Args:
        value: The upper bound.
        mean: The mean of the distribution.
        standard_deviation: Its standard deviation, above 0.
    """
    return statistics.NormalDist(mean, standard_deviation).cdf(value)


def normal_quantile(probability: float, mean: float = 0.0, *, standard_deviation: float = 1.0) -> float:
    """Find the value below which a share of a normal (Gaussian) distribution lies.

    Args:
        probability: The share, between 0 and 1 (neither included).
        mean: The mean of the distribution.
        standard_deviation: Its standard deviation, above 0.
    """
    return statistics.NormalDist(mean, standard_deviation).inv_cdf(probability)


def summarize_numbers(values: Sample) -> dict[str, float]:
    """Describe numbers in one go: count, minimum, maximum, mean, median and standard deviation.

    Args:
        values: At least two numbers.
    """
    return {
        "count": len(values),
        "minimum": min(values),
        "maximum": max(values),
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "standard_deviation": statistics.stdev(values),
    }
