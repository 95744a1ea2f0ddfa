"""What the commands print, for answers that are given: shapes, streams, styles and safety. No index takes part."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from msgspec.structs import replace

from findling.faces.cli import main as cli
from findling.faces.cli.terminal.json import JsonView
from findling.faces.cli.terminal.lines import LONGEST_LINE, Places, clipped, printed_lines
from findling.faces.cli.terminal.plain import PlainView
from findling.faces.cli.terminal.progress import ProgressBar, ProgressLines
from findling.faces.cli.terminal.safe import make_encodable, visible, wants_style
from findling.model.errors import InvalidPattern, RootError
from findling.model.types import (
    LOW_CONFIDENCE,
    Confidence,
    Coverage,
    Edge,
    EdgeResult,
    FileMatches,
    GrepResult,
    Hit,
    IndexReport,
    LineMatch,
    Progress,
    Query,
    Reason,
    Reference,
    SearchResult,
    SkippedFile,
    Span,
    Status,
    SymbolHit,
    SymbolResult,
)

ESCAPE = "\x1b"
RETRY = Hit(
    path="src/http/client.py",
    start_line=9,
    end_line=11,
    score=0.9,
    rank_value=1.25,
    kind="code",
    language="python",
    name="retry",
    qualified_name="Client.retry",
    snippet="def retry(self):\n    wait()\n\n",
    snippet_start_line=9,
    body=" 9  def retry(self):\n10      wait()\n11",
    matches=((9, 4, 9),),
    sources=("keyword", "semantic"),
    others=(Span(120, 130, "Client.send"), Span(200, 210)),
    reasons=(Reason("bm25", 1.0, "the text has 'retry'"), Reason("definition", 0.25, "defines 'retry'")),
)
NOTES = Hit(
    path="docs/notes.md",
    start_line=1,
    end_line=1,
    score=0.4,
    rank_value=0.5,
    kind="docs",
    language="markdown",
    snippet="Retries",
    snippet_start_line=1,
    sources=("keyword",),
    stale=True,
)
ANSWER = SearchResult(
    query="retry",
    hits=(RETRY, NOTES),
    total=7,
    intent="symbol",
    mode="auto",
    confidence=0.8,
    freshness="fresh",
    completeness="complete",
    coverage=Coverage(files=7, chunks=20, embedded_chunks=20),
    took_ms=3.2,
)
PARTIAL = replace(
    ANSWER, completeness="partial", coverage=Coverage(files=7, chunks=20, embedded_chunks=5, pending_files=2)
)
MATCHES = GrepResult(
    pattern="x",
    files=(
        FileMatches(
            "a.py",
            (
                LineMatch(3, "x = 1", ((0, 1),), before=("one", "two"), after=("four",)),
                LineMatch(4, "y = x", ((4, 5),), before=("two", "x = 1"), after=("five",)),
                LineMatch(9, "xx", ((0, 1), (1, 2)), before=("eight",)),
            ),
            4,
            3,
            90,
        ),
        FileMatches("b.py", (LineMatch(1, "x", ((0, 1),)),), 1, 1, 2),
    ),
    total_occurrences=5,
    total_lines=4,
    total_files=2,
    files_searched=3,
    files_read=2,
    unindexed=0,
    truncated=False,
    skipped=(SkippedFile("c.bin", "binary"), SkippedFile("d.bin", "binary"), SkippedFile("e.py", "too_large")),
    took_ms=1.0,
)
SYMBOLS = SymbolResult(
    name="retry",
    definitions=(SymbolHit("a.py", 2, 1, 5, "retry", "fn", "Client.retry", "python", "def retry(self)", "exact"),),
    references=(Reference("b.py", 7, 4, "    retry()", "main"),),
    total_definitions=3,
    total_references=1,
    truncated=True,
    freshness="fresh",
    completeness="complete",
    coverage=Coverage(files=7, chunks=20, complete=True, vectors_wanted=False),
    took_ms=1.0,
)
EDGES = EdgeResult(
    name="retry",
    direction="callers",
    definitions=SYMBOLS.definitions,
    total_definitions=1,
    edges=(
        Edge(
            path="b.py",
            line=7,
            text="client.retry()",
            enclosing="main",
            kind="call",
            grade="likely",
            why="`client` is annotated",
            target="Client.retry",
            target_path="a.py",
            target_line=2,
            target_signature="def retry(self)",
        ),
    ),
    totals={"certain": 0, "likely": 4, "possible": 0},
    in_tests=2,
    truncated=True,
    freshness="fresh",
    completeness="complete",
    coverage=SYMBOLS.coverage,
    took_ms=1.0,
)
REPORT = IndexReport(
    root="/repo",
    store="/repo/.findling",
    files=1200,
    changed=5,
    removed=1,
    chunks=4000,
    symbols=900,
    embedded=12,
    bytes_read=1_500_000,
    skipped=(SkippedFile("k.env", "secret"),),
    failed=(SkippedFile("bad.py", "parser_crashed", "the grammar stopped"),),
    complete=True,
    took_ms=2500.0,
)
STATUS = Status(
    root="/repo",
    store="/repo/.findling",
    indexing_status="ready",
    freshness="fresh",
    schema_version=1,
    coverage=Coverage(files=1200, chunks=4000, embedded_chunks=4000, skipped={"binary": 3, "secret": 1}),
    symbols=900,
    languages={"python": 1000, "markdown": 200},
    model="bundled",
    bytes_indexed=2_000_000,
    bytes_on_disk=1_000_000,
    last_indexed_at="2026-01-02T03:04:05Z",
    skipped=(SkippedFile("k.env", "secret", "looks like a key"),),
)


class GivenMatches:
    """A result as a search under way: totals are told only after its files have been asked for."""

    def __init__(self, result: GrepResult) -> None:
        self.pattern = result.pattern
        self._result = result
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> Iterator[FileMatches]:
        yield from self._result.files
        self._ended = True

    @property
    def totals(self) -> GrepResult:
        assert self._ended
        return replace(self._result, files=())


class GivenAnswers:
    """Answers each question with the next of the answers given, and remembers what was asked."""

    def __init__(self, root: Path, *answers: Any, **options: Any) -> None:
        self.root = root
        self.store_dir = root  # one is there
        self.answers = list(answers)
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.opened: tuple[Path | None, Path | None, bool] | None = None
        self.closed = False
        self.scope = ""
        self.ref = None
        self.is_shared = True  # so no folder of repositories

    def __call__(self, path: Path | None, *, root: Path | None, cache: bool) -> Self:
        self.opened = (path, root, cache)
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def at(self, ref: str | None) -> Self:
        return self

    def _next(self, name: str, *arguments: Any, **options: Any) -> Any:
        options.pop("progress", None)
        self.calls.append((name, arguments, options))
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def ask(self, query: Query, **options: Any) -> Asked:
        return Asked(self._next("ask", query, **options))

    def index(self, **options: Any) -> IndexReport:
        return self._next("index", **options)

    auto_index = True

    def sync(self, paths: Sequence[str] | None = None, **options: Any) -> IndexReport:
        return self._next("sync", paths, **options)

    def grep_stream(self, pattern: str, **options: Any) -> GivenMatches:
        return GivenMatches(self._next("grep", pattern, **options))

    def symbols_of(self, names: Sequence[str], **options: Any) -> list[SymbolResult]:
        found = self._next("symbols_of", names, **options)
        return found if isinstance(found, list) else [found]

    def callers(self, name: str, **options: Any) -> EdgeResult:
        return self._next("callers", name, **options)

    def callees(self, name: str, **options: Any) -> EdgeResult:
        return self._next("callees", name, **options)

    def similar(self, target: str, **options: Any) -> SearchResult:
        return self._next("similar", target, **options)

    def status(self, *, unlisted: bool) -> Status:
        assert unlisted
        return self._next("status")


class Asked(NamedTuple):
    """Of an `Answer` what is printed."""

    result: SearchResult


class Screen(io.TextIOWrapper):
    """A stream that says it is a terminal and keeps what was written."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


