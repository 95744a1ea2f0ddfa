"""Which certificate authorities are trusted: the system's and those that the environment names. git trusts the same."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ssl

_FILES: Final = ("GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
_FOLDERS: Final = ("GIT_SSL_CAPATH", "SSL_CERT_DIR")
"""Variables, of which the first that is set counts. OpenSSL reads the last of each by itself."""

VARIABLES: Final = (*_FILES, *_FOLDERS)


def tls_context() -> ssl.SSLContext:
    """A context for clients, which verifies names. Raises OSError for a named file that cannot be read."""
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
    """The authorities that the environment names, in git's own variables, the only ones that it reads. Their paths hold
    in any folder: git runs in another one."""
    found = {"GIT_SSL_CAINFO": _first(_FILES), "GIT_SSL_CAPATH": _first(_FOLDERS)}
    return {name: os.path.abspath(path) for name, path in found.items() if path}  # noqa: PTH100


def _first(names: Iterable[str]) -> str:
    return next(filter(None, map(os.environ.get, names)), "")
