"""What a file's name and first bytes say about it: secret, binary, minified, generated, vendored, a test …

Pure functions on paths and bytes; decides nothing about ignore rules and reads nothing of a user's. Whole names and
extensions stand in ``marks.json``.

Choices, made once: secrets, binaries, minified files and lock files are left out. Generated, vendored, test and
example files are indexed and marked, so that ranking can place them.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from typing import TYPE_CHECKING, AnyStr

from findling.model.secrets import private_keys

if TYPE_CHECKING:
    from findling.model.languages import Language


@cache
def _compiled(pattern: AnyStr) -> re.Pattern[AnyStr]:
    """Compiled when first used: a check that finds nothing new needs none of these."""
    return re.compile(pattern)


# --- names that are left out ----------------------------------------------------------------------------------

with open(f"{os.path.dirname(__file__)}/marks.json", "rb") as _file:  # noqa: PTH120, PTH123 - pathlib takes longer
    _table = json.load(_file)


def _words(lines: list[str]) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Only extensions that are never text; the others show what they are when they are read.
_BINARY_EXTENSIONS = frozenset(f".{word}" for lines in _table["binary_extensions"].values() for word in _words(lines))
_LOCK_FILES = _words(_table["lock_files"])
_SECRET_EXTENSIONS = _words(_table["secret_extensions"])
_SECRET_NAMES = _words(_table["secret_names"])
_TOKEN_FILES = _words(_table["token_files"])
_MINIFIED_NAME = r"[.-]min\.(?:js|mjs|cjs|css|html|json|svg)$|\.(?:js|mjs|cjs|css|ts|jsx|tsx)\.map$"
_MINIFIED_EXTENSIONS = frozenset((".js", ".mjs", ".cjs", ".css", ".html", ".json", ".svg", ".map"))

_EXAMPLE_WORDS = frozenset("example sample template tmpl tpl dist default defaults schema".split())

# Names that are secrets as data and ordinary source as code: credentials.json, but credentials.ts.
_DATA_EXTENSIONS = r"(?:json|ya?ml|toml|ini|cfg|conf|xml|csv|txt|properties|db|enc|bak|old)"
_SECRET_DATA_NAME = rf"""(?x)
    (?:.*[._-])?credentials?\.{_DATA_EXTENSIONS}
    | \.?secrets?\.{_DATA_EXTENSIONS}
    | (?:.*[._-])?client[_-]?secrets?(?:[._-].*)?\.json
    | (?:.*[._-])?service[_-]?account(?:[_-]?key)?(?:[._-].*)?\.json
    | passwords?\.{_DATA_EXTENSIONS}
    | id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-](?!pub$)[^.]*)?(?:\.(?:bak|old|txt|orig|enc))?
    | .*\.tfstate\..* | .*\.tfvars\.json | kubeconfig\.(?:ya?ml|json|conf) | .*\.key\.enc
"""

_PRIVATE_FOLDERS = r"(?:^|/)(?:\.ssh|\.gnupg|\.aws|\.azure|\.password-store|\.kube|\.docker)/"
_PRIVATE_NAMES = frozenset(("config", "config.json", "credentials", "known_hosts", "authorized_keys"))


def left_out_by_name(path: str) -> tuple[str, str] | None:
    """Why the file at ``path`` is left out without a look inside, as (reason, sentence); None when it is not.

    Reasons: ``secret``, ``binary``, ``minified``, ``lock_file``.
    """
    name = path[path.rfind("/") + 1 :].lower()
    dot = name.rfind(".")
    extension = name[dot:] if dot >= 0 else ""
    if extension in _BINARY_EXTENSIONS:
        return "binary", f"{extension} files are not text"
    if name in _LOCK_FILES:
        return "lock_file", "pinned versions, written by a tool"
    if extension in _MINIFIED_EXTENSIONS and _compiled(_MINIFIED_NAME).search(name):
        return "minified", "made for machines from another file"
    if _is_secret_name(path, name, extension):
        return "secret", "its name says that it holds keys, passwords or tokens"
    return None


def _language_of(path: str) -> Language:
    from findling.model.languages import language_of  # its table takes 5 ms to build, and few files need it here

    return language_of(path)


def _is_secret_name(path: str, name: str, extension: str) -> bool:
    if extension in _SECRET_EXTENSIONS or name in _SECRET_NAMES:
        return True
    if ".env" in name and (name.startswith(".env") or extension == ".env"):
        # .env, .env.local, prod.env; but neither .env.example, example.env nor .environment.ts.
        words = name.replace("_", ".").replace("-", ".").split(".")
        return (
            "env" in words
            and not _EXAMPLE_WORDS.intersection(words)
            and (extension == ".env" or _language_of(name.removeprefix(".env")).kind != "code")
        )
    if name[0] in "._" or "cred" in name or "secret" in name or "account" in name or "password" in name:
        if _compiled(_SECRET_DATA_NAME).fullmatch(name):
            # Templates of a chart or a playbook are meant to be shared: they name secrets, they hold none.
            return "/templates/" not in f"/{path}" and not _EXAMPLE_WORDS.intersection(re.split(r"[._-]", name))
    elif name.startswith(("id_", "kubeconfig")) or ".tfstate" in name or ".tfvars" in name or extension == ".enc":
        return _compiled(_SECRET_DATA_NAME).fullmatch(name) is not None
    return "/." in f"/{path}" and name in _PRIVATE_NAMES and _compiled(_PRIVATE_FOLDERS).search(path) is not None


# --- contents that are left out -------------------------------------------------------------------------------

_TOKEN_LINES = (
    # A literal value: ${NPM_TOKEN} and <token> are not.
    rb"(?im)^\s*(?://[^\n=]*:)?_?(?:authToken|auth|password|token)\s*[:=]\s*[\"']?[A-Za-z0-9+/_=.~-]{8,}"
)
_MAX_KEY_SHARE = 0.5  # code with a test key inside stays; a file that is mostly key does not


def looks_secret(data: bytes, path: str = "") -> bool:
    """Whether a file's content is a secret (`secret_in`)."""
    return bool(secret_in(data, path))


