"""How long property tests try: `HYPOTHESIS_PROFILE=long pytest tests/adversarial` tries 25 times as many."""

import os

from hypothesis import HealthCheck, settings

_TIMES = 25 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 1


def examples(number, **options):
    """Return settings for a test that tries `number` examples in the normal run."""
    return settings(
        max_examples=number * _TIMES, deadline=None, suppress_health_check=list(HealthCheck), **options
    )
