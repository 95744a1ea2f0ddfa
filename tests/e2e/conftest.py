"""Programs that nobody here wrote, a project with a call for every tool, and the server's processes.

FINDLING_E2E_NODE names the folder with the programs (``node_modules/.bin``); `make e2e` makes it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def load(path: Path, name: str) -> dict[str, object]:
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


# The project and the calls are those that every tool is tested with.
_SAMPLES = load(HERE.parent / "contracts" / "conftest.py", "samples_of_the_tools")
globals().update({name: value for name, value in _SAMPLES.items() if not name.startswith("__")})


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder of ``mcp-inspector``, ``conformance`` and a Node that runs them."""
    folder = os.environ.get("FINDLING_E2E_NODE")
    if not folder:
        pytest.skip("needs npm packages: `make e2e` installs them and sets FINDLING_E2E_NODE")
    assert (Path(folder) / "mcp-inspector").exists(), f"{folder} lacks the packages of tests/e2e/package.json"
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def environment(programs: Path, data_folder: Path) -> dict[str, str]:
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "FINDLING_DATA_DIR": str(data_folder), "PATH": path, "NO_COLOR": "1"}


def serve_http(command: list[str], root: Path) -> Iterator[str]:
    """The URL of a server that ``command`` and the root start, until the generator is closed."""
    process = subprocess.Popen([sys.executable, *command, str(root)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if "serving http://" in line:
                yield line.split()[-1]
                break
        else:
            raise AssertionError("the server ended before it served")
        process.terminate()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def product(indexed: Path) -> Iterator[str]:
    yield from serve_http(["-m", "findling", "serve", "--http", "0"], indexed)


@pytest.fixture(scope="module")
def with_fixtures(indexed: Path) -> Iterator[str]:
    yield from serve_http([str(HERE / "fixture_server.py"), "0"], indexed)
