"""The library: folders and files of the user's, whatever project findling is called from, searched together.

``library`` is what callers see, ``results`` what it gives back; ``collections`` lists what there is, ``state`` says how
it stands, ``recipes`` how it is indexed; ``sources`` and ``reading`` look into one index, ``search`` asks all of them;
``jobs`` tells what runs in the background, ``fetching`` runs it: what was asked for (``fetch_requests``,
``fetch_names``) becomes a file (``fetch_file``) or a repository's files (``fetch_repo``, ``repo_tree``,
``repo_bundle``) in a collection of the library's own (``fetched``).
"""

from __future__ import annotations

from findling.library.collections import Collection
from findling.library.jobs import Job, JobRecords, JobStatistics, RunningJob
from findling.library.library import Library
from findling.library.results import CollectionStatus, FilePassages, Indexed, LibraryStatistics, Removed

__all__ = [
    "Collection",
    "CollectionStatus",
    "FilePassages",
    "Indexed",
    "Job",
    "JobRecords",
    "JobStatistics",
    "Library",
    "LibraryStatistics",
    "Removed",
    "RunningJob",
]
