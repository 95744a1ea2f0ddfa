"""What a path says against a file, unless the query asks for it: tests, examples, other platforms and so on. Pure.

Only the path below the index root counts: whoever indexes a tests folder wants what is in it. Names that are often
the answer (mod.rs, lib.rs, index.ts, v1 folders) are not here; flagging them measured worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from findling.model.remembered import remembered

_FLAGS = {
    "test": re.compile(
        r"(?:^|/)(?:tests?|specs?|__tests__|testing|testdata|test[_-][^/]*|[^/]*[_-]tests?|bench|benches|benchmarks?|regress|fixtures|"
        r"mocks?|e2e)/|(?:^|/)(?:test_[^/]*|tests?\.[^/]*|conftest\.py|[^/]*[_.-](?:test|tests|spec|bench)\.[^/]+|"
        r"[^/]*(?:Tests?|Spec|TestCase|Suite)\.[a-z]+|[^/]*\.bats)$"
    ),
    "example": re.compile(
        r"(?:^|/)(?:examples?|samples?|demos?|docs?_src|tutorials?|playground)/|(?:^|/)docs?/.*\.(?!md|rst|txt|adoc|go$)[a-z]+$"
    ),  # in Go a folder is a package, whatever it is called
    "legacy": re.compile(
        r"(?:^|/|_)(?:legacy|compat|deprecated|deprecations?|obsolete)(?:/|\.|_|[^/]*$)", re.IGNORECASE
    ),
    "platform": re.compile(
        r"(?:^|[/_.-])(?:win|win32|windows|darwin|macos|osx|aix|sunos|solaris|android|ios|wasm|wasi|freebsd|netbsd|openbsd|"
        r"bsd|qnx|os390|ibmi|haiku|cygwin)(?=[/_.-])",
        re.IGNORECASE,
    ),
    "changes": re.compile(
        r"(?:^|/)(?:change[-_. ]?(?:log|s)|history|news|release[-_ ]?notes?|releases?|authors|contributors|licen[cs]e|"
        r"code[-_]of[-_]conduct|[^/]*(?:migration|upgrade|upgrading)[-_ ]guide|third[-_]party[^/]*|notice)"
        r"(?:[-_.][^/]*)?$",
        re.IGNORECASE,
    ),
    "messages": re.compile(
        r"\.(?:po|pot|xlf|xliff)$|^(?=.*\.(?:json|ya?ml|properties)$)(?:.*/)?(?:locales?|i18n|lang|translations)/"
    ),
}


OF_PLACES = frozenset(("test", "example"))
"""The flags that speak against places rather than against what stands there."""

_VERSION = re.compile(r"(?:^|/)v(\d{1,4})(?=/)")


def newest_versions(paths: Iterable[str]) -> dict[str, int]:
    """The highest version folder (v1, v2, ...) by the folder that holds it."""
    newest: dict[str, int] = {}
    for path in paths:
        if (found := _VERSION.search(path)) is not None:
            folder = path[: found.start()]
            newest[folder] = max(newest.get(folder, 0), int(found[1]))
    return newest


def is_superseded(path: str, newest: Mapping[str, int]) -> bool:
    """Whether a path lies in a version folder beside which a newer one stands; ``newest`` is `newest_versions`'s."""
    found = _VERSION.search(path)
    return found is not None and int(found[1]) < newest.get(path[: found.start()], 0)


@remembered(20_000)
def path_flags(path: str) -> frozenset[str]:
    """Which priors apply to a path: test, example, legacy, platform, changes, messages."""
    return frozenset(flag for flag, pattern in _FLAGS.items() if pattern.search(path))


def only_declares(path: str) -> bool:
    """Whether a file declares for type checkers what another one defines."""
    return path.endswith((".pyi", ".d.ts", ".d.mts", ".d.cts"))
