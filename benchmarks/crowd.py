"""Many clients at once, who ask servers for users of a shared store: errors, wrong answers, calls a second.

    python benchmarks/crowd.py OWNER_URL CORPORA --queries FILE --repos NAME ... [--clients 50] [--seconds 600]

OWNER_URL is the address of an empty database, as its owner. Each folder is published as a collection of its name; one
user may see all of them, another every second one. Two servers answer; first one client asks every question as each
user, which says what is right, then all ask at random. Everything runs on this machine.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from scale import percentiles, questions_of

from findling.store.postgresql import Database, Rights

ROLE = "findling_crowd"
SERVERS = 2


class Client:
    """One session with a server, as one user."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "crowd", "version": "1"}}
        self._send("initialize", hello)

    def _send(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self._connection.request("POST", "/mcp", body, self._headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.status != 200:
            raise OSError(f"{response.status}: {text[:200]}")
        self._headers["Mcp-Session-Id"] = response.getheader("mcp-session-id") or self._headers["Mcp-Session-Id"]
        events = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
        message: dict[str, Any] = json.loads(events[-1] if events else text)
        return message

    def ask(self, query: str) -> str:
        """The text of an answer. Raises `OSError` for an error."""
        answer = self._send("tools/call", {"name": "search_code", "arguments": {"query": query}})
        result = answer.get("result")
        if result is None or result.get("isError"):
            raise OSError(json.dumps(answer)[:300])
        return "\n".join(block["text"] for block in result["content"])


def published(url: str, folders: list[Path]) -> dict[str, str]:
    """user -> token; each folder is a collection."""
    for folder in folders:
        command = [sys.executable, "-m", "findling", "index", str(folder), "--store", url, "--collection", folder.name]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    database = Database(url)
    database.rows(f"DO $$ BEGIN CREATE ROLE {ROLE} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    rights = Rights(database)
    rights.let_serve(ROLE)
    for user, allowed in (("all", folders), ("half", folders[::2])):
        rights.add_user(user)
        rights.add_to_group(user, [user])
        for folder in allowed:
            rights.judge(user, folder.name, allowed=True)
    tokens = {user: rights.new_token(user) for user in ("all", "half")}
    database.close()
    return tokens


def served(url: str) -> tuple[subprocess.Popen[str], int]:
    """A server, and its port."""
    command = [sys.executable, "-m", "findling", "serve", "--http", "127.0.0.1:0", "--users", "--collection", "*"]
    process = subprocess.Popen([*command, "--store", url], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "http://127.0.0.1:" in line:
            port = int(line.split("http://127.0.0.1:", 1)[1].split("/")[0])
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, port
    raise SystemExit("The server did not start.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--repos", nargs="+", required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=600)
    args = parser.parse_args()
    tokens = published(args.url, [args.corpora / name for name in args.repos])
    queries = [row["query"] for rows in questions_of(args.queries, args.repos).values() for row in rows]
    servers = [served(re.sub("//[^@]*@", f"//{ROLE}@", args.url)) for _ in range(SERVERS)]
    try:
        right: dict[tuple[str, str], str] = {}
        for user, token in tokens.items():
            client = Client(servers[0][1], token)
            right |= {(user, query): client.ask(query) for query in queries}
        print(f"{len(queries)} questions of {len(tokens)} users, {os.getloadavg()[0]:.0f} load", flush=True)
        found: Counter[str] = Counter()
        times: list[float] = []
        until = time.monotonic() + args.seconds

        def work(number: int) -> None:
            chance = random.Random(number)
            user = chance.choice(list(tokens))
            client = Client(servers[number % SERVERS][1], tokens[user])
            while time.monotonic() < until:
                query = chance.choice(queries)
                began = time.monotonic()
                try:
                    answer = client.ask(query)
                except (OSError, http.client.HTTPException) as error:
                    found[f"error: {error}"] += 1
                    continue
                times.append((time.monotonic() - began) * 1000)
                found["right" if answer == right[user, query] else "wrong"] += 1
                if answer != right[user, query] and found["wrong"] <= 2:
                    print(f"wrong: {query!r}\n{right[user, query][:600]}\n---\n{answer[:600]}", flush=True)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(args.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for process, _ in servers:
            process.terminate()
            process.wait()
    print(f"{args.clients} clients, {args.seconds:.0f} s, load {os.getloadavg()[0]:.0f} at the end: {dict(found)}")
    print(f"{len(times) / args.seconds:.1f} answers a second; {percentiles(times)} ms each, p50 / p95")


if __name__ == "__main__":
    main()
