"""One option: its kind, default, bounds and spellings, and what a project's own file may decide about it; and the
check that turns a written value into the option's value.

Knows no particular option (``options`` defines them), no file, and not the order of sources.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from findling.model.errors import ConfigError

Value = str | int | float | bool | tuple[str, ...] | None
Kind = Literal["switch", "whole", "number", "text", "url", "list", "path", "store"]


class ProjectRule(NamedTuple):
    """Which values a project's own file may set: a cloned repository must not decide where code goes.

    ``words`` complete the sentence "A project's own file ...".
    """

    allows: Callable[[Value], bool]
    words: str


ANY: Final = ProjectRule(lambda _: True, "may decide it")
NEVER: Final = ProjectRule(lambda _: False, "may not set it")


class Option(Struct, frozen=True):
    """One option. ``key`` is its own name; ``spellings`` are all names a file may use, that one first.

    ``choices`` are all values there are (empty: whatever the kind and the bounds allow). ``unset`` says in words what
    a default of None stands for. ``clamped``: a number out of bounds is moved to the nearer bound with a warning
    instead of being an error. ``provider``: the provider that setting the option under a spelling chooses.
    ``unused`` says why the option has no effect, if it has none.
    """

    key: str
    attribute: tuple[str, str]
    kind: Kind
    default: Value
    help: str
    spellings: tuple[str, ...]
    choices: tuple[Value, ...] = ()
    bounds: tuple[float, float] | None = None
    clamped: bool = False
    project: ProjectRule = ANY
    environment: str = ""
    unset: str = ""
    unused: str = ""
    provider: Mapping[str, str] = {}

    def names(self) -> Iterator[str]:
        """Every name that is accepted: the spellings, each in snake_case and camelCase as well."""
        for spelling in self.spellings:
            yield spelling
            yield in_snake_case(spelling)
            yield in_camel_case(spelling)


def in_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z]+)", r"_\1", name).lower()


def in_camel_case(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


# --- what was written -> a checked value --------------------------------------------------------------------------

# Nobody writes more patterns by hand, and each is tried on every path.
_MOST_ITEMS: Final = 1000
_MOST_CHARS: Final = 4096

_SWITCH_WORDS: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


class Checked(NamedTuple):
    """A checked value. ``warning`` says that it was moved into its bounds, "" if it was not."""

    value: Value
    warning: str = ""


def check(option: Option, written: object, name: str) -> Checked:
    """``written`` as the option's value. ``name`` is how the option was spelled. Raises ConfigError without a place."""
    if written is None and option.default is None:
        return Checked(None)
    if type(written) not in ({type(choice) for choice in option.choices} or _TYPES.get(option.kind, (str,))):
        raise _error(option, f"{name} is {_kind_of(written)}")
    if option.choices and written not in option.choices:
        raise _error(option, f"{name} is {_short(written)}")
    if isinstance(written, int | float) and option.bounds is not None:
        return _number(option, written, name)
    if isinstance(written, list | tuple):
        return Checked(_texts(option, written, name))
    if isinstance(written, str) and not option.choices:
        return Checked(_text(option, written, name))
    assert isinstance(written, str | bool)
    return Checked(written)


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {"whole": (int,), "number": (int, float), "list": (list, tuple)}
"""By the kind of an option, the types that a value may have; text for a kind that is not here."""


def from_text(option: Option, text: str) -> object:
    """A ``text`` from the command line or the environment as the value that a file would have; else the text."""
    if option.kind == "switch":
        return _SWITCH_WORDS.get(text.strip().lower(), text.strip().lower())
    if option.kind == "whole" or option.kind == "number":
        for read in (int, float):
            try:
                return read(text)
            except ValueError:
                continue
        return text
    if option.kind == "list":
        return [item.strip() for item in text.split(",") if item.strip()]
    return text.strip().lower() if option.choices else text


def shown(value: Value) -> str:
    """A value as TOML and JSON write it; "" for None."""
    if value is None:
        return ""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def allowed(option: Option) -> str:
    """The values that an option takes, in words."""
    if option.choices:
        return _or([shown(choice) for choice in option.choices])
    if option.bounds is not None:
        low, high = (f"{bound:,.0f}".replace(",", "_") for bound in option.bounds)
        return f"a {'whole ' if option.kind == 'whole' else ''}number from {low} to {high}"
    return {
        "list": "a list of texts",
        "url": "an http or https URL",
        "path": "the path of a folder",
        "store": _STORE,
    }.get(option.kind, "text")


