"""The syntax tree of a regular expression: parsed, bounded, and written out again so that it stays within a line.

The tree is the standard library's own, so a pattern means what `re` says it means. It is written out again for
`regex`, which obeys a time limit. That does three things that flags cannot: classes such as ``\\s`` and ``[^a]`` never
match a line break (lines are searched one at a time, though a whole file is scanned at once); ``\\w``, ``\\d``,
``\\s`` and ``\\b`` mean what they mean to `re`; and syntax that only `regex` knows never reaches it. Knows nothing of
files or trigrams.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from findling.model.errors import InvalidPattern, OtherSyntax

IN_BRACKETS = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "\\d",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "word": "\\w",
    "xdigit": "0-9A-Fa-f",
}
"""POSIX classes, and ripgrep's own two, as they are written here inside brackets."""

_NAMES = "|".join(IN_BRACKETS)
_OTHERS = re.compile(
    rf"\\(?P<edge>[<>])|\\.|\(\?#[^)]*\)?|(?P<comment>#)|(?P<bare>\[\^?:(?:{_NAMES}):\])"
    rf"|\[\^?\]?(?:\\.|(?!\[:\^?(?:{_NAMES}):\])[^\]\\])*(?P<posix>\[:\^?(?:{_NAMES}):\])?",
    re.DOTALL,
)
"""Syntax that silently means something else here than in grep, ripgrep and vi. Escapes, comments and sets are
matched too, so that nothing inside them is mistaken for it."""


def _refuse_other_syntax(pattern: str, *, verbose: bool) -> None:
    """Raises `OtherSyntax` for a POSIX class, and for ``\\<`` and ``\\>`` outside brackets, at their position.

    ``pattern`` is one line that parses. ``verbose``: whether it begins with ``(?x)``, so that ``#`` begins a comment.
    """
    for found in _OTHERS.finditer(pattern):
        if verbose and found["comment"]:
            return
        if edge := found["edge"]:
            what, at = f"{'beginning' if edge == '<' else 'end'} of a word", found.start()
            written = f"\\{edge}"
            remedy = f"Write \\b, or ask for whole words (grep -w); a plain {edge} needs no backslash."
        elif written := found["bare"] or found["posix"] or "":
            what, at = "class of characters", found.end() - len(written)
            own = IN_BRACKETS[written.strip("[]:^")]
            instead = f"[^{own}] as a set of its own" if "^" in written else f"{own} in its place, inside brackets"
            remedy = f"Write {instead}. For the text as it stands, ask for a literal search (grep -F)."
        else:
            continue
        raise OtherSyntax(
            f"The expression does not parse: {written} at position {at} is no {what} in Python's syntax, which is used "
            "here.",
            position=at,
            remedy=remedy,
        )


#: The standard parser's nodes: a sequence of (operation, argument).
Nodes = Iterable[tuple[Any, Any]]

#: Longer than any pattern a person writes; bounds parsing.
MAX_PATTERN_CHARS = 4096
#: The `regex` engine copies the body of x{n} n times when compiling: 100,000 nodes take 0.1 s and 50 MB.
MAX_EXPANDED_NODES = 100_000

_NEWLINE = 10
REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
# What str.isspace() accepts, which is what \s means, without the line break.
_SPACE_IN_ASCII = "\\t\\x0b-\\r\\x1c-\\x1f "
_SPACE = f"{_SPACE_IN_ASCII}\\x85\\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_ASCII_SPACE = "\\t\\x0b-\\r "
_ASCII_WORD = "A-Za-z0-9_"
_ENDS_OF_TEXT = {ops.AT_BEGINNING_STRING: "\\A", ops.AT_END_STRING: "\\Z"}
_COMPLEMENTS = {
    frozenset((ops.CATEGORY_SPACE, ops.CATEGORY_NOT_SPACE)): "[\\s\\S]",
    frozenset((ops.CATEGORY_WORD, ops.CATEGORY_NOT_WORD)): "[\\w\\W]",
    frozenset((ops.CATEGORY_DIGIT, ops.CATEGORY_NOT_DIGIT)): "[\\d\\D]",
}
_REMEDY = "To search for the text as it stands, ask for a literal search (grep -F)."


