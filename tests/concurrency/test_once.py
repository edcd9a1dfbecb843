"""What is told once."""

from tool_search_processor.concurrency.once import Once


def test_everything_is_new_once_until_the_bound():
    told = Once(most=2)
    assert [told.is_new(thing) for thing in ("a", "a", ("b", 1), "c", ("b", 1), "a")] == [
        True,
        False,
        True,
        False,
        False,
        False,
    ]
