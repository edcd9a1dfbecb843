"""The load and unload tools: what they take, what they answer, and who makes room."""

import json

import pytest

from tests.support import Policy, Run, make, names
from tool_search_processor import ConfigurationError, ToolSearchProcessor

ISSUE = make("create_issue", namespace="github", tags={"github"})
REPOS = make("github_list_repos", namespace="github")
MAIL = make("send_mail")
CATALOG = [ISSUE, REPOS, MAIL]
MANY = [make(f"tool_{n}") for n in range(30)]


def run_over(tools=CATALOG, **options):
    return Run(ToolSearchProcessor(tools, **options))


# -- what it takes


@pytest.mark.parametrize(
    "arguments",
    [
        {"tool_names": ["create_issue", "send_mail"]},
        {"tool_names": '["create_issue", "send_mail"]'},
        {"tool_names": ' ["create_issue","send_mail"] '},
        {"tool_names": "create_issue, send_mail"},
        {"tool_names": "create_issue\nsend_mail"},
        {"tool_names": ["create_issue, send_mail"]},
        {"tool_names": ("create_issue", "send_mail")},
        {"tool_names": ["create_issue"], "tool_name": "send_mail"},
        {"tool_name": ["create_issue", "send_mail"]},
        {"names": ["create_issue", "send_mail"]},
        {"tool_names": ["create_issue", " send_mail ", "create_issue", "", None, 4]},
        {"tool_names": ["create_issue", "send_mail"], "why": "they are needed"},
    ],
)
async def test_names_come_in_every_shape(arguments):
    run = run_over()
    answer = await run.call("load_tool", **arguments)
    assert answer == {
        "loaded": ["create_issue", "send_mail"],
        "already_loaded": [],
        "not_found": [],
        "message": "Loaded create_issue, send_mail: callable from your next step.",
    }
    assert names(await run.step())[2:] == ["create_issue", "send_mail"]


@pytest.mark.parametrize(
    "key", ["tool_names", "tool_name", "names", "name", "tools", "tool", "toolNames", "toolName"]
)
async def test_a_single_string_will_do(key):
    run = run_over()
    assert (await run.call("load_tool", **{key: "send_mail"}))["loaded"] == ["send_mail"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"tool_names": []},
        {"tool_names": ""},
        {"tool_names": " , "},
        {"tool_names": "[]"},
        {"tool_names": None},
        {"tool_names": 5},
        {"tool_names": [None, 3, ["send_mail"]]},
        {"tool_names": {"send_mail": True}},
    ],
)
async def test_no_names_are_answered_with_what_to_give(arguments):
    answer = await run_over().call("load_tool", **arguments)
    assert answer == {
        "loaded": [],
        "already_loaded": [],
        "not_found": [],
        "message": "No tool was named. Give tool_names: a list of names as the search gave them.",
    }


async def test_an_endless_list_is_cut():
    run = run_over([make(f"tool_{n}") for n in range(300)], max_loaded=None)
    answer = await run.load(*(f"tool_{n}" for n in range(300)))
    assert len(answer["loaded"]) == 100


# -- exact and near names


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("create_issue", "create_issue"),
        ("createIssue", "create_issue"),
        ("Create-Issue", "create_issue"),
        ("CREATE_ISSUE", "create_issue"),
        ("create.issue", "create_issue"),
        ("github.create_issue", "create_issue"),
        ("github/create-issue", "create_issue"),
        ("github:createIssue", "create_issue"),
        ("github_create_issue", "create_issue"),
        ("list_repos", "github_list_repos"),
        ("listRepos", "github_list_repos"),
        ("github.list_repos", "github_list_repos"),
        ("github__github_list_repos", "github_list_repos"),
    ],
)
async def test_a_name_that_is_the_same_but_for_case_separators_and_namespace_is_found(asked, found):
    run = run_over()
    answer = await run.load(asked)
    assert answer["loaded"] == [found]
    assert names(await run.step())[2:] == [found]


async def test_the_exact_name_goes_before_a_near_one():
    run = run_over([make("create_issue"), make("createIssue"), make("create-issue")])
    assert (await run.load("createIssue"))["loaded"] == ["createIssue"]


