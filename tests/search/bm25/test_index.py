"""The lexical index: formula, order, names, languages, changes, views."""
# ruff: noqa: RUF001 - letters of other scripts are what is tested

import math
import random
import string
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

import numpy as np
import pytest
import standard_library
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.counted import counted_calls
from tests.support import names
from tool_search_processor.catalog import Catalog
from tool_search_processor.search import masks
from tool_search_processor.search.bm25 import BM25Index, snapshot
from tool_search_processor.search.bm25.fields import FORMS, SATURATION, analyze
from tool_search_processor.search.bm25.word_cache import WordCache
from tool_search_processor.search.protocol import Document


def index_of(*documents: Document) -> BM25Index:
    index = BM25Index()
    index.update(documents)
    return index


def tool(name: str, description: str = "", **fields: object) -> Document:
    return Document(name=name, description=description, **fields)


DESK = (
    tool("channel_manager", "Open an item in a channel."),
    tool("mail_dispatch", "Send email to a recipient.", parameter_names=("recipient", "subject")),
    tool("createPullRequest", "Propose a change."),
    tool("listRepos", "All code bases of an owner."),
    tool("delete_record", "Remove a row of a database table.", parameter_names=("ids",)),
    tool("get_weather", "Current weather of a city.", parameter_names=("city", "unit")),
    tool("cafe_finder", "Finds a place to drink coffee."),
    tool("calendar_add", "Add an event to the calendar."),
    tool("github_status", "Tells whether it is up."),
)


# --- the formula


def test_weights_of_one_document_by_hand():
    weights = analyze(tool("zeta_omega", "zeta zeta kappa"))
    name = FORMS["name"].weight / (2 / FORMS["name"].pivot)
    description = FORMS["description"].weight / (0.4 + 0.6 * 3 / FORMS["description"].pivot)
    assert weights == pytest.approx(
        {
            "zeta": (name + 2 * description) / (name + 2 * description + SATURATION),
            "omega": name / (name + SATURATION),
            "kappa": description / (description + SATURATION),
        }
    )


def bm25f(query: list[str], documents: list[Document]) -> list[float]:
    """The same formula from its definition, with dicts and loops."""
    held = [analyze(document) for document in documents]
    scores = []
    for weights in held:
        score = 0.0
        for term in query:
            frequency = sum(term in other for other in held)
            idf = math.log(1 + (len(held) - frequency + 0.5) / (frequency + 0.5))
            score += idf * weights.get(term, 0.0)
        scores.append(score)
    return scores


WORDS = ["alpha", "brick", "cloud", "dunk", "ember", "flint", "grove", "helix", "igloo", "joker"]
made_documents = st.lists(
    st.builds(
        lambda words, description: (tuple(words), " ".join(description)),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
        st.lists(st.sampled_from(WORDS), max_size=8),
    ),
    min_size=1,
    max_size=12,
).map(lambda made: [tool(f"{'_'.join(w)}_{n}", d) for n, (w, d) in enumerate(made)])


@given(made_documents, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
def test_ranks_as_the_formula_does(documents, query):
    expected = bm25f(query, documents)
    hits = index_of(*documents).search(" ".join(query))
    positions = {document.name: place for place, document in enumerate(documents)}
    assert {positions[hit.name] for hit in hits} == {n for n, score in enumerate(expected) if score > 0}
    ranked = [expected[positions[hit.name]] for hit in hits]
    assert all(first >= second - 1e-5 for first, second in pairwise(ranked))


# --- scores and order


def test_scores_fall_and_stay_below_one():
    hits = index_of(*DESK).search("send an email about the weather")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 < hit.score < 1 for hit in hits)


def test_ties_keep_the_order_of_the_documents():
    same = [tool(f"copy{letter}", "Renders a sparkline.") for letter in "dacb"]
    assert names(index_of(*same).search("sparkline")) == ["copyd", "copya", "copyc", "copyb"]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 300])
def test_a_greater_limit_only_makes_the_list_longer(limit):
    many = [tool(f"tool{n}", f"word{n % 7} word{n % 3} common {'extra ' * (n % 5)}") for n in range(1_000)]
    index = index_of(*many)
    whole = index.search("word1 word2 extra common")
    assert index.search("word1 word2 extra common", limit=limit) == whole[:limit]
    assert len(whole) == 1_000


