"""Definitions of one name that take other things, in a language that declares them elsewhere."""

from __future__ import annotations

from pathlib import Path

from findling.engine import Engine


def test_a_short_definition_keeps_its_text_beside_a_longer_one_and_a_declaration_does_not(tmp_path: Path) -> None:
    long = "int area(int a, int b) {\n  int c = a;\n  c *= b;\n  return c;\n}\n"
    (tmp_path / "a.cpp").write_text(f"{long}int area(int a) {{ return a * a; }}\n")
    (tmp_path / "a.h").write_text("int area(int a, int b);\n")
    with Engine.open(root=tmp_path) as engine:
        found = engine.symbols("area", body_chars=4_000)
    shown = [(hit.path, hit.line) for hit in found.definitions if hit.body]
    assert shown == [("a.cpp", 1), ("a.cpp", 6)]
