"""Makes the trigrams of a text. With them an exact search finds the files that can hold its pattern. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.trigram_plan import UNINDEXED_BYTES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Letters that match an ASCII letter when case is ignored (long s, Kelvin sign, dotted and dotless i), as UTF-8.
_FOLD_TO_ASCII = (("ſ".encode(), b"s"), ("\u212a".encode(), b"k"), ("\u0130".encode(), b"i"), ("ı".encode(), b"i"))


def file_trigrams(data: bytes) -> bytes:
    """The file's trigrams as the exact-text index takes them: sorted unique little-endian uint32 codes, packed.

    ``data``: the text that a search reads, as UTF-8 (`text_encodings.as_utf8`). Serves case-sensitive and
    case-insensitive search alike.
    """
    lowered = data.lower()
    folded = lowered
    if not lowered.isascii():
        for letter, ascii_letter in _FOLD_TO_ASCII:
            folded = folded.replace(letter, ascii_letter)
    import numpy as np

    codes = _unique_codes(lowered)
    if len(folded) != len(lowered):
        codes = np.union1d(codes, _unique_codes(folded))
    return codes.astype("<u4", copy=False).tobytes()


def _unique_codes(lowered: bytes) -> NDArray[np.uint32]:
    import numpy as np

    if len(lowered) < 3:
        return np.empty(0, np.uint32)
    text = np.frombuffer(lowered, np.uint8)
    left_out = np.zeros(len(text), bool)
    for byte in UNINDEXED_BYTES:
        left_out |= text == byte
    codes = text[:-2].astype(np.uint32)
    codes <<= 8
    codes |= text[1:-1]
    codes <<= 8
    codes |= text[2:]
    found: NDArray[np.uint32] = codes[~(left_out[:-2] | left_out[1:-1] | left_out[2:])]
    found.sort()
    new = np.empty(len(found), bool)
    new[:1] = True
    np.not_equal(found[1:], found[:-1], out=new[1:])
    return found[new]
