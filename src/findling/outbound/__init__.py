"""The only door to the network and to other programs.

``git``: which git is run, with what environment, its output in time and within bounds. ``addresses``:
which servers may be asked; ``connection``: one request over one connection, before a deadline; ``certificates``: whom
they are believed from; ``http``: a whole answer from a server of the user's choice; ``services``: the same with a key;
``fetch``: a file from a server that nobody vouches for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.outbound import services
    from findling.outbound.events import semantic_index, to_stderr
    from findling.outbound.git import run_git
else:
    __getattr__ = front_door(
        __name__,
        {
            "events": "semantic_index to_stderr",
            "git": "run_git",
            "services": "",
        },
    )

__all__ = ["run_git", "semantic_index", "services", "to_stderr"]
