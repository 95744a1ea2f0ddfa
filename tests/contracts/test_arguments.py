"""Arguments are checked against the published schema, for every tool, and refused in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import TOOLS, Workspace, call, registry
from findling.contracts.model import Refusal
from findling.contracts.registry import CODE_CODES
from findling.contracts.schema import validate
from findling.contracts.symbols import kinds_of
from findling.contracts.tools import LIKE_CODE, Tool, object_schema
from findling.engine.library.fetching.fetch_requests import (
    DEFAULT_FILE_MB,
    INCLUDED,
    MAX_FILE_MB,
    MAX_PATTERN,
    MAX_PATTERNS,
)
from findling.faces.mcp.desk import INSTRUCTIONS
from findling.model.errors import FindlingError
from findling.model.types import SYMBOL_KINDS
from findling.search.pattern_syntax import MAX_PATTERN_CHARS

NAMES = sorted(TOOLS)
SCHEMA = object_schema(
    {
        "query": {"type": "string", "minLength": 1, "maxLength": 20},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "start": {"type": "integer", "minimum": 0, "default": 0},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "deep": {"type": "boolean", "default": True},
        "scope": object_schema({"tags": {"type": "array", "maxItems": 2, "items": {"type": "string"}}}),
    },
    ("query",),
)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "The arguments must be a JSON object, not an array."),
        ({}, "Parameter `query` is required: a string."),
        ({"query": "  \n"}, "Parameter `query` must not be blank."),
        ({"query": 5}, "Parameter `query` must be a string."),
        ({"query": None}, "Parameter `query` must be a string."),
        ({"query": "x" * 21}, "Parameter `query` must have at most 20 characters, not 21."),
        ({"query": "a\0b"}, "Parameter `query` must not contain NUL characters."),
        ({"query": "a\ud800b"}, "Parameter `query` must be valid Unicode."),
        ({"query": "x", "limit": 0}, "Parameter `limit` must be an integer between 1 and 100."),
        ({"query": "x", "limit": 101}, "Parameter `limit` must be an integer between 1 and 100."),
        ({"query": "x", "limit": "5"}, "Parameter `limit` must be an integer between 1 and 100."),
        ({"query": "x", "limit": True}, "Parameter `limit` must be an integer between 1 and 100."),
        ({"query": "x", "limit": 2.5}, "Parameter `limit` must be an integer between 1 and 100."),
        ({"query": "x", "top_k": 0}, "Parameter `top_k` must be an integer between 1 and 100."),
        ({"query": "x", "top_k": 1, "limit": 1}, "Parameters `top_k` and `limit` are the same; give one of them."),
        ({"query": "x", "share": 1.01}, "Parameter `share` must be a number between 0.0 and 1.0."),
        ({"query": "x", "share": float("nan")}, "Parameter `share` must be a number between 0.0 and 1.0."),
        ({"query": "x", "start": -1}, "Parameter `start` must be an integer of at least 0."),
        (
            {"query": "x", "start": 10**400},
            "Parameter `start` must be an integer of at least 0; the number is too large.",
        ),
        (
            {"query": "x", "share": -(10**5000)},
            "Parameter `share` must be a number between 0.0 and 1.0; the number is too large.",
        ),
        ({"query": "x", "start": 1e300}, "Parameter `start` must be an integer of at least 0."),
        ({"query": "x", "kind": "c"}, "Parameter `kind` must be one of a, b."),
        ({"query": "x", "deep": 1}, "Parameter `deep` must be true or false."),
        ({"query": "x", "scope": []}, "Parameter `scope` must be an object."),
        ({"query": "x", "scope": {"tags": "t"}}, "Parameter `scope.tags` must be an array."),
        ({"query": "x", "scope": {"tags": [1]}}, "Parameter `scope.tags[0]` must be a string."),
        (
            {"query": "x", "scope": {"tags": ["a", "b", "c"]}},
            "Parameter `scope.tags` must have at most 2 items, not 3.",
        ),
    ],
)
def test_what_is_wrong_is_named(arguments: Any, message: str) -> None:
    """D18, D27: a request out of range is refused, and one that gives a limit twice."""
    with pytest.raises(Refusal) as refused:
        validate(SCHEMA, arguments)
    assert (refused.value.code, refused.value.message) == ("invalid_input", message)


def test_an_unknown_argument_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(Refusal, match=r"`limits` is not known\. Did you mean `limit`\? Valid parameters: `query`, "):
        validate(SCHEMA, {"query": "x", "limits": 3})
    with pytest.raises(Refusal, match=r"`scope\.tag` is not known\. Did you mean `scope\.tags`\?"):
        validate(SCHEMA, {"query": "x", "scope": {"tag": []}})
    with pytest.raises(Refusal, match="There are no parameters"):
        validate(object_schema({}), {"x": 1})


def test_zero_and_false_are_values_and_defaults_fill_only_what_is_absent() -> None:
    taken = validate(SCHEMA, {"query": "x", "share": 0, "start": 0, "deep": False, "limit": 3.0})
    assert taken == {"query": "x", "share": 0, "start": 0, "deep": False, "limit": 3}
    assert validate(SCHEMA, {"query": "x"}) == {"query": "x", "limit": 10, "start": 0, "deep": True}


def test_limit_and_top_k_stand_for_each_other(good_calls: Mapping[str, Mapping[str, Any]]) -> None:
    """D18: in every tool that has one of them, with its own default."""
    others = {"search_docs": 20, "find_similar": 5, "search_keyword": 20, "find_symbol": 50}
    other = {"limit": "top_k", "top_k": "limit"}
    tested = set()
    for name, given in good_calls.items():
        schema, arguments = TOOLS[name].schema, dict(given)
        if "limit" in schema["properties"].get("options", {}).get("properties", {}):
            assert validate(schema, {**arguments, "options": {"top_k": 4}})["options"]["limit"] == 4, name
        for own in other.keys() & schema["properties"].keys():
            arguments.pop(own, None)
            assert validate(schema, {**arguments, other[own]: 4})[own] == 4, name
            assert validate(schema, arguments)[own] == others.get(name, 10), name
            tested.add(name)
    assert len(tested) == 9, tested


# --- every tool ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_published_schemas_have_bounds_and_refuse_what_they_do_not_know(name: str) -> None:
    schema = TOOLS[name].schema
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) <= set(schema["properties"])
    for key, wanted in schema["properties"].items():
        if wanted["type"] == "string":
            cut = key == "query" and name != "search_keyword"  # however long: its beginning is searched for
            assert "enum" in wanted or (wanted["minLength"] == 1 and cut != ("maxLength" in wanted)), key
        if wanted["type"] in ("integer", "number"):
            assert "minimum" in wanted, key
    shown = json.dumps(TOOLS[name].published_schema)
    assert "Length" not in shown and shown.count('"additionalProperties": false') == shown.count('"object"')


def cost(tool: Tool) -> float:
    """Tokens that a client pays for knowing a tool, as it is sent: four characters each."""
    sent = {"name": tool.name, "description": tool.summary, "inputSchema": tool.published_schema}
    return len(json.dumps(sent, separators=(",", ":"))) / 4


def test_what_clients_pay_for_knowing_the_tools() -> None:
    assert sum(map(cost, TOOLS.values())) <= 3_500
    assert sum(cost(tool) for tool in TOOLS.values() if tool.family in LIKE_CODE) <= 1_100
    assert len(INSTRUCTIONS.split("\n")) == 5
    assert len(INSTRUCTIONS) / 4 <= 150


def test_a_description_has_an_example_of_arguments_that_are_accepted() -> None:
    for tool in TOOLS.values():
        _, example, arguments = tool.summary.partition("Example: ")
        assert example or tool.destructive or len(tool.schema["required"]) == 0 or tool.name == "get_job_status"
        if example:
            validate(tool.schema, json.loads(arguments))


def test_a_file_that_is_none_is_told_with_the_nearest_of_every_root(indexed: Path, tmp_path: Path) -> None:
    """As a path of the same form: below a root's name, or absolute."""
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "notes.md").write_text("# Notes\n", encoding="utf-8")
    wrong, right = str(indexed / "docs" / "giude.md"), str(indexed / "docs" / "guide.md")
    with Workspace(indexed, root=indexed) as alone:
        for name, argument in (("get_file", "path"), ("get_file_outline", "path"), ("find_similar", "docPath")):
            said = call(name, {argument: "docs/giude.md"}, alone).text_blocks[0]
            assert "Did you mean docs/guide.md?" in said, name
        assert f"Did you mean {right}?" in call("get_file_details", {"filePath": wrong}, alone).text_blocks[0]
    with Workspace(roots=[indexed, other]) as both:
        said = call("get_file", {"path": f"{indexed.name}/docs/giude.md"}, both).text_blocks[0]
        assert f"Did you mean {indexed.name}/docs/guide.md?" in said
        assert "Did you mean" not in call("get_file", {"path": "other/docs/giude.md"}, both).text_blocks[0]


