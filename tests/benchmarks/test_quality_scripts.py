"""The scripts that measure quality: yardsticks on a small folder, what is left out, what is put into a document."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import ablation
import bm25_peer
import candidates
import ceilings
import cited_lines
import ndcg
import next_action
import release
import ripgrep_peer

from findling.contracts.code_decisions import suggested_action
from findling.model.types import Hit, Reason

FILES = {
    "src/harbour.py": "def berth(boat):\n    # a boat lies in the harbour\n    return boat\n",
    "src/market.py": "def weigh(salmon):\n    return salmon\n",
    "notes.md": "The harbour closes at night.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def asked(text: str) -> ndcg.Judged:
    return ndcg.Judged("q", "r", text, (ndcg.Place("src/harbour.py", None, None),), (), by_file=True)


def test_plain_bm25_finds_words(folder: Path) -> None:
    (line,) = bm25_peer.search(list(bm25_peer.windows(folder)), [asked("boat in the harbour")])
    assert [result["path"] for result in line["results"]] == ["src/harbour.py", "notes.md"]


@pytest.mark.skipif(shutil.which("rg") is None, reason="there is no ripgrep")
def test_ripgrep_counts_words_and_takes_nothing_for_an_option(folder: Path) -> None:
    found = ripgrep_peer.answer("rg", folder, asked("where does a boat lie in the harbour"), as_typed=False)
    assert [result["path"] for result in found["results"]] == ["src/harbour.py", "notes.md"]
    assert found["results"][0]["start_line"] == 2
    hostile = ripgrep_peer.answer("rg", folder, asked("--pre=touch salmon"), as_typed=False)
    assert [result["path"] for result in hostile["results"]] == ["src/market.py"]
    assert not ripgrep_peer.answer("rg", folder, asked("a boat lies there"), as_typed=True)["results"]


def test_without_a_signal_the_rest_decides() -> None:
    def hit(path: str, **shares: float) -> Hit:
        reasons = tuple(Reason(name, value, "words") for name, value in shares.items())
        return Hit(path, 1, 2, 0.5, sum(shares.values()), "code", "python", reasons=reasons)

    hits = [hit("a.py", window=3.0, stem=0.5), hit("b.py", window=1.0, stem=1.0), hit("c.py", window=1.5, test=-3.0)]
    assert [found.path for found in ablation.without(hits, "window")] == ["b.py", "a.py", "c.py"]
    assert [found.path for found in ablation.without(hits, "test")] == ["a.py", "b.py", "c.py"]
    assert [found.path for found in ablation.without(hits, "votes")] == ["a.py", "b.py", "c.py"]


def test_suggestions_are_followed_to_the_letter() -> None:
    """What the tool suggests and what the script reads are the same sentences."""
    for intent, tool, quoted in (
        ("natural_language", "locate_symbol", "berth"),
        ("symbol", "search_code", "where is berth defined"),
    ):
        said = suggested_action(intent, 3, low=True, query="a question", name="berth")  # type: ignore[arg-type]
        found = next_action._SUGGESTION.fullmatch(said or "")
        assert found is not None and found.groups() == (tool, quoted)
    said = suggested_action("symbol", 0, low=True, query="berth", name="berth")
    found = next_action._SUGGESTION.fullmatch(said or "")
    assert found is not None and found.groups() == ("search_code", "berth")


def test_tables_go_where_a_document_has_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A\n\n<!-- ablation: benchmarks/release.py -->\nold\n<!-- end -->\n\n<!-- x: y -->\n<!-- end -->\n"
    )
    for table in ("| new |", "| newer |"):
        release.fill(page, {"ablation": table, "reliability": "unasked"})
        assert page.read_text() == (
            f"# A\n\n<!-- ablation: benchmarks/release.py -->\n{table}\n<!-- end -->\n\n<!-- x: y -->\n<!-- end -->\n"
        )


def test_the_ranking_page_has_a_place_for_each_table() -> None:
    page = (Path(__file__).parents[2] / "docs/ranking.md").read_text()
    assert {found[1] for found in release._MARKED.findall(page)} == {"ablation", "reliability", "next-action"}


def test_one_entry_per_file() -> None:
    places = tuple(ndcg.Place(path, line, line) for path, line in (("a", 1), ("a", 5), ("b", 1), ("a", 9)))
    assert [(found.path, found.start_line) for found in release.one_per_file(ndcg.Answer(places)).results] == [
        ("a", 1),
        ("b", 1),
    ]


def test_each_ceiling_has_what_the_ones_before_it_have() -> None:
    query = ndcg.Judged("q", "r", "t", (ndcg.Place("a.py", 10, 12), ndcg.Place("b.py", 1, 5)), (), by_file=False)
    shown = ndcg.Answer(
        (
            ndcg.Place("guide.md", 1, 9),
            ndcg.Place("a.py", 1, 9),
            ndcg.Place("c.py", 1, 9),
        )
    )
    as_shown, places, kind, order, proposed = ceilings.ceilings(query, shown)
    ideal = 1 + 1 / math.log2(3)
    assert as_shown == 0
    assert places == pytest.approx(1 / math.log2(3) / ideal)
    assert kind == pytest.approx(1 / ideal) == order
    assert proposed == 0.5


def test_candidates_are_measured_beside_all_files(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = tmp_path_factory.mktemp("queries") / "queries.jsonl"
    line = {"query_id": "q", "repo": folder.name, "query": "where a boat lies", "category": "c", "language": "python"}
    queries.write_text(json.dumps({**line, "relevant": [{"path": "src/harbour.py"}]}))
    before = vars(candidates.searcher).copy()
    assert candidates.main([str(folder.parent), "--queries", str(queries)]) == 0
    assert "| 1 | 1 | 100.0% | 1.0000 | 1.0000 |" in capsys.readouterr().out
    assert vars(candidates.searcher) == before
    assert ceilings.main([str(folder.parent), "--queries", str(queries)]) == 0
    assert "| all | 1 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 |" in capsys.readouterr().out


def test_cited_lines_are_counted_where_an_answer_shows_them() -> None:
    spans = [("a.py", 1, 4), ("b.py", 9, 9), ("a.py", 4, 5)]
    question = {"spans": [{"path": path, "start_line": start, "end_line": end} for path, start, end in spans]}
    lines = cited_lines.cited(question)
    assert lines == {"a.py": {1, 2, 3, 4, 5}, "b.py": {9}}
    hits = [
        Hit("c.py", 1, 9, 1.0, 1.0, "fn", "python", body="1  not cited"),
        Hit("a.py", 3, 6, 0.5, 0.5, "fn", "python", body="3  cited\n4  as well\n   … 2 lines"),
    ]
    assert cited_lines.share(lines, hits, lines) == pytest.approx(2 / 6)
    assert cited_lines.share(lines, hits, ["a.py"]) == pytest.approx(2 / 5)
    long = Hit("a.py", 1, 90, 1.0, 1.0, "fn", "python", body="\n".join(f"{number}  x" for number in range(1, 91)))
    assert cited_lines.shown(long) == set(range(1, cited_lines.LINES + 1))
