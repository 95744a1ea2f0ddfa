"""Collections that findling itself fills: made when something is fetched into them, found again by their folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from findling.engine.jobs import RunningJob
    from findling.engine.library.collections import Collection
    from findling.engine.library.library import Library
    from findling.model.types import Progress


def collection_of(library: Library, folder: Path, name: str, origin: Mapping[str, Any]) -> Collection:
    """The collection of a folder of the library's own, put on the list if need be; its origin is the given one."""
    return library.enlist(Path(os.path.realpath(folder)), name, origin)


def indexing_progress(job: RunningJob, begun: int) -> Callable[[Progress], None]:
    """Tells a job how far indexing is, from ``begun`` percent on; ends it when that was asked for."""

    def tell(progress: Progress) -> None:
        job.check()
        if progress.total:
            share = 0.5 * progress.done / progress.total + (0.5 if progress.stage == "embedding" else 0.0)
            job.progress(begun + int((99 - begun) * min(1.0, share)))

    return tell
