"""The library: folders and files of the user's, whatever project findling is called from, searched together.

``library`` is what callers see, ``results`` what it gives back; ``collections`` lists what there is;
``sources`` says how one is indexed and looks into its index, ``search`` asks all of them; ``fetching`` gets files and
repositories from elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.engine.library.library import Library
    from findling.engine.library.results import CollectionStatus, FilePassages, Indexed, LibraryStatistics, Removed
    from findling.engine.library.sources import Source
    from findling.model.collection import Collection
else:
    __getattr__ = front_door(__name__)
