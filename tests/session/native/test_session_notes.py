"""The notes of a session's native requests: kept, put back, and given away on results."""

from types import SimpleNamespace

import pytest

from tool_search_processor.session.native.declarations import Record
from tool_search_processor.session.native.session_notes import SessionNotes

ASKED = {"role": "user", "content": "x"}
SAID = {"role": "assistant", "content": "y"}
CALL = object()


def note(*tools, **fields):
    return {"type": "tool-search/declared", "v": 1, "tools": list(tools), **fields}


def model_call(*, record=None, receipt=None):
    return SimpleNamespace(record=record or Record(), receipt=lambda call: receipt if call is CALL else None)


def given(notes, *, receipt=None, is_first=True):
    return notes.of_result(model_call(receipt=receipt), CALL, is_first=is_first)


def test_a_note_stands_on_the_answer_to_its_request():
    notes = SessionNotes()
    notes.keep([ASKED], note("a"))
    messages = [ASKED, SAID, ASKED]
    assert notes.put(messages) == [ASKED, {**SAID, "declared": note("a")}, ASKED]
    assert messages == [ASKED, SAID, ASKED]


@pytest.mark.parametrize("messages", [[], [ASKED], [{**ASKED, "content": "changed"}, SAID]])
def test_a_note_whose_request_or_answer_is_gone_is_left_out(messages):
    notes = SessionNotes()
    notes.keep([ASKED], note("a"))
    assert notes.put(messages) == messages


def test_a_request_with_nothing_to_note_leaves_the_older_notes():
    notes = SessionNotes()
    notes.keep([ASKED], note("a"))
    notes.keep([ASKED, SAID, ASKED], None)
    assert notes.put([ASKED, SAID, ASKED, SAID]) == [ASKED, {**SAID, "declared": note("a")}, ASKED, SAID]


def test_a_record_that_lost_its_list_of_tools_gets_the_sessions():
    notes = SessionNotes()
    lost = Record(names={"x": 1}, withdrawn=frozenset({"y"}))
    assert notes.complete(lost) is lost
    notes.keep([ASKED], note("a", "b"))
    notes.keep([ASKED, SAID], note("b", "c"))
    assert notes.complete(lost) == Record(tools=("a", "b", "c"), names={"x": 1}, withdrawn=frozenset({"y"}))
    for whole in (None, Record(tools=()), Record(tools=("z",))):
        assert notes.complete(whole) is whole


def test_outside_native_requests_results_have_no_notes():
    notes = SessionNotes()
    notes.keep([ASKED], note("a"))
    plain = SimpleNamespace(record=None, receipt=lambda call: {"v": 1})
    for call in (None, plain):
        assert notes.of_result(call, CALL, is_first=True) == {}


def test_the_first_result_carries_the_note_and_each_its_receipt():
    notes = SessionNotes()
    notes.keep([ASKED], note("a", names=["n"]))
    receipt = {"type": "tool-search/loaded"}
    assert given(notes, receipt=receipt) == {"receipt": receipt, "declared": note("a", names=["n"])}
    assert given(notes, receipt=receipt, is_first=False) == {"receipt": receipt}
    assert given(notes, is_first=False) == {}


def test_without_a_note_there_is_nothing_to_carry():
    assert given(SessionNotes()) == {}


def test_notes_of_turns_without_results_wait_for_the_next_result():
    notes = SessionNotes()
    notes.keep([ASKED], note("a", names=["n"]))
    notes.keep([ASKED, SAID, ASKED], note("b", names=["m"]))
    assert given(notes) == {"declared": note("a", "b", names=["m"])}
    # the same reply may be executed again
    assert given(notes) == {"declared": note("a", "b", names=["m"])}
    notes.keep([ASKED, SAID, ASKED, SAID], None)
    assert given(notes) == {}


def test_a_result_of_a_request_without_a_note_carries_the_list_alone():
    notes = SessionNotes()
    notes.keep([ASKED], note("a", names=["n"]))
    notes.keep([ASKED, SAID, ASKED], None)
    assert given(notes) == {"declared": note("a", names=[])}


def test_what_was_given_away_is_not_given_again_with_the_next_note():
    notes = SessionNotes()
    notes.keep([ASKED], note("a"))
    given(notes)
    notes.keep([ASKED, SAID], note("b"))
    assert given(notes) == {"declared": note("b")}
