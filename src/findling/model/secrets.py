"""Secrets inside of a text, and the text without them. Pure: knows neither paths nor disks.

Every text of a file passes `mask` on its way from bytes to whoever reads it (`text_encodings.as_utf8`,
`reading.decoding.decode`), so that nothing that is indexed, matched, counted or shown ever has a secret in it. Only
the span of a secret goes; lines stay where they are. These kinds are known: tokens that show by their beginning whose
they are (``secret_rules.json``), what is assigned to a name that says so or given to a program as its password, what a
Secret of Kubernetes holds, and private keys in their armour.
A mask takes what varies; placeholders of documentation, names of variables and plain words are none.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

VERSION: Final = 5
"""Of the rules: what was read by others is read again. To be raised with every change of what is masked."""

MASK: Final = "\u2022\u2022\u2022\u2022"
"""In place of a secret."""

WHAT_MASKS_ARE: Final = f"Secrets are masked here ({MASK}). Never write a mask back into a file."
"""For whoever is shown one."""

Masks = tuple[tuple[int, str], ...]
"""The line and the rule of each mask."""

NO_MASKS: Final[Masks] = ()


class Masked(NamedTuple):
    text: bytes
    masks: Masks = NO_MASKS


class _Span(NamedTuple):
    start: int
    end: int
    rule: str


_MASK: Final = MASK.encode()


_MOST_CLEAN: Final = 20_000
_clean: set[int] = set()
"""Hashes of texts that have no secret: most are read more than once, and a hash takes a tenth of the time."""


def mask(text: bytes) -> Masked:
    """A text (UTF-8) with its secrets masked. Masking twice does no harm."""
    known = hash(text)
    if known in _clean:
        return Masked(text)
    masked = _mask(text)
    if not masked.masks:
        if len(_clean) >= _MOST_CLEAN:
            _clean.clear()
        _clean.add(known)
    return masked


def _mask(text: bytes) -> Masked:
    spans = [*_tokens(text)]
    told = {end for _, end, _ in spans}  # a token keeps its beginning, also where it is assigned to something
    spans += [span for span in _assigned(text) if span.end not in told]
    if not spans:
        return Masked(text)
    spans.sort()
    pieces: list[bytes] = []
    masks: list[tuple[int, str]] = []
    at, line = 0, 1
    for start, end, rule in spans:
        if end <= at:
            continue  # within one that is masked already
        start = max(start, at)
        line += text.count(b"\n", at, start)
        pieces += (text[at:start], _MASK)
        if not masks or masks[-1] != (line, rule):
            masks.append((line, rule))
        at = end
    pieces.append(text[at:])
    return Masked(b"".join(pieces), tuple(masks))


def masked_lines(text: str) -> Masks:
    """The masks in a text whose secrets were masked when it was taken in: by which rule is not known any more."""
    if MASK not in text:
        return NO_MASKS
    return tuple((number, "secret") for number, line in enumerate(text.split("\n"), 1) if MASK in line)


# --- tokens that show by their beginning whose they are --------------------------------------------------------


class Rule(NamedTuple):
    """The shape of a vendor's tokens, a row of ``secret_rules.json``. Only what grants access stands there: public
    identifiers and publishable keys do not. Some shapes are those of gitleaks' rules (github.com/gitleaks/gitleaks,
    MIT, Copyright (c) 2019 Zachary Rice); `benchmarks/gitleaks.py` compares with all.

    ``begins``: texts, one of which starts the token, and is kept, since it says whose it is. ``rest``: an expression of
    what follows. ``anywhere``: it is looked for as a text, because no long word begins where it does or behind it.
    ``before``: an expression of what stands before it, and is masked as well."""

    id: str
    begins: str
    rest: str
    anywhere: bool = False
    before: str = ""


_WHOLE_WORDS: Final = {
    "azure-devops-token": (rb"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", (84,)),
    "azure-ai-key": (rb"[A-Za-z0-9]{52}J(?:QQJ|ACO)99[A-Za-z0-9]{26,27}", (84, 85)),
    "mailchimp-key": (rb"[0-9a-f]{32}-us\d{1,2}", (36, 37)),
}
"""Tokens that are one word and do not show by their beginning whose they are: expression, and sizes."""

_Begins = list[tuple[bytes, Rule]]


class _Known(NamedTuple):
    """``starts``: by the first two bytes, what a long word begins with; ``ahead``: by its last two bytes, what stands
    before one;
    ``anywhere``: the others, by a piece of theirs that few texts have; ``whole``: by their size, long words that show
    further behind whose they are, as expression and rule."""

    starts: dict[bytes, _Begins]
    ahead: dict[bytes, _Begins]
    anywhere: dict[bytes, _Begins]
    whole: dict[int, list[tuple[bytes, str]]]


_LONG: Final = 20
"""Bytes of the shortest token, and of few words."""

_WORD: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-"
_WORDS_ONLY: Final = bytes(0x61 if byte in _WORD else 0x20 for byte in range(256))
_LONG_WORD: Final = b"a" * _LONG
_BEFORE_ONE: Final = frozenset(b"./$:|=")
_SLASH: Final = 0x2F
_BACKSLASH: Final = 0x5C

_LONGEST_BEFORE: Final = 60
_LEAST_ENTROPY: Final = 2.7
"""Bits a character: of 16 random hexadecimal digits one set in ten thousand has less, of repeated ones every."""


_HOOK: Final = b"hook"
_HOOK_BEFORE: Final = 80
_PIECES: Final = (_HOOK, b"~", b"sig=")
"""Of what a token begins with that stands anywhere: one is looked for in the time that all would take. An address of a
webhook ends with a long word, so that it is looked for before those alone."""


@cache
def _known() -> _Known:
    known = _Known({}, {}, {}, {})
    for rule_id, (expression, sizes) in _WHOLE_WORDS.items():
        for size in sizes:
            known.whole.setdefault(size, []).append((expression, rule_id))
    with open(f"{os.path.dirname(__file__)}/secret_rules.json", "rb") as file:  # noqa: PTH120, PTH123
        rows = json.load(file)
    for rule in (Rule(**row) for section in rows.values() for row in section):
        for begin in map(str.encode, rule.begins.split()):
            if rule.anywhere:
                piece = next(piece for piece in _PIECES if piece in begin)
                known.anywhere.setdefault(piece, []).append((begin, rule))
            elif begin.strip(_WORD):
                known.ahead.setdefault(begin[-2:], []).append((begin, rule))
            else:
                known.starts.setdefault(begin[:2], []).append((begin, rule))
    return known


@cache
def _bytes_pattern(expression: bytes) -> re.Pattern[bytes]:
    return re.compile(expression)


def _tokens(text: bytes) -> Iterator[_Span]:
    words, hooks = _long_words(text)
    yield from words
    for piece, begins in _known().anywhere.items():
        for begin, rule in begins if (hooks if piece == _HOOK else piece in text) else ():
            for at in _places(text, begin):
                yield from _token(text, at, at + len(begin), rule)


def _places(text: bytes, wanted: bytes) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def _long_words(text: bytes) -> tuple[list[_Span], bool]:
    """Tokens that are long words, or begin before one: their beginnings are many, and long words are few. And whether
    one may be the end of a webhook's address."""
    spans: list[_Span] = []
    hooks = False
    starts, ahead, _, whole = _known()
    words = text.translate(_WORDS_ONLY) + b" "
    find, beginning, stands_before, sized = words.find, starts.get, ahead.get, whole.get
    at = find(_LONG_WORD)
    while at >= 0:
        before = text[at - 1] if at else 0
        start = at + 1 if before == _BACKSLASH else at  # behind the letter of an escape such as \n
        if begins := beginning(text[start : start + 2]):
            for begin, rule in begins:
                if text.startswith(begin, start):
                    spans += _token(text, start, start + len(begin), rule)
        if before in _BEFORE_ONE:
            for begin, rule in (
                *stands_before(text[start - 2 : start], ()),
                *stands_before(text[start - 1 : start], ()),
            ):
                if text.endswith(begin, 0, start):
                    spans += _token(text, start - len(begin), start, rule)
        if before == _SLASH and not hooks:
            hooks = text.find(_HOOK, max(0, start - _HOOK_BEFORE), start) >= 0
        end = find(b" ", at)
        for expression, rule_id in sized(end - start, ()):
            if _bytes_pattern(expression).fullmatch(text, start, end) and _varies(text[start:end]):
                spans.append(_Span(start, end, rule_id))
        at = find(_LONG_WORD, end)
    return spans, hooks


