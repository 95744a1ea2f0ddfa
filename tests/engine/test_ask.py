"""`Engine.ask`: one pass over the index, with all that contracts say of it; `search` is a form of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import Workspace, call
from findling.engine import Engine
from findling.engine import engine as engine_module
from findling.model.errors import EmbedderUnavailable, InvalidInput
from findling.model.types import Gate, Query
from findling.search.fusion import MAX_NAMES
from findling.search.searcher import Searcher
from findling.store.local.fulltext import FulltextReader
from findling.store.local.reader import IndexReader

QUESTION = "how is a failed request sent again"
FILES = {
    "src/client.py": '"""Requests."""\n\n\ndef retry_failed(request):\n'
    '    """Send a failed request again after a pause."""\n    return request.send()\n',
    "src/policy.py": "def retry_delay(attempt):\n    return 2**attempt\n",
    "src/invoice.py": 'def total(lines):\n    """The sum of all lines with tax."""\n    return sum(lines)\n',
    "docs/guide.md": "# Guide\n\n## Trouble\n\nA request that failed is sent again a little later.\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("asked").resolve()
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(root=root) as opened:
        opened.index()
    return root


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root=root) as opened:
        yield opened


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the index is gone over, the disk looked at, and the text index searched."""
    counts: Counter[str] = Counter()

    def count(owner: Any, name: str, what: str) -> None:
        original = getattr(owner, name)

        def counting(*args: Any, **options: Any) -> Any:
            counts[what] += 1
            return original(*args, **options)

        monkeypatch.setattr(owner, name, counting)

    count(Searcher, "search", "passes")
    count(engine_module, "freshen", "looks")
    count(FulltextReader, "search", "full text")
    return counts


@pytest.mark.parametrize("query", [QUESTION, "retry_failed", "src/policy.py", '"little later"', "invoice"])
@pytest.mark.parametrize("tool", ["search_code", "hybrid_search", "search_semantic"])
def test_a_tool_asks_once(tool: str, query: str, root: Path, done: Counter[str]) -> None:
    with Workspace(root, root=root) as workspace:
        assert not call(tool, {"query": query}, workspace).is_error
    assert (done["passes"], done["looks"]) == (1, 1)
    assert done["full text"] <= 2


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("semantic_search", {"query": QUESTION}),
        ("query_docs", {"query": QUESTION}),
        ("search_docs", {"query": "request"}),
        ("find_similar", {"docPath": "docs/guide.md"}),
    ],
)
def test_a_tool_of_documents_looks_once(tool: str, arguments: dict[str, Any], root: Path, done: Counter[str]) -> None:
    with Workspace(root, root=root) as workspace:
        assert not call(tool, arguments, workspace).is_error
    assert done["looks"] == 1
    assert done["full text"] <= 2


@pytest.mark.parametrize("mode", ["auto", "keyword", "symbol", "semantic", "exact", "hybrid"])
def test_search_is_what_ask_gives(mode: Any, engine: Engine) -> None:
    found, asked = engine.search("retry_failed", mode=mode), engine.ask(Query("retry_failed", mode=mode)).result
    assert (found.hits, found.total, found.confidence) == (asked.hits, asked.total, asked.confidence)
    assert found.hits


@pytest.mark.parametrize("target", ["src/client.py", "src/client.py:2"])
def test_what_is_like_a_file_is_what_ask_gives(target: str, engine: Engine) -> None:
    found, answer = engine.similar(target), engine.ask(Query(target, like=True))
    assert found.hits and (found.hits, found.mode) == (answer.result.hits, "semantic")
    assert "src/client.py" not in [hit.path for hit in found.hits] and answer.ran == {"semantic"}
    assert [grounds.ranks["semantic"] for _, grounds in answer.places] == [*range(1, len(found.hits) + 1)]
    later = engine.ask(Query(target, like=True, offset=1)).result
    assert [hit.path for hit in later.hits] == [hit.path for hit in found.hits[1:]] and later.offset == 1


def test_what_speaks_for_each_hit(engine: Engine) -> None:
    answer = engine.ask(Query(QUESTION, gate=Gate({"natural_language": 0.5}), place_lines=2))
    assert answer.meaning.ran and answer.meaning.skipped is None and answer.meaning.ratio == 0.5
    assert answer.ran == {"keyword", "symbol", "semantic"}
    assert set(answer.timings_ms) == {"freshness", "search"}
    for hit, grounds in answer.places:
        assert grounds.text == "\n".join(
            FILES[hit.path].split("\n")[hit.start_line - 1 :][: len(grounds.text.split("\n"))]
        )
        assert len(grounds.text.split("\n")) <= 2
        assert ("semantic" in hit.sources) == ("semantic" in grounds.ranks)
        assert grounds.cosine is not None and -1 <= grounds.cosine <= 1
        assert grounds.similarity is not None and 0 <= grounds.similarity <= 1
    first = next(grounds for hit, grounds in answer.places if hit.path == "src/client.py")
    assert first.ranks["keyword"] >= 1 and first.rank_part > 0 and first.signals["passage"] > 0


