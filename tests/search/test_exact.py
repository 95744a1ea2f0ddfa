"""Exact search: equal to a brute-force scan line by line, whatever the text, the options and the index."""

from __future__ import annotations

import gc
import os
import re
import time
from pathlib import Path

import pytest
from exact_sources import FolderSource, MemorySource
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from findling.model.errors import InvalidInput, InvalidPattern
from findling.model.text_encodings import TextFilter
from findling.model.types import GrepResult, LineMatch
from findling.outbound.files import RootFiles
from findling.search import exact
from findling.search.exact import FileRef, GrepRequest, Scope, grep, grep_files
from findling.search.file_scan import MAX_SPANS
from findling.search.indexed_files import read_indexed
from findling.search.names import references
from findling.search.scope import glob_matcher
from sizes import size

Lines = list[tuple[str, int, str, tuple[tuple[int, int], ...]]]


def lines_of(data: bytes) -> list[str]:
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def brute_force(files: dict[str, bytes], expression: str, flags: int) -> Lines:
    found: Lines = []
    for path in sorted(files):
        for number, line in enumerate(lines_of(files[path]), 1):
            spans = [match.span() for match in re.finditer(expression, line, flags)]
            occurrences = [span for span in spans if span[0] < span[1]] or spans[:1]
            if occurrences:
                found.append((path, number, line, tuple(occurrences)))
    return found


def flat(result: GrepResult) -> Lines:
    return [(file.path, line.line, line.text, line.spans) for file in result.files for line in file.lines]


def assert_counts(result: GrepResult, expected: Lines) -> None:
    assert result.total_lines == len(expected)
    assert result.total_files == len({path for path, *_ in expected})
    assert result.total_occurrences == sum(len(spans) for *_, spans in expected)


PIECES = [
    "return nil",
    "return",
    " ",
    "  ",
    "\t",
    "foo",
    "Foo",
    "FOO_bar",
    "foobar",
    "(x)",
    "[1]",
    "--flag",
    "é",
    "naïve",
    "ſun",
    "Kelvin",
    "中文",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "x" * 30,
    "42",
    "'q'",
    '"',
    "\\n",
    "$",
    "\x1c",
    "\u2028",
]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join).map(str.encode)
contents = st.one_of(
    texts,
    st.tuples(texts, st.binary(max_size=4), texts).map(b"".join),
    texts.map(lambda data: data.removeprefix(b"\xef\xbb\xbf") * 3),
).filter(lambda data: not data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")))
corpora = st.lists(contents, min_size=1, max_size=5).map(
    lambda items: {f"dir/{number}.txt": item for number, item in enumerate(items)}
)
patterns = st.sampled_from(
    [
        "return nil",
        "return",
        "foo",
        "FOO",
        "o",
        "é",
        "ïv",
        "sun",
        "kelvin",
        "中文",
        "(x)",
        "[1]",
        "--flag",
        "'q'",
        '"',
        "\\n",
        "$",
        " ",
        "x",
        "xx",
        "foo bar",
        "ſun",
    ]
)
expressions = st.sampled_from(
    [
        r"return \w+",
        r"foo\w*",
        r"\w+",
        r"^\s*$",
        "^",
        "$",
        r"\bfoo\b",
        "x*",
        "x{2,4}",
        r"(?i)FOO",
        r"[^a-z]+",
        r"na.ve",
        r"\d+",
        r"foo|nil",
        r"(?:foo)+bar",
        r"\s+\S",
        r"(\w)\1",
        r"(?<=return )nil",
        r"nil(?!\s)",
        "(?i:s)un",
        r"K\w+",
        r"--\w+",
        r"o.*o",
        r"\(x\).*\[1\]",
        r"foo.*nil",
        "\ufffd",
    ]
)


@settings(max_examples=size(75, 300), deadline=None)
@given(corpora, patterns, st.booleans(), st.booleans())
def test_literals_are_found_as_a_scan_of_every_line_finds_them(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], literal: str, ignore_case: bool, word: bool
) -> None:
    expression = rf"(?<!\w){re.escape(literal)}(?!\w)" if word else re.escape(literal)
    expected = brute_force(files, expression, re.IGNORECASE if ignore_case else 0)
    request = GrepRequest(literal, literal=True, ignore_case=ignore_case, word=word)
    for source in (MemorySource(files), MemorySource(files, ruled_out=True)):
        result = grep(source, request)
        assert flat(result) == expected
        assert_counts(result, expected)
        assert not result.truncated and not result.skipped and not result.notes