def test_equal_searches_give_equal_lists():
    one, other = index_of(*DESK), index_of(*DESK)
    for query in ("send mail", "weather of a city", "delete things", "send mail"):
        assert one.search(query) == other.search(query)


def test_repeated_words_do_not_multiply():
    index = index_of(*DESK)
    assert index.search("email weather") == index.search("email email emails weather email")


def test_one_shared_word_of_a_long_query_is_hardly_a_match():
    index = index_of(*DESK, *(tool(f"filler{n}", f"Does thing {n}") for n in range(200)))
    (hit, *_) = index.search("render quarterly hydrology coffee turbine forecasts onto parchment scrolls")
    assert hit.name == "cafe_finder"
    assert hit.score < 0.3 < index.search("find coffee")[0].score


def test_words_that_nobody_has_count_against_the_rest():
    index = index_of(*DESK)
    assert index.search("weather city")[0].score > index.search("weather city xylophone quagmire")[0].score


@pytest.mark.parametrize("query", ["", "   ", "?!", "xyzzyq plughqq", "\x00", "\ud800"])
def test_nothing_found_is_an_empty_list(query):
    assert index_of(*DESK).search(query) == []


def test_an_empty_index_finds_nothing():
    assert BM25Index().search("anything") == []
    assert BM25Index().count("anything") == 0


def test_matched_tells_the_words_in_the_order_of_the_query():
    hits = {
        hit.name: hit.matched
        for hit in index_of(*DESK).search("please remove the record, then check weather")
    }
    assert hits["delete_record"] == ("remove", "record")
    assert hits["get_weather"] == ("weather",)


def test_matched_is_the_same_in_a_long_list_and_beside_documents_of_the_request():
    index = index_of(*(tool(f"tool{n}", f"{WORDS[n % 7]} {WORDS[n % 3]} common") for n in range(900)))
    query = "brick cloud common zebra"
    whole = {hit.name: hit.matched for hit in index.search(query)}
    assert whole["tool16"] == ("brick", "cloud", "common")
    assert whole["tool7"] == ("brick", "common")
    for hits in (index.search(query, limit=9), index.search(query, limit=9, extra=[tool("own", "brick")])):
        assert all(hit.matched == whole.get(hit.name, ("brick",)) for hit in hits)


def test_a_limit_of_none_at_all():
    assert index_of(*DESK).search("send an email", limit=0) == []


# --- what rivals miss


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("create pull request", "createPullRequest"),
        ("create a pull request", "createPullRequest"),
        ("list repos", "listRepos"),
        ("list my repositories", "listRepos"),
        ("send an email", "mail_dispatch"),
        ("sending emails", "mail_dispatch"),
        ("mail somebody", "mail_dispatch"),
        ("café", "cafe_finder"),
        ("cafe", "cafe_finder"),
        ("ｗｅａｔｈｅｒ", "get_weather"),
        ("WEATHER!!", "get_weather"),
        ("tools for deleting things from the database", "delete_record"),
        ("deleteRecord", "delete_record"),
        ("recrod", "delete_record"),
        ("ids", "delete_record"),
        ("remove rows", "delete_record"),
        ("getweather", "get_weather"),
        ("use getweather for Oslo", "get_weather"),
        ("schedule an appointment", "calendar_add"),
        ("calen", "calendar_add"),
        ("where is the git hub thing", "github_status"),
    ],
)
def test_finds(query, best):
    assert names(index_of(*DESK).search(query, limit=1)) == [best]


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("отправить письмо", tool("mail_ru", "Отправка писем и сообщений")),
        ("创建请求", tool("pr", "创建拉取请求")),
        ("天", tool("weather_cn", "查询天气")),
        ("气", tool("weather_cn", "查询天气")),
        ("メールを送る", tool("mail_ja", "メールを送信する")),
        ("이메일 보내기", tool("mail_ko", "이메일을 보내기 위한 도구")),
        ("İSTANBUL", tool("city_tr", "istanbul ulaşım")),
        ("ulasim", tool("city_tr", "istanbul ulaşım")),
        ("📧", tool("envelope", "📧 to anyone")),
        ("שלום", tool("greet_he", "שָׁלוֹם")),
        ("الطقس", tool("weather_ar", "حالة الطَّقْس")),
        ("อากาศ", tool("weather_th", "สภาพอากาศวันนี้")),
        ("who", tool("who", "Names the users that are logged in")),
        ("what is it", tool("what_is_it", "Identifies an object")),
    ],
)
def test_finds_in_any_script(query, document):
    assert names(index_of(*DESK, document).search(query, limit=1)) == [document.name]


