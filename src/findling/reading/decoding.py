"""Decodes a file's bytes to text, or says why it is not text or not searched. Pure.

Tried in this order: a byte-order mark, UTF-8, UTF-16 that its zero bytes give away, an encoding that the file declares,
and Windows-1252 for what looks like Western text. Line ends stay as they are. Secrets are masked.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from findling.model import secrets
from findling.model.marks import LFS_POINTER, is_lfs_pointer, looks_minified, secret_in
from findling.model.text_encodings import DECLARABLE
from findling.model.types import SkippedFile


class Decoded(NamedTuple):
    """Text without its byte-order mark, and the encoding it was read by; a few damaged bytes become U+FFFD. ``masks``:
    the lines and rules of what is masked in it."""

    text: str
    encoding: str
    masks: secrets.Masks = secrets.NO_MASKS


class SkipReason(NamedTuple):
    """Why bytes are not read as text: ``binary``, ``unknown_encoding`` or ``lfs_pointer``, and a sentence on it."""

    reason: str
    detail: str


_SAMPLE_BYTES = 8192  # binaries and UTF-16 show themselves within the first pages
_MAX_CONTROL_SHARE = 0.02  # control characters in text are rare: a form feed, a bell in a terminal script
_MAX_HIGH_SHARE = 0.30  # accented letters in Western prose stay below 20 %; above 30 % it is another script or binary
# In UTF-16 text every second byte of Latin letters, digits, spaces and line ends is zero, and hardly any other.
_MIN_ZERO_SHARE = 0.30
_MAX_OTHER_ZERO_SHARE = 0.01
_MAX_DAMAGED_SHARE = 0.01  # a text with more broken bytes is not UTF-8

_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x08\x1b")
_CONTROLS = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in _TEXT_CONTROLS)
_HIGH = bytes(range(0x80, 0x100))

# Longest first: the mark of UTF-32 little-endian begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Formats whose start is plain text although the rest is not.
_BINARY_MAGIC = (b"%PDF-", b"PK\x03\x04", b"\x7fELF", b"!<arch>\n", b"%!PS-Adobe", b"{\\rtf")

_DECLARED = re.compile(
    rb"""coding[=:][ \t]*([-\w.]+) | <\?xml[^>]{0,80}\bencoding=["']([-\w.]+) | \bcharset=["']?([-\w.]+)""", re.VERBOSE
)
_DECLARED_BYTES = 1024  # a declaration stands in the first lines


def decode(data: bytes, *, show_secrets: bool = False) -> Decoded | SkipReason:
    """The text of a file's whole content, or why there is none. Never raises; an empty file is empty text.

    ``show_secrets``: secrets are not masked. Only for what is shown to the user himself.
    """
    decoded = _decode(data)
    if show_secrets or not isinstance(decoded, Decoded):
        return decoded
    masked = secrets.mask(decoded.text.encode("utf-8", "surrogatepass"))
    if not masked.masks:
        return decoded
    return Decoded(masked.text.decode("utf-8", "surrogatepass"), decoded.encoding, masked.masks)


def _decode(data: bytes) -> Decoded | SkipReason:
    if is_lfs_pointer(data):
        return SkipReason(*LFS_POINTER)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            marked = _strictly(data[len(mark) :], encoding)
            if marked is not None and "\0" not in marked.text:
                return marked
    if data.startswith(_BINARY_MAGIC):
        return SkipReason("binary", "a document or program format, not text")
    if b"\0" in data:
        wide = _wide(data)
        return wide if wide is not None else SkipReason("binary", "it contains zero bytes")
    sample = data[:_SAMPLE_BYTES]
    if _share(sample, _CONTROLS) > _MAX_CONTROL_SHARE:
        # ISO-2022 text switches alphabets with escapes, which are no controls here; anything else is not text.
        return SkipReason("binary", "it is full of control characters")
    utf8 = _strictly(data, "utf-8")
    if utf8 is not None:
        return utf8
    return _legacy(data, sample)


