"""Converts web pages to text: their content as Markdown, without menus, footers and the like.

The one module that uses selectolax (Lexbor). Without it web pages are left out, with that reason.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from findling.reading.decoding import Decoded, decode
from findling.reading.formats.model import NotConverted, Text, folded

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DEPTH: Final = 1_000
"""Elements within elements. The parser takes quadratic time for more; browsers stop at 512."""

_SILENT: Final = frozenset(
    "script style noscript template svg math nav footer aside form button select input textarea iframe object embed "
    "canvas audio video dialog head link meta".split()
)
_SILENT_ROLES: Final = frozenset("navigation banner contentinfo search complementary menu menubar dialog alert".split())
_SILENT_NAMES: Final = frozenset(
    "sidebar navbar nav navigation menu breadcrumb breadcrumbs cookie-banner cookie-consent footer site-header "
    "site-footer page-footer skip-link skip-to-content headerlink header-anchor anchor-link toc table-of-contents "
    "sphinxsidebar related pagination social-share share-buttons advertisement ads newsletter wy-nav-side "
    "md-sidebar edit-this-page prev-next".split()
)
_BLOCKS: Final = frozenset(
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure h1 h2 h3 h4 h5 h6 "
    "header hgroup hr html legend li main ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_SPACES = re.compile(r"\s+")
_CODE_CLASS = re.compile(r"(?:language|lang|highlight-source|highlight)-([\w+#-]{1,30})")
_TAG = re.compile(
    rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,60}+)((?:[^<>\"']++|\"[^\"]{0,2000}+\"|'[^']{0,2000}+')*+)>"
)  # possessive and bounded: quotes that are never closed must not cost a pass each
_UNCLOSED: Final = frozenset(
    b"area base br col embed hr img input link meta param source track wbr p li td th tr dt dd option optgroup thead "
    b"tbody tfoot colgroup html head body rp rt".split()
)
_ENOUGH_CHARS: Final = 200
"""A main part with less text than this is not the main part, where the page has `_MUCH_MORE` times as much."""
_MUCH_MORE: Final = 5


def page_text(data: bytes) -> str:
    """Raises `NotConverted`."""
    text = Text()
    write(text, data)
    return text.whole()


def write(text: Text, data: bytes, *, whole: bool = False) -> None:
    """Add a page's content to ``text``. ``whole``: no part of it is taken for a menu. Raises `NotConverted`."""
    decoded = decode(data)
    if not isinstance(decoded, Decoded):
        raise NotConverted("broken_document", decoded.detail)
    _check_depth(data)
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        raise NotConverted("no_reader", "selectolax is not installed") from error
    tree = LexborHTMLParser(decoded.text)
    body = tree.body
    if body is None:
        return
    parts = [body] if whole else _main(tree)
    written = [_Writer(silence=not whole).read(part) for part in parts]
    if not whole and sum(map(_length, written)) < _ENOUGH_CHARS:
        everything = _Writer(silence=False).read(body)
        if _length(everything) > _MUCH_MORE * sum(map(_length, written)):
            written = [everything]
    title = tree.css_first("title")
    if title is not None and not any(block.startswith("# ") for blocks in written for block, _ in blocks):
        text.heading(1, title.text())
    for blocks in written:
        for block, verbatim in blocks:
            text.block(block, verbatim=verbatim)


def _check_depth(data: bytes) -> None:
    depth = 0
    for found in _TAG.finditer(data):
        name = found[2].lower()
        if name in _UNCLOSED or found[3].endswith(b"/"):
            continue
        depth = max(0, depth - 1) if found[1] else depth + 1
        if depth > MAX_DEPTH:
            raise NotConverted("broken_document", f"its elements are nested more than {MAX_DEPTH} deep")


def _main(tree: object) -> list[LexborNode]:
    """The element that the page marks as its content, else its body."""
    from selectolax.lexbor import LexborHTMLParser

    assert isinstance(tree, LexborHTMLParser)
    for selector in ("main", "[role=main]", "article"):
        found = tree.css(selector)
        if len(found) == 1:
            return found
    body = tree.body
    return [body] if body is not None else []


_Blocks = list[tuple[str, bool]]


def _length(blocks: _Blocks) -> int:
    return sum(len(block) for block, _ in blocks)