def _token(text: bytes, start: int, end: int, rule: Rule) -> Iterator[_Span]:
    """What is secret in a token that begins at ``start`` and by ``rule`` goes on from ``end``."""
    rest = _bytes_pattern(rf"({rule.rest})(?![A-Za-z0-9])".encode()).match(text, end)
    if rest is None:
        return
    begin = end
    if rule.before:
        ahead = _bytes_pattern(rf"(?<![\w.])({rule.before})\Z".encode())
        before = ahead.search(text, max(0, start - _LONGEST_BEFORE), start)
        if before is None:
            return
        begin = before.start(1)
    if _varies(text[begin : rest.end()]):
        yield _Span(begin, rest.end(), rule.id)


def _entropy(value: bytes) -> float:
    """Bits a character."""
    size = len(value)
    return -sum(times / size * math.log2(times / size) for times in Counter(value).values())


def _varies(value: bytes) -> bool:
    """Whether a value of the right shape can be a real one: neither a placeholder nor one character again and again."""
    return _entropy(value) >= min(_LEAST_ENTROPY, math.log2(len(value)) - 1) and not _bytes_pattern(
        _PLACEHOLDER
    ).search(value)


# --- words that no secret holds --------------------------------------------------------------------------------
# The less the place of a value says, the more words rule it out.

