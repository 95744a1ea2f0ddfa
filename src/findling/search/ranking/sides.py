"""Decides whether a question means code or documents, by its form and by what each side has. Pure."""

from __future__ import annotations

from collections.abc import Sequence, Set

from findling.model.languages import is_document
from findling.model.types import Group
from findling.search.ranking import formula
from findling.search.ranking.priors import OF_PLACES
from findling.search.ranking.ranked_file import RankedFile, put_in_order

FIRST_CODE, FIRST = 5, 3
"""How many of the first code files may be named after the question; how many files of each side are compared by the
rare words that they hold."""

OWN_NOUN = 0.6
"""From this product on a code file is named after what is asked: the share of the question that it holds, times the
share of its name that the question says."""

BEHIND = 0.01
"""How far below the first code file the best document is put, where it was above it."""


SURE = 2.0
"""A side whose best file leads by more than this is the one that is meant. The other side then has the answer to 4 of
100 questions; with 3 to 1 of 100, but most answers would come in two groups."""


def group(item: RankedFile) -> Group:
    """Documents are docs, everything else is code, as in the scope of a query."""
    file = item.file
    return "docs" if is_document(file.own_path, file.language, file.kind) else "code"


def groups(wants: Set[str], ranked: Sequence[RankedFile]) -> tuple[Group, ...]:
    """Both groups where either may be meant, the one that leads the joined order first; () where one clearly is
    meant."""
    if wants & {"code", "tests"}:
        return ()
    firsts = {group(item): item for item in reversed(ranked)}
    if len(firsts) < 2 or abs(firsts["code"].rank_value - firsts["docs"].rank_value) > SURE:
        return ()
    return ("docs", "code") if group(ranked[0]) == "docs" else ("code", "docs")


def join(wants: Set[str], ranked: list[RankedFile]) -> None:
    """Put code and documents in one order, best first: documents are held back where the question means the code.

    If the words ask about code, all documents are held back. If only the form suggests code, the best document keeps
    its place, or follows the first code file: one misleading word must not hide the right side. It can be called again
    when sums have changed; nothing of the earlier call remains.
    """
    documents = [item for item in ranked if group(item) == "docs"]
    for item in documents:
        item.values["beside"] = 0.0
    put_in_order(ranked, documents)
    code = [item for item in ranked if group(item) == "code"]
    documents = [item for item in ranked if group(item) == "docs"]
    if not documents or not code or not _means_code(wants, code, documents):
        return
    for item in documents:
        item.values["beside"] = 1.0
    if "code" not in wants:
        lead = documents[0].rank_value - code[0].rank_value
        documents[0].values["beside"] = min(1.0, (lead + BEHIND) / formula.HELD_BACK) if lead >= 0 else 0.0
    put_in_order(ranked, documents)


def _means_code(wants: Set[str], code: Sequence[RankedFile], documents: Sequence[RankedFile]) -> bool:
    if "subject" in wants:
        return _code_has_it(code, documents)
    return "code" in wants or "workings" in wants


def _code_has_it(code: Sequence[RankedFile], documents: Sequence[RankedFile]) -> bool:
    """Whether a code file is named after the subject, or holds more of its rare words than any document."""
    proper = [item for item in code if not any(item.values.get(flag) for flag in OF_PLACES)]
    named = max((item.values["path"] * item.rare_coverage for item in proper[:FIRST_CODE]), default=0.0)
    if named > OWN_NOUN:
        return True
    return _held(proper) > _held(documents)


def _held(files: Sequence[RankedFile]) -> float:
    return max((item.rare_coverage for item in files[:FIRST]), default=0.0)