def test_hidden_keywords_find_a_tool():
    index = index_of(*DESK, tool("open_case", "Begins a case.", keywords=("ticket", "ärende")))
    assert names(index.search("file a ticket", limit=1)) == ["open_case"]
    assert names(index.search("arende", limit=1)) == ["open_case"]


def test_each_clause_of_a_request_has_its_say():
    many = [
        tool(f"weather_{place}", f"Weather of {place} for travellers.") for place in ("oslo", "rome", "paris")
    ]
    index = index_of(*many, tool("translate_text", "Translates a text."), *DESK)
    query = "What is the weather for travellers in Oslo, Rome and Paris? Also translate my text to Norwegian."
    assert "translate_text" in names(index.search(query, limit=4))


def test_letters_of_a_server_prefix_do_not_decide():
    tools = [
        tool(f"github_{verb}_issue", f"{verb.title()} an issue.", namespace="github")
        for verb in ("get", "lock")
    ]
    index = index_of(*tools, tool("github_star_repo", "Stars a repository.", namespace="github"))
    assert names(index.search("github lock issue", limit=1)) == ["github_lock_issue"]


# --- names


NAMED = (
    *(tool(f"short{n}", "create issue") for n in range(30)),
    tool("create_issue", "A long story about many other matters. " * 40),
    tool("github_create_issue", "Opens one."),
    tool("mcp__browser__browser_open", "Opens a page."),
)


@pytest.mark.parametrize(
    "query", ["create_issue", "create issue", "CreateIssue", "create-issue", " CREATE_ISSUE "]
)
def test_an_exact_name_comes_first_with_score_one(query):
    hits = index_of(*NAMED).search(query, limit=2)
    assert (hits[0].name, hits[0].score) == ("create_issue", 1.0)
    assert hits[1].score < 1.0


@pytest.mark.parametrize(
    "query", ["select:create_issue,short3", "create_issue, short3", "create_issue and short3"]
)
def test_a_list_of_names_gives_exactly_these_first(query):
    hits = index_of(*NAMED).search(query, limit=3)
    assert [(hit.name, hit.score) for hit in hits[:2]] == [("short3", 1.0), ("create_issue", 1.0)]
    assert all(hit.score < 1 for hit in hits[2:])


@pytest.mark.parametrize("query", ["browser_open", "browserOpen", "browser open"])
def test_the_end_of_a_name_comes_first(query):
    (hit,) = index_of(*NAMED).search(query, limit=1)
    assert hit.name == "mcp__browser__browser_open"
    assert 0.95 < hit.score < 1.0


def test_a_name_within_a_sentence_comes_first():
    hits = index_of(*NAMED).search("use create_issue on the page that short tools open", limit=2)
    assert hits[0].name == "create_issue"
    assert 0.97 < hits[0].score < 1.0


def test_a_name_is_never_cut_by_the_limit():
    crowd = [tool(f"n{n}", "exact match wanted here") for n in range(500)]
    index = index_of(*crowd, tool("exact_match_wanted", "x " * 500))
    assert names(index.search("exact_match_wanted", limit=1)) == ["exact_match_wanted"]


def test_names_of_any_script_are_exact():
    index = index_of(*DESK, tool("שלח_דואר"), tool("отправитьПисьмо"))
    assert index.search("שלח דואר")[0].score == 1.0
    assert index.search("отправить_письмо")[0].score == 1.0


def test_a_mistyped_name_is_found():
    assert names(index_of(*DESK).search("get_wether", limit=1)) == ["get_weather"]
    assert names(index_of(*DESK).search("calender_add", limit=1)) == ["calendar_add"]


# --- views: within, extra, count


