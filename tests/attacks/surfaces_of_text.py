"""Surfaces whose inputs are texts and values: thousands of inputs a second, or hundreds where a question is asked."""

from __future__ import annotations

import ipaddress
import json
import os
import random
import re
import socket
import subprocess
import time
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import jsonschema
import mutation
from gits import git
from indexes import SMALL, make

from findling import Engine
from findling.config.loading import load
from findling.config.option import NEVER, Option
from findling.config.options import OPTIONS
from findling.contracts import TOOLS, call
from findling.contracts.workspaces import Workspace
from findling.engine.library.fetching.fetch_requests import MAX_BRANCH, check_branch, check_filename, path_problem
from findling.model.errors import FindlingError, InvalidInput
from findling.model.types import MODES
from findling.outbound.addresses import addresses_of, is_public, target_of
from findling.reading.prepare import file_trigrams
from findling.search.patterns import PatternTimeout, compile_pattern
from findling.sources.ignore_rules import MAX_PATTERN_CHARS, IgnoreTree

PROJECT = {
    **SMALL,
    "src/http/client.py": (
        "import time\n\n\nclass Client:\n    def retry_failed(self, request, attempts=3):\n"
        "        '''Send a request again after a failure.'''\n        for attempt in range(attempts):\n"
        "            time.sleep(2**attempt)\n        raise ConnectionError('gave up after all attempts')\n"
    ),
    "docs/größe.md": "---\ntags: [size]\n---\n# Größe\n\nWie groß eine Datei sein darf: 10 MB.\n",
    "plans/0001-retries/plan.md": "# Retries\n\n- [ ] back off\n",
    "unusual.txt": "tab\there\r\nſharp K \u2028 sign 👩‍👩‍👧\n\n\nend without break",
}


def project(folder: Path) -> Path:
    """A small repository with an index and a branch beside the one that is checked out."""
    root = make(folder / "project", PROJECT)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    git(root, "branch", "feature/one")
    with Engine.open(root=root) as engine:
        assert engine.index().complete
    return root


# --- questions ----------------------------------------------------------------------------------------------------

QUESTIONS = (
    *("where is a failed request sent again", "Client.retry_failed", "src/http/client.py:5", "RetryPolicy", "größe"),
    *("ConnectionError: gave up after all attempts", '"gave up after"', "def backoff(", "class LruCache:", "guide.md"),
    *("Traceback (most recent call last):\n", '  File "src/retry.py", line 4, in backoff\n', "path:src ", "wie groß"),
    *("how do I", "please show me", "error", "src/", "docs/", "2 ** attempt", "TODO", "a", ":12", "L12", "#L3-L9", "?"),
)


class Questions:
    """Every mode, filter and size; what is found stands in the files."""

    inputs = 1

    def __init__(self, folder: Path) -> None:
        root = project(folder)
        self._engine = Engine.open(root=root)
        self._texts = {path: (root / path).read_bytes().decode() for path in PROJECT}

    def make(self, chance: random.Random) -> dict[str, Any]:
        text = mutation.text(chance, QUESTIONS, surrogates=chance.random() < 0.02)
        if chance.random() < 0.5:
            text = mutation.mutated(chance, chance.choice(QUESTIONS))
        if chance.random() < 0.003:
            text = text * 5000
        asked: dict[str, Any] = {"text": text, "wait_s": 0}
        if chance.random() < 0.5:
            asked["mode"] = chance.choice((*MODES, "nonsense"))
        if chance.random() < 0.3:
            asked["limit"] = chance.choice((-1, 0, 1, 2, 50, 1000, 1001, 2**70))
        if chance.random() < 0.2:
            asked["kind"] = chance.choice(("code", "docs", "both"))
        if chance.random() < 0.2:
            asked["language"] = chance.choice(("python", "Python", "markdown", "js", "", "klingon", text[:40]))
        if chance.random() < 0.2:
            asked["path_globs"] = (mutation.text(chance, ("src", "/", "*", "**", ".py", "!", "[a-z]"), most=5),)
        if chance.random() < 0.2:
            asked["max_tokens"] = chance.choice((-1, 0, 1, 10, 1000, 2**60))
        return asked

    def check(self, made: dict[str, Any]) -> None:
        result = self._engine.search(**made)
        assert len(result.hits) <= made.get("limit", 10)
        assert 0 <= result.confidence <= 1
        for hit in (*result.hits, *result.further):
            lines = self._texts[hit.path].count("\n") + 1
            assert 1 <= hit.start_line <= hit.end_line <= lines, hit
        everywhere = made.keys().isdisjoint(("kind", "language", "path_globs"))
        for absent in result.absent if everywhere else ():
            if absent.kind in ("text", "message") and absent.whole and absent.text:
                assert not any(absent.text in text for text in self._texts.values()), absent
        json.dumps([*result.notes, *(hit.snippet for hit in result.hits)]).encode()


