"""Every sentence that the model reads, whole."""

from __future__ import annotations

import json

import pytest

from tests.support import make
from tool_search_processor.meta_tools.answers import (
    invalid_arguments_answer,
    load_answer,
    search_answer,
    search_result,
    signature,
    unload_answer,
)
from tool_search_processor.meta_tools.meta_tool_names import MetaToolNames
from tool_search_processor.meta_tools.receipts import Receipt, read_receipt, receipt
from tool_search_processor.meta_tools.texts import (
    catalog_text,
    clip,
    found_text,
    guard_text,
    instruction_text,
    inventory_text,
    left_text,
    loaded_text,
    meta_tool_refused_text,
    missing_tool_text,
    nothing_found_text,
    unknown_tags_text,
    unloaded_text,
)


def names_of(mode, *, allow_unload=False):
    return MetaToolNames(
        mode=mode, search="find", load="get", call="run", unload="drop", allow_unload=allow_unload
    )


BEFORE = "More tools are available than are listed. When no listed tool fits, search with find, "
AFTER = " Don't say that something can't be done before you have searched."
USES = {
    "load": "load what fits with get, and call it in your next step.",
    "auto_load": "and call what fits in your next step: what the search returns is loaded for you.",
    "call": "and run what fits with run.",
}
NEXT = {
    "load": 'get with {"tool_names": ["c"]}',
    "auto_load": "c",
    "call": 'run with {"name": "c"} and its arguments',
}


@pytest.mark.parametrize("mode", USES)
def test_the_instruction(mode):
    text = f"{BEFORE}{USES[mode]}{AFTER}"
    assert instruction_text(names_of(mode)) == text
    unload = " Free what you no longer need with drop."
    assert instruction_text(names_of(mode, allow_unload=True)) == f"{text}{unload}"


@pytest.mark.parametrize("mode", NEXT)
def test_the_loop_guard(mode):
    told = {
        "repeated": "You have searched for this before, and the results are the same.",
        "fruitless": "Your last searches have found nothing new.",
    }
    for kind, text in told.items():
        instead = f"Stop searching. Your next call: {NEXT[mode]}. If no result fits, say so."
        assert guard_text(kind, found=["c"], loaded=(), names=names_of(mode)) == f"{text} {instead}"
        have = " Loaded and callable: a, b. "
        told = guard_text(kind, found=["c", "a"], loaded=["a", "b"], names=names_of(mode))
        assert told == f"{text}{have}{instead}"


@pytest.mark.parametrize(
    ("found", "loaded", "end"),
    [
        ([], [], " Stop searching, and say that no tool fits."),
        ([], ["a"], " Loaded and callable: a. Stop searching: call one of them, or say that no tool fits."),
        (
            ["a"],
            ["a"],
            " Loaded and callable: a. Stop searching. Your next call: a. If no result fits, say so.",
        ),
    ],
    ids=["nothing", "nothing, but some are loaded", "all are loaded"],
)
def test_the_loop_guard_names_what_can_be_done(found, loaded, end):
    text = guard_text("fruitless", found=found, loaded=loaded, names=names_of("load"))
    assert text == f"Your last searches have found nothing new.{end}"


