"""What a document is indexed under, and with what weight."""

import pytest

from tool_search_processor.search.bm25 import fields
from tool_search_processor.search.bm25.fields import FORMS, analyze
from tool_search_processor.search.bm25.thesaurus import concepts_of
from tool_search_processor.search.protocol import Document

BARE = Document(name="x1")


@pytest.mark.parametrize(
    "field", ["namespace", "description", "tags", "keywords", "parameter_names", "parameter_texts"]
)
def test_every_field_is_indexed(field):
    content = "zebra" if field in ("namespace", "description") else ("zebra", "quokka")
    held = analyze(Document(name="x1", **{field: content}))
    assert 0 < held["zebra"] < 1
    assert "zebra" not in analyze(BARE)


def test_a_name_weighs_most():
    name, description = Document(name="zebra"), Document(name="x1", description="zebra")
    assert analyze(name)["zebra"] > analyze(description)["zebra"]
    assert max(FORMS.values(), key=lambda form: form.weight) is FORMS["name"]


def test_a_long_field_makes_each_word_count_less():
    short = analyze(Document(name="x1", description="zebra"))
    long = analyze(Document(name="x1", description="zebra " + "quokka " * 50))
    assert short["zebra"] > long["zebra"]


def test_stop_words_count_in_names_alone():
    held = analyze(Document(name="who", description="what you see of the others", tags=("of",)))
    assert {"who", "of"} <= held.keys()
    assert not {"what", "the", "you"} & held.keys()


def test_concepts_stand_beside_their_words():
    held = analyze(Document(name="remove_row"))
    (concept,) = concepts_of("remov")
    assert held[concept] == held["remov"]
    assert concepts_of("delet") == (concept,)


def test_a_document_without_a_word_is_empty():
    assert analyze(Document(name="", description="... !", tags=("",))) == {}


def test_the_cache_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(fields, "_CACHED_WORDS", 4)
    monkeypatch.setattr(fields, "_entries", {})
    held = [analyze(Document(name=f"zebra{n}x")) for n in range(20)]
    assert len(fields._entries) <= 4
    assert held[3] == analyze(Document(name="zebra3x"))