@dataclass
class Ran:
    status: int
    out: str
    err: str
    engine: GivenAnswers


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "FINDLING_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, answers: Sequence[Any] = ()) -> Ran:
        engine = GivenAnswers(tmp_path, *answers)
        status = cli.main(arguments, open_engine=engine)
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err, engine)

    return run


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, answers: Sequence[Any] = ()) -> Ran:
        engine = GivenAnswers(tmp_path, *answers)
        out, err = Screen(), Screen()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", out)
            patch.setattr("sys.stderr", err)
            status = cli.main(arguments, open_engine=engine)
        return Ran(status, out.text(), err.text(), engine)

    return run


def unstyled(text: str) -> str:
    return re.sub(r"\x1b\][^\x1b]*\x1b\\|\x1b\[[0-9;]*m", "", text)


# --- search -----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def known_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("findling.faces.cli.terminal.plain.token_hex", lambda _: "5f0a9c")


def test_search_in_a_pipe(piped: Callable[..., Ran]) -> None:
    ran = piped("search", "retry", answers=[ANSWER])
    assert ran.status == 0
    assert ran.out == (
        "src/http/client.py:9-11  Client.retry\n"
        "docs/notes.md:1-1  -  changed since it was indexed\n"
        "\n"
        "src/http/client.py:9-11  Client.retry\n"
        "begin data 5f0a9c\n"
        " 9  def retry(self):\n"
        "10      wait()\n"
        "11\n"
        "end data 5f0a9c\n"
        "\n"
        "whole definitions: findling symbol Client.send\n"
    )
    assert ran.err == ""
    assert ran.engine.closed


def test_the_command_for_more_asks_the_same_index(piped: Callable[..., Ran]) -> None:
    for typed, repeated in (
        (["--ref", "v 1", "--cache"], "'--ref=v 1' --cache"),
        (["--collection", "a,b"], "--collection=a,b"),
        (["."], "."),
        (["gone"], "./gone"),
    ):
        ran = piped("search", "retry", *typed, answers=[ANSWER])
        assert ran.out.splitlines()[-1] == f"whole definitions: findling symbol Client.send {repeated}", ran.err


GROUPED = replace(
    ANSWER,
    hits=(
        replace(NOTES, group="docs", translations=("docs/de/notes.md", "docs/fr/notes.md")),
        replace(RETRY, others=(), copies=("v1/client.py",)),
        replace(NOTES, path="docs/more.md", group="docs", stale=False),
    ),
    groups=("docs", "code"),
)


def test_two_groups_have_a_heading_each(piped: Callable[..., Ran], shown: Callable[..., Ran]) -> None:
    ran = piped("search", "retry", answers=[GROUPED])
    assert ran.out == (
        "== docs ==\n"
        "docs/notes.md:1-1  -  changed since it was indexed\n"
        "  and 2 translations\n"
        "\n"
        "docs/more.md:1-1  -\n"
        "\n"
        "== code ==\n"
        "src/http/client.py:9-11  Client.retry\n"
        "begin data 5f0a9c\n"
        " 9  def retry(self):\n"
        "10      wait()\n"
        "11\n"
        "  and 1 copy\n"
        "end data 5f0a9c\n"
    )
    lines = unstyled(shown("search", "retry", answers=[GROUPED]).out).splitlines()
    assert [line for line in lines if line.startswith(("==", "docs/", "src/"))] == [
        "== docs ==",
        "docs/notes.md:1-1  changed since it was indexed",
        "docs/more.md:1-1",
        "== code ==",
        "src/http/client.py:9-11  Client.retry",
    ]
    assert {"  and 2 translations", "  and 1 copy"} <= set(lines)


def test_json_keeps_one_order_and_tells_the_groups(piped: Callable[..., Ran]) -> None:
    found = json.loads(piped("search", "retry", "--json", answers=[GROUPED]).out)
    assert found["groups"] == ["docs", "code"]
    assert [(hit["path"], hit["group"]) for hit in found["hits"]] == [
        ("docs/notes.md", "docs"),
        ("src/http/client.py", "code"),
        ("docs/more.md", "docs"),
    ]
    assert found["hits"][0]["translations"] == ["docs/de/notes.md", "docs/fr/notes.md"]
    assert found["hits"][1]["copies"] == ["v1/client.py"]


def test_search_passes_every_option_on(piped: Callable[..., Ran], tmp_path: Path) -> None:
    words = "search --limit 3 -l go --path *.go --path=x/** --kind code --mode hybrid --max-tokens 900 --explain"
    more = ("--wait", "all", "--cache", "--root", str(tmp_path), "--", "-flag", "src")
    ran = piped(*words.split(), *more, answers=[ANSWER])
    assert ran.status == 0
    assert ran.engine.opened == (Path("src"), tmp_path, True)
    globs = ("*.go", "x/**")
    assert ran.engine.calls == [
        ("ask", (Query("-flag", 3, "hybrid", "go", globs, "code", 900, explain=True, wait_s=None),), {})
    ]