@pytest.mark.parametrize(
    ("mode", "fields", "text"),
    [
        ("call", {"found": 1}, "Found 1 tool. Run one with run."),
        ("call", {"found": 2}, "Found 2 tools. Run one with run."),
        ("load", {"found": 2}, "Found 2 tools. Load what you need with get; call it in your next step."),
        (
            "load",
            {"found": 3, "before": ["a", "b"]},
            "Found 3 tools. Load what you need with get; call it in your next step. Loaded before; load "
            "again before you call it: a, b.",
        ),
        (
            "auto_load",
            {"found": 2, "newly_loaded": ["a", "b"], "loaded": 2},
            "Found 2 tools. Loaded: a, b; callable from your next step.",
        ),
        ("load", {"found": 1, "loaded": 1}, "Found 1 tool. It is loaded already: call it."),
        ("load", {"found": 2, "loaded": 2}, "Found 2 tools. They are loaded already: call them."),
        ("auto_load", {"found": 1, "loaded": 1}, "Found 1 tool. It is loaded already: call it."),
        ("auto_load", {"found": 2, "loaded": 2}, "Found 2 tools. They are loaded already: call them."),
        (
            "auto_load",
            {"found": 2, "loaded": 1},
            "Found 2 tools. Those marked as loaded can be called now.",
        ),
        ("auto_load", {"found": 2}, "Found 2 tools, none of which can be loaded."),
        ("auto_load", {"found": 1}, "Found 1 tool, which can't be loaded."),
        (
            "auto_load",
            {"found": 2, "full": ["a", "b"], "limit": 1},
            "Found 2 tools. Not loaded, since at most 1 tool can be loaded and all are in use: a, b.",
        ),
        (
            "auto_load",
            {"found": 2, "newly_loaded": ["a"], "loaded": 1, "full": ["b"], "limit": 3},
            "Found 2 tools. Loaded: a; callable from your next step. Not loaded, since at most 3 tools "
            "can be loaded and all are in use: b.",
        ),
        (
            "auto_load",
            {"found": 2, "unavailable": True},
            "Found 2 tools, none of which can be loaded right now.",
        ),
    ],
)
def test_what_was_found(mode, fields, text):
    assert found_text(names_of(mode), **{"newly_loaded": (), "loaded": 0, **fields}) == text


RETRY = (
    "Try other words once, for the action and the thing it acts on; if that finds nothing, no tool fits: "
    "stop searching and say so."
)


@pytest.mark.parametrize(
    ("queries", "tags", "text"),
    [
        (["a"], (), f"No tool matches 'a'. {RETRY}"),
        (["a", "b", "c", "d"], (), f"No tool matches 'a' or 'b' or 'c'. {RETRY}"),
        (["a"], {"x", "w"}, "No tool matches 'a' with a tag of w, x. Search again without tags."),
        (
            ["a"],
            {"x", "w", "z", "v", "u"},
            "No tool matches 'a' with a tag of u, v, w and 2 more. Search again without tags.",
        ),
    ],
)
def test_nothing_was_found(queries, tags, text):
    assert nothing_found_text(queries, tags=tags) == text


def test_everything_that_a_load_can_tell():
    assert loaded_text(
        names_of("load"),
        loaded=["a", "b"],
        already=["c", "d"],
        missing={"e": ["x", "y"], "f": []},
        full=["g", "h"],
        limit=3,
        evicted=["i", "j"],
        unavailable=["k", "l"],
    ) == (
        "Loaded a, b: callable from your next step. No longer loaded, to make room: i, j. Already loaded: "
        "c, d. Call them. Not found: e (did you mean x or y?), f. Search for tools by what they do, with "
        "find. Not loaded, since at most 3 tools can be loaded and all are in use: g, h. Loading "
        "does not work right now, so these were not loaded: k, l. Try again later in this conversation."
    )
    assert loaded_text(names_of("load"), loaded=(), already=(), missing={}, full=(), limit=0) == ""


@pytest.mark.parametrize("mode", ["load", "auto_load"])
def test_where_a_model_can_unload_it_is_told_how_to_make_room(mode):
    names = names_of(mode, allow_unload=True)
    room = "Not loaded, since at most 1 tool can be loaded and all are in use: a. Make room with drop."
    assert loaded_text(names, loaded=(), already=(), missing={}, full=["a"], limit=1) == room
    assert (
        found_text(
            names_of("auto_load", allow_unload=True), found=1, newly_loaded=(), loaded=0, full=["a"], limit=1
        )
        == f"Found 1 tool. {room}"
    )


def test_everything_that_an_unload_can_tell():
    assert unloaded_text(unloaded=["a", "b"], missing=["c", "d"]) == "Unloaded a, b. Not loaded: c, d."
    assert unloaded_text(unloaded=(), missing=()) == ""


@pytest.mark.parametrize("count", [0, -1])
def test_nothing_is_said_of_nothing_left(count):
    assert left_text(count) == ""


