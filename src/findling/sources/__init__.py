"""What is there: the files of a folder or of a git ref, why others are left out, and what of them changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.sources import discovery, looking, watching
    from findling.sources.discovery import unlisted
    from findling.sources.git_objects import (
        ChangedFile,
        RefFiles,
        changed_lines,
        check_listable,
        git_arguments,
        holds,
        list_tree,
        objects_changed_at,
        staged,
    )
    from findling.sources.named_paths import look_at, selects
    from findling.sources.selection import DiscoveryOptions, find_git_top, folders_above
    from findling.sources.tracked import why_it_failed
else:
    __getattr__ = front_door(__name__)
