"""Surfaces whose inputs are files: their names, what stands in them, and the files of an index itself."""

from __future__ import annotations

import io
import os
import random
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import mutation
from indexes import make, write
from office import WORD, archive, docx, epub, paragraph, pdf, pptx, table, xlsx
from test_faults import InlinePool

from findling import Engine
from findling.contracts import call
from findling.contracts.workspaces import Workspace
from findling.embedding import bundled
from findling.engine import indexer
from findling.model.errors import FindlingError
from findling.model.languages import LANGUAGES, language_of
from findling.model.reading import Embedded, Reading
from findling.model.types import Mode, SkippedFile
from findling.reading.limits import ChunkLimits, DocLimits
from findling.reading.pool import Task, WorkerPool
from findling.store.local import layout

# --- names of files -----------------------------------------------------------------------------------------------

NAMES_TOGETHER = 40
MARKER = "a_marker_in_every_file"
NAME_PIECES = (
    *(b"a", b"B", b"readme", b".py", b".md", b".txt", b".", b"..", b" ", b"\n", b"\r", b"\t", b"\x1b[2J", b"\\", b":"),
    *(b"*", b"?", b"[a]", b"'", b'"', b"$(id)", b"`id`", b"-", b"--help", b"#", b"!", b"~", b"%s", b"{}", b"\xff"),
    *(b"\xc3",),
    *(b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xef\xbb\xbf", "é".encode(), b"e\xcc\x81", "中".encode(), b"CON", b"nul.txt"),
    *(b"A" * 100, b"a" * 250, b".git", b".findling", b"findling.toml", b".gitignore", b"C:", b"index.db", b"\x7f"),
    *(b"\x01",),
)


class FileNames:
    """Each file that is to be had is found, at its name; what is left out has a reason."""

    inputs = NAMES_TOGETHER

    def __init__(self, folder: Path) -> None:
        indexer.WorkerPool = InlinePool  # type: ignore[assignment,misc]  # what is in the files is no question here
        self._root = folder / "names"

    def make(self, chance: random.Random) -> list[bytes]:
        return [self._path(chance) for _ in range(NAMES_TOGETHER)]

    @staticmethod
    def _path(chance: random.Random) -> bytes:
        parts = []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            name = b"".join(chance.choices(NAME_PIECES, k=chance.randint(1, 4)))
            if chance.random() < 0.3:
                name = mutation.mutated_bytes(chance, name)
            name = name.replace(b"/", b"").replace(b"\0", b"")[: chance.choice((255, 255, 300))]
            parts.append(name if name not in (b"", b".", b"..") else b"x")
        return b"/".join(parts)

    def check(self, made: list[bytes]) -> None:
        shutil.rmtree(self._root, ignore_errors=True)
        self._root.mkdir()
        there = {path for path in made if self._lay(path)}
        with Workspace(self._root, root=self._root) as workspace:
            engine = workspace.engine
            engine.index(embed=False)
            found = engine.grep(MARKER, literal=True)
            by_path = {os.fsencode(each.path) for each in found.files}
            assert by_path <= there, by_path - there
            for path in there - by_path:
                why = engine.why(self._root / os.fsdecode(path))
                assert why.reason and not why.indexed, (path, why)
            for path in there & by_path:
                result = call("get_file", {"path": os.fsdecode(path)}, workspace)
                text = "".join(result.text_blocks)
                text.encode()
                # What is no text has no place in JSON, and a name of blanks alone is taken for a slip.
                refused = result.is_error and any(word in text for word in ("Unicode", "blank"))
                assert MARKER in text or refused, (path, text[:300])

    def _lay(self, path: bytes) -> bool:
        target = os.path.join(os.fsencode(self._root), path)
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb") as file:
                file.write(MARKER.encode() + b"\n")
        except OSError:
            return False  # the system has no such name, or a folder stands there
        return True


# --- what stands in files -----------------------------------------------------------------------------------------

FILES_TOGETHER = 8
SAMPLES = Path(__file__).parents[1] / "reading" / "samples"
DEEP = (
    "(",
    "[",
    "{",
    "<div>",
    "if (a) {",
    "a(",
    "[[",
    "- ",
    "> ",
    "(a",
    "/*",
    "'''",
    '"',
    "${",
    "<!--",
    "begin ",
    "\t",
)


class Read:
    """Prepares files as indexing does, in a worker that may be lost."""

    inputs = FILES_TOGETHER

    def __init__(self, folder: Path, limits: ChunkLimits | None = None) -> None:
        self._pool = WorkerPool(1, limits=limits)

    def check(self, made: list[tuple[str, bytes]]) -> None:
        self._pool.submit([Task(number, path, data) for number, (path, data) in enumerate(made)])
        answers = self._pool.collect()
        assert answers is not None and len(answers) == len(made)
        for number, answer in answers:
            if isinstance(answer, SkippedFile):
                # `failed` is an exception that nobody thought of, or a process that was lost twice.
                assert answer.reason != "failed", (made[number][0], answer)
            else:
                assert isinstance(answer, Reading) and not isinstance(answer, Embedded)
                _check_reading(answer)


def _check_reading(reading: Reading) -> None:
    assert reading.lines >= 0
    for symbol in reading.symbols:
        assert 1 <= symbol.start_line <= symbol.end_line <= max(1, reading.lines), symbol
    for chunk in reading.chunks:
        assert 1 <= chunk.start_line <= chunk.end_line <= max(1, reading.lines), chunk
        assert 0 <= chunk.start_byte <= chunk.end_byte, chunk


class Sources(Read):
    """Files in every language: cut, nested, mixed, on one line, not UTF-8."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        samples = {path.stem: path.read_bytes() for path in sorted(SAMPLES.glob("*.sample"))}
        self._samples = {_path_of(language): data for language, data in samples.items()}

    def make(self, chance: random.Random) -> list[tuple[str, bytes]]:
        return [self._file(chance) for _ in range(FILES_TOGETHER)]

    def _file(self, chance: random.Random) -> tuple[str, bytes]:
        path, data = chance.choice(list(self._samples.items()))
        kind = chance.random()
        if kind < 0.5:
            return path, mutation.mutated_bytes(chance, data)
        if kind < 0.65:
            return path, data[: chance.randrange(len(data))]
        if kind < 0.8:
            other = chance.choice(list(self._samples.values()))
            return path, data[: chance.randrange(len(data))] + other[chance.randrange(len(other)) :]
        if kind < 0.9:
            text = mutation.mutated(chance, data.decode("utf-8", "replace"))
            return path, text.encode(chance.choice(("utf-8", "utf-16", "latin-1", "utf-8-sig", "utf-7")), "replace")
        if kind < 0.97:
            return path, data.replace(b"\n", chance.choice((b" ", b"\r", b"\n\n\n", b"\x0c", b"", b"\x00")))
        if kind < 0.99:
            opening = chance.choice(DEEP).encode()
            return path, data[: chance.randrange(len(data))] + opening * chance.choice((100, 1000, 20_000, 100_000))
        piece = data.replace(b"\n", b" ") + b" "
        return path, piece * (chance.choice((100_000, 1_000_000, 10_000_000)) // len(piece))


def _path_of(language: str) -> str:
    """A path whose files are in the language."""
    plain = {"dockerfile": "Dockerfile", "make": "Makefile", "cmake": "CMakeLists.txt", "just": "justfile"}
    extensions = LANGUAGES[language].extensions if language in LANGUAGES else ()
    path = plain.get(language) or f"sample{next(iter(extensions), '.' + language)}"
    assert language_of(path, b"").id == language, (language, path)
    return path


NOTEBOOK = (
    '{"cells": [{"cell_type": "markdown", "source": ["# Title\\n", "text"]}, {"cell_type": "code", "source": "x = 1",'
    '"outputs": [{"text": ["1"]}]}], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}'
)
PAGE = (
    "<!DOCTYPE html><html><head><title>Tea</title><script>x</script></head><body><nav>menu</nav><main><h1>Tea</h1>"
    "<p>Water <b>boils</b>.<ul><li>one<li>two</ul><table><tr><td>a<td>b</table><pre>code</pre></main></body></html>"
)
DOCUMENTS: Mapping[str, bytes] = {
    "a.docx": docx(paragraph("Title", "Heading1") + paragraph("Some text & more.") + table([["a", "b"], ["c", "d"]])),
    "a.pptx": pptx([("First", ["one", "two"]), ("Second", ["three"])], notes={1: "a note"}),
    "a.xlsx": xlsx({"Sheet": [["name", "value"], ["a", 1.5], ["b", None]]}, dates="B"),
    "a.epub": epub(["<h1>One</h1><p>Text.</p>", "<h2>Two</h2><p>More.</p>"]),
    "a.pdf": pdf(["A page of text\nwith two lines", "Another page"]),
    "a.html": PAGE.encode(),
    "a.ipynb": NOTEBOOK.encode(),
}
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {name} "{f"&{inner};" * 10}">' for inner, name in zip("abcdefgh", "bcdefghi", strict=True))
    + f']><w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>&i;</w:t></w:r></w:p></w:body></w:document>'
)


class Formats(Read):
    """Documents that are converted: their bytes, the parts of archives, archives that grow, what refers to itself."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, ChunkLimits(docs=DocLimits(), pages=True))

    def make(self, chance: random.Random) -> list[tuple[str, bytes]]:
        return [self._document(chance) for _ in range(FILES_TOGETHER)]

    def _document(self, chance: random.Random) -> tuple[str, bytes]:
        path = chance.choice(list(DOCUMENTS))
        data = DOCUMENTS[path]
        kind = chance.random()
        if kind < 0.3:
            return path, mutation.mutated_bytes(chance, data)
        if kind < 0.35:
            return path, chance.choice(list(DOCUMENTS.values()))
        if path == "a.pdf":
            return path, _pdf_that_loops(chance, data)
        if not data.startswith(b"PK"):
            text = mutation.mutated(chance, data.decode())
            if chance.random() < 0.05:
                text = text[:100] + chance.choice(("<div>", "[", '{"cells": [', "<table><tr><td>")) * 20_000
            return path, text.encode("utf-8", "replace")
        return path, _archive_anew(chance, data)


def _archive_anew(chance: random.Random, data: bytes) -> bytes:
    """The archive with some of its parts changed: nearer to what a reader looks at than changed bytes."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        parts: dict[str, str | bytes] = {name: package.read(name) for name in package.namelist()}
    for _ in range(chance.randint(1, 3)):
        name = chance.choice(list(parts))
        part = parts[name]
        assert isinstance(part, bytes)
        kind = chance.random()
        if kind < 0.4:
            parts[name] = mutation.mutated(chance, part.decode("utf-8", "replace")).encode("utf-8", "replace")
        elif kind < 0.6:
            parts[name] = mutation.mutated_bytes(chance, part)
        elif kind < 0.65:
            parts[name] = BOMB.encode()
        elif kind < 0.7:
            parts[name] = part[:200] + b" " * chance.choice((100_000, 1_000_000, 1_000_000, 30_000_000)) + part[200:]
        elif kind < 0.75:
            parts[name] = part[:200] + chance.choice((b"<w:p>", b"<a>", b"<row><c>")) * 50_000
        elif kind < 0.8:
            parts[name] = data  # an archive in an archive
        elif kind < 0.9:
            del parts[name]
            parts[mutation.mutated(chance, name).replace("\0", "")[:200] or "x"] = part
        else:
            parts[name] = parts[chance.choice(list(parts))]
    made = archive({name: part for name, part in parts.items() if _is_encodable(name)})
    return mutation.mutated_bytes(chance, made) if chance.random() < 0.1 else made


def _is_encodable(name: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in name)


def _pdf_that_loops(chance: random.Random, data: bytes) -> bytes:
    """Objects that refer to each other in circles, lengths and places that lie."""
    loops = (
        (b"/Kids [4 0 R", b"/Kids [2 0 R"),
        (b"/Parent 2 0 R", b"/Parent 4 0 R"),
        (b"/Contents 5 0 R", b"/Contents 4 0 R"),
        (b"/Root 1 0 R", b"/Root 1 0 R /Prev 9"),
        (b"/Length ", b"/Length 99999"),
        (b"/Count 2", b"/Count 2000000000"),
        (b"/Font << /F1 3 0 R >>", b"/Font << /F1 2 0 R >>"),
        (b"/Type /Pages", b"/Type /Page"),
        (b"startxref\n", b"startxref\n1"),
        (b" 0 obj", b" 1 obj"),
        (b"endstream", b""),
        (b"595 842", b"1e300 -1e300"),
    )
    for old, new in chance.sample(loops, k=chance.randint(1, 4)):
        data = data.replace(old, new)
    return mutation.mutated_bytes(chance, data) if chance.random() < 0.3 else data


# --- the files of the index ---------------------------------------------------------------------------------------

MOMENTS = ("before", "open", "asked")


@dataclass(frozen=True)
class Damage:
    """What is done to one file of the index; ``moment``: before it is opened, while it is, after a question."""

    moment: str
    file: str
    kind: str
    seed: int


class IndexFiles:
    """Bits flipped, files cut, swapped, of another version, removed while open: the same answers, or an error that
    says so; and after the next run the same answers in any case.

    Each input asks one of `QUERIES`: in every mode right after the damage, and later in one, so that ten thousand
    inputs take minutes and not hours.
    """

    inputs = 1

    def __init__(self, folder: Path) -> None:
        indexer.WorkerPool = InlinePool  # type: ignore[assignment,misc]  # what is in the files is no question here
        self._root, self._kept, self._other = folder / "p", folder / "kept", folder / "other"
        os.environ["PATH"] = ""  # no git, which the folder has no use for: starting it would take half of the time
        self._embedder = bundled.shared()  # each engine would open it anew
        make(self._root)
        with Engine.open(root=self._root) as engine:
            engine.index()
        shutil.copytree(self._root, self._other)
        write(self._root, "src/added.py", "class AddedLater:\n    def retry(self):\n        pass\n")
        with Engine.open(root=self._root) as engine:
            engine.index()
            self._right = {fact.asked: fact for query in QUERIES for fact in _facts(engine, query, MODES, None)}
        store = self._root / ".findling"
        shutil.copytree(store, self._kept)
        self._files = sorted(path.relative_to(store).as_posix() for path in store.rglob("*") if path.is_file())

    def make(self, chance: random.Random) -> Damage:
        kinds = ("flip", "flip", "flip", "cut", "noise", "empty", "removed", "swapped", "older", "grown", "folder")
        moment = chance.choice(MOMENTS)
        return Damage(moment, chance.choice(self._files), chance.choice(kinds), chance.randrange(1 << 30))

    def check(self, made: Damage) -> None:
        store, query = self._root / ".findling", QUERIES[made.seed % len(QUERIES)]
        later = (MODES[made.seed % len(MODES)],)
        while store.exists():  # a thread of the text index's library may still end what it was writing there
            layout.discard(store)
        shutil.copytree(self._kept, store)
        if made.moment == "before":
            self._damage(made)
        with Engine.open(root=self._root) as engine:
            if made.moment != "before":
                if made.moment == "asked":
                    self._check(_facts(engine, query, MODES, 0), 0)
                else:
                    engine.status()
                self._damage(made)
            refusal = None
            for modes, wait_s in ((MODES, 0), (later, None)):
                try:
                    found = _facts(engine, query, modes, wait_s)
                except FindlingError as error:
                    refusal = error
                else:
                    self._check(found, wait_s)
        with Engine.open(root=self._root) as engine:
            engine.index()
            self._check(_facts(engine, query, later, None), None)
        if refusal is not None:
            raise refusal

    def _check(self, found: list[Fact], wait_s: float | None) -> None:
        """Right, or without time for taking in what is missing, marked as not fresh."""
        for mine in found:
            right = self._right[mine.asked]
            told = wait_s == 0 and mine.freshness != "fresh"
            assert mine == right or told, f"wait_s={wait_s}: {mine} instead of {right}"

    def _damage(self, made: Damage) -> None:
        chance = random.Random(made.seed)
        path = self._root / ".findling" / made.file
        if not path.is_file():
            return
        data = path.read_bytes()
        if made.moment != "before" and not made.file.startswith("index.db"):
            # Where a file lies in a reader's memory, bytes that change under it cannot be noticed by anybody; another
            # file in its place can. SQLite reads its file anew, and has checksums.
            beside = path.with_name(f"{path.name}.beside")
            shutil.copyfile(path, beside)
            os.replace(beside, path)
        act: dict[str, Callable[[], Any]] = {
            "flip": lambda: _overwrite(path, _flipped(chance, data)),
            "noise": lambda: _overwrite(path, mutation.mutated_bytes(chance, data)),
            "cut": lambda: os.truncate(path, chance.randrange(len(data) + 1)),
            "empty": lambda: os.truncate(path, 0),
            "removed": path.unlink,
            "swapped": lambda: _overwrite(path, (self._kept / chance.choice(self._files)).read_bytes()),
            "older": lambda: self._older(path, made.file),
            "grown": lambda: _overwrite(path, data + chance.randbytes(chance.choice((1, 4096, 65536)))),
            "folder": lambda: (path.unlink(), path.mkdir()),
        }
        times = path.stat()
        act[made.kind]()
        if made.kind == "flip" and made.seed % 2:  # as a disk does that loses a bit
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _older(self, path: Path, name: str) -> None:
        older = self._other / ".findling" / name
        if older.is_file():
            beside = path.with_name(f"{path.name}.beside")
            shutil.copyfile(older, beside)
            os.replace(beside, path)
        if name == "index.db":  # SQLite's log is part of it: the one with another's is damage that nobody can tell
            for ending in ("-wal", "-shm"):
                path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


def _overwrite(path: Path, data: bytes) -> None:
    """In place, as a disk does that goes wrong: whoever has the file open sees it."""
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


def _flipped(chance: random.Random, data: bytes) -> bytes:
    flipped = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 4, 50))):
        if flipped:
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


QUERIES = ("RetryPolicy", "where are failed requests retried", "start the server", "backoff")


class Fact(NamedTuple):
    asked: str
    freshness: str
    found: object


MODES: tuple[Mode, ...] = ("symbol", "keyword", "semantic")


def _facts(engine: Engine, query: str, modes: Sequence[Mode], wait_s: float | None) -> list[Fact]:
    """What an engine answers."""
    facts = []
    for mode in modes:
        result = engine.search(query, mode=mode, wait_s=wait_s, limit=20)
        found = sorted((hit.path, hit.start_line, hit.end_line) for hit in result.hits)
        facts.append(Fact(f"{mode}: {query}", result.freshness, found))
    facts.append(Fact("grep", "fresh", engine.grep("re[a-z]+").files))
    named = engine.symbols("retry", wait_s=wait_s)
    return [*facts, Fact("symbols", named.freshness, named.definitions)]
