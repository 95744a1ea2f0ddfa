"""One folder with everything that a real tree may hold and nobody expects: every question answers, nothing leaks."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexes import integrity, make, write

from findling import Engine
from findling.model.types import SearchResult
from findling.reading.decoding import Decoded, decode
from findling.search import lines_of

SECRET = "MIIEpAIBAAKCAQEAsecretsecretsecret7qZk3vTnB8wXyL5dRfHjUeMpGaCo9S"
PASSWORD = "correct-horse-battery-staple-9"
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----\n"
CODE = "def needle_{0}(value):\n    '''Find the needle.'''\n    return value\n"

TEXTS: dict[str, bytes] = {
    "crlf.py": CODE.format("crlf").replace("\n", "\r\n").encode(),
    "cr.txt": b"needle one\rneedle two\r",
    "bom.py": b"\xef\xbb\xbf" + CODE.format("bom").encode(),
    "utf16.py": CODE.format("utf16").encode("utf-16"),
    "utf16be.md": b"\xfe\xff" + "# Needle\n\nüber\n".encode("utf-16-be"),
    "latin1.txt": "un caf\u00e9, une needle tr\u00e8s l\u00e9g\u00e8re\n".encode("latin-1"),
    "no_newline.py": b"needle_at_the_end = 1",
    "empty.py": b"",
    "blank.txt": b"\n\n\n",
    "with space.py": CODE.format("space").encode(),
    "new\nline.py": CODE.format("newline").encode(),
    "emoji_\U0001f50d.py": CODE.format("emoji").encode(),
    "-dash.py": CODE.format("dash").encode(),
    "'quote\".py": CODE.format("quote").encode(),
    "tab\there.py": CODE.format("tab").encode(),
    "separators.py": "needle = 'a\u2028b\x0cc\x85d'\nother_needle = 2\n".encode(),
    "cjk.md": "# 検索\n\n針を探す。needle\n".encode(),
    "control.txt": b"\x1b[31mneedle\x1b[0m\n",
    "deep.json": b"[\n" * 5000 + b"]\n" * 5000,
    "deep.py": ("x = " + "(\n" * 3000 + ")\n" * 3000 + "needle_deep = 1\n").encode(),
    "deep.js": ("needle(" + "{a:\n" * 2000 + "1" + "}\n" * 2000 + ");\n").encode(),
    "unclosed.py": b"def needle_unclosed(:\n    '''\n",
    "broken.ipynb": b'{"cells": [{"cell_type": "code", "source": 5}, ',
    "dots/../plain.py": CODE.format("plain").encode(),
}
LEFT_OUT = {
    "nul.py": ("binary", b"needle\0\0\0" * 50),
    "image.png": ("binary", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4),
    "long_line.js": ("too_large", b"needle=" + b"a+" * 2_600_000),
    "minified.js": ("minified", b"var needle=1;" * 8000),
    "server.key": ("secret", KEY.encode()),
    ".env": ("secret", f"PASSWORD={PASSWORD}\n".encode()),
    "settings.py": ("secret", f"needle = '''\n{KEY}'''\n".encode()),
}
INVALID = b"inv\xff\xfelid.py"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )


def fill(root: Path) -> None:
    for path, data in TEXTS.items():
        write(root, path, data)
    for path, (_, data) in LEFT_OUT.items():
        write(root, path, data)
    write(root, "/".join(["deep"] * 60) + "/bottom.py", CODE.format("bottom"))
    Path(os.fsdecode(os.fsencode(root) + b"/" + INVALID)).write_bytes(CODE.format("invalid").encode())
    (root / "loop").symlink_to(".")
    (root / "itself").symlink_to("itself")
    (root / "ping").symlink_to("pong")
    (root / "pong").symlink_to("ping")
    (root / "outside").symlink_to("/etc/passwd")
    (root / "outside_folder").symlink_to("/etc")
    os.mkfifo(root / "pipe")


@pytest.fixture(scope="module", params=["git", "plain"])
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("nasty")
    folder = make(base / "tree", {})
    fill(folder)
    if request.param == "git":
        if shutil.which("git") is None:
            pytest.skip("needs git")
        other = make(base / "other", {"inner.py": CODE.format("module")})
        nested = make(folder / "nested", {"inner.py": CODE.format("nested")})
        for repository in (folder, other, nested):
            git(repository, "init", "-q", "-b", "trunk")
        git(other, "add", ".")
        git(other, "commit", "-q", "-m", "start")
        git(folder, "submodule", "add", "-q", str(other), "module")
        git(folder, "add", "crlf.py")
        git(folder, "commit", "-q", "-m", "start")
        git(folder, "worktree", "add", "-q", "-b", "side", str(folder / "linked"))
    with Engine.open(root=folder) as engine:
        report = engine.index()
        assert report.complete
        assert not report.failed
    return folder


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root=root) as opened:
        yield opened


def text_of(root: Path, path: str) -> list[str]:
    decoded = decode((root / path).read_bytes())
    assert isinstance(decoded, Decoded), path
    return decoded.text.split("\n")


def assert_rereads(engine: Engine, result: SearchResult) -> None:
    for hit in result.hits:
        lines = text_of(engine.root, hit.path)
        assert 1 <= hit.start_line <= hit.end_line <= max(1, len(lines))
        shown = hit.snippet.split("\n")
        if hit.snippet:
            there = lines[hit.snippet_start_line - 1 : hit.snippet_start_line - 1 + len(shown)]
            assert [line.removesuffix("\r") for line in there] == [line.removesuffix("\r") for line in shown], hit.path
        for line, start, end in hit.matches:
            assert 0 <= start < end <= len(lines[line - 1]), hit.path
        for number, line in lines_of(hit.body):
            assert not number or lines[number - 1].rstrip() == line, hit.path


@pytest.mark.parametrize("mode", ["auto", "keyword", "symbol", "semantic", "exact", "hybrid"])
def test_every_mode_answers_and_shows_what_stands_there(engine: Engine, mode: str) -> None:
    result = engine.search("needle", mode=mode, limit=100, max_tokens=200_000)
    assert result.freshness == "fresh"
    assert result.completeness == "complete"
    assert_rereads(engine, result)
    for name in ("crlf", "bom", "utf16", "space", "newline", "emoji", "dash", "quote", "tab", "bottom"):
        hits = engine.search(f"needle_{name}", mode=mode).hits
        assert hits, name
        if mode in ("auto", "symbol", "hybrid", "keyword"):
            assert f"needle_{name}" in "\n".join(text_of(engine.root, hits[0].path)), name


def test_grep_counts_what_stands_there(engine: Engine) -> None:
    result = engine.grep("needle")
    found = {file.path: file for file in result.files}
    for path, data in TEXTS.items():
        path = os.path.normpath(path)
        decoded = decode(data)
        assert isinstance(decoded, Decoded)
        count = decoded.text.count("needle")
        if not count:
            assert path not in found
            continue
        assert found[path].occurrences == count, path
        for line in found[path].lines:
            for start, end in line.spans:
                assert line.text[start:end] == "needle", path
    assert not set(found) & set(LEFT_OUT)
    assert not engine.grep("root:").files
    assert {file.path for file in engine.grep("caf\u00e9|針").files} >= {"cjk.md"}


def test_symbols_are_where_they_say(engine: Engine) -> None:
    for name in ("crlf", "bom", "utf16", "newline", "emoji", "plain"):
        (hit,) = engine.symbols(f"needle_{name}").definitions
        line = text_of(engine.root, hit.path)[hit.line - 1]
        assert f"needle_{name}" in line
    assert engine.symbols("needle").total_definitions == 1
    assert engine.symbols("needle_", kind="fn").definitions[0].match == "prefix"


def test_similar_takes_any_name(engine: Engine) -> None:
    for path in ("new\nline.py", "with space.py", "emoji_\U0001f50d.py", "empty.py", "crlf.py"):
        result = engine.similar(path)
        assert path not in {hit.path for hit in result.hits}
        assert_rereads(engine, result)


def test_what_is_left_out_is_said_with_its_reason(engine: Engine) -> None:
    status = engine.status()
    reasons = {file.path: file.reason for file in status.skipped}
    for path, (reason, _) in LEFT_OUT.items():
        assert reasons[path] in ((reason, "hidden") if path == ".env" else (reason,)), path
    assert reasons.get("pipe", "not_a_file") == "not_a_file"  # git does not list it at all
    assert reasons["outside"] == "symlink_outside"
    assert reasons["loop"] == "symlink_inside"
    assert any("\\xff" in path and reason == "undecodable_name" for path, reason in reasons.items())
    assert status.freshness == "fresh"
    assert status.indexing_status == "ready"
    assert integrity(engine) == "ok"


def test_other_repositories_are_not_indexed_with_this_one(engine: Engine) -> None:
    for name in ("nested", "module"):
        assert not engine.symbols(f"needle_{name}").definitions
    paths = {hit.path for hit in engine.symbols("needle_crlf").definitions}
    assert paths == {"crlf.py"}


def test_secrets_are_in_no_answer_and_in_no_file_of_the_index(engine: Engine) -> None:
    for secret in (SECRET, PASSWORD):
        assert not engine.grep(secret, literal=True).files
        for mode in ("auto", "keyword", "exact", "semantic"):
            for hit in engine.search(secret, mode=mode, max_tokens=100_000).hits:
                assert secret not in hit.snippet + hit.body
                assert hit.path not in LEFT_OUT
    files = [path for path in engine.store_dir.rglob("*") if path.is_file()]
    assert files
    for path in files:
        data = path.read_bytes().lower()
        for secret in (SECRET, PASSWORD):
            assert secret.lower().encode() not in data, path
            assert "".join(filter(str.isalnum, secret)).lower().encode() not in data, path


def test_a_secret_that_comes_and_goes_leaves_nothing(engine: Engine) -> None:
    write(engine.root, "turns.py", "def needle_turns():\n    pass\n")
    assert engine.search("needle_turns").hits[0].path == "turns.py"
    write(engine.root, "turns.py", f"def needle_turns():\n    return '''{KEY}'''\n")
    assert "turns.py" not in {hit.path for hit in engine.search("needle_turns", limit=100).hits}
    assert not engine.grep(SECRET, literal=True).files
    assert {file.path: file.reason for file in engine.status().skipped}["turns.py"] == "secret"
    (engine.root / "turns.py").unlink()
    assert engine.search("needle").freshness == "fresh"


def test_a_five_megabyte_line_is_indexed_where_the_limit_allows(tmp_path: Path) -> None:
    line = "needle " + "word " * 1_000_000 + "last_needle"
    limit = f"[index]\nmax_file_bytes = {20 << 20}\n"
    files = {"long.txt": line, "data.log": f"a\n{line}\nb\n", "findling.toml": limit}
    with Engine.open(root=make(tmp_path / "p", files)) as engine:
        report = engine.index()
        assert not report.failed
        result = engine.search("last_needle", max_tokens=1000)
        assert sum(len(hit.snippet) + len(hit.body) for hit in result.hits) < 10_000
        left_out = {file.path for file in engine.status().skipped}
        for path in {"long.txt", "data.log"} - left_out:
            (file,) = engine.grep("last_needle", path_globs=(path,)).files
            assert file.occurrences == 1
            assert "data.log" in left_out or file.lines[0].line == (2 if path == "data.log" else 1)
