from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.reading.decoding import Decoded, SkipReason, decode

GERMAN = "Über die Größe der Häuser in Köln\r\n" * 20
RUSSIAN = "Привет, мир. Это обычный текст.\n" * 20
CODE = "def größe(x):\n    return x * 2\n" * 30


def reason(data: bytes) -> str:
    result = decode(data)
    assert isinstance(result, SkipReason), result
    assert result.detail
    return result.reason


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        (b"\r\n\ta\x0c\x1b[0m", "\r\n\ta\x0c\x1b[0m", "utf-8"),
        (RUSSIAN.encode(), RUSSIAN, "utf-8"),
        (codecs.BOM_UTF8 + b"abc", "abc", "utf-8"),
        (codecs.BOM_UTF16_LE + CODE.encode("utf-16-le"), CODE, "utf-16-le"),
        (codecs.BOM_UTF16_BE + RUSSIAN.encode("utf-16-be"), RUSSIAN, "utf-16-be"),
        (codecs.BOM_UTF32_LE + CODE.encode("utf-32-le"), CODE, "utf-32-le"),
        (codecs.BOM_UTF32_BE + CODE.encode("utf-32-be"), CODE, "utf-32-be"),
        (CODE.encode("utf-16-le"), CODE, "utf-16-le"),
        (CODE.encode("utf-16-be"), CODE, "utf-16-be"),
        (GERMAN.encode("cp1252"), GERMAN, "cp1252"),
        ("“quoted” – 5 €\n".encode("cp1252"), "“quoted” – 5 €\n", "cp1252"),
        (f"# -*- coding: koi8-r -*-\n{RUSSIAN}".encode("koi8-r"), f"# -*- coding: koi8-r -*-\n{RUSSIAN}", "koi8-r"),
        ('<?xml version="1.0" encoding="Shift_JIS"?><a>日本</a>'.encode("shift_jis"),
         '<?xml version="1.0" encoding="Shift_JIS"?><a>日本</a>', "shift_jis"),
    ],
)  # fmt: skip
def test_text_decodes(data: bytes, text: str, encoding: str) -> None:
    assert decode(data) == Decoded(text, encoding)


def test_a_few_damaged_bytes_cost_themselves_only() -> None:
    data = RUSSIAN.encode() + b"\xff" + GERMAN.encode()
    decoded = decode(data)
    assert isinstance(decoded, Decoded)
    assert ("\ufffd" in decoded.text, decoded.encoding) == (True, "utf-8")
    assert decoded.text == f"{RUSSIAN}\ufffd{GERMAN}"


@pytest.mark.parametrize(
    "data",
    [
        b"abc\0def",
        b"a" * 9000 + b"\0",
        bytes(range(256)) * 10,
        b"%PDF-1.4\nplain so far\n",
        b"PK\x03\x04rest",
        b"\x01\x02\x03\x04 text" * 10,
        b"".join(number.to_bytes(2, "little") for number in range(1, 400)) * 4,
        codecs.BOM_UTF16_LE + b"\0\xd8\0\0",
    ],
)
def test_binaries_are_told(data: bytes) -> None:
    assert reason(data) == "binary"


def test_other_scripts_without_a_declaration_are_not_guessed() -> None:
    assert reason(RUSSIAN.encode("cp1251")) == "unknown_encoding"
    assert reason(b"ASCII first\n" * 1000 + RUSSIAN.encode("koi8-r") * 100) == "unknown_encoding"


def test_a_declaration_cannot_name_a_codec_that_is_none() -> None:
    for name in ("rot13", "zlib", "unicode_escape", "idna", "punycode", "mbcs", "nonsense", "utf-7", "undefined"):
        data = f"# coding: {name}\n".encode() + "Größe\n".encode("cp1252")
        decoded = decode(data)
        assert isinstance(decoded, Decoded) and decoded.encoding == "cp1252"


@given(st.binary(max_size=300))
def test_any_bytes_give_an_answer(data: bytes) -> None:
    result = decode(data)
    if isinstance(result, Decoded):
        assert "\0" not in result.text
        result.text.encode("utf-8")


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=200))
def test_utf8_survives(text: str) -> None:
    result = decode(text.encode())
    assert isinstance(result, Decoded)
    assert result.text == text.removeprefix("\ufeff")
