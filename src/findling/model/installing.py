"""Commands that install what is missing, as messages print them: for this Python, with or without pip."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shlex
import sys
from contextlib import suppress
from urllib.parse import urlsplit
from urllib.request import url2pathname


def install_command(*requirements: str, again: bool = False) -> str:
    """The command that installs packages beside this findling; ``again``: also where they are installed already."""
    by_pip = importlib.util.find_spec("pip") is not None  # tools of uv have none
    words = [sys.executable, "-m", "pip", "install"] if by_pip else ["uv", "pip", "install", "--python", sys.executable]
    if again:
        words.append("--force-reinstall" if by_pip else "--reinstall")
    return shlex.join([*words, *requirements])


def reinstall_command() -> str:
    """The command that installs findling again from where it came: a clone, an address or the package index."""
    with suppress(importlib.metadata.PackageNotFoundError, ValueError, AttributeError):
        noted = importlib.metadata.distribution("findling").read_text("direct_url.json")
        if noted is not None:
            url = json.loads(noted)["url"]
            folder = url2pathname(urlsplit(url).path) if url.startswith("file:") else url
            return install_command(*(["-e"] if '"editable": true' in noted else []), folder, again=True)
    return install_command("findling", again=True)