_PLACEHOLDER: Final = (
    rb"(?i)example|placeholder|dummy|sample|changeme|change[_-]me|change[_-]?this|redacted|x{5}|0{8}|1{6}|\*{3}|\.{3}"
    rb"|a{9}|a1b2c3|SflKxwRJSMeKKF2QT4|12345|23456789|98765|abcdef[g0-]|abcd1234|qwerty|deadbeef|cafebabe|foobar|insert|replace|your[_-]?"
    rb"|never[_-]?use|not[_-]?a?[_-]?(?:real|valid|secret)|invalid|fake|mock|todo"
)
"""No secret of any kind holds one of these: they stand for a value that the reader has to fill in."""

_DUMMIES: Final = (
    rb"(?i)pass|secret|test|admin|user|foo|bar|demo|1234|abc|qwert|hunter|letmein|welcome|login|token|key|root|guest"
    rb"|default|none|null|true|false|string|value|hello|world|name|some|correct|horse|xxx|spring|django|flask"
)
"""A value that only its name makes a secret holds none of these either."""

_NO_PASSWORD: Final = (
    rb"(?i)postgres|mysql|mariadb|mongo|redis|rabbit|elastic|minio|oracle|developer|local|required|optional|abled|unset|empty"
    rb"|hidden|prompt|random|generated|undefined|unknown|anonymous|x-oauth"
)
"""A password that may be a plain word is none of these: services whose name is their default password, and words that
say what stands there."""


# --- what is assigned to a name that says so ------------------------------------------------------------------


_VALUE: Final = rb"""(?:[bfru@]{0,2}(?P<quote>["'`])(?P<quoted>(?:\w{4}[ ]){3,5}+\w{4}|[^"'`\s\\]{8,4000}+)\\?(?P=quote)
    |(?P<plain>[^\s"'`<>(){}\[\],;$&|\\]{8,4000}+))"""
