"""What a call means: a listed tool, a tool that a processor knows, or a sentence."""

import pytest

from tests.support import step
from tool_search_processor.errors import ToolArgumentsError
from tool_search_processor.session.call_lookup import CallLookup
from tool_search_processor.tools import Tool

MAIL, FILE = (
    Tool("send_mail"),
    Tool("read_file", parameters={"type": "object", "properties": {"path": {"type": "string"}}}),
)


class Knowing:
    """A processor that knows tools by the names of a table."""

    reserved_names = frozenset()

    def __init__(self, name="knowing", **known):
        self.id = name
        self.known = known

    async def resolve_call(self, given, name):
        return self.known.get(name)


def lookup(*resolvers, listed=(MAIL, FILE)):
    return CallLookup(step(*listed), list(resolvers))


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("send_mail", {"send_mail": Tool("other")}, "send_mail"),
        ("SendMail", {}, "send_mail"),
        ("functions.send_mail", {}, "send_mail"),
        ("send_post", {}, None),
        ("send_post", {"send_post": Tool("send_post")}, "send_post"),
        # exact in the catalog, near in the list
        ("SendMail", {"SendMail": Tool("SendMail")}, "SendMail"),
        # near in both: which one?
        ("SendMail", {"SendMail": Tool("Send-Mail")}, None),
        ("SendMail", {"SendMail": Tool("send_mail", description="the same one")}, "send_mail"),
    ],
)
async def test_exact_names_come_first_and_what_may_be_two_is_neither(name, known, expected):
    found = await lookup(Knowing(**known)).find(name)
    assert (found and found.name) == expected
    if expected == "send_mail":
        assert found is MAIL


async def test_of_two_listed_tools_of_one_name_the_first_is_meant():
    twin = Tool("send_mail", description="second")
    assert await lookup(listed=[MAIL, twin]).find("send_mail") is MAIL


async def test_processors_are_asked_in_order():
    first, second = Tool("x", description="first"), Tool("x", description="second")
    assert await lookup(Knowing(), Knowing(x=first), Knowing(x=second)).find("x") is first


async def test_what_stands_is_known_under_its_own_name_and_not_listed():
    knowing = Knowing(send_mail=Tool("send_mail"), kept=Tool("kept"), near=Tool("Near"))
    found = await lookup(knowing).standing(["send_mail", "kept", "near", "gone"])
    assert [tool.name for tool in found] == ["kept"]


def test_a_step_lists_what_it_lists():
    assert [lookup().lists(name) for name in ("send_mail", "read_file", "SendMail")] == [True, True, False]


class Saying(Knowing):
    def __init__(self, text=None, problem=None):
        super().__init__()
        self.asked = []
        self.missing_tool_text = self.said(text)
        self.policy_problem = self.said(problem)

    def said(self, answer):
        def say(given, name):
            self.asked.append(name)
            return answer

        return say


def test_the_first_problem_of_a_policy_is_told():
    assert (
        lookup(Knowing(), Saying(), Saying(problem="late"), Saying(problem="later")).policy_problem("x")
        == "late"
    )
    assert lookup(Knowing(), Saying()).policy_problem("x") is None


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("nothing", [], "Error: there is no tool named 'nothing'."),
        ("x" * 70, [], f"Error: there is no tool named '{'x' * 64}'."),
        ("send_mial", [], "Error: there is no tool named 'send_mial'. Did you mean send_mail?"),
        ("send_mial", ["No.", None, "Search."], "No.\nSearch. Did you mean send_mail?"),
        ("send_mial", ["Do you mean send_mail?"], "Do you mean send_mail?"),
        ("send_mial", ["Not send_mails."], "Not send_mails. Did you mean send_mail?"),
        ("\ud83d", [], "Error: there is no tool named '\\ud83d'."),
    ],
)
async def test_a_missing_tool_is_told_of_in_the_processors_words(name, texts, expected):
    assert await lookup(Knowing(), *map(Saying, texts)).missing_text(name) == expected


async def test_up_to_three_near_names_are_told_the_nearest_first():
    listed = [Tool(f"send_mail_{n}") for n in range(5)]
    text = await lookup(listed=[Tool("read_file"), *listed, Tool("send_mail")]).missing_text("send_mial")
    assert text.endswith(" Did you mean send_mail or send_mail_0 or send_mail_1?")


WRONG = ToolArgumentsError("path: a string is needed")


async def test_wrong_arguments_are_told_with_the_parameters_if_the_model_has_not_seen_them():
    assert await lookup().mistake(FILE, {"path": "a"}) is None
    listed = await lookup().mistake(FILE, {"path": 5})
    assert listed == await lookup().explained(FILE, ToolArgumentsError(listed.removeprefix("Error: ")))
    unlisted = await lookup(listed=[]).mistake(FILE, {"path": 5})
    schema = '{"type":"object","properties":{"path":{"type":"string"}}}'
    assert unlisted == f"{listed} The parameters of read_file: {schema}"


async def test_a_tool_that_explains_itself_does_so_unless_it_is_listed():
    class Explaining(Tool):
        async def explain(self, problem):
            return {"problem": str(problem)}

    tool = Explaining("read_file")
    assert await lookup().explained(tool, WRONG) == "Error: path: a string is needed"
    assert await lookup(listed=[]).explained(tool, WRONG) == '{"problem":"path: a string is needed"}'
