"""Documents that are broken, locked or made to hurt: each costs itself, with a reason, in bounded time and memory."""

from __future__ import annotations

import io
import random
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress

import pytest
from office import DRAWING, OFFICE, SLIDES, WORD, archive, docx, epub, paragraph, pdf, pptx, relations, xlsx

from findling.model.reading import Reading
from findling.model.types import SkippedFile
from findling.reading.formats import convert, package
from findling.reading.formats.model import NotConverted
from findling.reading.limits import ChunkLimits, DocLimits
from findling.reading.pool import Answer, Task, WorkerPool

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + f']><w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>&i;</w:t></w:r></w:p></w:body></w:document>'
)


def reason(form: str, data: bytes) -> str:
    with pytest.raises(NotConverted) as caught:
        convert(form, data)
    assert caught.value.detail
    return caught.value.reason


def test_entities_are_not_expanded() -> None:
    assert reason("docx", archive({"word/document.xml": BOMB})) == "broken_document"
    assert reason("docx", archive({"word/document.xml": BOMB.encode("utf-16")})) == "broken_document"
    assert reason("epub", epub(["x"], parts={"OEBPS/book.opf": BOMB})) == "broken_document"


def test_nothing_outside_is_read() -> None:
    outside = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY p SYSTEM "file:///etc/passwd">]><x>&p;</x>'
    assert reason("xlsx", archive({"xl/workbook.xml": outside})) == "broken_document"
    linked = relations({"r0": "../../../../etc/passwd", "r1": "/etc/passwd"})
    sheets = f'<workbook xmlns:r="{OFFICE}"><sheets><sheet name="s" r:id="r0"/><sheet name="t" r:id="r1"/></sheets>'
    parts = {"xl/workbook.xml": sheets + "</workbook>", "xl/_rels/workbook.xml.rels": linked}
    assert reason("xlsx", archive(parts)) == "no_text"


def test_an_archive_that_unpacks_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_UNPACKED", 1_000_000)
    padding = " " * 2_000_000
    assert reason("docx", docx(paragraph("x") + padding)) == "too_large"


def test_text_that_never_ends_is_not_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_TEXT", 50_000)
    assert reason("docx", docx(paragraph("hello " * 10_000))) == "too_large"


def test_an_archive_that_lies_about_its_sizes() -> None:
    data = bytearray(docx(paragraph("hello " * 10_000)))
    at = data.rindex(b"PK\x01\x02")  # the list's last entry: sizes stand 20 and 24 bytes behind
    data[at + 24 : at + 28] = (3).to_bytes(4, "little")
    with pytest.raises(NotConverted):
        convert("docx", bytes(data))


def test_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_PARTS", 50)
    assert reason("pptx", archive({f"p{i}": b"" for i in range(60)})) == "too_large"


def test_deep_nesting() -> None:
    assert reason("docx", docx("<w:p>" * 600 + "</w:p>" * 600)) == "broken_document"
    assert reason("html", b"<div>" * 200_000) == "broken_document"
    unclosed = "<p>a<li>b<td>c" * 5000  # what people forget to close is not nested
    assert "a" in convert("html", unclosed.encode())


def test_tags_that_are_never_closed() -> None:
    for piece in (b'<a "', b"<a '", b"<", b"<a ", b"<!--", b"<a b="):
        with suppress(NotConverted):
            convert("html", b"<p>text</p>" + piece * 100_000)


def test_a_row_with_a_cell_far_to_the_right() -> None:
    data = archive(
        {
            "xl/workbook.xml": f'<workbook xmlns:r="{OFFICE}"><sheets><sheet name="s" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations({"r1": "s.xml"}),
            "xl/s.xml": "<worksheet>"
            + "".join(f'<row r="{i}"><c r="ALL{i}"><v>{i}</v></c></row>' for i in range(1, 20_000))
            + "</worksheet>",
        }
    )
    text = convert("xlsx", data)
    assert text.startswith("⟦s!A1:ALL20⟧\n\n1 | ALL: 1\n")
    assert len(text) < 1_000_000


def test_many_pages() -> None:
    assert reason("pdf", pdf(["x"] * 10_000)) == "too_large"


