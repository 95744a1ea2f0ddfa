"""Processes that index, embed, watch and search are killed at any moment: nothing is lost, and others go on."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from actors import Actor, assert_nothing_lost, edit, lay_out

from findling import Engine
from findling.store.lock import WriterLock


@pytest.mark.faults
@pytest.mark.parametrize("name", ["index", "refs", "watch"])
def test_a_killed_process_leaves_what_the_next_one_completes(name: str, tmp_path: Path) -> None:
    root = lay_out(tmp_path / "project")
    chance = random.Random(name)
    if name == "watch":
        with Engine.open(root=root) as engine:
            engine.index()
    for turn in range(3):
        actor = Actor(name, root, turn)
        for _ in range(3):
            edit(root, chance)
            time.sleep(chance.uniform(0.0, 0.25))
        assert actor.end() == ""
    assert_nothing_lost(root, tmp_path / "again")


@pytest.mark.faults
def test_many_processes_and_no_locked_database(tmp_path: Path) -> None:
    root = lay_out(tmp_path / "project")
    chance = random.Random(1)
    actors = [Actor(name, root, seed) for seed, name in enumerate(("index", "search", "search", "refs", "watch"))]
    until = time.monotonic() + 3
    while time.monotonic() < until:
        edit(root, chance)
        time.sleep(0.05)
        if chance.random() < 0.2:
            victim = chance.randrange(len(actors))
            assert actors[victim].end() == ""
            actors[victim] = Actor(actors[victim].name, root, victim)
    for actor in actors:
        assert actor.end() == ""
    # The writer's role ended with its last holder.
    WriterLock(root / ".findling", wait_s=5.0).release()
    assert_nothing_lost(root, tmp_path / "again")


@pytest.mark.faults
def test_edits_between_questions_are_never_called_fresh_wrongly(tmp_path: Path) -> None:
    root = lay_out(tmp_path / "project")
    chance = random.Random(2)
    with Engine.open(root=root) as engine, Engine.open(root=root) as other:
        for turn in range(25):
            word = f"marker_{turn}_end"
            target = chance.choice([path for path in sorted(root.rglob("*.py")) if ".findling" not in path.parts])
            target.write_text(f"def {word}():\n    pass\n")
            asked = engine if chance.random() < 0.5 else other
            result = asked.symbols(word, wait_s=chance.choice((0, 0.3, 1.5)))
            if result.freshness == "fresh":
                assert [hit.path for hit in result.definitions] == [target.relative_to(root).as_posix()]
