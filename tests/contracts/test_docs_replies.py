"""The docs tools as functions: an answer of documents to a reply. No index, no engine."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from findling.contracts.docs_answer import NOT_SAID, facts_of
from findling.contracts.docs_search import NO_THRESHOLD, match_facts, semantic_facts, similar_facts
from findling.model.types import Absent
from findling.search.documents import (
    DocumentAnswer,
    DocumentQuery,
    FoundDocuments,
    LikeDocument,
    MatchingDocument,
    NearPassage,
)
from findling.search.extract import Excerpt
from findling.search.text_matches import Matches

ABSENT = Absent("text", "no such thing", 7)


def answer(want: Any, *, limit: int = 10, offset: int = 0, **found: Any) -> DocumentAnswer:
    query = DocumentQuery("when is it sent again", want, limit=limit, offset=offset)
    return DocumentAnswer(query, FoundDocuments(**found), "fresh")


def near(path: str, similarity: float, **more: Any) -> NearPassage:
    return NearPassage(path, f"Text of {path}.", similarity, 3, 9, **more)


def test_passages_say_where_they_stand_and_what_is_odd_about_them() -> None:
    found = (near("a.md", 0.9, header="Retries", translations=2), near("b.md", 0.8, changed=True))
    facts = semantic_facts(answer("passages", passages=found, used_semantic=True, best=0.9, below=4), 1.0)
    assert facts["results"] == [
        {
            "docPath": "a.md",
            "chunkText": "Text of a.md.",
            "similarity": 0.9,
            "header": "Retries",
            "lineRange": [3, 9],
            "translations": 2,
        },
        {"docPath": "b.md", "chunkText": "Text of b.md.", "similarity": 0.8, "lineRange": [3, 9], "stale": True},
    ]
    assert facts["meta"] == {
        "query_latency_ms": 1.0,
        "used_semantic": True,
        "best_similarity": 0.9,
        "below_threshold_count": 4,
    }
    assert "notes" not in facts


@pytest.mark.parametrize(("used", "marked"), [(True, [True, False]), (False, [True, True])])
def test_what_only_words_found_is_marked_where_others_were_compared(used: bool, marked: list[bool]) -> None:
    found = (near("a.md", 0.9, by_words=not used), near("b.md", 0.5, by_words=True))
    facts = semantic_facts(answer("passages", passages=found, used_semantic=used), 1.0)
    assert [result.get("used_semantic", True) for result in facts["results"]] == marked
    assert facts["notes"] == [NO_THRESHOLD] and ("best_similarity" in facts["meta"]) is used


@pytest.mark.parametrize(("limit", "offset", "shown"), [(2, 0, "ab"), (2, 2, "c"), (1, 1, "b"), (3, 9, "")])
def test_a_page_is_a_part_of_what_was_found(limit: int, offset: int, shown: str) -> None:
    page: dict[str, Any] = {"limit": limit, "offset": offset}
    like = tuple(LikeDocument(name, 0.5, "x" * 300) for name in "abc")
    similar = similar_facts(answer("like", like=like, **page))["similar"]
    assert "".join(each["docPath"] for each in similar) == shown and all(
        len(each["preview"]) == 200 for each in similar
    )
    passages = tuple(near(name, 0.5) for name in "abc")
    results = semantic_facts(answer("passages", passages=passages, **page), 1.0)["results"]
    assert "".join(each["docPath"] for each in results) == shown
    matches = tuple(MatchingDocument(name, name.upper(), Matches("…", 1, 1, 1.0), 1.0) for name in "abc")
    facts = match_facts(answer("matches", matches=matches, **page), pretty=False)
    assert "".join(each["p"] for each in facts["results"]) == shown
    assert facts.get("total") == 3 and ("message" in facts) is (shown == "")


def test_documents_that_were_not_read_are_counted_in_words() -> None:
    facts = match_facts(answer("matches", unread=3), pretty=True)
    assert (
        facts["notes"] == ["3 documents with words of the query were not read; ask with more words, or narrow down."]
        and facts["message"] == 'No results found for query: "when is it sent again"'
    )


@pytest.mark.parametrize(
    ("state", "code_too", "expected"),
    [
        ({}, False, {}),
        (
            {"freshness": "stale", "pending": 2},
            False,
            {"freshness_status": "stale", "not_searched": {"pending_files": 2}},
        ),
        ({"without_vectors": 5}, False, {"not_searched": {"documents_without_vectors": 5}}),
        ({"without_vectors": 5}, True, {"not_searched": {"files_without_vectors": 5}}),
        ({"only_scanned": 1}, False, {"not_searched": {"files_only_scanned": 1}}),
        ({"found": None}, False, {}),
    ],
)
def test_the_state_of_the_index(state: dict[str, Any], code_too: bool, expected: dict[str, Any]) -> None:
    whole = answer("like")
    facts = similar_facts(replace(whole, query=replace(whole.query, code_too=code_too), **state))
    partial = {"result_completeness": "partial"} if state else {}
    assert facts == {"similar": [], **expected, **partial}


EXCERPT = Excerpt("a.md", "Retries", 3, 5, "It is sent again after a pause.", 1.0)


def test_an_answer_is_its_excerpts_and_says_when_they_hardly_answer() -> None:
    sure = facts_of(answer("excerpts", excerpts=(EXCERPT,), confidence=0.9, used_semantic=True), "", None)
    assert sure["answer"] == EXCERPT.text and not sure["meta"]["low_confidence"]
    assert sure["sources"] == [{"path": "a.md", "snippet": EXCERPT.text, "header": "Retries", "lineRange": [3, 5]}]
    unsure = facts_of(answer("excerpts", excerpts=(EXCERPT,), confidence=0.2), "No embeddings yet", None)
    assert unsure["answer"] == f"{NOT_SAID.format(so_far='')}\n\n{EXCERPT.text}"
    assert unsure["meta"]["fallback_reason"] == "No embeddings yet" and unsure["meta"]["low_confidence"]


def test_what_does_not_occur_is_no_answer() -> None:
    asked = answer("excerpts", excerpts=(EXCERPT,), confidence=0.9)
    facts = facts_of(replace(asked, absent=(ABSENT,)), "", None)
    assert facts["answer"] == ABSENT.words and facts["sources"] == [] and facts["meta"]["confidence"] == 0.0
    facts = facts_of(replace(asked, absent=(replace(ABSENT, whole=False),)), "", None)
    assert facts["answer"] == EXCERPT.text and facts["absent"][0]["text"] == "no such thing"


def test_without_an_answer_the_question_is_said() -> None:
    assert facts_of(answer("excerpts"), "", None)["answer"] == 'No results found for query: "when is it sent again"'