"""A quoted one may be four to six groups of four, as passwords that are made for one program."""


def _given(quoted: bytes = rb"(?:(?:-p|is)[ \t]{1,4})?", *, in_word: bool = True) -> bytes:
    """What follows a name's telling part, up to the value: in code, configuration, JSON, XML, calls with both in
    quotes, entries of "name" and "value", parameters with a default.

    ``quoted``: what may stand before a value in quotes that nothing assigns. ``in_word``: the telling part need not end
    its word. A value in the group ``command`` counts only if a command sets it."""
    name = rb"(?P<name>" if in_word else rb"(?![a-z])(?P<name>"
    return (
        rb"(?xi)"
        + name
        + rb"""[\w.-]{0,30}+)(?:
      \\?["'`]?\]?[ \t]{0,9}
        (?:(?::[ \t]?|(?=[&a-z]{1,9}+[ ])|(?=&'))(?:&(?:'\w{1,9}[ ])?)?[a-z]{2,9}\??[ \t]{0,2}(?==))?
        (?::=|=>|\?\?=|=|:)[ \t]{0,9}(?:!!?\w{2,9}[ ]|ConvertTo-SecureString[ ](?:-String[ ])?)?\\?
    | ["'`][ \t]{0,4},[ \t]{0,4}(?=["'`])
    | ["'][ \t]{1,4}value[ \t]{0,2}=[ \t]{0,2}
    | ["'`]?,?\s{1,40}["']?value["']?[ \t]{0,2}:[ \t]{0,2}
    | ["']?[ \t]{0,2}[:{]\s{0,40}+(?:\{\s{0,40}+)?(?:type[ ]{0,9}[:=][ \t]{0,9}+\S{0,80}+\s{1,40}+)?
        ["']?(?:value|default)["']?[ \t]{0,9}[:=][ \t]{0,9}
    | >(?=[^<>\s]{8,4000}+</)
    | </key>\s{0,40}<string>
    | [ \t]{1,4}"""
        + quoted
        + rb"""(?=["'`])
    | (?P<command>[ \t]{1,4})(?=\S{8,4000}[ \t]{0,9}(?:\r?\n|\Z))
    )"""
        + _VALUE
    )


_SETS: Final = rb"(?i)(?:^|\n)[ \t]*(?:env|setx|setenv|set[ ]-\w{1,3})[ \t]+\S*\Z"

_ENDS: Final = (b"", b" ", b"\t", b"\r", b"\n", b",", b";", b"<", b">", b"&", b'"', b"'", b"`", b"\\", b"@", b":")
"""Behind a value without quotes; where a name of a function stood, there would be a bracket."""

_HEADER: Final = rb"""(?xi)orization\\?["']?[ \t]{0,4}(?:=>|:\s{1,20}-|[:=,])[ \t]{0,4}\\?["'`]?
    (?:(?:bearer|token|basic|apikey|ssws)[ ])?
    (?P<plain>[\w+/=.~-]{16,2000})"""
_ADDRESS: Final = rb"""[^\s/:@"'<>`()]{0,64}:(?P<plain>[^\s/:@"'<>`(){}$]{6,128})@[\w\[]"""
_USER: Final = rb"(?P<plain>[\w-]{20,255})(?::x-oauth-basic|:)?@(?!(?:[\w-]+\.)*(?:sentry|ingest)\.)[\w\[]"
"""A token in place of a user's name. Those of Sentry's addresses are no secrets."""

_KEYS: Final = tuple(
    word.encode()
    for word in (
        "api access account priv private auth secret shared master encryption encrypt signing sign consumer storage "
        "subscription service server host app application client license ingest function instrumentation admin write "
        "fernet speech"
    ).split()
)
"""What makes a key one that opens something."""

_LONGEST_KEY: Final = 24
_JOINS: Final = (b"-", b"_", b".", b" ")


