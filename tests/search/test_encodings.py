"""Exact search of files that are not UTF-8: it reads the text that was indexed, not the bytes."""

from __future__ import annotations

import codecs

import pytest

from findling import Engine
from findling.model.text_encodings import as_utf8
from findling.model.types import GrepResult

TEXT = "/* Größe, naïve: first line */\r\nint puffer_größe = 10; // größe\n"
RUSSIAN = "# -*- coding: koi8-r -*-\nслово = 1  # слово\n"
CHINESE = "中文注释" * 40

FILES = {
    "plain.c": TEXT.encode(),
    "latin.c": TEXT.encode("latin-1"),
    "wide.txt": TEXT.encode("utf-16-le"),
    "wide_be.txt": TEXT.encode("utf-16-be"),
    "marked.txt": codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
    "very_wide.txt": codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"),
    "declared.py": RUSSIAN.encode("koi8-r"),
    "no_zeros.txt": codecs.BOM_UTF16_BE + CHINESE.encode("utf-16-be"),
    "damaged.txt": "größe ".encode() * 50 + b"\xff size\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    root = tmp_path_factory.mktemp("encodings")
    for name, data in FILES.items():
        (root / name).write_bytes(data)
    engine = Engine.open(root)
    engine.index(embed=False)
    return engine


def places(result: GrepResult) -> dict[str, list[tuple[int, tuple[tuple[int, int], ...]]]]:
    return {file.path: [(line.line, line.spans) for line in file.lines] for file in result.files}


def test_every_encoding_answers_as_utf8_does(engine: Engine) -> None:
    found = places(engine.grep("größe", literal=True, ignore_case=True))
    alike = ("plain.c", "latin.c", "wide.txt", "wide_be.txt", "marked.txt", "very_wide.txt")
    assert found["plain.c"] == [(1, ((3, 8),)), (2, ((11, 16), (26, 31)))]
    assert [path for path in alike if found.get(path) != found["plain.c"]] == []
    assert len(found["damaged.txt"][0][1]) == 50
    assert places(engine.grep("слово")) == {"declared.py": [(2, ((0, 5), (13, 18)))]}
    assert list(places(engine.grep("文注", literal=True))) == ["no_zeros.txt"]
    assert not engine.grep("ï�", literal=True).total_lines


def test_exact_search_and_uses_of_a_name_see_them_too(engine: Engine) -> None:
    found = {hit.path for hit in engine.search("naïve: first", mode="exact").hits}
    assert found == {"plain.c", "latin.c", "wide.txt", "wide_be.txt", "marked.txt", "very_wide.txt"}
    uses = engine.symbols("слово", references=True)
    assert [(symbol.path, symbol.line) for symbol in uses.definitions] == [("declared.py", 2)]


def test_a_file_that_was_recoded_meanwhile_is_read_as_what_it_is() -> None:
    for was in ("cp1252", "utf-16-le", "utf-16-be", "utf-32-le", "koi8-r", "punycode", "nothing"):
        assert as_utf8(TEXT.encode(), was) == TEXT.encode()
        assert as_utf8(codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), was) == TEXT.encode()
    assert as_utf8(TEXT.encode("utf-16-le") + b"\0", "utf-16-le") == TEXT.encode("utf-16-le") + b"\0"
    assert as_utf8(codecs.BOM_UTF8 + b"abc") == b"abc"
    assert as_utf8(as_utf8(b"\xff\xfea\0b\0")) == b"ab"


def test_what_the_index_rules_out_is_not_read(engine: Engine) -> None:
    assert engine.grep("no such text", literal=True).files_read == 0
    assert engine.grep("слово").files_read == 1
