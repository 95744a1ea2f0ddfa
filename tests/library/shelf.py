"""Files to put into a library."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

BREAD: Mapping[str, str] = {
    "baking.md": """\
# Baking

## Sourdough

Feed the starter with flour and water every day until it bubbles.

## Oven

Heat the oven for an hour before the loaf goes in.
""",
    "flour/rye.txt": "Rye flour soaks up more water than wheat, so the dough is sticky.\n",
}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return folder


def long_ago(folder: Path) -> Path:
    """Its files, as if written a minute ago: what is read within moments of being written is looked at again."""
    then = time.time() - 60
    for path in folder.rglob("*"):
        os.utime(path, (then, then))
    return folder