@pytest.fixture(scope="module")
def crowd() -> BM25Index:
    verbs, nouns = ("get", "list", "create", "delete"), ("issue", "file", "event", "mail", "song")
    return index_of(
        *(tool(f"{v}_{n}_{i}", f"{v} the {n} {i}") for i in range(20) for v in verbs for n in nouns)
    )


@pytest.mark.parametrize("query", ["delete mail", "get_issue_3", "list songs. then create events", "files"])
def test_searching_within_is_searching_and_leaving_out(crowd, query):
    allowed = frozenset(
        f"{v}_{n}_{i}" for v in ("get", "delete") for n in ("mail", "issue") for i in range(0, 20, 3)
    )
    expected = [hit for hit in crowd.search(query) if hit.name in allowed]
    assert crowd.search(query, within=allowed) == expected
    assert crowd.search(query, within=list(allowed), limit=4) == expected[:4]
    assert crowd.count(query, within=allowed) == len(expected)


def test_within_takes_names_that_are_not_there(crowd):
    assert crowd.search("mail", within=frozenset({"nope"})) == []
    assert crowd.search("get_mail_1", within=frozenset()) == []


@pytest.mark.parametrize(
    "query", ["delete mail", "delete_mail_77", "list songs. then create new events", "gizmos"]
)
def test_extra_documents_rank_as_stored_ones_do(query):
    stored = [
        tool(f"{v}_{n}", f"{v} the {n}") for v in ("get", "delete", "list") for n in ("mail", "song", "event")
    ]
    more = [tool("delete_mail_77", "Deletes mail for good"), tool("gizmo_list", "Lists gizmos")]
    beside = index_of(*stored).search(query, extra=more)
    inside = index_of(*stored, *more).search(query)
    assert names(beside) == names(inside)
    assert [hit.matched for hit in beside] == [hit.matched for hit in inside]


def test_an_extra_document_hides_its_namesake_and_is_not_kept():
    index = index_of(*DESK)
    own = tool("get_weather", "Tides of the sea.")
    assert names(index.search("current weather city", extra=[own])) == ["get_weather"]
    assert names(index.search("tides of the sea", extra=[own], limit=1)) == ["get_weather"]
    assert index.search("tides") == []
    assert [hit.score for hit in index.search("get_weather", extra=[own])][:1] == [1.0]
    assert names(index.search("get_weather", extra=[own])).count("get_weather") == 1


def test_ties_with_extra_documents_go_to_the_stored_ones():
    index = index_of(tool("one", "sparkline"), tool("two", "sparkline"))
    extra = [tool("abc", "sparkline")]
    assert names(index.search("sparkline", extra=extra)) == ["one", "two", "abc"]


def test_within_does_not_apply_to_extra_documents():
    found = index_of(*DESK).search("weather", within=frozenset(), extra=[tool("tide", "weather of the sea")])
    assert names(found) == ["tide"]


def test_extra_documents_alone_are_searched_by_their_own_statistics():
    extra = [*DESK]
    assert names(BM25Index().search("send an email", extra=extra)) == names(
        index_of(*DESK).search("send an email")
    )
    assert BM25Index().search("recrod", extra=extra)[0].name == "delete_record"
    assert BM25Index().search("dispatch", extra=extra)[0].name == "mail_dispatch"
    assert BM25Index().search("mail_dispatch", extra=extra)[0].score == 1.0


@pytest.mark.parametrize("query", ["create issue", "create_issue", "browser_open", "issue, please", "opens"])
@pytest.mark.parametrize("min_score", [0.0, 0.2, 0.5, 0.96, 1.0])
def test_count_is_what_search_would_list(query, min_score):
    index = index_of(*NAMED)
    extra = [tool("my_issue", "create issue")]
    expected = sum(hit.score >= min_score for hit in index.search(query, extra=extra))
    assert index.count(query, min_score=min_score, extra=extra) == expected


def test_count_agrees_at_the_very_score():
    index = index_of(*NAMED)
    hits = index.search("opens the page")
    assert index.count("opens the page", min_score=hits[0].score) >= 1
    assert index.count("opens the page", min_score=hits[-1].score) == len(hits)


# --- changes