@settings(max_examples=size(75, 300), deadline=None)
@given(corpora, expressions, st.booleans(), st.booleans())
def test_expressions_are_found_as_a_scan_of_every_line_finds_them(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], expression: str, ignore_case: bool, word: bool
) -> None:
    flags, bare = (re.IGNORECASE, expression) if ignore_case else (0, expression)
    if bare.startswith("(?i)"):
        flags, bare = re.IGNORECASE, bare[4:]
    expected = brute_force(files, rf"(?<!\w)(?:{bare})(?!\w)" if word else bare, flags)
    request = GrepRequest(expression, ignore_case=ignore_case, word=word)
    for source in (MemorySource(files), MemorySource(files, ruled_out=True)):
        result = grep(source, request)
        assert flat(result) == expected
        assert_counts(result, expected)


@settings(max_examples=size(37, 150), deadline=None)
@given(corpora, st.sampled_from(["return", "foo", "x", "é"]), st.booleans(), st.integers(1, 4), st.integers(0, 3))
def test_a_limit_cuts_the_list_and_not_the_counts(
    files: dict[str, bytes], pattern: str, literal: bool, limit: int, context: int
) -> None:
    everything = grep(MemorySource(files), GrepRequest(pattern, literal=literal))
    some = grep(MemorySource(files), GrepRequest(pattern, literal=literal, limit=limit, before=context, after=context))
    assert flat(some) == flat(everything)[:limit]
    for counted in ("total_lines", "total_files", "total_occurrences"):
        assert getattr(some, counted) == getattr(everything, counted)
    assert some.truncated == (everything.total_lines > limit) == bool(some.notes)
    first = grep(MemorySource(files), GrepRequest(pattern, literal=literal, limit=limit, stop_at_limit=True))
    assert flat(first) == flat(everything)[:limit]
    assert first.truncated == (everything.total_lines >= limit)
    assert first.files_read <= everything.files_read


@settings(max_examples=size(50, 200), deadline=None)
@given(contents, st.sampled_from(["return", "foo", r"\d", "x", r"^\s*$"]), st.integers(1, 3))
def test_context_gives_every_line_near_a_match_once(data: bytes, expression: str, context: int) -> None:
    lines = lines_of(data)
    result = grep(MemorySource({"f": data}), GrepRequest(expression, before=context, after=context))
    shown: list[tuple[int, str]] = []
    for match in (line for file in result.files for line in file.lines):
        shown += zip(range(match.line - len(match.before), match.line), match.before, strict=True)
        shown.append((match.line, match.text))
        shown += zip(range(match.line + 1, match.line + 1 + len(match.after)), match.after, strict=True)
    matched = {number for number, line in enumerate(lines, 1) if re.search(expression, line)}
    near = [n for n in range(1, len(lines) + 1) if any(abs(n - m) <= context for m in matched)]
    assert shown == [(number, lines[number - 1]) for number in near]


def only_line(result: GrepResult) -> LineMatch:
    ((line,),) = [file.lines for file in result.files]
    return line


def test_columns_count_characters_of_the_decoded_line() -> None:
    data = "naïve 中 needle, needle\n".encode() + b"\xff\xfe needle\n"
    result = grep(MemorySource({"f": data}), GrepRequest("needle", literal=True))
    first, second = result.files[0].lines
    assert first.spans == ((8, 14), (16, 22))
    assert second.text == "\ufffd\ufffd needle" and second.spans == ((3, 9),)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_files_are_searched_as_text(tmp_path: Path, encoding: str) -> None:
    files = {"wide.txt": ("\ufeff" + "erste Zeile\r\nzweite Zeile\r\n").encode(encoding), "z.txt": b"nothing"}
    line = only_line(grep(MemorySource(files, ruled_out=True), GrepRequest("zweite Zeile$")))
    assert (line.line, line.text, line.spans) == (2, "zweite Zeile", ((0, 12),))


