"""A server of two roots over HTTP, six clients in the rhythm of agents, and files that change all the time.

    python tests/attacks/soak.py [--seconds 1800] [--seed 1]

Clients ask a few questions in a row and pause; what they are told is fresh must hold a definition that was saved
before they asked, and must not hold one that was gone. At the end of each round nobody edits for a moment, and every
tool answers as from an index that is made then, and from a process that has just begun. What the resting server holds
(memory, descriptors, threads) must not grow, nothing may be left behind. Ends with 1 after a failure.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))
sys.path.insert(0, str(Path(__file__).parents[1] / "faces"))

import comparing
import served
from actors import edit, lay_out
from asked_servers import MAY_HAPPEN, Held, held_by
from indexes import write

from findling.contracts import Workspace, call
from findling.faces.mcp.desk import REST_S

CLIENTS = 6
ROUND_S, SHORT_ROUND_S = 60.0, 12.0
"""Of a run of minutes, and of one that is over before the second of such rounds would be."""

WARM_ROUNDS = 3
"""After so many rounds what the server holds is taken for what it needs; a round of a short run is none of them."""

MORE_MEGABYTES, MORE_DESCRIPTORS, MORE_THREADS = 25.0, 6, 3
"""What a resting server may hold more than that."""

SETTLES_S = 30.0
"""Within how long after the last edit the server's answers are those of a new index."""

MARKS = 12
"""Files that are written to be asked for."""

QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_code", {"query": "where is the retry done"}),
    ("search_code", {"query": "Thing7"}),
    ("search_keyword", {"query": "retry_3"}),
    ("search_semantic", {"query": "retry again"}),
    ("find_symbol", {"name": "act3"}),
    ("locate_symbol", {"name": "Thing1", "include_references": True}),
    ("search_docs", {"query": "what is retried"}),
    ("index_status", {}),
)


