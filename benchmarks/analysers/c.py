"""Says what names mean in a folder of C, by libclang (pip install libclang): input and output as `typescript.js`.

Each file that has one of the names is read by itself, with all folders that have headers as places of includes, and
the compiler's own headers where gcc has them. A name means what has the same identity (USR) in any file, so that a call
means the definition in another file and not only its declaration. Macros are known too, and a struct by its typedef.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import defaultdict
from pathlib import Path

from clang import cindex


def _name(path: Path, line: int, column: int) -> bytes:
    text = path.read_bytes().split(b"\n")[line - 1].decode("utf-8", "replace")[column:]
    return re.match(r"\w*", text)[0].encode()


def main() -> None:
    asked = json.load(sys.stdin)
    folder = Path(asked["folder"])
    # Headers of other systems hide those of the one that this runs on.
    headers = sorted({path.parent for path in folder.rglob("*.h")}, key=lambda each: len(each.parts))
    own = [f"-isystem{each}" for each in sorted(Path("/usr/lib/gcc").glob("*/*/include"))[-1:]]
    flags = ["-ferror-limit=0", "-D_GNU_SOURCE", "-std=gnu11", *own, *(f"-I{each}" for each in headers)]
    index = cindex.Index.create()
    places = defaultdict(list)
    for path, line, column in asked["places"]:
        places[path].append((line, column))
    usr: dict[tuple[str, int, int], set[str]] = {}
    defined: dict[str, set[tuple[str, int]]] = defaultdict(set)
    began = time.process_time()
    names = {_name(folder / path, *each) for path, at in places.items() for each in at}
    words = re.compile(rb"\b(?:" + b"|".join(map(re.escape, sorted(names))) + rb")\b")
    for number, path in enumerate(asked["files"]):
        if not words.search((folder / path).read_bytes()):
            continue
        print(f"{number} of {len(asked['files'])}, {time.process_time() - began:.0f} s", file=sys.stderr, flush=True)
        unit = index.parse(
            str(folder / path), args=flags, options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        )
        for cursor in unit.cursor.get_children():
            where = cursor.location.file
            own = cursor.get_usr() if where is not None and where.name.startswith(f"{folder}/") else ""
            if where is not None and own:
                defined[own].add((str(Path(where.name).relative_to(folder)), cursor.location.line))
        source = unit.get_file(str(folder / path))
        text = (folder / path).read_bytes().split(b"\n")
        for line, column in places[path]:
            at = len(text[line - 1].decode("utf-8", "replace")[:column].encode()) + 1
            cursor = cindex.Cursor.from_location(unit, cindex.SourceLocation.from_position(unit, source, line, at))
            referenced = cursor.referenced if cursor is not None else None
            if referenced is not None and referenced.location.file is not None:
                usr[path, line, column] = {referenced.get_usr()}
                if referenced.kind == cindex.CursorKind.TYPEDEF_DECL:  # a struct by another name is the struct
                    usr[path, line, column].add(referenced.underlying_typedef_type.get_declaration().get_usr())
    meant = []
    for path, line, column in asked["places"]:
        own = usr.get((path, line, column), set())
        found = sorted(set().union(*(defined.get(each, {("", 0)}) for each in own))) if own else None
        meant.append(None if found is None or (path, line) in found else found)
    json.dump({"version": "libclang 18", "meant": meant}, sys.stdout)


main()
