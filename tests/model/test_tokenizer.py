"""Which spellings meet in the same terms, and which must not."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model import tokenizer
from findling.model.tokenizer import joined_terms, parts, squash, stem, term_key, terms, terms_of, whole_term, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\n.,;", []),
        ("_", ["_"]),
        ("a.b(c)", ["a", "b", "c"]),
        ("retry-after", ["retry", "after"]),
        ("snake_case x", ["snake_case", "x"]),
        ("std::vec::Vec", ["std", "vec", "Vec"]),
        ("größe, Maße", ["größe", "Maße"]),
        ("naïve-café", ["naïve", "café"]),
        ("設定を読む", ["設定を読む"]),
        ("\0\x1c", []),
        ("🙂ok", ["ok"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("flatHashMap", ("flat", "hash", "map", "flathashmap")),
        ("FlatHashMap", ("flat", "hash", "map", "flathashmap")),
        ("flat_hash_map", ("flat", "hash", "map", "flathashmap")),
        ("FLAT_HASH_MAP", ("flat", "hash", "map", "flathashmap")),
        ("__init__", ("init",)),
        ("HTTPServer2", ("http", "serv", "2", "httpserver2")),
        ("parseJSON", ("pars", "json", "parsejson")),
        ("E0308", ("0308", "e0308")),
        ("ORA01017", ("ora", "01017", "ora01017")),
        ("utf8", ("utf", "8", "utf8")),
        ("sha256sum", ("sha", "256", "sum", "sha256sum")),
        ("x", ("x",)),
        ("7", ("7",)),
        ("_", ()),
        ("größeBerechnen", ("größe", "berechnen", "größeberechnen")),
        ("Straße", ("straße",)),
        ("設定", ("設定",)),
        ("設", ("設",)),
        ("設定読込", ("設定", "定読", "読込")),
        ("読込loadFile", ("読込", "load", "fil", "loadfile")),
        ("한국어", ("한국", "국어")),
        ("a1b2c3d4e5f6", ("a1b2c3d4e5f6",)),
        ("Привет", ("привет",)),
    ],
)
def test_terms_of_a_word(word: str, expected: tuple[str, ...]) -> None:
    assert terms_of(word) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retry-after", ["retri", "aft"]),
        ("os.path.join", ["os", "path", "join"]),
        ("error[E0308]: mismatched types", ["er", "0308", "e0308", "mismatch", "typ"]),
        ("to be to be", ["to", "be", "to", "be"]),
    ],
)
def test_terms_of_a_text_keep_order_and_repetitions(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


MEET = [
    ("retry", "retries", "retried", "retrying"),
    ("validate", "validates", "validated", "validating", "validation", "validator", "validators"),
    ("index", "indexes", "indexed", "indexing", "indexer"),
    ("run", "runs", "running", "runner"),
    ("parse", "parses", "parsed", "parsing", "parser", "parsers"),
    ("cache", "caches", "cached", "caching"),
    ("manage", "manager", "management", "manages"),
    ("deploy", "deployment", "deployments", "deployed"),
    ("connect", "connection", "connections", "connecting"),
    ("query", "queries", "querying"),
    ("configure", "configured", "configures"),
    ("copy", "copies", "copied", "copier"),
]
APART = [
    ("state", "status"),
    ("class", "close"),
    ("port", "post"),
    ("document", "docs"),
    ("increment", "increase"),
    ("update", "upload"),
    ("string", "stream"),
    ("sing", "single"),
    ("red", "reed"),
    ("user", "using"),
    ("implement", "imply"),
    ("bus", "busy"),
]


@pytest.mark.parametrize("family", MEET, ids=lambda family: family[0])
def test_stems_that_meet(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1, {word: stem(word) for word in family}


@pytest.mark.parametrize("pair", APART, ids="-".join)
def test_stems_that_stay_apart(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) != stem(pair[1])


@pytest.mark.parametrize("word", ["größen", "naïvely", "utf8s", "設定", "", "as", "is", "the"])
def test_other_words_keep_their_form(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize("name", ["größe", "Ångström_limit", "café_menu", "Übergabe", "한국어", "が"])
def test_composed_and_decomposed_spellings_meet(name: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, name) for form in ("NFC", "NFD"))
    assert composed != decomposed
    assert terms(composed) == terms(decomposed)
    assert squash(composed) == squash(decomposed)


@pytest.mark.parametrize(
    "spellings",
    [("retryPolicy", "RetryPolicy", "retry_policy", "RETRY_POLICY", "retry-policy"), ("utf8", "UTF_8", "utf-8")],
)
def test_spellings_of_a_name_squash_to_one(spellings: tuple[str, ...]) -> None:
    assert len({squash(spelling) for spelling in spellings}) == 1


def test_parts_are_not_stemmed() -> None:
    assert parts("HTTPServer2_running") == ["http", "server", "2", "running"]


def test_a_very_long_word_is_cut_and_still_meets_itself() -> None:
    digest = "0123456789abcdef" * 8
    assert terms(digest) == [digest[: tokenizer.MAX_WORD]]
    assert terms("x" * 5000) == terms("X" * 6000)


def test_every_pair_of_a_long_text_without_spaces_is_a_term() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(3 * tokenizer.MAX_WORD))
    assert terms(text) == [text[at : at + 2] for at in range(len(text) - 1)]


def test_term_keys_are_24_bits_and_the_same_everywhere() -> None:
    assert [term_key(term) for term in ("retri", "größe", "設定", "\ud800")] == [3364673, 6017961, 3929300, 1950885]


PIECES = st.sampled_from(
    [*"_2é設定が한ßİ-. \n\ud800\u200d🙂", "foo", "Bar", "HTTP", "e\u0301", "ing", "ies", "ment", "ations", "x" * 70]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))


@given(TEXTS)
def test_any_text_gives_terms_that_can_be_looked_up(text: str) -> None:
    for term in terms(text):
        assert term
        assert not term.isspace()
        assert " " not in term  # documents are handed to the text index as terms with blanks between
        assert 0 <= term_key(term) < 1 << 24


@given(TEXTS)
def test_the_terms_of_a_text_are_those_of_its_words(text: str) -> None:
    one_by_one = [term for word in words(text) for term in terms_of(word)]
    assert terms(text) == one_by_one
    assert joined_terms(words(text)).split() == one_by_one


@given(TEXTS, TEXTS)
def test_what_is_indexed_is_what_is_asked(before: str, text: str) -> None:
    """A word has the same terms whatever stands around it and in either form of Unicode."""
    assert terms(f"{before} {text}") == terms(before) + terms(text)
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


@given(TEXTS)
def test_caches_change_nothing(text: str) -> None:
    warm = terms(text), joined_terms(words(text))
    for cache in (tokenizer._terms, tokenizer._stems, tokenizer._joined):
        cache.clear()
    assert (terms(text), joined_terms(words(text))) == warm


def test_caches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for cache in (tokenizer._terms, tokenizer._stems, tokenizer._joined):
        monkeypatch.setattr(cache, "_most", 50)
    many = [f"word{chr(97 + n % 26)}{chr(97 + n // 26)}ed" for n in range(500)]
    expected = [term for word in many for term in tokenizer._terms_of(word)]
    assert terms(" ".join(many)) == expected
    assert joined_terms(many).split() == expected
    assert max(len(tokenizer._terms), len(tokenizer._stems), len(tokenizer._joined)) <= 52


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_words_are_the_ones_that_unicode_sees(text: str) -> None:
    assert words(text) == re.findall(r"\w+", text)


@given(st.text("abcdeginrstuyl", max_size=12))
def test_stems_are_short_and_never_empty(word: str) -> None:
    found = stem(word)
    assert bool(found) == bool(word)
    assert len(found) <= len(word) + 1


@given(st.one_of(st.text(max_size=80), st.text("abzAZ09_.é漢ß", max_size=80)))
def test_the_whole_of_a_word_is_its_last_term(word: str) -> None:
    assert whole_term(word) == (terms_of(word) or ("",))[-1]


@given(st.text(max_size=20))
def test_squashed_is_what_is_left_without_separators(word: str) -> None:
    assert squash(word) == "".join(char for char in unicodedata.normalize("NFC", word).lower() if char.isalnum())


@given(st.text("abcdeginrstuylmoz", min_size=1, max_size=12))
def test_a_stem_begins_as_its_word_does(word: str) -> None:
    assert word.startswith(stem(word)[:3])
