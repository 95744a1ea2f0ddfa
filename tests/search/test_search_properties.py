"""What holds for every search: order, bounds, scopes, and questions of any form."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from findling import Engine
from findling.embedding import open_embedder
from findling.engine.first_answers import MODEL, take_in
from findling.model.errors import InvalidPattern
from findling.model.tokenizer import stem, term_key
from findling.model.types import MODES, Query, Relations, SearchResult
from findling.search import keyword, symbol
from findling.search.analysis import analyse
from findling.search.pattern_syntax import MAX_PATTERN_CHARS
from findling.search.ranking import formula
from findling.search.ranking.ranked_file import RankedFile
from findling.search.ranking.ranker import Evidence, rank
from findling.search.searcher import Searcher
from findling.search.semantic import SemanticChannel
from findling.store.local.reader import IndexReader
from findling.store.memory import MemoryIndex
from sizes import size

CORPUS = Path(__file__).parent / "golden" / "corpus"

QUERIES = (
    "RetryPolicy",
    "how are failed requests sent again",
    "token signature does not match",
    "gateway/limiter.go",
    "connection pool",
    '"INSERT OR IGNORE"',
    "tests of the token bucket",
    "how do I install it?",
)
SOURCES = {
    "exact": {"exact"},
    "keyword": {"keyword"},
    "symbol": {"symbol"},
    "semantic": {"semantic"},
    "hybrid": {"keyword", "symbol", "semantic"},
    "auto": {"keyword", "symbol", "semantic", "exact"},
}


@pytest.fixture(scope="module")
def reader(project: Path, engine: Engine) -> Iterator[IndexReader]:
    opened = IndexReader(engine.store_dir, str(project))
    yield opened
    opened.close()


def semantic_channel(reader: IndexReader) -> SemanticChannel:
    embedder = open_embedder()
    model_id = reader.models.id_of(embedder.fingerprint.id)
    assert model_id is not None
    return SemanticChannel(reader, embedder, model_id)


def sound(result: SearchResult) -> None:
    assert 0 <= result.confidence <= 1
    assert result.total >= len(result.hits)
    values = [hit.rank_value for hit in result.hits]
    scores = [hit.score for hit in result.hits]
    assert all(map(math.isfinite, [*values, *scores]))
    assert values == sorted(values, reverse=True)
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert len({hit.path for hit in result.hits}) == len(result.hits)
    assert all(1 <= hit.start_line <= hit.end_line for hit in result.hits)


def shown(result: SearchResult) -> list[object]:
    """The places; how much of each is shown depends on how many there are."""
    return [replace(hit, reasons=(), body="", related=Relations()) for hit in result.hits]


# --- modes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", QUERIES)
def test_scores_and_sources_of_every_mode(engine: Engine, mode: str, query: str) -> None:
    result = engine.search(query, mode=mode, limit=50)
    sound(result)
    for hit in result.hits:
        assert hit.sources
        assert set(hit.sources) <= SOURCES[mode]


def test_each_mode_finds_what_only_it_can(engine: Engine) -> None:
    def first(mode: str, query: str) -> str:
        hits = engine.search(query, mode=mode).hits
        return hits[0].path if hits else ""

    assert first("exact", "PRAGMA user_version=") == "skerry/storage/migrations.py"
    assert first("exact", "no such text anywhere in here") == ""
    assert first("keyword", "hysteresis maintenance") == "docs/alerts.rst"
    assert first("symbol", "FrameError") == "codec/src/frame.rs"
    assert first("symbol", "hysteresis maintenance") == ""
    assert first("semantic", "password hashing") == "skerry/auth/passwords.py"


# --- channels -----------------------------------------------------------------------------------------------------


def evidence(reader: IndexReader, query: str) -> tuple[Evidence, list[int]]:
    terms = analyse(query)
    text = keyword.search(reader, terms, chunk_limit=200, file_limit=50)
    definitions = symbol.search(reader, terms)
    entries = sorted({*text.chunks, *text.files, *(f.entry_id for f in reader.files_of_blobs(definitions))})
    channel = semantic_channel(reader)
    return Evidence(text, definitions, channel.cosines(channel.encode(query), entries)), entries


def order(ranked: list[RankedFile]) -> list[tuple[str, float]]:
    return [(item.file.path, pytest.approx(item.rank_value)) for item in ranked]


@pytest.mark.parametrize("query", QUERIES)
def test_the_order_of_channels_and_candidates_does_not_matter(reader: IndexReader, query: str) -> None:
    with reader.snapshot():
        found, entries = evidence(reader, query)
        files = list(reader.files(entries).values())
        straight = rank(reader, analyse(query), files, found, use=formula.WITH_VECTORS)
        for seed in range(3):
            random = Random(seed)
            mixed_files = random.sample(files, len(files))
            chunks, names = list(found.keyword.chunks.items()), list(found.keyword.files.items())
            definitions, cosines = list(found.definitions.items()), list((found.cosines or {}).items())
            for channel in (chunks, names, definitions, cosines):
                random.shuffle(channel)
            mixed = Evidence(
                keyword.KeywordHits(dict(chunks), dict(names)), dict(definitions), dict(cosines), found.exact
            )
            again = rank(reader, analyse(query), mixed_files, mixed, use=formula.WITH_VECTORS)
            assert order(again) == order(straight)


@pytest.mark.parametrize("query", QUERIES)
def test_a_channel_that_found_nothing_changes_nothing(reader: IndexReader, query: str) -> None:
    with reader.snapshot():
        found, entries = evidence(reader, query)
        files = list(reader.files(entries).values())
        terms = analyse(query)

        def text_only(**changed: object) -> list[tuple[str, float]]:
            given = replace(found, cosines=None, **changed)  # type: ignore[arg-type]
            return order(rank(reader, terms, files, given, use=formula.TEXT_ONLY))

        assert text_only() == text_only(exact={}) == text_only(exact={10**9: 3})
        elsewhere = {10**9: next(iter(found.definitions.values()), [])}
        assert text_only() == text_only(definitions={**elsewhere, **found.definitions})
        empty = replace(found, cosines={})
        assert order(rank(reader, terms, files, empty, use=formula.TEXT_ONLY)) == text_only()


def test_without_vectors_and_with_a_channel_that_has_none_the_answer_is_the_same() -> None:
    corpus = {path.relative_to(CORPUS).as_posix(): path for path in sorted(CORPUS.rglob("*")) if path.is_file()}
    index = MemoryIndex()
    take_in(index, ((path, file.read_bytes()) for path, file in corpus.items()))
    empty = SemanticChannel(index, open_embedder(), MODEL)
    with_none = Searcher(index, lambda file: None, semantic=lambda: empty)
    without = Searcher(index, lambda file: None)
    for query in QUERIES:
        one, other = with_none.search(Query(query)), without.search(Query(query))
        assert one.hits == other.hits
        assert one.total == other.total


def test_a_quotation_that_stands_nowhere_changes_no_order_but_its_words(engine: Engine) -> None:
    found = engine.search('retry "zzz qqq xxx"')
    assert not any("exact" in hit.sources for hit in found.hits)


# --- the same everywhere ------------------------------------------------------------------------------------------

ASK = """
import json, sys
from pathlib import Path
from findling import Engine
with Engine.open(root=Path(sys.argv[1])) as engine:
    print(json.dumps([[(h.path, h.start_line, h.end_line, h.score, h.rank_value, h.snippet, h.sources)
                       for h in engine.search(q, limit=50).hits] for q in json.loads(sys.argv[2])]))
