from __future__ import annotations

import pytest

from findling.model.errors import InvalidInput
from findling.model.types import Query
from findling.search.query import taken_from_text


@pytest.mark.parametrize(
    ("text", "left", "globs", "language", "kind"),
    [
        ("retry path:src/", "retry", ("src/",), None, None),
        ("path:src/ -path:tests lang:go in:docs how is it done?", "how is it done?", ("src/", "!tests"), "go", "docs"),
        ("where language:c++ is  it  in:tests", "where is it", (), "c++", "tests"),
        ("open path:a/**/*.py path:*.go", "open", ("a/**/*.py", "*.go"), None, None),
    ],
)
def test_filters_are_taken_out_of_the_question(
    text: str, left: str, globs: tuple[str, ...], language: str | None, kind: str | None
) -> None:
    taken = taken_from_text(Query(text))
    assert (taken.text, taken.path_globs, taken.language, taken.kind) == (left, globs, language, kind)
    assert all(part in taken.notes[0] for part in text.split() if ":" in part)


@pytest.mark.parametrize(
    "query",
    [
        Query("where is def read(path:str) called"),
        Query('"path:src/" is not found'),
        Query("what does `lang:go` mean"),
        Query("in: the box, path: none"),
        Query("in:boxes"),
        Query("lang:"),
        Query("filepath:src"),
        Query("C:\\path:x"),
        Query("Traceback\n  path:src/a.py"),
        Query("path:src retry", mode="exact"),
        Query("path:src lang:go"),
        Query(f"path:src {'word ' * 300}"),
    ],
)
def test_what_is_no_filter_stays(query: Query) -> None:
    assert taken_from_text(query) is query


def test_filters_join_those_that_were_given() -> None:
    taken = taken_from_text(Query("retry path:src lang:go", path_globs=("lib",), language="go"))
    assert (taken.path_globs, taken.language) == (("lib", "src"), "go")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (Query("retry lang:go lang:rust"), "go and as rust"),
        (Query("retry in:docs", kind="code"), "code and as docs"),
        (Query("retry in:doc"), "in:doc is not a filter. Did you mean in:docs?"),
    ],
)
def test_contradictions_and_misspellings_are_refused(query: Query, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        taken_from_text(query)