def bad_arguments(name: str) -> list[dict[str, Any]]:
    """Arguments that the tool must refuse: unknown, of a wrong type, missing, blank and out of bounds."""
    schema = TOOLS[name].schema
    good: dict[str, Any] = dict.fromkeys(schema["required"], "x")
    bad: list[dict[str, Any]] = [{**good, "no_such_argument": 1}]
    if good:
        bad.append({})
    for key, wanted in schema["properties"].items():
        bad.append({**good, key: {"wrong": "type"}})
        if wanted.get("minLength"):
            bad.append({**good, key: "  "})
        if "enum" in wanted:
            bad.append({**good, key: "no such value"})
        if "minimum" in wanted:
            bad.append({**good, key: wanted["minimum"] - 1})
        if "maximum" in wanted:
            bad.append({**good, key: wanted["maximum"] + 1})
    return bad


@pytest.mark.parametrize("name", NAMES)
def test_bad_arguments_of_every_tool(name: str, workspace: Workspace) -> None:
    """S2-3, D10: codes of the registry; the argument is named in every family's own shape."""
    for arguments in bad_arguments(name):
        result = call(name, arguments, workspace)
        assert result.is_error, arguments
        wrong = next((key for key in arguments if arguments[key] != "x"), None)
        text = result.text_blocks[0]
        assert wrong is None or f"`{wrong}`" in text or f"`{wrong}." in text, (arguments, text)
        if TOOLS[name].family in LIKE_CODE:
            assert result.structured is not None
            assert result.structured["error"]["code"] == "invalid_input"
            assert result.structured["error"]["code"] in CODE_CODES
            assert result.structured["metadata"]["codecompass_protocol_version"] == "1.0"
            assert json.loads(text) == result.structured
        elif TOOLS[name].family == "docs":
            assert result.structured is not None
            assert set(result.structured) == {"error", "message"}
            assert result.structured["error"] == "invalid_input"
            assert json.loads(text) == result.structured
        else:
            assert result.structured is None
            begins = f"{name} failed (processing): " if TOOLS[name].family == "library" else ""
            assert text.startswith(f"{begins}Parameter"), text