def test_what_is_left():
    assert left_text(1) == " 1 more names were left out: give at most 100 at a time."


@pytest.mark.parametrize(
    ("suggestions", "mode", "text"),
    [
        ((), None, "There is no tool 'x' to call."),
        (["a", "b"], None, "There is no tool 'x' to call. Did you mean a or b?"),
        (["a"], "load", "There is no tool 'x' to call. Did you mean a? Find tools with find."),
    ],
)
def test_a_missing_tool(suggestions, mode, text):
    names = mode and names_of(mode)
    assert missing_tool_text("x", suggestions=suggestions, names=names) == text


TRIED = "There is no tool 'x' to call. Did you mean a? You have tried it before. Your next call:"


@pytest.mark.parametrize(
    ("mode", "next_call"),
    [
        ("load", 'get with {"tool_names": ["a"]}, or find.'),
        ("auto_load", "a, or find."),
        ("call", 'run with {"name": "a"} and its arguments, or find.'),
    ],
)
def test_a_missing_tool_that_was_tried_before(mode, next_call):
    text = missing_tool_text("x", suggestions=["a"], names=names_of(mode), repeated=True)
    assert text == f"{TRIED} {next_call}"
    assert missing_tool_text("x", suggestions=(), names=names_of(mode), repeated=True) == (
        "There is no tool 'x' to call. You have tried it before. Your next call: find, with what you need to "
        "do in a few words."
    )


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"already": ["a"]},
            "Already loaded: a. Call it. You have asked for this before. Your next call: a.",
        ),
        (
            {"missing": {"x": ["a"], "y": []}},
            "Not found: x (did you mean a?), y. Search for tools by what they do, with find. You have asked "
            'for this before. Your next call: get with {"tool_names": ["a"]}, or find.',
        ),
        (
            {"missing": {"x": []}},
            "Not found: x. Search for tools by what they do, with find. You have asked for this before. Your "
            "next call: find, with what you need to do in a few words.",
        ),
    ],
)
def test_a_load_that_was_asked_for_before(fields, text):
    given = {"loaded": (), "already": (), "missing": {}, "full": (), "limit": 9, **fields}
    assert loaded_text(names_of("load"), **given, repeated=True) == text


@pytest.mark.parametrize(
    ("found", "tags", "loaded", "text"),
    [
        (
            (),
            (),
            (),
            "find with other words, for the action and the thing it acts on; or say that no tool fits.",
        ),
        ((), {"t"}, (), "find without tags."),
    ],
)
def test_a_search_without_a_match_that_comes_again_is_told_what_else_to_search_for(found, tags, loaded, text):
    told = guard_text("repeated", found=found, loaded=loaded, names=names_of("load"), tags=tags)
    assert told == f"You have searched for this before, and the results are the same. Your next call: {text}"


def test_the_tags_that_were_left_out():
    assert unknown_tags_text(()) == ""
    assert unknown_tags_text({"b", "a"}) == "Left out tags that no tool has: a, b. "


@pytest.mark.parametrize(
    ("mode", "is_all", "head"),
    [
        ("load", True, "All tools that can be found. Load them by name with get, without a search:"),
        (
            "load",
            False,
            "Some of the tools that can be found. Load them by name with get, without a search; "
            "find more with find:",
        ),
        ("auto_load", True, "All tools that can be found. Search for a name with find to load it:"),
        (
            "auto_load",
            False,
            "Some of the tools that can be found. Search for a name with find to load it; "
            "find more with find:",
        ),
        ("call", True, "All tools that can be found. Search for a name with find to see its parameters:"),
    ],
)
def test_the_list_of_tools_says_whether_it_is_all_and_how_to_use_it(mode, is_all, head):
    assert catalog_text(["- a: b", "- c"], names_of(mode), is_all=is_all) == f"{head}\n- a: b\n- c"


