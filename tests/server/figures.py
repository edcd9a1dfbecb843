"""Reads what a server counts."""

from prometheus_client.parser import text_string_to_metric_families


def figures(answer):
    """Return the figures of an answer for Prometheus, by their name and labels."""
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