"""


def test_two_processes_give_the_same_answers(project: Path) -> None:
    answers = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", ASK, str(project), json.dumps(QUERIES)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        answers.append(json.loads(done.stdout))
    assert answers[0] == answers[1]
    assert all(answers[0])


def test_asking_again_gives_the_same_answer(engine: Engine) -> None:
    for query in QUERIES:
        first = engine.search(query, limit=50)
        engine.search("something else altogether")
        assert shown(engine.search(query, limit=50)) == shown(first)


# --- questions of any form ----------------------------------------------------------------------------------------

ODD = (
    '"', "'", "`", '""', '"unclosed', "(((", "))) (", "[a-", "*", "**", "?", "??", "-", "--", "-retry", "--help",
    "-retry -policy", "+a", "a AND", "NOT", "OR OR", "body:retry", "path:*", "a^2", "a~3", "^", "$", "\\", "\\\\",
    "/", "//", ".", "..", "...", ":", "::", "::x", "a::", "->", "a->b", "#", "@", "%s %d", "{}", "{name}", "<T>", "!",
    "🙂", "retry 🙂", "認証", "設定ファイルを読む方法", "한국어", "größe", "e\u0301", "\u200b", "\u202e", "\0",
    "retry\0policy", 'who says "retry\0policy"', "what is `a\nb` and `c\nd`", '"retry\npolicy"',
    "error: a line\r\nanother line", '"a\ud800bc"', "error: what is \0 not text", "``", '"   "',
    "error: " + "x" * 9000, "<" * 9000, "error: " + "<" * 9000, "error: " + "'{" * 4500, "A." * 4999,
    "retry\npolicy", "\ud800", "a\ud800b", "x" * 10_000, "retry " * 1600, "🙂" * 9000,
    "x" * 100_000, "retry " * 16_000, "../" * 33_000, '"a' * 50_000, "error: " + "Traceback (" * 9_000,
    "error: a" + "\n" * 90_000 + "b", " ".join(f"w{number}" for number in range(15_000)),
    " ".join(f"Name{number}" for number in range(10_000)),
    "a_b_c_d_e_f_g_h_i_j", "1", "0x1F", "1.2.3", "e", "_", "__", "_ _", "\x1b[31mred",
    "Traceback (most recent call last):\n  File \"x.py\", line 3, in f\nKeyError: 'a'",
)  # fmt: skip


HUGE_CHARS = 20_000
"""Longer texts are asked to the letter, by name and in ``auto``, which has every channel."""


@pytest.mark.parametrize("mode", MODES)
def test_no_form_of_a_question_fails(engine: Engine, mode: str) -> None:
    for query in ODD:
        if not query.strip() or (mode in ("hybrid", "semantic", "keyword") and len(query) > HUGE_CHARS):
            continue
        if mode == "exact" and not_literal(query):
            with pytest.raises(InvalidPattern):
                engine.search(query, mode=mode)
        else:
            sound(engine.search(query, mode=mode))


def not_literal(query: str) -> bool:
    """What cannot be looked for to the letter: longer than patterns may be, or what no line of text can hold."""
    return (
        len(query) > MAX_PATTERN_CHARS
        or "\0" in query
        or "\n" in query
        or any("\ud800" <= char <= "\udfff" for char in query)
    )


PIECES = st.sampled_from([*"\"'`()[]{}*?-+:/\\.<>!@#$%^&|~ \n\t", "retry", "Frame::", "設定", "🙂", "_", "->", "42"])


def test_terms_of_one_key_in_a_question_with_a_compound(tmp_path: Path) -> None:
    """Keys have 24 bits: "notify" and "mtime" share one."""
    assert term_key(stem("notify")) == term_key(stem("mtime"))
    (tmp_path / "ws.py").write_text("class WebSocket:\n    def watch(self):\n        return notify(self)\n")
    (tmp_path / "d.md").write_text("# Doc\n\nnotify of a web socket\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        found = engine.search("how notify mtime web socket")
    assert "ws.py" in {hit.path for hit in found.hits}


@settings(max_examples=size(15, 60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    query=st.one_of(st.text(min_size=1, max_size=40), st.lists(PIECES, min_size=1, max_size=8).map("".join)).filter(
        lambda text: bool(text.strip()) and not not_literal(text)
    ),
    mode=st.sampled_from(MODES),
)
def test_any_text_is_answered(engine: Engine, query: str, mode: str) -> None:
    sound(engine.search(query, mode=mode, wait_s=0))


@pytest.mark.parametrize("query", ["what is it", "the", "how does this do that", "to be or not to be"])
def test_words_without_meaning_are_answered(engine: Engine, query: str) -> None:
    result = engine.search(query)
    assert result.hits
    sound(result)


def test_case_and_spelling_of_a_name_find_the_same_definition(engine: Engine) -> None:
    for query in ("RetryPolicy", "retry_policy", "retryPolicy", "RETRY_POLICY", "retry policy", "retry-policy"):
        assert engine.search(query).hits[0].path == "skerry/retry.py", query


# --- scopes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", QUERIES)
def test_filters_hold_in_every_mode(engine: Engine, query: str) -> None:
    for mode in MODES:

        def paths(mode: str = mode, **options: object) -> set[str]:
            return {hit.path for hit in engine.search(query, mode=mode, limit=100, **options).hits}  # type: ignore[arg-type]

        assert all(path.endswith(".go") for path in paths(language="go"))
        assert all(path.startswith("gateway/") for path in paths(path_globs=["gateway"]))
        assert not any(path.startswith("tests/") for path in paths(path_globs=["!tests/"]))
        docs, code = paths(kind="docs"), paths(kind="code")
        assert all(path.endswith((".md", ".rst")) for path in docs)
        assert not any(path.endswith((".md", ".rst")) for path in code)
        assert paths(language="go", path_globs=["skerry/**"]) == set()


def test_a_scope_below_the_root_holds_in_every_mode(project: Path) -> None:
    with Engine.open(project / "gateway", root=project) as engine:
        for mode in MODES:
            for query in QUERIES:
                assert all(hit.path.startswith("gateway/") for hit in engine.search(query, mode=mode).hits)


def test_a_higher_limit_only_adds(engine: Engine) -> None:
    for query in QUERIES:
        longest = engine.search(query, limit=100)
        for limit in (1, 3, 10):
            fewer = engine.search(query, limit=limit)
            assert shown(fewer) == shown(longest)[: len(fewer.hits)]
            assert len(fewer.hits) == min(limit, len(longest.hits)) or any("unlikely" in note for note in fewer.notes)
            assert fewer.total == longest.total


def test_nothing_is_similar_to_itself(engine: Engine) -> None:
    files = [path.relative_to(CORPUS).as_posix() for path in sorted(CORPUS.rglob("*.??")) if path.is_file()]
    assert len(files) > 20
    for path in files:
        for target in (path, f"{path}:5"):
            result = engine.similar(target, limit=100)
            sound(result)
            assert path not in {hit.path for hit in result.hits}
            assert all(hit.sources == ("semantic",) for hit in result.hits)


def test_what_is_alike_is_near(engine: Engine) -> None:
    near = [hit.path for hit in engine.similar("gateway/watch_linux.go", limit=2).hits]
    assert set(near) == {"gateway/watch_darwin.go", "gateway/watch_windows.go"}
