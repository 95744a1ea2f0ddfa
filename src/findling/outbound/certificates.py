"""Whom certificates are believed from: the system's authorities and those that the environment names, for git the same
as for everything else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ssl

_FILES: Final = ("GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
_FOLDERS: Final = ("GIT_SSL_CAPATH", "SSL_CERT_DIR")
"""The first that is set counts; the last of each OpenSSL reads by itself."""


def tls_context() -> ssl.SSLContext:
    """For clients: names are verified. Raises OSError where a file that is named cannot be read."""
    import ssl  # git is asked far more often than servers are

    context = ssl.create_default_context()
    file, folder = _first(_FILES[:-1]), _first(_FOLDERS[:-1])
    try:
        if file or folder:
            context.load_verify_locations(file or None, folder or None)
    except OSError as error:
        raise OSError(f"no certificate authorities can be read from {file or folder}") from error
    return context


def git_variables() -> dict[str, str]:
    """The same in git's own variables: others mean nothing to it."""
    found = {"GIT_SSL_CAINFO": _first(_FILES), "GIT_SSL_CAPATH": _first(_FOLDERS)}
    return {name: path for name, path in found.items() if path}


def _first(names: Iterable[str]) -> str:
    return next(filter(None, map(os.environ.get, names)), "")
