"""What a path says against a file, unless the query asks for it: tests, examples, other platforms and so on. Pure.

Only the path below the index root counts: whoever indexes a tests folder wants what is in it. Names that are often
the answer (mod.rs, lib.rs, index.ts, v1 folders) are not here; flagging them measured worse.
"""

from __future__ import annotations

import re
from functools import lru_cache

_FLAGS = {
    "test": re.compile(
        r"(?:^|/)(?:tests?|specs?|__tests__|testing|testdata|test[_-][^/]*|[^/]*[_-]tests?|benches|benchmarks?|fixtures|"
        r"mocks?|e2e)/|(?:^|/)(?:test_[^/]*|tests?\.[^/]*|conftest\.py|[^/]*[_.-](?:test|tests|spec|bench)\.[^/]+|"
        r"[^/]*(?:Tests?|Spec|TestCase|Suite)\.[a-z]+|[^/]*\.bats)$"
    ),
    "example": re.compile(
        r"(?:^|/)(?:examples?|samples?|demos?|docs?_src|tutorials?|playground)/|(?:^|/)docs?/.*\.(?!md|rst|txt|adoc)[a-z]+$"
    ),
    "legacy": re.compile(r"(?:^|/|_)(?:legacy|compat|deprecated|obsolete)(?:/|\.|_|[^/]*$)", re.IGNORECASE),
    "platform": re.compile(
        r"(?:^|[/_.-])(?:win|win32|windows|darwin|macos|osx|aix|sunos|solaris|android|ios|wasm|wasi|freebsd|netbsd|openbsd|"
        r"bsd|qnx|os390|ibmi|haiku|cygwin)(?=[/_.-])",
        re.IGNORECASE,
    ),
    "init": re.compile(r"(?:^|/)(?:__init__\.pyi?|package-info\.java|__main__\.py)$"),
}


@lru_cache(maxsize=20_000)
def path_flags(path: str) -> frozenset[str]:
    """Which priors apply to a path: test, example, legacy, platform, init."""
    return frozenset(flag for flag, pattern in _FLAGS.items() if pattern.search(path))