def _opens_something(lowered: bytes, at: int) -> bool:
    """Whether what stands before the word "key" makes it one that opens something."""
    end = at - (lowered[at - 1 : at] in _JOINS)
    start = max(0, at - _LONGEST_KEY)
    return lowered.endswith(_KEYS, start, end) or lowered[start:end].rstrip(b" \t\r\n\"'{:=").endswith(b"jwt")


_PASSES: Final = (b"db", b"user", b"admin", b"store", b"key", b"smtp", b"mail", b"root", b"ssh", b"sql")


def _lets_in(lowered: bytes, at: int) -> bool:
    """Whether the word "pass" is not the end of another, as in "bypass"."""
    return not lowered[at - 1 : at].isalpha() or lowered.endswith(_PASSES, 0, at)


def _is_part(lowered: bytes, at: int) -> bool:
    """Whether the word "auth" is quoted, or the last part of a name."""
    return lowered[at - 1 : at] in (b"_", b"'", b'"')


_HARMLESS: Final = (
    rb"(?i)public|hash|digest|checksum|fingerprint|sha\d|md5|encrypted|crypted|file|path|dir|url|uri|name|type|class"
    rb"|field|label|title|prefix|header|length|size|(?<!ac)count|policy|expir|provider|version|format|regex|pattern|hint|arn"
    rb"|used|created|issued|rotated|timeout"
)
"""In a name: its value is about a secret, or none."""


_GIVEN: Final = _given()
_GIVEN_TO_WORD: Final = _given(in_word=False)
_PASSED: Final = _given(rb"-p[ \t]{1,4}", in_word=False)
"""A quoted word behind the word "pass" is mostly an argument that somebody passes, except behind ``-p``."""


class _Finder(NamedTuple):
    """``telling``: what is looked for, whatever its case; ``follows``: what has to come after it, a value in it;
    ``fits``: whether it counts where it stands. ``login``: the value stands in an address, as nothing but
    a password can, so that a word is one, too, and percent signs stand for characters."""

    telling: bytes
    follows: bytes
    fits: Callable[[bytes, int], bool] | None = None
    rule: str = "assigned-secret"
    login: bool = False


_FINDERS: Final[dict[bytes, tuple[_Finder, ...]]] = {
    b"pass": (
        _Finder(b"passw", _GIVEN, rule="password"),
        _Finder(b"passphrase", _GIVEN, rule="password"),
        _Finder(b"pass", _PASSED, _lets_in),
    ),
    b"pwd": (_Finder(b"pwd", _GIVEN, rule="password"),),
    b"secret": (_Finder(b"secret", _GIVEN),),
    b"token": (_Finder(b"token", _GIVEN),),
    b"key": (_Finder(b"key", _GIVEN, _opens_something),),
    b"auth": (
        _Finder(b"auth", _GIVEN_TO_WORD, _is_part),
        _Finder(b"auth", _HEADER),
    ),
    b"://": (_Finder(b"://", _ADDRESS, rule="password", login=True), _Finder(b"://", _USER)),
    b"identified by": (_Finder(b"identified by", _GIVEN, rule="password"),),
}
"""By what their telling parts begin with: a text is gone through once for each."""

_NAME_BEFORE: Final = rb"[\w.-]*\Z"
_MOST_BEFORE: Final = 40


def _assigned(text: bytes) -> Iterator[_Span]:
    """Values that are given to names of secrets, passwords in addresses, what proves who asks."""
    lowered = text.lower()
    for beginning, finders in _FINDERS.items():
        if places := list(_places(lowered, beginning)):
            for finder in finders:
                yield from _values_given(text, lowered, places, finder)
            if beginning == b"key":
                if any(text.startswith(b"PRIVATE ", at - 8) for at in places):
                    yield from _private_keys(text)
                if any(text.startswith(b"AUTH_", at - 5) for at in places):
                    yield from _wordpress(text)
            elif beginning == b"://":
                yield from _commands(text, lowered, places)
            elif beginning == b"secret" and any(
                lowered.find(b"kind", max(0, at - _KIND_BEFORE), at) >= 0 for at in places
            ):
                yield from _kubernetes(text)


