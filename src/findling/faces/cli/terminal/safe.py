"""Text that is safe to print: control characters made visible, and every string encodable.

File contents and names are data. Printed raw, an escape sequence in them could rewrite the screen, the window's
title or the clipboard, and a bidirectional override could show a line in another order than it is stored.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping
from typing import Final, TextIO

ENCODE_ERRORS: Final = "findling.faces.cli.terminal"

_LINE_BREAKS: Final = {0x0A: "\u240a", 0x0D: "\u240d"}
_BIDI_CONTROLS: Final = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SURROGATES: Final = range(0xD800, 0xE000)

# One character for each, so that columns stay right. The tab is harmless and stays.
_VISIBLE: Final[dict[int, str]] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code != 0x09},
    0x7F: "\u2421",
    **dict.fromkeys(range(0x80, 0xA0), "\ufffd"),
    **dict.fromkeys(_BIDI_CONTROLS, "\ufffd"),
    **dict.fromkeys((0x2028, 0x2029), "\u240a"),
    **dict.fromkeys(_SURROGATES, "\ufffd"),
}


def visible(text: str) -> str:
    """``text`` for a terminal, of the same length: each control character shown as a picture of itself."""
    return text if text.isascii() and text.isprintable() else text.translate(_VISIBLE)


def one_line(text: str) -> str:
    """``text`` for a pipe: only what would break the line is made visible, the rest passes as it is."""
    return text.translate(_LINE_BREAKS)


def write_line(stream: TextIO, text: str) -> None:
    """Write ``text`` as one line, whatever it contains, and at once."""
    stream.write(visible(text) + "\n")
    stream.flush()


def silence(stream: TextIO) -> None:
    """Python flushes stdout once more when it exits; after a failed write let that, and all else, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def make_encodable(stream: TextIO) -> None:
    """Let ``stream`` take any string: undecodable bytes of names as they were, other foreigners as escapes."""
    codecs.register_error(ENCODE_ERRORS, _encode)
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=ENCODE_ERRORS)


def _encode(error: UnicodeError) -> tuple[bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    out = bytearray()
    for character in error.object[error.start : error.end]:
        code = ord(character)
        if 0xDC80 <= code <= 0xDCFF:
            out.append(code - 0xDC00)
        else:
            out += character.encode("ascii", "backslashreplace")
    return bytes(out), error.end


# --- what a stream can show ------------------------------------------------------------------------------------------


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def wants_style(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether escape sequences may be written to ``stream``.

    NO_COLOR (not empty) and TERM=dumb forbid them all, links included; FORCE_COLOR (not empty) asks for them even in a
    pipe; otherwise only a terminal gets them.
    """
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return bool(environment.get("FORCE_COLOR")) or is_terminal(stream)
