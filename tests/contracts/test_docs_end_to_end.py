"""The document tools as a client of the protocol gets them, with searching by meaning and without."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from findling.config import Config
from findling.config.options import Semantic
from findling.contracts import TOOLS, Workspace
from findling.faces.mcp.desk import Desk, make_server

CALLS: dict[str, dict[str, Any]] = {
    "semantic_search": {"query": "when the network is down", "threshold": 0.2},
    "find_similar": {"docPath": "docs/guide.md"},
    "query_docs": {"query": "how often is a failed request sent again"},
}


def asked(root: Path, config: Config) -> dict[str, tuple[dict[str, Any], bool]]:
    async def ask() -> dict[str, tuple[dict[str, Any], bool]]:
        desk = Desk([TOOLS[name] for name in CALLS], Workspace(root, root=root, config=config))
        answers = {}
        try:
            async with Client(make_server(desk)) as client:
                for name, arguments in CALLS.items():
                    result = await client.call_tool(name, arguments)
                    assert result.structured_content is not None
                    answers[name] = (result.structured_content, bool(result.is_error))
        finally:
            await desk.close()
        return answers

    return asyncio.run(ask())


@pytest.mark.parametrize("by_meaning", [True, False])
def test_with_and_without_meaning(by_meaning: bool, indexed: Path) -> None:
    """S1-45, S0-15."""
    answers = asked(indexed, Config(semantic=Semantic(enabled=by_meaning)))
    answer, failed = answers["query_docs"]
    assert not failed
    assert "three times" in answer["answer"]
    assert answer["sources"][0]["path"] == "docs/guide.md"
    assert answer["meta"]["used_semantic"] is by_meaning
    found, failed = answers["semantic_search"]
    similar, also_failed = answers["find_similar"]
    if not by_meaning:
        assert failed and also_failed
        assert (
            found
            == similar
            == {
                "error": "semantic_disabled",
                "message": "Semantic search is disabled. Set semantic.enabled: true in config.",
            }
        )
        return
    assert not failed and not also_failed
    assert found["results"][0]["docPath"] == "docs/guide.md"
    assert found["meta"]["used_semantic"] is True
    assert [item["docPath"] for item in similar["similar"]] == ["five.txt"]
