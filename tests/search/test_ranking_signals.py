"""Each signal as a small table, and the sum they make."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.term_rows import IN_NAMES, IN_TOP_NAMES
from findling.model.tokenizer import stem, term_key, words
from findling.search.keyword import inverse_document_frequency
from findling.search.ranking import formula, priors
from findling.search.ranking.ranker import WINDOW, _best_window
from findling.search.ranking.signals import (
    ABBREVIATION,
    K1,
    STANDS_IN,
    SYNONYM,
    Lengths,
    StemMatcher,
    bm25f,
    held,
    path_words,
    rare_coverage,
    with_synonyms,
)
from findling.search.ranking.votes import votes
from findling.search.readings import Phrase

MEANS = Lengths(100.0, 10.0)


def value(
    *found: tuple[float, int], paths: Iterable[int] = (), body: float = 100, names: float = 10, path_terms: int = 6
) -> float:
    in_path = list(paths) or [0] * len(found)
    return bm25f(found, in_path, [1.0] * len(found), Lengths(body, names), MEANS, path_terms)[0]


# --- text ---------------------------------------------------------------------------------------------------------


def test_idf_falls_with_the_number_of_files_and_is_never_negative() -> None:
    found = [inverse_document_frequency(100, containing) for containing in (0, 1, 10, 50, 100, 1000)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == found[-2] > 0
    assert found[1] == pytest.approx(math.log(1 + 99.5 / 1.5))


@given(st.integers(0, 80), st.integers(0, 80), st.integers(0, 3), st.integers(0, 3))
def test_bm25f_rises_with_counts_names_and_path(count: int, more: int, flags: int, paths: int) -> None:
    low, high = sorted((count, more))
    assert value((low, flags), paths=[paths]) <= value((high, flags), paths=[paths])
    assert value((count, 0), paths=[paths]) <= value((count, IN_NAMES), paths=[paths])
    assert value((count, IN_NAMES), paths=[paths]) < value((count, IN_NAMES | IN_TOP_NAMES), paths=[paths])
    assert value((count, flags), paths=[paths]) < value((count, flags), paths=[paths + 1])
    assert value((count, flags), paths=[paths]) < K1 + 1


def test_bm25f_by_hand() -> None:
    assert value((0, 0)) == 0
    assert value((3, 0)) == pytest.approx((K1 + 1) * 3 / (K1 + 3))
    assert value((3, IN_NAMES)) == pytest.approx((K1 + 1) * 4 / (K1 + 4))
    assert value((3, IN_NAMES | IN_TOP_NAMES)) == pytest.approx((K1 + 1) * 6 / (K1 + 6))
    assert value((0, 0), paths=[1]) == pytest.approx((K1 + 1) * 5 / (K1 + 5))


def test_longer_files_and_paths_are_worth_less() -> None:
    assert value((3, 0), body=50) > value((3, 0), body=200)
    assert value((0, IN_NAMES), names=5) > value((0, IN_NAMES), names=50)
    assert value((0, 0), paths=[1], path_terms=3) > value((0, 0), paths=[1], path_terms=12)


def test_terms_add_up_by_weight_and_coverage_is_the_weight_found() -> None:
    total, coverage = bm25f([(1, 0), (0, 0)], [0, 0], [3.0, 1.0], MEANS, MEANS, 6)
    assert coverage == 0.75
    assert total == pytest.approx(3 * value((1, 0)))
    assert bm25f([], [], [], MEANS, MEANS, 6) == (0.0, 0.0)
    assert bm25f([(2, 0)], [0], [0.0], MEANS, MEANS, 6) == (0.0, 0.0)
    spread = bm25f([(2, 0), (2, 0)], [0, 0], [1.0, 1.0], MEANS, MEANS, 6)
    assert spread[0] > value((4, 0), (0, 0)), "two words once each say more than one word twice"


@given(st.dictionaries(st.integers(0, 40), st.floats(0, 1), max_size=12))
def test_the_best_window_is_the_best_sum_around_a_chunk(texts: dict[int, float]) -> None:
    expected = max(
        (sum(v for at, v in texts.items() if abs(at - middle) <= WINDOW) for middle in range(41)), default=0.0
    )
    assert _best_window(texts) == pytest.approx(expected)


# --- the path -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "squashed", "stem"),
    [
        ("src/retry_policy.py", "retrypolicy", ("retry", "policy")),
        ("RetryPolicy.java", "retrypolicy", ("retry", "policy")),
        ("a/session.test.ts", "session", ("session",)),
        (".gitignore", "gitignore", ("gitignore",)),
        ("Makefile", "makefile", ("makefile",)),
        ("認証.md", "認証", ("認証",)),
        ("x.c", "x", ("x",)),
        ("...", "", ("...",)),
    ],
)
def test_a_path_taken_apart(path: str, squashed: str, stem: tuple[str, ...]) -> None:
    words = path_words(path)
    assert (words.squashed_stem, words.stem) == (squashed, stem)


def test_the_stem_counts_twice_and_far_folders_not_at_all() -> None:
    words = path_words("far/one/two/three/retry.py")
    assert words.terms[term_key("retri")] == 2
    assert words.terms[term_key(stem("three"))] == 1
    assert term_key("far") not in words.terms


@pytest.mark.parametrize(
    ("asked", "path", "share"),
    [
        (["retry"], "retry.py", 1.0),
        (["retries"], "retry.py", 1.0),
        (["retrypolicy", "retry_policy"], "retry_policy.py", 1.0),
        (["retry"], "retry_policy.py", 0.5),
        (["cache"], "retry_policy.py", 0.0),
        (["configuration"], "cfg.py", ABBREVIATION),
        (["authentication"], "auth.py", 0.3 + 0.5 * 4 / 14),
        (["hash"], "passwords.py", 0.0),
        ([], "retry.py", 0.0),
        (["retry"], "...", 0.0),
    ],
)
def test_the_share_of_a_stem_that_a_query_explains(asked: list[str], path: str, share: float) -> None:
    assert StemMatcher(asked).share(path_words(path).stem) == pytest.approx(share)


PATHS = st.text(min_size=1, max_size=12).filter(lambda path: not path.endswith("/"))


@given(st.lists(st.text(min_size=1, max_size=6), max_size=4), PATHS)
def test_the_share_is_a_share_for_any_name(asked: list[str], name: str) -> None:
    assert 0 <= StemMatcher([word.lower() for word in asked if word.lower()]).share(path_words(name).stem) <= 1


# --- votes --------------------------------------------------------------------------------------------------------

RARE, COMMON = 1, 2


def count(keys: Iterable[int]) -> dict[int, int]:
    return {key: {RARE: 1, COMMON: 90}.get(key, 10) for key in keys}


def elected(voices: Sequence[float], mentions: Sequence[set[int]], defines: Sequence[set[int]]) -> list[float]:
    """The votes for files, each another content, by the keys of the terms in each and of the names that it defines."""
    keys = {blob: sorted(found) for blob, found in enumerate(defines)}
    rows = {blob: [key << 8 for key in sorted(found)] for blob, found in enumerate(mentions)}
    return votes(voices, range(len(voices)), keys, rows, count, 100)


def test_nobody_votes_for_himself() -> None:
    assert elected([1.0, 0.0], [{5}, set()], [{5}, set()]) == [0.0, 0.0]
    assert elected([1.0], [{5}], [{5}]) == [0.0]


def test_a_file_that_is_referred_to_is_voted_for() -> None:
    assert elected([1.0, 0.1, 0.1], [{5}, set(), set()], [set(), {5}, {6}]) == [0.0, 1.0, 0.0]


def test_a_rare_name_counts_more_than_a_common_one() -> None:
    rare, common = elected([1.0, 0.1, 0.1], [{RARE, COMMON}, set(), set()], [set(), {RARE}, {COMMON}])[1:]
    assert rare == 1.0
    assert 0 < common < rare


def test_louder_files_count_more_and_quiet_ones_not() -> None:
    mentions: list[set[int]] = [{5}, {6}, set(), set()]
    defines: list[set[int]] = [set(), set(), {5}, {6}]
    louder, quieter = elected([1.0, 0.9, 0.0, 0.0], mentions, defines)[2:]
    assert louder == 1.0
    assert quieter == pytest.approx(0.9**3)
    assert elected([1.0, 0.1, 0.0, 0.0], mentions, defines)[2:] == [1.0, 0.0]


def test_silence_elects_nobody() -> None:
    assert elected([], [], []) == []
    assert elected([0.0, 0.0], [{5}, set()], [set(), {5}]) == [0.0, 0.0]


NAME_SETS = st.sets(st.integers(0, 6), max_size=4)
FILES = st.lists(st.tuples(st.floats(0, 1), NAME_SETS, NAME_SETS), min_size=1, max_size=6)


@given(FILES, st.randoms())
def test_votes_do_not_depend_on_the_order(files: list[tuple[float, set[int], set[int]]], random: object) -> None:
    order = list(range(len(files)))
    random.shuffle(order)  # type: ignore[attr-defined]

    def elect(some: list[tuple[float, set[int], set[int]]]) -> list[float]:
        return elected([v for v, _, _ in some], [m for _, m, _ in some], [d for _, _, d in some])

    straight, mixed = elect(files), elect([files[place] for place in order])
    assert mixed == pytest.approx([straight[place] for place in order])
    assert all(0 <= share <= 1 for share in straight)
    assert max(straight) in (0.0, 1.0)


# --- priors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "flags"),
    [
        ("src/retry.py", set()),
        ("src/contest/latest.py", set()),
        ("mod.rs", set()),
        ("lib/index.ts", set()),
        ("api/v1/handler.go", set()),
        ("src/window/draw.c", set()),
        ("src/protest.py", set()),
        ("docs/guide.md", set()),
        ("tests/test_retry.py", {"test"}),
        ("test_retry.py", {"test"}),
        ("conftest.py", {"test"}),
        ("gateway/limiter_test.go", {"test"}),
        ("src/session.test.ts", {"test"}),
        ("src/session.spec.tsx", {"test"}),
        ("src/RetryTest.java", {"test"}),
        ("src/RetryTests.cs", {"test"}),
        ("spec/models/user.rb", {"test"}),
        ("a/__tests__/b.js", {"test"}),
        ("testdata/x.json", {"test"}),
        ("benches/codec.rs", {"test"}),
        ("examples/upload.py", {"example"}),
        ("docs/snippet.py", {"example"}),
        ("doc/man_docs.go", set()),
        ("demo/app.ts", {"example"}),
        ("src/legacy/client.py", {"legacy"}),
        ("src/py_compat.py", {"legacy"}),
        ("watch_windows.go", {"platform"}),
        ("src/win32/io.c", {"platform"}),
        ("unix-freebsd.c", {"platform"}),
        ("Deprecations/Client.swift", {"legacy"}),
        ("bench/codec.rs", {"test"}),
        ("CHANGELOG.md", {"changes"}),
        ("docs/changelogs/changelog_3x.md", {"changes"}),
        ("docs/0.38.0-migration-guide.md", {"changes"}),
        ("docs/migration.md", set()),
        ("app/locale/de_AT/LC_MESSAGES/app.po", {"messages"}),
        ("src/i18n/fr.json", {"messages"}),
        ("lang/a/b.yml", {"messages"}),
        ("slang/fr.json", set()),
        ("i18n.json", set()),
        pytest.param("lang/" * 200_000 + "a.txt", set(), id="hours, if time grew with the square"),
        ("src/i18n/load.ts", set()),
        ("docs/exchange.md", set()),
        ("examples/tests/test_a.py", {"example", "test"}),
    ],
)
def test_what_a_path_says_against_a_file(path: str, flags: set[str]) -> None:
    assert priors.path_flags(path) == flags


@given(st.text(max_size=40))
def test_any_path_has_known_flags(path: str) -> None:
    assert priors.path_flags(path) <= set(formula.SIGNALS)


def test_an_older_version_folder_is_superseded_where_a_newer_one_stands_beside_it() -> None:
    paths = ["src/v3/types.ts", "src/v4/core.ts", "api/v1/a.go", "v2/b.go", "src/v10x/c.ts"]
    newest = priors.newest_versions(paths)
    assert newest == {"src": 4, "api": 1, "": 2}
    assert [path for path in paths if priors.is_superseded(path, newest)] == ["src/v3/types.ts"]


# --- phrases ----------------------------------------------------------------------------------------------------


def coverage(*found: tuple[float, int], paths: Iterable[int] = (), weights: Iterable[float] = (1.0, 3.0)) -> float:
    in_path = list(paths) or [0] * len(found)
    return rare_coverage(held(found, in_path), list(weights)[: len(found)], [False] * len(found))


def test_what_is_rare_is_the_point() -> None:
    there, absent = (1, 0), (0, 0)
    assert coverage(there, absent) == pytest.approx(0.1)
    assert coverage(absent, there) == pytest.approx(0.9)
    assert coverage(absent, absent, paths=[0, 1]) == pytest.approx(0.9)
    assert coverage((0, IN_NAMES), there) == 1
    assert coverage() == coverage(there, weights=[0.0]) == 0


def test_a_proper_name_that_is_missing_counts_double() -> None:
    shares = held([(1, 0), (0, 0)], [0, 0])
    assert rare_coverage(shares, [1.0, 1.0], [False, False]) == pytest.approx(1 / 2)
    assert rare_coverage(shares, [1.0, 1.0], [False, True]) == pytest.approx(1 / 3)
    assert rare_coverage(shares, [1.0, 1.0], [True, False]) == pytest.approx(2 / 3)


def test_a_synonym_stands_in_for_a_word_but_not_for_its_name() -> None:
    said, unsaid = (2, IN_NAMES), (0, 0)
    found = with_synonyms([said, unsaid], [(4, IN_NAMES), (0, 0)], [[0, 1], [1]])
    assert found == [(2 + 4 * SYNONYM, IN_NAMES), (4 * SYNONYM, 0)]
    assert held(found, [0, 0], held([said, unsaid], [0, 0])) == [1.0, STANDS_IN]
    assert held(found, [0, 1], held([said, unsaid], [0, 1])) == [1.0, 1.0]
    assert with_synonyms([said], [], []) == [said]


def test_synonyms_never_outdo_the_word_itself() -> None:
    word, others = value((8, 0)), value(*with_synonyms([(0, 0)], [(8, 0)], [[0]]))
    assert 0 < others < word


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("retry policy", 1 / (1 + 0.5**0.5)),
        ("policy of retries", 1 / (1 + 0.5**0.5)),
        ("retry_policy_delay()", 1.0),
        ("the policy: a delay", (0.5**0.5) / (1 + 0.5**0.5)),
        ("retry whatever the present policy", 0.0),
        ("delay retry", 0.0),
        ("", 0.0),
    ],
)
def test_what_stands_together(text: str, share: float) -> None:
    assert Phrase({"retri": 2.0, "polici": 0.5, "delai": 1.0}).share(words(text)) == pytest.approx(share, abs=1e-6)


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_phrase_is_a_share_and_more_text_never_lowers_it(one: str, other: str) -> None:
    phrase = Phrase({"a": 1.0, "b": 2.0, "c": 0.0})
    first, both = words(one), words(f"{one}\n{other}")
    assert 0 <= phrase.share(first) <= 1 + 1e-9
    assert phrase.share(both) >= phrase.share(first) - 1e-9
    assert Phrase({}).share(first) == Phrase({"a": 1.0}).share(first) == 0


# --- the sum ------------------------------------------------------------------------------------------------------

VALUES = st.dictionaries(st.sampled_from(sorted(formula.SIGNALS)), st.floats(0, 1))
USES = st.sampled_from([formula.WITH_VECTORS, formula.TEXT_ONLY, frozenset(("window",)), frozenset()])


@given(VALUES, USES)
def test_the_reasons_add_up_to_the_rank_value(values: dict[str, float], use: frozenset[str]) -> None:
    total, reasons = formula.rank_value(values, use), formula.reasons(values, use)
    assert sum(reason.value for reason in reasons) == pytest.approx(total)
    assert [abs(reason.value) for reason in reasons] == sorted((abs(r.value) for r in reasons), reverse=True)
    assert {reason.signal for reason in reasons} <= use
    assert all(reason.value and reason.words for reason in reasons)
    assert 0 <= formula.exposed(total) <= 1


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_the_exposed_score_keeps_the_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= formula.exposed(low) <= formula.exposed(high) <= 1


def test_what_speaks_against_a_file_lowers_it() -> None:
    for name, signal in formula.SIGNALS.items():
        alone = formula.rank_value({name: 1.0}, frozenset((name, "window")))
        assert alone == signal.weight
        assert (alone < 0) == (name in AGAINST)


AGAINST = (
    "test",
    "example",
    "legacy",
    "superseded",
    "platform",
    "changes",
    "messages",
    "init",
    "generated",
    "document",
    "beside",
)
