"""A conversation's opening is answered from the description, and as the SDK would answer it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from described import ENVELOPED, HANDSHAKES, answers_of_the_sdk, described, enveloped, greeting, request
from hypothesis import given, settings
from hypothesis import strategies as st

from findling import __version__
from findling.contracts import TOOLS, select
from findling.contracts.tools import FAMILIES
from findling.faces.mcp.opening import (
    ALWAYS_LOAD,
    DESCRIPTION,
    MAX_BYTES,
    OPENING_ID,
    VERSION,
    Opening,
    listed,
    read_results,
)
from findling.faces.mcp.wire import Line
from sizes import size

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}

SETS: list[Sequence[str] | None] = [
    None,
    *(names for size in range(1, 5) for names in combinations(FAMILIES, size)),
    *([name] for name in TOOLS),
    ["repo", "search_code"],
]


def opening(names: Sequence[str] | None = None, *, delete: bool = False) -> Opening:
    return Opening(read_results(), select(names, allow_delete=delete))


def heard(opened: Opening, text: str) -> Any:
    """The answer to one line; None for none."""
    reply = opened.hear(Line(text.encode("utf-8", "surrogatepass"), too_long=False)).reply
    return None if reply is None else json.loads(reply)


def dialogue(version: str) -> list[Any]:
    if version in ENVELOPED:
        return [enveloped("server/discover", version), enveloped("tools/list", version)]
    return [greeting(version), INITIALIZED, request("ping"), request("tools/list")]


def test_the_description_is_what_the_sdk_answers() -> None:
    """``make description`` writes it anew."""
    assert json.loads(DESCRIPTION.read_text("utf-8").replace(VERSION, __version__)) == described()


@pytest.mark.parametrize("version", [*HANDSHAKES, *ENVELOPED, "1999-01-01"])
@pytest.mark.parametrize("delete", [False, True])
def test_every_revision_and_set_of_tools_is_answered_as_by_the_sdk(version: str, delete: bool) -> None:
    lines = [
        json.dumps({**message, "id": f"ü{n}"} if "id" in message else message)
        for n, message in enumerate(dialogue(version))
    ]
    for names in SETS if version in (HANDSHAKES[-1], *ENVELOPED) else SETS[:5]:
        opened = opening(names, delete=delete)
        replies = [reply for line in lines if (reply := heard(opened, line)) is not None]
        assert replies == answers_of_the_sdk(lines, names, delete=delete), names
        assert opened.is_done and not opened.is_over


CLIENT = {"title": "T", "description": "D", "websiteUrl": "https://a.example"}
ROOTS = {"roots": {"listChanged": True}}
ELICITS = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "tasks": {"requests": {"sampling": {"createMessage": {}}}},
}
EXTENDED = {"extensions": {"x.example/y": {"z": [1, None, "ü"]}}, "experimental": {"a": {"b": True}}}

USUAL = {
    "what clients tell of themselves": [greeting("2025-11-25", {**ROOTS, **ELICITS, **EXTENDED}, **CLIENT)],
    "a newer revision": [greeting("2031-01-01")],
    "the revision without a handshake": [greeting("2026-07-28"), request("tools/list")],
    "a token for progress": [
        greeting("2025-06-18"),
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/list",
            "params": {"_meta": {"progressToken": 1, "traceparent": "00-1"}},
        },
    ],
    "no haste": [greeting("2025-06-18"), INITIALIZED, *[request("ping"), request("tools/list")] * 3],
    "ahead of what is initialized": [greeting("2025-06-18"), request("tools/list"), INITIALIZED],
    "other notifications": [
        greeting("2025-06-18"),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}},
        {"jsonrpc": "2.0", "method": "notifications/nothing", "params": {"x": []}},
        request("tools/list"),
    ],
    "who asks": [
        enveloped("tools/list", "2026-07-28", **{"io.modelcontextprotocol/clientInfo": {"name": "n", "version": "1"}})
    ],
    "an id of many digits": [{**greeting("2025-06-18"), "id": 10**30}, {**request("ping"), "id": -1}],
}


@pytest.mark.parametrize("messages", USUAL.values(), ids=USUAL)
def test_what_clients_send_is_answered_at_once(messages: list[Any]) -> None:
    lines = list(map(json.dumps, messages))
    opened = opening()
    replies = [reply for line in lines if (reply := heard(opened, line)) is not None]
    assert replies == answers_of_the_sdk(lines)
    assert not opened.is_over


def changed(message: dict[str, Any], **params: Any) -> str:
    return json.dumps({**message, "params": {**message["params"], **params}})


GREETING, LIST = greeting("2025-11-25"), request("tools/list")
MODERN = enveloped("tools/list", "2026-07-28")
META = MODERN["params"]["_meta"]

UNUSUAL = {
    "no greeting": [json.dumps(LIST)],
    "a ping before the greeting": [json.dumps(request("ping"))],
    "a second greeting": [json.dumps(GREETING)] * 2,
    "a greeting without a client": [json.dumps(request("initialize", protocolVersion="2025-11-25", capabilities={}))],
    "a client without a version": [changed(GREETING, clientInfo={"name": "x"})],
    "a client with an icon": [changed(GREETING, clientInfo={"name": "x", "version": "1", "icons": []})],
    "capabilities that are none": [changed(GREETING, capabilities=[])],
    "a capability that is none": [changed(GREETING, capabilities={"sampling": True})],
    "roots that may be something": [changed(GREETING, capabilities={"roots": {"listChanged": "perhaps"}})],
    "an extension that is none": [changed(GREETING, capabilities={"extensions": {"x": 1}})],
    "a revision that is a number": [changed(GREETING, protocolVersion=20251125)],
    "more than a greeting": [changed(GREETING, more=1)],
    "a greeting in an envelope": [changed(GREETING, _meta=META)],
    "an envelope after a greeting": [json.dumps(GREETING), json.dumps(MODERN)],
    "no envelope after one": [json.dumps(MODERN), json.dumps(LIST)],
    "a greeting after an envelope": [json.dumps(MODERN), json.dumps(GREETING)],
    "an envelope of no revision": [json.dumps(enveloped("tools/list", "2031-01-01"))],
    "an envelope of a revision with a handshake": [json.dumps(enveloped("tools/list", "2025-11-25"))],
    "an envelope with half of it": [changed(MODERN, _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})],
    "an envelope with more in it": [changed(MODERN, _meta={**META, "io.modelcontextprotocol/logLevel": "info"})],
    "a page": [json.dumps(GREETING), json.dumps(request("tools/list", cursor="x"))],
    "a token that is none": [json.dumps(GREETING), json.dumps(request("ping", _meta={"progressToken": [1]}))],
    "another method": [json.dumps(GREETING), json.dumps(request("prompts/list"))],
    "a call": [json.dumps(GREETING), json.dumps(request("tools/call", name="nothing"))],
    "a method of the other era": [json.dumps(GREETING), json.dumps(request("server/discover"))],
    "text": ["this is not JSON"],
    "deep": ["[" * 5000 + "]" * 5000],
    "half an emoji": [json.dumps(greeting("2025-11-25", title="\ud83d"))],
    "a number that is none": [changed(GREETING, capabilities={"extensions": {"x": {"y": float("nan")}}})],
    "a mark of the byte order": ["\ufeff" + json.dumps(GREETING)],
    "bytes that are no text": [json.dumps(greeting("2025-11-25", title="?")).replace("?", "\udcff")],
    "an id of true": [json.dumps({**GREETING, "id": True})],
    "an id of null": [json.dumps({**GREETING, "id": None})],
    "no version": [json.dumps({key: GREETING[key] for key in ("id", "method", "params")})],
    "params that are a list": [json.dumps(GREETING), json.dumps({**LIST, "params": []})],
    "several at once": [json.dumps([GREETING])],
    "long": [json.dumps(greeting("2025-11-25", title="x" * MAX_BYTES))],
}


@pytest.mark.parametrize("lines", UNUSUAL.values(), ids=UNUSUAL)
def test_from_what_is_unusual_on_everything_is_left_to_the_sdk(lines: list[str]) -> None:
    opened = opening()
    before = [heard(opened, line) for line in lines[:-1]]
    assert None not in before and not opened.is_over
    for text in (lines[-1], json.dumps(LIST), json.dumps(request("ping"))):
        line = Line(text.encode("utf-8", "surrogatepass"), too_long=False)
        assert opened.hear(line) == (None, line)
    assert opened.is_over and opened.is_done


def test_a_line_that_is_too_long_is_left_to_the_sdk() -> None:
    opened = opening()
    assert opened.hear(Line(json.dumps(GREETING).encode(), too_long=True)).reply is None
    assert opened.is_over


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(0, 1) | st.sampled_from(["", "form", "2025-11-25"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["roots", "listChanged", "sampling", "elicitation", "extensions", "form", "progressToken"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=5,
)
PLACES = [
    "capabilities",
    "clientInfo",
    "protocolVersion",
    "_meta",
    "roots",
    "listChanged",
    "elicitation",
    "name",
    "title",
]


@settings(max_examples=size(37, 150), deadline=None)
@given(st.sampled_from(PLACES), VALUES, st.sampled_from([GREETING, MODERN]))
def test_whatever_a_greeting_says_it_is_answered_as_by_the_sdk_or_left_to_it(
    place: str, value: Any, first: Any
) -> None:
    message = json.loads(json.dumps(first))
    params = message["params"]
    inside = {
        "roots": lambda: params.setdefault("capabilities", {}),
        "listChanged": lambda: params.setdefault("capabilities", {}).setdefault("roots", {}),
        "elicitation": lambda: params.setdefault("capabilities", {}),
        "name": lambda: params.setdefault("clientInfo", {}),
        "title": lambda: params.setdefault("clientInfo", {}),
    }
    if first is MODERN and place in ("capabilities", "clientInfo"):
        key = f"io.modelcontextprotocol/client{place.removeprefix('client').capitalize()}"
        params["_meta"][key] = value
    else:
        inside.get(place, lambda: params)()[place] = value
    line = json.dumps(message)
    reply = heard(opening(), line)
    assert reply is None or [reply] == answers_of_the_sdk([line])


def test_the_sdk_hears_of_the_opening_under_another_id_and_with_the_revision_agreed_on() -> None:
    opened = opening()
    line = opened.hear(Line(json.dumps(greeting("2031-01-01")).encode(), too_long=False)).line
    assert line is not None
    told = json.loads(line.data)
    assert (told["id"], told["method"], told["params"]["protocolVersion"]) == (OPENING_ID, "initialize", HANDSHAKES[-1])
    assert opened.hear(Line(json.dumps(LIST).encode(), too_long=False)).line is None


def test_each_family_has_one_tool_that_models_see_at_once() -> None:
    always = [tool for tool in TOOLS.values() if listed(tool).get("_meta") == {ALWAYS_LOAD: True}]
    assert sorted(tool.family for tool in always) == sorted(FAMILIES)
    assert {tool.name for tool in TOOLS.values() if "_meta" in listed(tool)} == {tool.name for tool in always}


def test_the_opening_waits_for_neither_the_sdk_nor_the_engine(project: Path) -> None:
    code = f"""
        import pathlib, sys
        from findling.faces.mcp import serve, wire
        def meet(self, timeout_s):
            self._met.wait()
            heavy = {{"asyncio", "mcp", "pydantic", "pydantic_core", "apsw", "numpy", "findling.contracts.registry",
                      "findling.engine.engine", "findling.search"}}
            sys.stderr.write(f"loaded: {{sorted(heavy & set(sys.modules))}}")
            return False
        wire.Incoming.meet = meet
        serve(pathlib.Path({str(project)!r}))
    """
    lines = "".join(f"{json.dumps(message)}\n" for message in dialogue("2025-11-25"))
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], input=lines, capture_output=True, text=True)
    assert len(ran.stdout.splitlines()) == 3
    assert ran.stderr == "loaded: []"


@pytest.mark.parametrize("version", [*HANDSHAKES, *ENVELOPED])
def test_after_the_opening_the_conversation_goes_on(version: str, project: Path) -> None:
    """Each request is answered once, in the same process, those of the opening and those after it."""
    modern = version in ENVELOPED
    call = {"name": "find_symbol", "arguments": {"name": "work_1"}}
    rest = [
        request("tools/call", **call, **({"_meta": META} if modern else {})),
        enveloped("tools/list", version) if modern else LIST,
        request("no/such/method", **({"_meta": META} if modern else {})),
    ]
    numbered = [{**m, "id": n} if "id" in m else m for n, m in enumerate([*dialogue(version), *rest])]
    process = subprocess.Popen(
        [sys.executable, "-m", "findling", "serve", str(project)],
        stdin=-1,
        stdout=-1,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    answers = {}
    for message in numbered:
        process.stdin.write(f"{json.dumps(message)}\n")
        process.stdin.flush()
        if "id" in message:
            answer = json.loads(process.stdout.readline())
            assert answer["id"] == message["id"]
            answers[message["method"]] = answer
    process.stdin.close()
    assert process.stdout.read() == ""
    assert process.wait(30) == 0
    assert answers["tools/call"]["result"]["structuredContent"]["symbols"][0]["name"] == "work_1"
    assert answers["no/such/method"]["error"]["code"] == -32601


def test_a_client_that_only_looks_leaves_at_once(project: Path) -> None:
    lines = "".join(f"{json.dumps(message)}\n" for message in dialogue("2025-11-25"))
    ran = subprocess.run(
        [sys.executable, "-m", "findling", "serve", str(project)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, len(ran.stdout.splitlines()), ran.stderr) == (0, 3, "")
