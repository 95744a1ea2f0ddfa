"""Every command that a message prints as a remedy is taken out of the message and run in the state that printed it."""

from __future__ import annotations

import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import findling
from findling.engine import freshness
from findling.engine.background_process import AT_ONCE, TURNS
from findling.engine.library import Library
from findling.engine.small_files import Turns
from findling.faces.cli.main import main
from findling.reading.pool import WorkerPool
from findling.store.local import IndexWriter, soundness

sys.path += [str(Path(__file__).parents[2] / "benchmarks"), str(Path(__file__).parents[1] / "embedding")]

from ollama_process import OllamaProcess
from sentences import of_code

COMMAND = re.compile(
    r"['`](?P<quoted>(?:findling|git) [a-z][^'`]*)['`]|(?:definitions|left out): (?P<last>findling .*)|"
    r"(?:search|mean|take it out): (?P<typed>(?:findling|git) .*)"
)
"""A command inside a message."""


NUMBERS = itertools.count()


class Stage:
    """A project in a folder, which the tests bring into the states that messages speak of."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.monkeypatch = root, monkeypatch
        self.until_the_end = ExitStack()
        """What ends with the test."""
        self.new_database: Callable[[], str] | None = None
        """Gives the address of an empty database, for the states of a shared store."""

    def write(self, path: str, text: str | bytes = "def hello():\n    return 1\n") -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode() if isinstance(text, str) else text)

    def run(self, *words: str) -> None:
        assert main(words) == 0, words

    def git(self, *words: str, at: Path | None = None) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
        subprocess.run(["git", *who, "-C", at or self.root, *words], check=True, capture_output=True)

    def commit(self, tag: str) -> None:
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-qm", tag)
        self.git("tag", tag)

    def only_looks(self) -> None:
        """Questions may not index anything."""
        self.write("findling.toml", "[semantic]\nauto_index = false\n")

    def clone(self, *options: str) -> None:
        """A clone of what stands here, which is where commands are typed from then on."""
        clone = self.root.parent / "clone"
        subprocess.run(["git", "clone", "-q", *options, self.root.as_uri(), clone], check=True)
        self.root = clone
        self.monkeypatch.chdir(clone)


Typed = Sequence[str]


def no_index(stage: Stage) -> Typed:
    stage.only_looks()
    return "search", "hello"


def not_even_looked(_: Stage) -> Typed:
    return "search", "hello", "--no-sync"


def ref_without_index(stage: Stage) -> Typed:
    stage.commit("v1")
    stage.only_looks()
    return "search", "hello", ".", "--ref", "v1"


def damaged(stage: Stage) -> Typed:
    stage.only_looks()
    stage.run("index")
    stage.write(".findling/index.db", "no database" * 500)
    return ("status",)


def damaged_doctor(stage: Stage) -> Typed:
    damaged(stage)
    return ("doctor",)


def new_file(stage: Stage) -> Typed:
    stage.only_looks()
    stage.run("index")
    stage.write("new.py")
    return ("status",)


def why_new(stage: Stage) -> Typed:
    stage.run("index")
    stage.write("new.py")
    return "why", "new.py"


def why_changed(stage: Stage) -> Typed:
    stage.run("index")
    stage.write("a.py", "def bye():\n    return 2\n")
    return "why", "a.py"


def excluded(stage: Stage) -> Typed:
    stage.write("findling.toml", "[index]\nexclude = ['a.py']\n")
    return "why", "a.py"


def not_included(stage: Stage) -> Typed:
    stage.write("findling.toml", "[index]\ninclude = ['*.md']\n")
    return "why", "a.py"


def unknown_option(_: Stage) -> Typed:
    return "config", "--set", "semantic.modee=1"


def sparse(stage: Stage) -> Typed:
    stage.write("docs/a.md", "# Hello\n")
    stage.commit("v1")
    stage.clone("--sparse")
    return "why", "docs/a.md"


def shallow(stage: Stage) -> Typed:
    stage.commit("v1")
    stage.write("b.py")
    stage.git("add", "-A")
    stage.git("commit", "-qm", "more")
    stage.clone("--depth", "1", "--no-tags")
    return "search", "hello", ".", "--ref", "v1"


def shallow_doctor(stage: Stage) -> Typed:
    shallow(stage)
    return ("doctor",)


def unknown_ref(stage: Stage) -> Typed:
    stage.commit("v1")
    return "search", "hello", ".", "--ref", "nothing-like-it"


def pointer(stage: Stage) -> Typed:
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not installed")
    stage.git("init", "-q")
    stage.git("lfs", "install", "--local")
    stage.git("lfs", "track", "*.txt")
    stage.write("long.txt", "The weights.\n")
    stage.commit("v1")
    stage.monkeypatch.setenv("GIT_LFS_SKIP_SMUDGE", "1")
    stage.clone()
    return "why", "long.txt"


def first_answer(stage: Stage) -> Typed:
    stage.monkeypatch.setattr(freshness, "FEW_FILES", 0)
    return "search", "hello"


def similar_to_what_is_left_out(stage: Stage) -> Typed:
    stage.write("picture.png", b"\x89PNG\0\0")
    stage.run("index")
    return "similar", "picture.png"


def left_out(stage: Stage) -> Typed:
    stage.write("picture.png", b"\x89PNG\0\0")
    return ("index",)


def unknown_language(stage: Stage) -> Typed:
    stage.run("index")
    return "search", "hello", "--language", "zzzz"


def no_vectors(stage: Stage) -> Typed:
    stage.run("index", "--no-embed")
    return ("export-vectors",)


def stale(stage: Stage) -> Typed:
    stage.only_looks()
    stage.run("index")
    stage.write("b.py", "def more():\n    return hello()\n")
    return "search", "hello"


def question_as_a_command(_: Stage) -> Typed:
    return "say", "hello"


def mistyped(_: Stage) -> Typed:
    return "serch", "hello"


def long_definition(stage: Stage) -> Typed:
    body = "".join(f"    value = step_{number}(value)\n" for number in range(400))
    stage.write("long.py", f"def travel_far(value):\n    '''A long way.'''\n{body}    return value\n")
    stage.run("index")
    return "search", "travel_far a long way"


def longer_definition(stage: Stage) -> Typed:
    body = "".join(f"    value = step_{number}(value)  # {'far ' * 20}\n" for number in range(300))
    stage.write("my-code/long.py", f"def travel_far(value):\n{body}    return arrived(value)\n")
    stage.run("index")
    return "symbol", "travel_far"


def no_name(_: Stage) -> Typed:
    return ("symbol",)


def no_regex(_: Stage) -> Typed:
    return ("grep",)


def empty_library(_: Stage) -> Typed:
    return "library", "list"


def library(stage: Stage) -> None:
    stage.write("docs/guide.md", "# Guide\n\nHow to say hello.\n")
    stage.run("library", "add", "docs", "--name", "guides")


def unknown_collection(stage: Stage) -> Typed:
    library(stage)
    return "library", "status", "nothing"


def library_added_twice(stage: Stage) -> Typed:
    library(stage)
    stage.write("docs/more.md", "# More\n")
    return "library", "add", "docs"


def library_list_of(stage: Stage) -> Typed:
    library(stage)
    return "library", "list", "guides"


def gone_from_the_library(stage: Stage) -> Typed:
    library(stage)
    (stage.root / "docs").rename(stage.root / "moved")
    return "library", "refresh"


def agent_of_a_library(tool: str) -> Callable[[Stage], Typed]:
    def asked(stage: Stage) -> Typed:
        library(stage)
        return "tool", tool, '{"filePath": "/nowhere/guide.md"}'

    return asked


def no_job(stage: Stage) -> Typed:
    main(["library", "fetch", "https://127.0.0.1/guide.pdf"])  # refused, and so a job that has failed
    return "library", "cancel"


def nothing_readable_at_a_ref(stage: Stage) -> Typed:
    (stage.root / "a.py").unlink()
    stage.write("picture.png", b"\x89PNG\0\0")
    stage.commit("v1")
    return "search", "hello", ".", "--ref", "v1"


def damaged_repository(stage: Stage) -> Typed:
    stage.commit("v1")
    (tree,) = (
        path
        for path in (stage.root / ".git/objects").glob("??/*")
        if zlib.decompress(path.read_bytes())[:5] == b"tree "
    )
    tree.unlink()
    return "search", "hello", ".", "--ref", "v1"


def filter_that_runs_a_program(stage: Stage) -> Typed:
    stage.commit("v1")
    stage.git("config", "filter.a=b.clean", "cat")
    return "impact", "--diff"


def name_that_is_no_text(stage: Stage) -> Typed:
    stage.root = stage.root.parent / os.fsdecode(b"\xff")
    stage.write("a.py")
    stage.monkeypatch.chdir(stage.root)
    return "index", "--root", "."


def document_before_the_index(stage: Stage) -> Typed:
    made = io.BytesIO()
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(made, "w") as parts:
        parts.writestr("[Content_Types].xml", "<Types/>")
        text = "<w:p><w:r><w:t>A long hello from a document</w:t></w:r></w:p>"
        parts.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{text}</w:body></w:document>')
    stage.write("a.docx", made.getvalue())
    return "grep", "hello", "a.docx"


def doctor_without_index(_: Stage) -> Typed:
    return ("doctor",)


def unfinished(*typed: str) -> Callable[[Stage], Typed]:
    """An index whose last run did not come to its end."""

    def partial(stage: Stage) -> Typed:
        stage.only_looks()
        stage.run("index")
        writer = IndexWriter(stage.root / ".findling")
        writer.finish(writer.manifest(str(stage.root), "live"), complete=False, pending=1)
        writer.commit()
        writer.close()
        return typed

    return partial


def similar_to_what_is_not_read_yet(stage: Stage) -> Typed:
    unfinished()(stage)
    stage.write("later.py", "def later():\n    return 3\n")
    return "similar", "later.py"


def vectors_of_another_model(stage: Stage) -> Typed:
    stage.run("index")  # with the bundled model
    server = OllamaProcess()
    stage.until_the_end.callback(server.stop)
    stage.write(
        "../config/findling/config.toml",
        f'[semantic]\nollama_url = "{server.url}"\nmodel = "nomic-embed-text"\nauto_index = false\n',
    )
    return "search", "hello"


def reader_died(stage: Stage) -> Typed:
    stage.only_looks()
    for number in range(30):  # a few files are read by the process itself
        stage.write(f"many/part{number}.py", f"def part{number}():\n    return {number}\n")
    with pytest.MonkeyPatch.context() as once:
        once.setattr(WorkerPool, "_prepare", lambda _, __, batch: 1 / 0)
        main(["index"])
    return "why", "many/part1.py"


def made_in_the_background(stage: Stage) -> Typed:
    """The process waits for its turn, and so is not done before it is stopped."""
    stage.monkeypatch.setenv("XDG_CACHE_HOME", str(stage.root.parent / "cache"))
    stage.monkeypatch.delenv("CI")
    stage.monkeypatch.setattr(freshness, "FEW_FILES", 0)
    turns = Turns(stage.root.parent / "cache" / "findling" / TURNS, AT_ONCE)
    for _ in range(AT_ONCE):
        assert stage.until_the_end.enter_context(turns.taken(lambda: False))
    stage.run("search", "hello")
    return ("status",)


def journal_of_a_network_drive(stage: Stage) -> Typed:
    """Such a drive refuses SQLite's write-ahead log."""
    stage.run("index")
    stage.monkeypatch.setattr(soundness, "journal_mode", lambda _: "delete")
    return ("doctor",)


