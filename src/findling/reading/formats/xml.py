"""XML as a stream of events: nothing is held, no entity is expanded, nothing outside is loaded. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias
from xml.parsers import expat

from findling.reading.formats.model import MAX_CHARS, NotConverted

MAX_DEPTH: Final = 500
"""Elements within elements; documents that people write stay below 100."""

MAX_TEXT: Final = 2 * MAX_CHARS
"""Characters between the elements of one part: readers gather some before they write any."""

Attributes: TypeAlias = Mapping[str, str]
Event: TypeAlias = (
    tuple[Literal["start"], str, Attributes]
    | tuple[Literal["end"], str, Attributes]
    | tuple[Literal["text"], str, Attributes]
)

_NO_ATTRIBUTES: Final[Attributes] = {}


def events(pieces: Iterable[bytes]) -> Iterator[Event]:
    """Starts and ends of elements by their local names, and the text between. Nothing for nothing.

    Raises `NotConverted` for what is not well-formed, has a document type (which is how entities are declared), is
    nested too deep or says too much.
    """
    found: list[Event] = []
    depth = chars = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise NotConverted("broken_document", f"its elements are nested more than {MAX_DEPTH} deep")
        found.append(("start", name.rpartition(" ")[2], attributes))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        found.append(("end", name.rpartition(" ")[2], _NO_ATTRIBUTES))

    def say(text: str) -> None:
        nonlocal chars
        chars += len(text)
        if chars > MAX_TEXT:
            raise NotConverted("too_large", f"a part of it has more than {MAX_TEXT:,} characters")
        found.append(("text", text, _NO_ATTRIBUTES))

    def refuse(*_: object) -> None:
        raise NotConverted("broken_document", "it declares a document type, which no document of its format has")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = say
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    any_piece = False
    try:
        for piece in pieces:
            any_piece = True
            parser.Parse(piece, False)
            yield from found
            found.clear()
        if any_piece:
            parser.Parse(b"", True)
            yield from found
    except expat.ExpatError as error:
        raise NotConverted("broken_document", f"its XML is broken: {error}") from error


def attribute(attributes: Attributes, name: str) -> str:
    """By its local name, '' for one that is not there."""
    if name in attributes:
        return attributes[name]
    ending = f" {name}"
    return next((value for key, value in attributes.items() if key.endswith(ending)), "")