def test_operands_may_stand_between_options(piped: Callable[..., Ran]) -> None:
    ran = piped("search", "-n", "4", "retry", "--no-sync", "lib", "--kind", "docs", answers=[ANSWER])
    assert ran.engine.opened == (Path("lib"), None, False)
    (query,) = ran.engine.calls[0][1]
    assert (query.wait_s, query.limit) == (0.0, 4)


def test_explain_shows_shares_that_add_up(piped: Callable[..., Ran]) -> None:
    ran = piped("search", "retry", "--explain", answers=[ANSWER])
    block = ran.out.split("\n\n")[0]
    assert "  rank 1.2500\n      +1.0000  bm25  the text has 'retry'\n" in block
    shares = [float(value) for value in re.findall(r"^\s+([+-]\d+\.\d+)  ", block, re.MULTILINE)]
    assert sum(shares) == pytest.approx(RETRY.rank_value)
    facts = Confidence(0.9, agree=True, reasons=(Reason("coverage", 2.5, "the first file has 80% of the rare words"),))
    ran = piped("search", "retry", "--explain", answers=[replace(ANSWER, evidence=facts)])
    said = f"confidence {ANSWER.confidence:.2f}; words and meaning put the same file first"
    assert f"\n\n{said}\n      +2.5000  coverage  the first file has 80% of the rare words\n" in ran.out
    ran = piped("search", "retry", "--explain", answers=[replace(ANSWER, evidence=replace(facts, agree=None))])
    assert f"\n\nconfidence {ANSWER.confidence:.2f}\n      +2.5000  coverage" in ran.out


def test_all_places_have_a_line_and_then_the_first_their_text(piped: Callable[..., Ran]) -> None:
    short = replace(NOTES, stale=False)
    full = replace(short, body="5  first\n   … 2 lines\n8  second", start_line=5, end_line=8)
    ran = piped("search", "x", answers=[replace(ANSWER, hits=(full, short, short))])
    body = "5  first\n   … 2 lines\n8  second\n"
    block = f"docs/notes.md:5-8  -\nbegin data 5f0a9c\n{body}end data 5f0a9c\n"
    assert ran.out == f"docs/notes.md:5-8  -\n{2 * ('docs/notes.md:1-1  -' + chr(10))}\n{block}"
    led = replace(short, parts=("title",))  # what is said of a place that has no text stands in the list
    ran = piped("search", "x", answers=[replace(ANSWER, hits=(full, led))])
    assert ran.out == f"docs/notes.md:5-8  -\ndocs/notes.md:1-1  -\n  by title\n\n{block}"


