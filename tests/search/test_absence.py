"""What does not occur is told as a fact, with the nearest there is; a question in words never is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling import Engine
from findling.model.types import SearchResult
from findling.search.absence import Claims, claims
from findling.search.intent import classify
from findling.search.nearest import nearest_paths

WORDS = frozenset("how does retry work caching read write and or error the policy of what is".split())

FILES = {
    "src/http/retry_policy.py": (
        '"""How often something is tried again."""\n\n\n'
        "class RetryPolicy:\n    def delay(self, attempt):\n        return 2**attempt\n\n\n"
        "def check(count, limit):\n"
        "    if count > limit:\n"
        '        raise ValueError(f"too many attempts: {count} of {limit} for one request")\n'
    ),
    "src/http/client.py": (
        "from http.retry_policy import RetryPolicy\n\n\n"
        "class Client:\n    policy = RetryPolicy()\n\n"
        "    def close(self):\n"
        '        raise RuntimeError("the connection was "\n                           "closed by the other side")\n'
        '\n    def send(self, log):\n        log(f"target {self}, type {log}, item {id(log)}, flags {self.policy}")\n'
    ),
    "docs/guide.md": "# Guide\n\nSet `max-attempts` in the settings. Caches are emptied\nwhen the client is closed.\n",
    "Makefile": "all:\n\techo all\n",
    "too_large.csv": "wanted_column,other\n" + "1,2\n" * 300_000,
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("absence") / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(root=root) as opened:
        opened.index()
        yield opened


def claimed(text: str) -> Claims:
    return claims(text, classify(text).intent, lambda word: word.lower() in WORDS)


def asked(text: str) -> list[tuple[str, str]]:
    return [(claim.kind, claim.text) for claim in claimed(text).these]


@pytest.mark.parametrize(
    ("text", "kind", "what"),
    [
        ("RetryPolicy", "symbol", "RetryPolicy"),
        ("retry_policy()", "symbol", "retry_policy()"),
        ("Outer.inner", "symbol", "Outer.inner"),
        ("class Parser", "symbol", "Parser"),
        ("where is FooBar defined?", "symbol", "FooBar"),
        ("what does the function retry_policy() do", "symbol", "retry_policy"),
        ("contxt", "symbol", "contxt"),
        ("--max-attempts", "symbol", "max-attempts"),
        ("src/a.py", "path", "src/a.py"),
        ("pages/[id].tsx", "path", "pages/[id].tsx"),
        ("src/a.py:12", "path", "src/a.py:12"),
        ('"too many attempts"', "text", "too many attempts"),
        ("`def echo(`", "text", "def echo("),
        ('"bad issuer "%s", subject "%s""', "text", 'bad issuer "%s", subject "%s"'),
        ("ValueError: too many attempts: 3", "message", "too many attempts: 3"),
    ],
)
def test_what_is_meant_to_the_letter_is_all_that_is_asked(text: str, kind: str, what: str) -> None:
    assert asked(text) == [(kind, what)]
    assert claimed(text).whole


@pytest.mark.parametrize(
    "text",
    [
        "caching",
        "how does retry work",
        "read/write",
        "and/or",
        "Caching",
        "Error: how does the policy work",
        "ValueError: what is the error?",
        "*.py",
        "x",
        "42",
        "größe",
        "a pasted text\nof two lines with fooBar",
        "word " * 100,
    ],
)
def test_words_and_pasted_texts_are_never_decidable(text: str) -> None:
    assert asked(text) == []


def test_names_in_a_question_are_decidable_and_the_question_is_not() -> None:
    text = 'how does FooBar.close() call retry_policy in src/http/a.py when it says "no more of it"'
    assert set(asked(text)) == {
        ("text", "no more of it"),
        ("symbol", "retry_policy"),
        ("path", "src/http/a.py"),
    }
    assert not claimed(text).whole


def test_two_quotations_are_two_claims() -> None:
    assert asked('"too many" or "(too few)"') == [("text", "too many"), ("text", "(too few)")]


@given(st.text(max_size=60))
def test_any_text_has_claims_or_none(text: str) -> None:
    for claim in claims(text, classify(text).intent, lambda word: True).these:
        assert claim.text


PRESENT = [
    "RetryPolicy",
    "retryPolicy",
    "RETRY_POLICY",
    "Client.close",
    "elsewhere.Client",
    "max_attempts",
    "max-attempts",
    "retry_policy.py",
    "src/http",
    "src/http/client",
    "src/http/CLIENT.py",
    "/home/me/project/src/http/client.py",
    "makefile",
    '"Set `max-attempts` in"',
    '"too many attempts"',
    '"the connection was closed by"',
    '"Caches are emptied when the client"',
    "ValueError: too many attempts: 7 of 3 for one request",
    "RuntimeError: the connection was closed by the other side",
    "DEBUG: target harbour, type berth, item keel, flags tide",
]


@pytest.mark.parametrize("text", PRESENT)
def test_what_occurs_is_never_called_absent(engine: Engine, text: str) -> None:
    result = engine.search(text)
    assert result.absent == ()
    assert result.hits


@pytest.mark.parametrize(
    ("text", "kind", "nearest", "meant"),
    [
        ("RetryPolcy", "symbol", ("RetryPolicy", "src/http/retry_policy.py", 4), True),
        ("retrypolcy", "symbol", ("RetryPolicy", "src/http/retry_policy.py", 4), True),
        ("ClientFactory", "symbol", None, False),
        ("src/http/clinet.py", "path", ("src/http/client.py", "src/http/client.py", 1), True),
        ("lib/old/client.py", "path", ("src/http/client.py", "src/http/client.py", 1), True),
        ("src/database/rows.sql", "path", None, False),
        (
            '"too many atempts: {count} of {limit} for one request"',
            "text",
            ("too many attempts: {count} of {limit} for one request", "src/http/retry_policy.py", 11),
            True,
        ),
        ("ValueError: too few attempts: 7 of 3 for one request", "message", None, True),
        ("ValueError: disk quota exceeded on this volume", "message", None, False),
    ],
)
def test_what_does_not_occur_is_told_with_the_nearest(
    engine: Engine, text: str, kind: str, nearest: tuple[str, str, int] | None, meant: bool
) -> None:
    result = engine.search(text)
    (absent,) = result.absent
    assert result.is_absent
    assert (absent.kind, absent.files, bool(absent.meant)) == (kind, 4, meant)
    if nearest:
        near = result.nearest[0]
        assert (near.text, near.path, near.line) == nearest
        assert f"did you mean {nearest[0]} ({nearest[1]}:{nearest[2]})?" in absent.words
    assert "does not occur in the 4 files searched" in absent.words
    assert bool(result.hits) == meant


def test_a_slip_of_the_pen_is_answered_by_what_was_meant(engine: Engine) -> None:
    result, right = engine.search("RetryPolcy"), engine.search("RetryPolicy")
    assert [hit.path for hit in result.hits] == [hit.path for hit in right.hits]
    assert not result.low_confidence


def test_a_name_in_a_question_that_does_not_occur_is_said_and_the_question_is_answered(engine: Engine) -> None:
    result = engine.search("how does FooBarManager decide when something is tried again")
    assert [(each.text, each.whole) for each in result.absent] == [("FooBarManager", False)]
    assert not result.is_absent
    assert result.hits


def test_what_is_left_out_is_not_called_absent(engine: Engine) -> None:
    result = engine.search("too_large.csv")
    assert result.absent == ()
    assert any("too_large.csv is there, but not searched: too large" in note for note in result.notes)


@pytest.mark.parametrize(
    "text", ["TypeError: RetryPolicy of undefined", "TypeError: cannot read a property of null (reading 'RetryPolicy')"]
)
def test_a_message_of_the_runtime_has_the_names_in_it_as_nearest(engine: Engine, text: str) -> None:
    result = engine.search(text)
    assert result.is_absent
    assert [(near.text, near.path, near.line) for near in result.nearest] == [
        ("RetryPolicy", "src/http/retry_policy.py", 4)
    ]


def test_the_path_of_a_test_is_nearest_only_to_one_of_a_test() -> None:
    known = ["lib/core/merge_config.js", "test/specs/core/merge_config.spec.js"]
    assert [path for _, path in nearest_paths("src/core/merge_configs.js", known)] == known
    assert nearest_paths("test/spec/core/merge_config.spec.js", known)[0][1] == known[1]


def test_a_name_with_the_ending_of_files_here_is_one_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "rules-of-style.neon").write_text("parameters:\n  neon: true\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        (absent,) = engine.search("ruels-of-style.neon").absent
        assert (absent.kind, absent.meant) == ("path", "rules-of-style.neon")
        assert engine.search("rules-of-style.neon").absent == ()


def test_an_ignored_file_is_not_called_absent(tmp_path: Path) -> None:
    (tmp_path / ".ignore").write_text("made/\n")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "bundle.js").write_text("var bundled = 1\n")
    (tmp_path / "a.py").write_text("def a():\n    return 1\n")
    with Engine.open(root=tmp_path) as engine:
        result = engine.search("made/bundle.js")
        assert result.absent == ()
        assert any("made" in note and "not searched: ignored" in note for note in result.notes)
        assert engine.search("made/bundel.py").is_absent


def test_a_scope_is_what_was_searched(engine: Engine) -> None:
    result = engine.search("RetryPolicy", path_globs=("docs/*",))
    assert [(each.text, each.files) for each in result.absent] == [("RetryPolicy", 1)]
    assert engine.search("RetryPolicy", path_globs=("nowhere/*",)).absent == ()


@pytest.mark.parametrize("mode", ["auto", "keyword", "hybrid", "symbol", "exact"])
def test_in_every_mode_of_words_and_names(engine: Engine, mode: str) -> None:
    assert engine.search("zz_no_such_name", mode=mode).is_absent
    assert engine.search("RetryPolicy", mode=mode).absent == ()


def test_by_meaning_what_is_like_it_is_found_beside_what_is_absent(engine: Engine) -> None:
    found = engine.search("how does RetryPolcy wait", mode="semantic")
    assert [(each.text, each.meant) for each in found.absent] == [("RetryPolcy", "RetryPolicy")]
    alone = engine.search("zz_no_such_name", mode="semantic")
    assert [each.text for each in alone.absent] == ["zz_no_such_name"] and not alone.is_absent
    assert engine.search("RetryPolicy", mode="semantic").absent == ()


def test_of_a_name_that_is_asked_for_as_one(engine: Engine) -> None:
    found = engine.symbols("RetryPolcy")
    assert [(each.text, each.meant) for each in found.absent] == [("RetryPolcy", "RetryPolicy")]
    assert engine.symbols("RetryPolicy").absent == ()
    assert engine.symbols("emptied").absent == ()  # defined nowhere, but it occurs


def unread(root: Path) -> Engine:
    """An index that lacks a file, and a question that may not take it in."""
    (root / "known.py").write_text("def known_name():\n    return 1\n")
    engine = Engine.open(root=root)
    engine.index()
    (root / "late.py").write_text("def late_name():\n    raise ValueError('it came too late for this')\n")
    return engine


def test_what_is_not_read_yet_is_looked_through_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with unread(tmp_path) as engine:
        monkeypatch.setattr("findling.engine.engine.freshen", lambda *_, **__: ("stale", "there was no time"))
        assert engine.search("late_name").absent == ()
        assert engine.search("late.py").absent == ()
        assert engine.search('"it came too late"').absent == ()
        (absent,) = engine.search("never_name").absent
        assert absent.files == 2


def test_where_nothing_may_be_looked_at_an_unfinished_index_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with unread(tmp_path) as engine:
        (absent,) = engine.search("never_name", wait_s=0).absent
        assert absent.files == 1  # the index was whole: it is what was searched
        (tmp_path / "late.pdf").write_bytes(b"%PDF-1.4 not read")
        monkeypatch.setattr("findling.engine.engine.freshen", lambda *_, **__: ("stale", "there was no time"))
        assert engine.search("never_name").absent == ()  # what a document says is not known before it is converted


def answered(result: SearchResult) -> bool:
    return bool(result.hits) and not result.absent


@pytest.mark.parametrize("text", ["caching", "Authentication", "how is a request repeated", "read/write", "logging?"])
def test_ordinary_words_are_answered_though_they_occur_nowhere(engine: Engine, text: str) -> None:
    assert answered(engine.search(text))


@pytest.mark.parametrize("text", ["how are BadParameters handled", "where is JavaScript used"])
def test_a_name_in_a_question_about_more_is_not_all_that_is_asked(text: str) -> None:
    assert not claimed(text).whole
