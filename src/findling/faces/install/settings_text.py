"""One entry put into the text of a settings file, or taken out of it; comments, order and layout of all else stay.

JSON may have comments and commas before a closing bracket, as editors write it. Everything here raises `ValueError` for
a text that cannot be read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from findling.model.json_places import Member, members

HINT_BEGIN: Final = "<!-- findling: begin -->"
HINT_END: Final = "<!-- findling: end -->"
HINT: Final = f"""{HINT_BEGIN}
Before grep, ask `findling search "a question, a name or an error"` (`search_code`): the best places, whole, with lines.
`findling symbol NAME Type.method FILE:120-180 ...` prints definitions whole, who calls them, what they call, and lines.
`findling grep -W REGEX` prints the definition around each match. Open a file only for what these did not show.
{HINT_END}
"""


def with_entry(text: str, keys: Sequence[str], value: Mapping[str, Any], *, toml: bool) -> str:
    """The text with ``value`` at ``keys``; what stands there already keeps the members that ``value`` has not."""
    return _kept_line_ends(text, _toml_with if toml else _json_with, keys, value)


def without_entry(text: str, keys: Sequence[str], *, toml: bool) -> str:
    """The text without what stands at ``keys``; the same where nothing does."""
    return _kept_line_ends(text, _toml_without if toml else _json_without, keys)


def with_hint(text: str) -> str:
    """A text in Markdown with a few lines for agents at its end; the same where they are."""
    if HINT_BEGIN in text:
        return text
    return f"{text.rstrip()}\n\n{HINT}" if text.strip() else HINT


def without_hint(text: str) -> str:
    if HINT_BEGIN not in text:
        return text
    return re.sub(rf"\n*{re.escape(HINT_BEGIN)}.*?{re.escape(HINT_END)}\n?", "\n", text, flags=re.DOTALL).lstrip("\n")


def _kept_line_ends(text: str, change: Any, *given: Any) -> str:
    windows = "\r\n" in text and text.count("\r\n") == text.count("\n")
    changed: str = change(text.replace("\r\n", "\n") if windows else text, *given)
    return changed.replace("\n", "\r\n") if windows else changed


# --- TOML --------------------------------------------------------------------------------------------------------


def _toml_with(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    at: Any = document
    for key in keys[:-1]:
        at = at.setdefault(key, tomlkit.table(is_super_table=True))
        _must_be_object(at, key)
    old = at.get(keys[-1])
    if old is None:
        at[keys[-1]] = dict(value)
    else:
        _must_be_object(old, keys[-1])
        old.update({name: item for name, item in value.items() if old.get(name) != item})
    return tomlkit.dumps(document)


def _toml_without(text: str, keys: Sequence[str]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    at: Any = document
    for key in keys[:-1]:
        at = at.get(key, {})
        _must_be_object(at, key)
    if keys[-1] not in at:
        return text
    del at[keys[-1]]
    return tomlkit.dumps(document)


def _must_be_object(value: object, key: str) -> None:
    if not isinstance(value, Mapping):
        raise ValueError(f"{key!r} in it is not a group of settings")


# --- JSON --------------------------------------------------------------------------------------------------------

_STRING: Final = r'"(?:[^"\\\n]|\\[^\n])*+"'
_COMMENTS = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMAS = re.compile(rf"{_STRING}|,(?=\s*[}}\]])")
_LIST = re.compile(r"\[\s+([^\[\]{}]*?)\s+\]")
_LINE_BREAK = re.compile(r"\n\s*")
_UNIT = re.compile(r'\n([ \t]+)"')


def _json_with(text: str, keys: Sequence[str], value: Mapping[str, Any]) -> str:
    plain = _plain(text)
    if not plain.strip():
        return text + _laid_out(_nested(keys, value), "  ") + "\n"
    at = _object_at(plain)
    for depth, key in enumerate(keys):
        found = _member(plain, at, key)
        if found is None:
            return _inserted(text, plain, at, key, _nested(keys[depth + 1 :], value))
        if plain[found.at] != "{":
            raise ValueError(f"{key!r} in it is not a group of settings")
        at = found.at
    assert found is not None
    old = json.loads(plain[found.at : found.end])
    if old == old | value:
        return text
    return text[: found.at] + _shown(text, found.start, old | value) + text[found.end :]


def _json_without(text: str, keys: Sequence[str]) -> str:
    plain = _plain(text)
    if not plain.strip():
        return text
    at = _object_at(plain)
    for key in keys[:-1]:
        found = _member(plain, at, key)
        if found is None or plain[found.at] != "{":
            return text
        at = found.at
    listed = list(members(plain, at))
    place = next((i for i, member in enumerate(listed) if member.key == keys[-1]), None)
    if place is None:
        return text
    member = listed[place]
    start, end = len(text[: member.start].rstrip()), member.end
    if place + 1 < len(listed):
        end = plain.index(",", end) + 1
    elif place:
        start = plain.rindex(",", listed[place - 1].end, start)
    elif text[end:].lstrip().startswith("}"):
        end = text.index("}", end)
    return text[:start] + text[end:]


def _plain(text: str) -> str:
    """The same as strict JSON, every character at its place."""
    text = text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text
    for found in (_COMMENTS, _LAST_COMMAS):
        text = found.sub(lambda match: match[0] if match[0][0] == '"' else re.sub(r"\S", " ", match[0]), text)
    return text


def _object_at(plain: str) -> int:
    try:
        value = json.loads(plain)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return plain.index("{")


def _member(plain: str, at: int, key: str) -> Member | None:
    """The last of that name, which is the one that counts."""
    return next((member for member in reversed(list(members(plain, at))) if member.key == key), None)


def _inserted(text: str, plain: str, at: int, key: str, value: object) -> str:
    """With a first member in the object at ``at``: what stands behind the last one may be a comment on it."""
    margin = _margin(text, at)
    inside = margin + _unit(text)
    new = f"\n{inside}{json.dumps(key)}: {_shown(text, at, value, inside)}"
    end = at + 1 + len(plain[at + 1 :]) - len(plain[at + 1 :].lstrip())
    if plain[end] != "}":
        return f"{text[: at + 1]}{new},{'' if text[at + 1].isspace() else ' '}{text[at + 1 :]}"
    rest = text[at + 1 : end].rstrip()
    return f"{text[: at + 1]}{new}{rest}\n{margin}{text[end:]}"


def _shown(text: str, at: int, value: object, margin: str | None = None) -> str:
    margin = _margin(text, at) if margin is None else margin
    return _laid_out(value, _unit(text)).replace("\n", f"\n{margin}")


def _laid_out(value: object, unit: str) -> str:
    """As people write it: a member a line, a list in one."""
    text = json.dumps(value, indent=unit, ensure_ascii=False)
    return _LIST.sub(lambda found: "[" + _LINE_BREAK.sub(" ", found[1]) + "]", text)


def _unit(text: str) -> str:
    found = _UNIT.search(text)
    return found[1] if found else "  "


def _margin(text: str, at: int) -> str:
    """The white space that the line at ``at`` begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at + 1]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value
