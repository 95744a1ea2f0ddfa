"""What else a word may be called: a table that is sound, asked only of descriptions."""

from __future__ import annotations

import pytest

from findling.model import tokenizer
from findling.search import keyword, vocabulary
from findling.search.analysis import FOREIGN_WEIGHT, analyse
from findling.search.vocabulary import STOP_WORDS


@pytest.mark.parametrize(
    ("word", "other"),
    [("retry", "repeat"), ("repeats", "retried"), ("deleted", "purge"), ("slow", "latency"), ("folders", "directory")],
)
def test_words_are_met_by_their_stems(word: str, other: str) -> None:
    assert tokenizer.stem(other) in vocabulary.synonyms(tokenizer.stem(word))


def test_a_word_that_is_no_everyday_word_has_none() -> None:
    assert vocabulary.synonyms("retrypolicy") == vocabulary.synonyms("") == ()


def test_the_table_says_nothing_of_itself_and_nothing_twice() -> None:
    for stem, others in vocabulary._synonyms().items():
        assert stem not in others
        assert others
        assert len(set(others)) == len(others)


def test_groups_of_the_table_have_no_word_twice_and_none_that_is_never_asked_for() -> None:
    for group in vocabulary._lines("synonyms.txt"):
        words = group.replace(":", "").split()
        assert len({tokenizer.stem(word) for word in words}) == len(words) > 1, group
        assert words[0] not in STOP_WORDS, group


@pytest.mark.parametrize(
    "text",
    [
        "retry_call",
        "delete folder",
        "RetryPolicy.deleteFolder in DirectoryWalker",
        "Delete Folder SLOW",
        "",
    ],
)
def test_names_and_short_questions_are_meant_as_they_are(text: str) -> None:
    assert analyse(text).synonyms == {}


def test_a_description_gets_what_its_words_may_be_called() -> None:
    asked = analyse("delete the folder of a user when RetryPolicy fails")
    assert "purg" in asked.synonyms["delet"]
    assert "directori" in asked.synonyms["fold"]
    assert not asked.synonyms.keys() - asked.terms.keys()
    assert all(asked.terms.keys().isdisjoint(others) for others in asked.synonyms.values())
    assert "retrypolicy" not in asked.synonyms


def test_words_of_another_language_have_them_in_english_alone() -> None:
    asked = analyse("¿cómo puedo borrar la carpeta del usuario?")
    assert "purg" in asked.synonyms["delet"]
    assert all(asked.terms[term] > FOREIGN_WEIGHT for term in asked.synonyms)


def test_the_text_index_is_asked_for_them_with_less_weight() -> None:
    asked = analyse("slow to delete the folder using a lock")
    weights = keyword._synonyms(asked)
    assert weights["directori"] == keyword.SYNONYM_WEIGHT * asked.terms["fold"]
    assert weights["latenci"] <= keyword.SYNONYM_WEIGHT
    assert weights.keys().isdisjoint(asked.terms)


@pytest.mark.parametrize(
    ("text", "proper"),
    [
        ("LDAP group lookup", {"ldap"}),
        ("publish items to a Kafka topic", {"kafka"}),
        ("Publish items to a topic", set()),
        ("How do I stop it", set()),
        ("HTTP/2 frames", {"http"}),
        ("Wie wird die Datei gespeichert", set()),
    ],
)
def test_proper_names_are_told_from_other_words(text: str, proper: set[str]) -> None:
    assert analyse(text).proper == proper
