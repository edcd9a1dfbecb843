"""Looking tools up by name: which one a name means, and what is suggested for a wrong one."""

import asyncio

import pytest

from tests.catalog.views import Given, view_of
from tests.support import Policy
from tool_search_processor.catalog.lookups import find_by_name, find_named, suggest
from tool_search_processor.policy.admission import Admission
from tool_search_processor.search.protocol import Hit
from tool_search_processor.tools import Tool

CREATE = Tool("create_issue")
DOTTED = Tool("create-issue", metadata={"original_name": "Create.Issue"})
SLASHED = Tool("createIssue", metadata={"original_name": "Create/Issue"})
SEND = Tool("send_mail")
COUNT = Tool("processor_count")


async def found(name, *tools, denied=(), without=()):
    with Admission(Policy(*(("load", one) for one in denied)), context={}) as admission:
        tool = await find_by_name(view_of(Given([]), tools), name, admission=admission, without=without)
    return None if tool is None else tool.name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("create_issue", "create_issue"),
        ("createIssue", "createIssue"),
        ("Create.Issue", "create-issue"),
        ("Create/Issue", "createIssue"),
        ("CREATE ISSUE", None),  # which of the three?
        ("functions.create_issue", "create_issue"),
        ("functions.SendMail", "send_mail"),
        ("delete_issue", None),
        ("", None),
    ],
)
async def test_exact_names_come_first_then_the_only_near_one(name, expected):
    assert await found(name, CREATE, DOTTED, SLASHED, SEND) == expected


@pytest.mark.parametrize("hidden", ["denied", "without"])
async def test_what_is_hidden_is_passed_over_as_if_it_did_not_exist(hidden):
    tools = [CREATE, DOTTED]
    assert await found("create_issue", *tools, **{hidden: ["create_issue"]}) == "create-issue"
    assert await found("CreateIssue", *tools, **{hidden: ["create-issue"]}) == "create_issue"
    assert await found("create_issue", *tools, **{hidden: ["create_issue", "create-issue"]}) is None


async def test_a_name_that_is_near_two_means_neither():
    assert await found("CREATE ISSUE", CREATE, DOTTED) is None


async def test_of_two_near_names_an_original_name_means_its_tool():
    assert await found("Create.Issue", CREATE, DOTTED) == "create-issue"


async def test_a_name_that_is_near_two_is_not_read_as_part_of_a_call_format():
    twins = [Tool("functions_send_mail"), Tool("functions-send-mail")]
    assert await found("functions.SendMail", *twins, SEND) is None


async def test_an_original_name_that_two_tools_have_means_neither():
    twin = Tool("create_Issue", metadata={"original_name": "Create.Issue"})
    assert await found("Create.Issue", DOTTED, twin) is None


async def named(*names, filter=None, listed=(), without=(), index=None):  # noqa: A002 - the option's public name
    view = view_of(index or Given([]), [CREATE, DOTTED, SEND, COUNT])
    with Admission(filter, context={}) as admission:
        return await find_named(view, iter(names), admission=admission, listed=listed, without=without)


async def test_names_are_sorted_into_what_to_load_what_is_listed_and_what_is_missing():
    answer = await named(
        "SendMail",
        "send_mail",
        "nothing_like_it",
        "processor_count",
        "Pinned",
        "create_issue",
        listed=["pinned", "processor_count"],
    )
    assert answer.wanted == ("send_mail", "create_issue")
    assert answer.listed == ("processor_count", "pinned")
    assert answer.missing == {"nothing_like_it": []}


async def test_a_listed_tool_of_the_catalog_is_not_loaded_by_a_near_name():
    answer = await named("ProcessorCount", listed=["processor_count"])
    assert (answer.wanted, answer.listed) == ((), ("processor_count",))


async def test_names_to_pass_over_are_neither_asked_about_nor_suggested():
    policy = Policy()
    answer = await named("send_mail", "sendmail", filter=policy, without=["send_mail"])
    assert answer.missing == {"send_mail": [], "sendmail": []}
    assert "send_mail" not in {name for _, name in policy.asked}


async def test_exact_names_are_asked_about_at_once():
    together = asyncio.Barrier(3)
    phases = []

    async def hook(request):
        phases.append(request.phase)
        await together.wait()
        return True

    async with asyncio.timeout(10):
        answer = await named("create_issue", "send_mail", "processor_count", filter=hook)
    assert answer.wanted == ("create_issue", "send_mail", "processor_count")
    assert phases == ["load"] * 3


