"""What of MilvusIndex needs no engine: its options, the text of a row, filters, hashes, versions."""

import re
from dataclasses import replace

import pytest

from tests.search.fake_embedder import FakeEmbedder
from tool_search_processor.errors import ConfigurationError
from tool_search_processor.search.bm25.fields import analyze
from tool_search_processor.search.milvus import CatalogVersion, MilvusIndex, index
from tool_search_processor.search.milvus.collection import cut, literal, literals, tags_stored
from tool_search_processor.search.milvus.meaning import Meaning
from tool_search_processor.search.milvus.publisher import Publisher, content_hash, row_of
from tool_search_processor.search.milvus.row_masks import PUSHED_NAMES, View
from tool_search_processor.search.milvus.terms import K1, MAX_TEXT_BYTES, TextQuery, evidence_in, stored_text
from tool_search_processor.search.protocol import Document

DOCUMENT = Document(
    name="createPullRequest",
    namespace="github",
    description="Open a pull request for the changes of a branch.",
    tags=("code",),
    parameter_names=("repo",),
)


@pytest.fixture
def installed(monkeypatch):
    """Says which packages are installed; both, unless a test takes one away."""
    packages = {"pymilvus", "milvus_lite"}
    monkeypatch.setattr(index, "find_spec", lambda name: name if name in packages else None)
    return packages


# Options


@pytest.mark.parametrize(
    ("uri", "missing", "complaint"),
    [
        ("tools.db", "pymilvus", 'needs pymilvus: pip install "tool-search-processor[milvus]"'),
        ("http://db:19530", "pymilvus", 'needs pymilvus: pip install "tool-search-processor[milvus]"'),
        ("tools.db", "milvus_lite", 'needs milvus-lite: pip install "tool-search-processor[milvus]"'),
    ],
)
def test_a_missing_package_is_named_with_its_extra(installed, uri, missing, complaint):
    installed.remove(missing)
    with pytest.raises(ImportError, match=re.escape(complaint)):
        MilvusIndex(uri)


def test_a_server_needs_no_embedded_engine(installed):
    installed.remove("milvus_lite")
    MilvusIndex("http://db:19530")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"mode": "fuzzy"}, "'fuzzy'"),
        ({"embedder": FakeEmbedder()}, "mode='bm25'"),
        ({"mode": "vector", "embedder": 3}, "found 3"),
        ({"collection": "my-tools"}, "'my-tools'"),
        ({"collection": "1tools"}, "'1tools'"),
        ({"depth": 0}, "found 0"),
        ({"depth": 10_000}, "found 10000"),
        ({"uri": "tools"}, "found 'tools'"),
    ],
)
def test_options_that_cannot_work_raise_at_construction(installed, options, complaint):
    with pytest.raises(ConfigurationError, match=complaint):
        MilvusIndex(options.pop("uri", "tools.db"), options.pop("collection", "tools"), **options)


def test_token_tls_and_more_reach_the_client(installed):
    made = MilvusIndex(
        "https://db:19530",
        token="root:secret",
        secure=True,
        client_options={"db_name": "agents", "timeout": 3},
    )
    options = made._collection._options
    assert options.pop("grpc_options") == {"grpc.keepalive_permit_without_calls": 0}
    assert options == {
        "uri": "https://db:19530",
        "token": "root:secret",
        "secure": True,
        "db_name": "agents",
        "timeout": 3,
    }
    assert "secret" not in repr(made)


async def test_closing_what_was_never_used_does_nothing(installed):
    await MilvusIndex("tools.db").aclose()


# Texts


def test_the_engines_formula_gives_back_the_weight_of_each_term():
    counts = {word: stored_text(DOCUMENT).split().count(word) for word in stored_text(DOCUMENT).split()}
    weights = analyze(DOCUMENT)
    assert counts.keys() >= {"pull", "request", "createpullrequest", "github", "repo"}
    for word, times in counts.items():
        if word in weights and 1 < times < 24:
            assert times / (times + K1) == pytest.approx(weights[word], abs=0.08)
    assert counts["pull"] > counts["branch"]


