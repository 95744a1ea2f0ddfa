"""A page in the browser over the same questions as the command line: search, read, follow callers, look at the index.

Must not know how anything is found. Nothing of the page comes from elsewhere, and every text in it is escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.faces.web.serving import serve
else:
    __getattr__ = front_door(__name__)