def test_a_utf8_mark_is_not_part_of_the_first_line() -> None:
    assert only_line(grep(MemorySource({"f": b"\xef\xbb\xbffirst\n"}), GrepRequest("^first$"))).spans == ((0, 5),)


@pytest.mark.parametrize(
    "pattern", ["-v", "--", "-e(", '"quoted"', "it's", "f(x", "a[0", "C++", "*", "\\", "a|b", "{", "^"]
)
def test_a_literal_is_never_syntax(pattern: str) -> None:
    line = only_line(
        grep(MemorySource({"f": f"before {pattern} after\n".encode()}), GrepRequest(pattern, literal=True))
    )
    assert line.text[line.spans[0][0] : line.spans[0][1]] == pattern


def test_files_come_in_path_order_and_the_scope_holds() -> None:
    files = {"b/two.py": b"hit\n", "a.py": b"hit hit\n", "b/one.txt": b"hit\n", "B.py": b"miss\n"}
    result = grep(MemorySource(files), GrepRequest("hit"))
    assert [file.path for file in result.files] == ["a.py", "b/one.txt", "b/two.py"]
    assert [file.occurrences for file in result.files] == [2, 1, 1]
    result = grep(MemorySource(files), GrepRequest("hit", scope=Scope(within=glob_matcher(("b/*.py", "*.txt")))))
    assert [file.path for file in result.files] == ["b/one.txt", "b/two.py"]


def test_one_line_of_megabytes() -> None:
    data = b"x" * 3_000_000 + b"needle" + b"y" * 2_000_000
    source = MemorySource({"min.js": data})
    for request in (GrepRequest("needle", literal=True), GrepRequest(r"need\w{2}"), GrepRequest(r"e{2}\w")):
        result = grep(source, request)
        assert result.total_occurrences == 1 and not result.skipped


def test_a_folder_is_searched_as_it_is_now(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir()
    for name in ("a.txt", "sub/b c.txt", ".git/config", "sub/ü\nx.txt"):
        (root / name).write_bytes(b"needle\n")
    (tmp_path / "outside.txt").write_bytes(b"needle\n")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "loop").symlink_to(root, target_is_directory=True)
    os.mkfifo(root / "pipe")
    source = FolderSource(root, max_file_size=1 << 20)
    source.rule_out()
    assert [file.path for file in grep(source, GrepRequest("needle")).files] == ["a.txt", "sub/b c.txt", "sub/ü\nx.txt"]
    (root / "a.txt").write_bytes(b"now much longer than it was: needle needle\n" * 3)
    (root / "sub/b c.txt").unlink()
    (root / "sub/ü\nx.txt").unlink()
    (root / "sub/ü\nx.txt").symlink_to(tmp_path / "outside.txt")
    result = grep(source, GrepRequest("needle"))
    assert (result.total_occurrences, result.total_files, result.files_read) == (6, 1, 1)


def test_reading_never_follows_links_waits_for_pipes_or_exceeds_its_bound(tmp_path: Path) -> None:
    regular = tmp_path / "regular"
    regular.write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to(regular)
    os.mkfifo(tmp_path / "pipe")
    with RootFiles(tmp_path) as files:
        assert read_indexed(files, "regular", 10) == b"0123456789"
        for name in ("link", "pipe", "missing", "regular/below", "."):
            assert read_indexed(files, name, 100) is None
        with pytest.raises(OSError, match="longer than 9 bytes"):
            read_indexed(files, "regular", 9)


class FailingSource(MemorySource):
    def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
        if ref.path == "locked":
            raise PermissionError(13, "Permission denied")
        return None if ref.path == "gone" else super().read(ref, of_use)


def test_a_file_that_cannot_be_read_costs_only_itself() -> None:
    files = dict.fromkeys(("gone", "locked", "sound"), b"needle\n")
    result = grep(FailingSource(files), GrepRequest("needle"))
    assert [file.path for file in result.files] == ["sound"] and result.files_read == 1
    assert [(skip.path, skip.reason, skip.detail) for skip in result.skipped] == [
        ("locked", "unreadable", "Permission denied")
    ]