def _values_given(text: bytes, lowered: bytes, places: list[int], finder: _Finder) -> Iterator[_Span]:
    """The secrets that one finder finds at the places where its telling part may stand."""
    telling, fits, match = finder.telling, finder.fits, _bytes_pattern(finder.follows).match
    size, after = len(telling), 0
    for at in places:
        if at < after or lowered[at : at + size] != telling:
            continue
        if (fits and not fits(lowered, at)) or (given := match(text, at + size)) is None:
            continue
        before = text[max(0, at - _MOST_BEFORE) : at]
        after = given.end()  # what is long and one value is gone through once
        named = given.groupdict()
        if named.get("command") and not _bytes_pattern(_SETS).search(text, max(0, at - _MOST_BEFORE), at):
            continue
        place = "plain" if named["plain"] else "quoted"
        about = _bytes_pattern(_NAME_BEFORE).search(before)
        name = (about[0] if about else b"") + text[at : at + size] + (named.get("name") or b"")
        end = given.end(place)
        ends = place == "quoted" or text[end : end + 1] in _ENDS
        if not ends or _bytes_pattern(_HARMLESS).search(name):
            continue
        value = unquote_to_bytes(named[place]) if finder.login else named[place]
        if (
            _opens(value, name)
            or (finder.login and _is_chosen(value, _IN_ADDRESS))
            or (finder.rule == "password" and _is_chosen(value) and _is_set(text, at, given.start(place), end))
        ):
            yield _Span(given.start(place), end, finder.rule)


_SETTING: Final = rb"""(?x)(?:
    [ \t]*(?:-[ ]+|export[ ]+|set[ ]+|ENV[ ]+)?["']?(?-i:[A-Z0-9_]*PASS[A-Z0-9_]*)["']?[ \t]*[:=][ \t]*
  | [a-z0-9_-]*[._][a-z0-9._-]*=
  )["']?"""
_SETTING_ENDS: Final = rb"[\"']?[ \t]{0,9}\r?(?:\n|\Z)"


def _is_set(text: bytes, at: int, start: int, end: int) -> bool:
    """Whether a line is nothing but a setting, in capitals or with a name of several parts, so that its value is no
    name of something else. ``at``: of the name's telling part; ``start`` and ``end``: of the value."""
    line = text.rfind(b"\n", max(0, at - _MOST_BEFORE), at) + 1
    if not line and at > _MOST_BEFORE:
        return False  # no line of a configuration begins so far ahead
    before, after = _bytes_pattern(_SETTING), _bytes_pattern(_SETTING_ENDS)
    return before.fullmatch(text, line, start) is not None and after.match(text, end) is not None


_CHOSEN: Final = rb"[A-Za-z0-9!@#%^*+?~_.-]{8,64}"
_IN_ADDRESS: Final = rb"[!-~]{8,64}"


def _is_chosen(value: bytes, written: bytes = _CHOSEN) -> bool:
    """Whether a value can be a password that somebody thought of: no placeholder, and no word for a password."""
    no_dummy = not _bytes_pattern(_DUMMIES).search(value) and not _bytes_pattern(_NO_PASSWORD).search(value)
    return bool(_bytes_pattern(written).fullmatch(value)) and _varies(value) and no_dummy


_WORDPRESS: Final = rb"""_(?:KEY|SALT)['"],[ \t]{0,20}'([^'\n]{64})'"""


def _wordpress(text: bytes) -> Iterator[_Span]:
    """Keys and salts of WordPress, which may hold spaces and quotes."""
    for given in _bytes_pattern(_WORDPRESS).finditer(text):
        if _varies(given[1]):
            yield _Span(*given.span(1), "assigned-secret")


