"""A process that finishes an index which a first question found missing: one for each folder, at the lowest priority,
gone when it is done. It holds nothing of whoever started it, and a question in the meantime does not wait for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Final

from findling.engine.index_jobs import active_job

if TYPE_CHECKING:
    from findling.engine.store import OpenStore

MODULE: Final = "findling.engine.background_process"


def start(store: OpenStore) -> bool:
    """Leave a process behind that indexes the folder of ``store``, unless none is wanted; whether one is at it now."""
    if not store.configuration.background:
        return False
    if active_job(store) is not None:
        return True
    arguments = [sys.executable, "-P", "-m", MODULE, os.fspath(store.root), os.fspath(store.directory)]
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            arguments, stdin=nothing, stdout=nothing, stderr=nothing, cwd=store.root.anchor, **_apart()
        )
    except OSError:  # the next question tries again; this one has its answer
        return False
    threading.Thread(target=process.wait, daemon=True).start()  # else it stays in the system's list when it has ended
    return True


def _apart() -> dict[str, Any]:
    """Ctrl-C and the end of the terminal are for the one that asked."""
    if os.name == "posix":
        return {"start_new_session": True}
    low = getattr(subprocess, "IDLE_PRIORITY_CLASS", 0)
    return {"creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0) | low}
