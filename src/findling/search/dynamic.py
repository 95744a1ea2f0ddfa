"""What is called without being named as code: by a string in routes, settings and reflection. Never certain."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from posixpath import commonprefix

from findling.model import tokenizer
from findling.model.reading import MOST_ARGUMENTS, Use
from findling.model.rows import FileRow, SymbolRow
from findling.model.types import Grade
from findling.search.edges import CALLED, HELD, Definition, Edge, Ending, is_common
from findling.search.graph.modules import Lines
from findling.search.graph.rules import RULES
from findling.search.patterns import compile_pattern
from findling.store.protocols import Index

STRINGS_S, STRING_FILES = 1.0, 10
"""Time for reading the files that may hold a name in a string, and how many are read: the nearest, as their text has to
be read."""

_CALLED_BY = (
    "methodcaller|import_string|getMethod|getDeclaredMethod|invokeMethod|GetMethod|MethodByName|call_user_func"
    "|call_user_func_array|public_send|__send__|performSelector"
)
_LOOKED_UP = re.compile(
    rf"\b(?:{_CALLED_BY}|getattr|hasattr|setattr|attrgetter|patch|patch\.object|url_for|reverse|forName|method_exists"
    r"|NSSelectorFromString)\s*\([^\"'`]*$|\[\s*[\w\\]+::class\s*,\s*$"
)
"""What stands before a string by which something is looked up."""

_LOOKED_UP_IN_RUBY = re.compile(
    rf"\b(?:{_CALLED_BY}|(?:skip_|prepend_)?(?:before|after|around)_\w+|validate|helper_method|rescue_from|try|send"
    r"|respond_to\?|(?:instance_)?method|alias_method|(?:if|unless|with):)[\s(][^\"']*$"
)
_CALLS_SOMETHING = re.compile(rf"(?<![\w.])(getattr)\([^\n]*\)\(|\b({_CALLED_BY})\(")
_STAND_IN = re.compile(r"\bpatch\b|\bmock")
"""Puts something else in the place of what a string names."""

_PROSE = re.compile(
    r"""(?P<text>(?P<triple>\"{3}|'{3})(?:\\.|(?!(?P=triple)).)*(?P=triple))|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    r"""|`(?:\\.|[^`\\])*`|(?P<hash>\#[^\n]*)|(?P<slashes>//[^\n]*|/\*.*?(?:\*/|\Z))""",
    re.DOTALL,
)
"""Strings and comments: what begins in one of them is no other one. A comment that does not end is looked through once,
as it takes the rest of the file."""

_WITH_HASH, _WITH_SLASHES = frozenset(("python", "ruby", "php")), frozenset(("python", "ruby"))
"""Families whose comments begin with ``#``, and those where ``//`` begins none."""

_PARAMETER = re.compile(r"[(,]\s*\*{0,2}(\w+)\s*(?=[:=,)?]|func\b)")
_WRITTEN = re.compile(r"^\s*(?:(?:const|let|var)\s+)?(\w+)\s*(?::[^=]+)?:?=(?!=)")

_TEXTS = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]){1,200})\1|(?<![:\w]):([A-Za-z_]\w*[?!]?)""")
_PARTS = re.compile(r"[.:#@/\\]+")
_RESOURCES = re.compile(r"^\s*resources?\s+((?::\w+[,\s]*)+)")
_ACTIONS = frozenset("index show new create edit update destroy".split())
_CONTROLLER = "controller"


def named_in_strings(index: Index, lines: Lines, wanted: Iterable[Definition]) -> tuple[list[Edge], int]:
    """The lines of the same language that name definitions in a string, and how many files that may have more were not
    read. Likely where what owns a definition stands before its name, possible where the call around the string looks a
    name up; comments and docstrings name nothing."""
    until = time.monotonic() + STRINGS_S
    found: list[Edge] = []
    unread: set[str] = set()
    for definition in wanted:
        name, rules = definition.symbol.name, RULES.get(definition.file.language)
        if rules is None:
            continue
        written = re.escape(name)
        plan = compile_pattern(rf":{written}|{written}[\"'`]" if rules.family == "ruby" else rf"{written}[\"'`]").plan
        files = {file.path: file for file in index.files(index.containing(plan)).values()}
        fitting = [each for each in files.values() if each.language in RULES and RULES[each.language] == rules]
        near = sorted(fitting, key=lambda each: (-len(commonprefix((each.path, definition.file.path))), each.path))
        routes = list(filter(None, map(index.file_at, _routes(definition, index))))
        unread |= {file.path for file in near[STRING_FILES:]}
        holding = list(dict.fromkeys((*routes, *near[:STRING_FILES])))
        index.ahead(lambda index, files=holding: [index.doc_text(file.blob_id) for file in files])  # type: ignore[misc]
        for file in holding:
            if time.monotonic() > until:
                unread.add(file.path)
                continue
            for number, line in enumerate(_code(lines(file) or (), rules.family), 1):
                may_name = name in line or "resource" in line
                if may_name and (graded := _named(line, definition, file)):
                    around = _around(index.symbols(file.blob_id), number)
                    use = Use("string", name, "", MOST_ARGUMENTS, number, around.position if around else -1, "")
                    found.append(Edge(file, use, around, definition, "string", *graded))
    return found, len(unread)


