"""The door to foreign programs, tried with git itself and with impostors on PATH."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from findling.outbound.git import run_git, start_git


def impostor(folder: Path, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder


def test_git_answers(tmp_path: Path) -> None:
    output = run_git(["hash-object", "--stdin"], cwd=tmp_path, input=b"x" * 3_000_000)
    assert (output.status, output.ok, output.returncode) == ("ok", True, 0)
    blob = b"blob 3000000\0" + b"x" * 3_000_000
    assert output.stdout.strip().decode() == hashlib.sha1(blob).hexdigest()


def test_failures_are_outcomes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = run_git(["rev-parse", "--verify", "nothing"], cwd=tmp_path)
    assert (failed.status, failed.ok) == ("failed", False)
    assert failed.returncode == 128
    assert run_git(["--version"], cwd=tmp_path / "missing").status == "missing"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run_git(["--version"], cwd=tmp_path).status == "missing"


def test_output_is_bounded(tmp_path: Path) -> None:
    output = run_git(["--version"], cwd=tmp_path, max_output=5)
    assert (output.status, output.stdout) == ("too_large", b"")


def test_noise_on_stderr_is_bounded_and_blocks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = "i=0; while [ $i -lt 4000 ]; do echo 0123456789012345678901234567890123456789 >&2; i=$((i+1)); done"
    folder = impostor(tmp_path / "bin", f"echo first >&2; {noise}; echo fatal: last >&2; echo done")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    output = run_git([], cwd=tmp_path)
    assert output.stdout == b"done\n"
    assert 0 < len(output.stderr) <= 64 * 1024
    assert (output.stderr[:6], output.stderr[-12:]) == (b"first\n", b"fatal: last\n")


def test_a_hanging_program_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = impostor(tmp_path / "bin", "echo $$ > pid; exec sleep 600")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    output = run_git([], cwd=tmp_path, timeout_s=0.5)
    assert output.status == "timed_out"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_leaving_the_block_stops_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = impostor(tmp_path / "bin", "echo $$ > pid; exec sleep 600")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    with start_git([], cwd=tmp_path) as running:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            time.sleep(0.01)
        assert not running.finished
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert running.wait().status == "stopped"


def test_a_program_that_does_not_read_its_input_hangs_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = impostor(tmp_path / "bin", "exit 3")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    output = run_git([], cwd=tmp_path, input=b"x" * 3_000_000)
    assert (output.status, output.returncode) == ("failed", 3)


def test_the_environment_is_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = impostor(tmp_path / "bin", "env")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "EXTERNAL_DIFF", "SSH_COMMAND", "CONFIG_PARAMETERS"):
        monkeypatch.setenv(f"GIT_{name}", "evil")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/kept")
    seen = dict(line.split("=", 1) for line in run_git([], cwd=tmp_path).stdout.decode().splitlines() if "=" in line)
    assert "evil" not in seen.values()
    assert seen["GIT_CONFIG_GLOBAL"] == "/kept"
    assert (seen["GIT_OPTIONAL_LOCKS"], seen["GIT_TERMINAL_PROMPT"], seen["GIT_NO_LAZY_FETCH"]) == ("0", "0", "1")
    assert seen["LC_ALL"] == "C"


def test_a_program_in_the_folder_itself_is_never_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    impostor(tmp_path, "touch ran")
    monkeypatch.setenv("PATH", f".::{os.environ['PATH']}")
    assert b"git version" in run_git(["--version"], cwd=tmp_path).stdout
    assert not (tmp_path / "ran").exists()


def test_a_repository_cannot_allow_a_protocol(tmp_path: Path) -> None:
    marker = tmp_path / "run"
    run_git(["init", "-q", "."], cwd=tmp_path)
    run_git(["config", "protocol.ext.allow", "always"], cwd=tmp_path)
    assert not run_git(["ls-remote", f"ext::touch {marker}"], cwd=tmp_path).ok
    assert not marker.exists()
