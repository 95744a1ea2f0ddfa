"""Documents made by hand for tests: the smallest that the formats' own rules allow."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return out.getvalue()


def relations(targets: Mapping[str, str]) -> str:
    rows = "".join(f'<Relationship Id="{id}" Type="x" Target="{escape(to)}"/>' for id, to in targets.items())
    return f'<Relationships xmlns="{RELATIONS}">{rows}</Relationships>'


def docx(body: str, *, styles: str = "", parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """``body`` is WordprocessingML with the prefix ``w``; `paragraph` and `table` make some."""
    return archive(
        {
            "_rels/.rels": relations({"r1": "word/document.xml"}),
            "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
            "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
            **(parts or {}),
        }
    )


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def pptx(slides: Sequence[tuple[str, Sequence[str]]], *, notes: Mapping[int, str] | None = None) -> bytes:
    """Slides by title and lines; notes by the number of the slide. Their parts are numbered backwards."""
    count = len(slides)
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{SLIDES}" xmlns:r="{OFFICE}"><p:sldIdLst>'
        + "".join(f'<p:sldId id="{256 + i}" r:id="r{i}"/>' for i in range(count))
        + "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations({f"r{i}": f"slides/slide{count - i}.xml" for i in range(count)}),
    }
    for i, (title, lines) in enumerate(slides):
        parts[f"ppt/slides/slide{count - i}.xml"] = _slide([("title", [title]), ("body", lines)])
        if notes and i + 1 in notes:
            parts[f"ppt/slides/_rels/slide{count - i}.xml.rels"] = relations({"n": f"../notesSlides/notesSlide{i}.xml"})
            parts[f"ppt/notesSlides/notesSlide{i}.xml"] = _slide([("body", [notes[i + 1]])])
    return archive(parts)


def _slide(shapes: Sequence[tuple[str, Sequence[str]]]) -> str:
    made = "".join(
        f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>'
        + "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
        + "</p:txBody></p:sp>"
        for kind, lines in shapes
    )
    return f'<p:sld xmlns:p="{SLIDES}" xmlns:a="{DRAWING}"><p:cSld><p:spTree>{made}</p:spTree></p:cSld></p:sld>'


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float | None]]], *, dates: str = "") -> bytes:
    """Sheets by name. Texts are shared strings; numbers in the column ``dates`` (a letter) are shown as dates."""
    texts: dict[str, int] = {}
    parts: dict[str, str | bytes] = {}
    for number, rows in enumerate(sheets.values(), 1):
        made = []
        for r, row in enumerate(rows, 1):
            cells = []
            for c, value in enumerate(row):
                letter = chr(65 + c)
                if isinstance(value, str):
                    cells.append(f'<c r="{letter}{r}" t="s"><v>{texts.setdefault(value, len(texts))}</v></c>')
                elif value is not None:
                    cells.append(f'<c r="{letter}{r}" s="{int(letter == dates)}"><v>{value}</v></c>')
            made.append(f'<row r="{r}">{"".join(cells)}</row>')
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{SHEETS}"><sheetData>{"".join(made)}</sheetData></worksheet>'
        )
    names = "".join(f'<sheet name="{escape(n)}" sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(sheets, 1))
    strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    return archive(
        {
            "xl/workbook.xml": f'<workbook xmlns="{SHEETS}" xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(
                {f"r{i}": f"worksheets/sheet{i}.xml" for i in range(1, len(sheets) + 1)}
            ),
            "xl/sharedStrings.xml": f'<sst xmlns="{SHEETS}">{strings}</sst>',
            "xl/styles.xml": f'<styleSheet xmlns="{SHEETS}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
            "</styleSheet>",
            **parts,
        }
    )


def epub(chapters: Sequence[str], *, parts: Mapping[str, str] | None = None) -> bytes:
    """Chapters by the inside of their ``body``."""
    items = "".join(
        f'<item id="c{i}" href="text/c{i}.xhtml" media-type="application/xhtml+xml"/>' for i in range(len(chapters))
    )
    order = "".join(f'<itemref idref="c{i}"/>' for i in range(len(chapters)))
    return archive(
        {
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
            f"{items}</manifest><spine>{order}</spine></package>",
            **{
                f"OEBPS/text/c{i}.xhtml": '<?xml version="1.0"?><!DOCTYPE html><html><body>' + c + "</body></html>"
                for i, c in enumerate(chapters)
            },
            **(parts or {}),
        }
    )


def pdf(pages: Sequence[str]) -> bytes:
    """Pages of text, one line each for every line; ASCII only."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for page in pages:
        lines = b" ".join(f"({_literal(line)}) Tj T*".encode() for line in page.split("\n"))
        stream = b"BT /F1 10 Tf 40 800 Td 12 TL " + lines + b" ET"
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (number + 1)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def _literal(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