def little_room(stage: Stage) -> Typed:
    stage.run("index")
    stage.write("b.py")
    disk = shutil.disk_usage(stage.root)
    stage.monkeypatch.setattr(shutil, "disk_usage", lambda _: disk._replace(free=1000))
    return "index", "--force"


def quota_of_the_library(stage: Stage) -> Typed:
    """Files are fetched from a server of this machine until no more are allowed."""
    served = stage.root.parent / "served"
    served.mkdir()
    for name in ("one.md", "two.md"):
        (served / name).write_text("# Bread\n" + "Knead it well. \n" * 40_000)

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *given: object) -> None:
            super().__init__(*given, directory=str(served))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stage.until_the_end.callback(server.server_close)
    stage.until_the_end.callback(server.shutdown)
    host = f"127.0.0.1:{server.server_port}"
    stage.write("../config/findling/config.toml", f'[fetch]\nallowed_hosts = ["{host}"]\nmax_total_bytes = {1 << 20}\n')
    stage.run("library", "fetch", f"http://{host}/one.md")
    return "library", "fetch", f"http://{host}/two.md"


def removed_meanwhile(stage: Stage) -> Typed:
    library(stage)
    index = Library._index

    def interfered(self: Library, collection: Any, progress: Any) -> Any:
        stage.monkeypatch.setattr(Library, "_index", index)
        stage.run("library", "remove", "guides")
        return index(self, collection, progress)

    stage.monkeypatch.setattr(Library, "_index", interfered)
    return "library", "refresh"


