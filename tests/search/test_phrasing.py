"""A question in other words of courtesy, or with another mark at its end, is the same question."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.search.analysis import analyse
from findling.search.intent import classify
from findling.search.query import without_form

QUESTIONS = (
    "where is the retry policy",
    "how do I configure the proxy",
    "ConnectionPool.close",
    "src/net/socket.c",
    "parse HTTP/2 frames",
    "TypeError: 'NoneType' object is not iterable",
    "如何配置服务器",
)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "form",
    [
        "{}?", "{}.", "{}!", "{} ?", "{}？", "{}。", "  {}\n", "{}...", "¿{}?", "{}?!",
        "{}…", "{}, please", "{} please?", "Please: {}", "Please, {}?", "{}, thanks!",
        "{}. Thank you very much.", "{}; thx",
        "show me {}", "Show me: {}", "tell me {}?", "give me {}, please", "find me {}.",
        "Please show me: {}, thanks!", "could you please show me {}?", "Can you tell me {}, please?",
        "Would you mind telling me {}?", "Hi! Would you mind showing me {}? Thanks a lot.",
        "Hi, tell me: {}", "Hello! Please show me {}. Thanks a lot!",
    ],
)  # fmt: skip
def test_forms_of_a_question_are_analysed_alike(question: str, form: str) -> None:
    asked = form.format(question)
    assert analyse(asked) == analyse(question)
    assert classify(asked) == classify(question)


@given(
    st.sampled_from(QUESTIONS),
    st.text("?!.。？ \n", max_size=20),
    st.sampled_from(["", "show me ", "please show me: ", "hey, can you please tell me "]),
    st.sampled_from(["", " please", ", thanks", "! thank you", ", please"]),
)
def test_any_marks_and_courtesies_change_nothing(question: str, marks: str, before: str, after: str) -> None:
    assert analyse(f"{before}{question}{after}{marks}") == analyse(question)


COMPANY = "any I me our this we you".split()
LITTLE = [*COMPANY, *"a all can for have in it on so the to was".split()]
COURTEOUS = "anyone bother clue curious hello help hi ideas know morning question quick repo sorry team".split()
AROUND = ("{aside}{mark}{question}", "{question}{mark}{aside}", "{question} ({aside})")


@given(
    st.sampled_from(QUESTIONS),
    st.sampled_from(COMPANY),
    st.lists(st.sampled_from(LITTLE), max_size=3),
    st.lists(st.sampled_from(COURTEOUS), min_size=2, max_size=3),
    st.sampled_from([", ", ": ", "! ", ". ", " - ", " – ", "?\n\n", "... "]),
    st.sampled_from(AROUND),
    st.randoms(use_true_random=False),
)
def test_forms_that_nobody_listed_change_nothing(
    question: str, company: str, little: list[str], courteous: list[str], mark: str, form: str, random: Random
) -> None:
    words = [company, *little, *courteous]
    random.shuffle(words)
    asked = form.format(question=question, aside=" ".join(words), mark=mark)
    assert analyse(asked) == analyse(question)
    assert classify(asked) == classify(question)


@pytest.mark.parametrize(
    "form",
    [
        "Does anyone know {}", "Is anyone here? {}", "Is there any hint: {}", "What I want to know: {}",
        "Question: {}", "Help! {}", "Quick question - {}", "Hey team, {}", "In our repo, {}", "{}? Any hints?",
    ],
)  # fmt: skip
def test_asides_that_look_like_questions_or_subjects_change_nothing(form: str) -> None:
    question = "where is the retry policy"
    assert analyse(form.format(question)) == analyse(question)


@given(
    st.sampled_from(["", "ok so ", "well, ", "as a newcomer ", "As a new user, "]),
    st.sampled_from(["I", "I'd", "we", "can you", "could anybody", "does someone"]),
    st.lists(st.sampled_from("just really also to so here".split()), max_size=2),
    st.sampled_from(["wonder", "like to understand", "try to find out", "explain to me", "want to know", "ask"]),
    st.sampled_from(["", "?", " to me?", " for us.", "? Cheers, Tom", ". Kind regards, Ann Lee", " (urgent!)"]),
)
def test_who_asks_is_no_part_of_the_question(
    before: str, person: str, little: list[str], asks: str, after: str
) -> None:
    question = "where is the retry policy"
    asked = f"{before}{' '.join([person, *little, asks])} {question}{after}"
    assert analyse(asked) == analyse(question)


@pytest.mark.parametrize("write", [str.upper, str.title])
def test_capitals_throughout_make_no_names(write: Callable[[str], str]) -> None:
    question = "where is the retry policy"
    assert analyse(write(question)) == analyse(question)
    assert classify(write(question)).intent == classify(question).intent
    assert analyse(write("RETRY_POLICY")).text == write("RETRY_POLICY")


@pytest.mark.parametrize("form", ["> {}", "- {}", "## {}", "1. {}", "**{}**", "*{}*", "{} :)", "**{}?** :-)"])
def test_marks_of_markdown_change_nothing(form: str) -> None:
    question = "where is the retry policy"
    assert analyse(form.format(question)) == analyse(question)


@pytest.mark.parametrize(
    "text",
    [
        "a quick sort, stable and in place",
        "what do I need to know when the version changes",
        "how do I find out which theme is used",
        "In the parser, can you explain how tokens are read",
        "we look up names when the module is loaded",
        "as a user logs in, what is stored",
        "help: usage",
        "need more memory",
        "repo: name",
        "urgent queue - priority",
        "__init__ and __new__",
        "*args and **kwargs",
        "*args and **kwargs*",
        "# define FOO",
        "where is the repository, project",
        "What is a repository and where is it created",
        "What is the project, and how is it loaded",
        "where is help and where is version",
        "what does help do when there is no command",
        "how does the project know which repository is meant",
        "How does explain know which index is used",
        "Is there a short help, and where is it printed",
        "where is the version, and where is help",
        "where is it printed: help",
        "Please install the missing package",
        "please",
        "thanks",
        "how to write a mail that says thanks",
        "show me",
        "a?.b",
        "a.b?.c",
        "greet the user with hello world",
        "give up after three attempts",
        "hello world",
        "hello.py",
        "hello/main.go",
        "hi.txt",
        "hello-world",
        "Hello, world",
        "sys.exit.please",
        "README.please",
        "music/list.pls",
        "find methods by name",
    ],
)
def test_what_is_asked_about_stays(text: str) -> None:
    assert without_form(text) == text


@pytest.mark.parametrize("text", ["?", "...", "!", "？", ""])
def test_marks_alone_stay(text: str) -> None:
    assert without_form(text) == text


@given(st.text())
def test_what_is_left_is_part_of_the_text_and_left_alone_the_next_time(text: str) -> None:
    left = without_form(text)
    assert left in text
    assert left.strip() or not text.strip()


def test_many_spaces_take_no_time() -> None:
    """Time that grows with the square would be hours."""
    text = "a;" + " " * 1_000_000 + "h"
    assert without_form(text) == text