async def test_a_near_name_that_could_mean_two_tools_is_not_guessed():
    run = run_over([make("create_issue", namespace="github"), make("create-issue", namespace="gitlab")])
    answer = await run.load("createIssue")
    assert answer["loaded"] == []
    assert answer["not_found"] == [{"name": "createIssue", "suggestions": ["create_issue", "create-issue"]}]
    assert (await run.load("gitlab.createIssue"))["loaded"] == ["create-issue"]


async def test_of_two_near_names_the_one_that_is_allowed_is_meant():
    policy = Policy(("load", "create_issue"))
    run = run_over([make("create_issue"), make("create-issue")], filter=policy)
    assert (await run.load("createIssue"))["loaded"] == ["create-issue"]


async def test_an_imported_tool_is_found_by_its_original_name():
    run = run_over([make("notion_get_page", metadata={"original_name": "notion/get page.v2"})])
    assert (await run.load("notion/get-page.v2"))["loaded"] == ["notion_get_page"]


async def test_an_original_name_goes_before_others_that_are_near_it():
    page = make("web_page_1f3a", metadata={"original_name": "web/page"})
    run = run_over([make("web_page", metadata={"original_name": "web.page"}), page])
    assert (await run.load("web/page"))["loaded"] == ["web_page_1f3a"]


async def test_unknown_names_come_with_up_to_three_suggestions():
    run = run_over(
        [make("create_issue"), make("create_issues"), make("create_issue_2"), make("creates_issue")]
    )
    (missing,) = (await run.load("create_isue"))["not_found"]
    assert missing["name"] == "create_isue"
    assert len(missing["suggestions"]) == 3
    assert missing["suggestions"][0] == "create_issue"


async def test_a_name_like_none_has_no_suggestions():
    answer = await run_over().load("zzzzzz")
    assert answer["not_found"] == [{"name": "zzzzzz", "suggestions": []}]
    assert "Not found: zzzzzz." in answer["message"]
    assert "Search" in answer["message"]


@pytest.mark.parametrize(
    "name",
    [
        "constructor",
        "toString",
        "__proto__",
        "__class__",
        "__init__",
        "hasOwnProperty",
        "keys",
        "get",
        "None",
    ],
)
async def test_names_of_objects_built_into_languages_are_unknown(name):
    run = run_over()
    answer = await run.load(name)
    assert (answer["loaded"], answer["already_loaded"]) == ([], [])
    assert answer["not_found"] == [{"name": name, "suggestions": []}]
    assert names(await run.step()) == ["search_tools", "load_tool"]


@pytest.mark.parametrize(
    "name", ["x" * 100_000, "\udcff\ud800", "\x00", "🙂" * 500, "___", "'; drop", "../.."]
)
async def test_any_text_is_answered(name):
    answer = await run_over().load(name)
    assert answer["loaded"] == []
    assert answer["not_found"]
    assert all(len(item["name"]) <= 80 for item in answer["not_found"])
    assert len(json.dumps(answer)) < 4000


@pytest.mark.parametrize("name", ["search_tools", "load_tool"])
async def test_a_meta_tool_is_there_already(name):
    answer = await run_over().load(name)
    assert (answer["already_loaded"], answer["not_found"]) == ([name], [])


async def test_a_tool_that_the_step_lists_is_there_already():
    run = run_over()
    await run.step(make("always_on"))
    assert (await run.load("always_on", "send_mail"))["already_loaded"] == ["always_on"]


# -- repeated and partial loads


async def test_a_tool_is_loaded_once():
    run = run_over()
    await run.load("send_mail")
    again = await run.load("send_mail", "create_issue")
    assert (again["loaded"], again["already_loaded"]) == (["create_issue"], ["send_mail"])
    assert "Already loaded: send_mail." in again["message"]
    third = await run.load("send_mail")
    assert (third["loaded"], third["already_loaded"]) == ([], ["send_mail"])
    assert names(await run.step()) == ["search_tools", "load_tool", "send_mail", "create_issue"]


async def test_several_spellings_of_one_tool_load_it_once():
    run = run_over()
    answer = await run.load("createIssue", "create_issue", "github.create_issue")
    assert (answer["loaded"], answer["already_loaded"]) == (["create_issue"], [])


