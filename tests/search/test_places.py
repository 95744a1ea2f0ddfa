"""Which place of a file is shown: the definition in what encloses it, the words that stand together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from findling import Engine
from findling.model.types import Hit
from findling.search.ranking import formula

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


DELAYS = """\
pub fn next_pause(attempt: u32, ceiling: Duration) -> Duration {{
    // the delay between attempts grows until the ceiling
    ceiling.min(FIRST * 2u32.pow(attempt))
}}
{padding}

#[cfg(test)]
mod tests {{
    #[test]
    fn delay_between_attempts_grows() {{
        // the delay between attempts grows until the ceiling: delay, attempts, ceiling
        let delay_between_attempts = next_pause(3, ceiling());
        assert!(delay_between_attempts > next_pause(2, ceiling()), "delay between attempts grows");
    }}
}}
"""

FUNCTIONS = "\n".join(f"\npub fn step_{number}(total: u64) -> u64 {{\n    {number} * total\n}}" for number in range(60))


QUEUES = {
    "queue/v1/jobs.py": "class JobQueue:\n    def drain_slowly(self) -> None:\n        self.jobs = None\n",
    "queue/v2/jobs.py": "class JobQueue:\n    def drain(self) -> None:\n        self.jobs = drain_slowly(self)\n",
    "queue/v2/slow.py": "class SlowQueue:\n    def drain_slowly(self) -> None:\n        JobQueue.drain_slowly(self)\n",
    "queue/drain_slowly.py": "def drain_slowly(queue: object) -> None:\n    del queue  # JobQueue, drain slowly\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root: Path = tmp_path_factory.mktemp("places") / "project"
    (root / "tests").mkdir(parents=True)
    (root / "filters.py").write_text(FILTERS.format(padding=PADDING), encoding="utf-8")
    (root / "windows.py").write_text(WINDOWS.format(padding=STEPS), encoding="utf-8")
    (root / "delays.rs").write_text(DELAYS.format(padding=FUNCTIONS), encoding="utf-8")
    for path, text in QUEUES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
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


def test_a_qualified_name_is_found_where_it_is_and_not_where_another_has_the_name(engine: Engine) -> None:
    hit = first(engine, "JobQueue.drain_slowly")  # the older version alone has it
    assert (hit.path, hit.qualified_name) == ("queue/v1/jobs.py", "JobQueue.drain_slowly")
    assert first(engine, "SlowQueue.drain_slowly").path == "queue/v2/slow.py"
    assert first(engine, "JobQueue").path == "queue/v2/jobs.py"


def test_words_that_stand_together_tell_the_place(engine: Engine) -> None:
    hit = first(engine, "group blocks into aligned time ranges")
    assert (hit.path, hit.name) == ("windows.py", "aligned")


def test_a_test_comes_first_when_tests_are_asked_for(engine: Engine) -> None:
    assert first(engine, "aligned ranges").path == "windows.py"
    assert first(engine, "tests of aligned ranges").path == "tests/test_windows.py"


def test_a_files_own_tests_are_shown_when_tests_are_asked_for(engine: Engine) -> None:
    hit = first(engine, "how the delay between attempts grows until a ceiling")
    assert (hit.path, hit.name) == ("delays.rs", "next_pause")
    hit = first(engine, "tests of how the delay between attempts grows until a ceiling")
    assert (hit.path, hit.name) == ("delays.rs", "delay_between_attempts_grows")


def test_who_is_nearest_counts_less_where_nothing_is_near(engine: Engine) -> None:
    def windows(query: str) -> float:
        hits = engine.search(query, explain=True).hits
        return max(reason.value for hit in hits for reason in hit.reasons if reason.signal == "window")

    far, near = windows("brew porridge for penguins"), windows("request filter keeps fingerprints of a request")
    assert 0 < far < near / 1.5
    assert near <= formula.SIGNALS["window"].weight


def test_the_shares_of_every_signal_add_up(engine: Engine) -> None:
    result = engine.search("tests of aligned time ranges", explain=True)
    assert result.hits
    for hit in result.hits:
        assert sum(reason.value for reason in hit.reasons) == pytest.approx(hit.rank_value)


def test_of_a_long_type_more_than_its_first_line_is_shown(tmp_path: Path) -> None:
    steps = "".join(f"        total = total * {number} + {number};\n" for number in range(60))
    methods = "".join(
        f"  static int step{number}(int total) {{\n{steps}    return total;\n  }}\n" for number in range(3)
    )
    imports = "".join(f"import java.util.helpers.Helper{number};\n" for number in range(60))
    said = "".join(f" * Steps are taken one after the other, and number {number} is told.\n" for number in range(15))
    head = f"package steps;\n\n{imports}\n/**\n{said} */\npublic final class Steps {{\n"
    (tmp_path / "Steps.java").write_text(f"{head}{methods}}}\n")
    with Engine.open(root=tmp_path) as engine:
        engine.index()
        hit = engine.search("Steps").hits[0]
    assert hit.name == "Steps"
    assert hit.end_line > hit.start_line
