"""Reports as plain values: why a file is indexed or not, what works on this machine, how good answers are.

Plain values with the conventions of `types`; nothing here does I/O or imports findling.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

NOT_YET = "not_indexed_yet"
"""The reason for a file that the next look at the disk takes in."""


class Explanation(Struct, frozen=True):
    """Whether a file or folder is in the index and stays there, and if not, why.

    ``reason`` is '' for what is indexed as it is on disk, else a code: one of `SkippedFile`'s, or ``not_found``,
    ``outside_root``, ``no_files``, ``not_indexed_yet``, ``changed`` (indexed as it was before). ``detail`` names the
    rule: the pattern with its ignore file and line, the limit, where a link leads. ``in_index``: the index has it now;
    what is not ``indexed`` as well leaves with the next run. Of a folder ``files`` are in the index, ``waiting`` are
    not yet, and ``left_out`` counts the others by reason (a folder that is ignored as a whole counts once). Of a file
    that is in the index ``chunks`` and ``symbols`` count what it was taken apart into, and ``symbols_missing`` says why
    some or all of its symbols are not there, and ``masked`` in which lines there are secrets, by which rule.
    """

    path: str
    kind: Literal["file", "folder"]
    indexed: bool
    in_index: bool
    root: str = ""
    reason: str = ""
    detail: str = ""
    remedy: str = ""
    language: str = ""
    marks: tuple[str, ...] = ()
    files: int = 0
    waiting: int = 0
    chunks: int = 0
    symbols: int = 0
    symbols_missing: str = ""
    masked: tuple[tuple[int, str], ...] = ()
    left_out: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()


class Check(Struct, frozen=True):
    """One thing that was tried. ``state``: it works; it is off, which costs something but not the search; or it is
    broken. ``words`` say what was seen, ``remedy`` what to do about it."""

    name: str
    state: Literal["ok", "off", "broken"]
    words: str
    remedy: str = ""


class Diagnosis(Struct, frozen=True):
    """``works``: nothing that searching needs is broken."""

    works: bool
    checks: tuple[Check, ...]


# --- how good answers are -------------------------------------------------------------------------------------


class Estimate(Struct, frozen=True):
    """A mean and the ends of its 95 % interval; None where there is nothing to average, or no spread to know."""

    value: float | None
    low: float | None
    high: float | None


class Scores(Struct, frozen=True):
    """Means over judged queries, each in [0, 1], of the first ten results.

    ``recall`` is the share of targets that were hit, ``mrr`` 1 / rank of the first hit, ``file_ndcg`` the NDCG of
    the list cut down to one entry for each file, ``hit1`` and ``hit5`` the share with a hit at the top, in the first
    five.
    """

    queries: int
    ndcg: Estimate
    mrr: Estimate
    recall: Estimate
    file_ndcg: Estimate
    hit1: Estimate
    hit5: Estimate


class FlagScores(Struct, frozen=True):
    """How good the low-confidence flag is: ``recall`` of the ``no_answer`` queries without an answer,
    ``false_alarm`` of those ``answered`` within the first five results."""

    no_answer: int
    recall: Estimate
    answered: int
    false_alarm: Estimate
    precision: float | None


class Reliability(Struct, frozen=True):
    """The answers whose confidence was from ``low`` to below ``high`` (the last row: to 1): how many, the mean that was
    stated, and the shares with a hit at the top and in the first five; where no right answer exists there is none."""

    low: float
    high: float
    queries: int
    stated: float
    hit1: Estimate
    hit5: Estimate


class Latency(Struct, frozen=True):
    """Milliseconds of the answers of a run: the middle one, and the one that one in twenty exceeds."""

    p50_ms: float
    p95_ms: float


class Evaluation(Struct, frozen=True):
    """The scores of one run. ``rule``: files (means over repositories) or spans (means over queries).

    ``reliability`` and ``latency`` are of the queries that have an answer, as far as the run says them.
    """

    rule: Literal["files", "spans"]
    all: Scores
    groups: Mapping[str, Scores]
    repositories: Mapping[str, Scores]
    without_a_line: int
    flag: FlagScores | None
    reliability: tuple[Reliability, ...] = ()
    latency: Latency | None = None


class Change(Struct, frozen=True):
    """A query that two runs answer differently well: the NDCG of the one and of the other."""

    id: str
    repo: str
    query: str
    ndcg: float
    other: float


class Comparison(Struct, frozen=True):
    """The NDCG of one run less that of another, query by query, and on how many queries it is better or worse.

    ``changes`` are these queries, the greatest differences first.
    """

    difference: Estimate
    better: int
    equal: int
    worse: int
    changes: tuple[Change, ...] = ()


class Compared(Struct, frozen=True):
    """Another setting, or another run, beside the one that is reported: its name, its scores, and the first less it."""

    name: str
    evaluation: Evaluation
    comparison: Comparison


class Report(Struct, frozen=True):
    """The result of an evaluation: its run, the runs that it is compared with, the files that were written, and notes
    on where the questions come from."""

    name: str
    evaluation: Evaluation
    compared: tuple[Compared, ...] = ()
    written: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
