"""`findling clear`, the bound of all indexes together, completions for shells, and the man page."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from findling.engine import Engine, indexes
from findling.faces.cli.arguments import COMMANDS
from findling.faces.cli.main import main
from findling.model.errors import IndexBusy
from findling.store.local import WriterLock

Folder = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """Makes indexed folders; the user's cache is their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def make(name: str) -> Path:
        made = tmp_path / name
        made.mkdir()
        (made / "a.py").write_text("def hello():\n    return 1\n")
        with Engine.open(None, root=made) as engine:
            engine.index(embed=False)
        return made

    return make


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    return status, *capsys.readouterr()


def test_clear_says_what_it_frees_and_deletes_nothing_unasked(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    there = folder("one")
    status, out, err = run(capsys, "clear", "--root", there)
    assert (status, "--yes" in err) == (2, True) and str(there / ".findling") in out
    status, out, err = run(capsys, "clear", "--root", there, "--dry-run")
    assert status == 0 and "nothing was deleted" in err and (there / ".findling" / "index.db").exists()


def test_clear_leaves_nothing_of_findlings_behind(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = folder("one"), folder("other")
    status, _, err = run(capsys, "clear", "--root", one, "--yes")
    assert status == 0 and "1 index deleted" in err
    assert os.listdir(one) == ["a.py"] and (other / ".findling" / "index.db").exists()
    assert run(capsys, "clear", "--root", one, "--yes")[0] == 1


def test_clear_keeps_a_folders_configuration(folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    one = folder("one")
    (one / ".findling" / "config.toml").write_text("[index]\nhidden = true\n")
    assert run(capsys, "clear", "--root", one, "--yes")[0] == 0
    assert (one / ".findling" / "config.toml").exists() and not (one / ".findling" / "index.db").exists()


def test_clear_knows_every_index_and_those_of_folders_that_are_gone(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, gone = folder("one"), tmp_path / "gone"
    gone.mkdir()
    (gone / "b.md").write_text("# gone\n")
    with Engine.open(None, root=gone, cache=True) as engine:
        engine.index(embed=False)
        kept_at = engine.store_dir
    shutil.rmtree(gone)
    _, out, _ = run(capsys, "clear", "--gone", "--yes", "--json")
    cleared = json.loads(out)
    assert [row["index"] for row in cleared["indexes"]] == [str(kept_at)] and cleared["freed"] > 0
    assert not kept_at.exists() and (one / ".findling").exists()
    _, out, _ = run(capsys, "clear", "--all", "--dry-run", "--json")
    assert [row["root"] for row in json.loads(out)["indexes"]] == [str(one)]


def test_clear_leaves_an_index_that_is_being_written(folder: Folder) -> None:
    one = folder("one")
    (index,) = indexes.known()
    lock = WriterLock(index.directory, wait_s=0)
    try:
        with pytest.raises(IndexBusy):
            indexes.delete(index)
    finally:
        lock.release()
    assert (one / ".findling" / "index.db").exists()


def test_a_forged_entry_of_the_list_deletes_nothing(folder: Folder, tmp_path: Path) -> None:
    folder("one")
    (entry,) = (tmp_path / "cache" / "findling" / "indexes").iterdir()
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "index.db").write_text("mine")
    entry.write_text(json.dumps({"index": str(precious), "root": str(tmp_path / "none")}))
    assert indexes.known() == [] and (precious / "index.db").exists()


def test_the_oldest_indexes_go_where_all_together_are_too_large(folder: Folder, tmp_path: Path) -> None:
    first, second = folder("first"), folder("second")
    os.utime(first / ".findling" / "index.db", (1, 1))
    (first_bytes, second_bytes) = (indexes.of(each / ".findling", each) for each in (first, second))
    assert first_bytes and second_bytes
    deleted = indexes.keep_below(second_bytes.bytes + first_bytes.bytes - 1, second / ".findling")
    assert [index.root for index in deleted] == [first] and not (first / ".findling").exists()
    assert indexes.keep_below(1, second / ".findling") == [] and (second / ".findling").exists()


def test_an_option_bounds_all_indexes(folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = folder("first")
    (first / ".findling" / "fulltext" / "ballast").write_bytes(bytes(2_000_000))
    (tmp_path / "mine.toml").write_text("[index]\nmax_total_bytes = 1_048_576\n")
    monkeypatch.setenv("FINDLING_CONFIG", str(tmp_path / "mine.toml"))
    second = folder("second")
    assert not (first / ".findling").exists() and (second / ".findling" / "index.db").exists()


@pytest.mark.parametrize("typed, offered", [("findling cle", "clear"), ("findling search --lang", "--language")])
def test_bash_completes_commands_and_options(
    typed: str, offered: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    (tmp_path / "completion").write_text(run(capsys, "completions", "bash")[1])
    words = typed.split(" ")
    script = (
        f"source {tmp_path / 'completion'}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; "
        '$(complete -p findling | sed "s/.*-F \\([^ ]*\\).*/\\1/"); printf "%s\\n" "${COMPREPLY[@]}"'
    )
    found = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=True)
    assert offered in [line.strip() for line in found.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "completions", shell)
    assert status == 0 and all(name in out for name in COMMANDS)


def test_zsh_takes_the_completions_by_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "completions", "zsh")
    assert "== eval" not in out
    if (zsh := shutil.which("zsh")) is None:
        pytest.skip("there is no zsh")
    (tmp_path / "completions").write_text(out)
    script = f"autoload -Uz compinit; compinit -u -D; source {tmp_path}/completions; print $_comps[findling]"
    found = subprocess.run([zsh, "-f", "-c", script], capture_output=True, text=True, check=True)
    assert (found.stdout, found.stderr) == ("_shtab_findling\n", "")


def test_the_man_page_has_every_command_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    status, page, _ = run(capsys, "man")
    assert status == 0 and page.startswith(".TH FINDLING 1")
    for name, command in COMMANDS.items():
        section = page.partition(f".SS findling {name}".replace("-", "\\-"))[2].partition(".SS ")[0]
        assert all(option.spellings[-1].replace("-", "\\-") in section for option in command.options), name


def test_a_question_about_one_file_leaves_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "a.py").write_text("def hello():\n    return 1\n")
    (tmp_path / "b.py").write_text("def bye():\n    return 1\n")
    for words, found in ((["search", "hello"], 0), (["symbol", "bye"], 1), (["callers", "hello"], 1)):
        assert run(capsys, *words, "a.py")[0] == found
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py", "tmp"] and not os.listdir(tmp_path / "tmp")
    assert run(capsys, "index", "a.py")[0] == 0  # is of the whole folder, as ever, and answers from then on
    assert run(capsys, "search", "hello", "a.py")[0] == 0 and (tmp_path / ".findling").is_dir()
