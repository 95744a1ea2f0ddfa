"""The documented tables, written on demand and opened with the standard library's SQLite: every name and column, and
what they say."""

from __future__ import annotations

import errno
import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from indexes import make, write

sys.path.append(str(Path(__file__).parent.parent / "reading"))

from office import epub

from findling.embedding import open_embedder
from findling.engine import Engine
from findling.faces.cli.main import main
from findling.model import errors

GUIDE = "# Retrying\n\nFailed requests are tried again, wörld.\n\n## Budgets\n\nA budget bounds the tries.\n"
SOURCE = 'def retry_request(request):\n    """Send it again."""\n    return send(request)\n'
COLUMNS = {
    "doc_embeddings": (
        "id doc_path chunk_index chunk_text chunk_header content_hash model_name model_dim vec_rowid created_at"
    ),
    "vec_documents": "rowid embedding",
    "embeddings": "id path start_line end_line content_hash embedding model created_at",
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    root = make(tmp_path / "project", {"docs/guide.md": GUIDE, "src/retry.py": SOURCE, "signs.md": "…\n"})
    with Engine.open(root=root) as engine:
        engine.index()
        write(root, "src/retry.py", SOURCE + "\n\nRETRIES = 3\n")
        engine.sync()
        engine.export(tmp_path / "plain.db")
    return tmp_path / "plain.db"


def rows(database: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_is_there_under_its_name(database: Path, name: str) -> None:
    """S1-25, S4-16."""
    columns = COLUMNS[name].split()
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute(f"SELECT {', '.join(columns)} FROM {name}")
        assert [column[0] for column in found.description] == columns
        kept = found.fetchall()
        types = dict(connection.execute("SELECT name, type FROM pragma_table_info(?)", [name]).fetchall())
    assert kept
    assert types.get("created_at", "TEXT") == ("INTEGER" if name == "embeddings" else "TEXT")
    nullable = {"chunk_header"}
    assert all(
        value is not None or column in nullable for row in kept for column, value in zip(columns, row, strict=True)
    )


def test_documents_are_there_with_their_text_and_headings(database: Path) -> None:
    """S1-6, S1-14, D1: the hash is of the passage's own text."""
    found = rows(
        database,
        "SELECT chunk_index, chunk_text, chunk_header, content_hash, model_dim FROM doc_embeddings "
        "WHERE doc_path='docs/guide.md' ORDER BY chunk_index",
    )
    assert [(row[0], row[2]) for row in found] == [(0, "Retrying"), (1, "Budgets")]
    for _, text, _, content_hash, dimensions in found:
        assert isinstance(text, str) and text in GUIDE
        assert content_hash == hashlib.sha256(text.encode()).hexdigest()
        assert dimensions == 256
    assert {row[0] for row in rows(database, "SELECT doc_path FROM doc_embeddings")} == {"docs/guide.md", "signs.md"}


def test_every_chunk_is_there_once_with_its_vector(database: Path) -> None:
    """S4-7, S4-16, S4-17, D1."""
    found = rows(database, "SELECT path, start_line, end_line, content_hash, embedding, created_at FROM embeddings")
    assert {row[0] for row in found} == {"docs/guide.md", "src/retry.py", "signs.md"}
    assert len({row[:3] for row in found}) == len(found)
    source = SOURCE + "\n\nRETRIES = 3\n"
    for path, start, end, content_hash, embedding, created_at in found:
        vector = np.array(json.loads(str(embedding)))
        assert vector.shape == (256,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=0.05)
        assert isinstance(created_at, int) and created_at > 1_700_000_000
        if path == "src/retry.py":
            text = "".join(source.splitlines(keepends=True)[int(str(start)) - 1 : int(str(end))])
            hashes = {hashlib.sha256(cut.encode()).hexdigest() for cut in (text, text.removesuffix("\n"))}
            assert content_hash in hashes


def test_vectors_mean_what_the_embedder_means(database: Path) -> None:
    """S1-44."""
    [(embedding,)] = rows(
        database,
        "SELECT embedding FROM vec_documents v JOIN doc_embeddings d ON v.rowid = d.vec_rowid "
        "WHERE d.chunk_header='Budgets'",
    )
    vector = np.array(json.loads(str(embedding)))
    embedder = open_embedder()
    near = float(vector @ embedder.encode_query("guide Budgets: a budget bounds the tries"))
    far = float(vector @ embedder.encode_query("sqlite journal file locking"))
    assert near > 0.6 > far + 0.2


def test_what_they_are_looked_up_by_is_indexed(database: Path) -> None:
    """S1-26, S4-16."""
    found = rows(database, "SELECT name, sql FROM sqlite_master WHERE type='index' AND sql IS NOT NULL")
    assert {name: str(sql).partition(" ON ")[2] for name, sql in found} == {
        "idx_doc_path": "doc_embeddings(doc_path)",
        "idx_model": "doc_embeddings(model_name)",
        "idx_content_hash": "doc_embeddings(content_hash)",
        "idx_embeddings_path": "embeddings(path)",
        "idx_embeddings_hash": "embeddings(content_hash)",
    }


@pytest.mark.parametrize(
    "repeat",
    [
        "INSERT INTO doc_embeddings SELECT id + 99, doc_path, chunk_index, '', '', '', '', 0, 0, '' "
        "FROM doc_embeddings",
        "INSERT INTO embeddings SELECT id + 99, path, start_line, end_line, '', '', model, 0 FROM embeddings",
    ],
)
def test_a_place_has_one_row(database: Path, repeat: str) -> None:
    """S1-25, S4-16."""
    with closing(sqlite3.connect(database)) as connection, pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        connection.execute(repeat)


def test_texts_of_documents_are_whole(tmp_path: Path) -> None:
    odd = (
        "# Zäune\r\n\r\nThe “fence” is painted twice.\r\n\r\n## 見出し\r\n\r\n" + "語と文\n\n" * 300 + "\n\n\n## End\n"
    )
    root = make(tmp_path / "project", {"odd.md": odd, "empty.md": ""})
    (root / "latin.md").write_bytes("# Größe\n\nThe size of a thing.\n".encode("latin-1"))
    with Engine.open(root=root) as engine:
        engine.index()
        engine.export(tmp_path / "plain.db")
    found = rows(tmp_path / "plain.db", "SELECT doc_path, chunk_text, content_hash FROM doc_embeddings ORDER BY 1")
    assert {row[0] for row in found} == {"odd.md", "latin.md"}
    for path, text, content_hash in found:
        assert str(text) in {"odd.md": odd, "latin.md": "# Größe\n\nThe size of a thing.\n"}[str(path)]
        assert content_hash == hashlib.sha256(str(text).encode()).hexdigest()


def test_the_text_of_a_converted_document_is_that_of_the_index(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {"other.md": "# Other\n\nText.\n"})
    (root / "book.epub").write_bytes(epub(["<h1>Walrus</h1><p>The walrus report says it all.</p>"]))
    with Engine.open(root=root) as engine:
        engine.index()
        engine.export(tmp_path / "plain.db")
    [(text,)] = rows(tmp_path / "plain.db", "SELECT chunk_text FROM doc_embeddings WHERE doc_path='book.epub'")
    assert "walrus report" in str(text)


def test_of_a_document_that_has_changed_there_are_vectors_and_no_text(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {"a.md": GUIDE, "b.md": "# Other\n\nText.\n"})
    with Engine.open(root=root) as engine:
        engine.index()
        write(root, "a.md", "# Quite another\n")
        found = engine.export(tmp_path / "plain.db")
    assert (found.embeddings, found.documents, found.changed) == (3, 1, ("a.md",))
    assert rows(tmp_path / "plain.db", "SELECT DISTINCT doc_path FROM doc_embeddings") == [("b.md",)]
    assert rows(tmp_path / "plain.db", "SELECT count(*) FROM vec_documents") == [(1,)]


def test_passages_of_one_line_share_a_row(tmp_path: Path) -> None:
    root = make(tmp_path / "project", {"long.txt": "a word and another one " * 400})
    with Engine.open(root=root) as engine:
        engine.index()
        passages = len(list(engine.vectors()))
        found = engine.export(tmp_path / "plain.db")
    assert passages > 1
    assert (found.embeddings, found.repeated) == (1, passages - 1)


def test_only_an_export_is_replaced(database: Path, tmp_path: Path) -> None:
    link, text, other = tmp_path / "link.db", tmp_path / "notes.txt", tmp_path / "other.db"
    link.symlink_to(database)
    text.write_text("mine")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE mine (x)")
    before = sorted(tmp_path.iterdir())
    with Engine.open(root=tmp_path / "project") as engine:
        for target in (link, text, other, tmp_path / "project", tmp_path / "project/.findling/index.db"):
            with pytest.raises(errors.InvalidInput, match="not an export of findling"):
                engine.export(target)
        with pytest.raises(errors.InvalidInput, match="cannot be written"):
            engine.export(tmp_path / "missing" / "plain.db")
        assert text.read_text() == "mine"
        (tmp_path / "project/signs.md").unlink()
        engine.sync()
        engine.export(database)
    assert sorted(tmp_path.iterdir()) == before
    assert rows(database, "SELECT DISTINCT doc_path FROM doc_embeddings") == [("docs/guide.md",)]


def test_an_export_that_fails_leaves_the_older_one(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = database.read_bytes()

    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    with Engine.open(root=tmp_path / "project") as engine:
        monkeypatch.setattr(Path, "replace", full)
        with pytest.raises(errors.InvalidInput, match="cannot be written"):
            engine.export(database)
    assert database.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"project", "plain.db"}


def test_the_command_takes_changes_in_and_says_what_it_wrote(
    database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root, target = tmp_path / "project", tmp_path / "new.db"
    write(root, "docs/more.md", "# More\n\nWords.\n")
    assert main(["export", "--sqlite", str(target), "--json", str(root)]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": str(target), "embeddings": 5, "documents": 4}
    assert rows(target, "SELECT count(*) FROM doc_embeddings WHERE doc_path='docs/more.md'") == [(1,)]
    assert main(["export", "--sqlite", str(root / "src/retry.py"), str(root)]) == 2
    assert "not an export of findling" in capsys.readouterr().err


def test_without_vectors_the_tables_are_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make(tmp_path / "project", {"findling.toml": "[semantic]\nenabled = false\n", "a.md": GUIDE})
    assert main(["export", "--sqlite", str(tmp_path / "plain.db"), str(root)]) == 1
    assert "'findling embed' computes them" in capsys.readouterr().err
    assert [rows(tmp_path / "plain.db", f"SELECT * FROM {name}") for name in COLUMNS] == [[], [], []]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bounds the size of files")
def test_where_there_is_no_room_it_says_so_and_leaves_nothing(database: Path, tmp_path: Path) -> None:
    before = database.read_bytes()
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "from findling.faces.cli.main import main; from findling import Engine; "
        "engine = Engine.open(root=sys.argv[1]); engine.sync(); engine.close(); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000)); "
        "sys.exit(main(['export', '--sqlite', sys.argv[2], sys.argv[1]]))"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "project"), str(database)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 2 and "unexpected" not in ran.stderr and "Traceback" not in ran.stderr, ran.stderr
    assert database.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"project", "plain.db"}


def test_names_that_no_system_takes_are_refused(database: Path, tmp_path: Path) -> None:
    with Engine.open(root=tmp_path / "project") as engine:
        for target in (tmp_path / ("a" * 300), database / "inside.db"):
            with pytest.raises(errors.InvalidInput):
                engine.export(target)