def test_an_update_adds_replaces_removes_and_reorders():
    index = index_of(*DESK)
    changed = [
        replace(DESK[5], description="Tides of the sea."),
        tool("tide_table", "Tides again."),
        *DESK[:4],
    ]
    index.update(changed)
    assert names(index.search("tides")) == names(index_of(*changed).search("tides"))
    assert index.search("remove record") == []
    index.update([])
    assert index.search("tides") == []
    index.update(DESK)
    assert names(index.search("send an email", limit=1)) == ["mail_dispatch"]


def test_of_two_documents_with_one_name_the_later_counts():
    index = index_of(tool("twice", "first alpha"), tool("twice", "second beta"))
    assert index.search("alpha") == []
    assert names(index.search("beta")) == ["twice"]


def test_a_name_that_comes_again_elsewhere_replaces_the_earlier_one():
    index = index_of(*DESK)
    index.update([*DESK, replace(DESK[5], description="Tides of the sea.")])
    assert names(index.search("tides")) == ["get_weather"]
    assert index.search("current") == []
    index.update([*DESK[:3], DESK[1]])
    assert index.count("channel mail change") == 3


pool = [tool(f"{a}_{b}_{n}", f"{b} {a} {WORDS[n]}") for n in range(4) for a in WORDS[:3] for b in WORDS[3:6]]
states = st.lists(
    st.lists(st.sampled_from(pool), unique_by=lambda d: d.name, max_size=20), min_size=1, max_size=6
)


@settings(max_examples=60)
@given(
    states, st.booleans(), st.lists(st.sampled_from([*WORDS, "alpah"]), min_size=1, max_size=3, unique=True)
)
def test_updating_by_difference_equals_building_from_scratch(steps, small_tail, query):
    before = snapshot._TAIL
    snapshot._TAIL = 3 if small_tail else before
    try:
        index = BM25Index()
        for step, documents in enumerate(steps):
            last = documents
            if step % 2:
                last = [replace(d, description=f"{d.description} {WORDS[-step]}") for d in documents]
            index.update(last)
        rebuilt = index_of(*last)
    finally:
        snapshot._TAIL = before
    assert index.search(" ".join(query)) == rebuilt.search(" ".join(query))
    for document in last[:2]:
        assert index.search(document.name) == rebuilt.search(document.name)


def test_a_slip_finds_what_was_added_later():
    known = [tool(f"tool_{n}", "plain words") for n in range(5)]
    index = index_of(*known)
    assert index.search("thermostat") == []
    index.update([*known, tool("heat", "Set the thermostat")])
    assert names(index.search("thermsotat")) == ["heat"]


def test_many_changes_are_merged_and_nothing_is_left_behind(monkeypatch):
    monkeypatch.setattr(snapshot, "_TAIL", 8)
    made = random.Random(5)
    word = ["".join(made.sample(string.ascii_lowercase, 9)) for _ in range(120)]
    documents = [tool(f"tool_{n}", f"{word[n]} common") for n in range(60)]
    index = index_of(*documents)
    for n in range(60):
        documents[n] = replace(documents[n], description=f"{word[60 + n]} common")
        index.update(documents)
        assert names(index.search(word[60 + n])) == [f"tool_{n}"]
        assert index.search(word[n]) == []
    assert index._snapshot.size < 60 + 9
    assert index.count("common") == 60


def test_what_words_found_is_kept_within_bounds(monkeypatch):
    monkeypatch.setattr(snapshot, "_HELD", -24 * 30 + 200)
    index = index_of(*(tool(f"{word}_{n}", word) for n, word in enumerate(WORDS * 3)))
    first = [index.search(word) for word in WORDS]
    assert [index.search(word) for word in WORDS] == first
    assert len(index._snapshot._evidence) < len(WORDS)


class FoundMeanwhile:
    """What a word found: while its cost is asked for, another thread keeps what another word found."""

    def __init__(self, kept):
        self._kept = kept

    @property
    def cost(self):
        self._kept()[f"word {len(self._kept())}", True] = self
        return 1


def test_what_words_found_is_dropped_while_other_threads_keep_more():
    kept = WordCache(len(WORDS) - 1, attrgetter("cost"))
    found = FoundMeanwhile(lambda: kept)
    for word in (*WORDS, "one more"):
        kept.keep((word, True), found)
    assert (WORDS[0], True) not in kept
    assert ("one more", True) in kept