async def test_ten_wrong_names_are_searched_for_and_no_more():
    index = Given([])
    await named(*(f"nothing {n}" for n in range(15)), index=index)
    assert len(index.limits) == 10


async def suggested(name, *ranking, tools=(CREATE, DOTTED, SEND, COUNT), denied=(), **options):
    with Admission(Policy(*denied) if denied else None, context={}) as admission:
        return await suggest(view_of(Given(ranking), tools), name, admission=admission, **options)


MAILS = [Tool(f"send_mail_{n}") for n in range(6)]


async def test_slips_come_first_then_what_the_words_find():
    ranking = [Hit(name="processor_count", score=0.4), Hit(name="send_mail", score=0.3)]
    assert await suggested("send_mial", *ranking) == ["send_mail", "processor_count"]
    assert await suggested("send_mial", *ranking, is_searched=False) == ["send_mail"]


async def test_no_more_than_three_are_suggested():
    ranking = [Hit(name=tool.name, score=0.9) for tool in MAILS]
    assert await suggested("send_mail_9", tools=MAILS) == ["send_mail_0", "send_mail_1", "send_mail_2"]
    assert await suggested("letters", *ranking, tools=MAILS) == ["send_mail_0", "send_mail_1", "send_mail_2"]


async def test_where_slips_are_enough_nothing_is_searched_and_the_hook_is_asked_about_no_more():
    index, policy = Given([]), Policy()
    with Admission(policy, context={}) as admission:
        await suggest(view_of(index, MAILS), "send_mail_9", admission=admission)
    assert index.limits == []
    assert policy.asked == [("load", f"send_mail_{n}") for n in range(3)]


async def test_a_slip_of_a_denied_name_is_not_suggested():
    assert await suggested("send_mial", denied=[("load", "send_mail")]) == []


async def test_what_may_not_be_found_takes_no_place_among_suggestions():
    ranking = [Hit(name=tool.name, score=0.9) for tool in MAILS]
    denied = [("search", f"send_mail_{n}") for n in range(3)]
    assert await suggested("letters", *ranking, tools=MAILS, denied=denied) == [
        "send_mail_3",
        "send_mail_4",
        "send_mail_5",
    ]


async def test_the_hook_is_asked_about_no_more_finds_than_are_suggested():
    policy = Policy()
    with Admission(policy, context={}) as admission:
        await suggest(view_of(Given([tool.name for tool in MAILS]), MAILS), "letters", admission=admission)
    assert [name for phase, name in policy.asked if phase == "search"] == [tool.name for tool in MAILS[:3]]


async def test_a_search_that_fails_is_logged_and_suggests_nothing(caplog):
    class Broken(Given):
        def search(self, query, **options):
            raise OSError("out of order")

    with Admission(None, context={}) as admission:
        assert await suggest(view_of(Broken(), MAILS), "letters", admission=admission) == []
    (warning,) = caplog.records
    assert warning.getMessage() == "the search for tools to suggest failed"
    assert warning.exc_info[0] is OSError


async def test_a_weak_find_is_no_suggestion():
    ranking = [Hit(name="processor_count", score=0.1), Hit(name="send_mail", score=0.09)]
    assert await suggested("letters", *ranking) == ["processor_count"]


async def test_loosely_similar_spellings_come_only_where_there_is_nothing_better():
    assert await suggested("create_ink") == ["create_issue", "create-issue"]
    assert await suggested("create_ink", Hit(name="send_mail", score=0.9)) == ["send_mail"]


@pytest.mark.parametrize("phase", ["search", "load"])
async def test_a_denied_tool_is_not_suggested_for_its_words(phase):
    ranking = [Hit(name="processor_count", score=0.9), Hit(name="send_mail", score=0.8)]
    assert await suggested("letters", *ranking, denied=[(phase, "processor_count")]) == ["send_mail"]


async def test_a_name_is_no_suggestion_for_itself_nor_is_what_is_passed_over():
    ranking = [Hit(name="send_mail", score=0.9), Hit(name="processor_count", score=0.8)]
    assert await suggested("send_mail", *ranking) == ["processor_count"]
    assert await suggested("send_mial", *ranking, without=["send_mail"]) == ["processor_count"]


async def test_the_words_of_the_first_200_characters_are_searched():
    class Recording(Given):
        queries = ()

        def search(self, query, **options):
            self.queries = (*self.queries, query)
            return super().search(query, **options)

    index = Recording([])
    with Admission(None, context={}) as admission:
        for name in ("getCpuCores", "x" * 201, "---"):
            await suggest(view_of(index), name, admission=admission)
    assert index.queries == ("get cpu cores", "x" * 200)