def test_uses_in_a_file_that_cannot_be_read_are_missing_and_it_is_named() -> None:
    source = FailingSource(dict.fromkeys(("gone", "locked", "sound"), b"needle\n"))
    found = references(source, "needle", lambda *_: [(1, 0, "")], languages=("text",), language=None, limit=9)
    assert [use.path for use in found.found] == ["sound"]
    assert found.unread == ("locked",)


def test_a_catastrophic_expression_is_cut_and_said() -> None:
    files = {f"f{number}": b"a" * 60 + b"!\n" for number in range(30)} | {"e": b"aa\n"}
    result = grep(MemorySource(files), GrepRequest("(a|aa)+$", cpu_s=0.2))
    assert [file.path for file in result.files] == ["e"]
    slow = [skip.path for skip in result.skipped]
    assert 1 <= len(slow) < 30 and slow == sorted(files)[1 : 1 + len(slow)]
    assert {skip.reason for skip in result.skipped} == {"pattern_too_slow"}
    assert result.truncated and not result.counts_exact
    seen = len(slow) + 1
    stopped = (
        f"Stopped after 0.2 s of processor time: {seen} of 31 files that may match were searched, up to {slow[-1]}."
    )
    assert stopped in result.notes and any("backtracks" in note for note in result.notes)


def test_an_expression_that_takes_no_more_than_its_text_is_never_cut() -> None:
    files = {f"f{number}": b"one two three four\n" * 2_000 for number in range(20)}
    result = grep(MemorySource(files), GrepRequest(r"\w+", cpu_s=0.5, shape="counts"))
    assert result.counts_exact and result.total_occurrences == 160_000


def test_no_more_text_is_read_than_allowed() -> None:
    files = {f"f{number}": b"hit\n" * 100 for number in range(5)}
    result = grep(MemorySource(files), GrepRequest("hit", max_bytes=900))
    assert result.files_read == 3 and not result.counts_exact
    assert result.notes == ("Stopped after 0 MB of text: 3 of 5 files that may match were searched, up to f2.",)


@settings(max_examples=size(50, 200), deadline=None)
@given(contents, expressions)
def test_inverted_lines_are_those_that_do_not_match(data: bytes, expression: str) -> None:
    source = MemorySource({"f": data})
    numbers = set(range(1, len(lines_of(data)) + 1))
    matched = {line.line for file in grep(source, GrepRequest(expression)).files for line in file.lines}
    inverted = grep(source, GrepRequest(expression, inverted=True))
    assert {line.line: line.text for file in inverted.files for line in file.lines} == {
        number: lines_of(data)[number - 1] for number in numbers - matched
    }
    assert inverted.total_lines == inverted.total_occurrences == len(numbers - matched)


lines_only = st.lists(st.text(alphabet="ab x", max_size=6), min_size=1, max_size=8).map(lambda lines: "\n".join(lines))


@settings(max_examples=size(75, 300), deadline=None)
@given(
    lines_only,
    st.sampled_from([r"a\nb", r"b\s+a", r"(?s)a.*?b", r"[^a]+", r"x\n", r"^a$", r"a\n\n", r"\S\s\S", "(?s)x.+", "b$"]),
)
def test_a_match_of_several_lines_takes_all_of_them(text: str, expression: str) -> None:
    matches = [m.span() for m in re.finditer(expression, text, re.MULTILINE) if m.start() < m.end()]
    result = grep(MemorySource({"f": text.encode()}), GrepRequest(expression, multiline=True, spans=1000))
    covered = {number for start, end in matches for number in range(text.count("\n", 0, start) + 1,
               text.count("\n", 0, end - 1) + 2)}  # fmt: skip
    assert {line.line for file in result.files for line in file.lines} == covered
    assert result.total_occurrences == len(matches)


