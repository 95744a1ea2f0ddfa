"""What is read out of a query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model import tokenizer
from findling.search.analysis import (
    CAPITALISED_WEIGHT,
    FOREIGN_WEIGHT,
    QUALIFIER_WEIGHT,
    STOP_WORDS,
    TRANSLATED_WEIGHT,
    WEAK_WEIGHT,
    WEAK_WORDS,
    analyse,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("how is the cache cleared", ("cache", "cleared")),
        ("RetryPolicy", ("retrypolicy",)),
        ("what is it", ("what", "is", "it")),
        ("the the", ("the",)),
        ("Retry retry", ("retry",)),
        ("?!", ()),
        ("", ()),
        ("größe ändern", ("größe", "ändern")),
    ],
)
def test_content_words(text: str, words: tuple[str, ...]) -> None:
    assert analyse(text).words == words


def test_weak_words_weigh_less_and_the_highest_weight_counts() -> None:
    assert analyse("get cache").terms == {"get": WEAK_WEIGHT, "cach": 1.0}
    assert analyse("get getting_started").terms["get"] == 1.0
    assert not STOP_WORDS & WEAK_WORDS


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("RetryPolicy", {"retrypolicy": 1.0}),
        ("cache", {"cache": 1.0}),
        ("where is RetryPolicy used", {"retrypolicy": 1.0}),
        ("where is retry_call used", {"retrycall": 1.0}),
        ("Outer.inner", {"outer": QUALIFIER_WEIGHT, "inner": 1.0}),
        ("std::vec::Vec", {"std": QUALIFIER_WEIGHT, "vec": 1.0}),
        ("obj->field", {"obj": QUALIFIER_WEIGHT, "field": 1.0}),
        ("call foo() of Bar.baz()", {"bar": QUALIFIER_WEIGHT, "baz": 1.0}),
        ("how does Flask start", {"flask": CAPITALISED_WEIGHT}),
        ("Flask starts how", {}),
        ("how are things", {}),
        ("why __init__", {"init": 1.0}),
        ("a.b", {}),
        ("parse HTTPServer", {"parse": 0, "httpserver": 1.0}),
    ],
)
def test_names(text: str, names: dict[str, float]) -> None:
    assert {name.squashed: name.weight for name in analyse(text).names} == {
        name: weight for name, weight in names.items() if weight
    }


def test_adjacent_words_may_be_one_name() -> None:
    assert analyse("web socket frame").compounds == ("websocket", "socketframe", "websocketframe")
    assert analyse("a b c d e f").compounds[-1].isalpha()
    assert analyse("sockets").compounds == ("sockets",), "a name of several parts may be typed as one word"
    assert max(map(len, analyse("w x y z k").compounds)) == 4


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("retry policy", {"subject"}),
        ("tests of the retry policy", {"test", "tests"}),
        ("regression test for retries", {"test", "tests", "subject"}),
        ("why does it stop sending while the test runs", {"test"}),
        ("test_retry", {"test"}),
        ("usage example", {"example"}),
        ("watch files on Windows", {"platform", "subject"}),
        ("legacy client", {"legacy", "superseded", "subject"}),
        ("the v3 client", {"superseded"}),
        ("what changed in the last release", {"changes", "history"}),
        ("migrating from version 2", {"changes", "superseded"}),
        ("generated protobuf", {"generated", "subject"}),
        ("how do I start it", {"advice"}),
        ("translated pages", {"messages", "subject"}),
        ("I need this for my review: how are errors reported", {"workings"}),
        ("It is slow. How do I start it", {"advice"}),
        ("why does it stop?", set()),
        ("¿cómo guardo el archivo?", {"advice"}),
        ("Wie ändere ich das Passwort", {"advice"}),
        ("comment supprimer un répertoire", {"advice"}),
        ("comment of a line", set()),
        ("I see that it stops. " * 30, set()),
        ("where do we retry failed requests?", set()),
        ("where do we put our keys so that I can log in", {"advice"}),
        ("如何配置服务器", {"advice"}),
        ("wie wird ein Fehler behandelt", set()),
        ("服务器在哪里？", set()),
        ("ログはどこに保存されますか", set()),
        ("サーバーを止めるには。", {"advice"}),
        ("サーバーの設定", set()),
        ("服务器配置", set()),
        ("what? stop it", set()),
        ("contest", set()),
        ("file upload handling", {"subject"}),
        ("what file upload handling is", set()),
        ("how uploads are checked", {"workings"}),
        ("how does the server check uploads?", {"workings"}),
        ("how to check uploads", set()),
        ("how long until an upload expires", set()),
        ("how do I check uploads in the parser class", {"advice"}),
        ("what the parser class does with uploads", {"code"}),
        ("why is an upload implemented twice", {"code"}),
        ("it finds a function by another name", set()),
        ("uploads are no longer checked", {"code"}),
        ("Fix duplicated headers of uploads", {"code"}),
        ("an empty upload should be refused", {"code"}),
        ("my upload fails with a handshake", {"advice"}),
        ("should an empty upload be refused", set()),
        ("why does an upload fail", set()),
        ("how the examples are tested", {"example", "test", "tests"}),
        ("what the parser class does. " * 30, set()),
    ],
)
def test_what_is_wanted(text: str, wants: set[str]) -> None:
    assert analyse(text).wants == wants


def test_what_stands_before_the_last_part_of_a_name_qualifies_it() -> None:
    assert {name.squashed for name in analyse("where is Outer.inner").names if name.qualifies} == {"outer"}
    assert not any(name.qualifies for name in analyse("OuterThing and innerThing").names)


@given(st.text())
def test_any_text_is_analysed(text: str) -> None:
    found = analyse(text)
    assert all(0 < weight <= 1 for weight in found.terms.values())
    assert set(found.terms) <= set(tokenizer.terms(found.meant))
    assert bool(found.words) == bool(tokenizer.words(text))
    assert all(0 < name.weight <= 1 and len(name.squashed) > 1 for name in found.names)
    assert len({name.squashed for name in found.names}) == len(found.names)
    assert sum(found.keys.values()) <= sum(found.terms.values())
    assert analyse(text) == found


@given(st.text())
def test_white_space_around_a_query_changes_nothing_but_its_text(text: str) -> None:
    plain, padded = analyse(text), analyse(f"  {text}\n")
    assert (plain.terms, plain.names, plain.compounds) == (padded.terms, padded.names, padded.compounds)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("¿cómo guardo el archivo?", {"file"}),
        ("Wie ändere ich das Passwort?", {"password"}),
        ("comment supprimer un répertoire", {"delete", "directory"}),
        ("如何删除文件", {"delete", "file"}),
        ("ファイルを削除したい", {"delete", "file"}),
    ],
)
def test_a_question_in_another_language_has_english_words(text: str, terms: set[str]) -> None:
    found = analyse(text)
    wanted = {tokenizer.stem(term) for term in terms}
    assert wanted <= {term for term, weight in found.terms.items() if weight in (TRANSLATED_WEIGHT, WEAK_WEIGHT)}
    assert found.meant.startswith(found.text)
    assert all(term in found.meant for term in terms)


@pytest.mark.parametrize("text", ["parse the DER certificate", "archivo", "red base version", "naïve café", "文"])
def test_a_word_alone_makes_no_other_language(text: str) -> None:
    assert analyse(text).meant == text
    assert FOREIGN_WEIGHT not in analyse(text).terms.values()


def test_names_are_the_same_in_every_language() -> None:
    found = analyse("¿cómo guardo el archivo JSON con save_all?")
    assert found.terms["json"] == found.terms[tokenizer.stem("save")] == TRANSLATED_WEIGHT
    assert found.terms["guardo"] == FOREIGN_WEIGHT