LFS_POINTER = ("lfs_pointer", "Git LFS keeps its content elsewhere")

_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\r?\n(?:[a-z0-9.-]+ [^\n]*\n){0,30}?oid sha256:")


def is_lfs_pointer(data: bytes) -> bool:
    """Whether git has only noted which content belongs here, which is not in this clone."""
    return len(data) <= _MOST_POINTER_BYTES and data.startswith(b"version ") and _POINTER.match(data) is not None


_MOST_POINTER_BYTES = 1024  # of the specification


def secret_in(data: bytes, path: str = "") -> str:
    """What secret a file's content is, '' for none: a private key, or a token in a file that is known to hold them.

    With a ``path``, code and documents that merely contain a key (a test, a manual) are no secrets as long as
    the key is less than half of them; it is masked in them. Without one, any complete key block counts.
    """
    if keys := list(private_keys(data)):
        is_data = not path or _language_of(path).kind == "data" or _language_of(path).id == "text"
        if is_data or sum(end - start for start, _, end in keys) > _MAX_KEY_SHARE * len(data):
            return f"a private key (line {_line(data, keys[0][0])})"
    if path[path.rfind("/") + 1 :].lower() in _TOKEN_FILES:
        token = _compiled(_TOKEN_LINES).search(data)
        return f"a token or password (line {_line(data, token.end())})" if token else ""
    return ""


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


# --- marks ----------------------------------------------------------------------------------------------------

_VENDORED_PATH = (
    r"(?:^|/)(?:vendor|vendored|_vendor|third[_-]?party|thirdparty|3rd[_-]?party|3rdparty|external|externals|extern|"
    r"node_modules|bower_components|deps|pods|carthage|godeps|site-packages|jspm_packages|submodules)/"
    r"|(?:^|/)(?:jquery|bootstrap|modernizr|d3|angular|ember|prototype|mootools|require|underscore|lodash|backbone|"
    r"react-dom|three)(?:[.-][\w.-]+)?\.(?:js|css)$"
    r"|(?:^|/)gradlew(?:\.bat)?$|(?:^|/)mvnw(?:\.cmd)?$|(?:^|/)\.yarn/(?:releases|plugins|sdks)/"
)
_TEST_PATH = (
    r"(?:^|/)(?:tests?|__tests__|__mocks__|specs?|testing|testdata|test[_-]data|test[_-]fixtures|fixtures?|e2e|"
    r"integration[_-]tests?|unit[_-]tests?|androidtest|cypress|testsuite|testutils?|mocks?|[\w.-]+[._-]tests?|"
    r"[\w.-]+[._-]specs?|src/test)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*[._-](?:test|tests|spec|specs|unittest|e2e|cy|stories)\.[a-z]+|conftest\.py|"
    r"tests?\.[a-z]+)$|\.(?:bats|t|feature|snap)$"
)
_TEST_CAMEL = r"(?:^|/)(?:Test[A-Z]\w*|\w+(?:Test|Tests|TestCase|IT|Spec|Specs))\.\w+$"
_EXAMPLE_PATH = (
    r"(?:^|/)(?:examples?|samples?|demos?|tutorials?|playground|sandbox|quickstarts?|cookbook|recipes|snippets|"
    r"example[_-][\w-]+|[\w-]+[_-]examples?)/|(?:^|/)(?:example|sample|demo)[_\w-]*\.\w+$"
)
_GENERATED_PATH = (
    r"(?:^|/)(?:generated|__generated__|gen|autogen|codegen-out|_generated|genproto)/"
    r"|[._-](?:generated|g|gen|freezed|pb|pbobjc|pbjson|designer|autogen)\.[a-z]+$|_pb2(?:_grpc)?\.pyi?$|_grpc\.py$"
    r"|\.pb\.(?:go|cc|h|gw\.go|validate\.go)$|_string\.go$|zz_generated[^/]*$|bindata\.go$|mock_[^/]*\.go$"
    r"|\.(?:g4\.tokens|tokens|interp)$|(?:^|/)package\.resolved$"
)