def test_masks_are_kept_within_bounds(monkeypatch):
    monkeypatch.setattr(masks, "_KEPT", 3)
    index = index_of(*DESK)
    for _ in range(2):
        for document in DESK:
            within = frozenset({document.name})
            assert names(index.search(document.name, within=within)) == [document.name]
    assert len(index._snapshot._masks._kept) <= 3


# --- odd queries


@pytest.mark.parametrize(
    "query",
    [
        "weather " * 12_500,
        " ".join(f"word{n}" for n in range(15_000)),
        "天气预报" * 25_000,
        "a" * 100_000,
        "getWeather" * 10_000,
        "(a+)+$" * 16_000,
        "\u0301" * 100_000,
        "👍" * 100_000,
        "_" * 100_000,
        "weather, " * 11_000,
    ],
)
def test_a_query_of_100_kilobytes_costs_little(query):
    index = index_of(*DESK)
    with counted_calls(most=200_000):
        index.search(query)


@given(st.text(max_size=60))
def test_no_text_raises(query):
    for hit in index_of(*DESK).search(query, extra=[tool("own", query)]):
        assert 0 < hit.score <= 1


@given(st.text(max_size=30), st.text(max_size=40))
def test_no_document_raises(name, description):
    index = index_of(tool(name, description), *DESK)
    assert index.search("send an email", limit=1)
    assert np.isfinite([hit.score for hit in index.search(f"{name} {description}")]).all()


def logit(score: float) -> float:
    """Return the log odds that a score stands for."""
    return math.log(score / (0.93 - score))


@pytest.mark.parametrize(
    "query", ["email", "send email recipient", "an email to the zorblax", "send qintar wumfle zorblax email"]
)
def test_beside_another_judgement_words_count_by_their_share_of_the_query(query):
    index = index_of(*DESK)
    best = index.search(query)[0]
    nothing = index.log_odds("qintar wumfle zorblax").max()
    known = sum(word in "send email recipient" for word in query.split())
    unknown = sum(word in {"qintar", "wumfle", "zorblax"} for word in query.split())
    share = (index.log_odds(query).max() - nothing) / (logit(best.score) - nothing)
    assert share == pytest.approx(1.0) if not unknown else share < 1
    assert share > math.sqrt(known / (known + unknown)) * 0.8


def test_eight_known_words_say_enough_in_a_long_request():
    index = index_of(*DESK)
    query = "send email recipient subject change code row table" + " zorblax qintar wumfle" * 5
    best = index.search(query)[0]
    assert index.log_odds(query).max() == pytest.approx(logit(best.score), abs=1e-4)


def test_a_query_of_nothing_known_leaves_all_tools_alike():
    odds = index_of(*DESK).log_odds("qintar wumfle zorblax")
    assert (odds == odds[0]).all()


def test_a_thing_of_another_finds_the_compound():
    index = BM25Index()
    index.update([Document("week_part", "Says which part of the week it is."), Document("filename")])
    (first, *_) = index.search("Name of the file")
    assert (first.name, "filename" in first.matched) == ("filename", True)


@pytest.mark.parametrize(
    "query",
    [
        "Which day of the week was 1969-07-20?",
        "what day of the week is 29 February 2024",
        "day of the week of a date",
    ],
)
async def test_the_day_of_the_week_is_found_among_days_and_weeks(query):
    hits = await Catalog(standard_library.tools()).search(query, limit=3)
    assert hits[0].name == "weekday_of_date"


def test_a_compound_that_no_tool_holds_changes_nothing():
    index = BM25Index()
    index.update([Document("rename_file", "Changes the name of a file."), Document("other", "Does more.")])
    found = [(hit.name, hit.score) for hit in index.search("name of the file")]
    assert found == [(hit.name, hit.score) for hit in index.search("name, the file")]


def test_a_compound_that_the_query_says_itself_counts_once():
    index = BM25Index()
    index.update([Document("weekday", "Day of the week."), Document("other", "Does more.")])
    both = index.search("weekdays: day of the week")[0]
    assert both.matched == ("weekdays", "day", "week")
