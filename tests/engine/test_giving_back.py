"""An idle process holds little: what questions opened is closed, what they worked out is forgotten."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from indexes import make

from findling import Engine
from findling.contracts import TOOLS, call
from findling.contracts.workspaces import Workspace
from findling.embedding import open_embedder
from findling.engine import memory
from findling.engine.memory import give_back
from findling.faces.mcp import desk as desk_module
from findling.model.remembered import forget_all, remembered

QUESTIONS = (("search_code", {"query": "where are failed requests retried"}), ("find_symbol", {"name": "RetryPolicy"}))


def open_in(folder: Path) -> list[str]:
    """Files below a folder that this process has open."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue  # the listing's own
    return [path for path in found if path.startswith(f"{folder}/")]


def found(workspace: Workspace) -> list[Any]:
    answers = [call(name, arguments, workspace).structured or {} for name, arguments in QUESTIONS]
    return [answers[0]["results"], answers[1]["symbols"]]


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed by Linux alone")
def test_a_workspace_that_rests_has_no_file_open_and_answers_as_before(tmp_path: Path) -> None:
    root = make(tmp_path / "project")
    with Workspace(root, root=root) as workspace:
        workspace.engine.index()
        before = found(workspace)
        assert before[0] and before[1]
        assert open_in(root / ".findling")
        workspace.rest()
        assert not open_in(root / ".findling")
        assert found(workspace) == before


@pytest.mark.skipif(sys.platform != "linux", reason="open files are listed by Linux alone")
def test_a_server_rests_after_its_last_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp.types import CallToolRequestParams

    monkeypatch.setattr(desk_module, "REST_S", 0.05)
    root = make(tmp_path / "project")
    with Engine.open(root=root) as engine:
        engine.index()
    asked = [CallToolRequestParams(name=name, arguments=arguments) for name, arguments in QUESTIONS]

    async def serve() -> None:
        desk = desk_module.Desk(list(TOOLS.values()), Workspace(root, root=root))
        context: Any = SimpleNamespace(request=None)  # as over stdio
        try:
            for _ in range(2):
                answers = await asyncio.gather(*(desk.call_tool(context, params) for params in asked))
                assert not any(answer.is_error for answer in answers)
                for _ in range(200):
                    await asyncio.sleep(0.05)
                    if not open_in(root / ".findling"):
                        break
                assert not open_in(root / ".findling")
        finally:
            await desk.close()

    asyncio.run(serve())


def test_what_is_remembered_is_forgotten_at_once() -> None:
    asked: list[int] = []

    @remembered(10)
    def twice(number: int) -> int:
        asked.append(number)
        return 2 * number

    assert [twice(4), twice(4)] == [8, 8]
    forget_all()
    assert twice(4) == 8
    assert asked == [4, 4]


def test_one_bundled_model_for_all_who_use_it() -> None:
    one, other = open_embedder(verify=False), open_embedder(verify=False)
    assert one is other
    assert open_embedder() is not one  # that one's files are compared with their checksums


def private_bytes() -> int:
    rollup = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in rollup if line.startswith("Private_")) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_free_memory_between_what_is_used_goes_back() -> None:
    give_back()
    before = private_bytes()
    # Larger than what Python keeps in its own pools, smaller than what is mapped apart; the last pins all before it.
    blocks = [bytes(20_000) for _ in range(3_000)]
    last = bytes(20_000)
    del blocks
    give_back()
    assert private_bytes() - before < 15_000_000
    assert len(last) == 20_000


def test_a_c_library_that_cannot_be_asked_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As musl's."""
    monkeypatch.setattr("ctypes.CDLL", lambda _: SimpleNamespace())
    memory._glibc.cache_clear()
    try:
        memory.expect_to_idle()
        give_back()
    finally:
        memory._glibc.cache_clear()