async def test_what_can_be_loaded_is_loaded_and_the_rest_told():
    run = run_over()
    await run.load("create_issue")
    answer = await run.load("send_mail", "nowhere", "create_issue", "list_repos")
    assert answer["loaded"] == ["send_mail", "github_list_repos"]
    assert answer["already_loaded"] == ["create_issue"]
    assert [item["name"] for item in answer["not_found"]] == ["nowhere"]
    for part in ("Loaded send_mail, github_list_repos", "Already loaded: create_issue", "Not found: nowhere"):
        assert part in answer["message"]


async def test_loaded_tools_are_callable_from_the_next_step():
    run = run_over()
    first = await run.step()
    answer = await run.load("send_mail")
    assert "next step" in answer["message"]
    assert "send_mail" not in names(first)
    await run.step()
    assert await run.call("send_mail", to="ann") == {"ran": "send_mail", "to": "ann"}


async def test_a_tool_that_left_the_catalog_is_no_longer_listed_and_comes_back_with_it():
    tools = [MAIL]
    run = run_over(lambda context: list(tools))
    await run.load("send_mail")
    tools.clear()
    assert names(await run.step()) == ["search_tools", "load_tool"]
    tools.append(MAIL)
    assert names(await run.step()) == ["search_tools", "load_tool", "send_mail"]


# -- the most that may be loaded


def bounded(limit, **options):
    processor = ToolSearchProcessor(MANY, max_loaded=limit, **options)
    return processor, Run(processor, thread="t")


async def test_what_this_run_loaded_is_never_evicted_and_the_rest_refused():
    _, run = bounded(2)
    answer = await run.load("tool_1", "tool_2", "tool_3", "tool_4")
    assert answer["loaded"] == ["tool_1", "tool_2"]
    assert "Not loaded" in answer["message"]
    assert "2 tools" in answer["message"]
    assert "tool_3, tool_4" in answer["message"]
    assert answer["not_found"] == []
    assert names(await run.step())[2:] == ["tool_1", "tool_2"]
    assert (await run.load("tool_3"))["loaded"] == []


async def test_the_least_recently_called_tool_makes_room():
    processor, first = bounded(3)
    await first.load("tool_1", "tool_2", "tool_3")
    await first.step()
    await first.call("tool_1")
    later = Run(processor, thread="t")
    answer = await later.load("tool_4")
    assert answer["loaded"] == ["tool_4"]
    assert names(await later.step())[2:] == ["tool_1", "tool_3", "tool_4"]
    assert await processor.loaded(thread_id="t") == ["tool_1", "tool_3", "tool_4"]


async def test_what_this_run_called_is_never_evicted():
    processor, first = bounded(2)
    await first.load("tool_1", "tool_2")
    later = Run(processor, thread="t")
    await later.step()
    await later.call("tool_1")
    await later.call("tool_2")
    assert (await later.load("tool_3"))["loaded"] == []
    assert names(await later.step())[2:] == ["tool_1", "tool_2"]


async def test_what_this_run_asked_for_again_is_in_use():
    processor, first = bounded(2)
    await first.load("tool_1", "tool_2")
    later = Run(processor, thread="t")
    assert (await later.load("tool_1", "tool_3"))["loaded"] == ["tool_3"]
    assert names(await later.step())[2:] == ["tool_1", "tool_3"]


async def test_an_evicted_tool_stays_findable_and_can_be_loaded_again():
    processor, first = bounded(1)
    await first.load("tool_1")
    await Run(processor, thread="t").load("tool_2")
    last = Run(processor, thread="t")
    assert names(await last.step())[2:] == ["tool_2"]
    (found,) = (await last.search("tool_1", limit=1))["results"]
    assert (found["name"], found["loaded"]) == ("tool_1", False)
    assert (await last.load("tool_1"))["loaded"] == ["tool_1"]


async def test_auto_load_and_direct_calls_keep_the_bound_too():
    _, run = bounded(2, mode="auto_load")
    answer = await run.search("tool", limit=5)
    assert [r["loaded"] for r in answer["results"]] == [True, True, False, False, False]
    assert len(names(await run.step())) == 3
    _, run = bounded(1)
    await run.load("tool_1")
    assert await run.direct("tool_2") == {"ran": "tool_2"}
    assert names(await run.step())[2:] == ["tool_1"]


async def test_no_bound_is_none():
    run = run_over([make(f"tool_{n}") for n in range(150)], max_loaded=None)
    await run.load(*(f"tool_{n}" for n in range(90)))
    await run.load(*(f"tool_{n}" for n in range(90, 150)))
    assert len(names(await run.step())) == 152


