"""Where patterns are searched for, a query that is none, or matches nothing, is tried as it stands."""

from __future__ import annotations

import pytest

from tests.support import Run, make, names
from tool_search_processor import InvalidPatternError, Tool, ToolSearchProcessor
from tool_search_processor.search.regex import RegexIndex

CATALOG = [
    make("weather_forecast", "Tells tomorrow's weather."),
    make("send_mail", "Sends a letter."),
    make("stock_quote", "Looks up a share price."),
]
COMPILE = Tool("compile", description="Compiles C++ code, price ($) not included.")
OTHER = Tool("other", description="Does [nothing].")


@pytest.mark.parametrize("search", ["regex", RegexIndex])
@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("C++", "'C++' is not a valid pattern"),
        ("price ($)", "'price ($)' matches nothing as a pattern"),
        ("($", "'($' is not a valid pattern"),
    ],
)
async def test_a_text_is_found_as_it_stands_and_the_answer_says_so(query, why, search):
    strategy = search() if search is RegexIndex else search
    processor = ToolSearchProcessor([*CATALOG, COMPILE, OTHER], search=strategy)
    answer = await Run(processor).search(query)
    assert names(answer["results"]) == ["compile"]
    assert answer["total"] == 1
    assert answer["message"].startswith(f"{why}, so it was searched for as plain text. Found 1 tool.")
    assert names(await processor.search(query)) == ["compile"]


async def test_what_is_a_pattern_and_matches_is_searched_for_as_one():
    answer = await Run(ToolSearchProcessor([COMPILE, OTHER], search="regex")).search("[nothing]")
    assert names(answer["results"]) == ["compile", "other"]
    assert "plain text" not in answer["message"]


async def test_of_several_each_is_tried_by_itself_and_all_are_counted():
    tools = [COMPILE.replace(name=f"compile_{number}") for number in range(30)]
    run = Run(ToolSearchProcessor([*tools, OTHER], search="regex", top_k=2))
    assert (await run.search("C++"))["total"] == 30
    answer = await run.search("C++", "^other$", "we(")
    assert names(answer["results"]) == ["compile_0", "other", "compile_1"]
    assert "'C++' is not a valid pattern" in answer["message"]
    assert "The pattern 'we(' is not valid" in answer["message"]
    assert answer["total"] == 31
    answer = await run.search("C++", "price ($)")
    assert "is not a valid pattern, so it was searched for as plain text. 'price ($)'" in answer["message"]


async def test_words_that_are_too_long_for_a_pattern_are_a_bad_pattern():
    processor = ToolSearchProcessor([COMPILE], search="regex")
    answer = await Run(processor).search("compile" * 100)
    assert (answer["results"], answer["total"]) == ([], 0)
    assert answer["message"].startswith("The pattern has 700 characters")
    with pytest.raises(InvalidPatternError, match="700 characters"):
        await processor.search("compile" * 100)


async def test_a_text_that_nobody_has_is_a_bad_pattern_still():
    processor = ToolSearchProcessor([COMPILE], search="regex")
    for query in ("we(", "[" * 200):
        answer = await Run(processor).search(query)
        assert answer["results"] == []
        with pytest.raises(InvalidPatternError):
            await processor.search(query)


async def test_a_tool_that_is_denied_is_found_by_its_text_no_more_than_by_a_pattern():
    def public(request):
        return request.tool_name != "compile"

    open_answer = await Run(ToolSearchProcessor([OTHER], search="regex", filter=public)).search("C++")
    hidden = await Run(ToolSearchProcessor([OTHER, COMPILE], search="regex", filter=public)).search("C++")
    assert hidden == open_answer


async def test_other_strategies_read_a_query_as_words():
    answer = await Run(ToolSearchProcessor([COMPILE])).search("price ($)")
    assert "plain text" not in answer["message"]
