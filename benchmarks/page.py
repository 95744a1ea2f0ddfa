"""What a key press in the page of `findling ui` costs: processor time of the server and its processes, over real HTTP.

    python benchmarks/page.py ROOT [--json]

ROOT is indexed before, in the user's cache folder. Each question is typed letter by letter; every second letter is
asked for, as fast typing with the page's pause of 120 ms asks for fewer. Linux only: the time is read from /proc.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit

from findling import Engine

QUESTIONS = (
    "where do we retry failed requests",
    "ActiveRecord::Base",
    "how are routes matched to controllers",
    "config/application.rb",
    "undefined method for nil",
)
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with Engine.open(root=args.root, cache=True) as engine:
        files = engine.index().files
    command = [sys.executable, "-m", "findling", "ui", "--root", str(args.root), "--cache", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            found = {"files": files, **measured(server.pid, server.stdout.readline().strip())}
        finally:
            server.terminate()
    if args.json:
        print(json.dumps(found, indent=1))
    else:
        print(
            f"{files:,} files; a key press: {found['mean_ms']:.1f} ms of processor time (mean of "
            f"{found['presses']}), its answer {found['kb']:.0f} kB; a whole page: {found['page_ms']:.1f} ms"
        )


def measured(server: int, link: str) -> dict[str, float]:
    parts = urlsplit(link)
    client = http.client.HTTPConnection(parts.netloc)
    cookie = ""

    def get(address: str, **headers: str) -> bytes:
        nonlocal cookie
        client.request("GET", address, headers={"Cookie": cookie, **headers})
        answer = client.getresponse()
        body = answer.read()
        assert answer.status == 200, (address, answer.status)
        cookie = (answer.getheader("set-cookie") or cookie).partition(";")[0]
        return body

    get(f"/?{parts.query}")
    for question in QUESTIONS:  # the first of each kind loads what it needs
        get(f"/?q={quote(question)}")
    began = spent_s(server)
    for question in QUESTIONS:
        get(f"/?q={quote(question)}")
    page_s = (spent_s(server) - began) / len(QUESTIONS)
    began = spent_s(server)
    typed = [question[:end] for question in QUESTIONS for end in range(2, len(question) + 1, 2)]
    sizes = [len(get(f"/?q={quote(text)}", **{"HX-Request": "true"})) for text in typed]
    spent = spent_s(server) - began
    return {
        "presses": len(sizes),
        "mean_ms": 1000 * spent / len(sizes),
        "kb": statistics.mean(sizes) / 1000,
        "page_ms": 1000 * page_s,
    }


def spent_s(server: int) -> float:
    """Of the server and the processes that it has."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = stat.read_text().rpartition(")")[2].split()
        if int(stat.parent.name) == server or int(fields[1]) == server:
            ticks += int(fields[11]) + int(fields[12])
    return ticks * TICK_S


if __name__ == "__main__":
    main()
