"""The first run over a work tree of a repository that is indexed already: it begins as another one of its work trees.
So does one that was taken away and made again at the same place.

Whatever git vouches for is taken over unread; the other files that may be the same are read and compared.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from findling.model.types import SkippedFile
from findling.outbound.files import RootFiles, stamp_of
from findling.sources.checkout import Checkout
from findling.sources.contents import read_file
from findling.sources.git_objects import ObjectFormat, content_id
from findling.sources.selection import DiscoveryOptions, Found
from findling.store.writer import IndexWriter

_SAMPLE = 64
"""Files by which a folder is seen to be another one at the same place: enough that none was spared by chance."""


def is_another(root: Path, known: Mapping[str, tuple[int, int]]) -> bool:
    """Whether hardly a file of a folder can be the one that was indexed: of a sample of ``known`` (path -> size and
    `files.stamp_of`) none is as it was."""
    if len(known) < _SAMPLE:
        return False
    prefix = f"{os.path.realpath(root)}/"
    for path, state in islice(known.items(), 0, None, len(known) // _SAMPLE):
        try:
            status = os.lstat(prefix + path)
        except OSError:
            continue
        if state == (status.st_size, stamp_of(status)):
            return False
    return True


def adopt(
    writer: IndexWriter,
    manifest: int,
    root: Path,
    found: list[Found],
    checkout: Checkout,
    form: ObjectFormat,
    options: DiscoveryOptions,
    stop_at: float | None,
) -> list[Found]:
    """Let the manifest of a work tree, still empty, begin as the most similar one there is, as far as their files are
    the same; which of ``found`` are left to index. What was not looked at by ``stop_at`` (monotonic seconds) is left.
    """
    git_ids = checkout.git_ids()
    nearest = writer.nearest(manifest, git_ids) if git_ids else None
    if nearest is None:
        return found
    other, files = nearest
    # The stored id is of the very bytes that were indexed, so it is the file's if git says so of a file as long.
    alike = {
        path
        for path, size, _ in found
        if (file := files.get(path)) is not None and file.git_id == git_ids.get(path, b"") and file.size == size
    }
    vouched = checkout.vouch(alike)
    same = {path: stamp for path, (size, stamp) in vouched.items() if size == files[path].size}
    left: list[Found] = []
    with RootFiles(root) as own:
        for one in found:
            path = one[0]
            if path in same:
                continue
            if path in alike and (stop_at is None or time.monotonic() < stop_at):
                read = read_file(own, path, options.limit(path))
                if not isinstance(read, SkippedFile) and content_id(read[1], form) == files[path].git_id:
                    same[path] = read[0].stamp
                    continue
            left.append(one)
    writer.begin_from(manifest, other, files, same)
    return left
