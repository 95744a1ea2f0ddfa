"""Which documents a question is about: plans, prefixes, tags from front matter, and the order of numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from findling.model.errors import InvalidInput
from findling.search.passages import DocumentScope, confined, front_matter, in_plan, prefix_order


@pytest.mark.parametrize(
    ("head", "tags"),
    [
        ("---\ntags: [limps/agent, \"b, c\", '#d']\n---\n", {"limps/agent", "b", "c", "d"}),
        ("---\ntags:\n  - mcp # not this\n  - Server\ntitle: X\n---\n", {"mcp", "server"}),
        ("---\ntags:\n- mcp\n- server\n---\n", {"mcp", "server"}),
        ("---\ntags: a, b,c\n---\n", {"a", "b", "c"}),
        ('---\ntags: "#a #b"\n---\n', {"a", "b"}),
        ("---\ntags: two words\n---\n", {"two words"}),
        ("---\ntags: [\n  a,\n  b\n]\n---\n", {"a", "b"}),
        ("---\r\ntags: [x]\r\n---\r\n", {"x"}),
        ("\ufeff---\ntags: [x]\n---\n", {"x"}),
        ('+++\ntags = ["x", "y"]\n+++\n', {"x", "y"}),
        ('+++\n[taxonomies]\ntags = ["x"]\n+++\n', {"x"}),
        ("+++\ntags = [broken\n+++\n", set()),
        ("---\ntags: []\n---\n", set()),
        ("---\ntags:\nother: |\n  - no\n---\n", set()),
        ("---\nnested:\n  tags: [no]\n---\n", set()),
        ("---\n\nA rule, then text: with a colon.\n", set()),
        ("# Title\n\n---\ntags: [no]\n---\n", set()),
    ],
)
def test_tags_of_a_head(head: str, tags: set[str]) -> None:
    assert front_matter(f"{head}# Text\n").tags == tags


def test_a_head_ends_where_the_document_begins() -> None:
    text = '---\ntitle: "A: b"\n---\n\n# Text\n'
    found = front_matter(text)
    assert (found.title, text[found.end :]) == ("A: b", "\n# Text\n")
    assert front_matter("# Text\n").end == 0


@given(st.text(alphabet="-+: \n\r\t[]\"'#,abc=\\", max_size=200))
def test_any_head_is_read(text: str) -> None:
    found = front_matter(text)
    assert 0 <= found.end <= len(text)
    assert all(tag and tag == tag.strip() for tag in found.tags)


@pytest.mark.parametrize(
    ("path", "plan", "inside"),
    [
        ("plans/0004-name/a.md", "4", True),
        ("plans/0004-name/agents/0/a.md", "0004", True),
        ("plans/4/a.md", "0004-name", True),
        ("plans/0042-name/a.md", "4", False),
        ("plans/0004-name.md", "4", False),
        ("old/plans/0004-name/a.md", "4", False),
        ("plans/notes/a.md", "notes", True),
        ("plans/notes/a.md", "4", False),
    ],
)
def test_plans(path: str, plan: str, inside: bool) -> None:
    assert in_plan(path, plan) is inside


@pytest.mark.parametrize(
    ("given_prefix", "prefix"),
    [("docs/", "docs/"), ("./a//b/../c", "a/c"), (".", ""), ("/r/x", "x"), ("/r", ""), ("/r/", ""), ("a/./", "a/")],
)
def test_prefixes(given_prefix: str, prefix: str) -> None:
    assert confined(given_prefix, "/r") == prefix


@pytest.mark.parametrize("prefix", ["..", "../x", "a/../../x", "/rest/x", "/"])
def test_prefixes_do_not_lead_out(prefix: str) -> None:
    with pytest.raises(InvalidInput, match="pathPrefix"):
        confined(prefix, "/r")


@given(st.text(alphabet="./ab~\\", max_size=20))
def test_no_prefix_climbs(prefix: str) -> None:
    try:
        found = confined(prefix, "/r")
    except InvalidInput:
        return
    assert not found.startswith("/") and ".." not in found.rstrip("/").split("/")


def test_tags_are_compared_without_case_and_sign() -> None:
    assert DocumentScope.of(tags=["#Net Work", " ", "x"]).tags == {"net work", "x"}


def test_numbers_are_in_their_order() -> None:
    agents = ["plans/0004-a/agents/000_x.md", "plans/0004-a/agents/001_x.md"]
    order = ["plans/0004-a/a.md", *agents, "plans/9-x", "plans/10-x"]
    shuffled = order[::-1]
    assert sorted(shuffled, key=prefix_order) == order


@given(st.lists(st.text(alphabet="/ab019-_.", max_size=12)))
def test_any_paths_have_an_order(paths: list[str]) -> None:
    assert sorted(sorted(paths, key=prefix_order)) == sorted(paths)


def test_names_of_fields_may_hold_blanks() -> None:
    assert front_matter("---\ndue  date : x\nother:\n---\n").fields == {"due  date": ("x",), "other": ()}
    assert front_matter(f"---\ntitle: x\na{' ' * 15_000}x\n---\n").fields == {"title": ("x",)}
