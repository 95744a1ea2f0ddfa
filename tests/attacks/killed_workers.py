"""Workers of a shared store killed at random moments: afterwards each job was done once, and no half is left."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from findling.engine.remote.working import Worker
from findling.faces.cli.main import main
from findling.store.postgresql import Database, Team
from postgresql_server import Server

FOLDERS, WORKERS = 6, 3
MOMENT_S = 2.5
"""Within how long after its start a worker is killed: the start takes most of a second, a job some tenths."""

_STATISTICS = (
    "SELECT 'f', term, field::text, units FROM frequencies WHERE view_id = {view} UNION ALL "
    "SELECT 't', term::text, '', files FROM term_counts WHERE view_id = {view} UNION ALL "
    "SELECT 'v', '', '', files * 1000000 + chunks FROM views WHERE view_id = {view} UNION ALL "
    "SELECT 'b', '', '', count(*) FROM bits WHERE view_id = {view} UNION ALL "
    "SELECT 'p', '', '', count(*) FROM postings WHERE view_id = {view}"
)


def one_round(seed: int, base: Path, kills: int) -> int:
    """How many of the kills met a worker that had a job. Raises `AssertionError` for whatever is wrong afterwards."""
    chance = random.Random(f"team {seed}")
    folders = [_laid_out(base / f"r{number}", chance) for number in range(FOLDERS)]
    os.environ["FINDLING_DATA_DIR"] = str(base / "data")
    with Server() as server:
        url = server.new_database("team")
        database = Database(url)
        database.migrate()
        team = Team(database)
        team.add([(folder.name, str(folder), "") for folder in folders], None)
        running: list[subprocess.Popen[bytes]] = []
        middle = 0
        for _ in range(kills):
            while len(running) < WORKERS:
                running.append(_started(url))
            time.sleep(chance.uniform(0.2, MOMENT_S))
            victim = running.pop(0)
            had = any(f":{victim.pid}:" in source.worker for source in team.sources())
            victim.kill()
            victim.wait()
            middle += had
            # its lease ends by itself in a minute, which is not waited for
            database.rows(
                "UPDATE sources SET lease_until = now() - interval '1 s' WHERE worker LIKE %s", f"%:{victim.pid}:%"
            )
        for worker in running:
            worker.terminate()
            worker.wait()
        for _ in range(100):
            # those that were killed three times are parked, some of them only when the next job is taken
            team.add([(each.collection, each.source, "") for each in team.sources() if each.parked_at], None)
            database.rows("UPDATE sources SET due_at = now() WHERE due_at IS NOT NULL")
            Worker(team, url, base / "data").work(once=True)
            if team.totals().done == FOLDERS:
                break
            time.sleep(0.1)  # the server has not noticed yet that a writer is gone
        assert [each.done_count for each in team.sources()] == [1] * FOLDERS, team.sources()
        _as_undisturbed(database, folders, url)
        database.close()
    return middle


def _started(url: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "findling", "worker", "--store", url]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _laid_out(folder: Path, chance: random.Random) -> Path:
    folder.mkdir(parents=True)
    words = "cup pot leaf water kettle steam milk".split()
    for number in range(chance.randint(5, 80)):
        one, other = chance.sample(words, 2)
        text = f"def {one}_{number}({other}):\n    return {other}.{one}()\n\n\n" * chance.randint(1, 9)
        (folder / f"{one}_{number}.py").write_text(text, encoding="utf-8")
    return folder


def _as_undisturbed(database: Database, folders: list[Path], url: str) -> None:
    """Each collection has the rows and statistics of the same folder that is published without a kill."""
    for folder in folders:
        name = f"{folder.name} again"
        assert main(["index", str(folder), "--store", url, "--collection", name]) == 0
        ids = dict(
            database.rows("SELECT collection, view_id FROM views WHERE collection IN (%s, %s)", folder.name, name)
        )
        killed, again = (sorted(database.rows(_STATISTICS.format(view=ids[each]))) for each in (folder.name, name))
        assert killed == again, folder.name
    assert database.rows("SELECT count(*) FROM contents WHERE content_id NOT IN (SELECT content_id FROM entries)") == [
        (0,)
    ]