def test_a_terminal_says_how_many_lines_it_has(
    piped: Callable[..., Ran], shown: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", "40")
    (query,) = shown("search", "x", answers=[ANSWER]).engine.calls[0][1]
    assert 30 <= query.screen_lines < 40
    for ran in (shown("search", "x", "--json", answers=[ANSWER]), piped("search", "x", answers=[ANSWER])):
        assert ran.engine.calls[0][1][0].screen_lines is None


def test_nothing_found(piped: Callable[..., Ran]) -> None:
    ran = piped("search", "zzz", answers=[replace(ANSWER, hits=(), total=0, confidence=0.0)])
    assert (ran.status, ran.out, ran.err) == (1, "", "note: nothing found\n")


@pytest.mark.parametrize("confidence", [0.05, 0.95])
def test_an_unsure_answer_is_called_so_by_the_last_line(piped: Callable[..., Ran], confidence: float) -> None:
    answer = replace(ANSWER, confidence=confidence, notes=("two files failed",))
    ran = piped("search", "zzz", answers=[answer])
    doubted = ["note: nothing here looks like an answer"] if confidence < LOW_CONFIDENCE else []
    assert ran.err.splitlines() == ["note: two files failed", *doubted]
    assert (ran.status, ran.out.startswith("src/http/client.py:9-11")) == (0, True)


def test_an_unsure_answer_names_what_it_lacks(piped: Callable[..., Ran]) -> None:
    answer = replace(ANSWER, confidence=0.05, lacking=("kubernetes", "ingress", "pods"))
    said = "note: nothing here looks like an answer; the first result lacks 'kubernetes' and 'ingress'"
    assert piped("search", "x", answers=[answer]).err.splitlines() == [said]


@pytest.mark.parametrize(("confidence", "low"), [(0.05, True), (0.95, False)])
def test_json_says_whether_an_answer_is_unsure(piped: Callable[..., Ran], confidence: float, low: bool) -> None:
    ran = piped("search", "zzz", "--json", answers=[replace(ANSWER, confidence=confidence)])
    assert (ran.status, json.loads(ran.out)["low_confidence"]) == (0, low)


def test_notes_go_to_stderr(piped: Callable[..., Ran]) -> None:
    stale = replace(ANSWER, freshness="stale", stale_reason="2 files changed", notes=("two files failed",))
    assert piped("search", "retry", answers=[stale]).err == (
        "note: two files failed\n"
        "note: the index may be out of date (2 files changed); 'findling sync' checks everything\n"
    )


def test_a_pipe_gets_a_partial_answer_once(piped: Callable[..., Ran]) -> None:
    ran = piped("search", "retry", answers=[PARTIAL])
    assert ran.err == (
        "note: the index is partial: 2 files not read yet, 15 of 20 chunks without a vector; "
        "finish it with 'findling index' or --wait all\n"
    )
    assert [call[0] for call in ran.engine.calls] == ["ask"]


def test_a_terminal_is_not_held_until_the_index_is_complete(shown: Callable[..., Ran]) -> None:
    ran = shown("search", "retry", answers=[PARTIAL])
    assert [call[0] for call in ran.engine.calls] == ["ask"]
    assert ran.engine.calls[0][1][0].wait_s == 1.5
    assert "the index is partial" in ran.err


def test_a_first_answer_says_in_one_line_what_it_is_from(shown: Callable[..., Ran]) -> None:
    covered = replace(PARTIAL.coverage, scanned=2_923)
    ran = shown("search", "retry", answers=[replace(PARTIAL, coverage=covered, notes=("Went through.",))])
    assert "note: Went through." in ran.err
    assert "partial" not in ran.err and "up to date" not in ran.err


def test_no_search_goes_on_for_a_file_that_cannot_be_read(shown: Callable[..., Ran]) -> None:
    covered = replace(ANSWER.coverage, skipped={"unreadable": 1}, complete=True)
    answer = replace(ANSWER, completeness="partial", coverage=covered)
    ran = shown("search", "retry", answers=[answer])
    assert [call[0] for call in ran.engine.calls] == ["ask"]
    assert "the index is partial" not in ran.err, "indexing would not help"


def test_no_sync_never_goes_on(shown: Callable[..., Ran]) -> None:
    ran = shown("search", "retry", "--no-sync", answers=[PARTIAL])
    assert [call[0] for call in ran.engine.calls] == ["ask"]


# --- the other commands -----------------------------------------------------------------------------------------


def test_grep_in_a_pipe(piped: Callable[..., Ran]) -> None:
    ran = piped("grep", "x", "-C", "2", "-i", "-w", "-F", answers=[MATCHES])
    assert ran.status == 0
    assert ran.out == (
        "a.py-1-one\na.py-2-two\na.py:3:x = 1\na.py:4:y = x\na.py-5-five\n--\na.py-8-eight\na.py:9:xx\n--\nb.py:1:x\n"
    )
    assert ran.err == ""
    options = ran.engine.calls[0][2]
    asked = [options[name] for name in ("literal", "ignore_case", "word", "before", "after", "limit")]
    assert asked == [True, True, True, 2, 2, 0]


def test_grep_counts_and_files(piped: Callable[..., Ran]) -> None:
    assert piped("grep", "x", "--count", answers=[MATCHES]).out == "a.py:3\nb.py:1\n"
    for matches in (("--count-matches",), ("-c", "-o"), ("-c", "-U")):
        assert piped("grep", "x", *matches, answers=[MATCHES]).out == "a.py:4\nb.py:1\n"
    for files in (("-l",), ("-L",)):
        assert piped("grep", "x", *files, answers=[MATCHES]).out == "a.py\nb.py\n"


def test_counts_need_no_lines(piped: Callable[..., Ran]) -> None:
    for letter, shape in (("-i", "lines"), ("-o", "lines"), ("-c", "counts"), ("-l", "counts"), ("-L", "without")):
        assert piped("grep", "x", letter, answers=[MATCHES]).engine.calls[0][2]["shape"] == shape


def test_only_cut_counts_are_lower_bounds(shown: Callable[..., Ran]) -> None:
    limited = replace(MATCHES, truncated=True, notes=("Showing 4 of 9 lines.",), total_lines=9)
    ran = shown("grep", "x", answers=[limited])
    assert "lower bounds" not in ran.err and "at least" not in ran.out
    ran = shown("grep", "x", answers=[replace(limited, counts_exact=False)])
    assert "the counts are lower bounds" in ran.err and "at least 5 occurrences on 9 lines" in unstyled(ran.out)


def test_grep_prints_each_file_as_it_comes(tmp_path: Path) -> None:
    for json_wanted in (False, True):
        out = io.StringIO()

        class Watched(GivenMatches):
            def __iter__(self) -> Iterator[FileMatches]:
                yield MATCHES.files[0]
                assert "y = x" in out.getvalue()  # noqa: B023 - used within the loop
                yield MATCHES.files[1]
                self._ended = True

        view = JsonView(out, tmp_path) if json_wanted else PlainView(out, Places(tmp_path, tmp_path))
        view.grep(Watched(MATCHES), shape="lines", groups=False, headed=False)
        assert out.getvalue().endswith("}\n" if json_wanted else "b.py:1:x\n")


def test_json_in_pieces_is_what_it_is_at_once(shown: Callable[..., Ran], tmp_path: Path) -> None:
    for answer in (MATCHES, replace(MATCHES, files=(), total_files=0, skipped=())):
        document = {"root": str(tmp_path), **json.loads(json.dumps(to_builtins(answer)))}
        ran = shown("grep", "x", "--json", answers=[answer])
        assert ran.out == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        assert list(json.loads(ran.out)) == list(document)


LONG = LineMatch(1, "a" * 50_000 + "needle" + "b" * 50_000, ((50_000, 50_006), (60_000, 60_001)), before=("c" * 9_000,))


def test_a_very_long_line_is_clipped_around_its_first_match(
    piped: Callable[..., Ran], shown: Callable[..., Ran]
) -> None:
    answer = replace(MATCHES, files=(FileMatches("min.js", (LONG,), 2, 1, 9),))
    (line,) = json.loads(piped("grep", "x", "--json", answers=[answer]).out)["files"][0]["lines"]
    ((start, end),) = line["spans"]
    assert (line["text"][start:end], line["text_start"] + start, len(line["text"])) == ("needle", 50_000, LONGEST_LINE)
    assert len(line["before"][0]) == LONGEST_LINE
    assert LONG.text in piped("grep", "x", answers=[answer]).out


def test_a_terminal_without_styles_shows_a_part_of_a_very_long_line(
    shown: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    answer = replace(MATCHES, files=(FileMatches("min.js", (LONG,), 2, 1, 9),))
    row = shown("grep", "x", answers=[answer]).out.splitlines()[-1]
    assert row.startswith("min.js:1:…aaa") and "needle" in row and row.endswith("b…")
    assert len(row) < LONGEST_LINE + 20


@given(
    st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 3000)), min_size=1, max_size=4),
    st.integers(0, 3 * LONGEST_LINE),
)
def test_what_is_clipped_stays_in_its_place(drawn: list[tuple[int, int]], length: int) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(length))  # each character tells its column
    spans = tuple(sorted((start, min(start + size, length)) for start, size in drawn if start <= length)) or ((0, 0),)
    line = LineMatch(1, text, spans)
    short = clipped(line)
    assert len(short.text) == min(length, LONGEST_LINE)
    assert short.text == text[short.text_start :][: len(short.text)]
    assert short.spans and short.spans[0][0] + short.text_start == spans[0][0]
    assert all(0 <= start <= end <= len(short.text) for start, end in short.spans)
    assert (short is line) == (length <= LONGEST_LINE)


def test_a_scope_without_files_to_search_is_said(piped: Callable[..., Ran]) -> None:
    rule = SkippedFile("build/made.py", "ignored", ".gitignore:1:build/")
    empty = replace(MATCHES, files=(), total_files=0, total_lines=0, files_searched=0, skipped=(rule,))

    def told(*options: str, answer: GrepResult = empty) -> str:
        ran = piped("grep", "x", *options, answers=[answer])
        assert ran.status == 1
        return ran.err.splitlines()[0]

    searched = replace(empty, files_searched=3)
    assert told("build", answer=searched) == "note: 'x' does not occur in the 3 files searched"
    assert told() == "note: nothing found"
    left_out = "left out: build/made.py, ignored (.gitignore:1:build/)"
    assert told("build", "src") == f"note: nothing found: no file lies in build or src; {left_out}"
    assert told("-t", "go", "-T", "python") == "note: nothing found: no file is go and is not python"


