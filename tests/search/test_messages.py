"""What a program says leads to the line that says it, whatever was filled in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling import Engine
from findling.search.messages import Said, best_line, message_in, runs, words_of

FILES = {
    "crawl.py": '''"""Crawling: no open spider, spiders to crawl, requests of spiders that are open."""


def crawl(request, spider, spiders):
    # a spider is opened before anything is crawled
    if not spiders:
        raise RuntimeError(f"No open spider to crawl: {request}")
    if len(spiders) > 12:
        raise ValueError(
            f"More than one of {len(spiders)} spiders "
            f"would take {request.url!r} away from {spider}"
        )
    log(f"Halted {request.count} spiders.")
    return spider.crawl(request)
''',
    "samples.go": """package samples

// Expected samples: what got in, as got or expected, samples of samples.
func Check(expected int, got int) error {
	if expected != got {
		return fmt.Errorf("expected %d samples, got %d", expected, got)
	}
	return nil
}
""",
    "storage.rs": """fn open(path: &Path) -> Result<Store> {
    let file = File::open(path).map_err(|e| format!("Failed to open {:?}: {}", path, e))?;
    Ok(Store { file })
}
""",
    "cli.sh": 'stop() {\n  echo "App $APP is not running on ${HOST}" >&2\n  exit 1\n}\n',
    "tests/test_crawl.py": """def test_message():
    with pytest.raises(RuntimeError, match="No open spider to crawl: <GET http://a>"):
        crawl(None)
""",
    "win/__init__.py": """# a pipe is broken; pipes break, broken by who holds the pipe
import os


def check(pipe):
    if not os.path.exists(pipe):
        raise OSError(f"The pipe {pipe} is held by another process")