# -- unloading


async def test_unloading_is_offered_only_when_allowed():
    assert "unload_tool" not in names(await run_over().step())


async def test_unload_takes_tools_off_the_list():
    run = run_over(allow_unload=True)
    await run.load("send_mail", "create_issue")
    await run.step()
    answer = await run.call("unload_tool", tool_names=["send_mail", "nowhere"])
    assert answer == {
        "unloaded": ["send_mail"],
        "not_loaded": ["nowhere"],
        "message": "Unloaded send_mail. Not loaded: nowhere.",
    }
    assert names(await run.step())[3:] == ["create_issue"]
    assert (await run.load("send_mail"))["loaded"] == ["send_mail"]
    assert names(await run.step())[3:] == ["create_issue", "send_mail"]


async def test_unload_makes_room():
    processor = ToolSearchProcessor(MANY, max_loaded=1, allow_unload=True)
    run = Run(processor, thread="t")
    await run.load("tool_1")
    await run.call("unload_tool", tool_name="tool_1")
    assert (await run.load("tool_2"))["loaded"] == ["tool_2"]
    assert await processor.loaded(thread_id="t") == ["tool_2"]


@pytest.mark.parametrize("arguments", [{}, {"tool_names": []}, {"tool_names": 4}])
async def test_unload_of_nothing_is_answered(arguments):
    answer = await run_over(allow_unload=True).call("unload_tool", **arguments)
    assert (answer["unloaded"], answer["not_loaded"]) == ([], [])
    assert "tool_names" in answer["message"]


async def test_unload_long_names_are_repeated_clipped():
    answer = await run_over(allow_unload=True).call("unload_tool", tool_names=["x" * 9000])
    assert len(answer["message"]) < 200


# -- for programs


async def test_load_unload_loaded_and_clear_for_programs():
    processor = ToolSearchProcessor(CATALOG)
    answer = await processor.load(["send_mail", "createIssue", "nowhere"], thread_id="t")
    assert answer["loaded"] == ["send_mail", "create_issue"]
    assert [item["name"] for item in answer["not_found"]] == ["nowhere"]
    assert (await processor.load("send_mail", thread_id="t"))["already_loaded"] == ["send_mail"]
    assert await processor.loaded(thread_id="t") == ["send_mail", "create_issue"]
    run = Run(processor, thread="t")
    assert names(await run.step())[2:] == ["send_mail", "create_issue"]
    answer = await processor.unload(["send_mail", "nowhere"], thread_id="t")
    assert answer == {
        "unloaded": ["send_mail"],
        "not_loaded": ["nowhere"],
        "message": "Unloaded send_mail. Not loaded: nowhere.",
    }
    await processor.clear("t")
    assert await processor.loaded(thread_id="t") == []


async def test_load_for_programs_asks_the_filter_with_the_context():
    processor = ToolSearchProcessor(CATALOG, filter=lambda request: request.context.get("plan") == "pro")
    assert (await processor.load("send_mail", thread_id="t"))["loaded"] == []
    answer = await processor.load("send_mail", thread_id="t", context={"plan": "pro"})
    assert answer["loaded"] == ["send_mail"]


@pytest.mark.parametrize("thread_id", ["", "  ", None])
@pytest.mark.parametrize("method", ["load", "unload", "loaded"])
async def test_programs_have_to_name_a_thread(method, thread_id):
    processor = ToolSearchProcessor(CATALOG)
    arguments = ["send_mail"] if method != "loaded" else []
    with pytest.raises(ConfigurationError, match="thread_id names a conversation"):
        await getattr(processor, method)(*arguments, thread_id=thread_id)


async def test_names_beyond_the_most_are_told_to_be_left():
    run = Run(ToolSearchProcessor(make(f"tool_{number}") for number in range(103)))
    answer = await run.call("load_tool", tool_names=[f"tool_{number}" for number in range(103)])
    assert len(answer["loaded"]) == 100
    assert answer["message"].endswith("3 more names were left out: give at most 100 at a time.")


async def test_a_name_written_as_words_is_found():
    run = Run(ToolSearchProcessor([make("create_issue"), make("send_mail")]))
    answer = await run.call("load_tool", tool_names="Create Issue, send mail")
    assert answer["loaded"] == ["create_issue", "send_mail"]
