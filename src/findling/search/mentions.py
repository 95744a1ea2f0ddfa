"""Documents that mention definitions: the lines that name them. Reads files through a callable. A name that is one
plain word may mean anything in prose; it counts only if it is marked as code.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence

from findling.model.rows import FileRow
from findling.model.types import Reference
from findling.search.analysis import is_compound
from findling.search.patterns import compile_pattern
from findling.store.protocols import Index

MOST_NAMES = 40
"""The most names that are looked for."""

MENTIONS_S = 2.0
"""Time for reading documents."""

LEAST_NAME = 4

TEXT = 160


def mentions(
    index: Index, names: Sequence[str], read_lines: Callable[[FileRow], Sequence[str] | None]
) -> Iterator[Reference]:
    """The first line of each document that names one of some definitions, each document once, for as long as
    `MENTIONS_S`; ``enclosing`` is the name."""
    until = time.monotonic() + MENTIONS_S
    seen: set[str] = set()
    for name in list(dict.fromkeys(names))[:MOST_NAMES]:
        word = re.escape(name)
        marked = rf"`[^`\n]*\b{word}\b[^`\n]*`|\b{word}\(\)"
        said = re.compile(rf"\b{word}\b" if is_compound(name) else marked)
        if len(name) < LEAST_NAME:
            continue
        plan = compile_pattern(name, literal=True, ignore_case=False, word=True).plan
        files = index.files(index.containing(plan)).values()
        docs = sorted((file for file in files if file.kind == "docs"), key=lambda file: file.path)
        index.ahead(lambda index, docs=docs: [index.doc_text(file.blob_id) for file in docs])  # type: ignore[misc]
        for file in docs:
            if time.monotonic() > until:
                return
            for number, line in enumerate(() if file.path in seen else read_lines(file) or (), 1):
                if (match := said.search(line)) is not None:
                    seen.add(file.path)
                    yield Reference(file.path, number, match.start() + 1, line.strip()[:TEXT], name)
                    break
