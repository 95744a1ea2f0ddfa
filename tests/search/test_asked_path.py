"""A path typed exactly leads to its file, a line behind it to that line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling import Engine
from findling.search.asked_path import MOST, asked, meant
from in_memory import index_of

FILES = {
    "api/utils.py": "def utils_of_api(security):\n    return security\n",
    "api/security/utils.py": "def scheme(header):\n    return header.partition(' ')\n" + "# more\n" * 60 + "LAST = 1\n",
    "api/security/models.py": "class Security:\n    utils = None\n",
    "docs/security/utils.md": "# Security utils\n\nThe utils of api security are in api/security/utils.py.\n",
    "plugins/ps/functions.go": "package ps\n\nfunc parse() int { return 1 }\n",
    "plugins/ps/go.mod": "module functions/go/ps\n",
    "Makefile": "all:\n\techo all\n",
    "plugins/ps/Makefile": "all: # Makefile of ps, the Makefile of all Makefiles\n\techo Makefile\n",
}
INDEX = index_of(FILES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("api/security/utils.py", ("api/security/utils.py", 0)),
        ("./api/utils.py", ("api/utils.py", 0)),
        ("api\\utils.py", ("api/utils.py", 0)),
        ("utils.py:12", ("utils.py", 12)),
        ("utils.py:12:4:", ("utils.py", 12)),
        ("`/home/me/api/utils.py`", ("/home/me/api/utils.py", 0)),
        ("(api/utils.py)", ("api/utils.py", 0)),
        ("pages/[id].tsx", ("pages/[id].tsx", 0)),
        ("[id].tsx", ("[id].tsx", 0)),
        ("(group)/page.tsx", ("(group)/page.tsx", 0)),
        ("my notes/read me.md", ("my notes/read me.md", 0)),
        ("LICENSE", ("LICENSE", 0)),
        ("the utils", None),
        ("folder/", None),
        ("and so on ...", None),
        ("", None),
        ("one/two\nthree", None),
    ],
)
def test_what_is_a_path(text: str, expected: tuple[str, int] | None) -> None:
    assert asked(text) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("api/utils.py", ["api/utils.py"]),
        ("/api/utils.py", ["api/utils.py"]),
        ("C:/work/api/utils.py", ["api/utils.py"]),
        ("utils.py", ["api/security/utils.py", "api/utils.py"]),
        ("security/utils.py", ["api/security/utils.py"]),
        ("/home/me/project/api/security/utils.py", ["api/security/utils.py"]),
        ("project/api/utils.py", ["api/utils.py"]),
        ("other/functions.go", []),
        ("Makefile", ["Makefile"]),
        ("functions", []),
        ("tils.py", []),
        ("what is in api/security/utils.py", []),
    ],
)
def test_which_files_it_means(path: str, expected: list[str]) -> None:
    assert [file.path for file in meant(path, INDEX)] == expected


def test_the_end_of_very_many_paths_means_the_first_of_them() -> None:
    many = index_of({f"{number:03}/index.js": "export {}\n" for number in range(100)})
    assert [file.path for file in meant("index.js", many)] == [f"{number:03}/index.js" for number in range(MOST)]


@given(st.text(max_size=40))
def test_any_text_is_a_path_or_none(text: str) -> None:
    found = asked(text)
    assert found is None or {file.path for file in meant(found[0], INDEX)} <= set(FILES)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root: Path = tmp_path_factory.mktemp("paths") / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root=root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize("mode", ["auto", "keyword", "hybrid"])
@pytest.mark.parametrize("path", FILES)
def test_a_path_leads_to_its_file(engine: Engine, path: str, mode: str) -> None:
    for text in (path, f"./{path}", f"/{path}", f"/somewhere/{path}"):
        answer = engine.search(text, mode=mode, explain=True)
        assert answer.hits[0].path == path
        assert "asked_path" in {reason.signal for reason in answer.hits[0].reasons}
        assert answer.confidence > 0.5
    assert not any(hit.path == path for hit in engine.search(path, mode=mode, path_globs=("docs/*.txt",)).hits)


def test_a_file_that_is_asked_for_is_shown_from_its_beginning(engine: Engine) -> None:
    hit = engine.search("api/security/utils.py").hits[0]
    assert (hit.path, hit.start_line, hit.kind, hit.name) == ("api/security/utils.py", 1, "file", "")
    assert hit.body.lstrip().startswith("1  ") and hit.snippet_start_line == 1


def test_a_line_leads_to_its_place(engine: Engine) -> None:
    hit = engine.search("api/security/utils.py:63").hits[0]
    assert hit.path == "api/security/utils.py"
    assert hit.start_line <= 63 <= hit.end_line
    assert "LAST = 1" in hit.snippet
    assert engine.search("api/security/utils.py:99999").hits[0].path == "api/security/utils.py"
