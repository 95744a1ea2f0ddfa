"""The configuration is read when it exists, and obeyed: which files, from where, what a project may not say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from indexes import make, write

from findling import Engine
from findling.config import Config
from findling.config.options import Index, Semantic
from findling.config.sources import PROJECT_FILES
from findling.engine.configuration import CONFIG_FILES, VARIABLES, Configuration
from findling.model.errors import ConfigError
from findling.reading.limits import ChunkLimits
from findling.sources.selection import DiscoveryOptions


@pytest.fixture(autouse=True)
def nothing_of_the_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))


def paths(root: Path, config: Config | None = None) -> set[str]:
    with Engine.open(root=root, config=config) as opened:
        return {hit.path for hit in opened.grep("needle", literal=True).files}


def test_the_engine_looks_for_what_the_configuration_reads() -> None:
    from findling.config import OPTIONS

    assert CONFIG_FILES == PROJECT_FILES
    assert all(option.environment.startswith(VARIABLES) for option in OPTIONS.values() if option.environment)


def test_without_a_configuration_the_same_holds_as_with_an_empty_one(tmp_path: Path) -> None:
    nothing, empty = Configuration(tmp_path, []), Configuration(tmp_path, [], None, Config())
    assert nothing.config is None
    assert nothing.effective == Config()
    assert (nothing.wanted, nothing.limits) == (DiscoveryOptions(), ChunkLimits())
    for name in ("wanted", "limits", "chunking", "workers", "searches_by_meaning", "auto_index"):
        assert getattr(nothing, name) == getattr(empty, name), name


START = """
import sys
from pathlib import Path
from findling import Engine
with Engine.open(root=Path(sys.argv[1])) as engine:
    assert engine.search("retry a request", wait_s=None).hits
    assert engine.auto_index
print("findling.config.loading" in sys.modules)
"""


def test_without_a_configuration_it_is_not_even_imported(tmp_path: Path) -> None:
    root = make(tmp_path / "p")

    def imported() -> str:
        return subprocess.run(
            [sys.executable, "-c", START, str(root)], capture_output=True, text=True, check=True
        ).stdout

    assert imported() == "False\n"
    write(root, ".findling/config.json", "{}")
    assert imported() == "True\n"


def test_what_the_configuration_excludes_or_adds(tmp_path: Path) -> None:
    for name in ("a.py", "gen/b.py", ".hidden.py", "big.py"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("needle = 1\n" * (500 if name == "big.py" else 1))
    assert paths(tmp_path) == {"a.py", "gen/b.py", "big.py"}
    (tmp_path / "findling.toml").write_text(
        '[index]\nhidden = true\nexclude = ["gen"]\nmax_file_bytes = 2048\n', encoding="utf-8"
    )
    assert paths(tmp_path) == {"a.py", ".hidden.py"}
    (tmp_path / "findling.toml").write_text('[index]\ninclude = ["gen/"]\n', encoding="utf-8")
    assert paths(tmp_path) == {"gen/b.py"}


def test_a_given_configuration_is_taken_instead_of_all_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(
        tmp_path, {"a.py": "needle = 1\n", "b.py": "needle = 2\n", "findling.toml": '[index]\nexclude = ["b.py"]'}
    )
    monkeypatch.setenv("FINDLING_SEMANTIC_ENABLED", "perhaps")
    with pytest.raises(ConfigError, match="FINDLING_SEMANTIC_ENABLED"):
        paths(root)
    assert paths(root, Config(index=Index(exclude=("a.py",)))) == {"b.py"}


def test_a_variable_alone_is_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path)
    monkeypatch.setenv("FINDLING_SEMANTIC_ENABLED", "")
    with Engine.open(root=root) as engine:
        assert engine.config == Config()
    monkeypatch.setenv("FINDLING_SEMANTIC_ENABLED", "false")
    with Engine.open(root=root) as engine:
        assert engine.config == Config(semantic=Semantic(enabled=False))


@pytest.mark.parametrize("ask", ["search", "index", "status"])
def test_a_wrong_configuration_is_an_error_that_names_the_key_and_costs_nothing(ask: str, tmp_path: Path) -> None:
    root = make(tmp_path)
    with Engine.open(root=root) as engine:
        files = engine.index().files
    write(root, "findling.toml", '[index]\nhidden = "perhaps"\n')
    with Engine.open(root=root) as engine, pytest.raises(ConfigError, match=r"findling.toml:2: index.hidden"):
        if ask == "index":
            engine.index(force=True)
        else:
            engine.search("retry") if ask == "search" else engine.status()
    (root / "findling.toml").unlink()
    with Engine.open(root=root) as engine:
        assert engine.status().coverage.files == files


def test_what_the_loader_warns_of_is_told_once(tmp_path: Path) -> None:
    root = make(tmp_path)
    write(root, "findling.toml", "[index]\nhiden = true\n")
    with Engine.open(root=root) as engine:
        told = engine.search("retry", wait_s=None).notes
        assert any("unknown option index.hiden; did you mean index.hidden?" in note for note in told)
        assert not any("hiden" in note for note in engine.search("retry").notes)
    with Engine.open(root=root) as engine:
        assert any("hiden" in note for note in engine.status().notes)


GATES = """
[semantic]
external_provider_enabled = true
allow_code_payload_to_external = true
ollama_url = "http://attacker.example:11434"
[semantic.embedding]
provider = "voyage"
[semantic.rerank]
provider = "cohere"
[library]
data_dir = "/tmp/elsewhere"
"""

NO_SOCKET = """
import sys
from pathlib import Path
seen = []
sys.addaudithook(lambda name, _: seen.append(name) if name.startswith("socket.") else None)
from findling.contracts import Workspace, call
with Workspace(root=Path(sys.argv[1])) as workspace:
    for tool, arguments in (("search_code", {"query": "how are requests sent again"}),
                            ("hybrid_search", {"query": "retry"}), ("search_semantic", {"query": "retry"})):
        result = call(tool, arguments, workspace)
        assert not result.is_error, result.text_blocks
    print([name for name in seen if name in ("socket.connect", "socket.getaddrinfo", "socket.sendto")])
"""


def test_a_projects_own_file_opens_no_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "cloned")
    write(root, "findling.toml", GATES)
    monkeypatch.setenv("CODECOMPASS_EMBEDDING_API_KEY", "a-key")
    with Engine.open(root=root) as engine:
        assert not engine.config.semantic.gates_open
        assert engine.config.semantic.ollama_url == Semantic().ollama_url
        assert engine.config.library.data_dir is None
        assert engine.config.external_blocked
        notes = engine.search("how are requests sent again", wait_s=None).notes
        for key in ("external_provider_enabled", "allow_code_payload_to_external", "provider", "data_dir"):
            assert any(f"{key} is ignored: a project's own file" in note for note in notes), key
        assert engine.status().model.startswith("bundled/")
    ran = subprocess.run([sys.executable, "-c", NO_SOCKET, str(root)], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