def test_any_of_several_expressions_may_match() -> None:
    source = MemorySource({"f": b"one\ntwo\nTHREE\nf(x\n"})
    found = grep(source, GrepRequest(("^one$", "(?i)three", "tw.")))
    assert [line.line for line in found.files[0].lines] == [1, 2, 3]
    assert [line.line for line in grep(source, GrepRequest(("f(x", "on"), literal=True)).files[0].lines] == [1, 4]
    with pytest.raises(InvalidPattern, match="refers to a group"):
        grep(source, GrepRequest((r"(.)\1", "x")))


@pytest.mark.parametrize(
    ("replacement", "becomes"),
    [("$2-$1", "b-a"), ("<$0>", "<ab>"), ("${name}!$$", "b!$"), ("$9$nope", ""), ("$2x", ""), ("\\1", "\\1")],
)
def test_what_takes_the_place_of_a_match(replacement: str, becomes: str) -> None:
    source = MemorySource({"f": b"x ab ab\n"})
    line = only_line(grep(source, GrepRequest("(a)(?P<name>b)", replacement=replacement)))
    assert line.text == "x ab ab" and line.replaced == (becomes, becomes)
    with pytest.raises(InvalidInput):
        grep(source, GrepRequest("x", replacement="y", inverted=True))


def test_files_without_a_match_and_so_many_lines_of_each() -> None:
    source = MemorySource({"a": b"hit\nhit\nhit\n", "b": b"miss\n", "c": b""})
    assert [file.path for file in grep(source, GrepRequest("hit", shape="without")).files] == ["b", "c"]
    found = grep(source, GrepRequest("hit", per_file=2))
    assert [line.line for line in found.files[0].lines] == [1, 2] and found.total_lines == 2 and found.counts_exact


def test_a_line_knows_how_many_bytes_stand_before_it() -> None:
    data = "é\n\nhit\r\nhit".encode()
    (file,) = grep(MemorySource({"f": data}), GrepRequest("hit", offsets=True)).files
    assert [data[line.offset :][:3] for line in file.lines] == [b"hit", b"hit"] and file.size == len(data)


def test_the_innermost_definition_around_a_match_is_given_once() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 11))
    source = MemorySource({"f": text.encode()})
    request = GrepRequest("line [478]$", definitions=True)
    with exact.Grep(source, request, definitions=lambda *_: [(1, 9), (3, 5)]) as found:
        four, seven, eight = next(iter(found)).lines
    assert (four.before, four.after) == (("line 3",), ("line 5",))
    assert (seven.before, seven.after) == (("line 6",), ())
    assert (eight.before, eight.after) == ((), ("line 9",))


def test_of_a_long_definition_the_lines_near_a_match_are_given() -> None:
    source = MemorySource({"f": "".join(f"line {number}\n" for number in range(1, 201)).encode()})
    request = GrepRequest("line 50$", definitions=True)
    with exact.Grep(source, request, definitions=lambda *_: [(1, 60)]) as found:
        (line,) = next(iter(found)).lines
    assert (len(line.before), len(line.after)) == (49, 10)
    with exact.Grep(source, request, definitions=lambda *_: [(1, 61)]) as found:
        (line,) = next(iter(found)).lines
    assert (len(line.before), len(line.after)) == (10, 10)


def test_the_whole_search_has_a_time_limit() -> None:
    files = {f"f{number}": b"a" * 60 + b"!\n" for number in range(6)}
    result = grep(MemorySource(files), GrepRequest("(a|aa)+$", time_limit_s=0.02))
    assert result.truncated and result.files_read < 6 and any("0.02 s" in note for note in result.notes)


@pytest.mark.parametrize(
    "wrong", [{"before": -1}, {"limit": -1}, {"time_limit_s": 0.0}, {"cpu_s": 0.0}, {"max_bytes": 0}]
)
def test_wrong_arguments_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        grep(MemorySource({}), GrepRequest("x", **wrong))  # type: ignore[arg-type]
    with pytest.raises(InvalidPattern):
        grep(MemorySource({}), GrepRequest("("))


