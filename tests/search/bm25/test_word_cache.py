"""What is kept of the words of queries stays within its bound, and is kept, whatever threads do at once."""

from tool_search_processor.search.bm25.word_cache import WordCache


def test_a_word_that_several_threads_looked_up_at_once_counts_once():
    cache = WordCache(10, lambda value: 1)
    for _ in range(100):
        cache.keep("the same", 1)
    for number in range(40):
        cache.keep(number, 1)
    assert 5 <= len(cache) <= 12
    assert 39 in cache


def test_the_older_half_goes():
    cache = WordCache(10, lambda value: value)
    for number in range(12):
        cache.keep(number, 1)
    assert list(cache) == [5, 6, 7, 8, 9, 10, 11]
