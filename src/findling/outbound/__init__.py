"""The only door to the network and to other programs.

- ``git`` runs git, with bounds on time and output.
- ``addresses`` says which servers may be asked.
- ``connection`` makes one request before a deadline; ``certificates`` says which authorities are trusted.
- ``http`` gets a whole answer from a server of the user's choice, with a key from an external service.
- ``fetch`` gets a file from a server that is not trusted.
- ``files`` reads the files of a folder that is not trusted.
- ``events`` logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.outbound.events import semantic_index, to_stderr
    from findling.outbound.git import run_git
    from findling.outbound.http import ServiceFailure, rerank
else:
    __getattr__ = front_door(__name__)
