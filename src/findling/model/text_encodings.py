"""The encodings that files are read by, and bytes in one of them as UTF-8, without secrets. Pure: knows neither paths
nor disks."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Final

from findling.model import secrets

UTF8: Final = "utf-8"

CONVERTED: Final = "converted"
"""In place of an encoding: the file's bytes are no text, and its reading has the only one that there is."""

WIDE: Final = frozenset(("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"))
"""Those whose ASCII characters have zero bytes beside them."""

# Only codecs that map bytes to characters: Python also has some that unpack or run code-like formats.
DECLARABLE: Final = frozenset(
    (
        *(f"cp{page}" for page in (437, 850, 866, 874, 932, 949, 950, *range(1250, 1259))),
        *(f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))),
        *("ascii", "big5", "big5hkscs", "euc_jp", "euc_jis_2004", "euc_jisx0213", "euc_kr", "gb2312", "gbk", "gb18030"),
        *("hz", "iso2022_jp", "iso2022_kr", "johab", "koi8-r", "koi8-u", "koi8-t", "kz1048", "mac-roman"),
        *("mac-cyrillic", "ptcp154", "shift_jis", "shift_jis_2004", "shift_jisx0213", "tis-620"),
    )
)
"""What a file may say that it is written in."""

_MARK: Final = "\ufeff"


def is_text(text: str) -> bool:
    """Whether a text can be written as UTF-8: what was typed may hold bytes that were none."""
    try:
        text.encode(UTF8)
    except UnicodeEncodeError:
        return False
    return True


TextFilter = Callable[[bytes], bool]
"""Whether a text is of any use to whoever asks for it, told of it with its secrets."""


def as_utf8(data: bytes, encoding: str = UTF8, of_use: TextFilter | None = None) -> bytes:
    """A file's bytes as UTF-8 without a byte-order mark, and with its secrets masked. Applying it twice does no harm.

    Of a text that is not ``of_use`` nothing is given: looking for secrets takes longer than for a word. For
    ``encoding`` see `unmasked`.
    """
    text = unmasked(data, encoding)
    return b"" if of_use is not None and not of_use(text) else secrets.mask(text).text


def unmasked(data: bytes, encoding: str = UTF8) -> bytes:
    """A file's bytes as UTF-8 without a byte-order mark, its secrets included.

    ``encoding``: what the file was read by when it was indexed. Bytes that it does not fit, because the file has
    changed or none of ours wrote it, are recoded when they have the mark of UTF-16, and else taken for UTF-8.
    """
    if encoding != UTF8 and (recoded := _recoded(data, encoding)) is not None:
        return recoded
    if _has_utf16_mark(data):
        return data.decode("utf-16", "replace").encode(UTF8, "replace")
    return data.removeprefix(codecs.BOM_UTF8)


def _recoded(data: bytes, encoding: str) -> bytes | None:
    has_zeros = b"\0" in data
    if encoding in WIDE:
        fits = has_zeros and not _has_utf16_mark(data)  # a mark says more
    else:
        fits = encoding in DECLARABLE and not has_zeros and not _is_utf8(data)
    if not fits:
        return None
    try:
        return data.decode(encoding).removeprefix(_MARK).encode(UTF8)
    except UnicodeError:
        return None


def _has_utf16_mark(data: bytes) -> bool:
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return marked and not data.startswith(codecs.BOM_UTF32_LE)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode(UTF8)
    except UnicodeDecodeError:
        return False
    return True


# --- unseen -------------------------------------------------------------------------------------------------------
# Escapes invisible characters, and those that reorder or hide their neighbours, in JSON for people and models.

_UNSEEN: Final = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Characters that JSON allows unescaped: DEL and C1 controls, zero-width and bidirectional controls, line separators,
byte-order marks, tags, lone surrogates."""


def escaped(json_text: str) -> str:
    """The same JSON with these characters written as escapes."""
    return _UNSEEN.sub(_escape, json_text)


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