def classify(path: str) -> frozenset[str]:
    """What the path alone says: a subset of generated, vendored, test, example, minified, lock."""
    lower = path.lower()
    marks: list[str] = []
    if _compiled(_GENERATED_PATH).search(lower):
        marks.append("generated")
    if _compiled(_VENDORED_PATH).search(lower):
        marks.append("vendored")
    if _compiled(_TEST_PATH).search(lower) or _compiled(_TEST_CAMEL).search(path):
        marks.append("test")
    if _compiled(_EXAMPLE_PATH).search(lower):
        marks.append("example")
    if _compiled(_MINIFIED_NAME).search(lower):
        marks.append("minified")
    if lower[lower.rfind("/") + 1 :] in _LOCK_FILES:
        marks.append("lock")
    return frozenset(marks) if marks else _NO_MARKS


_NO_MARKS: frozenset[str] = frozenset()

_GENERATED_HEAD = (
    rb"(?is)code generated .{0,200}?\bdo not edit|@generated\b"
    rb"|\bdo not (?:edit|modify)[^\n]{0,60}\b(?:generated|manually|by hand)"
    rb"|\b(?:auto[- ]?generated|automatically generated|generated automatically|machine[- ]generated)\b[^\n]{0,80}"
    rb"(?:\bby\b|\bfrom\b|\bdo not\b|\bfile\b|\bcode\b|\.|$)"
    rb"|generated by the protocol buffer compiler|<auto-generated|this file (?:is|was) generated\b|"
    rb"autogenerated by|generated by (?:swig|antlr|cython|bison|flex|thrift|autoconf|automake|qt|openapi|swagger)"
    rb"|generated by javadoc"
)
PAGES = "html"
"""The language of pages of documentation that are made of sources."""

_API_PAGE = (
    rb"(?i)<meta name=\"generator\" content=\"(?:doxygen|javadoc|rustdoc|pdoc|typedoc|jsdoc|docfx|dokka|yard)"
    rb"|<script>var pathToRoot =|id=\"tsd-nav-script\""
)
"""How such pages begin (Dokka and TypeDoc name themselves only at the end)."""
_GENERATED_BYTES = 2048  # the notice stands above the code
_GENERATED_LINES = 40
_MINIFIED_LINE = 1000  # bytes; people break lines long before, except paragraphs of prose
_MINIFIED_MEAN = 400  # bytes a line on average
_MINIFIED_SPACES = 0.10  # share of white space: prose and indented code have 15 % and more, minified code 2 to 6 %


def content_marks(head: bytes) -> frozenset[str]:
    """What the start of a file (2 KiB or more) says: a subset of generated and minified."""
    marks: list[str] = []
    top = b"\n".join(head[:_GENERATED_BYTES].split(b"\n", _GENERATED_LINES)[:_GENERATED_LINES])
    mentions = b"enerated" in top or b"ENERATED" in top or b"edit" in top or b"EDIT" in top
    if (mentions and _compiled(_GENERATED_HEAD).search(top)) or (
        b"<html" in top.lower() and _compiled(_API_PAGE).search(head)
    ):
        marks.append("generated")
    if looks_minified(head):
        marks.append("minified")
    return frozenset(marks) if marks else _NO_MARKS


def looks_minified(head: bytes) -> bool:
    """Whether the start of a file (2 KiB or more) is code that was made for machines."""
    if len(head) <= _MINIFIED_LINE or len(head) <= _MINIFIED_MEAN * (head.count(b"\n") + 1) or b"\0" in head:
        return False
    if max(map(len, head.split(b"\n"))) <= _MINIFIED_LINE:
        return False
    spaces = len(head) - len(head.translate(None, b" \t\r\n"))
    # Scripts without spaces between words are no minified code: their bytes are mostly above ASCII.
    ascii_share = len(head.translate(None, _HIGH)) / len(head)
    return spaces < _MINIFIED_SPACES * len(head) and ascii_share > 0.7


_HIGH = bytes(range(0x80, 0x100))
