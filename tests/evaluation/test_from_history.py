"""Questions from a repository's own past: what is asked, what is not, and that the copy does not give it away."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from findling.evaluation.from_history import History, Sample, answers, commits, from_history
from findling.evaluation.judged import load_queries
from findling.faces.cli import eval_commands
from findling.faces.cli import main as cli
from findling.model.errors import InvalidInput, NotFound
from findling.outbound.git import GitOutput, run_git
from findling.sources.discovery import discover
from findling.sources.selection import DiscoveryOptions

_APART = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_NAMED = ["-c", "user.name=x", "-c", "user.email=x@example.org"]

OF_SETTING = "run.index.exclude=-salmon.py,mode=keyword-46789c28.jsonl"

LIMITER = '''"""Limits."""


class TokenBucket:
    """Lets through so many requests a second and short bursts of more."""

    def take(self, number):
        """Whether that many tokens are left, which are gone then.

        They come back with time.
        """
        return number
'''
ROUTER = """package gateway

// Router picks the handler whose prefix matches the longest part of a path.
// It is safe for concurrent use.
type Router struct {
\troutes []string
}

// lookup walks the sorted routes until none is left to compare.
func (r *Router) lookup(path string) string { return path }
"""


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *_NAMED, *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **_APART}, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(root: Path, subject: str, files: dict[str, str | None]) -> str:
    """A commit that writes files, and removes those without a text; its id."""
    for path, text in files.items():
        file = root / path
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", subject)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("past") / "tidewater"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root, "feat(limits): token bucket for bursts of requests (#12)", {"old/bucket.py": LIMITER})
    git(root, "mv", "old", "gateway")
    commit(root, "Move everything about requests into the gateway folder", {})
    commit(
        root,
        "Route requests by the longest prefix",
        {"gateway/router.go": ROUTER, "tests/router_test.go": "package x\n"},
    )
    commit(root, "Weigh salmon before the market opens", {"salmon.py": "weight = 1\n"})
    commit(root, "No more fish in this project", {"salmon.py": None})
    commit(root, "Paint boats with another salmon colour", {"salmon.py": "colour = 'pink'\n"})
    commit(root, "Say the same thing twice here", {"a.py": "a = 1\n"})
    commit(root, "Say the same thing twice here", {"a.py": "a = 2\n"})
    commit(root, "Touch very many files at one time", {f"many/{number}.py": "x = 1\n" for number in range(12)})
    commit(root, "fix typo", {"a.py": "a = 3\n"})
    commit(root, "Bump something from 1.2 to 1.3", {"a.py": "a = 4\n"})
    commit(root, "Describe weather\nstations for visitors", {"odd\nname.md": "x\n", "docs/weather.md": "Stations.\n"})
    guide = "# Guide\n\nIt walks the sorted routes, until none is left to compare!\n"
    commit(root, "Guide for people who write handlers", {"docs/guide.md": guide, "CHANGELOG.md": "- guide\n"})
    git(root, "checkout", "-q", "-b", "side", "HEAD~3")
    commit(root, "Colour of the harbour lights at night", {"lights.py": "night = 'red'\n"})
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--no-ff", "-m", "Merge lights of the harbour into main", "side")
    (root / "link.py").symlink_to("/etc/hostname")
    key = "-----BEGIN RSA " + "PRIVATE KEY-----"
    (root / "deploy.py").write_text(f"{key}\n" + "MIIEpAIBAAKCAQEA7x3" * 40 + f"\n{key.replace('BEGIN', 'END')}\n")
    return root


@pytest.fixture(scope="module")
def made(root: Path, tmp_path_factory: pytest.TempPathFactory) -> History:
    return from_history(root, DiscoveryOptions(), tmp_path_factory.mktemp("into"), Sample())


def asked(made: History, category: str) -> dict[str, list[str]]:
    return {
        line["query"]: [target["path"] for target in line["relevant"]]
        for line in made.lines
        if line["category"] == category
    }


def test_commits_ask_for_what_their_files_are_called_now(made: History) -> None:
    assert asked(made, "commit") == {
        "token bucket for bursts of requests": ["gateway/bucket.py"],
        "Move everything about requests into the gateway folder": ["gateway/bucket.py"],
        "Route requests by the longest prefix": ["gateway/router.go"],  # its test is not what it is about
        "Paint boats with another salmon colour": ["salmon.py"],  # of the commit before, another file had that name
        "Colour of the harbour lights at night": ["lights.py"],
        "Describe weather stations for visitors": ["docs/weather.md", "odd\nname.md"],
        "Guide for people who write handlers": ["docs/guide.md"],
    }
    assert any("1 that change many files" in said and "2 with a repeated subject" in said for said in made.said)


def test_comments_ask_for_the_definition_below_them(made: History) -> None:
    questions = {line["query"]: line["relevant"][0] for line in made.lines if line["category"] == "comment"}
    assert questions == {
        "Lets through so many requests a second and short bursts of more": {
            "path": "gateway/bucket.py",
            "start_line": 4,
            "end_line": 12,
        },
        "Whether that many tokens are left, which are gone then": {
            "path": "gateway/bucket.py",
            "start_line": 7,
            "end_line": 12,
        },
        "picks the handler whose prefix matches the longest part of a path": {
            "path": "gateway/router.go",
            "start_line": 5,
            "end_line": 7,
        },
    }  # what ``lookup`` does stands in the guide, too


def test_the_copy_has_everything_but_these_comments(made: History, root: Path) -> None:
    for name in ("gateway/bucket.py", "gateway/router.go"):
        before, after = (root / name).read_text(), (made.root / name).read_text()
        assert after.count("\n") == before.count("\n")
        for line in made.lines:
            assert line["query"] not in after
        kept = [line for line in after.split("\n") if line.strip(' "\t')]
        assert all(line in before.split("\n") for line in kept)
    bucket = (made.root / "gateway/bucket.py").read_text().split("\n")
    assert (
        bucket[0] == '"""Limits."""'
        and bucket[3] == "class TokenBucket:"
        and bucket[6] == "    def take(self, number):"
    )
    assert bucket[11] == "        return number" and "come back" not in "\n".join(bucket)
    assert "safe for concurrent" not in (made.root / "gateway/router.go").read_text()
    assert (made.root / "docs/guide.md").read_bytes() == (root / "docs/guide.md").read_bytes()
    assert (
        not (made.root / "link.py").exists()
        and not (made.root / "deploy.py").exists()
        and not (made.root / ".git").exists()
    )


def test_the_same_sample_each_time(root: Path, tmp_path: Path) -> None:
    def queries(seed: int, to: str) -> list[str]:
        found = from_history(root, DiscoveryOptions(), tmp_path / to, Sample(2, 1, seed))
        return [line["query"] for line in found.lines]

    first = queries(1, "a")
    assert len(first) == 3 and first == queries(1, "b")
    assert any(queries(seed, f"c{seed}") != first for seed in (2, 3, 4))


def test_a_repository_starts_nothing(root: Path, tmp_path: Path) -> None:
    """Its own configuration names programs; reading its history runs none of them."""
    copy = tmp_path / "copy"
    subprocess.run(["git", "clone", "-q", str(root), str(copy)], check=True, env={**os.environ, **_APART})
    marker = tmp_path / "ran"
    script = tmp_path / "attack"
    script.write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    script.chmod(0o755)
    for key, value in (
        ("log.showSignature", "true"), ("gpg.program", str(script)), ("diff.external", str(script)),
        ("core.pager", str(script)), ("core.fsmonitor", str(script)), ("diff.x.textconv", str(script)),
    ):  # fmt: skip
        git(copy, "config", key, value)
    (copy / ".gitattributes").write_text("* diff=x\n")
    assert commits(copy)
    assert not marker.exists()


def test_the_first_commit_counts_whatever_is_configured(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in (("COUNT", "1"), ("KEY_0", "log.showRoot"), ("VALUE_0", "false")):
        monkeypatch.setenv(f"GIT_CONFIG_{key}", value)
    assert "old/bucket.py" in commits(root)[-1].paths


def test_a_folder_of_a_repository_has_its_own_history(root: Path) -> None:
    found = commits(root / "gateway")
    assert {path for commit in found for path in commit.paths} == {"bucket.py", "router.go"}


def test_a_folder_of_a_repository_is_asked_about_alone(root: Path, tmp_path: Path) -> None:
    made = from_history(root, DiscoveryOptions(), tmp_path / "into", Sample(), below="gateway")
    assert asked(made, "commit") == {
        "Move everything about requests into the gateway folder": ["gateway/bucket.py"],
        "Route requests by the longest prefix": ["gateway/router.go"],
    }
    assert len(asked(made, "comment")) == 4  # the guide, which says one of them too, is not there
    assert sorted(path.name for path in made.root.rglob("*.*")) == ["bucket.py", "router.go"]
    with pytest.raises(InvalidInput, match="is not a folder"):
        from_history(root, DiscoveryOptions(), tmp_path / "other", Sample(), below="gateway/bucket.py")


def test_what_was_made_before_is_not_copied(root: Path, tmp_path: Path) -> None:
    """Earlier questions would be found in place of their answers, and the comments' be said elsewhere."""
    copy = tmp_path / "copy"
    subprocess.run(["git", "clone", "-q", str(root), str(copy)], check=True, env={**os.environ, **_APART})
    (copy / "measured").mkdir()
    said = "".join(f"# {name}\n" for name in (LIMITER, ROUTER))
    (copy / "measured" / "questions.py").write_text(said)
    made = from_history(copy, DiscoveryOptions(), tmp_path / "a", Sample(), but=copy / "measured")
    assert not (made.root / "measured").exists() and len(asked(made, "comment")) == 3
    seen = from_history(copy, DiscoveryOptions(), tmp_path / "b", Sample(), but=tmp_path)
    assert (seen.root / "measured/questions.py").exists() and not asked(seen, "comment")
    with pytest.raises(InvalidInput, match="is the folder to be copied"):
        from_history(copy, DiscoveryOptions(), tmp_path / "c", Sample(), but=copy)


