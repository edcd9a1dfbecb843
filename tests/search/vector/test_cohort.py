"""The cohort: everyday tools by name, told apart."""

import re

from tool_search_processor.search.vector.cohort import COHORT, NEAREST


def test_names_are_distinct_words():
    assert len(set(COHORT)) == len(COHORT) > NEAREST
    assert all(re.fullmatch(r"[a-z][a-z0-9]*( [a-z0-9]+)*", name) for name in COHORT)