def shared(stage: Stage) -> None:
    """Commands ask a shared store, in which another folder is."""
    assert stage.new_database is not None
    stage.monkeypatch.setenv("FINDLING_STORE", stage.new_database())
    stage.write("other/b.py", "def other():\n    return 2\n")
    stage.run("index", "other", "--root", "other")


def nothing_shared(stage: Stage) -> Typed:
    assert stage.new_database is not None
    stage.monkeypatch.setenv("FINDLING_STORE", stage.new_database())
    return "search", "hello"


def not_published(stage: Stage) -> Typed:
    shared(stage)
    return "search", "hello"


def doctor_not_published(stage: Stage) -> Typed:
    shared(stage)
    return ("doctor",)


def new_beside_what_is_published(stage: Stage) -> Typed:
    nothing_shared(stage)
    stage.run("index")
    stage.write("new.py")
    return "why", "new.py"


def no_collection(stage: Stage) -> Typed:
    shared(stage)
    return "search", "hello", "--collection", "shop"


def everybodys(stage: Stage) -> Typed:
    shared(stage)
    stage.monkeypatch.setenv("FINDLING_COLLECTION", "shop")
    return ("sync",)


def no_user(stage: Stage) -> Typed:
    shared(stage)
    return "team", "group", "add", "cooks", "ann"