def _strictly(data: bytes, encoding: str) -> Decoded | None:
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        return None


def _share(sample: bytes, of: bytes) -> float:
    return (len(sample) - len(sample.translate(None, of))) / len(sample) if sample else 0.0


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 without a mark, when its zero bytes give it away."""
    if len(data) % 2:
        return None
    sample = data[:_SAMPLE_BYTES]
    half = len(sample) / 2
    even, odd = sample[::2].count(0) / half, sample[1::2].count(0) / half
    if odd >= _MIN_ZERO_SHARE and even <= _MAX_OTHER_ZERO_SHARE:
        wide = _strictly(data, "utf-16-le")
    elif even >= _MIN_ZERO_SHARE and odd <= _MAX_OTHER_ZERO_SHARE:
        wide = _strictly(data, "utf-16-be")
    else:
        return None
    # Arrays of small integers look like UTF-16 as well; their "characters" are controls.
    if wide is None or "\0" in wide.text:
        return None
    head = wide.text[: _SAMPLE_BYTES // 2]
    controls = sum(1 for char in head if ord(char) < 0x100 and ord(char) in _CONTROLS)
    return wide if controls <= _MAX_CONTROL_SHARE * len(head) else None


def _legacy(data: bytes, sample: bytes) -> Decoded | SkipReason:
    """Text without zero bytes that is not valid UTF-8."""
    damaged = _damaged_utf8(data)
    if damaged is not None:
        return damaged
    declared = _DECLARED.search(data[:_DECLARED_BYTES])
    if declared is not None:
        name = next(group for group in declared.groups() if group).decode("ascii", "replace")
        try:
            codec = codecs.lookup(name).name
        except LookupError:
            codec = ""
        if codec in DECLARABLE:
            text = _strictly(data, codec)
            if text is not None:
                return text
    # The whole content counts, not the sample: prose may start in ASCII and go on in another script.
    if _share(sample, _HIGH) > _MAX_HIGH_SHARE or _share(data, _HIGH) > _MAX_HIGH_SHARE:
        return SkipReason("unknown_encoding", "neither UTF-8 nor UTF-16, and no encoding is declared")
    return _strictly(data, "cp1252") or SkipReason("unknown_encoding", "neither UTF-8, UTF-16 nor Windows-1252")


def _damaged_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with a few broken bytes, if the intact characters beyond ASCII clearly outnumber them."""
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    high = len(data) - len(data.translate(None, _HIGH))
    if damaged > _MAX_DAMAGED_SHARE * len(data) or high < 4 * damaged:
        return None
    return Decoded(text, "utf-8")


# --- which files are searched at all

HEAD_BYTES = 4096
"""Bytes at the beginning of a file from which its language and its marks are told."""


def admit(path: str, data: bytes, *, show_secrets: bool = False) -> Decoded | SkippedFile:
    """The text of a file that is text as it is, or why it is left out. For ``show_secrets`` see `decode`."""
    if secret := secret_in(data, path):
        return SkippedFile(path, "secret", f"it contains {secret}")
    decoded = decode(data, show_secrets=show_secrets)
    if not isinstance(decoded, Decoded):
        return SkippedFile(path, decoded.reason, decoded.detail)
    head = data[:HEAD_BYTES]
    if looks_minified(head) and not _may_have_long_lines(path, head, decoded.text):
        return SkippedFile(path, "minified", "its lines are too long for source code")
    return decoded


_MARKUP = frozenset(("asciidoc", "markdown", "org", "rst"))


def _may_have_long_lines(path: str, head: bytes, text: str) -> bool:
    """Whether a file is no code: a page that begins with a table of pictures, or a notebook, whose pictures are not
    read."""
    from findling.model.languages import language_of  # its table takes 5 ms to build, and few files need it here
    from findling.reading.notebooks import notebook_cells

    language = language_of(path, head).id
    return language in _MARKUP or (language == "notebook" and notebook_cells(text) is not None)
