"""Processes killed at random moments, and every system call that writes failed once: afterwards nothing is lost.

    python tests/attacks/kill.py [--seconds 40] [--tally build/kill.json]
    python tests/attacks/kill.py --only index:17           a round again, by its seed
    python tests/attacks/kill.py --only index:write:9      the 9th write of indexing again

Rounds go on from the seed that the tally ends with, and add up in it: GOALS are the kills of a whole run. After each
round the same answers as those of an index that nobody disturbed, the same index, and no stray files. Needs strace.
Ends with 1 after a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
sys.path.insert(0, str(Path(__file__).parents[1] / "library"))

import killed_workers
from actors import Actor, assert_nothing_lost, edit, lay_out
from asked_servers import MAY_HAPPEN, AskedServer
from file_servers import FileServer, commit, git_server
from indexes import identity_of
from injected import FAULTS, NEW_LAVA, OLD_LAVA, WORK, Bench, allow, assert_no_stray_files, check_fetched, fail_nth

from findling import Engine
from findling.engine.library import Library
from findling.engine.library.fetching.fetch_requests import FileRequest, RepoRequest
from findling.engine.library.fetching.running import run_here
from findling.store.local.lock import WriterLock
from postgresql_server import binaries

GOALS: Mapping[str, int] = {
    "index": 400,
    "embed": 120,
    "watch": 120,
    "fetch": 120,
    "serve": 120,
    "background": 120,
    **({"team": 100} if binaries() is not None else {}),  # workers of a store in PostgreSQL
}
KILLS = 20
"""In a round, one after the other, before anything is put right."""

MOMENTS_S: Mapping[str, float] = {
    "index": 0.5,
    "embed": 0.6,
    "watch": 1.2,
    "fetch": 0.6,
    "serve": 0.8,
    "background": 0.6,
}
"""Within how long after it began working a process is killed: somewhat longer than its work takes."""

CALLS = [f"{work}:{fault}" for work in WORK for fault in FAULTS]
MOST_CALLS = 400
"""No kind of work makes more calls of one kind in one thread; it would not end otherwise."""


class Round(NamedTuple):
    kills: int
    in_the_middle: int | None
    """None where it cannot be told."""


# --- rounds -------------------------------------------------------------------------------------------------------


def one_round(kind: str, seed: int, base: Path) -> Round:
    """Raises `AssertionError` for whatever is wrong afterwards."""
    if kind == "team":
        return Round(KILLS, killed_workers.one_round(seed, base, KILLS))
    return _fetching(seed, base) if kind == "fetch" else _in_a_project(kind, seed, base)


def _in_a_project(kind: str, seed: int, base: Path) -> Round:
    chance = random.Random(f"{kind} {seed}")
    root = lay_out(base / "project")
    with Engine.open(root=root) as engine:
        engine.index()
        identity = identity_of(engine)
    beside = chance.choice((None, None, "search", "refs"))
    witness = Actor(beside, root, seed) if beside else None
    middle = 0
    for _ in range(KILLS):
        for _ in range(chance.randint(1, 10)):
            edit(root, chance)
        if kind == "serve":
            _killed_server(root, chance)
        else:
            middle += _killed(Actor(kind, root, seed), kind, root, chance)
    if witness:
        witness.kill()
    WriterLock(root / ".findling", wait_s=10.0).release()  # the role ended with its last holder
    assert_nothing_lost(root, base / "again")
    with Engine.open(root=root) as engine:
        assert_no_stray_files(engine.store_dir)
        assert identity_of(engine) == identity, "the index was built anew, so something damaged it"
    return Round(KILLS, middle if kind in ("index", "embed", "background") else None)


def _killed(actor: Actor, kind: str, root: Path, chance: random.Random) -> bool:
    until = time.monotonic() + chance.uniform(0, MOMENTS_S[kind])
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 0.1))
        if kind == "watch" or chance.random() < 0.3:
            edit(root, chance)
    return actor.kill()


def _killed_server(root: Path, chance: random.Random) -> None:
    server = AskedServer(root)
    until = time.monotonic() + chance.uniform(0, MOMENTS_S["serve"])
    try:
        while time.monotonic() < until:
            edit(root, chance)
            well, text = server.tool("find_symbol", name=f"Thing{chance.randrange(60)}")
            assert well or any(code in text for code in MAY_HAPPEN), text
    finally:
        server.kill()


def _fetching(seed: int, base: Path) -> Round:
    chance = random.Random(f"fetch {seed}")
    data, served = base / "data", base / "served" / "acme" / "guide"
    commit(served, {"README.md": "# Guide\n\nHow to make tea.\n", "docs/a.md": "# A\n\nWater boils.\n"})
    with FileServer({"/lava.md": OLD_LAVA}) as server, git_server(base / "served") as git_url:
        allow(base, data, server.host, git_url.removeprefix("http://"))
        file, repository = f"{server.url}/lava.md", f"{git_url}/acme/guide/.git"
        _fetch(data, file, repository)
        middle = 0
        for number in range(KILLS):
            server.answers["/lava.md"] = chance.choice((OLD_LAVA, NEW_LAVA))
            commit(served, {f"docs/{number}.md": f"# Number {number}\n\nLeaves are left in for {number} minutes.\n"})
            middle += _killed(Actor("fetch", data, seed, file, repository), "fetch", base, _Still(chance))
            check_fetched(data)
        server.answers["/lava.md"] = NEW_LAVA
        _fetch(data, file, repository)
        assert (data / "files" / "lava.md").read_bytes() == NEW_LAVA
        assert os.listdir(data / "files") == ["lava.md"]
        check_fetched(data)
        _check_repository(data, served)
        assert_no_stray_files(data)
    return Round(KILLS, middle)


class _Still(random.Random):
    """Chances for a folder that nobody edits while it is fetched into."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance.random())

    def random(self) -> float:
        return max(super().random(), 0.3)


