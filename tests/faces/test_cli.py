"""Every command from a real process, on a small project of real files."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import apsw
import pytest

import forked
from findling.engine.background_process import AT_ONCE, TURNS
from findling.engine.small_files import Turns
from findling.store.local import checksums

FILES: Mapping[str, str] = {
    "src/http/client.py": '''\
"""Sending requests over the network."""

import time


class Client:
    """Talks to a server, and tries again when it does not answer."""

    def retry_failed(self, request, attempts=3):
        """Send a request again after a failure, with a growing pause."""
        for attempt in range(attempts):
            try:
                return self.send(request)
            except ConnectionError:
                time.sleep(2**attempt)
        raise ConnectionError("gave up")

    def send(self, request):
        return request.transport.deliver(request)
''',
    "src/billing/invoice.py": '''\
"""Invoices and what they add up to."""

VAT_RATE = 0.19


def total_with_tax(lines):
    """The sum of all lines of an invoice, value added tax included."""
    net = sum(line.amount for line in lines)
    return net * (1 + VAT_RATE)
''',
    "src/main.py": """\
from http.client import Client


def run(request):
    return Client().retry_failed(request)
""",
    "web/cart.ts": """\
export interface CartLine { sku: string; quantity: number }

export function emptyCart(): CartLine[] {
  return [];
}
""",
    "docs/guide.md": """\
# Guide

## Installing

Copy the folder and start the program.

## When the network is down

