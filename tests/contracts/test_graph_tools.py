"""explore and impact: definitions with what belongs to them, and what a change can reach."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from findling.contracts import TOOLS, Workspace, budget, call
from findling.contracts.tools import select
from findling.model.types import ANSWER_CHARS

FILES = {
    "shop/keep.py": (
        "class Shelf:\n"
        '    """Where things are kept."""\n'
        "    def put_away(self, item):\n"
        "        return check_weight(item)\n"
        "def check_weight(item):\n"
        "    return item.weight < 10\n"
    ),
    "shop/run.py": (
        "from shop.keep import Shelf\n"
        "def unpack_delivery(items):\n"
        "    shelf = Shelf()\n"
        "    for item in items:\n"
        "        shelf.put_away(item)\n"
    ),
    "tests/test_keep.py": "from shop.keep import check_weight\ndef test_weight():\n    check_weight(1)\n",
    "docs/keep.md": "# Keeping\n\nHeavy things are refused by `check_weight`.\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return Workspace(tmp_path, root=tmp_path)


def facts(workspace: Workspace, tool: str, **arguments: Any) -> dict[str, Any]:
    result = call(tool, arguments, workspace)
    assert result.structured is not None and not result.is_error, result.text_blocks
    assert result.text_blocks == [budget.dumps(result.structured)]  # the text has the same facts
    return result.structured


def test_names_are_answered_with_their_text_and_what_belongs_to_it(workspace: Workspace) -> None:
    with workspace:
        found = facts(workspace, "explore", query="check_weight")
        (place,) = found["places"]
        assert place["body"].split("\n") == ["5  def check_weight(item):", "6      return item.weight < 10"]
        assert place["related"] == {"called_by": ["shop/keep.py:4 return check_weight(item)"], "in_tests": 1}
        assert {"body", "called_by", "path"} <= set(found["untrusted"])
        both = facts(workspace, "explore", query="Shelf put_away")
        assert [place["name"] for place in both["places"]] == ["Shelf.put_away"]
        two = facts(workspace, "explore", query="check_weight, unpack_delivery")
        assert [place["name"] for place in two["places"]] == ["check_weight", "unpack_delivery"]
        assert facts(workspace, "explore", query="shop/keep.py:6")["places"][0]["name"] == "check_weight"
        assert [line.split()[0] for line in two["chain"]] == ["unpack_delivery", "Shelf.put_away", "check_weight"]
        lacking = facts(workspace, "explore", query="check_weight no_such_thing")
        assert [each["text"] for each in lacking["absent"]] == ["no_such_thing"]


def test_a_question_is_answered_with_places_and_the_calls_between_them(workspace: Workspace) -> None:
    with workspace:
        found = facts(workspace, "explore", query="how does a delivery get from unpacking to the check of its weight")
        assert found["chain"][0].startswith("unpack_delivery shop/run.py:2")
        assert {"unpack_delivery", "check_weight"} <= {place["name"] for place in found["places"]}
        assert "low_confidence" in found["metadata"]
        short = facts(workspace, "explore", query="where is the weight checked", max_tokens=150)
        assert len(budget.dumps(short["places"])) <= 600


def test_an_impact_is_told_step_by_step(workspace: Workspace) -> None:
    with workspace:
        found = facts(workspace, "impact", name="check_weight")
        assert [(each["name"], each["step"], each["grade"]) for each in found["reached"]] == [
            ("Shelf.put_away", 1, "certain"),
            ("unpack_delivery", 2, "likely"),
        ]
        assert found["reached"][1]["uses"] == "Shelf.put_away" and found["reached"][1]["why"] == "made by Shelf()"
        assert found["tests"] == ["tests/test_keep.py:2 test_weight (step 1)"]
        assert found["documents"] == ["docs/keep.md:3 Heavy things are refused by `check_weight`."]


def test_an_impact_of_what_is_not_defined_is_none_of_nothing(workspace: Workspace) -> None:
    with workspace:
        for name, code, said in (
            ("check_weigth", "symbol_not_found", "Did you mean check_weight (shop/keep.py:"),
            ("check_wei", "symbol_not_found", "Did you mean check_weight (shop/keep.py:"),
            ("ZzyzxQuokka", "symbol_not_found", "No definition is called 'ZzyzxQuokka'"),
            ("where is it", "invalid_input", "must be the name of one definition"),
        ):
            refused = call("impact", {"name": name}, workspace)
            assert refused.is_error and refused.structured is not None
            error = refused.structured["error"]
            assert error["code"] == code and said in error["message"], error


def test_an_impact_wants_one_of_two(workspace: Workspace) -> None:
    with workspace:
        for arguments in ({}, {"name": "x", "diff": "HEAD"}):
            refused = call("impact", arguments, workspace)
            assert refused.is_error and refused.structured is not None
            assert refused.structured["error"]["code"] == "invalid_input"
        outside = call("impact", {"diff": "HEAD"}, workspace)
        assert outside.structured is not None and outside.structured["error"]["code"] == "ref_not_indexed"


def test_an_impact_of_many_deleted_files_keeps_to_its_tokens(tmp_path: Path) -> None:
    for number in range(80):
        (tmp_path / f"part{number:02}.py").write_text(f"def name_{number}(argument):\n    return 1\n", encoding="utf-8")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    for path in tmp_path.glob("*.py"):
        path.unlink()
    with Workspace(tmp_path, root=tmp_path) as workspace:
        found = facts(workspace, "impact", diff="HEAD", max_tokens=300)
        kept = found["gone"]
        assert 0 < len(budget.dumps(kept)) <= 302
        assert f"{80 - len(kept)} more definitions that are gone are not listed." in found["metadata"]["warnings"]


def test_an_impact_keeps_to_the_length_of_an_answer(tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text("def kept_name():\n    return 1\n", encoding="utf-8")
    for number in range(60):
        uses = "".join(f"def use_{number}_{each}():\n    return kept_name()\n" for each in range(4))
        (tmp_path / f"part{number:02}.py").write_text(f"from kept import kept_name\n{uses}", encoding="utf-8")
        tests = uses.replace("def use_", "def test_use_")
        (tmp_path / f"test_part{number:02}.py").write_text(f"from kept import kept_name\n{tests}", encoding="utf-8")
    with Workspace(tmp_path, root=tmp_path) as workspace:
        found = facts(workspace, "impact", name="kept_name")
        assert 10 < len(found["reached"]) < 240 and 5 < len(found["tests"]) < 240
        assert len(budget.dumps(found)) <= ANSWER_CHARS + budget.NOTICE
        assert any("left out to keep the answer short" in warning for warning in found["metadata"]["warnings"])


def test_many_definitions_of_one_name_are_not_all_told(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"part{number:02}.py").write_text("def same_name():\n    return 1\n", encoding="utf-8")
    with Workspace(tmp_path, root=tmp_path) as workspace:
        found = facts(workspace, "explore", query="same_name")
        assert [place["path"] for place in found["places"]] == ["part00.py", "part01.py", "part02.py"]
        assert found["metadata"]["warnings"][-1:] == [
            "9 more definitions are called same_name: say which by what encloses it or by its file."
        ]
        reached = facts(workspace, "impact", name="same_name")
        assert len(reached["definitions"]) == 12
        assert "12 definitions have this name; say which" in reached["metadata"]["warnings"][0]


def test_the_family_comes_with_the_code_family() -> None:
    graph = [name for name, tool in TOOLS.items() if tool.family == "graph"]
    assert graph == ["explore", "impact"]
    assert set(graph) <= {tool.name for tool in select(["code"])}
    assert [tool.name for tool in select(["graph"])] == graph
    assert not set(graph) & {tool.name for tool in select(["docs", "search_code"])}
