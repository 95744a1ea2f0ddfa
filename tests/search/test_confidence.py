"""How good an answer is said to be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.rows import FileRow
from findling.model.types import Absent, Confidence, Near
from findling.search.analysis import analyse
from findling.search.answer import WITHOUT_VECTORS_COSINE, judge
from findling.search.intent import classify
from findling.search.planner import plan
from findling.search.ranking.ranked_file import FileCosines, RankedFile
from findling.search.searcher import Found

FILE = FileRow(1, 1, "a.py", "python", "code", 10, 1, False, 3, 1)
VECTORS = FileCosines(np.ones(1, np.float32), np.ones(1, np.float32))
SHARES = st.floats(0, 1)
SHORT = "retry failed uploads"
LONG = (
    "which of the many handlers decides whether some failed upload is tried again after a long pause between attempts"
)


def ranked(coverage: float, cosine: float | None = None, definition: float = 0.0, phrase: float = 0.0) -> RankedFile:
    return RankedFile(
        FILE,
        {"definition": definition},
        rare_coverage=coverage,
        cosines=None if cosine is None else VECTORS,
        best_cosine=cosine or 0.0,
        phrase=phrase,
    )


def judged(*files: RankedFile, text: str = SHORT, lacking: float = 0.0, absent: tuple[Absent, ...] = ()) -> Confidence:
    guess = classify(text)
    lacks = {"uploads": lacking, "translation": lacking} if lacking else {}  # the second is of no word typed
    chosen = plan("auto", guess.intent, text)
    return judge(Found(guess, chosen, analyse(text), ranked=files, lacking=lacks, absent=absent))


def confidence(*files: RankedFile, text: str = SHORT, lacking: float = 0.0) -> float:
    return judged(*files, text=text, lacking=lacking).value


def test_no_answer_has_none() -> None:
    assert confidence() == 0.0


@given(SHARES, st.floats(-1, 1), SHARES, SHARES, SHARES)
def test_it_is_a_share(coverage: float, cosine: float, definition: float, phrase: float, lacking: float) -> None:
    assert 0 < confidence(ranked(coverage, cosine, definition, phrase), lacking=lacking) < 1


@given(st.tuples(SHARES, st.floats(-1, 1), SHARES, SHARES, SHARES), st.tuples(SHARES, SHARES, SHARES, SHARES, SHARES))
def test_more_evidence_never_lowers_it(one: tuple[float, ...], other: tuple[float, ...]) -> None:
    *less, lacks = map(min, one, other)
    *more, lacks_more = map(max, one, other)
    assert confidence(ranked(*less), lacking=lacks_more) <= confidence(ranked(*more), lacking=lacks)


def test_a_definition_among_the_first_three_counts() -> None:
    plain, defines = ranked(0.3), ranked(0.0, definition=1.0)
    assert confidence(plain, plain, defines) > confidence(plain, plain, plain)
    assert confidence(plain, plain, plain, defines) == confidence(plain)


def test_words_that_stand_together_prove_little_where_the_telling_word_of_a_short_question_is_missing() -> None:
    def phrase(lacking: float, text: str = SHORT) -> float:
        reasons = judged(ranked(0.5, 0.3, phrase=1.0), lacking=lacking, text=text).reasons
        return next((reason.value for reason in reasons if reason.signal == "phrase"), 0.0)

    assert phrase(1.0) == 0.0 < phrase(0.5) < phrase(0.0)
    assert phrase(1.0, LONG) > 0.0


def test_without_vectors_words_have_to_speak_for_an_answer() -> None:
    assert confidence(ranked(0.5)) == confidence(ranked(0.5, WITHOUT_VECTORS_COSINE))
    assert confidence(ranked(0.1)) < 0.5 < confidence(ranked(0.6))


@pytest.mark.parametrize(
    ("first", "good"),
    [
        (ranked(1.0, 0.6), True),
        (ranked(1.0, definition=0.8), True),
        (ranked(0.2, 0.2), False),
        (ranked(0.0, 0.0), False),
        (ranked(0.1), False),
    ],
)
def test_what_counts_as_an_answer(first: RankedFile, good: bool) -> None:
    assert (confidence(first) > 0.5) == good


def test_words_of_a_long_question_say_less() -> None:
    """Some of them stand in any large file; what is near in meaning, or stands together, says as much."""
    nothing, words, phrase = ranked(0.0, 0.4), ranked(0.5, 0.4), ranked(0.0, 0.4, phrase=0.5)
    gained = [confidence(words, text=text) - confidence(nothing, text=text) for text in (SHORT, LONG)]
    assert gained[0] > gained[1] > 0
    assert confidence(phrase, text=LONG) - confidence(nothing, text=LONG) > gained[1]


def test_a_specific_word_that_the_first_file_lacks_lowers_it() -> None:
    first = ranked(0.5, 0.5)
    assert confidence(first, lacking=0.9) < confidence(first)
    assert judged(first, lacking=0.9).lacking == ("uploads",)


def test_a_name_that_does_not_occur_lowers_it_unless_it_is_known_what_was_meant() -> None:
    first = ranked(0.5, 0.5)
    near = (Near("FooManager", "a.py", 1),)
    absent = judged(first, absent=(Absent("symbol", "FooBarManager", 9, near, ""),))
    mistyped = judged(first, absent=(Absent("symbol", "FoManager", 9, near, "FooManager"),))
    assert absent.absent and not mistyped.absent
    assert absent.value < mistyped.value == judged(first).value


def test_users_own_words_are_forgiven_more() -> None:
    first = ranked(0.3, 0.4)
    assert confidence(first, text="how do I retry failed uploads") > confidence(first)


def test_what_nobody_asked_for_says_nothing_of_whether_there_is_an_answer() -> None:
    """Words that stand in tests, examples, histories and generated files alone."""
    other = ranked(0.2, 0.35)
    for signal in ("test", "example", "changes", "generated"):
        aside = ranked(1.0, 0.5, phrase=1.0)
        aside.values[signal] = 1.0
        assert confidence(aside, other) == confidence(other) < 0.5 < confidence(ranked(1.0, 0.5, phrase=1.0), other)
        assert confidence(aside) == confidence(ranked(1.0, 0.5, phrase=1.0)), "where there is nothing else it counts"


def test_words_in_a_file_that_is_about_something_else_say_less() -> None:
    """A list of words has all of them."""
    listed, near = judged(ranked(1.0, 0.225), ranked(0.0, 0.4)), judged(ranked(1.0, 0.35), ranked(0.0, 0.4))
    assert (listed.coverage, near.coverage) == pytest.approx((0.5, 1.0)) and listed.value < near.value


def test_the_facts_behind_it_add_up_to_it() -> None:
    found = judged(ranked(0.5, 0.45, phrase=0.5), ranked(0.3, 0.2), lacking=0.7)
    assert found.value == pytest.approx(1 / (1 + np.exp(-sum(reason.value for reason in found.reasons))))
    assert found.beyond_random == pytest.approx(0.05)
    assert "cosine of 0.45; questions about something else find 0.40" in " ".join(each.words for each in found.reasons)
    assert judged(ranked(0.5)).beyond_random is None


def test_words_and_meaning_agree_only_where_both_were_asked() -> None:
    one, other = ranked(0.5, 0.4), ranked(0.5, 0.4)
    other.file = FILE._replace(path="other.py")
    one.values["window"] = 0.9
    assert judged(one, other).agree is None
    one.values["passage"] = 0.5
    assert judged(one, other).agree is True
    other.values["passage"] = 0.6
    assert judged(one, other).agree is False