def remove_no_user(stage: Stage) -> Typed:
    shared(stage)
    stage.run("team", "user", "add", "ann")
    return "team", "user", "remove", "bob"


def team_without(*typed: str) -> Callable[[Stage], Typed]:
    def team(stage: Stage) -> Typed:
        shared(stage)
        stage.run("team", "add", str(stage.root / "other"), "--name", "others")
        return typed

    return team


def before_a_migration(stage: Stage) -> Typed:
    from findling.store.postgresql import database

    assert stage.new_database is not None
    url = stage.new_database()
    every = database.migrations()
    with pytest.MonkeyPatch.context() as before:
        before.setattr(database, "migrations", lambda: every[:-1])
        old = database.Database(url)
        old.migrate()
        old.close()
    stage.monkeypatch.setenv("FINDLING_STORE", url)
    return "search", "hello"


def owner_who_serves_users(stage: Stage) -> Typed:
    import psycopg

    shared(stage)
    with psycopg.connect(os.environ["FINDLING_STORE"], autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS servant")
        connection.execute("CREATE ROLE servant")
    return "serve", "--users", "--http", "0", "--collection", "*"


class Case(NamedTuple):
    """``said``: a piece of the message as the source has it. ``shows``: what the command prints, where it mends nothing
    but shows something; else the message is gone afterwards."""

    said: str
    state: Callable[[Stage], Typed]
    shows: str = ""
    given: Mapping[str, str] = {}
    store: bool = False


CASES = (
    Case("Run 'findling index'.", no_index),
    Case("Run 'findling index'.", not_even_looked),
    Case("Run 'findling index --ref {…}'.", ref_without_index),
    Case("'findling index' rebuilds it", damaged),
    Case("'findling index {…}' rebuilds it", damaged_doctor),
    Case("'findling index' indexes it", new_file),
    Case("The next search indexes it; 'findling index' does so now.", why_new),
    Case("The next search updates it; 'findling sync' does so now.", why_changed),
    Case("Change index.exclude; 'findling config' says where it is set.", excluded, "findling.toml"),
    Case("Change index.include; 'findling config' says where it is set.", not_included, "findling.toml"),
    Case("'git sparse-checkout disable' brings all files", sparse),
    Case("'git fetch --unshallow' gets them", shallow),
    Case("'git fetch --unshallow' gets them", shallow_doctor),
    Case("'git branch -a' and 'git tag' list those.", unknown_ref, "main"),
    Case("'git lfs pull' gets its content.", pointer),
    Case("'findling index' builds an index", first_answer),
    Case("`findling status --skipped` says why one may be left out.", similar_to_what_is_left_out, "picture.png"),
    Case("('findling status --skipped' lists them)", left_out, "picture.png"),
    Case("`findling status` lists those here.", unknown_language, "languages: 1 python"),
    Case("there are no vectors; 'findling embed' computes them", no_vectors),
    Case("'findling sync' checks everything", stale),
    Case("To search: findling search {…}", question_as_a_command, "def hello()"),
    Case("Did you mean: findling search", mistyped, "def hello()"),
    Case("See 'findling grep --help'.", no_regex, "REGEX"),
    Case("See 'findling symbol --help'.", no_name, "usage: findling symbol"),
    Case("whole definitions: findling symbol", long_definition, "def travel_far(value):"),
    Case("lines left out: findling symbol", longer_definition, "return arrived(value)"),
    Case("the library is empty; 'findling library add PATH'", empty_library, given={"PATH": "."}),
    Case("`findling library list` shows what there is.", unknown_collection, "guides"),
    Case("`findling library refresh` brings it up to date.", library_added_twice, "guides"),
    Case("`findling library status NAME` shows one.", library_list_of, "guides", {"NAME": "guides"}),
    Case("`findling library remove {…}` forgets it.", gone_from_the_library, "guides"),
    Case("`findling library list` shows what is.", agent_of_a_library("remove_file"), "guides"),
    Case("`findling library status` shows what is indexed.", agent_of_a_library("get_file_details"), "guides"),
    Case("`findling library jobs` lists them.", no_job, "fetch_file, failed"),
    Case("'findling status --skipped{…}'", nothing_readable_at_a_ref, "picture.png"),
    Case("'git fsck' says what is wrong", damaged_repository, "missing tree"),
    Case("take it out: git config --remove-section {…}", filter_that_runs_a_program),
    Case("`findling grep REGEX` needs no index.", name_that_is_no_text, "def hello()", {"REGEX": "hello"}),
    Case("run 'findling index'", document_before_the_index),
    Case("'findling config' lists all options.", unknown_option, "semantic.mode"),
    Case("'findling index' builds it{…}", doctor_without_index),
    Case("finish it with 'findling index' or --wait all", unfinished("search", "hello")),
    Case("finish it with 'findling index'", unfinished("similar", "a.py")),
    Case("the index is partial; 'findling index' finishes it", unfinished("symbol", "hello")),
    Case("the index is partial; 'findling index' finishes it", unfinished("callers", "hello")),
    Case("the index is partial; 'findling index' finishes it", unfinished("map")),
    Case("Run 'findling index' to finish it.", similar_to_what_is_not_read_yet),
    Case("Run 'findling embed'", vectors_of_another_model),
    Case("'findling index' tries it again.", reader_died),
    Case("'findling stop' stops that.", made_in_the_background),
    Case("'findling index --cache {…}' keeps it elsewhere", journal_of_a_network_drive, "indexed: "),
    Case("'findling sync' updates the index with less.", little_room, "indexed: "),
    Case("`findling library remove NAME` makes room", quota_of_the_library, given={"NAME": "downloads"}),
    Case("`findling library add {…}` adds it again.", removed_meanwhile),
    Case(
        "Run 'findling index --store {…} PATH' as the owner of the database; it migrates.",
        before_a_migration,
        given={"PATH": "."},
        store=True,
    ),
    Case("'findling team role NAME'", owner_who_serves_users, "may serve users", {"NAME": "servant"}, store=True),
    Case("Run 'findling index --store {…} PATH'; it makes one.", nothing_shared, given={"PATH": "."}, store=True),
    Case("Run 'findling index --store {…} {…}'.", not_published, store=True),
    Case("'findling index --store {…} {…}' makes one", doctor_not_published, store=True),
    Case("'findling index' with the same store publishes it.", new_beside_what_is_published, store=True),
    Case(
        "'findling index --store {…} --collection NAME PATH' publishes one.",
        no_collection,
        given={"NAME": "shop", "PATH": "."},
        store=True,
    ),
    Case(
        "Run 'findling index --store {…} --collection NAME PATH' for its folder",
        everybodys,
        "indexed: ",
        {"NAME": "shop", "PATH": "."},
        store=True,
    ),
    Case("only 'findling index --collection NAME' publishes.", everybodys, "indexed: ", {"NAME": "shop"}, store=True),
    Case("Run 'findling team user add {…}'.", no_user, store=True),
    Case("See 'findling team user list'.", remove_no_user, "ann", store=True),
    Case("See 'findling team list'.", team_without("team", "remove", "shop"), "others", store=True),
    Case("See 'findling team list'.", team_without("team", "status", "shop"), "others", store=True),
)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    for name, folder in (("FINDLING_DATA_DIR", "data"), ("XDG_CACHE_HOME", "cache"), ("XDG_CONFIG_HOME", "config")):
        if name != "XDG_CACHE_HOME":  # the grammars lie there
            monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("CI", "1")  # no process that indexes in the background
    monkeypatch.chdir(root)
    made = Stage(root, monkeypatch)
    made.write("a.py")
    with made.until_the_end:
        yield made


def said_in(text: str, piece: str) -> str:
    """A message from a piece of it on to the end of its line, '' without one. ``{…}`` stands for any value."""
    found = re.search(".*?".join(map(re.escape, piece.split("{…}"))) + ".*", text)
    return found[0] if found else ""


@pytest.mark.parametrize("case", CASES, ids=[f"{case.said[:40]} {case.state.__name__}" for case in CASES])
def test_the_remedy_helps(
    case: Case, stage: Stage, capfd: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    if case.store:
        server = request.getfixturevalue("postgresql")
        stage.new_database = lambda: str(server.new_database(f"remedies{next(NUMBERS)}"))
    typed = case.state(stage)
    capfd.readouterr()
    main(typed)
    printed = "".join(capfd.readouterr())
    line = said_in(printed, case.said)
    assert line, (case.said, printed)
    found = COMMAND.search(line)
    assert found, line
    command = next(filter(None, found.groups()))
    words = [case.given.get(word, word) for word in shlex.split(command)]
    if words[0] == "git":
        ran = subprocess.run(words, cwd=stage.root, capture_output=True, text=True)
        status, printed = ran.returncode, ran.stdout
    else:
        try:
            status = main(words[1:])
        except SystemExit as end:
            status = int(end.code or 0)
        printed = "".join(capfd.readouterr())
    assert status == 0 or words == ["git", "fsck"], (words, printed)  # which fails to say that something is wrong
    if case.shows:
        assert case.shows in printed
        return
    capfd.readouterr()
    main(typed)
    assert not said_in("".join(capfd.readouterr()), case.said), (command, case.said)


SEES = re.compile(r"['`](?:findling|git) [a-z][^'`]*['`]|(?:definitions|search|mean): findling |it out: git ")

USAGE = re.compile(
    r"^(?:Usage: |--\S+ is for |'findling team' has no action|'findling team \w+' needs|A file of yours with|"
    r"Names under which|Whether a search first|SELECT )|Before grep, ask `|works on a folder's own index|"
    r"does not change the answers|runs says more|prints it\.$"
)
"""Sentences that say how something is called, and advise nothing."""

NOT_RUN = {
    "Nothing is in the library: `findling library add PATH`": "for agents that have no project; people: `library list`",
    "Run this again once workers": "the command is the one that was typed, and others hold locks for minutes before it",
}
"""Messages whose state cannot be made here, and why."""


def test_no_message_advises_a_command_that_is_not_run() -> None:
    missing = []
    for path in sorted(Path(findling.__file__).parent.rglob("*.py")):
        for _, text in of_code(path.read_text("utf-8")):
            said = " ".join(text.split())
            if not SEES.search(said) or USAGE.search(said) or any(piece in said for piece in NOT_RUN):
                continue
            if not any(said_in(said, case.said) or said in case.said for case in CASES):
                missing.append(f"{path.name}: {said}")
    assert not missing
