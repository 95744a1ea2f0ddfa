"""Options and their values: files, environment and flags become one frozen, checked `Config`.

Useful for anything that has options; knows no index, no model and no transport, opens no connection, and is light to
import. ``options`` is the definition, ``loading`` the recipe, ``provider`` the choice of an embedder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.config.loading import Loaded, Origin, load
    from findling.config.option import is_loopback, shown
    from findling.config.options import EMBEDDING_KEY, EXTERNAL_EMBEDDERS, OPTIONS, RERANK_KEY, Config, Secret
    from findling.config.provider import ProviderChoice, choose_provider
    from findling.config.roots import Root, find_root, is_bare, make_store, projects_in, repositories_in, store_location
    from findling.config.sources import CONFIG_VARIABLE
else:
    __getattr__ = front_door(__name__)
