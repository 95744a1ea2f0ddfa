"""What is in a file: its language, symbols and references, how it is cut, and its terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.reading import prepare, syntax
    from findling.reading.decoding import admit
    from findling.reading.limits import ChunkLimits, DocLimits
    from findling.reading.pool import Task, WorkerPool, start_ahead
    from findling.reading.syntax import supported_languages
    from findling.reading.syntax_grammars import GRAMMARS
    from findling.reading.syntax_tree import grammar, has_grammar
else:
    __getattr__ = front_door(__name__)
