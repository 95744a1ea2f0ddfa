"""Following processes from outside: the family, its memory, its output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import processes

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

CHILD_WITH_MEMORY = """
import mmap, subprocess, sys, time
program = "import sys, time; block = b'x' * 50_000_000; print(len(block), flush=True); time.sleep(0.6)"
file = open(sys.argv[1], "rb")
mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
total = sum(mapped[::4096])
subprocess.run([sys.executable, "-c", program], check=True)
"""


def test_memory_is_summed_over_children_and_mapped_index_pages_are_told_apart(tmp_path: Path) -> None:
    index = tmp_path / "index"
    index.mkdir()
    (index / "mapped").write_bytes(os.urandom(20_000_000))
    command = [sys.executable, "-c", CHILD_WITH_MEMORY, str(index / "mapped")]
    done = processes.run(command, env=os.environ, index=index, sample=True)
    assert done.returncode == 0
    assert done.peak_private_bytes > 65_000_000
    assert 50_000_000 < done.peak_without_index_bytes < done.peak_private_bytes - 15_000_000


def test_output_and_status_are_handed_back() -> None:
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = processes.run([sys.executable, "-c", program], env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    assert done.first_output_s is not None and 0 < done.first_output_s <= done.took_s
    silent = processes.run([sys.executable, "-c", "pass"], env=os.environ)
    assert silent.first_output_s is None and silent.peak_private_bytes == 0


def test_both_ways_of_reading_memory_agree() -> None:
    total, mapped = processes.private_bytes(os.getpid(), Path("/nowhere"))
    rollup, _ = processes.private_bytes(os.getpid())
    assert mapped == 0
    assert abs(total - rollup) < 0.1 * rollup
    assert os.getpid() in processes.family(os.getppid())


def test_a_process_that_has_ended_holds_nothing() -> None:
    assert processes.private_bytes(2**22 + 1) == (0, 0)