def test_context_lines_appear_once() -> None:
    numbers = [line.number for line in printed_lines(MATCHES.files[0], groups=True, only=False)]
    assert numbers == [1, 2, 3, 4, 5, 0, 8, 9]


def test_symbol_says_that_the_index_is_being_brought_up_to_date(piped: Callable[..., Ran]) -> None:
    ran = piped("symbol", "retry", answers=[replace(SYMBOLS, freshness="syncing")])
    assert "note: the index is being brought up to date\n" in ran.err


def test_symbol_says_what_was_not_searched(piped: Callable[..., Ran]) -> None:
    covered = replace(SYMBOLS.coverage, skipped={"binary": 2, "unreadable": 1})
    answer = replace(SYMBOLS, total_definitions=1, completeness="partial", coverage=covered)
    assert piped("symbol", "retry", answers=[answer]).err == "note: not searched: 1 unreadable\n"
    nothing = replace(answer, definitions=(), references=(), total_definitions=0, total_references=0)
    assert "note: not searched: 2 binary, 1 unreadable\n" in piped("symbol", "retry", "--refs", answers=[nothing]).err
    answer = replace(answer, coverage=replace(covered, skipped={}, pending_files=3))
    ran = piped("symbol", "retry", answers=[answer])
    assert ran.err == "note: the index is partial; 'findling index' finishes it\n"


def test_symbol_in_a_pipe(piped: Callable[..., Ran]) -> None:
    ran = piped("symbol", "retry", "--refs", "--kind", "method", answers=[SYMBOLS])
    assert ran.out == "a.py:1-5  fn  Client.retry  def retry(self)\nb.py:7:4  ref  main  retry()\n"
    assert ran.err == "note: 1 of 3 definitions shown; see --limit\n"
    asked = {"references": True, "kind": "method", "language": None, "limit": 50}
    assert ran.engine.calls[0][2] == {**asked, "body_chars": 24_000}
    assert piped("symbol", "retry", "--rows", answers=[SYMBOLS]).engine.calls[0][2]["body_chars"] == 0


def test_definitions_are_shown_with_their_text(piped: Callable[..., Ran], shown: Callable[..., Ran]) -> None:
    body = "1  def retry(self):\n2      pass\n   … 3 more lines"
    definition = replace(SYMBOLS.definitions[0], body=body)
    found = replace(SYMBOLS, definitions=(definition,), references=(), total_definitions=1)
    other = replace(found, name="again")
    ran = piped("symbol", "retry", "again", answers=[[found, other]])
    one = [
        "a.py:1-5  fn  Client.retry",
        "begin data 5f0a9c",
        "1  def retry(self):",
        "2      pass",
        "   … 3 more lines",
    ]
    again = [one[0], *one[2:]]
    assert ran.out.splitlines() == [*one, *again, "end data 5f0a9c", "lines left out: findling symbol a.py:3-5"]
    assert [call[:2] for call in ran.engine.calls] == [("symbols_of", (["retry", "again"],))]
    told = replace(
        definition, body='1  def retry(self):\n2      """Try.\n   … 3 lines of documentation\n6      pass', end_line=6
    )
    ran = piped("symbol", "retry", answers=[replace(found, definitions=(told,))])
    assert ran.out.splitlines()[-2:] == ["6      pass", "end data 5f0a9c"]  # and no command for them
    parts = replace(definition, path="src/a-b.py", end_line=9, body="2  x\n   … 3 lines\n6  y\n   … 3 more lines")
    odd = replace(parts, path="a; b.py")  # nothing that a shell would read otherwise
    ran = piped("symbol", "retry", answers=[replace(found, definitions=(parts, odd))])
    left_out = "src/a-b.py:1-1 src/a-b.py:3-5 src/a-b.py:7-9"
    assert ran.out.splitlines()[-1] == f"lines left out: findling symbol {left_out}"
    assert "… 3 more lines" in shown("symbol", "retry", answers=[found]).out
    told = json.loads(piped("symbol", "retry", "again", "--json", answers=[[found, other]]).out)["results"]
    assert [each["definitions"][0]["body"] for each in told] == [body, body]
    assert piped("symbol").err == "findling: No name is given. See 'findling symbol --help'.\n"


def test_symbol_marks_what_is_more_than_the_name(piped: Callable[..., Ran], shown: Callable[..., Ran]) -> None:
    def hit(name: str, match: Literal["exact", "prefix", "part"], signature: str = "") -> SymbolHit:
        return SymbolHit("a.py", 1, 1, 1, name, "fn", name, "python", signature, match)

    found = [
        hit("retry", "exact", "def retry()"),
        hit("retry_all", "prefix"),
        hit("no_retry", "part", "def no_retry()"),
    ]
    answer = replace(SYMBOLS, definitions=tuple(found), references=(), total_definitions=3)
    rows = piped("symbol", "retry", answers=[answer]).out.splitlines()
    assert rows == [
        "a.py:1-1  fn  retry  def retry()",
        "a.py:1-1  fn  retry_all  -  [begins with]",
        "a.py:1-1  fn  no_retry  def no_retry()  [contains]",
    ]
    drawn = unstyled(shown("symbol", "retry", answers=[answer]).out)
    assert "fn  retry  def retry()\n" in drawn and "fn  retry_all  [begins with]\n" in drawn
    assert "no_retry  [contains]  def no_retry()\n" in drawn
    # nothing is called Client.reTry: what is found has only the last part of it
    other = replace(answer, name="Client.reTry", definitions=(hit("retry", "part"),))
    assert (
        piped("symbol", "--rows", "Client.reTry", answers=[other]).out == "a.py:1-1  fn  retry  -  [last part only]\n"
    )


def test_callers_and_callees_in_a_pipe(piped: Callable[..., Ran], shown: Callable[..., Ran]) -> None:
    ran = piped("callers", "retry", "--tests", "-n", "7", answers=[EDGES])
    assert ran.out == (
        "a.py:1-5  fn  Client.retry  def retry(self)\n"
        "b.py:7  likely  call  main  client.retry()  [`client` is annotated]\n"
    )
    assert ran.err == "note: 1 of 2 uses shown; see --limit\nnote: 2 uses in tests not listed; --tests lists them\n"
    assert ran.engine.calls[0] == ("callers", ("retry",), {"tests": True, "language": None, "limit": 7})
    there = replace(EDGES, direction="callees", in_tests=0, totals={"certain": 0, "likely": 1, "possible": 0})
    ran = piped("callees", "retry", answers=[there])
    assert ran.out.splitlines()[1] == (
        "a.py:2  likely  call  Client.retry  line 7  client.retry()  [`client` is annotated]"
    )
    assert ran.err == ""
    drawn = unstyled(shown("callers", "retry", answers=[EDGES]).out)
    assert "b.py:7  likely  call  main  [`client` is annotated]  client.retry()\n" in drawn