# --- patterns -----------------------------------------------------------------------------------------------------

PATTERNS = (
    *("a", "ab", "retry", "é", "ſ", "K", "ß", " ", ".", ".*", "a*", "(a|b)", "[a-c]", "[^a]", r"\w+", r"\W", r"\d{2,}"),
    *(r"\b", r"\B", "^", "$", r"\A", r"\Z", "(?i)", "(?s)", "(?x)", "(?m)", "(?a)", "(?i:a)", "(?=a)", "(?!a)"),
    *("(?<=a)", "(?<!ab)", "(?P<n>a)", "(?P=n)", r"\1", r"\n", r"\r", r"\x41", r"\u00e9", "[[:alpha:]]", r"\p{L}"),
    *("{1,3}", "{0}", "{,5}", "{1000}", "+?", "*+", "?+", "(?>a+)", "(a+)+", "(?(1)a|b)", "[", "]", "(", ")", "\\"),
    *("#",),
)
LINES = (
    *("", "a", "retry_failed(request)", "aaaaaaaaaaaaaaaaaaaaab", "Straße ſharp K", "\ta b\xa0c\u2028d"),
    *("x1 22 333",),
    *("中文 test 한국어", "#comment [x] (y) {z}", "A" * 200, "ab" * 100, "foo.bar(baz) -> 'q'"),
)
FOREVER_S = 5.0
SHORT = 20
"""Characters on which no expression takes the standard library long."""


@dataclass(frozen=True)
class Pattern:
    pattern: str
    literal: bool
    ignore_case: bool
    word: bool
    multiline: bool
    in_files: bool


class Patterns:
    """Compiled, planned and matched as the standard library does; now and then in files."""

    inputs = 1

    def __init__(self, folder: Path) -> None:
        self._engine = Engine.open(root=project(folder))
        self._plans = [set(array("I", file_trigrams(line.encode()))) for line in LINES]

    def make(self, chance: random.Random) -> Pattern:
        text = "".join(chance.choices(PATTERNS, k=chance.randint(1, 6)))
        if chance.random() < 0.4:
            text = mutation.mutated(chance, text, surrogates=True)
        odds = [chance.random() < share for share in (0.1, 0.3, 0.1, 0.1, 0.02)]
        return Pattern(text, *odds)

    def check(self, made: Pattern) -> None:
        options = {"literal": made.literal, "ignore_case": made.ignore_case, "word": made.word}
        if made.in_files:
            self._engine.grep(made.pattern, limit=20, multiline=made.multiline, cpu_s=2.0, **options)
            return
        compiled = compile_pattern(made.pattern, multiline=made.multiline, **options)
        for line, held in zip(LINES, self._plans, strict=True):
            try:
                spans = list(compiled.spans(line, time.thread_time() + FOREVER_S))
            except PatternTimeout:
                continue
            assert all(0 <= start <= end <= len(line) for start, end in spans), spans
            if spans:
                assert compiled.plan.holds(held), (line, spans)
            if 0 < len(line) <= SHORT and not (made.literal or made.word or made.multiline):
                assert spans == self._as_the_library(made, line), line

    @staticmethod
    def _as_the_library(made: Pattern, line: str) -> list[tuple[int, int]]:
        flags = re.MULTILINE | (re.IGNORECASE if made.ignore_case else 0)
        return [match.span() for match in re.compile(made.pattern, flags).finditer(line)]


# --- globs --------------------------------------------------------------------------------------------------------

