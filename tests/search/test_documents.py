"""What search sees of a tool."""

from tool_search_processor.search.documents import document_of
from tool_search_processor.search.protocol import Document
from tool_search_processor.tools import Tool


def of(schema, **fields):
    return document_of(Tool("get_user", parameters=schema, **fields))


def test_every_field_of_a_tool():
    tool = Tool(
        "get_user",
        "Find a user.",
        {"type": "object", "properties": {"user_id": {"type": "string", "description": "Whom."}}},
        namespace="crm",
        tags=["b", "a"],
        keywords=["person"],
    )
    assert document_of(tool) == Document(
        name="get_user",
        namespace="crm",
        description="Find a user.",
        tags=("a", "b"),
        keywords=("person",),
        parameter_names=("user_id",),
        parameter_texts=("Whom.",),
    )


def test_a_tool_without_parameters():
    assert document_of(Tool("ping")) == Document(name="ping")


def test_texts_are_found_at_any_depth_and_once():
    document = of(
        {
            "title": "getUserArguments",
            "properties": {
                "who": {
                    "anyOf": [
                        {"description": "By id", "type": "integer"},
                        {"properties": {"mail": {"description": "Address"}}},
                        {"allOf": [{"oneOf": [{"const": "me"}, {"enum": ["all", 7, None, True]}]}]},
                    ]
                },
                "filters": {"type": "array", "items": {"properties": {"field": {"description": "By id"}}}},
                "pair": {"prefixItems": [{"description": "First"}], "items": [{"description": "Old style"}]},
                "extra": {"additionalProperties": {"description": "Any more"}},
                "keyed": {"patternProperties": {"^x": {"description": "Prefixed"}}},
                "description": {"type": "string"},
            },
        }
    )
    assert document.parameter_names == (
        "who", "mail", "filters", "field", "pair", "extra", "keyed", "description",
    )  # fmt: skip
    assert document.parameter_texts == (
        "By id", "Address", "me", "all", "7", "First", "Old style", "Any more", "Prefixed",
    )  # fmt: skip


def test_references_and_definitions_are_read_cycles_included():
    document = of(
        {
            "properties": {
                "tree": {"$ref": "#/$defs/Node"},
                "other": {"$ref": "#/components/Odd"},
                "again": {"$ref": "#/components/Odd"},
                "self": {"$ref": "#"},
                "gone": {"$ref": "#/nowhere"},
                "broken": {"$ref": 3},
            },
            "$defs": {"Node": {"properties": {"left": {"$ref": "#/$defs/Node", "description": "Left side"}}}},
            "definitions": {"Old": {"description": "An old one"}},
            "components": {"Odd": {"description": "Odd place", "items": {"$ref": "#/components/Odd"}}},
        }
    )
    assert document.parameter_names == ("tree", "other", "again", "self", "gone", "broken", "left")
    assert document.parameter_texts == ("Odd place", "Left side", "An old one")


def test_titles_count_where_they_say_more_than_the_name():
    document = of(
        {
            "properties": {
                "user_id": {"title": "User Id"},
                "q": {"title": "Search words"},
                "nested": {"title": "nested", "items": {"title": "Element"}},
            }
        }
    )
    assert document.parameter_texts == ("Search words", "Element")


def test_the_tools_own_description_is_not_repeated():
    document = of(
        {"description": "Find.", "properties": {"a": {"description": "Other."}}}, description="Find."
    )
    assert document.parameter_texts == ("Other.",)


def test_foreign_names_and_titles_join_the_keywords():
    tool = Tool.from_mcp({"name": "crm/users.get", "title": "Look up a person"}, keywords=["who"])
    assert document_of(tool).keywords == ("who", "crm/users.get", "Look up a person")
    same = Tool.from_mcp({"name": "get_user", "title": "Get User"}, metadata={"original_name": "get_user"})
    assert document_of(same).keywords == ()


def test_odd_schemas_are_read_as_far_as_they_go():
    document = of({"properties": ["a"], "items": True, "anyOf": "x", "enum": "one", "$defs": 3, "not": None})
    assert document.parameter_names == ()
    assert document.parameter_texts == ("one",)


def test_equal_tools_make_equal_documents():
    schema = {"properties": {"a": {"enum": ["x", "y"]}}}
    assert of(schema, tags={"b", "a"}) == of(schema, tags={"a", "b"})