class Marks:
    """Definitions that stand in one file each, the root ``marks``: which there is in which, and since when."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._now: dict[str, tuple[str, float]] = {}
        self._gone: dict[str, float] = {}

    def write(self, chance: random.Random, number: int) -> None:
        path = f"mark{chance.randrange(MARKS)}.py"
        with self._lock:
            if before := self._now.pop(path, None):
                self._gone[before[0]] = float("inf")  # while it is written either may be found
            write(self._root, path, f"def marker_{number}():\n    return {number}\n")
            saved = time.monotonic()
            if before:
                self._gone[before[0]] = saved
            self._now[path] = (f"marker_{number}", saved)

    def one(self, chance: random.Random) -> tuple[str, str] | None:
        """A definition and its file, '' for one that is gone; None when there is none yet."""
        with self._lock:
            there = [(name, path) for path, (name, _) in self._now.items()]
            gone = [(name, "") for name in list(self._gone)[-MARKS:]]
        kind = gone if gone and chance.random() < 0.3 else there
        return chance.choice(kind) if kind else None

    def unchanged_since(self, name: str, path: str, since: float) -> bool:
        """Whether what `one` said of a definition has been so since then, and is so still."""
        with self._lock:
            if not path:
                return self._gone[name] < since
            return self._now.get(path, ("", 0.0))[0] == name and self._now[path][1] < since


class Client(threading.Thread):
    """Asks in bursts, as an agent does that works. ``problem`` is what was wrong first."""

    def __init__(self, port: int, marks: Marks, seed: int) -> None:
        super().__init__(daemon=True)
        self.problem = ""
        self.asked: Counter[str] = Counter()
        self._marks = marks
        self._chance = random.Random(seed)
        self._port = port
        self._session: dict[str, str] = {}
        self._id = 0
        self.working = threading.Event()
        self.over = False

    def run(self) -> None:
        try:
            self.begin()
            while not self.over:
                self.working.wait()
                for _ in range(self._chance.randint(2, 5)):
                    self._ask_something()
                time.sleep(self._chance.uniform(0.5, 4.0))
        except Exception:
            self.problem = self.problem or traceback.format_exc()

    def begin(self) -> None:
        client = {"name": "soak", "version": "1"}
        self.send("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send("notifications/initialized", None)

    def _ask_something(self) -> None:
        marked = self._marks.one(self._chance)
        if marked and self._chance.random() < 0.4:
            self._ask_for(*marked)
            return
        name, arguments = self._chance.choice(QUESTIONS)
        well, texts = self.tool(name, arguments)
        self.asked["answered" if well else "refused"] += 1
        assert well or any(code in texts[0] for code in MAY_HAPPEN), (name, texts)
        assert "internal_error" not in texts[0] and "is locked" not in texts[0], (name, texts)

    def _ask_for(self, name: str, path: str) -> None:
        since = time.monotonic()
        well, texts = self.tool("locate_symbol", {"name": name})
        facts = json.loads(texts[0])
        fresh = well and facts["metadata"]["freshness_status"] == "fresh"
        self.asked["marks, fresh" if fresh else "marks, not fresh"] += 1
        if fresh and self._marks.unchanged_since(name, path, since):
            exact = [row["path"] for row in facts["results"] if row["name"] == name]
            assert exact == ([f"marks/{path}"] if path else []), (name, path, facts)

    def tool(self, name: str, arguments: Mapping[str, Any]) -> tuple[bool, list[str]]:
        result = self.send("tools/call", {"name": name, "arguments": arguments})["result"]
        return not result.get("isError"), [part["text"] for part in result["content"]]

    def send(self, method: str, params: Mapping[str, Any] | None) -> Any:
        self._id += 1
        message = {"jsonrpc": "2.0", "method": method}
        message |= {} if params is None else {"id": self._id, "params": params}  # type: ignore[dict-item]
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            connection.request("POST", "/mcp", json.dumps(message), {**served.JSON, **self._session})
            answer = connection.getresponse()
            text = answer.read().decode()
            assert answer.status < 300, (answer.status, text[:500])
            if session := answer.getheader("mcp-session-id"):
                self._session = {"mcp-session-id": session}
            lines = [line[6:] for line in text.splitlines() if line.startswith("data: {")]
            return None if params is None else json.loads(lines[0] if lines else text)
        finally:
            connection.close()


class Left(NamedTuple):
    """What is left after a round."""

    server: Held
    files: int
    temporary: int


class Soak:
    """One run: its folders, the server, its clients."""

    def __init__(self, base: Path, seed: int) -> None:
        self._base = base
        self._chance = random.Random(seed)
        self.roots = {"project": lay_out(base / "project"), "marks": base / "marks"}
        self._marks = Marks(self.roots["marks"])
        self._marks.write(self._chance, 0)
        write(base / "marks", "docs/first.md", "# First\n\nWhat fails is tried again.\n\n## Later\n\nSee Thing3.\n")
        (base / "tmp").mkdir()
        roots = [word for root in self.roots.values() for word in ("--root", str(root))]
        self.server = served.start([*served.COMMAND, *roots], TMPDIR=str(base / "tmp"), CI="1")
        self.clients = [Client(self.server.port, self._marks, seed + number) for number in range(CLIENTS)]
        self._mine = Client(self.server.port, self._marks, seed)
        self._mine.begin()
        for client in self.clients:
            client.start()
        self.edits = self.compared = 0

    def round(self, seconds: float) -> None:
        """Edits and questions for so long; then a comparison."""
        self._clients_work(True)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for _ in range(self._chance.choice((1, 1, 2, 10))):
                edit(self.roots["project"], self._chance)
            self.edits += 1
            self._marks.write(self._chance, self.edits)
            time.sleep(self._chance.uniform(0.3, 1.5))
            problems = [client.problem for client in self.clients if client.problem]
            assert not problems, problems[0]
        self._clients_work(False)
        self._compare()
        assert self.server.process.poll() is None, self.server.said[-20:]
        assert not any("Traceback" in line for line in self.server.said), self.server.said[-40:]

    def _clients_work(self, work: bool) -> None:
        for client in self.clients:
            (client.working.set if work else client.working.clear)()

    def _compare(self) -> None:
        """Every answer of the server beside that of a process with a new index."""
        beside = self._base / "beside"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        for name, root in self.roots.items():
            shutil.copytree(root, beside / name, symlinks=True, ignore=shutil.ignore_patterns(".findling"))
        with Workspace(roots=[beside / name for name in self.roots]) as scratch:
            for root in scratch.roots:
                root.engine.index()
            until = time.monotonic() + SETTLES_S
            for name, arguments in comparing.questions(self.roots):
                theirs = comparing.told(name, call(name, arguments, scratch).text_blocks, beside)
                while (mine := comparing.told(name, self._mine.tool(name, arguments)[1], self._base)) != theirs:
                    assert time.monotonic() < until, f"{name} {arguments}:\n{mine}\ninstead of\n{theirs}"
                    time.sleep(0.5)
                self.compared += 1

    def left(self) -> Left:
        """What the server holds when it rests, and what lies about."""
        time.sleep(REST_S + 2)
        files = sum(1 for root in self.roots.values() for path in (root / ".findling").rglob("*") if path.is_file())
        return Left(held_by(self.server.process.pid), files, len(list((self._base / "tmp").iterdir())))

    def end(self) -> None:
        for client in self.clients:
            client.over = True
        served.stop(self.server)


def assert_flat(first: Left, now: Left) -> None:
    for place, most in enumerate((MORE_MEGABYTES, MORE_DESCRIPTORS, MORE_THREADS)):
        grown = now.server[place] - first.server[place]
        assert grown <= most, f"{Held._fields[place]}: {first.server[place]} became {now.server[place]}"
    assert now.temporary <= first.temporary, f"{now.temporary} temporary files"
    assert now.files <= 3 * first.files, f"{first.files} files of the indexes became {now.files}"


def soak(seconds: float, seed: int, base: Path) -> int:
    """Rounds until the time is over; 1 after a failure."""
    until = time.monotonic() + seconds
    run = Soak(base, seed)
    seen: list[Left] = []
    rounds = 0
    failed = ""
    try:
        while not rounds or time.monotonic() + ROUND_S < until:
            run.round(ROUND_S if seconds > 3 * ROUND_S else SHORT_ROUND_S)
            rounds += 1
            if rounds % WARM_ROUNDS == 0:
                seen.append(run.left())
                assert_flat(seen[0], seen[-1])
    except AssertionError:
        failed = traceback.format_exc()
        print(f"\n--- soak, seed {seed}, round {rounds}:\n{failed}", flush=True)
    run.end()
    print(f"\nsoak, seed {seed}, {seconds:.0f} s:\n\n{table(run, rounds, seen, bool(failed))}")
    return 1 if failed else 0


def table(run: Soak, rounds: int, seen: list[Left], failed: bool) -> str:
    asked = sum((client.asked for client in run.clients), Counter[str]())
    rows = [
        ("rounds", rounds),
        ("turns of editing", run.edits),
        ("questions of six clients, answered", asked["answered"]),
        ("of those refused (an index that is busy)", asked["refused"]),
        ("questions for what was just saved, called fresh", asked["marks, fresh"]),
        ("called syncing, stale or partial", asked["marks, not fresh"]),
        ("answers compared with a new index's", run.compared),
        ("failures", int(failed)),
    ]
    lines = ["| what | |", "|---|--:|", *(f"| {what} | {number:,} |" for what, number in rows)]
    if seen:
        lines += ["", "| resting server | at first | in the end |", "|---|--:|--:|"]
        for place, what in enumerate(("private memory, MB", "descriptors", "threads")):
            lines.append(f"| {what} | {seen[0].server[place]:.0f} | {seen[-1].server[place]:.0f} |")
        lines.append(f"| files of the indexes | {seen[0].files} | {seen[-1].files} |")
        lines.append(f"| temporary files | {seen[0].temporary} | {seen[-1].temporary} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not Path("/proc/self/smaps_rollup").exists():
        sys.exit("soak needs Linux's /proc to tell what the server holds: run it there, for instance in a container")
    with tempfile.TemporaryDirectory(prefix="findling-soak-", ignore_cleanup_errors=True) as folder:
        base = Path(folder).resolve()
        own = {"XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "FINDLING_DATA_DIR": "data"}
        os.environ.update({"CI": "1", **{name: str(base / place) for name, place in own.items()}})
        return soak(options.seconds, options.seed, base)


if __name__ == "__main__":
    sys.exit(main())
