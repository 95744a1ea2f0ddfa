"""What findling needs, tried one by one: each check says what was seen, and when it fails, the command that helps.

A check never raises: whatever goes wrong in it is its result. Knows no terminal; touches the root's index only as far
as looking and asking for the writer role does.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from findling import config, engine, reading
from findling.contracts.code import grammars
from findling.embedding import BUNDLED, open_embedder
from findling.faces.cli.commands import configured_root
from findling.model import errors
from findling.model.installing import install_command, reinstall_command
from findling.model.reports import Check, Diagnosis
from findling.model.typed_paths import as_path
from findling.outbound.git import run_git
from findling.sources.tracked import listing_problem

if TYPE_CHECKING:
    from argparse import Namespace

    from findling.config import Loaded
    from findling.embedding import Embedder, Fingerprint
    from findling.faces.cli.session import Session

_SENTENCE: Final = "where a failed request is sent again"
_SAMPLE: Final = "def send_again(request):\n    '''A failed request is tried once more.'''\n    return request\n"


def run(args: Namespace, session: Session) -> int:
    found = configured_root(as_path(args.path), as_path(args.root))
    with session.progress():
        diagnosis = diagnose(found.root, cache=args.cache)
    return session.show(found, lambda view: view.diagnosis(diagnosis), found=diagnosis.works)


def diagnose(root: Path, *, cache: bool = False) -> Diagnosis:
    """All checks for a root (as `roots.find_root` gives it): what works first.

    ``cache``: its index lies in the user's cache folder.
    """
    loaded, configuration = _configuration(root)
    checks = [
        *_tried("ollama", lambda: _ollama(loaded)),
        *_tried("model", _model),
        *_tried("grammars", _grammars),
        *_tried("git", lambda: _git(root)),
        *_tried("sqlite", _sqlite),
        *_tried("index", lambda: _indexes(root, cache, loaded)),
        *_tried("search", _search),
        *configuration,
        *_tried("embedder", lambda: _chosen(loaded)),
        *_tried("providers", lambda: _others(loaded)),
    ]
    checks.sort(key=lambda check: _ORDER.index(check.state))
    return Diagnosis(all(check.state != "broken" for check in checks), tuple(checks))


_ORDER: Final = ("ok", "broken", "off")
"""What works, what does not, what could be added."""


def _tried(name: str, check: Callable[[], Check | list[Check]]) -> list[Check]:
    try:
        found = check()
    except errors.FindlingError as error:
        found = Check(name, "broken", error.message, error.remedy or reinstall_command())
    except Exception as error:  # noqa: BLE001 - whatever is broken here is what was asked for
        found = Check(name, "broken", f"{type(error).__name__}: {error}", reinstall_command())
    return found if isinstance(found, list) else [found]


def _ollama(loaded: Loaded | None) -> Check:
    """At the configured address. It is another machine's only when the user's own configuration says so."""
    from findling.embedding.providers.ollama import available

    configured = loaded.config if loaded else config.Config()
    if available(configured.semantic.ollama_url):
        return Check("ollama", "ok", "running")
    instead = ""
    if config.choose_provider(configured, None, lambda: False).provider == BUNDLED:
        instead = "Nothing to do: this concerns Ollama's models alone; here the bundled model searches by meaning."
    return Check("ollama", "off", "not detected (semantic search disabled)", instead)  # programs look for these words


def _model() -> Check:
    """The bundled model, whichever is chosen: it needs nothing that could be missing."""
    try:
        made, problem = _tried_out(open_embedder())
    except errors.EmbedderUnavailable as error:
        return Check("model", "broken", error.message, reinstall_command())
    if problem:
        return Check("model", "broken", f"the bundled {made.model} {problem}", reinstall_command())
    words = f"{made.model}, bundled, embedded a sentence in {made.dimensions} dimensions; it needs no Ollama"
    return Check("model", "ok", words)


def _chosen(loaded: Loaded | None) -> list[Check]:
    """The embedder that the configuration chooses, where that is another one."""
    if loaded is None or loaded.config.semantic.enabled is False:
        return [] if loaded is None else [Check("embedder", "off", "none: semantic.enabled is false")]
    choice = config.choose_provider(loaded.config, None, lambda: False)
    if choice.provider in (None, BUNDLED):
        return []
    name = f"{choice.provider} {choice.model}".strip()
    if choice.provider in config.EXTERNAL_EMBEDDERS:
        return [Check("embedder", "off", f"{name} is configured; not tested here, as a request may cost money")]
    try:
        made, problem = _tried_out(engine.open_chosen(loaded.config, None))
    except errors.EmbedderUnavailable as error:
        return [
            Check(
                "embedder", "off", f"{name} does not work; text and names are searched. {error.message}", error.remedy
            )
        ]
    if problem:
        return [Check("embedder", "off", f"{name} {problem}; text and names are searched")]
    return [Check("embedder", "ok", f"{name} embedded a sentence in {made.dimensions} dimensions")]


def _others(loaded: Loaded | None) -> list[Check]:
    """Each further provider: what of it is there, and what is missing. Nobody is asked."""
    from importlib.util import find_spec

    configured = loaded.config if loaded else config.Config()
    checks = []
    for library, models in (("model2vec", "static models"), ("fastembed", "ONNX models")):
        if find_spec(library):
            checks.append(
                Check(library, "ok", f"installed: {models} from the Hugging Face hub or a folder can be used")
            )
        else:
            words = f"not installed; needed only for {models} from the Hugging Face hub or a folder"
            checks.append(Check(library, "off", words, install_command(f"findling[{library}]")))
    services = (
        ("voyage", "embeddings", config.EMBEDDING_KEY, configured.keys.embedding),
        ("openai", "embeddings", config.EMBEDDING_KEY, configured.keys.embedding),
        ("cohere", "reranking", config.RERANK_KEY, configured.keys.rerank),
        ("voyage-rerank", "reranking", config.RERANK_KEY, configured.keys.rerank),
    )
    for name, what, variable, key in services:
        if not configured.semantic.gates_open:
            checks.append(Check(name, "off", f"{what}: switched off by configuration; nothing is sent to it", _GATES))
        elif key is None:
            checks.append(Check(name, "off", f"{what}: allowed, but there is no key", f"export {variable}=..."))
        else:
            checks.append(
                Check(name, "ok", f"{what}: allowed, with a key; not tested here, as a request may cost money")
            )
    return checks


_GATES: Final = (
    "In your own configuration file: semantic.external_provider_enabled and semantic.allow_code_payload_to_external = "
    "true"
)


def _tried_out(embedder: Embedder) -> tuple[Fingerprint, str]:
    """Which embedder it is, and what is wrong with its vectors, '' for nothing."""
    vector = embedder.encode_query(_SENTENCE)
    made = embedder.fingerprint
    sound = vector.shape == (made.dimensions,) and 0.99 < float((vector * vector).sum()) < 1.01
    return made, "" if sound else f"does not return a unit vector of {made.dimensions} numbers"


def _grammars() -> Check:
    available, missing = grammars()
    words = f"{len(available)} of {len(available) + len(missing)} languages are available"
    remedy = install_command("semble-grammars", again=True)
    if available and reading.grammar("python") is None:  # loading all would unpack all
        return Check("grammars", "broken", f"{words}, but the Python grammar does not load", remedy)
    if not missing:
        return Check("grammars", "ok", f"{words}, and the Python grammar loads")
    return Check("grammars", "off" if available else "broken", f"{words}; not {', '.join(missing)}", remedy)


def _git(root: Path) -> Check:
    output = run_git(["--version"], cwd=root)
    if output.ok:
        version = output.stdout.decode("utf-8", "replace").strip().removeprefix("git version ")
        if problem := listing_problem(os.path.realpath(root)):
            words = f"{version}, but tracked files that match ignore rules are left out of {root}: {problem}"
            return Check("git", "off", words)
        shallow = run_git(["rev-parse", "--is-shallow-repository"], cwd=root)
        if shallow.stdout.strip() == b"true":
            words = f"{version}; this clone is shallow, so older commits cannot be searched"
            return Check("git", "off", words, "'git fetch --unshallow' gets them")
        return Check("git", "ok", version)
    seen = "not found" if output.status == "missing" else f"does not start ({output.status})"
    words = f"{seen}; findling applies ignore rules itself, and leaves out tracked files that match them"
    return Check("git", "off", words, "Install git, such as: apt install git, brew install git, winget install Git.Git")


def _sqlite() -> Check:
    found = engine.state.check_sqlite()
    if found.wal:
        return Check("sqlite", "ok", f"{found.version}, with a write-ahead log")
    return Check("sqlite", "broken", f"{found.version} cannot keep a write-ahead log in {tempfile.gettempdir()}")


def _indexes(root: Path, cache: bool, loaded: Loaded | None) -> list[Check]:
    """The check of the root's index; of a folder of repositories those of all, and equal findings as one."""
    folders = {} if loaded is not None and loaded.config.store.url is not None else config.projects_in(root)[0]
    if not folders:
        return [_index(root, cache, loaded)]
    found: dict[tuple[str, str], Check] = {}
    for name, folder in folders.items():
        check = _index(folder, cache, _configuration(folder)[0])
        alike = found.get((check.state, check.remedy))
        words = f"{alike.words}; " if alike else ""
        found[check.state, check.remedy] = replace(check, words=f"{words}{name}: {check.words}")
    return list(found.values())


