"""How many do the same at once, in whatever processes: each takes one of so many places, or waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from findling.engine.jobs.small_files import only_writer
from findling.model.errors import IndexBusy

_LOOK_AGAIN_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Turns:
    """``folder`` is shared by all that count together; the system gives a place back with its process."""

    folder: Path
    at_once: int

    @contextmanager
    def taken(self, wait: Callable[[], bool]) -> Iterator[bool]:
        """Be among ``at_once`` at the most. ``wait`` is asked again and again whether to wait on, and may raise; when
        it says no, the block is entered without a place, and is given False."""
        with ExitStack() as role:
            while not (mine := self._take(role)) and wait():
                time.sleep(_LOOK_AGAIN_S)
            yield mine

    def _take(self, role: ExitStack) -> bool:
        for number in range(self.at_once):
            try:
                role.enter_context(only_writer(self.folder, wait_s=0.0, number=number))
            except IndexBusy:
                continue
            return True
        return False
