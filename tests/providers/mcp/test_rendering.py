from mcp.types import CallToolResult, TextContent

from tool_search_processor.providers.mcp.rendering import cut, error_words, render_result


def result(*texts, **fields):
    return CallToolResult(content=[TextContent(type="text", text=text) for text in texts], **fields)


def test_texts_stand_one_below_the_other():
    rendered = render_result(result("one", "two"), limit=None)
    assert rendered == "one\ntwo"
    assert rendered.content == [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    assert rendered.structured_content is None


def test_structured_content_stands_for_its_text():
    rendered = render_result(result('{"name": "Zoë"}', structured_content={"name": "Zoë"}), limit=None)
    assert rendered == '{"name": "Zoë"}'
    assert rendered.structured_content == {"name": "Zoë"}


def test_half_characters_become_one_that_a_wire_carries():
    assert render_result(result("a\ud800"), limit=None) == "a\ufffd"


def test_what_is_too_long_says_so():
    assert cut("abcdef", limit=4) == "abcd\n[cut: 4 of 6 characters]"
    assert cut("abcd", limit=4) == "abcd"
    assert render_result(result("abcdef"), limit=4) == "abcd\n[cut: 4 of 6 characters]"


def test_an_error_without_words_gets_some():
    assert error_words(result("no"), limit=None) == "no"
    assert error_words(result(" "), limit=None) == "the tool failed without saying why."