def _fetch(data: Path, file: str, repository: str) -> None:
    with Library(data) as library:
        for request in (FileRequest(file, "lava.md", overwrite=True), RepoRequest(repository)):
            run_here(library, request, library.jobs.start("fetch", request.type))


def _check_repository(data: Path, served: Path) -> None:
    """What was fetched is what stands there, file by file."""
    wanted = {path.relative_to(served).as_posix(): path.read_bytes() for path in served.rglob("*.md")}
    copies = [path for path in data.rglob("README.md") if "files" in path.parts]
    assert len(copies) == 1, copies
    home = copies[0].parent
    assert {path.relative_to(home).as_posix(): path.read_bytes() for path in home.rglob("*.md")} == wanted


# --- what adds up -------------------------------------------------------------------------------------------------


class Tally:
    """What was tried so far, in a file, so that rounds can go on where they ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.facts: dict[str, Any] = {"rounds": {}, "calls": {}}
        if path.exists():
            self.facts = json.loads(path.read_text())

    def round(self, kind: str) -> dict[str, int]:
        begun = {"rounds": 0, "kills": 0, "in_the_middle": 0, "failures": 0}
        return dict.setdefault(self.facts["rounds"], kind, begun)

    def calls(self, name: str) -> dict[str, int]:
        return dict.setdefault(self.facts["calls"], name, {"tried": 0, "ended": 0, "failures": 0})

    def next_kind(self) -> str:
        return min(GOALS, key=lambda kind: self.round(kind)["kills"] / GOALS[kind])

    @property
    def reached(self) -> bool:
        return all(self.round(kind)["kills"] >= goal for kind, goal in GOALS.items())

    def next_calls(self) -> str | None:
        """Writes before all others: a disk is full more often than it breaks."""
        left = [name for name in CALLS if not self.calls(name)["ended"]]
        return min(left, key=lambda name: (not name.endswith(":write"), self.calls(name)["tried"])) if left else None

    def save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(self.facts, indent=1))

    def table(self) -> str:
        rows = ["| killed | rounds | kills | in the middle | of | failures |", "|---|--:|--:|--:|--:|--:|"]
        for kind, goal in GOALS.items():
            told = self.round(kind)
            middle = told["in_the_middle"] if kind not in ("watch", "serve") else "not told"
            rows.append(f"| {kind} | {told['rounds']} | {told['kills']} | {middle} | {goal} | {told['failures']} |")
        rows += ["", "| failing system calls | the first … were failed | all | failures |", "|---|--:|---|--:|"]
        for name in CALLS:
            told = self.calls(name)
            every = "yes" if told["ended"] else "not yet"
            rows.append(f"| {name.replace(':', ', ')} | {told['tried']} | {every} | {told['failures']} |")
        return "\n".join(rows)

    @property
    def failures(self) -> int:
        return sum(told["failures"] for part in self.facts.values() for told in part.values())


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="findling-kill-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def _told(name: str, attempt: Callable[[], Any]) -> Any:
    """What an attempt gives; None for one that failed, which is said."""
    try:
        return attempt()
    except Exception:
        print(f"\n--- again: python tests/attacks/kill.py --only {name}\n{traceback.format_exc()}", flush=True)
        return None


def attack(seconds: float, tally: Tally, *, kills: bool, calls: bool) -> int:
    until = time.monotonic() + seconds
    before = tally.failures
    with _folder() as folder:
        bench = Bench(folder) if calls else None
        while time.monotonic() < until:
            name = tally.next_calls() if bench else None
            if kills and not (name and tally.reached):  # the time that kills no longer need is the calls'
                _next_round(tally)
                tally.save()
            if not kills and name is None:
                break
            if bench and name and time.monotonic() < until:
                _next_call(tally, name, bench)
                tally.save()
    print(f"\nkill, {seconds:.0f} s, with what came before:\n\n{tally.table()}")
    return 1 if tally.failures > before else 0


def _next_round(tally: Tally) -> None:
    kind = tally.next_kind()
    told = tally.round(kind)
    with _folder() as base:
        done = _told(f"{kind}:{told['rounds']}", lambda: one_round(kind, told["rounds"], base))
    told["rounds"] += 1
    told["kills"] += done.kills if done else KILLS
    told["in_the_middle"] += (done.in_the_middle or 0) if done else 0
    told["failures"] += done is None


def _next_call(tally: Tally, name: str, bench: Bench) -> None:
    work, fault = name.split(":")
    told = tally.calls(name)
    met = _told(f"{name}:{told['tried'] + 1}", lambda: fail_nth(work, fault, told["tried"] + 1, bench))
    told["failures"] += met is None
    told["ended"] = int(met is False or told["tried"] + 1 >= MOST_CALLS)
    told["tried"] += met is not False


def again(only: str) -> int:
    with _folder() as base:
        kind, *rest = only.split(":")
        if len(rest) == 1:
            print(one_round(kind, int(rest[0]), base))
        else:
            print(fail_nth(kind, rest[0], int(rest[1]), Bench(base)))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--tally", type=Path, default=Path("build/kill.json"))
    parser.add_argument("--only", metavar="WHAT:SEED")
    parser.add_argument("--no-calls", action="store_true", help="only kill: needs no strace")
    parser.add_argument("--no-kills", action="store_true", help="only fail system calls")
    options = parser.parse_args()
    os.environ["CI"] = "1"  # no question leaves a process behind
    if not options.no_calls:
        _need_strace()
    if options.only:
        return again(options.only)
    return attack(options.seconds, Tally(options.tally), kills=not options.no_kills, calls=not options.no_calls)


def _need_strace() -> None:
    probe = ["strace", "-f", "-qq", "-e", "inject=fsync:error=EIO:when=1", sys.executable, "-c", ""]
    if shutil.which("strace") is None:
        sys.exit("kill needs strace: apt install strace")
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        sys.exit("kill needs strace to be allowed to trace: sysctl kernel.yama.ptrace_scope=0")


if __name__ == "__main__":
    sys.exit(main())
