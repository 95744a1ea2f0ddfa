"""A pasted text is taken apart, each part asked, and the answer says which part led where."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling import Engine
from findling.search.pasted import Frame, frames_in, is_pasted, take_apart

ISSUE = """\
### Retrying never ends

<!-- Please describe what you did. -->
When the server is gone, `RetryPolicy` waits "for ever and one more day" and
src/http/client.py is never left.

```python
policy = make_policy(attempts=3)
```

    indented = call_me()

Traceback (most recent call last):
  File "/home/me/app.py", line 3, in <module>
    client.run()
  File "/opt/venv/lib/python3.11/site-packages/http/client.py", line 7, in run
    raise TooManyAttempts(count)
http.TooManyAttemptsError: gave up after 3 of 3 attempts
"""


def test_an_issue_has_all_parts() -> None:
    parts = take_apart(ISSUE)
    assert parts.title == "Retrying never ends"
    assert parts.prose.startswith("When the server is gone")
    assert "Please describe" not in parts.prose
    assert parts.names[0] == "RetryPolicy"
    assert parts.paths == ("src/http/client.py",)
    assert parts.frames == (
        Frame("/opt/venv/lib/python3.11/site-packages/http/client.py", 7),
        Frame("/home/me/app.py", 3),
    )
    assert parts.messages == (
        "for ever and one more day",
        "http.TooManyAttemptsError: gave up after 3 of 3 attempts",
    )
    assert {"make_policy", "call_me", "TooManyAttempts"} <= set(parts.code)
    assert parts.is_report


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-01 12:00:03 ERROR cannot berth the ship",
        "2026-11-01T12:00:03.120Z [worker-1] WARN harbour.berths - cannot berth the ship",
        "[12:00:03] error: cannot berth the ship",
        "12:00:03,120 | FATAL | harbour.py: cannot berth the ship",
        "12:00:03.120 [main] WARN  harbour.Berths - cannot berth the ship",
        "2026-11-01T12:00:03.120+01:00 ERROR 4711 --- [nio-8080-1] h.berths.[.[.[/]   : cannot berth the ship",
    ],
)
def test_what_a_log_complains_of_is_looked_up(line: str) -> None:
    parts = take_apart(f"2026-11-01 12:00:01 INFO sailing begins\n{line}\n2026-11-01 12:00:04 DEBUG anchored\n")
    assert parts.title == parts.messages[0] == "cannot berth the ship"
    assert parts.prose == "sailing begins anchored"


def test_plain_words_of_code_are_no_names() -> None:
    parts = take_apart("Slow\n\n```\nfor item in basket:\n    total = weigh(item, Scale.EXACT, max_load)\n```\n")
    assert set(parts.code) == {"weigh", "Scale", "EXACT", "max_load"}


def test_a_traceback_alone_is_about_its_message() -> None:
    parts = take_apart(ISSUE[ISSUE.index("Traceback") :])
    assert parts.title == "http.TooManyAttemptsError: gave up after 3 of 3 attempts"
    assert parts.prose == ""


def test_prose_alone_is_no_report() -> None:
    parts = take_apart("How to return things\n\nBring them back within two weeks,\nin the box they came in.\n")
    assert (parts.title, parts.prose) == (
        "How to return things",
        "Bring them back within two weeks, in the box they came in.",
    )
    assert not parts.is_report


@pytest.mark.parametrize(
    ("line", "path", "number"),
    [
        ('  File "src/click/core.py", line 1514, in main', "src/click/core.py", 1514),
        ("src/click/core.py:1514 boom", "src/click/core.py", 1514),
        ("src/click/core.py:1514:9: error: boom", "src/click/core.py", 1514),
        ("    at run (/srv/app/server.js:10:5)", "/srv/app/server.js", 10),
        ("\tat com.example.App.run(App.java:42)", "com.example.App.run(App.java", 42),
        ("#3 0x1234 in run src/loop.c:88", "src/loop.c", 88),
        ("   --> src/main.rs:3:9", "src/main.rs", 3),
        ("in C:\\work\\App\\Program.cs:line 12", "C:/work/App/Program.cs", 12),
        ("app/models/user.rb:7:in `save'", "app/models/user.rb", 7),
        ("main.go:77 +0x1d", "main.go", 77),
        ("see util.ts(31,4)", "util.ts", 31),
    ],
)
def test_places_as_languages_write_them(line: str, path: str, number: int) -> None:
    (frame,) = frames_in(line)
    assert frame.line == number
    assert frame.path == path.rpartition("(")[2]


@pytest.mark.parametrize("line", ["at 12:30 o'clock", "version 3.11:2", "http://host:8080/x", "e.g. 5", "a.b:c"])
def test_what_is_no_place(line: str) -> None:
    assert frames_in(line) == []


@pytest.mark.parametrize("text", ["one line", "a\nb", "how does\nthis work", "word " * 400])
def test_short_questions_are_no_pasted_texts(text: str) -> None:
    assert not is_pasted(text)


@given(st.text(max_size=400))
def test_any_text_is_taken_apart(text: str) -> None:
    parts = take_apart(text)
    assert len(parts.title) <= 200
    assert len(parts.prose) <= 700


def test_hostile_texts_take_no_time_that_grows_faster_than_they_do() -> None:
    for unit in ("a.b" * 20, "/" * 50, '"' * 50, "`" * 50, "a_" * 50, "<!--", "at x(", "    \n\n", "(((("):
        take_apart(f"title\n\n{(unit + chr(10)) * 3_000}"[:100_000])
        take_apart(f"title\n\n{unit * 3_000}"[:100_000])


def test_one_long_word_in_code_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time that grows with the square would be hours."""
    monkeypatch.setattr("findling.search.pasted.CODE_CHARS", 1_000_000)
    long = "x" * 900_000
    assert take_apart(f"```\n{long}\nmake_policy(1)\n```").code == take_apart("```\nmake_policy(1)\n```").code