Requests that fail are sent again three times before the program gives up.
""",
    "docs/taxes.md": "# Taxes\n\nEvery invoice shows the value added tax of its country.\n",
    ".env": "API_KEY=not-a-real-one\n",
}

Run = Callable[..., subprocess.CompletedProcess[str]]


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def environment(home: Path, **more: str) -> dict[str, str]:
    hidden = ("NO_COLOR", "FORCE_COLOR", "FINDLING_DEBUG")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    cache = {"XDG_CACHE_HOME": str(home / "cache"), "HOME": str(home)}
    return {**kept, **cache, "TERM": "xterm-256color", "COLUMNS": "100", **more}


def findling(*arguments: str, cwd: Path, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return forked.findling(*arguments, cwd=cwd, env=environment(home, **more))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home").resolve()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Path:
    """A project with a complete index. Tests do not change it."""
    folder = write(tmp_path_factory.mktemp("projects").resolve() / "shop", FILES)
    ran = findling("index", cwd=folder, home=home)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    """The same with its index, to be changed."""
    return Path(shutil.copytree(project, tmp_path.resolve() / "copy"))


@pytest.fixture
def run(project: Path, home: Path) -> Run:
    def run(*arguments: str, cwd: Path = project, **more: str) -> subprocess.CompletedProcess[str]:
        return findling(*arguments, cwd=cwd, home=home, **more)

    return run


def headings(text: str) -> list[str]:
    """The paths of a plain search answer, in order."""
    return re.findall(r"^(\S.*?):\d+-\d+  ", text, re.MULTILINE)


# --- search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("retry_failed", "src/http/client.py"),
        ("emptyCart", "web/cart.ts"),
        ("value added tax", "src/billing/invoice.py"),
        ("where do we send a request again after it failed", "src/http/client.py"),
    ],
)
def test_search_finds_names_phrases_and_meanings(run: Run, question: str, expected: str) -> None:
    ran = run("search", question)
    assert ran.returncode == 0, ran.stderr
    assert expected in headings(ran.stdout)[:2]
    assert "\x1b" not in ran.stdout


def test_search_shows_the_symbol_and_the_lines(run: Run) -> None:
    ran = run("search", "retry_failed", "--limit", "1", "--explain")
    first = ran.stdout.splitlines()[0]
    found = re.fullmatch(r"src/http/client\.py:(\d+)-(\d+)  (\S+)  \[([a-z,]+)\]", first)
    assert found, first
    start, end, name, channels = found.groups()
    assert int(start) <= 9 <= int(end)
    assert name.endswith("retry_failed")
    assert set(channels.split(",")) <= {"keyword", "symbol", "exact", "semantic"}
    source = FILES["src/http/client.py"].splitlines()
    for number, text in re.findall(r"^ +(\d+)  (.*)$", ran.stdout, re.MULTILINE):
        assert source[int(number) - 1] == text


def test_every_mode_answers(run: Run) -> None:
    for mode in ("auto", "keyword", "symbol", "semantic", "exact", "hybrid"):
        ran = run("search", "retry_failed", "--mode", mode)
        assert (ran.returncode, headings(ran.stdout)[:1]) == (0, ["src/http/client.py"]), (mode, ran.stderr)


def test_filters_narrow_the_answer(run: Run, project: Path) -> None:
    question = "value added tax of an invoice"
    assert all(path.endswith(".md") for path in headings(run("search", question, "--kind", "docs").stdout))
    assert all(path.endswith(".py") for path in headings(run("search", question, "-l", "python").stdout))
    assert all(path.startswith("docs/") for path in headings(run("search", question, "--path", "docs/**").stdout))
    below = headings(run("search", question, str(project / "docs")).stdout)
    assert below and all(path.startswith("docs/") for path in below)
    assert headings(run("search", question, "docs/taxes.md").stdout) == ["docs/taxes.md"]


def test_a_long_query_is_cut_with_a_note(run: Run) -> None:
    ran = run("search", "retry_failed " + "x" * 120_000)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("src/http/client.py:")
    assert "note: The query has 120,013 characters; only the first 100,000 were searched for.\n" in ran.stderr
    told = json.loads(run("search", "--json", "retry_failed " + "x" * 120_000).stdout)
    assert told["notes"][0].startswith("The query has 120,013 characters")


NAME = "x" * 300


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["doctor", NAME], "cannot be used: File name too long."),
        (["config", NAME], "cannot be used: File name too long."),
        (["search", "retry", NAME], "cannot be used: File name too long."),
        (["sync", f"src/{NAME}"], "is not the path of a file."),
        (["eval", NAME, "--run", "run.jsonl"], f"{NAME} cannot be read: File name too long."),
        (["library", "add", NAME], "cannot be used: File name too long."),
        (["search", "retry", "-n", "7" * 400], "is not a whole number from 1 to 1000."),
        (["search", "retry", "-n", "7" * 5000], "is not a whole number from 1 to 1000."),
        (["search", "retry", "--wait", "7" * 400], "is neither 'all' nor a number of seconds"),
        (["similar", f"src/main.py:{'7' * 5000}"], "src/main.py has 5 lines; there is no line 777777777777777777."),
        (["serve", "--http", "7" * 5000], "is not [HOST:]PORT."),
        (["config", "--set", f"semantic.similarity_threshold={'7' * 400}"], "is a very large number. It takes"),
        (["tool", "search_code", f'{{"query": "a", "limit": {"7" * 5000}}}'], "value has 5000 digits. Write an object"),
        (["library", "fetch", "https://a.example/\udcff"], "The URL has a byte in it that is not UTF-8. Write it as"),
        (["library", "fetch", "https://a.example/b", "--branch", "\udcff"], "cannot be the name of a branch"),
        (
            ["library", "fetch", "https://a.example/b.git", "--include", "\udcff"],
            "A pattern has a byte in it that is not",
        ),
    ],
)
def test_what_no_system_takes_is_said_in_words(run: Run, tmp_path: Path, arguments: list[str], said: str) -> None:
    ran = run(*arguments, XDG_DATA_HOME=str(tmp_path / "data"))
    assert ran.returncode == 2
    assert said in ran.stderr and "unexpected" not in ran.stderr
    assert not (tmp_path / "data").exists()


def test_search_json(run: Run, project: Path) -> None:
    answer = json.loads(run("search", "retry_failed", "--json", "--explain").stdout)
    assert answer["root"] == str(project)
    assert answer["query"] == "retry_failed"
    assert (answer["completeness"], answer["freshness"]) == ("complete", "fresh")
    first = answer["hits"][0]
    assert first["path"] == "src/http/client.py"
    assert 0 <= first["score"] <= 1
    assert sum(reason["value"] for reason in first["reasons"]) == pytest.approx(first["rank_value"])


def test_search_shows_further_pages(run: Run) -> None:
    whole = [hit["path"] for hit in json.loads(run("search", "request", "--json", "--explain").stdout)["hits"]]
    paged = [
        hit["path"]
        for page in range(1, len(whole) + 1)
        for hit in json.loads(run("search", "request", "--json", "-n", "1", "--page", str(page)).stdout)["hits"]
    ]
    assert len(whole) > 1 and paged == whole
    beyond = run("search", "request", "--page", "99")
    assert beyond.stdout == "" and f"{len(whole)} files matched; there is no such page" in beyond.stderr


def test_a_token_budget_is_kept_and_said(run: Run) -> None:
    whole, packed = (
        json.loads(run("search", "request", "--json", *more).stdout) for more in ((), ("--max-tokens", "60"))
    )
    assert len(json.dumps(packed["hits"])) < len(json.dumps(whole["hits"]))
    assert packed["completeness"] == "truncated"
    assert packed["notes"]


def test_nothing_found(run: Run) -> None:
    ran = run("search", "xyzzyplugh", "--mode", "keyword")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "'xyzzyplugh' does not occur in the 6 files searched" in ran.stderr


def test_what_does_not_occur_is_said_and_a_status(run: Run) -> None:
    for command in ("search", "symbol", "grep"):
        ran = run(command, "zz_parse_none")
        assert (ran.returncode, ran.stdout) == (1, "")
        assert "'zz_parse_none' does not occur in the 6 files searched" in ran.stderr
        assert "nothing found" not in ran.stderr
    assert "does not occur" not in run("grep", "zz_parse.none").stderr  # an expression is no text


def test_of_a_slip_of_the_pen_what_was_meant_is_shown(run: Run) -> None:
    ran = run("search", "retry_faled")
    assert "retry_failed" in ran.stdout
    assert ran.returncode == 1
    assert "did you mean retry_failed (src/" in ran.stderr.splitlines()[-1]
    found = json.loads(run("search", "retry_faled", "--json").stdout)
    assert found["hits"][0]["name"] == "retry_failed"
    assert found["low_confidence"] is False
    assert found["absent"][0]["meant"] == "retry_failed"
    assert found["absent"][0]["nearest"][0]["text"] == "retry_failed"


def test_a_pasted_text_from_stdin(project: Path, home: Path) -> None:
    text = "It fails\n\nSince today.\n\nsrc/http/client.py:5: in retry_failed\n" + "more words\n" * 20_000
    ran = forked.findling("search", "-", cwd=project, env=environment(home), stdin=text)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"^  by .*trace at line 5", ran.stdout, re.MULTILINE)
    assert "only the first 100,000 were searched for" in ran.stderr


def test_the_first_search_indexes(tmp_path: Path, home: Path) -> None:
    folder = write(tmp_path.resolve() / "new", FILES)
    ran = findling("search", "retry_failed", "--wait", "all", cwd=folder, home=home)
    assert ran.returncode == 0, ran.stderr
    assert headings(ran.stdout)[0] == "src/http/client.py"
    assert (folder / ".findling" / ".gitignore").read_text() == "*\n"


def test_the_cache_option_leaves_the_project_alone(tmp_path: Path, home: Path) -> None:
    folder = write(tmp_path.resolve() / "new", FILES)
    ran = findling("search", "retry_failed", "--cache", "--wait", "all", cwd=folder, home=home)
    assert ran.returncode == 0, ran.stderr
    assert not (folder / ".findling").exists()
    assert list((home / "cache" / "findling").glob("new-*"))
    # Nothing in the folder tells that it has an index: a file in it is the current folder's nevertheless.
    ran = findling("sync", "src/main.py", "--cache", cwd=folder, home=home)
    assert f"root: {folder}\n" in ran.stdout, ran.stdout


def test_paths_are_relative_to_the_current_folder(run: Run, project: Path) -> None:
    assert headings(run("search", "retry_failed", cwd=project / "src").stdout)[0] == "http/client.py"
    assert headings(run("search", "emptyCart", cwd=project / "src").stdout)[0] == "../web/cart.ts"


# --- grep, symbol, similar --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern", [r"request\w*", r"\bdef \w+\(self", r"[0-9]+\.[0-9]+", r"(?i)TAX", r"^\s*return .*$"]
)
def test_grep_finds_what_python_finds(run: Run, pattern: str) -> None:
    ran = run("grep", pattern)
    expected = {}
    for name, text in FILES.items():
        for number, line in enumerate(text.splitlines(), 1):
            if name != ".env" and re.search(pattern, line):
                expected[name, number] = line
    found = {}
    for row in ran.stdout.splitlines():
        name, number, text = row.split(":", 2)
        found[name, int(number)] = text
    assert found == expected
    counts = dict(row.rsplit(":", 1) for row in run("grep", pattern, "--count").stdout.splitlines())
    assert {name: int(number) for name, number in counts.items()} == {
        name: lines
        for name, text in FILES.items()
        if name != ".env" and (lines := sum(1 for line in text.splitlines() if re.search(pattern, line)))
    }


def test_grep_options(run: Run) -> None:
    assert run("grep", "-F", "(1 + VAT_RATE)", "-l").stdout == "src/billing/invoice.py\n"
    assert run("grep", "vat_rate").returncode == 1
    assert run("grep", "-i", "vat_rate", "--count").stdout == "src/billing/invoice.py:2\n"
    assert run("grep", "-e", "e", "--count-matches", "src/main.py").stdout == "src/main.py:11\n"
    assert run("grep", "e", "-c", "src/main.py").stdout == "src/main.py:3\n"
    assert run("grep", "-w", "retry").returncode == 1
    context = run("grep", "gave up", "-C", "1", "-t", "python").stdout.splitlines()
    assert [row.split(".py")[1][:4] for row in context] == ["-15-", ":16:", "-17-"]
    context = run("grep", "gave up", "-C", "1", "-t", "python", "--heading").stdout.splitlines()
    assert [row[:3] for row in context[1:]] == ["15-", "16:", "17-"]
    assert run("grep", "-F", "--", "-> ", "src").returncode == 1


def test_grep_searches_the_current_folder_and_shows_paths_from_there(copy: Path, home: Path) -> None:
    (copy / ".findlingignore").write_text("")
    below = copy / "src"
    ran = findling("grep", "-l", "retry", cwd=below, home=home)
    assert ran.returncode == 0, ran.stderr
    inside = ran.stdout.splitlines()
    assert inside and not any(path.startswith("..") for path in inside)
    assert findling("grep", "-l", "retry", "..", cwd=below, home=home).stdout.splitlines() >= inside
    assert findling("grep", "-l", "retry", "-g", "billing/*.py", cwd=below, home=home).stdout.splitlines() == [
        path for path in inside if path.startswith("billing/")
    ]
    several = findling("grep", "-c", "-e", "import", "src/main.py", "-e", "class", "docs", cwd=copy, home=home)
    assert several.returncode == 0 and "src/main.py:" in several.stdout, several.stderr
    wrong = findling("grep", "-e", "class", "import", cwd=copy, home=home)
    assert wrong.returncode == 2 and "no file or folder 'import'" in wrong.stderr


def test_grep_searches_several_projects_one_after_another(tmp_path: Path, home: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "a.py").write_text("needle = 1\n")
    ran = findling("grep", "needle", "one", "two", cwd=tmp_path, home=home)
    assert (ran.returncode, ran.stdout) == (0, "one/a.py:1:needle = 1\ntwo/a.py:1:needle = 1\n"), ran.stderr
    assert findling("grep", "needle", "one", "two", "--json", cwd=tmp_path, home=home).returncode == 2
    part = findling("grep", "needle", "three", "one", cwd=tmp_path, home=home)
    assert (part.returncode, part.stdout) == (2, "one/a.py:1:needle = 1\n") and "folder 'three'" in part.stderr
    assert "'three'" in findling("grep", "needle", "three", "one", "--json", cwd=tmp_path, home=home).stderr
    assert not (tmp_path / "one" / ".findling").exists()


def test_a_quiet_grep_that_could_not_search_all_files_does_not_say_that_there_is_nothing(
    tmp_path: Path, home: Path
) -> None:
    large = "other words of a line\n" * 30_000
    folder = write(tmp_path, {"a.txt": large, "b.txt": large, "c.txt": "needle\n", "findling.toml": "[grep]\n"})
    quiet = ("grep", "-q", "needle", ".")
    assert findling(*quiet, cwd=folder, home=home).returncode == 0
    (folder / "findling.toml").write_text("[grep]\nmax_total_bytes = 1048576\n")
    cut = findling(*quiet, cwd=folder, home=home)
    assert (cut.returncode, cut.stdout) == (2, "") and "Not all files could be searched" in cut.stderr


def test_grep_shows_the_definition_around_a_match_once(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a.py").write_text(
        "TOP = needle\n\n\ndef outer():\n    x = needle\n    y = needle\n    return x\n\n\ndef other():\n    pass\n"
    )
    ran = findling("grep", "-W", "needle", cwd=tmp_path, home=home)
    assert ran.stdout.splitlines() == [
        "a.py",
        "1:TOP = needle",
        "--",
        "4-def outer():",
        "5:    x = needle",
        "6:    y = needle",
        "7-    return x",
    ]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("def test_it():\n    setup()\n    assert needle\n")
    ran = findling("grep", "-W", "--no-heading", "assert needle", cwd=tmp_path, home=home)
    assert ran.stdout == "tests/test_a.py:3:    assert needle\n" and "Of tests only the lines that match" in ran.stderr
    ran = findling("grep", "-W", "assert needle", "tests", cwd=tmp_path, home=home)
    assert ran.stdout.splitlines()[1:] == ["1-def test_it():", "2-    setup()", "3:    assert needle"]
    assert ran.stderr == ""


def test_grep_as_ripgreps_events(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a.txt").write_text("naïve needle, needle\nnext\n")
    ran = findling("grep", "needle", "--json-events", "-A1", "-r", "x", cwd=tmp_path, home=home)
    begin, match, context, end, summary = map(json.loads, ran.stdout.splitlines())
    path = {"text": "a.txt"}
    assert begin == {"type": "begin", "data": {"path": path}}
    assert match["type"] == "match" and match["data"] == {
        "path": path,
        "lines": {"text": "naïve needle, needle\n"},
        "line_number": 1,
        "absolute_offset": 0,
        "submatches": [
            {"match": {"text": "needle"}, "replacement": {"text": "x"}, "start": 7, "end": 13},
            {"match": {"text": "needle"}, "replacement": {"text": "x"}, "start": 15, "end": 21},
        ],
    }
    assert (context["data"]["absolute_offset"], context["data"]["submatches"]) == (22, [])
    assert end["data"]["stats"]["matches"] == 2 and summary["data"]["stats"]["matched_lines"] == 1


def test_grep_colours_where_it_is_told_to(tmp_path: Path, home: Path) -> None:
    (tmp_path / "a.txt").write_text("a needle\n")
    assert "\x1b[1;31mneedle" in findling("grep", "needle", "--color", "always", cwd=tmp_path, home=home).stdout
    assert "\x1b" not in findling("grep", "needle", "--color", "never", cwd=tmp_path, home=home).stdout


def test_grep_without_a_pattern_is_an_error(tmp_path: Path, home: Path) -> None:
    ran = findling("grep", cwd=tmp_path, home=home)
    assert (ran.returncode, ran.stderr) == (2, "findling: REGEX is missing. See 'findling grep --help'.\n")


def test_a_wrong_pattern_names_the_position(run: Run) -> None:
    ran = run("grep", "abc(def")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("findling: ") and ran.stderr.count("\n") == 1
    assert re.search(r"\b3\b", ran.stderr)


def test_symbol_definitions_and_uses(run: Run) -> None:
    ran = run("symbol", "retry_failed")
    assert ran.returncode == 0, ran.stderr
    assert re.match(r"src/http/client\.py:9-16  \w+  Client\.retry_failed\n", ran.stdout)
    uses = [row for row in run("symbol", "retry_failed", "--refs").stdout.splitlines() if "  ref  " in row]
    assert [row.split(":")[:2] for row in uses] == [["src/main.py", "5"]]
    assert run("symbol", "no_such_name_at_all").returncode == 1


def test_a_field_is_listed_with_those_first_that_assign_to_it(tmp_path: Path, home: Path) -> None:
    lines = ["class Slot:", "    def wait(self):", "        if self.pause == 1:", "            return self.pause"]
    lines += ["        self.pause = 2", "        self.pause += 1", "        self.pauses = 3"]
    write(tmp_path, {"slot.go": "type Slot struct {\n\tpause int\n}\n", "slot.py": "\n".join(lines)})
    write(tmp_path, {"tests/test_slot.py": "slot.pause = 1\n"})
    rows = findling("symbol", "pause", cwd=tmp_path, home=home).stdout.splitlines()
    found = [(row.split(":")[0], row.split("  ")[1]) for row in rows if "  ref  " in row or "  write  " in row]
    wrote, read, test = ("slot.py", "write"), ("slot.py", "ref"), ("tests/test_slot.py", "write")
    assert [each for each in found if each[0] != "slot.go"] == [wrote, wrote, read, read, test]
    ran = findling("symbol", "pause", "-n", "2", cwd=tmp_path, home=home)
    assert ran.stdout.count("  write  ") == 2 and "  ref  " not in ran.stdout
    assert "uses shown; see --refs and --limit" in ran.stderr
    ran = findling("grep", "--no-tests", "-l", "pause", cwd=tmp_path, home=home)
    assert ran.stdout.split() == ["slot.go", "slot.py"]


def test_grep_without_tests_counts_and_names_only_what_it_searched(tmp_path: Path, home: Path) -> None:
    write(tmp_path, {"a.py": "one = 1\n", "b.py": "two = 2\n", "tests/test_a.py": "three = 3\n"})

    def told(*operands: str) -> tuple[int, str]:
        ran = findling("grep", "--no-tests", *operands, cwd=tmp_path, home=home)
        return ran.returncode, ran.stderr.splitlines()[0]

    assert told("three") == (1, "note: 'three' does not occur in the 2 files searched")
    assert told("three", "tests") == (1, "note: nothing found: no file lies in tests and is not a test (--no-tests)")


def test_symbol_takes_a_typed_file_and_lines_with_all_options(project: Path, home: Path) -> None:
    folder = project / "src" / "http"

    def asked(*operands: str) -> tuple[str, str]:
        ran = findling("symbol", "--rows", *operands, cwd=folder, home=home)
        return ran.stdout, ran.stderr

    for name in ("client.py:10", "./client.py:12-10", f"{folder / 'client.py'}:9-16", "src/http/client.py:10"):
        stdout, stderr = asked(name)
        assert re.fullmatch(r"client\.py:9-16 .*Client\.retry_failed.*\n", stdout), (name, stderr)
    assert asked("--limit", "1", "client.py:1-99")[0].count("\n") == 1
    assert asked("--kind", "class", "client.py:10")[0].split()[1:3] == ["class", "Client"]
    shown = findling("symbol", "client.py:10-11", cwd=folder, home=home).stdout.split("\n")
    assert shown[0] == "client.py:10-11  lines  Client.retry_failed"
    assert [row.split()[0] for row in shown[2:-2]] == ["10", "11"]
    assert "src/http/client.py has 19 lines; it has no line 9000." in asked("client.py:9000")[1]
    assert re.match(r"client\.py:10-11 ", findling("symbol", "http/client.py:10-11", cwd=folder, home=home).stdout)
    stdout, stderr = asked("src/http/cleint.py:2")
    assert not stdout and "has the path src/http/cleint.py. Did you mean src/http/client.py?" in stderr
    assert "No file that is searched has the path nowhere.py" in asked("nowhere.py:1")[1]
    assert "No file that is searched has the path" in asked("nowhere\udcff.py:1")[1]


def test_callers_and_callees(run: Run) -> None:
    ran = run("callers", "retry_failed")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[1].startswith("src/main.py:5  likely  call  ")
    (edge,) = json.loads(run("callers", "Client.retry_failed", "--json").stdout)["edges"]
    assert (edge["path"], edge["line"], edge["target_path"]) == ("src/main.py", 5, "src/http/client.py")
    assert "  Client.retry_failed  line 5  " in run("callees", edge["enclosing"]).stdout
    assert json.loads(run("impact", "Client.retry_failed", "--json").stdout)["edges"][0]["step"] == 1
    assert run("impact", "Client.retry_failed", "--steps", "11").returncode == 2
    assert run("impact", "Client.retry_failed", "src", "--diff").returncode == 2
    assert run("callers", "no_such_name_at_all").returncode == 1


def test_similar(run: Run, project: Path) -> None:
    ran = run("similar", "src/billing/invoice.py:6", "--limit", "3")
    assert ran.returncode == 0, ran.stderr
    assert headings(ran.stdout)
    assert headings(run("similar", "billing/invoice.py", cwd=project / "src").stdout)
    assert run("similar", "missing.py").returncode == 2


# --- index, sync, status ----------------------------------------------------------------------------------------


def test_sync_takes_in_what_changed(copy: Path, home: Path) -> None:
    assert findling("sync", cwd=copy, home=home).returncode == 0  # an index knows each file by its place
    (copy / "src" / "main.py").write_text("def brand_new_name():\n    return 1\n")
    (copy / "web" / "cart.ts").unlink()
    ran = findling("sync", "src/main.py", "web/cart.ts", cwd=copy, home=home)
    assert ran.returncode == 0, ran.stderr
    assert findling("symbol", "brand_new_name", cwd=copy, home=home).stdout.startswith("src/main.py:1-2")
    assert findling("symbol", "emptyCart", cwd=copy, home=home).returncode == 1


def test_a_slip_in_a_name_makes_no_index(tmp_path: Path, home: Path) -> None:
    ran = findling("sync", "slip.py", cwd=tmp_path, home=home)
    assert (ran.returncode, ran.stderr) == (2, "findling: There is no file 'slip.py'. Check the path.\n")
    assert not (tmp_path / ".findling").exists()


def test_a_glob_that_stops_at_one_folder_is_told_what_goes_deeper(copy: Path, home: Path) -> None:
    (copy / "src" / "main.py").unlink()
    ran = findling("grep", "retry", "--path", "src/*", cwd=copy, home=home)
    assert ran.returncode == 1
    assert "no file matches src/*; src/** would include subfolders" in ran.stderr
    assert "would take" not in findling("grep", "retry", "--path", "no/*", cwd=copy, home=home).stderr


def test_an_answer_includes_what_was_just_written(copy: Path, home: Path) -> None:
    (copy / "src" / "late.py").write_text("def written_a_moment_ago():\n    pass\n")
    ran = findling("search", "written_a_moment_ago", cwd=copy, home=home)
    assert headings(ran.stdout)[:1] == ["src/late.py"]


def test_status(run: Run, project: Path) -> None:
    ran = run("status", "--json", "--skipped")
    assert ran.returncode == 0, ran.stderr
    status = json.loads(ran.stdout)
    assert status["root"] == str(project)
    assert status["indexing_status"] == "ready"
    assert status["coverage"]["files"] == len(FILES) - 1
    assert status["coverage"]["embedded_chunks"] == status["coverage"]["chunks"] > 0
    assert {file["path"]: file["reason"] for file in status["skipped"]}[".env"]
    assert "files: 6" in run("status").stdout


def test_status_without_an_index(tmp_path: Path, home: Path) -> None:
    ran = findling("status", cwd=write(tmp_path.resolve() / "new", FILES), home=home)
    assert ran.returncode == 1
    assert "not_indexed" in ran.stdout


def test_a_damaged_index_is_built_again_and_says_so(copy: Path, home: Path) -> None:
    for file in (copy / ".findling").rglob("*"):
        if file.is_file() and file.name != ".gitignore":
            file.write_bytes(b"damaged" * 100)
    ran = findling("search", "retry_failed", "--wait", "all", cwd=copy, home=home)
    assert ran.returncode == 0, ran.stderr
    assert headings(ran.stdout)[0] == "src/http/client.py"
    assert "note: " in ran.stderr and "Traceback" not in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_an_answer_that_cannot_be_written_is_an_error(project: Path, home: Path, more: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "findling", "grep", "request", *more]
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            command, cwd=project, env=environment(home), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ran.returncode == 2
    assert ran.stderr.startswith("findling: The answer cannot be written to stdout: "), ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_closed_streams_are_nowhere(copy: Path, home: Path) -> None:
    (copy / "src" / "added.py").write_text("def added_later():\n    pass\n")
    words = [sys.executable, "-m", "findling", "grep", "added_later"]
    ran = subprocess.run(
        ["sh", "-c", 'exec "$@" >&- 2>&- <&-', "sh", *words],
        cwd=copy,
        env=environment(home),
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    connection = apsw.Connection(os.fspath(copy / ".findling" / "index.db"), vfs=checksums.way())
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_who_leaves_early_gets_no_error(project: Path, home: Path) -> None:
    command = [sys.executable, "-m", "findling", "grep", "request"]
    with subprocess.Popen(
        command, cwd=project, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()  # long before anything is written
        told = process.stderr.read()
    assert process.returncode == 0
    assert not told


def test_an_empty_folder(tmp_path: Path, home: Path) -> None:
    for command in (("index",), ("search", "anything")):
        ran = findling(*command, cwd=tmp_path, home=home)
        assert (ran.returncode, "Traceback" in ran.stderr) == (1, False), ran.stderr
        assert ran.stderr


@pytest.mark.parametrize("command", [("search", "x"), ("grep", "x"), ("symbol", "x"), ("index",), ("status",)])
def test_a_missing_path_is_one_line(run: Run, command: tuple[str, ...]) -> None:
    ran = run(*command, "does/not/exist")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("findling: ") and ran.stderr.count("\n") == 1
    assert "does/not/exist" in ran.stderr


# --- streams and signals ----------------------------------------------------------------------------------------


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path, home: Path) -> None:
    folder = write(tmp_path.resolve() / "long", {"long.txt": "a line to be found\n" * 50_000})
    command = [sys.executable, "-m", "findling", "grep", "found"]
    with subprocess.Popen(
        command, cwd=folder, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"long.txt:1:a line to be found\n"
        process.stdout.close()
        errors = process.stderr.read().decode()
        assert process.wait(timeout=60) == 0
    assert "Broken" not in errors and "Traceback" not in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_an_error(project: Path, home: Path) -> None:
    command = [sys.executable, "-m", "findling", "grep", "request"]
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            command, cwd=project, env=environment(home), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].startswith("findling: ")
    assert "Traceback" not in ran.stderr and "Exception ignored" not in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_notes_that_cannot_be_written_change_no_answer(project: Path, home: Path) -> None:
    command = [sys.executable, "-m", "findling", "grep", "[\\s\\S]", "--limit", "1"]
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            command, cwd=project, env=environment(home), stdout=subprocess.PIPE, stderr=full, text=True, check=False
        )
    assert ran.returncode == 0
    assert len(ran.stdout.splitlines()) == 1


def test_interrupting_the_indexer(tmp_path: Path, home: Path) -> None:
    files = {f"m{n // 50}/f{n}.py": f"def name_{n}(value):\n    return value + {n}\n" * 20 for n in range(2000)}
    folder = write(tmp_path.resolve() / "many", files)
    command = [sys.executable, "-m", "findling", "index"]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        store = folder / ".findling"
        while process.poll() is None and not any(store.glob("*.db*")):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    # Python ends itself by the signal where it came while a string was executed, as importing dataclasses does;
    # a shell tells 130 for both
    assert process.returncode in (130, -signal.SIGINT), errors
    assert errors.splitlines()[-1] == "findling: interrupted"
    assert "Traceback" not in errors
    ran = findling("index", "--json", cwd=folder, home=home)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["complete"] is True
    assert json.loads(ran.stdout)["files"] == 2000


def on_a_terminal(*arguments: str, cwd: Path, home: Path, **more: str) -> tuple[int, str]:
    """The exit status, and all that a real terminal was sent."""
    child, descriptor = pty.fork()
    if child == 0:
        try:
            os.chdir(cwd)
            os.execve(sys.executable, [sys.executable, "-m", "findling", *arguments], environment(home, **more))
        finally:
            os._exit(99)
    received = bytearray()
    while True:
        ready, _, _ = select.select([descriptor], [], [], 120)
        try:
            data = os.read(descriptor, 65536) if ready else b""
        except OSError:  # Linux answers so when the other end is closed
            data = b""
        if not data:
            break
        received += data
    os.close(descriptor)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), received.decode("utf-8", "replace").replace("\r\n", "\n")


def test_a_terminal_gets_styles_and_links(project: Path, home: Path) -> None:
    status, text = on_a_terminal("search", "retry_failed", cwd=project, home=home)
    assert status == 0
    assert f"file://{project}/src/http/client.py" in text
    assert "\x1b[1;31mretry_failed\x1b[0m" in text
    status, text = on_a_terminal("status", cwd=project, home=home)
    assert status == 0 and "\x1b[" in text


@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_styles(project: Path, home: Path, more: dict[str, Any]) -> None:
    for command in (("search", "retry_failed"), ("grep", "request"), ("symbol", "Client"), ("status",)):
        status, text = on_a_terminal(*command, cwd=project, home=home, **more)
        assert status == 0
        assert "\x1b" not in text


def many_files(folder: Path) -> Path:
    for number in range(160):
        path = folder / f"part{number % 8}" / f"module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def unrelated_{number}(value):\n    return value * {number}\n", encoding="utf-8")
    (folder / "part3" / "retrying.py").write_text("def retry_failed(request):\n    return request.again()\n")
    return folder


def wait_for(there: Callable[[], bool]) -> bool:
    until = time.monotonic() + 120
    while not (found := there()) and time.monotonic() < until:
        time.sleep(0.2)
    return found


def test_a_first_search_leaves_a_process_that_makes_the_index(tmp_path: Path, home: Path) -> None:
    folder = many_files(tmp_path.resolve() / "new")
    first = findling("search", "where are failed requests tried again", cwd=folder, home=home, CI="")
    assert first.stdout.startswith("part3/retrying.py")
    assert "Scanned 161 files" in first.stderr and "an index is being built in the background" in first.stderr

    def coverage() -> dict[str, Any]:
        return json.loads(findling("status", "--json", cwd=folder, home=home).stdout)["coverage"]  # type: ignore[no-any-return]

    def whole() -> bool:
        now = coverage()
        return bool(now["complete"] and now["files"] == 161 and now["embedded_chunks"] == now["chunks"] > 0)

    assert wait_for(whole)
    assert wait_for(lambda: "is being made" not in findling("status", cwd=folder, home=home).stderr)
    again = findling("search", "where are failed requests tried again", cwd=folder, home=home, CI="")
    assert again.stdout.startswith("part3/retrying.py") and "Scanned" not in again.stderr


def test_what_is_made_in_the_background_can_be_stopped(tmp_path: Path, home: Path) -> None:
    folder = many_files(tmp_path.resolve() / "new")
    assert findling("stop", cwd=folder, home=home).returncode == 1
    turns = Turns(home / "cache" / "findling" / TURNS, AT_ONCE)
    with ExitStack() as others:  # which index at the same time, so that this one waits for its turn
        for _ in range(AT_ONCE):
            assert others.enter_context(turns.taken(lambda: False))
        findling("search", "retry", cwd=folder, home=home, CI="")
        assert "'findling stop' stops that" in findling("status", cwd=folder, home=home).stdout
        assert json.loads(findling("stop", "--json", cwd=folder, home=home).stdout) == {"ended": 1}
    status = findling("status", cwd=folder, home=home)
    assert "'findling stop'" not in status.stdout
    assert json.loads(findling("stop", "--json", cwd=folder, home=home).stdout) == {"ended": 0}
    assert json.loads(findling("status", "--json", cwd=folder, home=home).stdout)["coverage"]["files"] == 0


@pytest.mark.parametrize("by", ["environment", "configuration"])
def test_nothing_is_left_behind_where_that_is_forbidden(tmp_path: Path, home: Path, by: str) -> None:
    folder = many_files(tmp_path.resolve() / "new")
    if by == "configuration":
        (folder / "findling.toml").write_text("[index]\nbackground = false\n")
    in_ci = "1" if by == "environment" else ""
    first = findling("search", "where are failed requests tried again", cwd=folder, home=home, CI=in_ci)
    assert first.stdout.startswith("part3/retrying.py")
    assert "'findling index' builds an index" in first.stderr
    time.sleep(1)
    assert json.loads(findling("stop", "--json", cwd=folder, home=home).stdout) == {"ended": 0}
    assert json.loads(findling("status", "--json", cwd=folder, home=home).stdout)["coverage"]["files"] == 0


def test_escape_sequences_in_files_do_not_reach_the_terminal(tmp_path: Path, home: Path) -> None:
    attack = "\x1b]0;owned\x07\x1b[2J needle_of_the_attack \x9b31m \u202e"
    folder = write(tmp_path.resolve() / "new", {"bad.py": f"# {attack}\ndef needle_of_the_attack(): pass\n"})
    assert findling("index", cwd=folder, home=home).returncode == 0
    for command in (
        ("search", "needle_of_the_attack"),
        ("grep", "needle_of_the_attack"),
        ("symbol", "needle_of_the_attack", "--refs"),
    ):
        for more in ({}, {"NO_COLOR": "1"}):
            _, text = on_a_terminal(*command, cwd=folder, home=home, **more)
            assert "needle_of_the_attack" in text
            assert "\x1b]0;" not in text and "\x1b[2J" not in text and "\x9b" not in text and "\u202e" not in text
    assert "\x1b]0;owned" in findling("grep", "needle", cwd=folder, home=home).stdout


def test_no_sync_makes_no_index(tmp_path: Path, home: Path) -> None:
    folder = write(tmp_path.resolve() / "new", FILES)
    ran = findling("search", "retry_failed", "--no-sync", cwd=folder, home=home)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "is not indexed. Run 'findling index'." in ran.stderr
    assert not (folder / ".findling").exists()