def endings(index: Index, lines: Lines, definitions: Iterable[Definition]) -> Iterator[Ending]:
    """The lines of functions that call something by a name that is no code, or what a variable or a parameter holds."""
    every = list(definitions)
    index.ahead(lambda index: [index.doc_text(file.blob_id) for file, _ in every])
    for file, symbol in every:
        if symbol.kind not in CALLED or file.language not in RULES:
            continue
        rules = RULES[file.language]
        text = _code((lines(file) or ())[symbol.start_line - 1 : symbol.end_line], rules.family)
        symbols, around = index.symbols(file.blob_id), [symbol]
        while around[-1].parent >= 0:
            around.append(symbols[around[-1].parent])
        held = {name for row in around if row.kind in CALLED for name in _PARAMETER.findall(row.signature)}
        held |= {match[1] for line in text if (match := _WRITTEN.match(line))}
        held -= {row.name for row in symbols if row.parent == symbol.position} | rules.row.words.keys()
        calls = re.compile(rf"(?<![\w.])({'|'.join(sorted(held))})\(") if held else None
        for number, line in enumerate(text, symbol.start_line):
            if by_name := _CALLS_SOMETHING.search(line):
                yield Ending(file, number, symbol, f"calls by the name that `{by_name[1] or by_name[2]}` is given")
            elif calls is not None and number != symbol.name_line and (value := calls.search(line)):
                yield Ending(file, number, symbol, f"{HELD} `{value[1]}`")


def _code(lines: Sequence[str], family: str) -> list[str]:
    """Lines without their comments and, in Python, texts of several lines."""

    def kept(found: re.Match[str]) -> str:
        is_text = found["text"] and family == "python"
        is_comment = (found["hash"] and family in _WITH_HASH) or (found["slashes"] and family not in _WITH_SLASHES)
        return "\n" * found[0].count("\n") if is_text or is_comment else found[0]

    return _PROSE.sub(kept, "\n".join(lines)).split("\n")


def _named(line: str, definition: Definition, file: FileRow) -> tuple[Grade, str] | None:
    """The grade and the reason by which a line names a definition in a string."""
    name, is_ruby = definition.symbol.name, file.language == "ruby"
    if is_ruby and name in _ACTIONS and (resources := _RESOURCES.match(line)):
        named = {tokenizer.squash(each) for each in re.findall(r"\w+", resources[1])}
        return ("likely", "a route of `resources`") if named & _owners(definition) else None
    for match in _TEXTS.finditer(line):
        *before, last = _PARTS.split((match[2] or match[3]).strip("&()"))
        if last != name or (match[3] and not is_ruby):
            continue
        if before:
            if tokenizer.squash(before[-1]) in _owners(definition):
                grade: Grade = "possible" if _STAND_IN.search(line[: match.start()]) else "likely"
                return grade, f"a string names it after `{before[-1]}`"
        elif is_common(name, file.language):
            continue
        elif (_LOOKED_UP_IN_RUBY if is_ruby else _LOOKED_UP).search(line[: match.start()]):
            return "possible", "a string has its name"
    return None


def _owners(definition: Definition) -> set[str]:
    """What may stand before a definition's name in a string: its type, its file."""
    owner = tokenizer.squash(definition.symbol.scope.rpartition(".")[2])
    return {owner.removesuffix(_CONTROLLER), owner} if owner else {tokenizer.squash(_stem(definition.file))}


def _stem(file: FileRow) -> str:
    return file.path.rpartition("/")[2].partition(".")[0]


def _routes(definition: Definition, index: Index) -> list[str]:
    """The files of routes of a Rails controller."""
    is_action = definition.file.language == "ruby" and definition.symbol.name in _ACTIONS
    return index.paths_ending("routes.rb") if is_action else []


def _around(symbols: Sequence[SymbolRow], line: int) -> SymbolRow | None:
    """The innermost definition that has a line."""
    around = [row for row in symbols if row.start_line <= line <= row.end_line]
    return max(around, key=lambda row: row.start_line, default=None)
