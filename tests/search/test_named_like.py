"""What is named like the query: by the names' letters, and by what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling import Engine
from findling.embedding import bundled, word_nearness
from findling.embedding.bundled import BundledEmbedder
from findling.embedding.word_nearness import NameCosines
from findling.model.errors import EmbedderUnavailable
from findling.model.types import SearchResult
from findling.search.ranking import names as named
from findling.search.ranking.names import likeness, name_parts

WEIGHTS = {"retri": 2.0, "polici": 1.0, "delai": 1.0}


def test_a_name_is_like_a_query_that_it_says_and_that_says_it() -> None:
    assert name_parts("RetryPolicy") == {"retri", "polici"}
    assert likeness(["RetryPolicy"], WEIGHTS) == pytest.approx(2 * 1.0 * 0.75 / 1.75)
    assert likeness(["retry"], WEIGHTS) == pytest.approx(2 * 1.0 * 0.5 / 1.5)
    assert likeness(["retry_budget_of_pool"], WEIGHTS) < likeness(["retry"], WEIGHTS)
    assert likeness(["budget", "x"], WEIGHTS) == likeness([], WEIGHTS) == likeness(["retry"], {}) == 0


@given(
    st.lists(st.text(max_size=12), max_size=5), st.dictionaries(st.sampled_from(["retri", "a", "b"]), st.floats(0, 5))
)
def test_likeness_is_a_share(names: list[str], weights: dict[str, float]) -> None:
    assert 0 <= likeness(names, weights) <= 1 + 1e-9


# --- by meaning ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Iterator[BundledEmbedder]:
    yield bundled.shared()


def test_a_name_means_what_its_parts_do(model: BundledEmbedder) -> None:
    text, near_to = "throw away the user's password", NameCosines(model)
    near, same, far, nothing = near_to(text, ["delete_credentials", "DeleteCredentials", "drawCircle", "_"])
    assert near == pytest.approx(same)
    assert near > far
    assert nothing == 0.0
    assert near_to(text, []) == []
    assert near_to("", ["lock"]) == [0.0]


NAMES = [
    "lock",
    "readHTTPServer",
    "cafe\u0301Load",
    "鍵",
    "zqxv_",
    "_",
    "",
    "operator==",
    "refuses a stale token",
    "x" * 200,
]


@given(st.lists(st.sampled_from(NAMES), max_size=5), st.text())
def test_how_near_a_name_is_does_not_depend_on_the_others(model: BundledEmbedder, names: list[str], text: str) -> None:
    together = NameCosines(model)
    for _ in range(2):  # remembered, the same
        found = together(text, names)
        assert found == pytest.approx([each for name in names for each in NameCosines(model)(text, [name])], abs=1e-6)
        assert all(0.0 <= each <= 1.0 for each in found)
    for name, each in zip(names, found, strict=True):
        if len(name) <= word_nearness.NAME_CHARS:
            (vector,) = model.encode([name])
            assert each == pytest.approx(min(1.0, max(0.0, float(vector @ model.encode_query(text)))), abs=1e-5)


def test_hostile_names_cost_no_more_than_a_bound(model: BundledEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    vectors = BundledEmbedder.vectors

    def counting(self: BundledEmbedder, rows: Sequence[int]) -> object:
        taken.append(len(rows))
        return vectors(self, rows)

    monkeypatch.setattr(BundledEmbedder, "vectors", counting)
    monkeypatch.setattr(word_nearness, "NAMES_REMEMBERED", 700)
    names = [chr(0x4E00 + at) * 200 for at in range(600)]
    near_to = NameCosines(model)
    near_to("a lock", names)
    assert max(taken) <= word_nearness._AT_ONCE * word_nearness.NAME_ROWS
    near_to("a lock", [f"{name}!" for name in names])
    assert len(near_to._known) == len(names)


SOURCES = {
    "keys.py": "def purge_credentials(store):\n    for row in list(store):\n        store.pop(row)\n",
    "shapes.py": "def draw_circle(store):\n    for row in list(store):\n        store.plot(row)\n",
    "guide.md": "# Guide\n\nHow rows are plotted and popped from a store.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in SOURCES.items():
        (tmp_path / path).write_text(text)
    return tmp_path


def shares(result: SearchResult) -> dict[str, float]:
    return {hit.path: reason.value for hit in result.hits for reason in hit.reasons if reason.signal == "name"}


def test_a_file_is_found_by_what_its_names_mean(folder: Path) -> None:
    with Engine.open(root=folder) as engine:
        engine.index()
        by_meaning = shares(engine.search("throw away stored passwords", explain=True))
        by_letters = shares(engine.search("throw away stored passwords", mode="keyword", explain=True))
    assert by_meaning["keys.py"] > by_meaning.get("shapes.py", 0.0)
    assert "guide.md" not in by_meaning
    assert by_letters == {}


@pytest.mark.parametrize(
    "question",
    [
        "how do I throw away stored passwords",
        "purge credentials",
        "keys::store::purge_credentials",
        "src/old/keys.py",
        "KeyError: rows are plotted and popped",
    ],
    ids=["advice", "two words", "a qualified name", "a path", "an error"],
)
def test_users_questions_and_what_is_meant_to_the_letter_are_not_compared_by_meaning(
    folder: Path, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError(question)

    monkeypatch.setattr(named, "_by_meaning", refuse)
    with Engine.open(root=folder) as engine:
        engine.index()
        assert engine.search(question).hits


def test_only_the_first_files_and_so_many_of_their_names_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for letter in "abcdef":
        (tmp_path / f"{letter}.py").write_text(
            f"def drop_{letter}(session):\n    return session\n\n\ndef keep_{letter}(session):\n    return 1\n"
        )
    asked: list[Sequence[str]] = []

    def near(_: NameCosines, text: str, names: Sequence[str]) -> list[float]:
        asked.append(names)
        return [0.5] * len(names)

    monkeypatch.setattr(NameCosines, "__call__", near)
    monkeypatch.setattr(named, "COMPARED", 2)
    monkeypatch.setattr(named, "MOST_NAMES", 1)
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        found = engine.search("where is a session given up again", explain=True)
    assert [[name[:5] for name in names] for names in asked] == [["drop_", "drop_"]]
    assert list(shares(found).values()) == [0.5, 0.5]


@pytest.mark.parametrize("nearest", ["load_all", "draw_all", "sort_all"])
def test_the_place_is_the_definition_that_is_named_like_the_question(
    tmp_path: Path, nearest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "    for row in rows:\n        table.append(row)\n        count(row)\n    return table\n"
    names = ["load_all", "draw_all", "sort_all"]
    (tmp_path / "table.py").write_text("\n\n".join(f"def {name}(table, rows):\n{body * 6}" for name in names))
    monkeypatch.setattr(NameCosines, "__call__", lambda _, text, names: [float(name == nearest) for name in names])
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        (hit,) = engine.search("count the rows that a table returns").hits
    assert hit.name == nearest


def test_a_name_after_many_of_the_same_counts(tmp_path: Path) -> None:
    overloads = "\n".join(f"    def test(self, a{at}):\n        return a{at}\n" for at in range(named.MOST_NAMES))
    source = f"class Keys:\n{overloads}\n    def purge_credentials(self):\n        self.rows.clear()\n"
    (tmp_path / "keys.py").write_text(source)
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        assert shares(engine.search("throw away stored passwords", explain=True))["keys.py"] > 0.1


def test_without_the_model_of_words_names_are_compared_by_letters(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> BundledEmbedder:
        raise EmbedderUnavailable("The model is damaged.", remedy="Install findling again.")

    with Engine.open(root=folder) as engine:
        engine.index()
        monkeypatch.setattr(bundled, "shared", broken)
        found = engine.search("purge all the credentials", explain=True)
    assert shares(found) == {"keys.py": 0.5}


@pytest.mark.parametrize("mode", ["semantic", "symbol", "keyword"])
def test_other_modes_do_not_ask_what_names_mean(folder: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError(mode)

    monkeypatch.setattr(NameCosines, "__call__", refuse)
    with Engine.open(root=folder) as engine:
        engine.index()
        engine.search("throw away stored passwords", mode=mode)
        assert engine.similar("keys.py").hits
