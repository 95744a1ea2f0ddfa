"""Repositories for tests, made with git itself; no configuration of whoever runs the tests reaches it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from indexes import write

_APART = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "x",
    "GIT_AUTHOR_EMAIL": "x@example.org",
    "GIT_COMMITTER_NAME": "x",
    "GIT_COMMITTER_EMAIL": "x@example.org",
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env={**os.environ, **_APART},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def commit(root: Path, message: str = "more") -> str:
    """Everything on disk as a commit; its id."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


OLD = {
    "src/retry.py": "class RetryPolicy:\n    def backoff(self, attempt):\n        return 2 ** attempt\n",
    "src/cache.py": "class LruCache:\n    def evict(self):\n        self.items.pop(0)\n",
    "docs/guide.md": "# Guide\n\nFailed requests are retried with a backoff.\n",
    "empty.txt": "",
}
NEW_RETRY = (
    "class RetryPolicy:\n    def backoff(self, attempt):\n        return 3 ** attempt\n\n\n"
    "def only_in_feature():\n    pass\n"
)


def repository(root: Path, *options: str) -> Path:
    """A repository with ``main`` checked out and ``feature`` beside it: retry.py differs, cache.py is renamed there."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main", *options)
    for path, text in OLD.items():
        write(root, path, text)
    commit(root, "one")
    git(root, "tag", "v1")
    git(root, "checkout", "-q", "-b", "feature")
    write(root, "src/retry.py", NEW_RETRY)
    git(root, "mv", "src/cache.py", "src/lru.py")
    commit(root, "two")
    git(root, "checkout", "-q", "main")
    return root
