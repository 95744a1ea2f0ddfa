"""What holds for every answer of every tool, in every state of the embedding model, the index and the folders.

The states are made of real folders, real indexes and a server that speaks Ollama's protocol; nothing here knows what a
tool would find, only what no answer may say. `make e2e` asks all of it of a server process through a client; the suite
asks two states so.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters

sys.path.insert(0, str(Path(__file__).parent.parent / "embedding"))
from ollama_process import OllamaProcess

from findling.contracts import TOOLS, Workspace, call
from findling.embedding.providers.ollama import forget
from findling.engine import Engine, first_answers, freshness
from findling.model.languages import language_of
from findling.store.local import soundness
from findling.store.local.lock import WriterLock
from postgresql_server import Server
from tests.contracts.conftest import FILES, WAITING, write_files

MODEL = "nomic-embed-text"
NOWHERE = "http://127.0.0.1:9"
"""An address where nothing listens."""

EMBEDDERS = ("bundled", "off", "ollama", "ollama gone", "ollama without the model", "ollama too slow")
ANEW = "being built anew"
"""Beside one that is stale; it answers until the new one is whole."""
INDEXES = ("none", "whole", "half embedded", "stale", "being written", ANEW)

LATER = {
    "src/late/arrived.py": '"""Came after the index."""\n\n\ndef late_arrival(request):\n    return request\n',
    "docs/late.md": "# Late\n\nA request that arrives late is sent again.\n",
}
CHANGED = "src/billing/invoice.py"


class State(NamedTuple):
    embedder: str
    index: str
    folders: str

    def __str__(self) -> str:
        return ", ".join(self)


def all_states() -> list[State]:
    """Each embedder with each index, in folders such that every embedder and every index meets each kind of folders.
    Half of them are of one folder, as the others take three times as long."""
    of = {0: "one", 1: "one", 2: "several", 3: "mixed", 4: "one is gone", 5: "one"}
    return [
        State(embedder, index, of[(at - row) % len(INDEXES)])
        for row, embedder in enumerate(EMBEDDERS)
        for at, index in enumerate(INDEXES)
    ]


# --- making them ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def servers() -> Iterator[Mapping[str, OllamaProcess]]:
    """By the state of the embedder that they make."""
    started = {
        "ollama": OllamaProcess(),
        "ollama without the model": OllamaProcess(),
        "ollama too slow": OllamaProcess(),
    }
    started["ollama without the model"].behave(models={"all-minilm:latest": 384})
    started["ollama too slow"].behave(delay_s=0.5)
    yield started
    for server in started.values():
        server.stop()


class Folders:
    """One folder for each state of an embedder and an index, made once."""

    def __init__(self, place: Path, servers: Mapping[str, OllamaProcess]) -> None:
        self.place, self.servers = place, servers
        self._made: dict[tuple[str, str, str], Path] = {}

    def of(self, name: str, embedder: str, index: str) -> Path:
        key = (name, embedder, index)
        if key not in self._made:
            self._made[key] = self._make(*key)
        return self._made[key]

    def _make(self, name: str, embedder: str, index: str) -> Path:
        root = write_files(self.place / f"{embedder} {index}".replace(" ", "-") / name)
        if index != "none":
            self._configure(root, "ollama" if embedder.startswith("ollama") else embedder)
            with Engine.open(root=root) as engine:
                engine.index(embed=index != "half embedded")
                if index == "half embedded" and embedder != "off":
                    engine.reembed(["docs/guide.md", "src/main.py"], anew=False)
        if index in ("stale", "being written", ANEW):
            for path, text in LATER.items():
                (root / path).parent.mkdir(exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            (root / CHANGED).write_text((root / CHANGED).read_text("utf-8") + "\n\nCHANGED = True\n", encoding="utf-8")
            (root / "five.txt").unlink()
        self._configure(root, embedder)
        return root

    def _configure(self, root: Path, embedder: str) -> None:
        semantic: dict[str, Any] = {"autoIndex": False}
        if embedder == "off":
            semantic["enabled"] = False
        elif embedder != "bundled":
            server = self.servers.get(embedder)
            semantic |= {"model": MODEL, "ollamaUrl": server.url if server else NOWHERE}
        if embedder == "ollama too slow":
            semantic |= {"timeoutMs": 100, "maxRetries": 0}
        (root / ".findling").mkdir(exist_ok=True)
        (root / ".findling" / "config.json").write_text(json.dumps({"semantic": semantic}), encoding="utf-8")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, servers: Mapping[str, OllamaProcess]) -> Iterator[Folders]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("FINDLING_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        yield Folders(tmp_path_factory.mktemp("states").resolve(), servers)


class Told(NamedTuple):
    """An answer. ``facts`` are its fields, {} where it has none; ``text`` all that a reader sees."""

    facts: dict[str, Any]
    text: str
    is_error: bool

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The places in it, whatever the tool calls them."""
        return next((self.facts[key] for key in ("results", "similar", "symbols", "sources") if key in self.facts), [])

    @property
    def is_partial(self) -> bool:
        about = {**self.facts, **self.facts.get("meta", {}), **self.facts.get("metadata", {})}
        return about.get("result_completeness") == "partial" or about.get("freshness_status", "fresh") != "fresh"