GLOBS = (
    *("a", "b", "ab", "a.b", "src", "*", "**", "?", "/", "/**/", "**/", "/**", "[a-b]", "[!a]", "[^b]", "[]x]", "\\"),
    *("[[:alpha:]]", "[[:nope:]]", "[x", "[a-", "\\a", "\\*", "\\ ", "é", "!", "#", "-", "[b-a]", "[a/b]", "\\/", "."),
    *("*.py", "**.py", "a**b", "***", "?*", "*?", "[*]", "{a,b}", "[^", "[!", "[\\]]", "[[]", "[a-\\z]", "中", " "),
)
PATHS = tuple(
    f"{first}{rest}"
    for first in ("a", "ab", "a.b", "[x]", "-", "#b", "!a")
    for rest in ("", "/a", "/src/a.py", "/a/b/c.py")
)
"""All of ASCII: for git `?` and a class stand for one byte, here for one character."""

TOGETHER = 40
"""Rules that are asked of git at once: starting it costs more than all of them."""

GIT_S = 10.0


class Globs:
    """Each the one rule of a folder; git says which of the folder's paths it ignores."""

    inputs = TOGETHER

    def __init__(self, folder: Path) -> None:
        self._root = folder / "rules"
        self._root.mkdir()
        git(self._root, "init", "-q")
        for number in range(TOGETHER):
            (self._root / f"f{number}").mkdir()

    def make(self, chance: random.Random) -> list[str]:
        return [self._rule(chance) for _ in range(TOGETHER)]

    @staticmethod
    def _rule(chance: random.Random) -> str:
        rule = "".join(chance.choices(GLOBS, k=chance.randint(1, 6)))
        if chance.random() < 0.3:
            rule = mutation.mutated(chance, rule)
        if chance.random() < 0.01:
            rule = rule * chance.choice((20, 200))
        return re.sub(r"[\0\n\ud800-\udfff]", "", rule)[:MAX_PATTERN_CHARS]

    def check(self, made: list[str]) -> None:
        for number, rule in enumerate(made):
            (self._root / f"f{number}" / ".gitignore").write_text(rule, encoding="utf-8", newline="")
        paths = [f"f{number}/{path}" for number in range(TOGETHER) for path in PATHS]
        rules = IgnoreTree(os.fspath(self._root), (".gitignore",))
        mine = {path for path in paths if rules.ignores(path) is not None}
        asked = "".join(f"{path}\0" for path in paths)
        command = ["git", "check-ignore", "-z", "--no-index", "--stdin"]
        try:
            said = subprocess.run(command, cwd=self._root, input=asked.encode(), capture_output=True, timeout=GIT_S)
        except subprocess.TimeoutExpired:
            return  # for its matcher some rules take for ever, and ours has answered
        theirs = set(said.stdout.decode().split("\0")) - {""}
        differing = sorted(mine ^ theirs)
        told = [(path, made[int(path[1:].partition("/")[0])], path in theirs) for path in differing[:5]]
        assert not told, f"(path, rule, ignored by git): {told}"


# --- configuration ------------------------------------------------------------------------------------------------

FILES = ("findling.toml", ".findling/config.toml", ".findling/config.json", "user.toml", "user.json")


@dataclass(frozen=True)
class Configured:
    file: str
    text: str
    environ: Mapping[str, str]
    flags: Mapping[str, object]