def test_callers_without_any_say_so(piped: Callable[..., Ran]) -> None:
    none = replace(EDGES, edges=(), totals=dict.fromkeys(EDGES.totals, 0), in_tests=0)
    ran = piped("callers", "retry", answers=[none])
    assert ran.status == 1
    assert ran.err == "note: no certain, likely or possible use found\n"
    ran = piped("callers", "retry", answers=[replace(none, definitions=(), total_definitions=0)])
    assert (ran.out, ran.err) == ("", "note: nothing found\n")


def test_similar_takes_a_path_of_the_current_folder(piped: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("")
    (tmp_path / "src" / "odd:12").write_text("")
    for typed, target in (("src/a.py:12", "src/a.py:12"), ("./src/a.py", "src/a.py"), ("src/odd:12", "src/odd:12")):
        ran = piped("similar", typed, answers=[ANSWER])
        assert ran.engine.calls[0][1] == (f"{tmp_path}/{target}",)
        assert not ran.engine.calls[0][2]["explain"]
    assert piped("similar", "src/a.py", "--explain", answers=[ANSWER]).engine.calls[0][2]["explain"]
    ran = piped("similar", "src/missing.py:3", answers=[])
    assert (ran.status, ran.err) == (2, "findling: There is no file 'src/missing.py'. Check the path.\n")


def test_sync_takes_files_that_are_gone(piped: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    ran = piped("sync", "a.py", "gone/b.py", answers=[REPORT])
    assert ran.engine.calls[0][1] == (["a.py", "gone/b.py"],)
    assert piped("sync", answers=[REPORT]).engine.calls[0][1] == (None,)
    missing = tuple(SkippedFile(name, "not_found", "there is no such file") for name in ("no.py", "gone/b.py"))
    report = replace(REPORT, removed=0, failed=(), skipped=(*missing, SkippedFile("x.bin", "binary")))
    ran = piped("sync", "no.py", "gone/b.py", answers=[report])
    assert ran.status == 1
    assert ran.err.splitlines()[:2] == [
        f"note: not indexed: {name}  not found  there is no such file" for name in ("no.py", "gone/b.py")
    ]
    assert "left out: 1 binary" in ran.err
    assert piped("sync", "no.py", "a.py", answers=[report]).status == 1  # one of two is not enough
    unread = replace(REPORT, failed=(SkippedFile("a.py", "unreadable", "Permission denied"),))
    ran = piped("sync", "a.py", answers=[unread])
    assert ran.status == 1 and "failed: a.py  unreadable  Permission denied (not in the index now)" in ran.err
    assert "not indexed: a.py" not in ran.err  # it is told once
    assert piped("sync", "a.py", answers=[REPORT]).status == 0  # what is said of other files is no fault of it
    ran = piped("sync", "a.py", "", answers=[])
    assert ran.status == 2 and "A path is empty" in ran.err
    ran = piped("sync", "no.py", "gone/b.py", answers=[replace(report, removed=2)])
    assert ran.status == 0 and "not_found" not in ran.err
    ran = piped("sync", "a.py", "../elsewhere.py", answers=[REPORT])
    assert ran.status == 2 and "does not lie in the root" in ran.err


def test_index_reports_what_it_did(piped: Callable[..., Ran]) -> None:
    ran = piped("index", "--force", "--no-embed", answers=[REPORT])
    assert ran.out.splitlines() == [
        "root: /repo",
        "store: /repo/.findling",
        "indexed: 1,200 files (5 changed, 1 removed), 4,000 chunks, 900 symbols, 12 embedded; 1.5 MB read in 2.5 s",
    ]
    assert "left out: 1 parser crashed, 1 secret (" in ran.err
    assert "failed: bad.py  parser crashed  the grammar stopped" in ran.err
    assert ran.engine.calls[0][2] == {"force": True, "embed": False, "unlisted": True, "publish": False}
    assert ran.status == 0


def test_an_empty_folder_has_nothing_to_index(piped: Callable[..., Ran]) -> None:
    ran = piped("index", answers=[replace(REPORT, files=0, failed=(), skipped=())])
    assert (ran.status, ran.err) == (1, "note: there is nothing to index in /repo\n")


def test_status_rows(piped: Callable[..., Ran]) -> None:
    ran = piped("status", "--skipped", answers=[STATUS])
    rows = dict(line.split(": ", 1) for line in ran.out.splitlines())
    assert rows["state"] == "ready, fresh"
    assert rows["vectors"] == "4,000 of 4,000 chunks by bundled"
    assert rows["on disk"] == "1.0 MB (0.50 of the text)"
    assert rows["left out"] == "3 binary, 1 secret"
    assert rows["skipped"] == "k.env  secret  looks like a key"
    assert "skipped" not in piped("status", answers=[STATUS]).out
    assert piped("status", answers=[replace(STATUS, indexing_status="not_indexed")]).status == 1


# --- JSON -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("search", "retry"), ANSWER),
        (("grep", "x"), MATCHES),
        (("symbol", "retry"), SYMBOLS),
        (("callers", "retry"), EDGES),
        (("index",), REPORT),
        (("status", "--skipped"), STATUS),
    ],
)
def test_json_has_the_fields_of_the_result_types(
    piped: Callable[..., Ran], tmp_path: Path, arguments: tuple[str, ...], answer: Any
) -> None:
    ran = piped(*arguments, "--json", answers=[answer])
    assert ran.out.count("\n") == 1
    document = json.loads(ran.out)
    expected = json.loads(json.dumps(to_builtins(answer)))
    if answer is SYMBOLS:  # of one name as of several
        expected = {"results": [expected]}
    more = {"statistics": document["statistics"]} if answer is STATUS else {}
    more |= {"low_confidence": False} if answer is ANSWER else {}
    assert document == {"root": str(tmp_path), **expected, **more}
    assert ran.err == ""


def test_json_on_a_terminal_answers_once(shown: Callable[..., Ran]) -> None:
    ran = shown("search", "retry", "--json", answers=[PARTIAL])
    assert json.loads(ran.out)["completeness"] == "partial"
    assert ESCAPE not in ran.out


