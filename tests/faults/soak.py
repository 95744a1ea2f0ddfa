"""Random edits, branch switches, searches, watching and kills by several processes, for as long as you like.

    python tests/faults/soak.py [--minutes 30] [--seed 1] [--folder DIR]

Two MCP servers with their watchers live through it (one of them is killed and started again now and then), beside
processes that index, ask, read refs and watch, and are killed. Every round ends with a comparison with an index from
scratch, with the servers' answers beside those of a process that has just begun, and with a count of what is left:
processes, temporary files, and what the servers hold (memory, descriptors, threads). A round that fails prints its
seed and stops; so does a leak.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from actors import Actor, assert_nothing_lost, edit, lay_out
from asked_servers import MAY_HAPPEN, AskedServer, Held
from indexes import identity_of

from findling import Engine
from findling.faces.mcp.desk import REST_S

ROUND_S = 12.0
WARM_ROUNDS, ROUNDS = 4, 15
"""After so many rounds the servers are left alone until they rest, and what they hold is written down; then again
after so many more each, and at the end."""

MORE_MEGABYTES, MORE_DESCRIPTORS, MORE_THREADS = 15.0, 4, 2
"""What a resting server may hold more than when it first rested."""

ORPHANS_END_S = 10.0
"""How soon the workers of a killed process must have noticed and ended."""

MARK = "FINDLING_SOAK"
"""In the environment of every process that was started here."""

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_code", {"query": "where is the retry done"}),
    ("search_code", {"query": "Thing7"}),
    ("search_keyword", {"query": "retry_3"}),
    ("search_semantic", {"query": "retry again"}),
    ("find_symbol", {"name": "act3"}),
    ("locate_symbol", {"name": "Thing1", "include_references": True}),
    ("index_status", {}),
)
COMPARED = ("find_symbol", "search_semantic", "locate_symbol")
"""Tools whose answers are a server's and a new process's alike: nothing in them depends on dead documents."""

STEADY = ("results", "matches", "symbols", "definitions", "references")


class Servers:
    """Two servers, asked by turns."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.running = [AskedServer(root), AskedServer(root)]
        self.held: list[Held] = []
        """Of the one that is never killed, whenever it rested."""

    def ask(self, chance: random.Random) -> None:
        name, arguments = chance.choice(QUESTIONS)
        if chance.random() < 0.2 and name.startswith(("search", "find", "locate")):
            arguments = {**arguments, "ref": chance.choice(("main", "feature", "HEAD"))}
        well, text = chance.choice(self.running).tool(name, **arguments)
        assert well or any(code in text for code in MAY_HAPPEN), text
        assert "is locked" not in text, text

    def replace_one(self) -> None:
        self.running[1].kill()
        self.running[1] = AskedServer(self._root)

    def assert_answer_as_one_that_begins(self) -> None:
        beginning = AskedServer(self._root)
        try:
            for name, arguments in QUESTIONS:
                if name in COMPARED:
                    answers = [steady(server.tool(name, **arguments)[1]) for server in (beginning, *self.running)]
                    assert answers[0] == answers[1] == answers[2], (name, answers)
        finally:
            complaint = beginning.close()
        assert not complaint, complaint


def steady(text: str) -> Any:
    """What an answer found, without when and how fast."""
    facts = json.loads(text)
    found = {key: value for key, value in facts.items() if key in STEADY}
    assert found, facts.keys()
    return found


def processes_left(base: Path, servers: Servers) -> list[str]:
    """Commands of processes that were started here and that nobody needs any more."""
    mark = f"{MARK}={base}".encode()
    needed = {os.getpid(), *(server.process.pid for server in servers.running)}
    left = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) in needed:
            continue
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if mark in (folder / "environ").read_bytes().split(b"\0") and parent not in needed:
                left.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:200])
        except OSError:
            continue  # it has ended
    return left


