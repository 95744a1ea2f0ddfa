"""Code or documents: which answers first, when both are told apart, and what stands under another file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from findling import Engine
from findling.model.types import SearchResult

UPLOADS = """\
\"\"\"Receives uploads.\"\"\"


def receive(stream, limit):
    \"\"\"Store the upload of a file in pieces, and refuse an upload beyond the limit.\"\"\"
    stored = 0
    for piece in stream:
        stored += len(piece)
        if stored > limit:
            raise UploadTooLarge(stored)
    return stored


class UploadTooLarge(Exception):
    \"\"\"An upload is larger than the limit.\"\"\"
"""

PAGE = """\
# Uploads

An upload is stored in pieces. An upload of a file beyond the limit is refused. Set the limit of an upload in the
configuration, and read here how an upload of a file is stored, and how large an upload may be.

## Limits of an upload

The limit of an upload is counted in bytes. Raise the limit before an upload of a large file.
"""

SEITE = """\
# Uploads

Ein Upload wird in Stücken gespeichert. Ein Upload über dem Limit wird abgelehnt: upload limit, file, stored, pieces.

## Limits

Das Limit (limit of an upload) wird in Bytes gezählt.
Zuerst das Limit, dann der Upload.
"""

QUEUE = """\
/** Keeps letters until the postman comes. */
export class LetterQueue {
  deliver(postman, bell) {
    if (!postman.carries(this.heaviest)) throw new Error("the heaviest letter stays for another postman");
    while (this.letters.length) bell.ring(postman.take(this.letters.shift()));
  }
}
"""

STAMPS = """/** Price of a letter by weight, country and colour of its stamp. */
export function stampPrice(weight, country, colour) {
  const basic = country.inland ? 85 : 110;
  if (colour === "violet") return basic + surcharge(weight, country.zone);
  return weight > heaviest ? parcelPrice(weight) : basic;
}
"""

FILES = {
    "web/queue.js": QUEUE,
    "web/stamps.js": STAMPS,
    "dist/post.js": f"(function (global) {{\n{QUEUE}\n{STAMPS}\n}})(this);\n".replace("export ", ""),
    "src/uploads.py": UPLOADS,
    "src/v1/uploads.py": UPLOADS.replace("in pieces", "at once"),
    "src/clock.py": "def now():\n    return 0\n",
    "docs/en/uploads.md": PAGE,
    "docs/de/uploads.md": SEITE,
    "docs/fr/uploads.md": SEITE.replace("Ein Upload", "Un upload"),
    "docs/ml/colours.md": "# Colours\n\nThe colours of a chart are learned from photographs.\n",
    "docs/colours.md": "# Colours\n\nThe colours of a chart are chosen by hand.\n",
    "notes/2.1/summary.md": "# Summary\n\nAn upload is refused beyond the limit, as of spring.\n",
    "notes/2.2/summary.md": "# Summary\n\nWinter brings colours, clocks and faster listings to the upload.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("sides")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    with Engine.open(root=root) as opened:
        opened.index()
        yield opened


def ask(engine: Engine, text: str, **options: object) -> SearchResult:
    return engine.search(text, wait_s=0.0, explain=True, **options)  # type: ignore[arg-type]


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


def test_a_question_about_the_code_is_answered_by_code_before_the_documents(engine: Engine) -> None:
    found = ask(engine, "which function refuses an upload of a file beyond the limit")
    assert found.hits[0].path == "src/uploads.py"
    assert found.groups == (), "one side is meant"
    documents = [hit for hit in found.hits if hit.group == "docs"]
    assert "docs/en/uploads.md" in [hit.path for hit in documents]
    assert all("beside" in {reason.signal for reason in hit.reasons} for hit in documents)


def test_who_wants_to_be_told_what_to_do_gets_documents_first(engine: Engine) -> None:
    found = ask(engine, "how do I raise the limit of an upload")
    assert found.hits[0].path == "docs/en/uploads.md"
    assert not any(reason.signal == "beside" for hit in found.hits for reason in hit.reasons)


@pytest.mark.parametrize(
    "text", ["upload of a file beyond the limit", "uploads beyond limit", "how uploads are stored"]
)
def test_a_word_that_only_suggests_the_code_does_not_hide_the_best_document(engine: Engine, text: str) -> None:
    found = ask(engine, text)
    assert "docs/en/uploads.md" in paths(found)[:2]


def test_two_groups_hold_all_hits_once_and_the_surer_is_first(engine: Engine) -> None:
    found = ask(engine, "how uploads are stored")
    assert found.groups == ("code", "docs")
    assert found.hits[0].group == found.groups[0]
    grouped = dict(found.in_groups())
    assert sorted(hit.path for hits in grouped.values() for hit in hits) == sorted(paths(found))
    for group, hits in grouped.items():
        assert hits and all(hit.group == group for hit in hits)
        assert [hit.path for hit in hits] == [hit.path for hit in found.hits if hit.group == group]


@pytest.mark.parametrize("text", ["raise the limit of an upload", "raise the limit", "how uploads are stored"])
def test_the_first_group_has_the_first_hit(engine: Engine, text: str) -> None:
    found = ask(engine, text)
    assert found.groups[:1] in ((), (found.hits[0].group,))


@pytest.mark.parametrize("options", [{"kind": "code"}, {"kind": "docs"}, {"limit": 1}])
def test_one_side_alone_is_no_group(engine: Engine, options: dict[str, object]) -> None:
    found = ask(engine, "how uploads are stored", **options)
    assert found.hits
    assert found.groups == ()
    assert list(found.in_groups()) == [(None, found.hits)]


def test_translations_stand_under_the_page_in_english(engine: Engine) -> None:
    found = ask(engine, "how do I raise the limit of an upload")
    page = next(hit for hit in found.hits if hit.path == "docs/en/uploads.md")
    assert page.translations == ("docs/de/uploads.md", "docs/fr/uploads.md")
    assert not set(page.translations) & set(paths(found))


def test_translations_are_counted_within_the_scope(engine: Engine) -> None:
    found = ask(engine, "how do I raise the limit of an upload", path_globs=("docs/en/**", "docs/fr/**"))
    assert found.hits[0].translations == ("docs/fr/uploads.md",)


def test_a_folder_that_only_looks_like_a_language_is_none(engine: Engine) -> None:
    found = ask(engine, "how do I choose the colours of a chart")
    assert {"docs/ml/colours.md", "docs/colours.md"} <= set(paths(found))


def test_a_question_in_another_language_keeps_the_likeliest_page(engine: Engine) -> None:
    found = ask(engine, "Wie wird ein Upload in Stücken gespeichert")
    pages = [path for path in paths(found) if path.endswith("/uploads.md")]
    assert len(pages) == 1


def test_an_older_copy_stands_under_the_file_that_is_meant(engine: Engine) -> None:
    found = ask(engine, "refuse an upload beyond the limit")
    code = next(hit for hit in found.hits if hit.path == "src/uploads.py")
    assert code.copies == ("src/v1/uploads.py",)
    assert "src/v1/uploads.py" not in paths(found)


@pytest.mark.parametrize(
    "text",
    [
        "refuse an upload in v1",
        "the old way to refuse an upload",
        "what refuses an upload in src/v1/uploads.py:4",
        'what refuses an upload after "Store the upload of a file at once"',
    ],
)
def test_who_asks_for_the_older_copy_gets_it(engine: Engine, text: str) -> None:
    assert "src/v1/uploads.py" in paths(ask(engine, text))


@pytest.mark.parametrize(
    "text",
    ["how does the queue deliver letters to the postman", "Error: the heaviest letter stays for another postman"],
)
def test_what_was_built_from_several_sources_stands_under_the_likeliest(engine: Engine, text: str) -> None:
    found = ask(engine, text)
    assert (found.hits[0].path, found.hits[0].copies) == ("web/queue.js", ("dist/post.js",))
    assert "dist/post.js" not in paths(found)


def test_one_of_several_bundles_and_forms_of_a_module_is_shown(tmp_path: Path) -> None:
    for path in ("dist/node/post.cjs", "dist/post.js", "dist/esm/post.js", "index.d.ts", "index.d.cts"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(STAMPS if path.startswith("index") else f"{QUEUE}{STAMPS}", encoding="utf-8")
    with Engine.open(root=tmp_path) as opened:
        opened.index()
        found = ask(opened, "which price has a stamp by weight and colour")
        assert sorted(len(hit.copies) for hit in found.hits) == [1, 2]
        (tmp_path / "queue.js").write_text(QUEUE, encoding="utf-8")
        (tmp_path / "stamps.js").write_text(STAMPS, encoding="utf-8")
        opened.index()
        [copies] = {hit.copies for hit in ask(opened, "how is a letter delivered").hits if len(hit.copies) > 1}
        assert copies == ("dist/esm/post.js", "dist/node/post.cjs", "dist/post.js")


def test_a_place_that_a_trace_names_in_a_bundle_is_shown(engine: Engine) -> None:
    trace = "Error: the heaviest letter stays\n    at deliver (/app/{}:5:3)\n    at main (/app/run.js:1:1)\n"
    assert "dist/post.js" in paths(ask(engine, trace.format("dist/post.js")))
    assert "dist/post.js" not in paths(ask(engine, trace.format("web/queue.js")))


@pytest.mark.parametrize("text", ["how are letters delivered in dist/post.js", "dist/post.js", "letters in the bundle"])
def test_who_asks_for_what_was_built_gets_it(engine: Engine, text: str) -> None:
    assert "dist/post.js" in paths(ask(engine, text))


def test_files_that_are_only_called_the_same_are_no_copies(engine: Engine) -> None:
    found = ask(engine, "what is said of an upload")
    assert {"notes/2.1/summary.md", "notes/2.2/summary.md"} <= set(paths(found))
    assert not any(hit.copies for hit in found.hits if hit.path.startswith("notes/"))


def test_a_long_question_is_told_by_what_a_file_says_more_than_by_its_name(engine: Engine) -> None:
    short = ask(engine, "uploads stored pieces refused")
    long = ask(
        engine, "what stores an upload in pieces and refuses whatever larger file stands beyond limit counted in bytes"
    )

    def shares(result: SearchResult) -> dict[str, float]:
        hit = next(hit for hit in result.hits if hit.path == "src/uploads.py")
        return {reason.signal: reason.value for reason in hit.reasons}

    assert "told" not in shares(short)
    assert shares(long)["told"] > 0
    assert shares(long)["path"] < shares(short)["path"]