def _number(option: Option, written: float, name: str) -> Checked:
    assert option.bounds is not None
    low, high = option.bounds
    if isinstance(written, float) and not math.isfinite(written):
        raise _error(option, f"{name} is {written}")
    if low <= written <= high:
        return Checked(written if option.kind == "whole" else float(written))
    if not option.clamped:
        raise _error(option, f"{name} is {_short(written)}")
    nearest = low if written < low else high
    said = f"{name} is {_short(written)}; {nearest:g} is used, the nearest of {low:g} to {high:g}"
    return Checked(float(nearest), said)


def _text(option: Option, written: str, name: str) -> str:
    if not written.strip():
        raise _error(option, f"{name} is empty")
    if len(written) > _MOST_CHARS or not written.isprintable():
        raise _error(option, f"{name} is longer than {_MOST_CHARS} characters or has control characters")
    if option.kind == "url":
        if problem := url_problem(written):
            # The text itself may hold a password, and is not repeated.
            raise ConfigError(f"{name} must be {problem}.", remedy=f"The default is {option.default}.")
        return written.rstrip("/")
    if option.kind == "store" and (problem := store_problem(written.strip())):
        raise ConfigError(f"{name} {problem}.", remedy=f"It takes {_STORE}.")
    return written.strip()


_STORE: Final = "postgresql://USER@HOST:PORT/DATABASE; PGPASSFILE or PGPASSWORD has the password"


def store_problem(url: str) -> str:
    """What is wrong with the address of a shared store, behind its name in a sentence; '' for nothing. Never repeats
    it, as it may hold a password."""
    scheme, there, rest = url.partition("://")
    if not there or scheme not in ("postgresql", "postgres"):
        return "is not the address of a PostgreSQL database"
    before, _, query = rest.partition("?")
    keys = [option.partition("=")[0].lower() for option in query.split("&")]
    if ":" in before.rpartition("@")[0] or ":" in rest.partition("/")[0].rpartition("@")[0]:
        return "holds a password, which others could read"
    if not {"password", "sslpassword"}.isdisjoint(keys):
        return "holds a password, which others could read"
    if "/" in rest.rpartition("@")[0]:
        return "has an @ behind a /, and may hold a password (an @ or / that belongs to a name is written %40 or %2F)"
    if any("%" in key for key in keys):
        return "has an option with a % in its name"
    return ""


def _texts(option: Option, written: Sequence[object], name: str) -> tuple[str, ...]:
    texts = tuple(item for item in written if isinstance(item, str))
    for item in written:
        if not isinstance(item, str):
            raise _error(option, f"{name} has {_kind_of(item)} in its list")
    if len(texts) > _MOST_ITEMS or any(not item or len(item) > _MOST_CHARS for item in texts):
        raise _error(option, f"{name} has more than {_MOST_ITEMS} items, or an empty or very long one")
    return texts


def _error(option: Option, words: str) -> ConfigError:
    return ConfigError(f"{words}.", remedy=f"It takes {allowed(option)}.")


def _kind_of(value: object) -> str:
    kinds = (
        (bool, "a switch (true or false)"),
        (int, "a whole number"),
        (float, "a number with a decimal point"),
        (str, "text"),
        (list, "a list"),
        (dict, "a table"),
        (type(None), "null"),
    )
    return next((words for kind, words in kinds if isinstance(value, kind)), f"a {type(value).__name__}")


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**18 else "a very large number"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


# --- URLs --------------------------------------------------------------------------------------------------------
# Their text only: no name is ever resolved here.

_MAX_URL_CHARS: Final = 2048


def url_problem(url: str) -> str:
    """What makes ``url`` unfit to be a server's address, in words that follow "must be"; "" for a good one."""
    from urllib.parse import urlsplit

    if len(url) > _MAX_URL_CHARS or any(character <= " " or character == "\x7f" for character in url):
        return "a URL without white space or control characters"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "an http or https URL"
    if parts.scheme not in ("http", "https") or not host or "\\" in url:
        return "an http or https URL"
    if parts.username is not None or parts.password is not None:
        return "a URL without user name and password"
    if parts.query or parts.fragment:
        return "a URL without ? and #"
    return ""


def is_loopback(url: str) -> bool:
    """Whether a good URL names this machine itself: ``localhost``, 127.0.0.0/8 or ::1."""
    import ipaddress
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    if host.rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