class Configurations:
    """Files of the project's and of the user's, variables and flags: what a project may not decide stays undecided."""

    inputs = 1

    def __init__(self, folder: Path) -> None:
        self._root, self._user = folder / "root", folder / "user" / "findling"
        for made in (self._root / ".findling", self._user):
            made.mkdir(parents=True)

    def make(self, chance: random.Random) -> Configured:
        file = chance.choice(FILES)
        options = chance.sample(list(OPTIONS.values()), k=chance.randint(0, 4))
        written = {chance.choice(list(option.names())): self._value(chance, option) for option in options}
        if chance.random() < 0.2:
            written[mutation.text(chance, tuple(OPTIONS), most=3)] = mutation.value(chance)
        text = _as_json(written) if file.endswith(".json") else _as_toml(written)
        if chance.random() < 0.4:
            text = mutation.mutated(chance, text)
        environ = {}
        if chance.random() < 0.3:
            named = [option for option in OPTIONS.values() if option.environment]
            environ = {chance.choice(named).environment: mutation.text(chance, ("1", "true", "ollama", "0.5", "a,b"))}
        flags: dict[str, object] = {}
        if chance.random() < 0.3:
            option = chance.choice(list(OPTIONS.values()))
            flags = {chance.choice(list(option.names())): self._value(chance, option)}
        return Configured(file, text, environ, flags)

    @staticmethod
    def _value(chance: random.Random, option: Option) -> Any:
        kind = chance.random()
        if kind < 0.25:
            return option.default
        if kind < 0.4 and option.choices:
            return chance.choice(option.choices)
        if kind < 0.6 and option.bounds:
            low, high = option.bounds
            number = chance.choice((low, high, low - 1, high + 1, chance.uniform(low, high)))
            return int(number) if chance.random() < 0.5 else number
        if kind < 0.8:
            return mutation.text(chance, ("http://localhost:11434", "a", "*.py", "./model", "~", "https://u:p@h/?x#y"))
        return mutation.value(chance)

    def check(self, made: Configured) -> None:
        for name in FILES:
            self._path(name).unlink(missing_ok=True)
        self._path(made.file).write_text(made.text, encoding="utf-8", errors="surrogatepass", newline="")
        environ = {"XDG_CONFIG_HOME": os.fspath(self._user.parent), "HOME": "/nowhere", **made.environ}
        loaded = load(self._root, flags=made.flags, environ=environ)
        for key, origin in loaded.origins.items():
            option, source = OPTIONS[key], origin.source
            if origin.name and not source.trusted and not origin.derived:
                assert option.project is not NEVER and option.project.allows(origin.value), (key, origin)
            assert 0 <= origin.line <= made.text.count("\n") + 1
            if option.bounds and origin.value is not None:
                assert isinstance(origin.value, (int, float))
                assert option.bounds[0] <= origin.value <= option.bounds[1], (key, origin.value)
            assert isinstance(origin.place, str)
        assert all(warning.encode() for warning in loaded.warnings)

    def _path(self, name: str) -> Path:
        return self._user / f"config{Path(name).suffix}" if name.startswith("user") else self._root / name


