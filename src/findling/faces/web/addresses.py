"""What the address of a page says, and the addresses that the page links to: the address is all the state there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct
from msgspec.structs import asdict, replace

from findling.model.types import KIND_FILTERS, KindFilter

MOST_PAGES = 100


class Scope(Struct, frozen=True):
    """Which files are meant: of a kind, in a language, in a folder, of a branch, tag or commit; '' for all."""

    kind: str = ""
    lang: str = ""
    folder: str = ""
    ref: str = ""

    @property
    def kind_filter(self) -> KindFilter | None:
        return next((kind for kind in KIND_FILTERS if kind == self.kind), None)

    @property
    def globs(self) -> tuple[str, ...]:
        """The folder as a glob that means it alone, or what was typed where it is a glob."""
        folder = self.folder.strip().strip("/")
        if not folder:
            return ()
        return (folder if any(char in folder for char in "*?[!{") else f"/{folder}",)


class Asked(Struct, frozen=True):
    """A search. ``page`` from 1."""

    q: str = ""
    scope: Scope = Scope()
    page: int = 1


class Pattern(Struct, frozen=True):
    """An exact search. ``text``: every character means itself."""

    p: str = ""
    scope: Scope = Scope()
    text: bool = False
    ignore: bool = False
    word: bool = False
    all: bool = False
    """``ignore``: upper and lower case are the same; ``all``: every line of a file, not only the first few."""


def scope_of(given: Mapping[str, str]) -> Scope:
    return Scope(**{name: given.get(name, "").strip() for name in Scope.__struct_fields__})


def asked_of(given: Mapping[str, str]) -> Asked:
    page = given.get("page", "")
    number = int(page) if page.isascii() and page.isdigit() and len(page) < 4 else 1
    return Asked(given.get("q", ""), scope_of(given), min(max(number, 1), MOST_PAGES))


def pattern_of(given: Mapping[str, str]) -> Pattern:
    flags = {name: given.get(name) == "1" for name in ("text", "ignore", "word", "all")}
    return Pattern(given.get("p", ""), scope_of(given), **flags)


# --- addresses -------------------------------------------------------------------------------------------------------


def address(path: str, /, **given: Any) -> str:
    """A path with what is given, without what is empty."""
    said = {name: "1" if value is True else str(value) for name, value in given.items() if value}
    return f"{path}?{urlencode(said)}" if said else path


def of_search(asked: Asked, **changes: Any) -> str:
    asked = replace(asked, **changes)
    return address("/", q=asked.q, **asdict(asked.scope), page=asked.page if asked.page > 1 else "")


def of_grep(pattern: Pattern, **changes: Any) -> str:
    found = asdict(replace(pattern, **changes))
    scope = found.pop("scope")
    return address("/grep", p=found.pop("p"), **asdict(scope), **found)


def of_file(path: str, ref: str = "", lines: tuple[int, int] | None = None) -> str:
    """A file, scrolled to lines that stand out."""
    start, end = lines or (0, 0)
    said = address(f"/file/{quote(path)}", lines=f"{start}-{end}" if start else "", ref=ref)
    return f"{said}#L{start}" if start else said


def of_symbol(name: str, path: str = "", ref: str = "", *, tests: bool = False) -> str:
    """A definition. ``path``: the one that stands there."""
    return address("/symbol", name=name, path=path, ref=ref, tests=tests)


def of_similar(path: str, line: int = 0, ref: str = "") -> str:
    return address("/similar", path=path, line=line, ref=ref)