def _index(root: Path, cache: bool, loaded: Loaded | None) -> Check:
    """Whether the index of the root can be read and written; without one, whether there can be one."""
    if loaded is not None and loaded.config.store.url is not None:
        return _shared_store(root)
    by_search = loaded is not None and loaded.config.semantic.auto_index  # without a valid configuration none is asked
    place = config.store_location(root, cache=cache, create=False)
    directory = place.directory
    where = f"{directory}{_BECAUSE.get(place.reason, '')}"
    found = engine.state.index_on_disk(directory)
    if found is None:
        return _no_index(root, directory, where, by_search=by_search)
    if shutil.disk_usage(directory).free == 0:
        return Check("index", "broken", f"the disk that holds {where} is full: free some room")
    if found.problem:
        also = ", and so does the next search" if by_search else ""
        remedy = f"'findling index {shlex.quote(str(root))}' rebuilds it{also}"
        return Check("index", "off" if found.older else "broken", found.problem, remedy)
    if found.journal_mode != "wal":
        words = f"{where} has the journal mode {found.journal_mode or 'unknown'}, not wal: is it on a network drive?"
        return Check("index", "broken", words, f"'findling index --cache {shlex.quote(str(root))}' keeps it elsewhere")
    if found.written:
        return Check("index", "ok", f"{where}, intact; another process is writing it now")
    return Check("index", "ok", f"{where}, intact and writable")


