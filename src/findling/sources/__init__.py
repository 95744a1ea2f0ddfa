"""What is there: the files of a folder or of a git ref, why others are left out, and what of them changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.sources import discovery, looking, unlisted, watching
    from findling.sources.file_order import by_query
    from findling.sources.folder_events import FolderEvents
    from findling.sources.git_listing import why_it_failed
    from findling.sources.git_objects import (
        RefFiles,
        check_listable,
        git_arguments,
        holds,
        list_tree,
        objects_changed_at,
    )
    from findling.sources.git_top import find_git_top
    from findling.sources.selection import DiscoveryOptions
else:
    __getattr__ = front_door(
        __name__,
        {
            "discovery": "",
            "file_order": "by_query",
            "folder_events": "FolderEvents",
            "git_listing": "why_it_failed",
            "git_objects": "RefFiles check_listable git_arguments holds list_tree objects_changed_at",
            "git_top": "find_git_top",
            "looking": "",
            "selection": "DiscoveryOptions",
            "unlisted": "",
            "watching": "",
        },
    )

__all__ = [
    "DiscoveryOptions",
    "FolderEvents",
    "RefFiles",
    "by_query",
    "check_listable",
    "discovery",
    "find_git_top",
    "git_arguments",
    "holds",
    "list_tree",
    "looking",
    "objects_changed_at",
    "unlisted",
    "watching",
    "why_it_failed",
]
