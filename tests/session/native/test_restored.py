"""A conversation in another shape keeps what was given in that shape already."""

from tool_search_processor.session.native.originals import restored
from tool_search_processor.wire.messages import Given


def chat(text, role="assistant", **notes):
    return {"role": role, "content": text, **notes}


def given(*items, messages=None):
    return Given(
        items=items, messages=tuple([chat(item["text"]) for item in items] if messages is None else messages)
    )


def take(item):
    return dict(item) if item.get("kind") == "ours" else None


def write(messages):
    return [{"written": [message["content"] for message in messages]}] if messages else []


def sent(messages, *originals):
    return restored(messages, originals, take=take, write=write)


def item(text, **fields):
    return {"kind": "ours", "text": text, **fields}


NOTE = {"type": "tool-search/declared", "v": 1}
ONE, TWO, THREE = item("1", id="i1"), item("2", id="i2"), item("3", id="i3")


def test_what_was_not_changed_goes_back_as_it_came():
    assert sent([chat("1"), chat("2")], given(ONE), given(TWO)) == [ONE, TWO]


def test_what_is_new_or_in_another_shape_is_written_together():
    other = {"kind": "theirs", "text": "3"}
    messages = [chat("new"), chat("too"), chat("1"), chat("3"), chat("last")]
    assert sent(messages, given(ONE), given(other)) == [
        {"written": ["new", "too"]},
        ONE,
        {"written": ["3", "last"]},
    ]


def test_items_that_make_several_messages_go_back_together_or_not_at_all():
    both = given(ONE, TWO)
    assert sent([chat("1"), chat("2"), chat("3")], both, given(THREE)) == [ONE, TWO, THREE]
    assert sent([chat("1"), chat("changed")], both) == [{"written": ["1", "changed"]}]
    assert sent([chat("1")], both) == [{"written": ["1"]}]


def test_items_of_which_one_is_in_another_shape_are_written():
    assert sent([chat("1"), chat("2")], given(ONE, {"kind": "theirs", "text": "2"})) == [
        {"written": ["1", "2"]}
    ]


def test_what_was_cut_away_is_skipped_and_equal_messages_keep_their_order():
    again = item("1", id="later")
    assert sent([chat("2"), chat("1")], given(ONE), given(TWO), given(again)) == [TWO, again]
    assert sent([chat("1"), chat("1")], given(ONE), given(again)) == [ONE, again]
    assert sent([chat("1"), chat("1")], given(ONE)) == [ONE, {"written": ["1"]}]


def test_items_without_a_counterpart_go_before_the_one_that_follows_them():
    hidden = [given(item(text), messages=[]) for text in ("h1", "h2", "h3")]
    messages = [chat("1"), chat("2")]
    assert sent(messages, hidden[0], given(ONE), hidden[1], hidden[2], given(TWO)) == [
        item("h1"),
        ONE,
        item("h2"),
        item("h3"),
        TWO,
    ]
    # they go with what they stood before
    assert sent([chat("2")], hidden[0], given(ONE), hidden[1], given(TWO)) == [item("h2"), TWO]


def test_notes_that_a_turn_has_gained_stand_on_the_first_of_its_items():
    turn = [chat("1"), chat("2", declared=NOTE)]
    assert sent(turn, given(ONE, TWO)) == [{**ONE, "declared": NOTE}, TWO]
    asked = [chat("1", role="user", declared=NOTE)]
    assert sent(asked, given(ONE, messages=[chat("1", role="user")])) == [ONE]
    assert "declared" not in ONE
