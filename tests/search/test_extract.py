"""Answers in the documents' own words: what is chosen, what it is cut to, and that nothing is made up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from hypothesis import given
from hypothesis import strategies as st

from findling.model import tokenizer
from findling.search.analysis import analyse
from findling.search.extract import (
    EXTRACT_CHARS,
    Excerpt,
    Group,
    Paragraph,
    PassageText,
    cut_between_words,
    extract,
    groups_of,
    trimmed,
)
from findling.search.readings import Said, nothing_near

Closeness = Callable[[Sequence[str]], Sequence[float]]


def weights(question: str) -> dict[str, float]:
    return dict.fromkeys(tokenizer.terms(question), 1.0)


def passage(*paragraphs: tuple[str, str], path: str = "a.md", value: float = 1.0, heading: str = "") -> PassageText:
    found, line = [], 1
    for kind, text in paragraphs:
        found.append(Paragraph(kind, text, line, line + text.count("\n")))
        line += text.count("\n") + 2
    return PassageText(path, (heading,) if heading else (), value, tuple(found))


def extracted(
    question: str, passages: Sequence[PassageText], closeness: Closeness | None = None
) -> tuple[Excerpt, ...]:
    said = Said(analyse(question), weights(question), nothing_near)
    return extract(weights(question), said.shares, passages, closeness)


def answer(excerpts: tuple[Excerpt, ...]) -> str:
    return "\n\n".join(excerpt.text for excerpt in excerpts)


def test_the_paragraph_that_says_it_leads() -> None:
    found = extracted(
        "reload the configuration",
        [
            passage(
                ("prose", "The server listens on a port that can be chosen freely by everybody."),
                ("prose", "To reload the configuration, send the process a hangup signal. Nothing is lost by that."),
            )
        ],
    )
    assert found[0].text.startswith("To reload the configuration")
    assert (found[0].start_line, found[0].end_line) == (3, 3)


def test_what_is_introduced_comes_along_and_markup_does_not() -> None:
    found = extracted(
        "install package",
        [
            passage(
                ("prose", "[![badge](x.svg)](y)"),
                ("protected", "<!-- install the package: a note to editors -->"),
                ("prose", "Install the\npackage with:"),
                ("protected", "```sh\npip install porter\n```"),
                ("protected", "```mermaid\ngraph install package\n```"),
            )
        ],
    )
    assert answer(found) == "Install the package with:\n```sh\npip install porter\n```"


def test_the_same_is_not_said_twice() -> None:
    said = ("prose", "Parcels wait in the dead letter queue until a person looks at them.")
    found = extracted("where do parcels wait", [passage(said), passage(said, path="b.md", value=0.9)])
    assert [excerpt.path for excerpt in found] == ["a.md"]


def test_documents_say_different_things() -> None:
    one = passage(("prose", "Parcels wait in the dead letter queue."))
    other = passage(("prose", "Late parcels wait at the customs office for stamps."), path="b.md", value=0.95)
    assert [excerpt.path for excerpt in extracted("where do parcels wait", [one, other])] == ["a.md", "b.md"]


def test_markup_around_words_goes_and_placeholders_in_code_stay() -> None:
    (group,) = groups_of(
        passage(("prose", "> [!NOTE]\n> Call <b>now</b> `<app-name>.local` or <https://x.y>.")).paragraphs
    )
    assert group.text == "Call now `<app-name>.local` or <https://x.y>."


def test_long_things_are_cut_to_what_answers() -> None:
    sentences = [f"Sentence number {number} speaks of nothing at all." for number in range(30)]
    sentences[17] = "The walrus reloads the configuration."
    text, _, _ = trimmed(Group((Paragraph("prose", " ".join(sentences), 1, 1),)), weights("walrus configuration"), 200)
    assert "The walrus reloads the configuration." in text
    assert len(text) <= 200 and text.endswith(" ...")
    items = "\n".join(f"- item {number}" for number in range(60)) + "\n- the walrus item"
    text, start, end = trimmed(Group((Paragraph("list", items, 5, 65),)), weights("walrus"), 100)
    assert text.endswith("- the walrus item") and len(text) <= 100
    assert (start, end) == (end - text.count("\n"), 65)
    code = "```py\n" + "\n".join(f"call_{number}()" for number in range(60)) + "\n```"
    text, start, end = trimmed(Group((Paragraph("protected", code, 1, 62),)), weights("call 40"), 120)
    assert text.startswith("```py\n") and text.endswith("\n```") and "call_40()" in text and len(text) <= 120
    assert start <= 42 <= end


def test_words_are_not_cut_apart() -> None:
    text = "alpha beta gamma"
    for chars in range(8, 16):
        cut = cut_between_words(text, chars)
        assert len(cut) <= chars
        assert cut.removesuffix("...").rstrip() in ("alpha", "alpha beta") or len(cut) < 9
    assert cut_between_words(text, 16) == text


def test_meaning_decides_where_words_do_not() -> None:
    passages = [passage(("prose", "Boil the carrots with salt."), ("prose", "Deliver parcels by van."))]
    found = extracted("soup", passages, lambda texts: [1.0 if "carrots" in text else 0.0 for text in texts])
    assert found[0].text.startswith("Boil the carrots with salt.")


KINDS = st.sampled_from(["prose", "list", "table", "indented", "protected", "html"])
PIECES = st.text(alphabet="ab .:\n`-|<>#*1日", max_size=400)


@given(st.lists(st.tuples(KINDS, PIECES), max_size=8), st.sampled_from(["a b", "", "日", "a"]))
def test_any_documents_give_an_answer_within_bounds(paragraphs: list[tuple[str, str]], question: str) -> None:
    found = extracted(question, [passage(*paragraphs), passage(*paragraphs, path="b.md")])
    assert len(answer(found)) <= EXTRACT_CHARS
    for excerpt in found:
        assert excerpt.text.strip()
        assert 1 <= excerpt.start_line <= excerpt.end_line


def test_nothing_gives_nothing() -> None:
    assert extracted("", []) == ()
    assert extracted("x", [passage(("prose", "---"))]) == ()


def test_a_section_that_is_about_it_leads_before_a_paragraph_that_mentions_it() -> None:
    """Whichever was found first: its heading says what the section is about."""
    about = passage(
        ("prose", "Parcels may have 40 MB; larger ones are cut in two."), path="a.md", heading="Upload limit"
    )
    mentions = passage(("prose", "Whoever has much to upload knows no limit of time."), path="b.md", heading="Queues")
    assert extracted("upload limit", [about, mentions])[0].path == "a.md"


def test_words_that_are_near_those_of_the_question_count() -> None:
    """As told by the bundled model."""

    def near(words: Sequence[str], texts: Sequence[Collection[str]]) -> list[list[float]]:
        return [[0.9 if word == "remove" and "Delete" in text else 0.0 for word in words] for text in texts]

    passages = [passage(("prose", "A parcel may be late.")), passage(("prose", "Delete parcels here."), path="b.md")]
    said = Said(analyse("remove a parcel"), weights("remove a parcel"), near)
    assert extracted("remove a parcel", passages)[0].path == "a.md"
    assert extract(weights("remove a parcel"), said.shares, passages)[0].path == "b.md"


def test_a_row_of_a_table_leads_before_a_paragraph_that_mentions_it() -> None:
    """A row is read with the table's first, which says what its cells are."""
    table = passage(
        ("table", "| option | default |\n| --- | --- |\n| upload limit | 40 MB |\n| retries | 3 |"), path="b.md"
    )
    mentions = passage(("prose", "The default of the upload limit does not count for parcels that wait."), path="a.md")
    assert extracted("default upload limit", [mentions, table])[0].path == "b.md"
    apart = passage(("table", "| upload | default |\n| --- | --- |\n| size | 40 MB |\n| limit | 3 |"), path="b.md")
    assert extracted("size limit", [mentions, apart])[0].path == "b.md"
