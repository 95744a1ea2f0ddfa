"""From a folder of git mirrors to pairs, and a manifest of where each is from.

    python -m training mine MIRRORS --out WORK [--jobs 2] [--seed 1]

Writes ``WORK/pairs/OWNER+NAME.jsonl`` for each repository and ``WORK/manifest.json``: repository, commit, licence as
its licence files say, pairs by kind and language; and of those left out, why. A repository is left out when it is in
``do_not_mine.txt``, or has the name of one that is, or is not under permissive licences alone; of one that is, folders
whose own licence files say otherwise. Pairs of earlier runs into WORK that this one did not write are removed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from findling.model.languages import language_of
from training.code_pairs import Found, code_pairs
from training.licences import Licence, governed_folder, licences, stating_folder
from training.mirrors import Entry, Mirror, find_mirrors, head_commit, read_anyhow, read_texts, readable, sample, tree
from training.pairs import QUERY_CHARS, Pair, worth_asking
from training.prose_pairs import prose_pairs

DO_NOT_MINE = Path(__file__).parent / "do_not_mine.txt"

FILES_PER_REPO = 6000
PAIRS_PER_REPO = 20_000
"""Bounds that keep one large repository from outweighing many."""

LEAST_FILE_BYTES = 250

PROSE = frozenset(("markdown", "rst", "asciidoc", "mdx"))

_SKIP = re.compile(
    r"(^|/)(node_modules|vendor|third[_-]?party|3rdparty|external|extern|dist|build|fixtures?|testdata|locales?|generated"
    r"|__snapshots__|deps|submodules|packages/vendored|_vendor|vendored|sdk/vendor)/|\.min\.|\.pb\.go$|_pb2\.py$"
    r"|_generated|zz_generated|CHANGELOG|CHANGES|HISTORY|RELEASE|NEWS|changelogs?/",
    re.IGNORECASE,
)
_TEST = re.compile(r"(^|/)(tests?|specs?|__tests__)/|_test\.|\.spec\.|\.test\.|Tests?\.", re.IGNORECASE)
_TEST_SHARE = 0.35
"""At most this share of the files may be tests: their comments are few and their titles many."""


def forbidden_names(path: Path = DO_NOT_MINE) -> frozenset[str]:
    """``owner/name`` in lower case."""
    lines = (line.strip().lower() for line in path.read_text(encoding="utf-8").splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))


def why_not(name: str, forbidden: frozenset[str]) -> str:
    """Why a repository may not be mined, '' when it may."""
    lower = name.lower()
    if lower in forbidden:
        return "judged questions are asked of it"
    if lower.rsplit("/", 1)[-1] in {entry.rsplit("/", 1)[-1] for entry in forbidden}:
        return "it has the name of a repository that judged questions are asked of"
    return ""


def mine_repo(mirror: Mirror, out: Path, seed: int) -> dict[str, Any]:
    """Write the pairs of one repository; its entry in the manifest."""
    record: dict[str, Any] = {"repository": mirror.name, "commit": head_commit(mirror), "licence": "", "left_out": ""}
    forbidden = why_not(mirror.name, forbidden_names())
    if mirror.linked:
        forbidden = "it is a symbolic link"
    elif "/" not in mirror.name:  # then it cannot be told from what may not be mined
        forbidden = "it is not called owner/name"
    if forbidden or not record["commit"]:
        return {**record, "left_out": forbidden or "it has no commit"}
    found = tree(mirror, record["commit"])
    stating = [entry for entry in found if governed_folder(entry.path) is not None]
    stated = licences(read_anyhow(mirror, stating, found))
    root = stated.get("", Licence("none found", False))
    record["licence"] = root.name
    if not root.permissive:
        return {**record, "left_out": "its licence files do not say that it is permissive"}
    usable = _usable(readable(found))
    governing = {entry.path: stating_folder(entry.path, stated) for entry in usable}
    record["left_out_folders"] = {
        folder: stated[folder].name for folder in sorted(set(governing.values())) if not stated[folder].permissive
    }
    permissive = [entry for entry in usable if stated[governing[entry.path]].permissive]
    pairs = list(_pairs(mirror, _chosen(permissive, seed)))
    if len(pairs) > PAIRS_PER_REPO:
        pairs = _thinned(pairs)
    with (out / _file_name(mirror.name)).open("w", encoding="utf-8") as file:
        file.writelines(pair.line() + "\n" for pair in pairs)
    kinds, languages = Counter(pair.kind for pair in pairs), Counter(pair.language for pair in pairs)
    return {**record, "pairs": len(pairs), "kinds": dict(kinds), "languages": dict(languages)}


def _file_name(repository: str) -> str:
    return f"{repository.replace('/', '+')}.jsonl"


def _thinned(pairs: list[Pair]) -> list[Pair]:
    """`PAIRS_PER_REPO` of them, by a hash of their text: the same at every run."""
    keyed = sorted(pairs, key=lambda pair: hashlib.sha256((pair.query + pair.path).encode("utf-8", "replace")).digest())
    return keyed[:PAIRS_PER_REPO]


def _usable(found: Sequence[Entry]) -> list[Entry]:
    return [
        entry
        for entry in found
        if entry.size >= LEAST_FILE_BYTES and not _SKIP.search(entry.path) and _language(entry.path)
    ]


def _chosen(usable: Sequence[Entry], seed: int) -> list[Entry]:
    tests = [entry for entry in usable if _TEST.search(entry.path)]
    others = [entry for entry in usable if not _TEST.search(entry.path)]
    chosen = sample(others, FILES_PER_REPO, seed)
    return chosen + sample(tests, int(FILES_PER_REPO * _TEST_SHARE), seed)


def _language(path: str) -> str:
    language = language_of(path)
    return language.id if language and (language.kind == "code" or language.id in PROSE) else ""


def _pairs(mirror: Mirror, chosen: Sequence[Entry]) -> Iterator[Pair]:
    seen: set[bytes] = set()
    for entry, text in read_texts(mirror, chosen):
        language = _language(entry.path)
        made: Iterator[Found] = prose_pairs(text, language) if language in PROSE else code_pairs(text, language)
        for found in made:
            query = found.query[:QUERY_CHARS]
            if not worth_asking(query):
                continue
            key = hashlib.md5((query.lower()[:80] + found.body[:100]).encode("utf-8", "replace"), usedforsecurity=False)
            if key.digest() not in seen:
                seen.add(key.digest())
                yield Pair(found.kind, query, found.body, found.name, found.context, entry.path, language, mirror.name)


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="training mine", description=__doc__)
    parser.add_argument("mirrors", type=Path, help="a folder of git mirrors")
    parser.add_argument("--out", type=Path, required=True, help="where the work of all steps lies")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=1, help="which files of a large repository are read")
    args = parser.parse_args(argv)
    if not args.mirrors.is_dir():
        parser.error(f"{args.mirrors} is no folder")
    mirrors = find_mirrors(args.mirrors)
    if not mirrors:
        parser.error(f"no git mirror is in {args.mirrors}: it holds them as owner/name, owner/name.git or owner+name")
    pairs = args.out / "pairs"
    pairs.mkdir(parents=True, exist_ok=True)
    records = []
    with ProcessPoolExecutor(args.jobs) as pool:
        futures = {pool.submit(mine_repo, mirror, pairs, args.seed): mirror.name for mirror in mirrors}
        for future in as_completed(futures):
            try:
                record = future.result()
            except OSError as error:  # git ended early: the others still count
                record = {"repository": futures[future], "left_out": f"it cannot be read: {error}"}
            records.append(record)
            print(record["repository"], record.get("pairs", record["left_out"]), flush=True)
    records.sort(key=lambda record: str(record["repository"]).lower())
    mined = [record for record in records if "pairs" in record]
    written = {_file_name(record["repository"]) for record in mined}
    for path in pairs.glob("*.jsonl"):
        if path.name not in written:
            path.unlink()  # of a repository that is gone, or left out by now; the next step reads all that lie here
    total = sum(record["pairs"] for record in mined)
    manifest = {"pairs": total, "seed": args.seed, "mined": mined}
    manifest["left_out"] = [record for record in records if "pairs" not in record]
    (args.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    print(f"{total:,} pairs of {len(mined)} repositories; {len(records) - len(mined)} left out")