def _nested(written: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in written.items():
        place = tree
        *sections, last = name.split(".")
        for section in sections:
            inner = place.setdefault(section, {})
            place = inner if isinstance(inner, dict) else place
        place[last] = value
    return tree


def _as_json(written: Mapping[str, Any]) -> str:
    return json.dumps(_nested(written), indent=2)


def _as_toml(written: Mapping[str, Any]) -> str:
    lines = []
    for name, value in written.items():
        section, _, last = name.rpartition(".")
        plain = all(re.fullmatch(r"[A-Za-z0-9_.-]+", part) for part in (section, last))
        name = f"[{section}]\n{last}" if plain else f'"{name}"'
        lines.append(f"{name} = {json.dumps(value)}")
    return "\n".join(lines)


# --- the arguments of every tool ----------------------------------------------------------------------------------

WORDS_OF_ARGUMENTS = (
    *QUESTIONS,
    *("src/retry.py", "docs/guide.md", "retry", "Client", "main", "feature/one", "HEAD~1", "v1", "python", "docs/"),
)
STARTS = frozenset(("index_repo", "sync_repo", "reindex_vectors", "fetch_repo", "fetch_file"))
"""What starts a process of its own: valid arguments are given to them seldom."""

SELDOM = 0.003
_URLS = ("ftp://example.org/x", "https://127.0.0.1:1/x", "file:///etc/passwd", "https://u:p@localhost/", "x")
"""Nothing here reaches a network: they are refused as they stand, or by their address."""


@dataclass(frozen=True)
class Asked:
    tool: str
    arguments: Any


class Arguments:
    """Valid ones and mutated ones, after the schemas that the server publishes."""

    inputs = 1

    def __init__(self, folder: Path) -> None:
        self._root = project(folder)
        self._workspace = Workspace(self._root, root=self._root)
        self._schemas = {name: jsonschema.Draft202012Validator(dict(tool.schema)) for name, tool in TOOLS.items()}

    def make(self, chance: random.Random) -> Asked:
        tool = chance.choice(list(TOOLS))
        arguments: Any = self._object(chance, TOOLS[tool].schema)
        broken = 1.0 if tool in STARTS and chance.random() > SELDOM else 0.5
        if chance.random() < broken:
            arguments = self._broken(chance, arguments)
        return Asked(tool, arguments)

    def _object(self, chance: random.Random, schema: Mapping[str, Any]) -> dict[str, Any]:
        made = {}
        for name, wanted in schema["properties"].items():
            if name in schema.get("required", ()) or chance.random() < 0.35:
                made[name] = self._value(chance, name, wanted)
        return made

    def _value(self, chance: random.Random, name: str, schema: Mapping[str, Any]) -> Any:
        kind = schema["type"]
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if kind == "boolean":
            return chance.random() < 0.5
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", 0), schema.get("maximum", 1000)
            number = chance.choice((low, high, chance.uniform(low, min(high, low + 20))))
            return int(number) if kind == "integer" else float(number)
        if kind == "array":
            return [self._value(chance, name, schema["items"]) for _ in range(chance.randint(0, 3))]
        if kind == "object":
            return self._object(chance, schema)
        if "url" in name.lower():
            return chance.choice(_URLS)
        given = chance.choice(WORDS_OF_ARGUMENTS)
        if name in ("filePath", "path") and chance.random() < 0.5:
            given = os.fspath(self._root / given)
        surrogates = chance.random() < 0.1
        return mutation.mutated(chance, given, surrogates=surrogates) if chance.random() < 0.4 else given

    @staticmethod
    def _broken(chance: random.Random, arguments: dict[str, Any]) -> Any:
        kind = chance.randrange(5)
        if kind == 0:
            return mutation.value(chance)
        if kind == 1 and arguments:
            arguments.pop(chance.choice(list(arguments)))
        elif kind == 2:
            arguments[mutation.text(chance, ("query", "limit", "top_k", "path"), most=3)] = mutation.value(chance)
        else:
            name = chance.choice([*arguments, "query"])
            arguments[name] = mutation.value(chance)
        return arguments

    def check(self, made: Asked) -> None:
        if made.tool in STARTS and self._is_valid(made) and random.Random(repr(made)).random() > SELDOM:
            return
        result = call(made.tool, made.arguments, self._workspace)
        for text in result.text_blocks:
            assert "Unexpected" not in text[:200] and "internal_error" not in text[:200], text[:500]
            text.encode()
        if result.structured is not None:
            json.dumps(result.structured, allow_nan=False).encode()
        if not self._is_valid(made) and not _renamed(made):
            assert result.is_error, "arguments against the schema were taken"
        if result.is_error:
            raise Refused("\n".join(result.text_blocks)[:1000])

    def _is_valid(self, made: Asked) -> bool:
        return made.arguments is None or bool(self._schemas[made.tool].is_valid(made.arguments))


class Refused(FindlingError):
    """A tool's answer that is an error."""


def _renamed(made: Asked) -> bool:
    """Whether an argument stands under a name that is taken for another."""
    return isinstance(made.arguments, dict) and bool({"limit", "top_k", "path"} & made.arguments.keys())


# --- URLs and branches ----------------------------------------------------------------------------------------------

URLS = (
    *("https", "http", "ftp", "file", "HTTPS", "ext", "://", ":", "//", "/", "\\", "@", "#", "?", "&", "%", "%2f"),
    *("[::1]",),
    *("example.org", "127.0.0.1", "localhost", "0x7f.1", "2130706433", "127.1", "0177.0.0.1", "[::ffff:127.0.0.1]"),
    *(".",),
    *("169.254.169.254", "10.0.0.1", "[fe80::1%25eth0]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "①②⑦.⓪.⓪.①", "。"),
    *(":80",),
    *(":443", ":22", ":0", ":99999", ":08", "user", "user:pass@", "a/b.git", "..", "x" * 64, "xn--", "münchen"),
    *("-", "_"),
)


class Urls:
    """Taken apart, and where their host is a number, resolved: nothing of this machine or a private net is reached."""

    inputs = 1

    def __init__(self, _: Path) -> None:
        pass

    def make(self, chance: random.Random) -> str:
        if chance.random() < 0.3:
            return mutation.mutated(chance, "https://example.org:443/owner/name.git?a=b#main", surrogates=True)
        if chance.random() < 0.4:
            host = "".join(
                chance.choices(("127", "0x7f", "0", "1", "10", "255", ".", "169.254", "017", ":", "::"), k=5)
            )
            return f"http://{chance.choice((host, f'[{host}]'))}/{chance.choice(URLS)}"
        return "https://" * (chance.random() < 0.7) + mutation.text(chance, URLS, most=6, surrogates=True)

    def check(self, made: str) -> None:
        target = target_of(made)
        assert target.scheme in ("http", "https") and target.port in (80, 443)
        assert not target.permitted
        assert target.path.startswith("/") and target.path.isascii() and target.path.isprintable()
        assert " " not in target.path and " " not in target.authority
        assert target.host.isascii() and not set(target.host) & set("/\\@?#% \t\r\n")
        if ":" in target.host or _is_number(target.host):
            self._check_number(target)

    @staticmethod
    def _check_number(target: Any) -> None:
        for address in addresses_of(target):
            assert is_public(address)
            inside = ipaddress.ip_address(address)
            assert inside.is_global and not inside.is_multicast, (target.host, address)


def _is_number(host: str) -> bool:
    """Whether the system takes a host for an address of version 4, however that is written."""
    try:
        socket.inet_aton(host)
    except OSError:
        return False
    return True


BRANCHES = (
    *("main", "feature/one", "v1.0", "HEAD", "HEAD~1", "HEAD^2", "@", "@{-1}", "refs/heads/main", "a..b", "x.lock"),
    *(".x",),
    *("-", "--upload-pack=id", "/", "//", ".", "..", "~", "^", ":", "?", "*", "[", "\\", "\0", " ", "é", "\x7f"),
    *("{", "}"),
)
ASK_GIT, ASK_ENGINE = 0.02, 0.02


@dataclass(frozen=True)
class Branch:
    name: str
    git: bool
    engine: bool


class Branches:
    """Names of branches, as a fetch and as a question take them: what git lets people call a branch is taken."""

    inputs = 1

    def __init__(self, folder: Path) -> None:
        self._root = project(folder)
        self._engine = Engine.open(root=self._root)

    def make(self, chance: random.Random) -> Branch:
        name = "".join(chance.choices(BRANCHES, k=chance.randint(0, 4)))
        if chance.random() < 0.5:
            name = mutation.mutated(chance, name, surrogates=True)
        if chance.random() < 0.01:
            name *= 100
        return Branch(name, chance.random() < ASK_GIT, chance.random() < ASK_ENGINE)

    def check(self, made: Branch) -> None:
        if made.engine:
            self._engine.at(made.name)
        if made.git and "\0" not in made.name and len(made.name) <= MAX_BRANCH and _encodable(made.name):
            command = ["git", "check-ref-format", "--branch", made.name]
            said = subprocess.run(command, cwd="/", capture_output=True, check=False)
            if said.returncode == 0:
                check_branch(made.name)
                return
        name = check_branch(made.name)
        assert name == made.name and not name.startswith("-") and ".." not in name
        assert not any(char <= " " or char == "\x7f" for char in name)


NAMES = (
    *(
        "a",
        "readme.md",
        "CON",
        "nul.txt",
        "COM1",
        "lpt9.log",
        "aux",
        "conin$",
        "COM¹",
        "\\\\?\\C:\\x",
        "C:",
        "c:/x",
        "..",
        ".",
    ),
    *(
        "\\",
        "/",
        ":",
        "::$DATA",
        " ",
        "...",
        "*",
        "?",
        "<",
        ">",
        "|",
        '"',
        ".git",
        "GIT~1",
        ".git\u200c",
        "é" * 50,
        "~",
        "-",
    ),
)


class WindowsNames:
    """Paths of fetched files, as every system would take them: what is written is a plain path below its folder."""

    inputs = 1

    def __init__(self, _: Path) -> None:
        pass

    def make(self, chance: random.Random) -> str:
        path = "".join(chance.choices(NAMES, k=chance.randint(1, 4)))
        return mutation.mutated(chance, path) if chance.random() < 0.5 else path

    def check(self, made: str) -> None:
        if problem := path_problem(made):
            raise InvalidInput(problem)
        path = PureWindowsPath(made)
        assert not (path.drive or path.root or path.is_absolute() or path.is_reserved()), path
        assert path.as_posix() == PurePosixPath(made).as_posix() == made, path
        assert ".." not in path.parts and all(part == part.rstrip(". ") for part in path.parts)
        assert not {".git", "git~1"} & {part.lower() for part in path.parts}
        name = path.name
        if not name.startswith("."):
            assert check_filename(name) == name


def _encodable(text: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in text)
