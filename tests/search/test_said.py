"""How far a place says a question: in its words, in words near them, and what that does to the order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling import Engine
from findling.embedding import bundled
from findling.embedding.bundled import BundledEmbedder
from findling.embedding.word_nearness import nearness
from findling.model.errors import EmbedderUnavailable
from findling.model.rows import FileRow
from findling.model.tokenizer import words
from findling.search import places
from findling.search.analysis import analyse
from findling.search.ranking import ranker
from findling.search.ranking.ranked_file import FileCosines, RankedFile
from findling.search.readings import Nearness, Reading, Said, nothing_near

QUESTION = "how do we refuse a stale Token"
WEIGHTS = {"refus": 3.0, "stal": 2.0, "token": 1.0}


def half(asked: Sequence[str], texts: Sequence[Collection[str]]) -> list[list[float]]:
    return [[0.5 if text else 0.0] * len(asked) for text in texts]


def shares(near: Nearness, *texts: str, question: str = QUESTION) -> list[float]:
    return Said(analyse(question), WEIGHTS, near).shares([words(text) for text in texts])


def test_each_word_of_the_question_counts_by_its_weight() -> None:
    found = shares(nothing_near, "refused, refused again", "the staleTokens", "refuse stale_token", "fresh", "")
    assert found == pytest.approx([1 / 2, 1 / 2, 1.0, 0.0, 0.0])


def test_a_word_that_is_near_counts_as_far_as_it_is() -> None:
    assert shares(half, "it refuses", "nothing of it", "") == pytest.approx([3 / 6 + 3 / 12, 1 / 2, 0.0])


def test_a_question_without_words_that_say_something_is_said_nowhere() -> None:
    assert shares(half, "the of", "", question="how do we") == [0.0, 0.0]
    assert shares(half, question=QUESTION) == []


def test_a_place_is_chosen_by_what_its_text_tells_among_those_that_were_read() -> None:
    near_ties = {0: 1.5, 1: 1.4, 2: 1.3, 3: 1.2}
    assert places._in_order(near_ties, {})[:1] == [0]
    assert places._in_order(near_ties, {0: Reading(0.0, 0.3), 1: Reading(0.0, 0.6), 2: Reading(0.0, 0.3)})[:1] == [1]
    assert places._in_order(near_ties, {0: Reading(0.0, 0.3), 1: Reading(0.0, 0.3), 2: Reading(0.5, 0.3)})[:1] == [2]
    assert places._in_order({0: 3.0, 1: 0.5}, {0: Reading(0.0, 0.3), 1: Reading(1.0, 1.0)})[:1] == [0]
    assert places._in_order({}, {}) == []


def ranked(kind: str, own: Sequence[float], window: Sequence[float], texts: dict[int, float]) -> RankedFile:
    file = FileRow(1, 1, f"a.{kind}", "python", kind, 10, 10, False, 5, 5)
    item = RankedFile(file, texts=texts, values={"passage": 0.0, "passages": 0.0, "coverage": 1.0})
    cosines = FileCosines(np.array(own, np.float32), np.array(window, np.float32))
    ranker._windows([item], {1: cosines})
    return item


def test_what_a_section_means_counts_more_than_what_a_piece_of_code_does() -> None:
    texts, own = {0: 1.0, 1: 0.3}, [0.2, 0.8]
    code, section = (ranked(kind, own, own, texts).chunk_values() for kind in ("code", "docs"))
    assert code[0] > code[1]
    assert section[1] > section[0]


def test_nearness_is_a_share_of_the_nearest_files_whoever_else_is_compared() -> None:
    files = [ranked("code", [cosine], [cosine], {}) for cosine in (0.8, 0.4, -0.1)]
    for place, item in enumerate(files):
        item.file = item.file._replace(entry_id=place)
    cosines = {item.file.entry_id: item.cosines for item in files if item.cosines is not None}
    for compared in (files, files[:2]):
        ranker._windows(compared, cosines)
        assert [item.values["window"] for item in compared] == pytest.approx([1.0, 0.5**1.5, 0.0][: len(compared)])
        assert not any(item.values["coverage"] for item in compared)
    document = ranked("docs", [0.4], [0.9], {})
    assert document.window_cosine == pytest.approx(0.4)
    assert document.values["coverage"] == 1.0


def test_a_damaged_model_of_words_costs_only_what_it_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> BundledEmbedder:
        raise EmbedderUnavailable("The model is damaged.", remedy="Install findling again.")

    (tmp_path / "a.py").write_text("def acquire(folder):\n    return folder\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        monkeypatch.setattr(bundled, "shared", broken)
        found = engine.search("how is a folder acquired", explain=True)
    assert found.hits[0].path == "a.py"
    assert not any(reason.signal == "said" for reason in found.hits[0].reasons)


TEXTS = st.lists(st.sampled_from("lock locks mutex café 鍵 key_ring HTTPServer zqxv _ ".split(" ")), max_size=6)


@pytest.fixture(scope="module")
def model() -> Iterator[BundledEmbedder]:
    yield bundled.shared()


@given(
    asked=st.lists(st.sampled_from(["lock", "server", "zqxv", "鍵"]), unique=True), texts=st.lists(TEXTS, max_size=4)
)
def test_nearness_is_the_best_cosine_with_any_row_of_the_text(
    model: BundledEmbedder, asked: list[str], texts: list[list[str]]
) -> None:
    found = nearness(model, asked, [frozenset(text) for text in texts])
    assert len(found) == len(texts)
    for text, row in zip(texts, found, strict=True):
        rows = sorted({row for word in text for row in model.rows(word)})
        for word, share in zip(asked, row, strict=True):
            (vector,) = model.encode([word])
            cosines = [float(vector @ each) / float(each @ each) ** 0.5 for each in model.vectors(rows)] if rows else []
            assert share == pytest.approx(max([0.0, *cosines]), abs=1e-5)
            assert 0.0 <= share <= 1.0


def test_a_word_is_nearest_to_itself_and_near_to_its_like(model: BundledEmbedder) -> None:
    ((same, like, other),) = zip(*nearness(model, ["lock"], [{"lock"}, {"mutex", "banana"}, {"banana"}]), strict=True)
    assert same == pytest.approx(1.0, abs=1e-5)
    assert same > like > other


LOCKS = '''\
"""{title}"""


def {name}(folder, owner):
    """{words}"""
    return folder, owner
'''


def test_of_two_likely_files_the_one_that_says_the_question_comes_first_and_is_told_why(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        LOCKS.format(title="Folders.", name="prepare", words="Writers, writers and the writers of a folder.")
    )
    (tmp_path / "b.py").write_text(
        LOCKS.format(title="Folders.", name="acquire", words="Two writers never touch the folder at once.")
    )
    (tmp_path / "c.md").write_text("# Notes\n\nNothing about it.\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        found = engine.search("two writers must not touch the folder at the same moment", explain=True)
        text = engine.search("two writers must not touch the folder at the same moment", mode="keyword", explain=True)
    assert found.hits[0].path == "b.py"
    said = [reason for reason in found.hits[0].reasons if reason.signal == "said"]
    assert said
    assert said[0].value > 0
    assert not [reason for hit in text.hits for reason in hit.reasons if reason.signal == "said"]