def _shared_store(root: Path) -> Check:
    """Whether the shared store that is configured answers for the root."""
    with engine.Engine.open(root=root) as opened:
        where = f"in the shared store {opened.shared_store}"
        if problem := opened.health().problem:
            return Check("index", "broken", problem)
        if opened.status().indexing_status == "not_indexed":
            remedy = f"'findling index --store {opened.shared_store} {shlex.quote(str(root))}' makes one"
            return Check("index", "off", f"none yet {where}", remedy)
        return Check("index", "ok", f"{where}, which answers")


_BECAUSE: Final = {
    "main_worktree": " (that of the main work tree)",
    "bare_repository": " (that of all its work trees)",
    "not_writable": " (the root cannot be written)",
    "not_a_folder": " (.findling in the root is not a folder)",
}


def _no_index(root: Path, directory: Path, where: str, *, by_search: bool) -> Check:
    try:
        config.find_root(root)
    except errors.RootError as error:  # the home folder and the like are indexed only when somebody insists
        return Check("index", "off", error.message, error.remedy)
    existing = directory
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not os.access(existing, os.W_OK | os.X_OK):
        remedy = "Change its permissions, or set XDG_CACHE_HOME to a folder that can be written."
        return Check("index", "broken", f"none yet, and {existing} cannot be written", remedy)
    remedy = f"'findling index' builds it{', and so does the first search' if by_search else ''}"
    return Check("index", "off", f"none yet at {where}", remedy)


def _search() -> Check:
    """A small folder indexed and searched, as without any configuration: that takes all parts together."""
    with tempfile.TemporaryDirectory(prefix="findling-") as folder:
        (Path(folder) / "sample.py").write_text(_SAMPLE, encoding="utf-8")
        with engine.Engine.open(root=Path(folder), config=config.Config()) as opened:
            opened.index()
            asked = {"text": ("failed request", "keyword"), "name": ("send_again", "symbol")}
            asked["meaning"] = (_SENTENCE, "semantic")
            missed = [way for way, (text, mode) in asked.items() if not opened.search(text, mode=mode, wait_s=0.0).hits]
    if missed:
        words = f"a sample was indexed and not found by {', '.join(missed)}"
        return Check("search", "broken", words, reinstall_command())
    return Check("search", "ok", "a sample was indexed and found by text, name and meaning")


def _configuration(root: Path) -> tuple[Loaded | None, list[Check]]:
    """The configuration, None when it is not valid; and what there is to say of it."""
    try:
        loaded = config.load(root)
    except errors.ConfigError as error:
        return None, [Check("configuration", "broken", error.message, error.remedy)]
    read = ", ".join(str(path) for path in loaded.files)
    valid = Check("configuration", "ok", f"valid, from {read}" if read else "valid (no config file; using defaults)")
    return loaded, [valid, *(Check("configuration", "off", warning) for warning in loaded.warnings)]
