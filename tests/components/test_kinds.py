"""Resources, templates and prompts."""

import pytest

from tool_search_processor.components import Prompt, PromptArgument, Resource, ResourceTemplate
from tool_search_processor.errors import ConfigurationError


def test_names_default_to_the_uri():
    assert Resource(uri="data://x").name == "data://x"
    assert ResourceTemplate(uri_template="data://{x}").name == "data://{x}"
    assert Resource(uri="data://x", name="X").name == "X"


@pytest.mark.parametrize(
    ("cls", "field"), [(Resource, "uri"), (ResourceTemplate, "uri_template"), (Prompt, "name")]
)
@pytest.mark.parametrize("value", ["", None, 3])
def test_what_it_is_found_by_is_a_text(cls, field, value):
    with pytest.raises(ConfigurationError, match=rf"{cls.__name__}\.{field} is a string .* found"):
        cls(**{field: value})


def test_collections_are_copies_that_do_not_change():
    tags, metadata = {"a"}, {"k": 1}
    resource = Resource(uri="data://x", tags=tags, metadata=metadata)
    tags.add("b")
    metadata["k"] = 2
    assert resource.tags == {"a"}
    assert resource.metadata == {"k": 1}
    with pytest.raises(TypeError):
        resource.metadata["k"] = 3
    with pytest.raises(ConfigurationError, match=r"write \{'admin'\}"):
        Resource(uri="data://x", tags="admin")


def test_replace_gives_a_changed_copy():
    resource = Resource(uri="data://x", title="T", read=lambda: "text")
    changed = resource.replace(uri="data://y")
    assert (changed.uri, changed.title, changed.read()) == ("data://y", "T", "text")
    assert resource.uri == "data://x"
    template = ResourceTemplate(uri_template="data://{x}").replace(description="D")
    assert template.description == "D"
    prompt = Prompt(name="p", arguments=[PromptArgument(name="a", required=True)]).replace(title="T")
    assert prompt.title == "T"
    assert prompt.arguments == (PromptArgument(name="a", required=True),)


def test_callables_do_not_count_for_equality():
    assert Resource(uri="data://x", read=lambda: 1) == Resource(uri="data://x", read=lambda: 2)


@pytest.mark.parametrize(
    ("template", "uri", "matches"),
    [
        ("repo://{owner}/{name}", "repo://octo/hello", True),
        ("repo://{owner}/{name}", "repo://octo", False),
        ("repo://{owner}/{name}", "repo://octo/hello/more", False),
        ("repo://{owner}/{name}", "repo://octo/", False),
        ("repo://{owner}/{name}", "repo://octo/hello?ref=main", False),
        ("file:///{+path}", "file:///a/b/c.txt", True),
        ("file:///{path*}", "file:///a/b", True),
        ("file://host{/path*}", "file://host/a/b", True),
        ("log://{day}.txt", "log://2024-01-01.txt", True),
        ("log://{day}.txt", "log://2024-01-01.csv", False),
        ("search://x{?q,limit}", "search://x", True),
        ("search://x{?q,limit}", "search://x?q=a/b&limit=3", True),
        ("search://x{?q}", "search://xy", False),
        ("search://x?a=1{&q}", "search://x?a=1&q=2", True),
        ("a://{x}{y}", "a://1", False),
        ("a://{x}{y}", "a://12", True),
        ("a://plain", "a://plain", True),
        ("a://plain", "a://plaIn", False),
        ("a://{x}", "a://(.*)", True),
        ("a://b.c", "a://bxc", False),
    ],
)
def test_template_matches(template, uri, matches):
    assert ResourceTemplate(uri_template=template).matches(uri) is matches


def test_a_hostile_template_takes_no_exponential_time():
    template = ResourceTemplate(uri_template="a://" + "{x}-" * 40 + "end")
    assert not template.matches("a://" + "-" * 500)  # a backtracking engine would never end