def test_json_errors(piped: Callable[..., Ran]) -> None:
    ran = piped("grep", "(", "--json", answers=[InvalidPattern("Unbalanced at 0.", position=0, remedy="Close it.")])
    assert ran.status == 2
    error = {"code": "invalid_input", "message": "Unbalanced at 0.", "remedy": "Close it."}
    assert json.loads(ran.out) == {"error": error}
    assert ran.err == "findling: Unbalanced at 0. Close it.\n"


# --- styles -----------------------------------------------------------------------------------------------------


def test_a_terminal_gets_colours_links_and_highlights(shown: Callable[..., Ran], tmp_path: Path) -> None:
    ran = shown("search", "retry", answers=[ANSWER])
    assert f"file://{tmp_path}/src/http/client.py" in ran.out
    assert "\x1b[1;31mretry\x1b[0m" in ran.out
    text = unstyled(ran.out)
    assert "src/http/client.py:9-11  Client.retry\n   9  def retry(self):\n" in text
    assert "whole definitions: findling symbol Client.send" in text
    assert "2 of 7 files, 3 ms" in text
    second = shown("search", "retry", "--page", "2", "-n", "2", answers=[replace(ANSWER, offset=2)])
    assert second.engine.calls[0][1][0].offset == 2
    assert "3 to 4 of 7 files, 3 ms" in unstyled(second.out)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_escape_sequences_where_they_are_not_wanted(
    shown: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    for arguments, answer in ((("search", "retry"), ANSWER), (("grep", "x"), MATCHES), (("status",), STATUS)):
        ran = shown(*arguments, answers=[answer])
        assert ESCAPE not in ran.out + ran.err
        assert ran.out


def test_force_color_styles_a_pipe(piped: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert ESCAPE in piped("search", "retry", answers=[ANSWER]).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert ESCAPE not in piped("search", "retry", answers=[ANSWER]).out


def test_empty_variables_mean_nothing() -> None:
    assert wants_style(Screen(), {"NO_COLOR": "", "TERM": "xterm"})
    assert not wants_style(io.StringIO(), {"FORCE_COLOR": "", "TERM": "xterm"})


def test_every_answer_can_be_shown_on_a_terminal(shown: Callable[..., Ran]) -> None:
    grep = unstyled(shown("grep", "x", "-C2", answers=[MATCHES]).out)
    assert "a.py\n  1  one\n  2  two\n  3  x = 1\n" in grep
    assert "5 occurrences on 4 lines in 2 files" in grep
    symbols = unstyled(shown("symbol", "retry", "--refs", answers=[SYMBOLS]).out)
    assert "a.py:1-5  fn  Client.retry  def retry(self)\n" in symbols
    assert "b.py:7:4  ref  main  retry()" in symbols
    assert "1,200 files" in unstyled(shown("index", answers=[REPORT]).out)
    status = unstyled(shown("status", "--skipped", answers=[STATUS]).out)
    assert re.search(r"^languages +1,000 python, 200 markdown *$", status, re.MULTILINE)
    assert re.search(r"^skipped: k\.env +secret +looks like a key *$", status, re.MULTILINE)


def test_a_long_line_is_cut_around_its_match(shown: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    line = LineMatch(1, "a" * 500_000 + "needle" + "b" * 500_000, ((500_000, 500_006),))
    result = replace(MATCHES, files=(FileMatches("min.js", (line,), 1, 1, 9),))
    ran = shown("grep", "needle", answers=[result])
    assert "\x1b[1;31mneedle\x1b[0m" in ran.out
    assert max(len(row) for row in unstyled(ran.out).splitlines()) <= 60


# --- hostile text ------------------------------------------------------------------------------------------------

ATTACK = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt\r\x7f"


def _hostile() -> list[tuple[tuple[str, ...], Any]]:
    hit = replace(
        RETRY,
        path=f"src/{ATTACK}.py",
        qualified_name=ATTACK,
        body=f"9  {ATTACK} retry",
        others=(Span(1, 2, ATTACK),),
        reasons=(Reason("bm25", 1.25, ATTACK),),
    )
    match = FileMatches(ATTACK, (LineMatch(1, ATTACK, ((0, 2),), before=(ATTACK,)),), 1, 1, 9)
    definition = SymbolHit(ATTACK, 1, 1, 1, ATTACK, ATTACK, ATTACK, "python", ATTACK, "exact")
    found = replace(
        SYMBOLS, definitions=(definition,), references=(Reference(ATTACK, 1, 1, ATTACK, ATTACK),), notes=(ATTACK,)
    )
    skipped = (SkippedFile(ATTACK, "secret", ATTACK),)
    edge = Edge(ATTACK, 1, ATTACK, ATTACK, ATTACK, "likely", ATTACK, ATTACK, ATTACK, 1, ATTACK)
    return [
        (("search", "x", "--explain"), replace(ANSWER, hits=(hit,), notes=(ATTACK,), confidence=0.0)),
        (("grep", "x"), replace(MATCHES, files=(match,), skipped=skipped, notes=(ATTACK,))),
        (("grep", "x", "-l"), replace(MATCHES, files=(match,))),
        (("grep", "x", "--count"), replace(MATCHES, files=(match,))),
        (("symbol", "x", "--refs"), found),
        (("callers", "x"), replace(EDGES, definitions=(definition,), edges=(edge,), notes=(ATTACK,))),
        (("index",), replace(REPORT, root=ATTACK, failed=skipped)),
        (("status", "--skipped"), replace(STATUS, root=ATTACK, skipped=skipped, notes=(ATTACK,))),
        (("search", "x"), RootError(ATTACK, remedy=ATTACK)),
    ]


@pytest.mark.parametrize("styled", [True, False])
@pytest.mark.parametrize("case", range(9))
def test_control_characters_never_reach_a_terminal(
    shown: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, case: int, styled: bool
) -> None:
    if not styled:
        monkeypatch.setenv("NO_COLOR", "1")
    arguments, answer = _hostile()[case]
    for extra in ((), ("--json",)):
        ran = shown(*arguments, *extra, answers=[answer])
        text = unstyled(ran.out) + unstyled(ran.err)
        left = [character for character in text if not character.isprintable() and character != "\n"]
        assert left == []
        assert "owned" in text


def test_a_pipe_gets_contents_as_they_are_but_no_broken_lines(piped: Callable[..., Ran]) -> None:
    match = FileMatches("a\nb.py", (LineMatch(1, "\x1b[31mred", ((0, 1),)),), 1, 1, 9)
    ran = piped("grep", "x", answers=[replace(MATCHES, files=(match,))])
    assert ran.out == "a\u240ab.py:1:\x1b[31mred\n"


def test_visible_keeps_every_column() -> None:
    text = "".join(map(chr, range(0x300))) + "\u202e\u2028\udcff" + "grün \U0001f600"
    assert len(visible(text)) == len(text)
    assert visible("a\tgrün \U0001f600") == "a\tgrün \U0001f600"


def test_names_that_are_not_utf8_come_out_as_their_bytes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8")
    make_encodable(stream)
    stream.write("caf\udce9 \ud800 ü")
    stream.flush()
    assert raw.getvalue() == b"caf\xe9 \\ud800 \xc3\xbc"


def test_a_poor_encoding_gets_escapes_instead_of_an_error() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    make_encodable(stream)
    stream.write("ü \udce9")
    stream.flush()
    assert raw.getvalue() == b"\\xfc \xe9"


# --- errors and usage -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("serach", "x y"), "There is no command 'serach'. Did you mean: findling search 'x y'\n"),
        (("zzz", "y"), "'zzz'. 'findling --help' lists the commands. To search: findling search 'zzz y'\n"),
        (("search", "x", "--limt"), "Unknown option '--limt', did you mean '--limit'? (operands that begin with"),
        (("search",), "QUERY is missing."),
        (("search", "a", "b", "c"), "Unexpected argument 'c' (put several words in quotes)."),
        (("serve", "a", "b"), "Unexpected argument 'b' (for several folders: --root A --root B)."),
        (("search", "a", "--limit", "0"), "'0' is not a whole number from 1 to 1000"),
        (("search", "a", "--limit", "ten"), "'ten' is not a whole number from 1 to 1000"),
        (("search", "a", "--wait", "nan"), "'nan' is neither 'all' nor a number of seconds"),
        (("search", "a", "--kind", "image"), "'image' is none of code, docs, tests"),
        (("search", "a", "--lim", "3"), "Unknown option '--lim'"),
        (("search", "a", ""), "A path is empty."),
        (("grep", "-5"), "Unknown option '-5'"),
    ],
)
def test_wrong_arguments_are_one_line(piped: Callable[..., Ran], arguments: tuple[str, ...], message: str) -> None:
    ran = piped(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("findling: ") and ran.err.count("\n") == 1
    assert message in ran.err


def test_a_missing_path_reminds_of_quotes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(path: Path | None, *, root: Path | None, cache: bool) -> Any:
        raise RootError(f"There is no file or folder {str(path)!r}.", remedy="Check the path.")

    monkeypatch.chdir(tmp_path)
    assert cli.main(["search", "failed", "requests"], open_engine=refuse) == 2
    expected = "There is no file or folder 'requests'. Check the path. Put quotes around a query of several words."
    assert capsys.readouterr().err == f"findling: {expected}\n"


def test_unexpected_errors_are_one_line_too(piped: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    ran = piped("search", "x", answers=[ZeroDivisionError("by\nzero")])
    assert ran.status == 2
    expected = "findling: unexpected ZeroDivisionError: by\u240azero Set FINDLING_DEBUG=1 to see where.\n"
    assert ran.err == expected
    monkeypatch.setenv("FINDLING_DEBUG", "1")
    assert "Traceback" in piped("search", "x", answers=[ZeroDivisionError()]).err


def test_interruption(piped: Callable[..., Ran]) -> None:
    ran = piped("search", "x", answers=[KeyboardInterrupt()])
    assert (ran.status, ran.out, ran.err) == (130, "", "findling: interrupted\n")
    assert ran.engine.closed


def test_help_and_version(piped: Callable[..., Ran]) -> None:
    for arguments in (("--help",), ("-h",), ("help",)):
        ran = piped(*arguments)
        assert ran.status == 0 and "findling COMMAND" in ran.out and ran.err == ""
    assert re.fullmatch(r"findling \d+\.\d+\.\d+\S*\n", piped("--version").out)
    ran = piped()
    assert ran.status == 2 and ran.out == "" and "findling COMMAND" in ran.err
    for name in ("search", "grep", "symbol", "similar", "index", "sync", "status"):
        ran = piped(name, "--help")
        assert ran.status == 0
        assert ran.out.startswith(f"usage: findling {name} ")
        assert name in piped("--help").out


# --- paths and progress -----------------------------------------------------------------------------------------


def test_paths_can_be_opened_from_the_current_folder() -> None:
    root = Path("/data/project")
    assert Places(root, root).shown("src/a.py") == "src/a.py"
    assert Places(root, root / "src").shown("src/a.py") == "a.py"
    assert Places(root, root / "src" / "x").shown("docs/b.md") == "../../docs/b.md"
    assert Places(root, Path("/data")).shown("src/a.py") == "project/src/a.py"
    for elsewhere in (Path("/other"), Path("/"), None):
        assert Places(root, elsewhere).shown("src/a.py") == "/data/project/src/a.py"


def test_links_are_quoted() -> None:
    assert Places(Path("/r"), None).link("a b\x1b\\%\udcff.py") == "file:///r/a%20b%1B%5C%25%FF.py"


def test_progress_lines_come_now_and_then() -> None:
    """S1-48, S4-47: lines elsewhere."""
    stream = io.StringIO()
    with ProgressLines(stream, every_s=0.0) as display:
        display(Progress("listing", 1, 0))
        display(Progress("indexing", 1500, 3000))
        display(Progress("embedding", 1, 1))
    assert stream.getvalue() == "Listing files: 1 file\nIndexing: 1,500 of 3,000 files\nEmbedding: 1 of 1 file\n"
    stream = io.StringIO()
    with ProgressLines(stream, every_s=3600.0) as display:
        display(Progress("indexing", 1, 2))
    assert stream.getvalue() == ""


def test_the_bar_leaves_no_trace() -> None:
    """S4-47: a bar on a terminal."""
    screen = Screen()
    with ProgressBar(screen, after_s=0.0) as display:
        for done in range(4):
            display(Progress("indexing", done, 3))
        display(Progress("embedding", 0, 0))
    text = screen.text()
    assert "Indexing" in text and "3/3" in text
    assert text.rindex("\x1b[2K") > text.rindex("Embedding"), "not erased"
    screen = Screen()
    with ProgressBar(screen, after_s=3600.0) as display:
        display(Progress("indexing", 1, 3))
    assert screen.text() == ""