Ask = Callable[[str, dict[str, Any]], tuple[dict[str, Any] | None, list[str], bool]]
"""Calls a tool; the fields, the texts and whether it is an error."""


@contextmanager
def in_this_process(roots: list[Path]) -> Iterator[Ask]:
    with Workspace(roots=roots) as workspace:

        def ask(tool: str, given: dict[str, Any]) -> tuple[dict[str, Any] | None, list[str], bool]:
            result = call(tool, given, workspace)
            return result.structured, result.text_blocks, result.is_error

        yield ask


@contextmanager
def of_a_server(roots: list[Path]) -> Iterator[Ask]:
    """Through the SDK's client, over the pipes of a process."""
    named = [word for root in roots for word in ("--root", str(root))]
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "findling", "serve", *named], env=dict(os.environ)
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:

        def ask(tool: str, given: dict[str, Any]) -> tuple[dict[str, Any] | None, list[str], bool]:
            result = portal.call(client.call_tool, tool, given)
            return result.structured_content, [block.text for block in result.content], bool(result.is_error)

        yield ask


class Asked(NamedTuple):
    """Tools in some state. ``roots``: by the first part of a path ('' where there is one root only) those whose files
    can be in an answer."""

    state: State
    ask: Ask
    roots: Mapping[str, Path]


def all_ways() -> Iterator[Any]:
    quick = {State("bundled", "half embedded", "several"), State("ollama gone", "stale", "one")}
    assert quick < {*all_states()}
    for state in all_states():
        yield pytest.param((in_this_process, state), id=str(state))
        marks = () if state in quick else pytest.mark.e2e
        yield pytest.param((of_a_server, state), id=f"{state}, served", marks=marks)


@pytest.fixture(params=all_ways(), scope="module")
def asked(request: pytest.FixtureRequest, folders: Folders) -> Iterator[Asked]:
    opened, state = request.param
    forget()
    first = folders.of("first", state.embedder, state.index)
    named = {"first": first}
    given = [first]
    if state.folders != "one":
        second = folders.of("second", "bundled" if state.folders == "mixed" else state.embedder, state.index)
        given.append(second)
        if state.folders != "one is gone":
            named["second"] = second
    else:
        named = {"": first}
    try:
        with ExitStack() as held, opened(given) as ask:
            for root in named.values():
                if state.index == "being written":
                    held.callback(WriterLock(root / ".findling", wait_s=0).release)
                if state.index == ANEW:
                    begun = held.enter_context(soundness.beside(root / ".findling", wait_s=0))
                    shutil.copy(root / ".findling" / "index.db", begun)
            if state.folders == "one is gone":
                held.callback(second.rename(second.with_name("gone")).rename, second)
            yield Asked(state, ask, named)
    finally:
        forget()


