"""A question in other words of courtesy, or with another mark at its end, is the same question."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    "text",
    [
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