_COMMAND: Final = 300
"""Bytes of a command before and behind an address."""

_CURL: Final = rb"""(?x)[ \t\n](?:-u|-U|--user|--proxy-user)[ =]{0,2}["']?[^\s:"'`$<>{}]{1,64}:
    (?P<plain>[^\s"'`$<>{}()\[\];|&\\]{6,128})(?=["'\s\\]|\Z)"""


def _commands(text: bytes, lowered: bytes, addresses: list[int]) -> Iterator[_Span]:
    """Passwords that curl is given: ``-u NAME:PASSWORD``."""
    done = 0
    for at in addresses:
        start = lowered.rfind(b"curl", max(done, at - _COMMAND), at)
        if start < 0:
            continue
        done = at + _COMMAND
        for given in _bytes_pattern(_CURL).finditer(text, start, done):
            if _is_chosen(given["plain"]) or _opens(given["plain"], b""):
                yield _Span(*given.span("plain"), "password")


_KIND_BEFORE: Final = 12
_KIND: Final = rb"""(?m)^([ \t]{0,40})(-[ ])?kind:[ ]*["']?Secret["']?[ ]*\r?$"""
_KIND_JSON: Final = rb""""kind"\s{0,9}:\s{0,9}"Secret\""""
_DATA: Final = rb"""(?m)^%b(?:data|stringData):[ ]*\r?\n((?:(?:%b[ \t]+[^\n]*|[ \t]*\r?)(?:\n|\Z))+)"""
_DATA_JSON: Final = rb""""(?:data|stringData)"\s{0,9}:\s{0,9}\{([^{}]{0,20000})\}"""
_ENTRY: Final = rb"""(?mx)^[ \t]*["']?[\w.-]+["']?:[ ]*(?![|>][+-]?[ ]*\r?$)["']?([^\s"'#][^\n\r"']{3,})
    |^[ \t]*([^\s:#]{4,})[ ]*\r?$"""
_ENTRY_JSON: Final = rb""":\s{0,9}"([^"\\]{4,4000})\""""
_JSON_BEFORE, _JSON_AFTER = 2_000, 8_000
"""Bytes of an object in JSON before and behind its kind."""

_FILLED_IN: Final = rb"\{\{|\$[({]|<|%\("


def _kubernetes(text: bytes) -> Iterator[_Span]:
    """What the Secrets of Kubernetes hold, whatever its names are: below ``data`` and ``stringData``."""
    seen: set[tuple[int, bytes]] = set()
    end = -1
    for kind in _bytes_pattern(_KIND).finditer(text):
        if kind.start() > end:
            start, end = max(text.rfind(b"\n---", 0, kind.start()), 0), text.find(b"\n---", kind.end())
            end = end if end >= 0 else len(text)
        indented = kind[1] + b"  " * bool(kind[2])
        if (end, indented) not in seen:
            seen.add((end, indented))
            for data in _bytes_pattern(_DATA % (indented, indented)).finditer(text, start, end):
                yield from _entries(_ENTRY, text, *data.span(1))
    done = 0
    for kind in _bytes_pattern(_KIND_JSON).finditer(text):
        start, done = max(done, kind.start() - _JSON_BEFORE), kind.end() + _JSON_AFTER
        for data in _bytes_pattern(_DATA_JSON).finditer(text, start, done):
            yield from _entries(_ENTRY_JSON, text, *data.span(1))


def _entries(pattern: bytes, text: bytes, start: int, end: int) -> Iterator[_Span]:
    for entry in _bytes_pattern(pattern).finditer(text, start, end):
        value = entry[entry.lastindex or 1]
        if not _bytes_pattern(_FILLED_IN).search(value) and not _bytes_pattern(_PLACEHOLDER).search(value):
            yield _Span(*entry.span(entry.lastindex or 1), "kubernetes-secret")


