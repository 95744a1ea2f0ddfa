"""Vectors belong to content: what is known is not embedded again."""

from __future__ import annotations

import os
from pathlib import Path

from findling import Engine


def test_only_what_changed_is_embedded(tmp_path: Path) -> None:
    """S1-15, S1-55, S4-46."""
    files = {f"m{n}.py": f"def function_{n}():\n    return 'value {n}'\n" for n in range(12)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with Engine.open(root=tmp_path) as engine:
        assert engine.index().embedded == 12
        assert engine.index().embedded == 0
        for name in files:
            os.utime(tmp_path / name, (1_000_000_000, 1_000_000_000))  # touched, not changed
        assert engine.index().embedded == 0
        (tmp_path / "m3.py").write_text("def another():\n    return 'quite another value'\n")
        assert engine.index().embedded == 1
        (tmp_path / "m3.py").write_text(files["m3.py"])
        assert engine.index().changed == 1
        coverage = engine.status().coverage
        assert coverage.embedded_chunks == coverage.chunks == 12
