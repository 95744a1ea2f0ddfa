"""How fast findling is on a folder, and how much memory and disk it takes.

    speed.py ROOT [--queries QUERIES.jsonl] [--runs 11] [--existing] [--change FILE] [--json OUT.json]

Builds an index of ROOT from nothing in a temporary cache folder, and measures: indexing, the first answer on a folder
never seen, warm answers in process, whole cold processes, one changed file, a check that finds nothing changed, memory
of all processes, disk. ripgrep is run beside ``grep`` where it is installed. ROOT gets one file, which is taken away
again; with ``--change``, that file gets some lines instead, and is put back; nothing else in ROOT is touched.
``--existing`` takes the complete index that lies in ROOT and measures everything but indexing. Prints a Markdown table;
``--json`` keeps every number, with the load of the machine before each measurement. Linux only.

Memory is private memory (clean and dirty pages of smaps), summed over a command and its children, sampled; pages of
mapped index files are told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import processes

HERE = Path(__file__).parent
# -P: the working directory is the measured folder, which must not be on the import path.
FINDLING = (sys.executable, "-P", "-m", "findling")
PROBE_NAME = "findling_speed_probe.py"
PROBE_TEXT = "def findling_speed_probe(count):\n    return count + {}\n"
FIRST_LINES = 100
RIPGREP_ROUNDS = 3

# Asked where no queries are given: names, phrases and questions that any large code base has something for.
QUERIES = (
    "where do we retry failed requests",
    "parse command line arguments",
    "http client timeout",
    "write a file atomically",
    "error handling in the main loop",
    "how is the configuration loaded",
    "open a database connection",
    "user authentication token",
    "Context",
    "parse_args",
    "newClient",
    "TestServer",
    "serialize to json",
    "release the lock when the process exits",
    "compress data before sending",
    "installation instructions",
    "cache invalidation",
    "background worker queue",
    "connection refused",
    "sort results by score",
)

# A rare literal, an absent one, common ones, expressions with and without a literal.
EXPRESSIONS = (
    "EPROTONOSUPPORT",
    "zqxjkvbwzq",
    r"context\.WithTimeout\(",
    "return nil",
    r"func \(\w+ \*\w+\) Close\(\) error",
    r"TODO\(\w+\)",
    r"json\.Unmarshal\(\w+, &\w+\)",
    r"class \w+Exception\b",
    "(?i)deadline exceeded",
    r"\b[a-f0-9]{32}\b",
)


class Failed(Exception):
    """A measured command did not end well."""


class Bench:
    """One folder with a cache of its own, or with ``existing`` its own index, and the commands measured on it."""

    def __init__(self, root: Path, cache: Path, runs: int, *, existing: bool = False) -> None:
        self.root = root
        self.cache = cache
        self.runs = runs
        self.existing = existing
        self.env = {**os.environ, "XDG_CACHE_HOME": str(cache), "NO_COLOR": "1"}
        # Installed programs have their bytecode; without it, every start would compile the sources again.
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)
        self._options = ("--root", str(root), *([] if existing else ["--cache"]))

    def findling(self, *arguments: str, sample: bool = False) -> processes.Finished:
        """Run a command of findling; exit status 0 and 1 (nothing found) are fine. Raises Failed."""
        command = [*FINDLING, arguments[0], *self._options, "--", *arguments[1:]]
        return self._run(command, sample=sample, allowed=(0, 1))

    def search(self, text: str, *options: str, sample: bool = False) -> processes.Finished:
        command = [*FINDLING, "search", *options, *self._options, "--", text, str(self.root)]
        return self._run(command, sample=sample, allowed=(0, 1))

    def inside(self, what: str, *texts: Sequence[str]) -> tuple[dict[str, Any], processes.Finished]:
        """Run a measurement of ``inside.py`` and sample its memory meanwhile."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "texts.json"
            path.write_text(json.dumps([text for group in texts for text in group]), encoding="utf-8")
            command = [sys.executable, str(HERE / "inside.py"), what, str(self.root), str(path)]
            done = self._run(command + ["--existing"] * self.existing, sample=True)
        return json.loads(done.stdout), done

    def warm_up(self) -> None:
        """Start the command once elsewhere, so that no measured start is the first on this machine."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "a.py").write_text(PROBE_TEXT.format(0), encoding="utf-8")
            self._run([*FINDLING, "search", "--root", folder, "--", "probe", folder], sample=False, allowed=(0, 1))

    def forget(self) -> None:
        for child in self.cache.iterdir():
            shutil.rmtree(child)

    def _run(self, command: Sequence[str], *, sample: bool, allowed: Sequence[int] = (0,)) -> processes.Finished:
        done = processes.run(
            command,
            env=self.env,
            cwd=self.root,
            index=self.root / ".findling" if self.existing else self.cache,
            sample=sample,
        )
        if done.returncode not in allowed:
            raise Failed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done


def measure(
    bench: Bench, queries: Sequence[str], expressions: Sequence[str], change: Path | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {"load": {}}

    def load(what: str) -> None:
        found["load"][what] = os.getloadavg()[0]

    bench.warm_up()
    if not bench.existing:
        bench.forget()
        load("first")
        found["first"] = measure_first(bench, queries[0])
        bench.forget()
        load("index")
        numbers, done = bench.inside("index")
        found["index"] = numbers | _memory(done)
    load("warm")
    found["warm"], _ = bench.inside("search", queries)
    found["memory"], _ = bench.inside("memory", queries)
    load("grep")
    found["grep"], _ = bench.inside("grep", expressions)
    found["ripgrep"] = measure_ripgrep(bench.root, expressions)
    load("cold")
    found["cold"] = measure_cold(bench, queries)
    load("sync")
    found["sync"] = measure_sync(bench, change)
    return found


def measure_first(bench: Bench, query: str) -> dict[str, Any]:
    done = bench.search(query, sample=True)
    return {"first_output_s": done.first_output_s, "took_s": done.took_s, **_memory(done)}


def measure_cold(bench: Bench, queries: Sequence[str]) -> dict[str, Any]:
    """Whole processes, one mode after the other in turn so that a busy moment hits all alike."""
    times: dict[str, list[float]] = {"python": [], "keyword": [], "hybrid": [], "auto": []}
    peaks: dict[str, int] = dict.fromkeys(times, 0)
    for turn in range(bench.runs):
        query = queries[turn % len(queries)]
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True, env=bench.env)
        times["python"].append((time.perf_counter() - started) * 1000)
        for mode in ("keyword", "hybrid", "auto"):
            times[mode].append(bench.search(query, "--mode", mode).took_s * 1000)
    for mode in ("keyword", "hybrid", "auto"):
        peaks[mode] = bench.search(queries[0], "--mode", mode, sample=True).peak_without_index_bytes
    return {
        mode: {
            "median_ms": statistics.median(values),
            "min_ms": min(values),
            "max_ms": max(values),
            "peak": peaks[mode],
        }
        for mode, values in times.items()
    }


def measure_sync(bench: Bench, change: Path | None = None) -> dict[str, Any]:
    """A file is changed and synced by name, and again without; then nothing has changed; then it is as before.

    The file is ``change``, or one of our own that is added first.
    """
    probe = change or bench.root / PROBE_NAME
    if change is None and probe.exists():
        raise Failed(f"{probe} exists already; it is not ours to change")
    before, times = (probe.read_bytes(), probe.stat()) if change else (b"", None)
    named, unnamed, unchanged = [], [], []

    def write(number: int) -> None:
        probe.write_bytes(before + PROBE_TEXT.format(number).encode())

    try:
        write(0)
        bench.findling("sync", str(probe))
        for turn in range(1, bench.runs + 1):
            write(turn)
            named.append(bench.findling("sync", str(probe)).took_s * 1000)
            write(-turn)
            unnamed.append(bench.findling("sync").took_s * 1000)
            unchanged.append(bench.findling("sync").took_s * 1000)
    finally:
        if times:
            probe.write_bytes(before)
            os.utime(probe, ns=(times.st_atime_ns, times.st_mtime_ns))
        else:
            probe.unlink(missing_ok=True)
    bench.findling("sync", str(probe))
    return {
        "one_file_named_ms": statistics.median(named),
        "one_file_unnamed_ms": statistics.median(unnamed),
        "nothing_changed_ms": statistics.median(unchanged),
    }


def measure_ripgrep(root: Path, expressions: Sequence[str]) -> dict[str, Any] | None:
    """The same expressions with ripgrep: the first lines, then all; None where it is not installed."""
    program = shutil.which("rg")
    if program is None:
        return None
    rows = []
    for expression in expressions:
        times: dict[int, list[float]] = {FIRST_LINES: [], 0: []}
        for _ in range(RIPGREP_ROUNDS):
            for limit, found in times.items():
                found.append(_ripgrep_ms([program, "--line-number", "--no-heading", "-e", expression], root, limit))
        rows.append({limit: statistics.median(found) for limit, found in times.items()})
    return {
        "first_p50_ms": statistics.median(row[FIRST_LINES] for row in rows),
        "all_p50_ms": statistics.median(row[0] for row in rows),
    }


def _ripgrep_ms(command: Sequence[str], root: Path, limit: int) -> float:
    started = time.perf_counter()
    with subprocess.Popen([*command, str(root)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        for number, _ in enumerate(process.stdout, 1):
            if number == limit:
                process.kill()
                break
    return (time.perf_counter() - started) * 1000


def _memory(done: processes.Finished) -> dict[str, int]:
    return {"peak_private": done.peak_private_bytes, "peak_without_index": done.peak_without_index_bytes}


def table(found: Mapping[str, Any]) -> str:
    """The numbers as Markdown."""
    warm, cold, sync = found["warm"], found["cold"], found["sync"]
    memory = found["memory"]
    rows = _index_rows(found) if "index" in found else []
    rows += [
        (f"Warm {mode}, in process, {how}, p50 / p95", f"{times[f'{key}p50_ms']:.1f} / {times[f'{key}p95_ms']:.1f} ms")
        for mode, times in warm["modes"].items()
        for how, key in (("new question", "new_"), ("asked again", ""))
    ]
    rows += [
        (f"Cold {mode}, whole process, median (least)", f"{times['median_ms']:.0f} ({times['min_ms']:.0f}) ms")
        for mode, times in cold.items()
    ]
    rows += [
        ("Grep, in process: first 100 lines / all, p50", _pair(found["grep"])),
        ("ripgrep, whole process: first 100 lines / all, p50", _pair(found["ripgrep"])),
        (
            "Sync of one changed file, named / unnamed",
            "{one_file_named_ms:.0f} / {one_file_unnamed_ms:.0f} ms".format(**sync),
        ),
        (
            "Sync with nothing changed, whole process / in process",
            f"{sync['nothing_changed_ms']:.0f} / {warm['refresh_ms']:.0f} ms",
        ),
        (
            f"Memory of a warm process after {memory['answers']} hybrid answers (with mapped index)",
            f"{memory['private_bytes_without_index'] / 1e6:.0f} ({memory['private_bytes'] / 1e6:.0f}) MB",
        ),
        ("Peak memory of a cold keyword / hybrid search", _peaks(cold)),
    ]
    return "\n".join(["| | |", "|---|--:|", *(f"| {name} | {value} |" for name, value in rows)])


def _index_rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    index = found["index"]
    report, disk = index["report"], index["bytes_on_disk"]
    megabytes = index["bytes_indexed"] / 1e6
    # Vectors are begun when the text of every file can be searched.
    text_ready_s = index["stage_began_s"].get("embedding", index["took_s"])
    return [
        ("Files, chunks, indexed text", f"{report['files']:,}, {report['chunks']:,}, {megabytes:,.1f} MB"),
        ("Text ready", f"{text_ready_s:.1f} s, {megabytes / text_ready_s:.1f} MB/s"),
        ("All ready, vectors too", f"{index['took_s']:.1f} s, {megabytes / index['took_s']:.1f} MB/s"),
        ("First answer on a folder never seen", _seconds(found["first"]["first_output_s"])),
        ("Peak memory while indexing (with mapped index)", _megabytes(index)),
        ("Disk", f"{disk / 1e6:,.1f} MB, {disk / index['bytes_indexed']:.2f} of the text"),
    ]


def _peaks(cold: Mapping[str, Any]) -> str:
    return f"{cold['keyword']['peak'] / 1e6:.0f} / {cold['hybrid']['peak'] / 1e6:.0f} MB"


def _pair(numbers: Mapping[str, float] | None) -> str:
    return "{first_p50_ms:.1f} / {all_p50_ms:.1f} ms".format(**numbers) if numbers else "not installed"


def _seconds(value: float | None) -> str:
    return "no answer" if value is None else f"{value:.2f} s"


def _megabytes(memory: Mapping[str, int]) -> str:
    return f"{memory['peak_without_index'] / 1e6:.0f} ({memory['peak_private'] / 1e6:.0f}) MB"


def load_texts(path: Path | None, root: Path, count: int) -> list[str]:
    """The file's queries about this root if it has any by its name, else all of them; evenly thinned to ``count``."""
    if path is None:
        return list(QUERIES)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = [line["query"] for line in lines if line.get("repo") == root.name] or [line["query"] for line in lines]
    return texts[:: max(1, len(texts) // count)][:count]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--queries", type=Path, help="JSON lines with a `query`; without it, twenty general ones")
    parser.add_argument("--count", type=int, default=30, help="how many of them to ask")
    parser.add_argument("--runs", type=int, default=11, help="how often each whole process is started")
    parser.add_argument("--existing", action="store_true", help="measure the complete index in ROOT, do not build one")
    parser.add_argument("--change", type=Path, metavar="FILE", help="a file of ROOT to change and put back")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args(arguments)
    root = options.root.resolve()
    queries = load_texts(options.queries, root, options.count)
    with tempfile.TemporaryDirectory(prefix="findling-speed-") as cache:
        bench = Bench(root, Path(cache), options.runs, existing=options.existing)
        found = measure(bench, queries, EXPRESSIONS, options.change and options.change.resolve())
    print(table(found))
    if options.json:
        options.json.write_text(json.dumps({"name": root.name, **found}, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
