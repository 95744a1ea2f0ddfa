"""Every sentence that findling can print, on one page: to be read by somebody who does not know the program.

    python benchmarks/sentences.py [PACKAGE_FOLDER]

Of the code all texts of two words or more, but docstrings, patterns and SQL; of the tables in JSON what is help, a
summary or a description. ``{…}`` stands where the program puts a value in.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOLD = ("help", "summary", "description")
NO_SENTENCE = re.compile(r"^[^a-zA-Z]*$|\\[bdwsA-Z]|\(\?|^\s*(SELECT|INSERT|DELETE|UPDATE|CREATE|WITH|PRAGMA)\b")
WORDS = re.compile(r"[a-z]{2,}[^a-zA-Z{]* .*[a-zA-Z{]|{…}\W+[a-z]{2}")


def of_code(text: str) -> Iterator[tuple[int, str]]:
    """Line and sentence."""
    tree = ast.parse(text)
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))  # documentation
        elif isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values]
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def of_table(value: Any) -> Iterator[tuple[int, str]]:
    """The texts for people in a table, wherever they stand."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in TOLD and isinstance(item, str):
                yield 0, item
            else:
                yield from of_table(item)
    elif isinstance(value, list):
        for item in value:
            yield from of_table(item)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "src" / "findling")
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.json")]):
        text = path.read_text("utf-8")
        found = of_code(text) if path.suffix == ".py" else of_table(json.loads(text))
        rows = [(line, said) for line, said in sorted(found) if WORDS.search(said) and not NO_SENTENCE.search(said)]
        if rows:
            print(f"\n## {path.relative_to(folder)}\n")
        for line, said in dict.fromkeys(rows):
            print(f"- {f'{line}: ' if line else ''}{' '.join(said.split())}")


if __name__ == "__main__":
    main()
