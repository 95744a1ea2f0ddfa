"""Code or documents: which of the two a question means, by its form and by what each of them has. Reads nothing."""

from __future__ import annotations

from collections.abc import Sequence, Set

from findling.model.types import Group
from findling.search.ranking import formula
from findling.search.ranking.priors import OF_PLACES
from findling.search.ranking.ranked_file import RankedFile, put_in_order

FIRST_CODE, FIRST = 5, 3
"""How many of the first files of code are looked at for the question's own noun, and of each side for its words."""

OWN_NOUN = 0.6
"""What a file of code holds of a question, times the share of its name that the question says. From here on it is
called after what is asked."""

BEHIND = 0.01
"""So little less than the first file of code has the document that was before it."""


SURE = 2.0
"""A side whose best leads by more is the one that is meant: the other has the answer to 4 of 100 questions then, and to
1 of 100 with 3, where most answers would be in two groups."""


def group(item: RankedFile) -> Group:
    """Documents are docs, everything else is code, as in the scope of a query."""
    return "docs" if item.file.kind == "docs" else "code"


def groups(wants: Set[str], ranked: Sequence[RankedFile]) -> tuple[Group, ...]:
    """Both, that of the first file first, where either may be meant; () where one clearly is."""
    if wants & {"code", "tests"}:
        return ()
    firsts = {group(item): item for item in reversed(ranked)}
    if len(firsts) < 2 or abs(firsts["code"].rank_value - firsts["docs"].rank_value) > SURE:
        return ()
    return ("docs", "code") if group(ranked[0]) == "docs" else ("code", "docs")


def join(wants: Set[str], ranked: list[RankedFile]) -> None:
    """Put code and documents in one order, best first: documents are held back where the question means the code.

    Where its words ask about code all are. Where its form only suggests that, the best document keeps its place, or
    follows the first file of code: one wrong word must not hide the right side. Done again when sums have changed, it
    is as if it was done only then.
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
    """Whether a file of code is called after the subject, or holds more of its rare words than any document does."""
    proper = [item for item in code if not any(item.values.get(flag) for flag in OF_PLACES)]
    named = max((item.values["path"] * item.rare_coverage for item in proper[:FIRST_CODE]), default=0.0)
    if named > OWN_NOUN:
        return True
    return _held(proper) > _held(documents)


def _held(files: Sequence[RankedFile]) -> float:
    return max((item.rare_coverage for item in files[:FIRST]), default=0.0)
