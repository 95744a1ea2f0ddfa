"""Which place of a file is shown: the definition in what encloses it, the words that stand together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from findling import Engine
from findling.types import Hit

FILTERS = '''\
class RequestFilter:
    """A request filter keeps the fingerprints that a request filter has seen: request, filter, request, filter."""

    def __init__(self) -> None:
        self.fingerprints: set[str] = set()
        self.request = None
        self.filter = None
{padding}
    def seen_before(self, request: str) -> bool:
        found = request in self.fingerprints
        self.fingerprints.add(request)
        return found


class ResponseFilter:
    def seen_before(self, response: str) -> bool:
        return bool(response)
'''

PADDING = "\n".join(
    f"\n    def step_{number}(self) -> int:\n        return {number} * self.total" for number in range(40)
)

WINDOWS = '''\
def totals(ranges: list[int], blocks: list[int]) -> int:
    """Blocks, and blocks again; ranges, and ranges once more."""
    count = len(blocks) + len(blocks) + len(ranges)
    for start in ranges:
        count += start
    for block in blocks:
        count -= block
    return count
{padding}

def aligned(items: list[int], width: int) -> dict[int, list[int]]:
    """Group into aligned time ranges of blocks."""
    found: dict[int, list[int]] = {{}}
    for item in items:
        found.setdefault(item - item % width, []).append(item)
    return found
'''

STEPS = "\n".join(
    f"\n\ndef step_{number}(total: int) -> int:\n    return {number} * total + {number}" for number in range(40)
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root: Path = tmp_path_factory.mktemp("places") / "project"
    (root / "tests").mkdir(parents=True)
    (root / "filters.py").write_text(FILTERS.format(padding=PADDING), encoding="utf-8")
    (root / "windows.py").write_text(WINDOWS.format(padding=STEPS), encoding="utf-8")
    (root / "tests" / "test_windows.py").write_text(
        "from windows import aligned\n\n\ndef test_aligned_ranges() -> None:\n    assert aligned([1, 12], 10)\n",
        encoding="utf-8",
    )
    with Engine.open(root=root) as opened:
        opened.index()
        yield opened


def first(engine: Engine, query: str) -> Hit:
    return engine.search(query).hits[0]


def test_a_qualified_name_is_shown_in_what_encloses_it(engine: Engine) -> None:
    hit = first(engine, "RequestFilter.seen_before")
    assert (hit.path, hit.qualified_name) == ("filters.py", "RequestFilter.seen_before")
    hit = first(engine, "ResponseFilter.seen_before")
    assert hit.qualified_name == "ResponseFilter.seen_before"
    assert first(engine, "RequestFilter").start_line == 1


def test_words_that_stand_together_tell_the_place(engine: Engine) -> None:
    hit = first(engine, "group blocks into aligned time ranges")
    assert (hit.path, hit.name) == ("windows.py", "aligned")


def test_a_test_comes_first_when_tests_are_asked_for(engine: Engine) -> None:
    assert first(engine, "aligned ranges").path == "windows.py"
    assert first(engine, "tests of aligned ranges").path == "tests/test_windows.py"


def test_the_shares_of_every_signal_add_up(engine: Engine) -> None:
    result = engine.search("tests of aligned time ranges", explain=True)
    assert result.hits
    for hit in result.hits:
        assert sum(reason.value for reason in hit.reasons) == pytest.approx(hit.rank_value)