def test_what_git_tracks_is_in_the_copy_although_a_list_ignores_it(tmp_path: Path) -> None:
    root = tmp_path / "kept"
    root.mkdir()
    git(root, "init", "-q")
    commit(root, "Colour of the harbour lights at night", {"made/lights.py": "night = 'red'\n"})
    commit(root, "Ignore everything that the build has made", {".gitignore": "made/\n"})
    made = from_history(root, DiscoveryOptions(), tmp_path / "into", Sample())
    assert list(asked(made, "commit")) == ["Colour of the harbour lights at night"]
    assert [path for path, _, _ in discover(made.root, DiscoveryOptions(hidden=True)).files] == ["made/lights.py"]


def test_what_cannot_be_done_is_said(root: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(NotFound, match="has no history"):
        from_history(plain, DiscoveryOptions(), tmp_path / "x", Sample())
    with pytest.raises(InvalidInput, match="lies inside"):
        from_history(root, DiscoveryOptions(), root / "inside", Sample())
    (tmp_path / "there" / root.name).mkdir(parents=True)
    with pytest.raises(InvalidInput, match="is there already"):
        from_history(root, DiscoveryOptions(), tmp_path / "there", Sample())
    with pytest.raises(NotFound, match="no usable questions"):
        from_history(root, DiscoveryOptions(), tmp_path / "y", Sample(0, 0))


def test_what_a_commit_is_about() -> None:
    assert answers(["src/a.py", "tests/test_a.py", "CHANGELOG.md", "docs/a.md"]) == ("src/a.py",)
    assert answers(["CHANGELOG.md", "docs/a.md"]) == ("docs/a.md",)
    assert answers(["tests/test_a.py"]) == ("tests/test_a.py",)


def test_the_command_writes_all_of_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    arguments = (
        "eval",
        "--from-history",
        str(root),
        "--out",
        "out",
        "--compare",
        "mode=keyword",
        "--compare",
        "index.exclude=/salmon.py,mode=keyword",
        "--keep-copy",
        "--json",
    )
    assert cli.main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    out = tmp_path / "out"
    assert {file.name for file in out.iterdir()} == {
        "questions.jsonl", "run.jsonl", "run.keyword.jsonl", OF_SETTING, "report.json", "reliability.svg",
        "reliability.png", "latency.svg", "latency.png", "corpora",
    }  # fmt: skip
    queries = load_queries(out / "questions.jsonl")
    assert printed["all"]["queries"] == len(queries) == 10
    report = json.loads((out / "report.json").read_text())
    assert report["evaluation"]["all"] == printed["all"]
    assert [row["name"] for row in report["compared"]] == ["mode=keyword", "index.exclude=/salmon.py,mode=keyword"]
    for compared in report["compared"]:
        counts = compared["comparison"]
        assert counts["better"] + counts["equal"] + counts["worse"] == len(queries)
        assert len(counts["changes"]) == counts["better"] + counts["worse"]
    found = {run: "salmon.py" in (out / run).read_text() for run in ("run.jsonl", "run.keyword.jsonl", OF_SETTING)}
    assert found == {"run.jsonl": True, "run.keyword.jsonl": True, OF_SETTING: False}
    assert not list(tmp_path.glob("findling-eval-*")) and not list((tmp_path / "cache").rglob("index.db"))
    for picture in ("reliability.svg", "latency.svg"):
        ElementTree.fromstring((out / picture).read_text())
    assert sum(row["queries"] for row in printed["reliability"]) == len(queries)
    assert not (root / ".findling").exists()

    # The same questions, asked of the copy that was kept, and two runs that are there already.
    again = (
        "eval",
        "out/questions.jsonl",
        "--corpora",
        "out/corpora",
        "--run",
        "again.jsonl",
        "--compare",
        "out/run.jsonl",
    )
    assert cli.main(again) == 0
    assert "+0.0000 [+0.0000, +0.0000]" in capsys.readouterr().out
    pair = (
        "eval",
        "out/questions.jsonl",
        "--run",
        "out/run.jsonl",
        "--compare",
        "out/run.keyword.jsonl",
        "--plots",
        "p",
    )
    assert cli.main(pair) == 0
    assert "run.jsonl minus it" in capsys.readouterr().out
    assert (tmp_path / "p/latency.svg").is_file()
    assert (tmp_path / "p/latency.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_library_for_pictures_the_rest_is_made(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["eval", "--from-history", str(root), "--out", "out", "--commits", "1", "--comments", "1"]) == 0
    assert {file.name for file in Path("out").iterdir()} == {"questions.jsonl", "run.jsonl", "report.json"}
    assert "pip install 'findling[eval]'" in capsys.readouterr().err
    assert cli.main(["eval", "out/questions.jsonl", "--run", "out/run.jsonl", "--plots", "p"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "--plots: Pictures need matplotlib" in said.err and "findling[eval]" in said.err
    assert not Path("p").exists()


def test_the_copy_is_gone_when_the_command_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as raised, eval_commands._scratch(None) as folder:
        (folder / "source.py").write_text("x = 1\n")
        signal.raise_signal(signal.SIGTERM)
    assert raised.value.code == 128 + signal.SIGTERM
    assert not list(tmp_path.iterdir()) and signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("eval", "q.jsonl", "--from-history", "--out", "o"), "makes its own queries"),
        (("eval", "--from-history"), "--out is missing"),
        (("eval",), "QUERIES is missing"),
        (("eval", "q.jsonl"), "--run is missing"),
        (("eval", "q.jsonl", "--run", "r", "--out", "o"), "are for --from-history"),
        (("eval", "--from-history", "--out", "o", "--compare", "mode=best"), "There is no mode 'best'"),
        (("eval", "--from-history", "--out", "o", "--compare", "semantic.ratio=1"), "does not change the answers"),
        (("eval", "--from-history", "--out", "o", "--compare", "index.hidden=true"), "decides what is copied"),
        (("eval", "--from-history", "--out", "o", "--compare", "semantic.chunk_size=1"), "from 100 to 20_000"),
        (("eval", "--from-history", "--out", "o", "--commits", "-1"), "is not a whole number"),
    ],
)
def test_what_does_not_go_together(
    arguments: tuple[str, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_looking_for_renames_takes_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "one", {"old.py": "def moved():\n    pass\n"})
    commit(tmp_path, "two", {"old.py": None, "new.py": "def moved():\n    pass\n"})
    asked: list[tuple[bool, bool]] = []

    def run(arguments: list[str], **options: Any) -> GitOutput:
        asked.append(("--find-renames" in arguments, options["little_memory"]))
        if asked[-1][0]:
            return GitOutput("failed", 128, b"", b"fatal: Out of memory, malloc failed (tried to allocate 9)")
        return run_git(arguments, **options)

    assert [change.paths for change in commits(tmp_path)] == [{"new.py": "new.py"}, {"old.py": "new.py"}]
    monkeypatch.setattr("findling.evaluation.from_history.run_git", run)
    assert [change.paths["old.py"] for change in commits(tmp_path)] == [None, None]
    assert asked == [(True, True), (False, True)]
