"""A document's text in half of its bytes, in a form that plain SQL can read (`views`). Pure.

It is raw deflate (RFC 1951) of a single block with the fixed codes, so that nothing has to be read before the text
itself, and with a preset dictionary, so that a text of a few hundred bytes gains like a long one. A text that would
grow by it is kept as it is. Changing the dictionary changes the format (`schema.FORMAT_VERSION`).
"""

from __future__ import annotations

import zlib

_COMMON = (
    " insvalues into threpresents theonality and mathis component you are in a  would always  their referen\n\n    "
    "import a string starti development iinternal funct variables for where it is rferent methodsDepending on t exe"
    "cution coning for some otion resource ,\n    consider is used to sethis work for  languages are expected to t "
    "because of a between these  how to handle connection, she repository with a custom  exception witaction allows"
    "  validation. Ts defined in trating system  performance o server that cn order to inc Create a new t within th"
    "is\nve the output    http://www.the number of  introduction\n if the value the maintainerthe files in tat you "
    "may be s possible for library for dl the behaviorstructure is a updated as a n file contentr one or more\n res"
    "ponses tha either throug` and instead  details.\n\n###e you want to {\n      resultements additiocompatibility"
    "  setting with\n need to make  an existing tthat are not a multiple of t before your c expressions t package o"
    "nly  operations.\n\nting a single  instance with. The current  request for c integration\n\n such as the [ed a"
    "nd processd by the same  more complete\nIf you have a, the command s directory coate that is a ed when the ex "
    "dependencies rovides the mo-------------- features of t project and ` you can also ing to return llation](http"
    "sbased on the te for release  there are the other impleme\n============\nautomatically ed under the `e differe"
    "nces  the interfacee changes to t generated in es without thesection.\n\n## Cy the applicat running and aollow"
    "ing code  option to be  available to .\n\nThe default which include\n}\n```\n\n### Re to contribute created fo"
    "r as should be re descriptions\ndition is not  version and se and required. This can be ithub.com/dockes from "
    "the lofunctions are s, and contain will be used  supported by s for examples this document configurationinform"
    "ational  specificationed to use the es and the new\n\nThis is the s that the defction for the  to the provid i"
    "n the follow using the resed with the co              plementations https://githubation of the s"
)
"""What stands in the manuals and READMEs of many projects, the most frequent last, which is the nearest."""

DICTIONARY = bytes(range(256)) + _COMMON.encode()
"""Whoever reads texts with SQL takes single bytes from its beginning."""

_LEVEL = 9
_RAW = -15
_MEMORY = 9
"""The most, so that texts of some 30 kB are one block."""

_FINAL_FIXED = 0b011
"""The first three bits of a text that is one block with the fixed codes."""

_MOST_BYTES = 64 << 20
"""No text comes near this."""


def encode(text: bytes) -> bytes | None:
    """The shorter form; None where there is none."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, _MEMORY, zlib.Z_FIXED, DICTIONARY)
    coded = packer.compress(text) + packer.flush()
    return coded if len(coded) < len(text) and coded[0] & 0b111 == _FINAL_FIXED else None


def decode(coded: bytes) -> bytes:
    """What `encode` was given. Raises `ValueError` for what it never gives."""
    unpacker = zlib.decompressobj(_RAW, DICTIONARY)
    try:
        text = unpacker.decompress(coded, _MOST_BYTES)
    except zlib.error as error:
        raise ValueError("a coded text is damaged") from error
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("a coded text is cut short")
    return text