# --- what is asked -------------------------------------------------------------------------------------------------

QUESTION = "how is a failed request sent again"
NOTHING = "xylophone quokka zeppelin"
NAME = "Client"
NO_NAME = "ZzyzxQuokka"
LATE = "late_arrival"
"""A name in a file that came after the index."""

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_code", {"query": QUESTION}),
    ("search_code", {"query": QUESTION, "semantic_ratio": 0.5, "limit": 1}),
    ("search_code", {"query": QUESTION, "max_tokens": 200, "detail_level": "auto"}),
    ("search_code", {"query": QUESTION, "path": "**/http/*", "language": "python"}),
    ("search_code", {"query": NOTHING}),
    ("search_code", {"query": NO_NAME}),
    ("search_code", {"query": NAME}),
    ("search_code", {"query": "src/http/client.py"}),
    ("locate_symbol", {"name": NAME}),
    ("locate_symbol", {"name": NAME, "limit": 1}),
    ("locate_symbol", {"name": NO_NAME}),
    ("get_file_outline", {"path": "src/http/client.py"}),
    ("get_file_outline", {"path": "src/http/nothing.py"}),
    ("index_status", {}),
    ("health_check", {}),
    ("semantic_search", {"query": QUESTION}),
    ("semantic_search", {"query": QUESTION, "threshold": 0}),
    ("semantic_search", {"query": QUESTION, "threshold": 0.3}),
    ("semantic_search", {"query": QUESTION, "threshold": 1}),
    ("semantic_search", {"query": QUESTION, "threshold": 0, "limit": 1}),
    ("search_docs", {"query": "the program", "limit": 1}),
    ("find_similar", {"docPath": "docs/guide.md", "limit": 1}),
    ("semantic_search", {"query": NOTHING, "threshold": 0.5}),
    ("find_similar", {"docPath": "docs/guide.md"}),
    ("find_similar", {"docPath": "docs/none.md"}),
    ("query_docs", {"query": QUESTION}),
    ("query_docs", {"query": QUESTION, "preferSemantic": False}),
    ("query_docs", {"query": NOTHING}),
    ("search_docs", {"query": "program"}),
    ("search_docs", {"query": "program", "limit": 1}),
    ("search_docs", {"query": NOTHING}),
    ("search_semantic", {"query": QUESTION}),
    ("search_semantic", {"query": QUESTION, "path": "**/http/*", "language": "python"}),
    ("search_semantic", {"query": QUESTION, "top_k": 1}),
    ("hybrid_search", {"query": QUESTION}),
    ("hybrid_search", {"query": QUESTION, "path": "**/http/*", "language": "python"}),
    ("hybrid_search", {"query": NO_NAME}),
    ("hybrid_search", {"query": QUESTION, "top_k": 1}),
    ("search_keyword", {"query": "request"}),
    ("search_keyword", {"query": "request", "top_k": 1}),
    ("search_keyword", {"query": "request", "path": "**/http/*", "language": "python"}),
    ("search_keyword", {"query": NO_NAME}),
    ("find_symbol", {"name": "retry"}),
    ("find_symbol", {"name": "retry", "limit": 1}),
    ("find_symbol", {"name": NO_NAME}),
    ("list_defs_in_file", {"path": "src/http/client.py"}),
    ("get_file", {"path": "src/http/client.py"}),
    ("get_file", {"path": "src/http/client.py", "max_tokens": 20}),
    ("search_documents", {"query": QUESTION, "options": {"minScore": 0}}),
    ("search_documents", {"query": QUESTION, "options": {"minScore": 0, "limit": 1}}),
    ("search_documents", {"query": QUESTION, "options": {"minScore": 0.3}}),
    ("search_documents", {"query": QUESTION, "options": {"minScore": 1}}),
    ("search_documents", {"query": NOTHING, "options": {"minScore": 0.5}}),
    ("search_code", {"query": LATE}),
    ("locate_symbol", {"name": LATE}),
    ("find_symbol", {"name": LATE}),
    ("search_keyword", {"query": LATE}),
    ("hybrid_search", {"query": LATE}),
]
PATHS = {"get_file_outline": "path", "find_similar": "docPath", "list_defs_in_file": "path", "get_file": "path"}


