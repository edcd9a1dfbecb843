"""Methods as tools: `@tool` in a class, bound where it is taken from an object."""

from __future__ import annotations

import pytest

from tool_search_processor import (
    ConfigurationError,
    InvalidToolError,
    Tool,
    ToolContext,
    ToolNotCallableError,
    ToolSearchProcessor,
    ToolSession,
    tool,
)


class Account:
    """Has tools of its own."""

    kind = "account"

    def __init__(self, owner: str) -> None:
        self.owner = owner

    @tool(tags={"money"})
    def pay(self, amount: int, run: ToolContext) -> str:
        """Pay an amount.

        Args:
            amount: In cents.
        """
        return f"{self.owner} pays {amount} for {run.context.get('user')}"

    @tool
    async def close(self: Account) -> str:
        """Close the account."""
        return f"{self.owner} closed"

    @tool
    @classmethod
    def count(cls, of: str) -> str:
        """Count the accounts."""
        return f"{of}: {cls.kind}"

    @tool
    @staticmethod
    def rates(currency: str = "EUR") -> str:
        """Say the rates."""
        return currency


class Savings(Account):
    kind = "savings"


async def test_a_method_is_bound_to_the_object_that_it_is_taken_from():
    ada, bob = Account("ada"), Savings("bob")
    context = ToolContext(context={"user": "eve"})
    assert await ada.pay.call({"amount": "3"}, context) == "ada pays 3 for eve"
    assert await bob.pay.call({"amount": 4}) == "bob pays 4 for None"
    assert await bob.close.call() == "bob closed"
    assert ada.pay(5, run=context) == "ada pays 5 for eve"


def test_the_model_sees_the_parameters_without_the_object():
    definition = Account("ada").pay.to_openai()["function"]
    assert definition["description"] == "Pay an amount."
    assert definition["parameters"]["properties"] == {
        "amount": {"type": "integer", "description": "In cents."}
    }
    assert Account.pay.tags == {"money"}


async def test_class_methods_and_static_methods_need_no_object():
    assert await Account.count.call({"of": "all"}) == "all: account"
    assert await Savings.count.call({"of": "all"}) == "all: savings"
    assert await Savings("bob").count.call({"of": "all"}) == "all: savings"
    assert await Account.rates.call() == "EUR"


def test_methods_of_one_object_are_equal_tools():
    ada = Account("ada")
    assert ada.pay == ada.pay
    assert ada.pay != Account("bob").pay


async def test_methods_are_searched_and_run_as_any_tool():
    search = ToolSearchProcessor([Account("ada").pay])
    async with ToolSession(search, tools=[Account("bob").close]) as session:
        assert [tool.name for tool in await session.tools([])][-1] == "close"
        call = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": '{"amount": 1}'}}
        (result,) = await session.execute([call])
    assert result["content"] == "ada pays 1 for None"


async def test_a_method_without_its_object_is_told():
    with pytest.raises(ConfigurationError, match=r"'Account.pay' is a method.*take it from an object"):
        ToolSearchProcessor([Account.pay])
    with pytest.raises(ToolNotCallableError, match=r"'Account.pay' is a method"):
        await Account.pay.call({"amount": 1})


def test_a_plain_function_in_a_class_needs_its_object_too():
    class Plain:
        def pay(self) -> str:
            """Pay."""
            return "paid"

    with pytest.raises(InvalidToolError, match="is a method without its object"):
        Tool.from_function(Plain.pay)
    assert Tool.from_function(Plain().pay)() == "paid"


def test_a_tool_of_a_function_is_not_bound():
    class Holder:
        held = tool(len_of)

    assert Holder().held is Holder.held


def len_of(text: str) -> int:
    """Count the characters."""
    return len(text)
