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


def test_declarations_without_a_body_and_old_copies_stand_below_in_a_line_each(tmp_path: Path) -> None:
    files = {
        "a.h": "void start(struct client *);\n",
        "b.c": "void\nstart(struct client *c)\n{\n  c->used = 1;\n}\n",
        "p.ts": "export function pick(a: string): string;\nexport function pick(a: any): any { return a; }\n",
        "q.ts": "interface Shape { area(): number; }\n",
        "core/v1/main.py": "class Model:\n    def load(self):\n        return 1\n",
        "core/main.py": "class Model:\n    def load(self):\n        return 2\n",
        "api/v1/users.py": "def users():\n    return 1\n",
        "web/home.py": "def users():\n    return 2\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def shown(name: str) -> list[tuple[str, int, bool]]:
        found = engine.symbols(name, body_chars=4_000)
        return [(hit.path, hit.line, bool(hit.body)) for hit in found.definitions]

    with Engine.open(root=tmp_path) as engine:
        assert shown("start") == [("b.c", 2, True), ("a.h", 1, False)]
        assert shown("pick") == [("p.ts", 2, True), ("p.ts", 1, False)]
        assert shown("area") == [("q.ts", 1, True)]
        assert shown("Model.load") == [("core/main.py", 2, True), ("core/v1/main.py", 2, False)]
        assert shown("users") == [("api/v1/users.py", 1, True), ("web/home.py", 1, True)]