def ask(asked: Asked, tool: str, given: Mapping[str, Any]) -> Told:
    if "" not in asked.roots and tool in PATHS:
        given = {**given, PATHS[tool]: f"first/{given[PATHS[tool]]}"}
    facts, texts, is_error = asked.ask(tool, dict(given))
    if facts is None and tool == "search_documents" and not is_error:
        facts = json.loads(texts[1])
    return Told(facts or {}, "\n".join(texts), is_error)


def path_of(place: Mapping[str, Any]) -> str:
    return str(next(place[key] for key in ("path", "docPath", "p", "filePath", "file_path") if key in place))


def file_of(asked: Asked, place: Mapping[str, Any]) -> Path:
    path = path_of(place)
    if path.startswith("/"):
        return Path(path)
    if "" in asked.roots:
        return asked.roots[""] / path
    name, _, rest = path.partition("/")
    return asked.roots[name] / rest


def texts_of(asked: Asked) -> Iterator[str]:
    for root in asked.roots.values():
        for file in (*root.glob("[a-z]*/**/*.*"), *root.glob("[a-z]*.*")):
            yield file.read_text("utf-8")


# --- what no answer may say ----------------------------------------------------------------------------------------


def check_places(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    """Each place is a file that is there, its lines are the file's, scores are in [0, 1] and do not rise."""
    for place in told.listed:
        file = file_of(asked, told.facts if "file_path" in told.facts else place)
        assert file.is_file() or told.is_partial, f"{file} is not there"
        start = place.get("line_start", place.get("start_line", place.get("line", 1)))
        end = place.get("line_end", place.get("end_line", start))
        if file.is_file() and not told.is_partial:
            assert 1 <= start <= end <= len(file.read_text("utf-8").splitlines()), place
    scores = [place[key] for place in told.listed for key in ("score", "similarity") if key in place]
    assert all(0 <= score <= 1 for score in scores), scores
    assert all(first >= second for first, second in pairwise(scores)), scores


def check_counts(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    """Counts are of the lists beside them, and no total is less than what is shown."""
    shown = len(told.listed)
    for total in ("total", "totalResults", "total_candidates", "total_matches"):
        assert told.facts.get(total, shown) >= shown, f"{total} is less than {shown}"
    if "total_files" in told.facts:
        assert told.facts["total_files"] >= len({path_of(place) for place in told.listed})
    if "Found " in told.text and "totalResults" in told.facts:
        assert told.text.startswith(f"Found {shown} results")
    limit = given.get("limit", given.get("top_k", given.get("options", {}).get("limit")))
    assert limit is None or shown <= limit


def check_filters(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    for place in told.listed if "query" in given else ():
        path = path_of(place)
        if "path" in given:
            assert fnmatch(path, given["path"]) or fnmatch(f"/{path}", given["path"]), path
        if "language" in given:
            assert language_of(path).id == given["language"], path


def check_threshold(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    """A threshold holds where similarities were compared; where they were not, what is shown is no similarity of 1."""
    least = given.get("threshold", given.get("options", {}).get("minScore"))
    used = told.facts.get("usedSemantic", told.facts.get("meta", {}).get("used_semantic"))
    if tool in ("semantic_search", "search_documents") and told.listed and not used:
        assert told.facts.get("notes"), "does not say that no threshold was applied"
    for place in told.listed:
        value = place.get("similarity", place.get("score"))
        by_words = not used or place.get("usedSemantic", place.get("used_semantic")) is False
        if not by_words and least is not None:
            assert value >= least, f"{value} is less than {least}"
        if used is not None and by_words and value is not None:
            assert value < 1, "words are no proof of sameness"


def check_emptiness(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    """What was not searched is never told as not found."""
    if (
        told.is_error
        or told.listed
        or not any(key in told.facts for key in ("results", "similar", "symbols", "sources"))
    ):
        return
    by_meaning = tool in ("semantic_search", "search_semantic", "find_similar") and asked.state.embedder != "off"
    enough = ("whole",) if by_meaning else ("whole", "half embedded")
    whole = asked.state.index in enough and asked.state.folders != "one is gone"
    assert whole or told.is_partial or "error" in told.facts or told.facts.get("total_files") == 0, "silently empty"
    for absent in told.facts.get("absent", ()):
        assert absent["files_searched"] > 0
        assert not any(absent["text"] in text for text in texts_of(asked)), "it is there"


def check_reasons(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    if told.is_error:
        assert told.text.strip()
    slow = asked.state.embedder == "ollama too slow" and asked.state.folders != "mixed"
    assert not slow or "Cannot connect" not in told.text, "it answers, if late"
    assert "not by meaning" not in told.text or told.is_partial or told.is_error
    assert tool != "search_semantic" or "by words" not in told.text, "it compares no words"
    for holder in (told.facts, told.facts.get("embedder", {})):
        if holder.get("available") is False:
            assert str(holder.get("error", "")).strip(), "no reason"


def check_missing_root(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    if asked.state.folders == "one is gone" and tool not in PATHS and not told.is_error:
        assert "second" in told.text, "does not say what it could not search"
        assert told.is_partial or told.facts.get("status") or told.facts.get("index_status"), "says it is whole"


def check_meaning(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    """What is said of searching by meaning agrees with itself, and with what there is."""
    metadata = told.facts.get("metadata", {})
    works = asked.state.embedder in ("bundled", "ollama") or asked.state.folders == "mixed"
    if "semantic_mode" in metadata:
        by_meaning = {place["provenance"] for place in told.listed} - {"lexical"}
        assert metadata["semantic_enabled"] == (metadata["semantic_mode"] != "off")
        ran = metadata["semantic_skipped_reason"] in (None, "semantic_no_matches")
        assert ran == metadata["semantic_triggered"], "not asked by meaning, without a reason"
        assert ran or (metadata["semantic_ratio_used"] == 0 and not by_meaning)
        assert not by_meaning or works
        assert 0 <= metadata.get("embedding_coverage", 0) <= 1
        left = metadata.get("not_searched", {})
        without = left.get("pending_files", 0) + left.get("files_only_scanned", 0)
        assert not without or metadata.get("embedding_coverage", 0) < 1, "as if all files had vectors"
    used = told.facts.get("usedSemantic", told.facts.get("meta", {}).get("used_semantic"))
    assert not used or works
    assert "semantic" not in {source for place in told.listed for source in place.get("sources", ())} or works


def check_embedders(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    """Of several roots each has its own model, and all together one only where every one has."""
    own = [project["embedder"]["available"] for project in told.facts.get("projects", ()) if "embedder" in project]
    assert not own or told.facts["embedder"]["available"] == all(own)


def check_status(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    facts = told.facts
    if "file_count" in facts and not told.is_error:
        assert 0 <= facts["embedded_count"] <= facts["chunk_count"]
        if asked.state.index == "whole":
            assert facts["file_count"] == len(FILES) * len(asked.roots), "not the files that there are"
            if asked.state.embedder != "off":
                assert facts["embedded_count"] == facts["chunk_count"], "not the vectors that there are"


LINES = ("line_start", "start_line", "line", "lineRange", "ln")


def check_pages(asked: Asked, told: Told, tool: str, given: Mapping[str, Any]) -> None:
    """A list that is cut leads to its next page, which repeats nothing, or says that the index has changed since."""
    total = told.facts.get("total_candidates", told.facts.get("total"))
    shown = len(told.listed) + len(told.facts.get("further", ()))
    cursor = told.facts.get("next_cursor")
    if "cursor" in TOOLS[tool].schema["properties"] and total is not None and not told.is_error:
        assert (cursor is not None) == (0 < shown < total), f"{shown} of {total} and the cursor {cursor}"
    if cursor is not None:
        following = ask(asked, tool, {**given, "cursor": cursor})
        places, again = (
            [(path_of(place), str(next((place[key] for key in LINES if key in place), ""))) for place in page]
            for page in (told.listed, following.listed)
        )
        assert (following.is_error and "is stale" in following.text) or not {*places} & {*again}, "places twice"


CHECKS: tuple[Callable[[Asked, Told, str, Mapping[str, Any]], None], ...] = (
    check_places,
    check_counts,
    check_filters,
    check_threshold,
    check_emptiness,
    check_reasons,
    check_missing_root,
    check_meaning,
    check_status,
    check_embedders,
    check_pages,
)


def test_no_answer_says_what_is_not_so(asked: Asked) -> None:
    walk(asked)


def test_no_answer_from_files_that_were_only_scanned_says_what_is_not_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No index, and too many files for one to be made while a question waits: three are read for each question."""
    root = write_files(tmp_path / "first")
    forget()
    monkeypatch.setattr(freshness, "FEW_FILES", 0)
    monkeypatch.setattr(first_answers, "READ_FILES", 3)
    for module in WAITING:
        monkeypatch.setattr(f"findling.contracts.{module}.WAIT_S", 1.0)

    def first(tool: str, given: dict[str, Any]) -> tuple[dict[str, Any] | None, list[str], bool]:
        shutil.rmtree(root / ".findling", ignore_errors=True)
        with in_this_process([root]) as there:
            return there(tool, given)

    walk(Asked(State("bundled", "scanned", "one"), first, {"": root}))
    for tool in ("search_code", "locate_symbol", "hybrid_search", "find_symbol", "query_docs"):
        facts, _, _ = first(tool, next(given for name, given in CALLS if name == tool))
        assert facts is not None
        about = facts | facts.get("metadata", {}) | facts.get("meta", {})
        assert [*about["not_searched"]] == ["files_only_scanned"], tool
        assert about["result_completeness"] == "partial", tool


@pytest.mark.engines
def test_no_answer_of_a_shared_store_says_what_is_not_so(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its server there, and gone in the middle: then each tool says so, and that it is."""
    own = write_files(tmp_path / "first")
    forget()
    monkeypatch.setattr("findling.store.postgresql.database.CONNECT_S", 1)  # how long each call waits for a server
    with Server() as server:
        monkeypatch.setenv("FINDLING_STORE", server.new_database("team"))
        with Engine.open(root=own) as engine:
            engine.index()
        with in_this_process([own]) as there:
            asked = Asked(State("bundled", "whole", "one"), there, {"": own})
            walk(asked)
            server.stop()
            for tool, given in dict(CALLS).items():
                told = ask(asked, tool, given)
                assert told.is_error or told.facts.get("status") == "error", (tool, told)
                assert "cannot be reached" in told.text, (tool, told)
                assert told.facts.get("metadata", {}).get("indexing_status", "failed") == "failed", (tool, told)


def walk(asked: Asked) -> None:
    found: dict[str, list[str]] = {}
    for tool, given in CALLS:
        told = ask(asked, tool, given)
        for check in CHECKS:
            try:
                check(asked, told, tool, given)
            except (AssertionError, LookupError) as error:
                found.setdefault(f"{tool} {json.dumps(given)}", []).append(f"{check.__name__}: {error}")
    assert not found, json.dumps(found, indent=1)


def test_a_document_is_compared_by_the_model_of_its_own_root(folders: Folders) -> None:
    roots = [folders.of("first", "ollama", "whole"), folders.of("second", "bundled", "whole")]
    with Workspace(roots=roots) as workspace:
        for name, other in (("first", "second"), ("second", "first")):
            facts = call("find_similar", {"docPath": f"{name}/docs/guide.md"}, workspace).as_json()
            assert [place["docPath"] for place in facts["similar"]] == [f"{name}/five.txt"]
            assert [note.partition(":")[0] for note in facts["notes"]] == [other], "not what could not be compared"