FILES = {
    "src/http/client.py": "def run(client):\n    count = 0\n    while True:\n        count += 1\n"
    "        if count > 3:\n            break\n    raise ValueError(count)\n\n\n" + "# more\n" * 60,
    "src/http/policy.py": 'class RetryPolicy:\n    """How often something is tried again."""\n\n\n'
    'def make_policy(attempts):\n    raise KeyError(f"gave up after {attempts} of {attempts} attempts")\n',
    "src/billing/invoice.py": "def total_of_lines(lines):\n    return sum(lines)\n",
    "docs/retrying.md": "# Retrying\n\nRetrying never ends when the server is gone. A policy waits for ever.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root: Path = tmp_path_factory.mktemp("pasted") / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(root=root) as opened:
        opened.index()
        yield opened


def test_the_answer_says_which_part_led_where(engine: Engine) -> None:
    found = engine.search(ISSUE, explain=True)
    hits = {hit.path: hit for hit in found.hits}
    client, policy = hits["src/http/client.py"], hits["src/http/policy.py"]
    assert "trace at line 7" in client.parts
    assert not found.low_confidence, "the place that a trace names is here"
    assert client.start_line <= 7 <= client.end_line
    assert "raise ValueError(count)" in client.snippet
    assert any(part.startswith("names ") and "make_policy" in part for part in policy.parts)
    assert any(part.startswith("message at line 6") for part in policy.parts)
    assert next(iter(hits)) != "docs/retrying.md"  # a report is about code
    for hit in hits.values():
        assert sum(reason.value for reason in hit.reasons) == pytest.approx(hit.rank_value)


def test_a_page_pasted_is_asked_of_documents_as_well(engine: Engine) -> None:
    text = "Retrying\n\nRetrying never ends when the server is gone.\nA policy waits for ever.\n"
    assert engine.search(text).hits[0].path == "docs/retrying.md"


@pytest.mark.parametrize(
    "text",
    [
        'File "src/http/client.py", line 7, in run',
        "src/http/client.py:7 boom",
        "ValueError at /opt/site-packages/http/client.py:7: boom",
    ],
)
def test_a_line_inside_an_error_is_shown(engine: Engine, text: str) -> None:
    hit = engine.search(text).hits[0]
    assert hit.path == "src/http/client.py"
    assert hit.start_line <= 7 <= hit.end_line
    assert "raise ValueError(count)" in hit.snippet


@pytest.mark.parametrize("mode", ["auto", "keyword", "hybrid"])
def test_in_every_mode_that_takes_texts_apart(engine: Engine, mode: str) -> None:
    assert any("trace at line 7" in hit.parts for hit in engine.search(ISSUE, mode=mode).hits)


def test_a_scope_holds_for_every_part(engine: Engine) -> None:
    found = engine.search(ISSUE, path_globs=("src/billing/*",))
    assert {hit.path for hit in found.hits} <= {"src/billing/invoice.py"}


def test_a_pasted_text_is_never_called_absent(engine: Engine) -> None:
    assert engine.search("zz_no_such\n\nqq_neither\n\nnor_this_one\n").absent == ()