@pytest.mark.parametrize(
    ("gate", "skipped"),
    [
        (Gate({"natural_language": 0.5}), None),
        (Gate({"symbol": 0.5}), "intent"),
        (Gate({"natural_language": 0.0}), "ratio"),
        (Gate({"natural_language": 0.5}, closed=True), "closed"),
        (Gate({"natural_language": 0.5}, sure=0.001), "sure"),
    ],
)
def test_a_closed_gate_keeps_the_embedder_from_being_asked(
    gate: Gate, skipped: str | None, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from findling.search.semantic import SemanticChannel

    asked: list[str] = []
    encode = SemanticChannel.encode
    monkeypatch.setattr(SemanticChannel, "encode", lambda self, text: asked.append(text) or encode(self, text))
    answer = engine.ask(Query(QUESTION, gate=gate))
    assert answer.meaning.skipped == skipped
    assert bool(asked) == answer.meaning.ran == (skipped is None)
    assert answer.result.hits


def test_the_ratio_weighs_meaning_against_text(engine: Engine) -> None:
    def ranked(ratio: float) -> list[tuple[str, float]]:
        answer = engine.ask(Query(QUESTION, gate=Gate({"natural_language": ratio})))
        values = [hit.rank_value for hit in answer.result.hits]
        assert values == sorted(values, reverse=True)
        return [(hit.path, grounds.signals["window"]) for hit, grounds in answer.places]

    nearest_first = ranked(1.0)
    assert nearest_first == sorted(nearest_first, key=lambda each: (-each[1], each[0]))
    assert [hit.path for hit in engine.search(QUESTION).hits] == [path for path, _ in ranked(0.5)]


def test_an_embedder_that_fails_costs_its_part_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """D3: text answers, and the answer says why meaning did not."""
    from findling.search.semantic import SemanticChannel

    def fails(self: SemanticChannel, text: str) -> Any:
        raise EmbedderUnavailable("It takes too long.", reason="timeout")

    monkeypatch.setattr(SemanticChannel, "encode", fails)
    for query in (
        Query(QUESTION, gate=Gate({"natural_language": 0.5})),
        Query(QUESTION, mode="hybrid", weights={"keyword": 1, "symbol": 1, "semantic": 1}),
    ):
        answer = engine.ask(query)
        assert (answer.meaning.ran, answer.meaning.skipped) == (False, "slow")
        assert answer.meaning.failure == "It takes too long."
        assert answer.result.hits and "semantic" not in answer.ran


def test_mixed_lists_are_normalised_over_those_that_ran(engine: Engine) -> None:
    """S4-22, S4-30."""
    weights: Any = {"keyword": 0.4, "symbol": 0.3, "semantic": 0.3}
    found = engine.ask(Query("retry_failed", mode="hybrid", weights=weights)).result.hits
    assert (found[0].path, set(found[0].sources)) == ("src/client.py", {"keyword", "symbol", "semantic"})
    assert all(0 <= hit.score <= 1 for hit in found)
    one = engine.ask(Query("retry_failed", mode="hybrid", weights={**weights, "symbol": 0, "semantic": 0})).result.hits
    assert one[0].score == 1.0 and all(hit.sources == ("keyword",) for hit in one)


@pytest.mark.parametrize(
    "query",
    [Query(" "), Query("x", limit=0), Query("x", mode="best"), Query("x", kind="books"), Query("x", max_tokens=0)],  # type: ignore[arg-type]
)
def test_a_query_that_is_none_is_refused(query: Query, engine: Engine) -> None:
    with pytest.raises(InvalidInput):
        engine.ask(query)


def test_of_a_text_of_many_names_few_are_looked_up(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = Counter[str]()
    named_like = IndexReader.named_like

    def counted(self: IndexReader, name: str, **options: Any) -> Any:
        looked_up[name] += 1
        return named_like(self, name, **options)

    monkeypatch.setattr(IndexReader, "named_like", counted)
    text = " ".join(f"retry_number_{number}" for number in range(1000))
    engine.ask(Query(text, mode="hybrid", weights={"keyword": 1, "symbol": 1, "semantic": 1}))
    assert 0 < len(looked_up) <= MAX_NAMES