def test_other_sentences():
    names = names_of("call")
    assert meta_tool_refused_text("find", names=names) == "find can't be run through run: call it directly."
    assert inventory_text(3, {}) == "There are 3 of them."
    assert inventory_text(3, {"x": 2, "y": 1}) == "There are 3 of them, including those for: x (2), y (1)."
    many = inventory_text(50, {f"n{n}": 1 for n in range(22)})
    assert many.endswith("n18 (1), n19 (1) and 2 more namespaces.")


def test_an_echo_is_80_characters_at_most():
    assert clip("x" * 80) == "x" * 80
    assert clip("x" * 81) == "x" * 79 + "…"


# -- shapes


def test_the_shapes_are_always_the_same():
    note = receipt(["a"])
    assert search_answer([{"x": 1}], total=3, message="m") == {
        "results": [{"x": 1}],
        "total": 3,
        "message": "m",
    }
    assert search_answer((), total=None, message="m", receipt=note) == {
        "results": [],
        "total": None,
        "message": "m",
        "receipt": note,
    }
    assert load_answer(message="m") == {
        "loaded": [],
        "already_loaded": [],
        "not_found": [],
        "message": "m",
    }
    assert unload_answer(message="m", receipt=note) == {
        "unloaded": [],
        "not_loaded": [],
        "message": "m",
        "receipt": note,
    }


@pytest.mark.parametrize("loaded", [True, False])
def test_the_answer_to_wrong_arguments(loaded):
    tool = make("a", parameters={"type": "object", "properties": {"x": {}}})
    now = " The tool is loaded now." if loaded else ""
    assert invalid_arguments_answer(tool, problem="p", loaded=loaded) == {
        "error": "p",
        "parameters": {"type": "object", "properties": {"x": {}}},
        "message": f"a was not run.{now} Call it again with arguments that fit its parameters.",
    }


@pytest.mark.parametrize(("score", "shown"), [(0.12345, 0.123), (1.0, 1.0), (0.0001234, 0.0001234)])
def test_scores_have_three_places_and_are_never_rounded_to_nothing(score, shown):
    assert search_result(make("a"), score=score, loaded=True, detail="brief") == {
        "name": "a",
        "description": "Does a.",
        "score": shown,
        "loaded": True,
    }


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "string"}, "a?: string"),
        ({"enum": ["ü", 1, None]}, 'a?: "ü"|1|null'),
        ({"type": ["string", "null"]}, "a?: string|null"),
        ({"type": "array"}, "a?: any[]"),
        ({"type": "array", "items": {"type": "integer"}}, "a?: integer[]"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}, "a?: string|null"),
        ({"oneOf": [{"type": "number"}, {"$ref": "#/$defs/Point"}]}, "a?: number|Point"),
        ({"$ref": "#/$defs/Point"}, "a?: Point"),
        ({}, "a?: any"),
        (True, "a?: any"),
        ({"type": "string", "default": "ü"}, 'a?: string = "ü"'),
        ({"type": "integer", "default": 0}, "a?: integer = 0"),
        ({"type": "string", "default": "x" * 28}, f'a?: string = "{"x" * 28}"'),
        ({"type": "string", "default": "x" * 29}, "a?: string = …"),
        ({"type": "string", "default": None}, "a?: string"),
    ],
)
def test_a_parameter_in_a_signature(schema, word):
    parameters = {"type": "object", "properties": {"a": schema}, "$defs": {"Point": {"type": "object"}}}
    assert signature(make("f", parameters=parameters)) == f"f({word})"


def test_required_parameters_bear_no_question_mark():
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}
    assert signature(make("f", parameters=schema)) == "f(a: string, b?: any)"
    assert signature(make("f")) == "f()"


# -- receipts


@pytest.mark.parametrize("kind", ["loaded", "unloaded"])
def test_a_receipt_is_read_back_as_it_was_written(kind):
    note = receipt(("a", "b"), kind=kind, evicted=["c"])
    assert note == {"type": f"tool-search/{kind}", "v": 1, "names": ["a", "b"], "evicted": ["c"]}
    assert "evicted" not in receipt(["a"])
    answer = json.dumps({"message": "m", "receipt": note})
    assert read_receipt(answer) == Receipt(kind=kind, names=("a", "b"), evicted=("c",))
