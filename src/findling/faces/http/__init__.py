"""What every server over HTTP shares: where it listens, whose requests it takes, how it starts and ends.

Must not know what is served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.faces.http.options import HttpOptions, listen, read_options
else:
    __getattr__ = front_door(__name__)
