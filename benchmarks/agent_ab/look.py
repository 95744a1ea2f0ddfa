#!/usr/bin/env python3
"""look COMMAND...: runs one shell command for an agent under test, and logs it with its seconds and characters.

FINDLING_AB_LOG names the log, a line of JSON for each look. Output is cut at 30,000 characters, as agents' shells do.
"""

import json
import os
import subprocess
import sys
import time

MOST_CHARS = 30_000
TIMEOUT_S = 120


def main() -> int:
    command = " ".join(sys.argv[1:])
    began = time.monotonic()
    try:
        ran = subprocess.run(
            ["/bin/sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False
        )
        output, status = ran.stdout.decode("utf-8", "replace"), ran.returncode
    except subprocess.TimeoutExpired:
        output, status = f"stopped after {TIMEOUT_S} s\n", 124
    output = output[:MOST_CHARS]
    with open(os.environ["FINDLING_AB_LOG"], "a", encoding="utf-8") as log:
        row = {"look": command, "characters": len(output), "seconds": round(time.monotonic() - began, 3)}
        log.write(json.dumps({**row, "shown": output}, ensure_ascii=False) + "\n")
    sys.stdout.write(output)
    return status


if __name__ == "__main__":
    sys.exit(main())