class _Writer:
    """Walks a part of a page, without recursion, and collects its blocks: (text, whether every space counts)."""

    def __init__(self, *, silence: bool) -> None:
        self._silence = silence
        self._blocks: _Blocks = []
        self._line: list[str] = []
        self._rows: list[str] = []
        self._cells: list[str] | None = None
        self._lists: list[str] = []
        self._items: list[str] = []
        self._mark = ""

    def read(self, root: LexborNode) -> _Blocks:
        node: LexborNode | None = root
        path: list[LexborNode] = []
        while node is not None:
            below = self._enter(node)
            child = node.child if below else None
            if child is not None:
                path.append(node)
                node = child
                continue
            if below:
                self._leave(node)
            while path and node.next is None:
                node = path.pop()
                self._leave(node)
            node = node.next if path else None
        self._end_line()
        self._end_items()
        return self._blocks

    def _enter(self, node: LexborNode) -> bool:
        """Whether the node's children are read."""
        tag = node.tag or ""
        if tag == "-text":
            self._line.append(_SPACES.sub(" ", node.text_content or ""))
            return False
        if tag.startswith(("-", "!")) or (tag in _SILENT and (self._silence or tag not in _SPOKEN)):
            return False
        if self._silence and self._is_frame(node):
            return False
        if tag == "pre":
            self._end_line()
            self._end_items()
            self._blocks.append((_fenced(node), True))
            return False
        if tag == "br":
            self._line.append("\n")
        elif tag == "img":
            self._line.append(f" {node.attributes.get('alt') or ''} ")
        elif tag in ("code", "kbd", "samp"):
            self._line.append("`")
        elif tag in _BLOCKS:
            self._end_line()
            self._begin(tag)
        return True

    def _begin(self, tag: str) -> None:
        if tag in ("ul", "ol"):
            self._lists.append(tag)
        elif tag == "li":
            self._mark = f"{'  ' * max(0, len(self._lists) - 1)}- "
        elif tag == "tr":
            self._cells = []
        elif tag == "dd":
            self._mark = "  "
        if tag not in ("li", "ul", "ol", "p", "div") and not self._lists:
            self._end_items()

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in ("code", "kbd", "samp"):
            self._line.append("`")
        elif tag in _HEADINGS:
            title = folded("".join(self._line)).replace("¶", "").strip()
            self._line = []
            self._end_items()
            if title:
                self._blocks.append((f"{'#' * _HEADINGS[tag]} {title}", False))
        elif tag in ("td", "th") and self._cells is not None:
            self._cells.append(folded("".join(self._line)))
            self._line = []
        elif tag == "tr" and self._cells is not None:
            if any(self._cells):
                self._rows.append(f"| {' | '.join(self._cells)} |")
            self._cells = None
        elif tag == "table":
            self._end_line()
            if self._rows:
                self._blocks.append(("\n".join(self._rows), False))
                self._rows = []
        elif tag in _BLOCKS:
            self._end_line()
            if tag in ("ul", "ol"):
                if self._lists:
                    self._lists.pop()
                if not self._lists:
                    self._end_items()

    def _end_line(self) -> None:
        if self._cells is not None:
            self._line.append(" ")
            return
        said = "\n".join(filter(None, map(folded, "".join(self._line).split("\n"))))
        self._line = []
        if not said:
            return
        if self._lists or self._mark:
            self._items.append(f"{self._mark or '  ' * len(self._lists)}{said}")
            self._mark = ""
        else:
            self._end_items()
            self._blocks.append((said, False))

    def _end_items(self) -> None:
        if self._items:
            self._blocks.append(("\n".join(self._items), False))
            self._items = []

    def _is_frame(self, node: LexborNode) -> bool:
        """Whether the node is a menu or the like, by its attributes."""
        attributes = node.attributes
        if not attributes:
            return False
        if attributes.get("aria-hidden") == "true" or "hidden" in attributes:
            return True
        if (attributes.get("role") or "").lower() in _SILENT_ROLES:
            return True
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".lower().split()
        return not _SILENT_NAMES.isdisjoint(names)


_SPOKEN: Final = frozenset("nav footer aside form".split())
"""Elements that are read after all where a page has no text without them."""


def _fenced(node: LexborNode) -> str:
    code = (node.text() or "").strip("\n")
    inner = node.css_first("code")
    parent = node.parent
    names = " ".join(
        (each.attributes.get("class") or "") for each in (node, inner, parent) if each is not None and each.attributes
    )
    language = _CODE_CLASS.search(names)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
    return f"{fence}{language[1] if language else ''}\n{code}\n{fence}"
