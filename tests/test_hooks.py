"""Functions of users: whether they can be called as they will be."""

from functools import partial

import pytest

from tool_search_processor.hooks import takes_one


class Policy:
    """Can be called."""

    def __call__(self, request):
        """Admit."""
        return True


@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        (lambda request: True, True),
        (lambda *all_of_it: True, True),
        (lambda request, more=None: True, True),
        (partial(lambda user, request: True, "ada"), True),
        (Policy(), True),
        (dict, True),  # tells no signature
        (lambda: True, False),
        (lambda tool, context: True, False),
        (lambda *, request: True, False),
    ],
)
def test_what_takes_one_argument(hook, expected):
    assert takes_one(hook) is expected
