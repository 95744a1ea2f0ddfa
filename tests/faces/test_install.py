"""`findling install` on settings as the agents write them, and `uninstall`, which gives back what was there."""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.faces.cli.main import main
from findling.faces.install import Agent, changes, settings_text

AGENTS = {agent.id: agent for agent in changes.known()}
PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")

COMMENTED = """{
\t// what it looks like
\t"theme": "One Dark", /* for now */
\t"KEY": {
\t\t"other": {"command": "other", "args": ["//no comment", "a,]"]}, // stays
\t},
\t"last": [1, 2,],
}
"""
TOML = """# mine
model = "some"   # the best

[mcp_servers.other]
command = "other"  # stays
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has none of the agents, and findling at one place."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setattr(Path, "home", lambda: folder)
    for name, value in (("HOME", folder), ("USERPROFILE", folder), ("APPDATA", folder / "AppData"), ("PATH", "")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(folder)
    return folder


def before(agent: Agent) -> str:
    return TOML if agent.id == "codex" else COMMENTED.replace("KEY", agent.keys[0])


def servers(file: Path, agent: Agent) -> dict[str, Any]:
    text = file.read_text("utf-8")
    value = tomllib.loads(text) if file.suffix == ".toml" else json.loads(settings_text._plain(text))
    for key in agent.keys:
        value = value[key]
    found: dict[str, Any] = value
    return found


@pytest.mark.parametrize("agent", AGENTS.values(), ids=lambda agent: agent.id)
@pytest.mark.parametrize("text", [None, "before", "windows", "\ufeff{}\n"])
def test_what_is_put_in_is_taken_out_again(agent: Agent, text: str | None, home: Path) -> None:
    file = agent.file(None)
    assert file is not None
    if text is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        written = {"before": before(agent), "windows": before(agent).replace("\n", "\r\n")}.get(text, text)
        written = "" if agent.id == "codex" and text.startswith("\ufeff") else written
        file.write_text(written, "utf-8", newline="")
        file.chmod(0o600)
        old = file.read_bytes()
    assert main(["install", "--yes", "--agent", agent.id]) == 0
    found = servers(file, agent)
    assert found["findling"] == agent.server(changes.command(shared=False))
    assert "serve" in str(found["findling"])
    if text in ("before", "windows"):
        assert found["other"]["command"] == "other"
        assert "stays" in file.read_text("utf-8")
        assert (b"\r\n" in file.read_bytes()) == (text == "windows")
        assert sys.platform == "win32" or stat.S_IMODE(file.stat().st_mode) == 0o600
    first = file.read_bytes()
    assert main(["install", "--yes", "--agent", agent.id]) == 0
    assert file.read_bytes() == first
    assert main(["uninstall", "--yes", "--agent", agent.id]) == 0
    assert not file.exists() if text is None else file.read_bytes() == old
    assert text is None or list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("agent", [each for each in AGENTS.values() if each.project], ids=lambda agent: agent.id)
def test_a_project_has_findling_by_its_name(agent: Agent, home: Path) -> None:
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    assert main(["install", "--yes", "--project", "--agent", agent.id, str(project)]) == 0
    file = agent.file(project)
    assert file is not None
    server = servers(file, agent)["findling"]
    assert server["command"] in ("findling", ["findling", "serve", "--tools", "code"])
    assert not any(path.is_file() for path in home.rglob("*") if not path.is_relative_to(project))
    assert main(["uninstall", "--yes", "--project", str(project)]) == 0
    assert not file.exists()


def test_those_that_are_there_are_found(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "--yes"]) == 2
    assert "No coding agent was found" in capsys.readouterr().err
    (home / ".codex").mkdir()
    (home / ".cursor").mkdir()
    assert main(["install", "--yes"]) == 0
    assert sorted(path.name for path in home.rglob("*") if path.is_file()) == ["config.toml", "mcp.json"]


def test_what_cannot_be_read_is_left_alone_and_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = {"cursor": b'{"mcpServers": ', "kiro": b'{"mcpServers": []}', "junie": b"\xff\xfe", "codex": b"[a\n"}
    broken["zed"] = b'{"a":' * 99_999
    for name, data in broken.items():
        file = AGENTS[name].file(None)
        assert file is not None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (home / ".copilot").mkdir()
    assert main(["install", "--yes"]) == 2
    out = capsys.readouterr().out
    for name, data in broken.items():
        file = AGENTS[name].file(None)
        assert file is not None and file.read_bytes() == data
        assert f"{AGENTS[name].name}, ~/{file.relative_to(home)}: left alone" in out
    assert (home / ".copilot" / "mcp-config.json").exists()


def test_an_entry_that_somebody_changed_keeps_what_is_his(home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"findling": {"command": "old", "disabled": true}, "b": {}}}\n')
    assert main(["install", "--yes", "--agent", "cursor"]) == 0
    found = json.loads(file.read_text())["mcpServers"]
    assert found["findling"]["disabled"] is True
    assert found["findling"]["args"] == ["serve", "--tools", "code"]
    file.write_text(file.read_text().replace('"b": {}', '"b": {}, "c": {}'))
    assert main(["uninstall", "--yes", "--agent", "cursor"]) == 0
    assert json.loads(file.read_text()) == {"mcpServers": {"b": {}, "c": {}}}


def test_what_leads_out_of_a_project_is_left_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, elsewhere = home / "project", home / "mine.json"
    (project / ".git").mkdir(parents=True)
    elsewhere.write_text("{}")
    (project / ".mcp.json").symlink_to(elsewhere)
    assert main(["install", "--yes", "--project", "--agent", "claude-code", str(project)]) == 2
    assert "leads out of the project" in capsys.readouterr().out
    assert elsewhere.read_text() == "{}"


def test_nothing_is_written_unasked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".cursor").mkdir()
    assert main(["install"]) == 2
    assert "--yes writes without asking" in capsys.readouterr().err
    assert main(["install", "--dry-run"]) == 0
    assert main(["install", "--print"]) == 0
    assert '"findling": {' in capsys.readouterr().out
    assert main(["install", "--dry-run", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["written"] is False
    assert [change["state"] for change in facts["changes"]] == ["add"]
    assert not any(path.is_file() for path in home.rglob("*"))
    assert main(["install", "--agent", "emacs"]) == 2
    assert "Known agents: claude-code" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_does_not_keep_the_others_out(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / ".cursor").write_text("no folder")
    assert main(["install", "--yes", "--agent", "cursor", "--agent", "kiro"]) == 2
    assert (home / ".kiro" / "settings" / "mcp.json").exists()
    assert "Cursor" in capsys.readouterr().out and (home / ".cursor").read_text() == "no folder"


def test_a_file_that_was_changed_meanwhile_is_not_written(home: Path) -> None:
    (home / ".cursor").mkdir()
    from findling.faces import install
    from findling.model.errors import FileAccess

    change = install.planned(AGENTS["cursor"], None)
    (home / ".cursor" / "mcp.json").write_text('{"mine": 1}')
    with pytest.raises(FileAccess, match="changed in the meantime"):
        install.carry_out(change)
    assert (home / ".cursor" / "mcp.json").read_text() == '{"mine": 1}'


@pytest.mark.parametrize("text", [None, "", "\n\n# Led in\n", "# Rules\n\nBe kind.\n", "no end of a line"])
def test_the_hint_stands_between_marks(text: str | None, home: Path) -> None:
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    page = project / "AGENTS.md"
    if text is not None:
        page.write_text(text)
    (project / "CLAUDE.md").write_text("Mine.\n")
    assert main(["install", "--yes", "--project", "--agent", "cursor", "--hint", str(project)]) == 0
    assert "findling search" in page.read_text() and "findling search" in (project / "CLAUDE.md").read_text()
    assert page.read_text().startswith((text or "").rstrip())
    assert main(["install", "--yes", "--project", "--agent", "cursor", "--hint", str(project)]) == 0
    assert main(["uninstall", "--yes", "--project", str(project)]) == 0
    assert (page.read_text() if page.exists() else None) == text
    assert (project / "CLAUDE.md").read_text() == "Mine.\n"


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(alphabet='a"/\\*,]}: \n', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "//", "m"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["a", "m", "z", "/*"]), VALUES, max_size=3),
    st.sampled_from([None, 1, "\t"]),
    st.sampled_from([str, lambda text: text.replace("\n", " // x\n"), lambda text: text.replace("}", ",/* } */}")]),
)
def test_any_json_keeps_the_rest(value: dict[str, Any], indent: int | str | None, spoilt: Callable[[str], str]) -> None:
    text = json.dumps(value, indent=indent)
    if '"' not in text.replace('"a"', "").replace('"m"', "").replace('"z"', ""):  # no texts that the spoiling changes
        text = spoilt(text) if ",," not in spoilt(text) and "{," not in spoilt(text) else text
    if not isinstance(value.get("m", {}), dict):
        with pytest.raises(ValueError, match="not a group of settings"):
            settings_text.with_entry(text, ("m", "findling"), {"command": "x"}, toml=False)
        return
    changed = settings_text.with_entry(text, ("m", "findling"), {"command": "x"}, toml=False)
    expected = value | {"m": {"findling": {"command": "x"}, **value.get("m", {})}}
    assert json.loads(settings_text._plain(changed)) == expected
    again = settings_text.without_entry(changed, ("m", "findling"), toml=False)
    assert json.loads(settings_text._plain(again)) == value | {"m": value.get("m", {})}


@pytest.mark.parametrize("agent", AGENTS.values(), ids=lambda agent: agent.id)
def test_the_page_has_every_agent(agent: Agent) -> None:
    project = f"`{agent.project[0]}`" if agent.project else "none"
    assert f"| {agent.name} | `{agent.id}` | `{agent.user[0]}` | {project} |" in PAGE
    assert agent.source in PAGE
