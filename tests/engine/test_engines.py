"""Several engines asked as one: one order with joint statistics, and one that cannot be searched costs itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from gits import commit, git
from indexes import make

from findling import Engine
from findling.engine import Engines
from findling.model.errors import IndexUnavailable, NotFound
from findling.model.types import Query

BASKET = """\
class Basket:
    def add_article(self, article, count=1):
        \"\"\"Put an article into the basket.\"\"\"
        self.articles[article] = self.articles.get(article, 0) + count
"""
BANK = """\
def retry_payment(order):
    \"\"\"Ask the bank again after a failed payment.\"\"\"
    return order.bank.charge(order)
"""


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Engines]:
    """A root called ``tests`` with a basket, and one called ``lib`` with a bank and many more files."""
    base = tmp_path.resolve()
    many = {f"src/part_{number:02}.py": f"def part_{number}():\n    return 'total'\n" * 3 for number in range(30)}
    roots = {
        "tests": make(base / "tests", {"shop/basket.py": BASKET, "shop/sums.py": "def total():\n    return 0\n"}),
        "lib": make(base / "lib", {"src/bank.py": BANK, **many}),
    }
    engines = {name: Engine.open(root=root) for name, root in roots.items()}
    for engine in engines.values():
        engine.index()
    yield Engines(engines)
    for engine in engines.values():
        engine.close()


def paths(engines: Engines, text: str) -> list[str]:
    return [hit.path for hit in engines.ask(Query(text, wait_s=0)).result.hits]


def test_one_order_of_all(two: Engines) -> None:
    assert paths(two, "put an article into the basket")[0] == "tests/shop/basket.py"
    assert paths(two, "ask the bank again")[0] == "lib/src/bank.py"
    assert paths(two, "shop/basket.py")[0] == "tests/shop/basket.py"
    assert two.ask(Query("basket", wait_s=0)).result.coverage.files == 33


def test_what_a_root_is_called_says_nothing_of_its_files(two: Engines) -> None:
    answer = two.ask(Query("put an article into the basket", explain=True, wait_s=0))
    assert "test" not in {reason.signal for reason in answer.result.hits[0].reasons}


def test_a_small_root_is_not_crowded_out_of_what_may_be_listed(two: Engines) -> None:
    found = two.grep("total", limit=5)
    assert "tests/shop/sums.py" in [file.path for file in found.files]
    assert found.total_files == 31


def test_a_callers_own_test_of_paths_holds_beside_globs(two: Engines) -> None:
    def within(path: str) -> bool:
        return path.startswith("tests/") or path.endswith("part_03.py")

    found = two.grep("total", within=within)
    assert sorted(file.path for file in found.files) == ["lib/src/part_03.py", "tests/shop/sums.py"]
    found = two.grep("total", within=within, path_globs=["lib/"])
    assert [file.path for file in found.files] == ["lib/src/part_03.py"]


def _lose_text(engines: Engines, name: str) -> None:
    """What an open index needs next is gone."""
    engines.engines[name].coverage()
    shutil.rmtree(engines.engines[name].store_dir / "fulltext")


def test_at_a_ref_those_that_lack_it_are_problems_at_every_question(two: Engines) -> None:
    lib = two.engines["lib"].root
    git(lib, "init", "-q", "-b", "main")
    commit(lib)
    git(lib, "tag", "v1")
    at = two.at("v1")
    for _ in range(2):
        assert at.ask(Query("ask the bank again", wait_s=None)).result.hits[0].path == "lib/src/bank.py"
        assert {name: error.code for name, error in at.problems.items()} == {"tests": "ref_not_indexed"}
    assert two.ask(Query("ask the bank again")) and not two.problems
    assert two.ask(Query("ask the bank again"), ref="v1").result.hits
    assert set(two.problems) == {"tests"}


def test_a_question_that_may_not_mend_an_index_names_it(two: Engines) -> None:
    _lose_text(two, "lib")
    assert {path.partition("/")[0] for path in paths(two, "put an article into the basket")} == {"tests"}
    assert isinstance(two.problems["lib"], IndexUnavailable)


def test_any_other_question_mends_it(two: Engines) -> None:
    _lose_text(two, "lib")
    found = two.ask(Query("ask the bank again", wait_s=None)).result
    assert (found.hits[0].path, two.problems) == ("lib/src/bank.py", {})
    assert any(note.startswith("lib: ") and "rebuilt" in note for note in found.notes)


def test_a_root_that_is_not_indexed_yet_is_searched_beside_one_that_is(two: Engines, tmp_path: Path) -> None:
    many = {f"part_{number}.py": f"def part_{number}():\n    return {number}\n" for number in range(120)}
    root = make(tmp_path.resolve() / "new", {**many, "museum.py": "def open_museum():\n    '''Let visitors in.'''\n"})
    with Engine.open(root=root) as new:
        engines = Engines({**two.engines, "new": new})
        answer = engines.ask(Query("let visitors into the museum"))
        assert answer.result.hits[0].path == "new/museum.py"
        assert (answer.result.freshness, answer.result.completeness) == ("stale", "partial")
        assert answer.result.stale_reason.startswith("new: ")
        assert "museum" in answer.result.hits[0].snippet
        assert paths(engines, "put an article into the basket")[0] == "tests/shop/basket.py"


def test_what_a_file_is_like_is_asked_by_any_path_and_a_wrong_one_names_its_root(
    two: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = two.engines["lib"].root
    monkeypatch.chdir(root / "src")
    expected = [hit.path for hit in two.similar("lib/src/bank.py").hits]
    for path in (root / "src" / "bank.py", "bank.py"):
        assert [hit.path for hit in two.similar(path).hits] == expected
    for path in ("lib/src/none.py", root / "src" / "none.py", "none.py"):
        with pytest.raises(NotFound, match=f"is not in the index of {root}"):
            two.similar(path)
