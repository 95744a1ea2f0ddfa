"""Which variables of git's own a git that we run is given: they decide what it lists."""

from __future__ import annotations

import os

# The caller's own configuration may stay; what points git at another repository or program must not.
_KEPT_GIT_VARIABLES = frozenset(
    ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_CEILING_DIRECTORIES",
     "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH")
)  # fmt: skip
_KEPT_GIT_PREFIXES = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")


def kept_git_variables() -> dict[str, str]:
    """The variables of git's own that it is run with: the caller's configuration."""
    return {
        key: value
        for key, value in os.environ.items()
        if key in _KEPT_GIT_VARIABLES or key.startswith(_KEPT_GIT_PREFIXES)
    }