def parse(pattern: str, *, multiline: bool = False) -> Any:
    """The tree of ``pattern``. Raises InvalidPattern with the position when it does not parse or is too large, and for
    a line break unless ``multiline``."""
    _check_length(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set": it is taken as the standard library takes it
            re.compile(pattern)  # which refuses more than parsing does
            tree = _parser.parse(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at position {error.pos}"
        raise InvalidPattern(
            f"The expression does not parse: {error.msg}{where}.", position=error.pos, remedy=_REMEDY
        ) from error
    except (RecursionError, OverflowError) as error:
        raise InvalidPattern("The expression is nested too deeply or repeats too often.", remedy=_REMEDY) from error
    _refuse_other_syntax(pattern, verbose=bool(tree.state.flags & re.VERBOSE))
    if expanded_size(tree) > MAX_EXPANDED_NODES:
        raise InvalidPattern(
            f"The expression expands to more than {MAX_EXPANDED_NODES:,} parts.",
            remedy="Use smaller repeat counts.",
        )
    if not multiline and _matches_line_break(tree):
        raise _line_break(_line_break_position(pattern))
    return tree


def literal_nodes(text: str, *, multiline: bool = False) -> list[tuple[Any, Any]]:
    """The tree that matches exactly ``text``. Raises InvalidPattern when it is too long, and for a line break unless
    ``multiline``."""
    _check_length(text)
    if "\n" in text and not multiline:
        raise _line_break(text.index("\n"))
    return [(ops.LITERAL, ord(character)) for character in text]


def _check_length(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN_CHARS:
        raise InvalidPattern(
            f"The pattern has {len(pattern)} characters; {MAX_PATTERN_CHARS} are allowed.", position=MAX_PATTERN_CHARS
        )


def _line_break(position: int | None) -> InvalidPattern:
    return InvalidPattern(
        "The pattern contains a line break, but lines are searched one at a time.",
        position=position,
        remedy="Leave the line break out, or ask for matches of several lines (grep -U).",
    )


def sets_ignore_case(nodes: Nodes) -> bool:
    """Whether a group inside switches case off for itself, as ``(?i:...)`` does."""
    return any(
        (op is ops.SUBPATTERN and bool(argument[1] & re.IGNORECASE))
        or any(map(sets_ignore_case, children(op, argument)))
        for op, argument in nodes
    )


def refers_to_groups(nodes: Nodes) -> bool:
    """Whether an expression has a part that depends on what a group has matched."""
    return any(
        op in (ops.GROUPREF, ops.GROUPREF_EXISTS) or any(map(refers_to_groups, children(op, argument)))
        for op, argument in nodes
    )


def beyond_a_line(nodes: Nodes, flags: int = 0) -> list[str]:
    """What in an expression is written to match beyond one line, where it cannot: a flag, a class of all characters,
    the ends of the whole text. ``flags``: those of the whole expression."""
    found = ["(?s)"] if flags & re.DOTALL else []
    for op, argument in nodes:
        if op is ops.SUBPATTERN and argument[1] & re.DOTALL:
            found.append("(?s:...)")
        elif op is ops.IN and (both := _everything(argument)):
            found.append(both)
        elif op is ops.AT and argument in _ENDS_OF_TEXT:
            found.append(_ENDS_OF_TEXT[argument])
        for child in children(op, argument):
            found += beyond_a_line(child)
    return list(dict.fromkeys(found))


def _everything(items: Iterable[tuple[Any, Any]]) -> str:
    """A set with a class and its complement, as it is usually written; '' for any other."""
    classes = {argument for op, argument in items if op is ops.CATEGORY}
    return next((words for pair, words in _COMPLEMENTS.items() if pair <= classes), "")


def children(op: Any, argument: Any) -> list[Any]:
    """The sequences directly inside a node."""
    if op in REPEATS:
        return [argument[2]]
    if op is ops.SUBPATTERN:
        return [argument[3]]
    if op is ops.BRANCH:
        return list(argument[1])
    if op is ops.ATOMIC_GROUP:
        return [argument]
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        return [argument[1]]
    if op is ops.GROUPREF_EXISTS:
        return [part for part in argument[1:] if part is not None]
    return []


def expanded_size(nodes: Nodes) -> int:
    """How many nodes a compiler that copies the body of counted repeats would make."""
    size = 0
    for op, argument in nodes:
        inside = sum(expanded_size(child) for child in children(op, argument))
        size += 1 + inside * (max(1, argument[0]) if op in REPEATS else 1)
    return size


def _matches_line_break(nodes: Nodes) -> bool:
    return any(
        (op is ops.LITERAL and argument == _NEWLINE) or any(map(_matches_line_break, children(op, argument)))
        for op, argument in nodes
    )


def _line_break_position(pattern: str) -> int | None:
    """Where the line break stands, when that is certain."""
    places = [m.start() for m in re.finditer(r"\n|(?<!\\)(?:\\\\)*\\n", pattern)]
    return places[0] if len(places) == 1 else None


# --- writing out ----------------------------------------------------------------------------------------------


class Style(NamedTuple):
    """How an expression is written: whether its classes are ASCII's; whether it may match beyond a line
    (``multiline``), and ``.`` a line break (``dotall``, which then counts); whether the text is all ASCII
    (``ascii_text``), where the engine's own classes mean the same and are faster."""

    ascii_only: bool = False
    multiline: bool = False
    dotall: bool = False
    ascii_text: bool = False

    @property
    def no_break(self) -> str:
        """What keeps a negated set from matching a line break."""
        return "" if self.multiline else "\\n"


def word_class(style: Style) -> str:
    """What ``\\w`` means, to be put inside brackets."""
    if style.ascii_text:
        return "\\w"
    return _ASCII_WORD if style.ascii_only else "\\p{L}\\p{N}_"


def write(nodes: Nodes, style: Style) -> str:
    """The expression as source for `regex`, to be compiled with MULTILINE (plus IGNORECASE if set)."""
    return "".join(_write_node(op, argument, style) for op, argument in nodes)


def _write_node(op: Any, argument: Any, style: Style) -> str:
    if op is ops.LITERAL:
        return escape(argument)
    if op is ops.ANY:
        return "(?s:.)" if style.multiline and style.dotall else "[^\\n]"
    if op is ops.NOT_LITERAL:
        return f"[^{escape(argument)}{style.no_break}]"
    if op is ops.IN:
        return _write_set(argument, style)
    if op in REPEATS:
        return _write_repeat(op, argument, write(argument[2], style))
    if op is ops.SUBPATTERN:
        return _write_group(argument, style)
    if op is ops.BRANCH:
        return f"(?:{'|'.join(write(part, style) for part in argument[1])})"
    if op is ops.AT:
        return _write_anchor(argument, style)
    if op is ops.GROUPREF:
        return f"(?:\\{argument})"
    if op is ops.GROUPREF_EXISTS:
        group, yes, no = argument
        return f"(?({group}){write(yes, style)}{'' if no is None else '|' + write(no, style)})"
    if op is ops.ATOMIC_GROUP:
        return f"(?>{write(argument, style)})"
    if op in (ops.ASSERT, ops.ASSERT_NOT):
        direction, body = argument
        return f"(?{'<' if direction < 0 else ''}{'=' if op is ops.ASSERT else '!'}{write(body, style)})"
    if op is ops.FAILURE:
        return "(?!)"
    raise InvalidPattern(f"The expression uses {str(op).lower()}, which is not supported.", remedy=_REMEDY)


def escape(code: int) -> str:
    """One character as source that means itself, inside brackets and outside."""
    character = chr(code)
    return character if code > 127 or character.isalnum() else f"\\x{code:02x}"


def _write_repeat(op: Any, argument: Any, body: str) -> str:
    low, high, _ = argument
    bounds = f"{{{low},{'' if high is ops.MAXREPEAT else high}}}"
    mode = {ops.MAX_REPEAT: "", ops.MIN_REPEAT: "?", ops.POSSESSIVE_REPEAT: "+"}[op]
    return f"(?:{body}){bounds}{mode}"


def _write_group(argument: Any, style: Style) -> str:
    group, added, removed, body = argument
    inner = style._replace(
        ascii_only=(style.ascii_only or bool(added & re.ASCII)) and not added & re.UNICODE,
        dotall=(style.dotall or bool(added & re.DOTALL)) and not removed & re.DOTALL,
    )
    source = write(body, inner)
    if group is not None:
        return f"({source})"
    flags = ("i" if added & re.IGNORECASE else "") + ("-i" if removed & re.IGNORECASE else "")
    return f"(?{flags}:{source})"


def _write_anchor(where: Any, style: Style) -> str:
    if style.multiline and where in _ENDS_OF_TEXT:
        return _ENDS_OF_TEXT[where]
    if where in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
        return "^"
    if where in (ops.AT_END, ops.AT_END_STRING):
        return "$"
    word = f"[{word_class(style)}]"
    if where is ops.AT_BOUNDARY:
        if style.ascii_text:
            return "\\b"
        return f"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"
    return f"(?:(?<={word})(?={word})|(?<!{word})(?!{word}))"


def _write_set(items: list[tuple[Any, Any]], style: Style) -> str:
    space = _ASCII_SPACE if style.ascii_only else _SPACE_IN_ASCII if style.ascii_text else _SPACE
    classes = {
        ops.CATEGORY_SPACE: space + ("\\n" if style.multiline else ""),
        ops.CATEGORY_DIGIT: "0-9" if style.ascii_only else "\\p{Nd}",
        ops.CATEGORY_WORD: word_class(style),
    }
    complements = {
        ops.CATEGORY_NOT_SPACE: classes[ops.CATEGORY_SPACE],
        ops.CATEGORY_NOT_DIGIT: classes[ops.CATEGORY_DIGIT],
        ops.CATEGORY_NOT_WORD: classes[ops.CATEGORY_WORD],
    }
    negated = False
    members = ""
    choices: list[str] = []
    for op, argument in items:
        if op is ops.NEGATE:
            negated = True
        elif op is ops.LITERAL:
            members += "" if argument == _NEWLINE and not style.multiline else escape(argument)
        elif op is ops.RANGE:
            members += f"{escape(argument[0])}-{escape(argument[1])}" if style.multiline else _write_range(*argument)
        elif argument in classes:
            members += classes[argument]
        else:
            choices.append(f"[^{complements[argument]}{style.no_break}]")
    if not choices:
        if negated:
            return f"[^{members}{style.no_break}]"
        return f"[{members}]" if members else "(?!)"
    if members:
        choices.append(f"[{members}]")
    either = choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"
    any_character = "(?s:.)" if style.multiline else "[^\\n]"
    return f"(?:(?!{either}){any_character})" if negated else either


def _write_range(low: int, high: int) -> str:
    if not low <= _NEWLINE <= high:
        return f"{escape(low)}-{escape(high)}"
    before = f"{escape(low)}-{escape(_NEWLINE - 1)}" if low < _NEWLINE else ""
    return before + (f"{escape(_NEWLINE + 1)}-{escape(high)}" if high > _NEWLINE else "")