def test_locked_documents() -> None:
    assert reason("xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500) == "encrypted"
    assert reason("epub", epub(["x"], parts={"META-INF/encryption.xml": LOCK})) == "encrypted"
    assert reason("docx", locked(docx(paragraph("secret")))) == "encrypted"
    assert reason("pdf", locked_pdf()) == "encrypted"


LOCK = '<encryption><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></encryption>'


def locked(data: bytes) -> bytes:
    """With the mark of encryption on every part."""
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        entries = [(entry.header_offset, entry.filename) for entry in source.infolist()]
    changed = bytearray(data)
    for at, _ in entries:
        changed[at + 6] |= 1
    at = changed.find(b"PK\x01\x02")
    while at >= 0:
        changed[at + 8] |= 1
        at = changed.find(b"PK\x01\x02", at + 4)
    return bytes(changed)


def locked_pdf() -> bytes:
    """With an encryption dictionary whose password is not the empty one."""
    lock = (
        b"<< /Filter /Standard /V 1 /R 2 /P -44 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> >>"
    )  # a user key that no password gives
    data = pdf(["hidden"])
    return data.replace(b"/Root 1 0 R", b"/Root 1 0 R /Encrypt " + lock + b" /ID [<00> <00>]")


def samples() -> Iterator[tuple[str, bytes]]:
    yield "pdf", pdf(["one page of text", "another"])
    yield "docx", docx(paragraph("text", "Heading1") + paragraph("more"))
    yield "pptx", pptx([("a", ["b"])])
    yield "xlsx", xlsx({"s": [["a", 1.0]]})
    yield "epub", epub(["<p>text</p>"])
    yield "html", b"<html><body><main><p>text<b>more</main>"


@pytest.mark.parametrize("seed", range(6))
def test_damaged_documents_give_text_or_a_reason(seed: int) -> None:
    """In workers, which may crash without harm: every file has its answer."""
    dice = random.Random(seed)
    tasks: list[Task] = []
    for form, data in samples():
        for _ in range(8):
            tasks.append(Task(len(tasks), f"doc{len(tasks)}.{form}", damaged(data, dice)))
    found = asked(tasks)
    assert sorted(found) == [task.key for task in tasks]
    for answer in found.values():
        assert isinstance(answer, Reading) or (answer.reason != "failed" and answer.detail)


def damaged(data: bytes, dice: random.Random) -> bytes:
    changed = bytearray(data)
    match dice.randrange(4):
        case 0:
            return bytes(changed[: dice.randrange(len(changed))])
        case 1:
            for _ in range(20):
                changed[dice.randrange(len(changed))] = dice.randrange(256)
        case 2:
            at = dice.randrange(len(changed))
            changed[at:at] = dice.randbytes(200)
        case _:
            at = dice.randrange(len(changed))
            del changed[at : at + 100]
    return bytes(changed)


def asked(tasks: list[Task]) -> dict[int, Answer]:
    with WorkerPool(1, limits=ChunkLimits(DocLimits(1000, 200), pages=True)) as pool:
        pool.submit(tasks)
        answers = pool.collect(120)
    assert answers is not None
    return dict(answers)


def test_memory_is_bounded_in_the_worker() -> None:
    """A page that PDFium unpacks to gigabytes ends its worker, or fails in it; the next document is read."""
    packer = zlib.compressobj(1)
    pieces = [packer.compress(b" " * 60_000_000) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)]
    packed = zlib.compress(pieces[0] + 9 * pieces[1])  # after a full flush a piece may be repeated
    body = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(packed), packed)
    data = pdf(["x"])
    start = data.index(b"5 0 obj\n") + 8
    bomb = data[:start] + body + data[data.index(b"\nendobj", start) :]
    found = asked([Task(0, "bomb.pdf", bomb), Task(1, "good.pdf", pdf(["a good page"]))])
    assert isinstance(found[0], SkippedFile)
    assert isinstance(found[1], Reading)


def test_a_slide_in_a_slide_in_a_slide() -> None:
    inner = "<a:t>x</a:t>"
    for _ in range(400):
        inner = f"<p:sp>{inner}</p:sp>"
    data = archive({"ppt/slides/slide1.xml": f'<p:sld xmlns:p="{SLIDES}" xmlns:a="{DRAWING}">{inner}</p:sld>'})
    assert reason("pptx", data) in ("no_text", "broken_document")