def test_every_term_is_a_word_to_any_analyzer():
    text = stored_text(Document(name="查询天气", description="Прогноз café k8s OAuth2"))
    assert re.fullmatch(r"[a-z0-9]+(?: [a-z0-9]+)*", text)
    assert set(TextQuery.of("天气").text.split()) <= set(text.split())
    assert set(TextQuery.of("прогнозы").text.split()) & set(text.split())


def test_a_text_that_is_too_long_keeps_its_weightiest_terms():
    words = " ".join(f"word{number}x" for number in range(20_000))
    text = stored_text(Document(name="crane", description=words))
    assert len(text) <= MAX_TEXT_BYTES
    assert text.startswith("crane ")


def test_a_query_is_read_as_elsewhere():
    assert TextQuery.of("please").text != ""
    assert TextQuery.of("?!").text == ""
    asked = TextQuery.of("issues of the repository")
    assert "the" not in asked.shares
    assert {"issu", "repositori"} <= asked.shares.keys()


def test_scores_rise_with_evidence_and_say_less_in_a_large_catalog():
    asked = TextQuery.of("pull request")
    evidence = asked.evidence_of(DOCUMENT, 1000)
    assert evidence > asked.evidence_of(replace(DOCUMENT, name="other"), 1000) > 0
    assert asked.evidence_of(Document(name="zebra"), 1000) == 0
    assert evidence_in(12.0) == pytest.approx(1.0)
    small, large = (asked.confidence(size).bias for size in (100, 10_000))
    assert small > large


# Filters


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", '"a"'), ('a"b', '"a\\"b"'), ("a\\b", '"a\\\\b"'), ("a\nb\tc\r", '"a\\nb\\tc\\r"'), ("工", '"工"')],
)
def test_literals_are_quoted(text, expected):
    assert literal(text) == expected


@pytest.mark.parametrize(
    ("view", "expression"),
    [
        (View(), ""),
        (View(within={"b", "a"}), 'name in ["a", "b"]'),
        (View(within={"a"}, tags=frozenset({"t"})), 'name in ["a"] and array_contains_any(tags, ["t"])'),
        (View(namespaces=frozenset({"n", "m"})), 'namespace in ["m", "n"]'),
        (View(within=frozenset(map(str, range(PUSHED_NAMES + 1)))), ""),
    ],
)
def test_filters_as_the_engine_gets_them(view, expression):
    assert view.expression == expression
    assert view.is_pushed == (expression != "" or view.within is None)


def test_a_large_view_comes_in_parts():
    names = [f"tool_{number:05}" for number in range(2 * PUSHED_NAMES + 1)]
    parts = list(View(within=names, tags=frozenset({"t"})).chunks())
    assert len(parts) == 3
    assert parts[2] == 'name in ["tool_02000"] and array_contains_any(tags, ["t"])'


def test_a_view_shows_stored_tools_and_admits_a_requests_own():
    view = View(
        within={"a", "b"}, hidden=frozenset({"b"}), tags=frozenset({"code"}), namespaces=frozenset({"github"})
    )
    assert [name for name in "abc" if view.shows(name)] == ["a"]
    assert view.admits(DOCUMENT)
    assert not view.admits(replace(DOCUMENT, tags=()))
    assert not view.admits(replace(DOCUMENT, namespace=None))
    assert View(within=()).admits(DOCUMENT)


def test_texts_are_cut_between_characters():
    assert cut("工" * 300) == "工" * 170
    assert cut("short") == "short"
    assert len(tags_stored([str(number) for number in range(5000)])) == 4096
    assert literals(["b", "a"]) == '["a", "b"]'


# Rows and versions


def test_a_row_has_what_the_engine_filters_and_counts():
    row = row_of(DOCUMENT)
    assert (row["name"], row["namespace"], row["tags"]) == ("createPullRequest", "github", ["code"])
    keys = ["createpullrequest", "request", "pullrequest", "", ""]
    assert [row[f"key_{number}"] for number in range(5)] == keys
    assert row_of(replace(DOCUMENT, namespace=None))["namespace"] == ""