def test_every_failure_of_the_code_family_has_a_code_of_the_registry() -> None:
    """S2-3."""

    def below(kind: type[FindlingError]) -> Iterator[type[FindlingError]]:
        yield kind
        for each in kind.__subclasses__():
            yield from below(each)

    every = {kind.code for kind in below(FindlingError)}
    assert {"index_unavailable", "network_error"} <= every
    assert {registry.refusal_of(Refusal(code, "why"), "code").code for code in every} <= CODE_CODES


def test_a_refusal_opens_no_index(project: Path) -> None:
    with Workspace(project, root=project) as workspace:
        assert call("hybrid_search", {"query": ""}, workspace).is_error
    assert not (project / ".findling").exists()


def properties(name: str) -> dict[str, Any]:
    return dict(TOOLS[name].schema["properties"])


def test_the_published_bounds_are_those_that_are_kept() -> None:
    assert properties("locate_symbol")["kind"]["enum"] == list(SYMBOL_KINDS)
    assert all(kinds_of(kind) & set(SYMBOL_KINDS) for kind in properties("find_symbol")["kind"]["enum"])
    assert properties("search_keyword")["query"]["maxLength"] == MAX_PATTERN_CHARS
    size = properties("fetch_file")["options"]["properties"]["maxFileSizeMB"]
    assert (size["default"], size["maximum"]) == (DEFAULT_FILE_MB, MAX_FILE_MB)
    patterns = properties("fetch_repo")["options"]["properties"]
    for option in ("includePatterns", "excludePatterns"):
        assert patterns[option]["maxItems"] == MAX_PATTERNS
        assert patterns[option]["items"]["maxLength"] == MAX_PATTERN
    assert all(pattern in patterns["includePatterns"]["description"] for pattern in INCLUDED)


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_has_a_handler(name: str) -> None:
    module, _, function = TOOLS[name].run.partition(":")
    assert callable(getattr(import_module(f"findling.contracts.{module}"), function))