_WORDS: Final = rb"[A-Z]?[a-z]{4,}|[A-Z]{5,}"
_MOST_WORDS: Final = 0.5
_TURNS: Final = rb"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])"
_UUID: Final = rb"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CLASSES: Final = (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[!@#%^*+?~$=]")
_OPENED_BY_UUIDS: Final = (
    rb"(?i)heroku|hubspot|kucoin|snyk|squarespace|codecov|railway|secret(?!s)|passw|api[_-]?(?:key|token)|(?:access|auth|server|hec)[_-]?token"
    rb"|(?-i:[A-Z]_TOKEN\Z)"
)
"""Names that make a secret of what looks like anybody's identifier."""

_NAMES_IN_PARTS: Final = rb"arn:|\d{4}-\d\d-\d\dT\d\d:"
"""What a name of a resource, and a time, begin with."""

_DJANGO: Final = b"django-insecure-"
"""What Django writes before the random rest of a new project's key."""


def _opens(value: bytes, name: bytes) -> bool:
    """Whether a value opens something: it is random, or as mixed as passwords are, and no word of somebody's. ``name``:
    what it is given to."""
    value = value.removeprefix(_DJANGO)
    if not _varies(value) or b"://" in value:
        return False
    if _bytes_pattern(_UUID).fullmatch(value):
        return _bytes_pattern(_OPENED_BY_UUIDS).search(name) is not None
    if b" " in value:
        return not value.startswith(b"abcd efgh")
    if b":" in value and (
        _bytes_pattern(_NAMES_IN_PARTS).match(value) or max(map(len, value.split(b":"))) < _LEAST_RANDOM
    ):
        return False
    words = sum(map(len, _bytes_pattern(_WORDS).findall(value)))
    turns = len(_bytes_pattern(_TURNS).findall(value))
    if _bytes_pattern(rb"[\w+/=.~:!*-]+").fullmatch(value) and len(value) >= _LEAST_RANDOM:
        if turns >= 2 and (words <= _MOST_WORDS * len(value) or turns >= 6):
            return True
        if not _bytes_pattern(rb"[!*]").search(value):
            return False
    mixed = sum(1 for each in _CLASSES if _bytes_pattern(each).search(value)) >= 3
    return mixed and words <= 0.6 * len(value) and not _bytes_pattern(_DUMMIES).search(value)


_LEAST_RANDOM: Final = 16


# --- private keys ---------------------------------------------------------------------------------------------


_KEY_LABEL: Final = rb"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_KEY_RUN: Final = rb"[A-Za-z0-9+/]{40}"  # a line of a real key; prose and templates that mention the label have none
_KEY_HEADERS_BYTES: Final = 600  # what may stand between the label and the first full line
_MAX_KEY_BYTES: Final = 20_000  # the largest keys in use (post-quantum ones) stay below
_KEY_PIECE: Final = rb"(?:\\[nr])|([A-Za-z0-9+/=]{4,})"


def private_keys(text: bytes) -> Iterator[tuple[int, int, int]]:
    """Where private keys stand in their textual armour: its start, its text's start, and its end."""
    if b"PRIVATE KEY" not in text:
        return
    end = 0
    for label in _bytes_pattern(_KEY_LABEL).finditer(text):
        start = label.end()
        if start < end:
            continue  # inside of one
        end = text.find(b"-----END", start, start + _MAX_KEY_BYTES)
        end = end if end >= 0 else min(len(text), start + _KEY_HEADERS_BYTES)
        if _bytes_pattern(_KEY_RUN).search(text, start, min(end, start + _KEY_HEADERS_BYTES)):
            yield label.start(), start, end


def _private_keys(text: bytes) -> Iterator[_Span]:
    """Their pieces: line ends, quotes and what else code has between them stay."""
    for _, start, end in private_keys(text):
        for piece in _bytes_pattern(_KEY_PIECE).finditer(text, start, end):
            if piece[1]:
                yield _Span(piece.start(), piece.end(), "private-key")