def assert_nothing_left(base: Path, root: Path, servers: Servers) -> str:
    """What there is, in words."""
    until = time.monotonic() + ORPHANS_END_S
    while processes := processes_left(base, servers):
        assert time.monotonic() < until, processes
        time.sleep(0.2)
    temporary = [path.name for path in (base / "tmp").iterdir() if not path.name.startswith("server-")]
    temporary += [path.name for path in (root / ".findling").rglob("*tmp*")]
    size = sum(path.stat().st_size for path in (root / ".findling").rglob("*") if path.is_file())
    held = servers.running[0].held
    return (
        f"{size / 1e6:.1f} MB in {len(list((root / '.findling').rglob('*')))} files of the index, "
        f"server {held.megabytes:.0f} MB {held.descriptors} descriptors {held.threads} threads, "
        f"here {len(os.listdir('/proc/self/fd'))} descriptors, temporary files {temporary}"
    )


def assert_no_leak(servers: Servers) -> str:
    """What the servers hold when they rest, in words."""
    time.sleep(REST_S)
    servers.held.append(servers.running[0].held)
    first, now = servers.held[0], servers.held[-1]
    for place, most in enumerate((MORE_MEGABYTES, MORE_DESCRIPTORS, MORE_THREADS)):
        assert now[place] <= first[place] + most, f"{Held._fields[place]}: {first[place]} became {now[place]}"
    return f"resting: {now.megabytes:.0f} MB {now.descriptors} descriptors {now.threads} threads"


def one_round(root: Path, beside: Path, servers: Servers, seed: int) -> tuple[int, int, int]:
    """Edits, questions to servers and kills."""
    chance = random.Random(seed)
    names = ["search", *chance.choices(("search", "index", "refs", "watch"), k=3)]
    actors = [Actor(name, root, seed + place) for place, name in enumerate(names)]
    until = time.monotonic() + ROUND_S
    edits = asked = kills = 0
    while time.monotonic() < until:
        edit(root, chance)
        edits += 1
        time.sleep(chance.uniform(0, 0.3))
        if chance.random() < 0.5:
            servers.ask(chance)
            asked += 1
        if chance.random() < 0.1:
            victim = chance.randrange(len(actors))
            complaint = actors[victim].end()
            assert not complaint, complaint
            actors[victim] = Actor(names[victim], root, seed)
            kills += 1
    if chance.random() < 0.3:
        servers.replace_one()
        kills += 1
    for actor in actors:
        complaint = actor.end()
        assert not complaint, complaint
    assert_nothing_lost(root, beside)
    servers.assert_answer_as_one_that_begins()
    return edits, asked, kills


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="an empty or new folder")
    options = parser.parse_args()
    base = (options.folder or Path(tempfile.mkdtemp(prefix="findling-soak-"))).resolve()
    (base / "tmp").mkdir(parents=True)
    os.environ.update({MARK: str(base), "TMPDIR": str(base / "tmp"), "XDG_CACHE_HOME": str(base / "cache")})
    tempfile.tempdir = None
    root = lay_out(base / "project")
    servers = Servers(root)
    started = time.monotonic()
    seed = options.seed
    identity = b""
    while time.monotonic() - started < options.minutes * 60:
        print(f"seed {seed} in {root}, {(time.monotonic() - started) / 60:.1f} minutes", flush=True)
        edits, asked, kills = one_round(root, base / "again", servers, seed)
        print(f"  {edits} edits, {asked} questions, {kills} kills", flush=True)
        print(f"  {assert_nothing_left(base, root, servers)}", flush=True)
        if (seed - options.seed - WARM_ROUNDS) % ROUNDS == 0:
            print(f"  {assert_no_leak(servers)}", flush=True)
        with Engine.open(root=root) as engine:
            assert identity in (b"", identity_of(engine)), "the index was built anew, so something damaged it"
            identity = identity_of(engine)
        seed += 1
    print(assert_no_leak(servers), flush=True)
    complaints = [server.close() for server in servers.running]
    assert not any(complaints), complaints
    print(f"{seed - options.seed} rounds, nothing lost, no leak", flush=True)


if __name__ == "__main__":
    main()