""",
    "docs/troubleshooting.md": "# No open spider to crawl\n\nNo open spider to crawl: there is no open spider.\n",
    "samples.md": "# Samples\n\nGot samples: 12 samples expected. Expected 12 samples, got 7 samples.\n",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No open spider to crawl: <GET x>", "No open spider to crawl: <GET x>"),
        ("RuntimeError: No open spider to crawl", "No open spider to crawl"),
        ("Traceback (most recent call last):\n  File 'a.py', line 3\nValueError: x is no y", "x is no y"),
        ("panic: index out of range\n\ngoroutine 1 [running]", "index out of range"),
        ("Failed to open Config: no such file", "Failed to open Config: no such file"),
        ("ValueError: cannot open Config: no such file", "cannot open Config: no such file"),
        ("error: is a directory", "is a directory"),
        ("Can't find a spider", "Can't find a spider"),
        ("a" + " " * 9_990 + "b c", "a" + " " * 9_990 + "b c"),
        ("how is a spider opened", ""),
        ("could I open a spider", ""),
        ("Could not open a spider", "Could not open a spider"),
        ("no spider here?", ""),
        ("...", "..."),
        ("", ""),
    ],
)
def test_what_may_be_a_message(text: str, expected: str) -> None:
    assert message_in(text) == expected


def test_runs_are_long_enough_to_be_rare() -> None:
    assert runs("App x is not running on web-1") == ["not running", "running on", "is not", "on web"]


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("no server running on /tmp/tmux-1000/default", ["no", "server", "running", "on", "0file"]),
        ("could not open 'x.txt': gone", ["could", "not", "open", "0file", "gone"]),
        ('cannot read "C:\\a b" and/or v1.2', ["cannot", "read", "0file", "b", "and", "or", "v1", "2"]),
    ],
)
def test_a_file_that_is_named_is_one_word(message: str, words: list[str]) -> None:
    assert words_of(message) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [("'" + "." * 50_000, 0), ("/" * 50_000, 0), ("'a" * 25_000, 40), ('"' + "a." * 25_000, 40), ("~/ " * 20_000, 0)],
)
def test_no_text_takes_long(text: str, words: int) -> None:
    assert len(words_of(text)) == words  # after minutes, were the expression for files not bounded


def line_of(lines: list[str], message: str) -> Said | None:
    return best_line(lines, words_of(message), [run.lower() for run in runs(message)])


@pytest.mark.parametrize(
    ("line", "message", "share"),
    [
        ('raise E(f"No open {kind} to crawl")', "No open spider to crawl", 4 / 5),
        ('fmt.Errorf("expected %d samples, got %q", a, b)', "expected 12 samples, got 7", 3 / 5),
        ('format!("Failed to {:?}", what)', "Failed to open it", 2 / 4),
        ("throw new E(`${a} is not ${b}`)", "this is not that", 2 / 4),
        ('println("\\(name) was not found in #{place}")', "x was not found in y", 4 / 6),
        ('printf("read %zu bytes of %llu", a, b)', "read 12 bytes of 7", 3 / 5),
        ('raise E("No open spider to crawl", remedy="Start it, or close another one")', "No open spider to crawl", 1.0),
        ('log("entirely other words than these")', "No open spider to crawl", None),
        ('log("crawl to spider open no")', "No open spider to crawl", None),
        ("no quotes: No open spider to crawl", "No open spider to crawl", None),
    ],
)
def test_how_much_of_a_message_a_line_says(line: str, message: str, share: float | None) -> None:
    found = line_of(["", line], message)
    assert found == (None if share is None else Said(2, share))


def test_a_text_that_goes_on_in_the_next_line() -> None:
    found = line_of(["f(", '  "one half of it "', '  "and the other",'], "one half of it and the other")
    assert found == Said(2, 1.0)


@pytest.mark.parametrize("line", ['"' + '\\"' * 100_000, "'\"\\\"'" * 40_000, "one half of it " * 60_000])
def test_a_line_that_never_ends_is_looked_at_up_to_a_length(line: str) -> None:
    found = line_of([line, f'"one half of {line}"'], "one half of it and the other")
    assert found is None or found == Said(2, 3 / 7)


@given(st.lists(st.text("ab \"'`%{}", max_size=30), max_size=4), st.text("ab ", max_size=30))
def test_any_text_is_compared(lines: list[str], message: str) -> None:
    found = line_of(lines, message)
    assert found is None or (1 <= found.line <= len(lines) and 0 < found.share <= 1)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root: Path = tmp_path_factory.mktemp("messages") / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root=root) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("message", "path", "line"),
    [
        ("No open spider to crawl: <GET http://b/12>", "crawl.py", 7),
        ("RuntimeError: No open spider to crawl: <GET http://b/12>", "crawl.py", 7),
        ("More than one of 13 spiders would take 'http://a' away from tarantula", "crawl.py", 10),
        ("expected 12 samples, got 7", "samples.go", 6),
        ("Halted 12 spiders.", "crawl.py", 13),
        ("Failed to open /var/lib/x: permission denied (os error 13)", "storage.rs", 2),
        ("App harbour is not running on web-1", "cli.sh", 2),
        ("The pipe 'a' is held by another process", "win/__init__.py", 7),
        ("ValueError: samples: expected 12 samples, got 7", "samples.go", 6),
    ],
)
def test_it_leads_to_the_line(engine: Engine, message: str, path: str, line: int) -> None:
    answer = engine.search(message, explain=True)
    first = answer.hits[0]
    assert first.path == path
    assert first.start_line <= line <= first.end_line
    assert "message" in {reason.signal for reason in first.reasons}
    assert not any(hit.path == path for hit in engine.search(message, path_globs=("*.md",)).hits)
    assert engine.search(message, language=first.language).hits[0].path == path


def test_what_is_no_text_is_asked_for_without_harm(engine: Engine) -> None:
    for odd in ("foo: bar\ud800baz qux quux", "a\0b: expected 12 samples, got 7", ": : : '", "x" * 9_000 + ": y z"):
        engine.search(odd)


def test_the_line_that_says_it_goes_before_one_that_has_a_part_of_it(tmp_path: Path) -> None:
    filler = "".join(f"def pad_{number}():\n    return {number}\n\n\n" for number in range(120))
    said = 'def check(a, b):\n    raise E(f"expected {a} samples, got {b}")\n'
    (tmp_path / "a.py").write_text(f'"""samples, got in a comment."""\n\n{filler}{said}', encoding="utf-8")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        first = engine.search("ValueError: expected 12 samples, got 7", explain=True).hits[0]
    assert first.end_line > 480
    words = {reason.signal: reason.words for reason in first.reasons}
    assert words["message"].endswith("on line 484")


def test_the_line_that_says_it_is_shown_first_whatever_else_the_file_has(tmp_path: Path) -> None:
    other = '    """Samples that were expected and what was got; got samples."""\n' * 20
    said = 'def check(a, b):\n    raise E(f"expected {a} samples, got {b}", remedy="Count them anew.")\n'
    (tmp_path / "a.py").write_text(f"def samples_got():\n{other}\n\n{said}", encoding="utf-8")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        first = engine.search("expected 12 samples, got 7").hits[0]
    assert "got {b}" in first.body
    assert "samples_got" not in first.body


def test_a_question_in_the_same_words_is_no_message(engine: Engine) -> None:
    for question in ("where is no open spider to crawl", "is there no open spider to crawl?"):
        reasons = {reason.signal for hit in engine.search(question, explain=True).hits for reason in hit.reasons}
        assert "message" not in reasons
