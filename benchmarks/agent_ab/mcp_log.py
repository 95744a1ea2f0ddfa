#!/usr/bin/env python3
"""mcp_log.py COMMAND...: a server of the Model Context Protocol on stdin and stdout, with its tool calls logged.

Lines pass unchanged both ways. FINDLING_AB_LOG names the log: a line of JSON for each answered call of a tool, with the
characters of what clients show a model, the structured part where there is one, else the text.
"""

import json
import os
import subprocess
import sys
import threading
import time
from typing import Any


def main() -> int:
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None
    asked: dict[Any, tuple[str, float]] = {}

    def pass_on() -> None:
        assert server.stdin is not None
        for line in sys.stdin.buffer:
            message = _message(line)
            if message.get("method") == "tools/call":
                call = message["params"]
                words = f"{call['name']} {json.dumps(call.get('arguments', {}), ensure_ascii=False)}"
                asked[message["id"]] = (words, time.monotonic())
            server.stdin.write(line)
            server.stdin.flush()
        server.stdin.close()

    threading.Thread(target=pass_on, daemon=True).start()
    for line in server.stdout:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        message = _message(line)
        if message.get("id") in asked and "result" in message:
            words, began = asked.pop(message["id"])
            shown = _shown(message["result"])
            row = {"look": words, "characters": len(shown), "seconds": round(time.monotonic() - began, 3)}
            with open(os.environ["FINDLING_AB_LOG"], "a", encoding="utf-8") as log:
                log.write(json.dumps({**row, "shown": shown}, ensure_ascii=False) + "\n")
    return server.wait()


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _shown(result: dict[str, Any]) -> str:
    if "structuredContent" in result:
        return json.dumps(result["structuredContent"], ensure_ascii=False, separators=(",", ":"))
    return "\n".join(block.get("text", "") for block in result.get("content", ()))


if __name__ == "__main__":
    sys.exit(main())