def test_equal_documents_have_one_hash_and_any_change_another():
    assert content_hash(DOCUMENT) == content_hash(replace(DOCUMENT))
    changes = [
        {"name": "x"},
        {"tags": ()},
        {"description": "\ud800"},
        {"keywords": ("k",)},
        {"namespace": None},
    ]
    assert (
        len({content_hash(replace(DOCUMENT, **change)) for change in changes} | {content_hash(DOCUMENT)}) == 6
    )


class Shelf:
    """Keeps in memory what a collection would, and notes what is written."""

    def __init__(self):
        self.held = None
        self.rows = {}
        self.log = []

    def version(self):
        return self.held

    def create(self, *, dimensions, vector_index):
        self.rows.clear()
        self.log.append(("create", dimensions))

    def publish(self, version):
        self.held = version
        self.log.append(("publish", version.number, version.complete))

    def hashes(self):
        self.log.append(("hashes",))
        return {name: row["hash"] for name, row in self.rows.items()}

    def upsert(self, rows):
        self.rows |= {row["name"]: row for row in rows}
        self.log.append(("upsert", len(rows)))

    def delete(self, names):
        for name in names:
            del self.rows[name]

    def settle(self):
        self.log.append(("settle",))

    def told(self):
        log, self.log = self.log, []
        return log


def publisher(shelf, meaning=None):
    return Publisher(shelf, meaning=meaning, vector_index="FLAT")


def test_rows_are_written_between_an_incomplete_and_a_complete_version():
    shelf = Shelf()
    made = publisher(shelf)
    many = [Document(name=f"tool_{number}") for number in range(600)]
    version = made.publish(many)
    assert shelf.told() == [
        ("create", 0), ("publish", 0, True), ("hashes",), ("publish", 0, False),
        ("upsert", 500), ("upsert", 100), ("settle",), ("publish", 1, True),
    ]  # fmt: skip
    assert (version.size, version.complete) == (600, True)
    assert made.publish(many) == version
    assert shelf.told() == []
    # What this writer wrote itself it needn't read again.
    made.publish(many[1:])
    assert shelf.told() == [("publish", 1, False), ("settle",), ("publish", 2, True)]
    assert len(shelf.rows) == 599
    # Another one did: it must.
    publisher(shelf).publish(many)
    shelf.told()
    made.publish(many[2:])
    assert shelf.told()[0] == ("hashes",)


def test_vectors_go_into_the_rows():
    shelf = Shelf()
    publisher(shelf, Meaning(FakeEmbedder())).publish([DOCUMENT])
    assert len(shelf.rows["createPullRequest"]["vector"]) == 64
    assert (shelf.held.model, shelf.held.dimensions) == ("fake-1", 64)


@pytest.mark.parametrize("change", [{"format": 0}, {"model": "fake-1"}, {"dimensions": 3}])
def test_what_was_published_otherwise_is_made_again(change):
    shelf = Shelf()
    first = publisher(shelf).publish([DOCUMENT])
    shelf.held = replace(first, **change)
    shelf.told()
    assert publisher(shelf).publish([DOCUMENT]) == replace(first, number=2)
    assert shelf.told()[0] == ("create", 0)


def test_a_version_says_what_it_is_of():
    version = CatalogVersion(number=1, fingerprint="f", size=2, complete=True, model=None, dimensions=0)
    assert version.format == 1


# Meaning


@pytest.mark.parametrize("query", ["", " \n "])
def test_a_blank_query_has_no_vector(query):
    assert Meaning(FakeEmbedder()).query(query) is None


def test_cosines_become_scores():
    class Narrow(FakeEmbedder):
        def __init__(self):
            super().__init__()
            self.cosine_range = (0.2, 0.6)

    meaning = Meaning(Narrow())
    assert [meaning.score(cosine) for cosine in (0.1, 0.2, 0.4, 0.9)] == pytest.approx([0.0, 0.0, 0.5, 0.99])
    assert meaning.nearness([], meaning.query("words")) == []
    ((name, cosine),) = meaning.nearness(
        [Document(name="some_words", description="more words")], meaning.query("words")
    )
    assert name == "some_words"
    assert 0 < cosine < 1