def test_files_come_one_by_one_and_the_totals_last() -> None:
    read: list[str] = []

    class Watched(MemorySource):
        def read(self, ref: FileRef, of_use: TextFilter | None = None) -> bytes | None:
            read.append(ref.path)
            return super().read(ref, of_use)

    files = {"a": b"hit hit\n", "b": b"miss\n", "c": b"hit\n", "d": b"hit\n"}
    with grep_files(Watched(files), GrepRequest("hit")) as found:
        assert next(iter(found)).path == "a" and read == ["a"]
        assert not found.totals.counts_exact and found.totals.truncated
        assert [file.path for file in found] == ["c", "d"]
    totals = found.totals
    assert (totals.total_occurrences, totals.total_lines, totals.total_files, totals.files_read) == (4, 3, 3, 4)
    assert totals.counts_exact and not totals.truncated and totals.files == () and totals.took_ms > 0


def test_a_slow_reader_does_not_use_up_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0.0

    class Clock:
        thread_time = staticmethod(time.thread_time)

        def monotonic(self) -> float:
            return time.monotonic() + passed

    monkeypatch.setattr(exact, "time", Clock())
    found = grep_files(MemorySource(dict.fromkeys("abc", b"hit\n")), GrepRequest("hit"))
    for _ in found:
        passed += 10_000
    assert found.totals.total_files == 3 and found.totals.counts_exact and found.totals.took_ms < 10_000_000


@settings(max_examples=size(37, 150), deadline=None)
@given(corpora, st.sampled_from(["return", "foo", r"\d", "^"]), st.integers(0, 3))
def test_counts_without_lines_are_those_with(files: dict[str, bytes], expression: str, limit: int) -> None:
    whole = grep(MemorySource(files), GrepRequest(expression))
    counts = grep(MemorySource(files), GrepRequest(expression, limit=limit, shape="counts"))
    assert counts.files == tuple(replace(file, lines=()) for file in whole.files)[: limit or None]
    for name in ("total_occurrences", "total_lines", "total_files", "counts_exact"):
        assert getattr(counts, name) == getattr(whole, name)
    assert counts.truncated == (0 < limit < whole.total_files) == bool(counts.notes)


@pytest.mark.parametrize(
    ("request_", "occurrences"),
    [
        (GrepRequest("."), 3_000),
        (GrepRequest("ab", literal=True), 1_500),
        (GrepRequest("AB", literal=True, ignore_case=True), 1_500),
        (GrepRequest(r"[a]b"), 1_500),
        (GrepRequest(r"a?b"), 1_500),
        (GrepRequest(r"x*"), 1),
        (GrepRequest("ab", literal=True, before=1, after=1), 1_500),
        (GrepRequest(r"(a|aa)+b"), 1_500),
    ],
)
def test_of_very_many_matches_in_a_line_the_first_are_kept_and_all_counted(
    request_: GrepRequest, occurrences: int
) -> None:
    for text in (b"ab" * 1_500 + b"\n", b"ab" * 1_500 + "é\n".encode()):
        result = grep(MemorySource({"f": text}), request_)
        more = text.count("é".encode()) if request_.pattern == "." else 0
        assert result.total_occurrences == result.files[0].occurrences == occurrences + more
        spans = only_line(result).spans
        assert len(spans) == min(MAX_SPANS, occurrences) and list(spans) == sorted(spans) and spans[0][0] == 0


def test_empty_matches_give_way_to_later_ones_however_many() -> None:
    line = only_line(grep(MemorySource({"f": b"b" * 500 + b"aa\n"}), GrepRequest("a*")))
    assert line.spans == ((500, 502),)


def test_cycle_collection_is_left_as_it_was() -> None:
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            grep(MemorySource({"f": b"x"}), GrepRequest("x"))
            assert gc.isenabled() == enabled
        finally:
            gc.enable()


def test_files_without_a_literal_are_all_read_and_empty_ones_have_no_lines(tmp_path: Path) -> None:
    files = {"a": b"", "b": b"\n", "c": b"ab\n\n", "d": b"42"}
    result = grep(MemorySource(files, ruled_out=True), GrepRequest("^$"))
    assert [(path, line) for path, line, *_ in flat(result)] == [("b", 1), ("c", 2)]
    assert result.files_read == 4 and result.total_occurrences == 2
