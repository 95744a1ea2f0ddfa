"""The port on which whoever runs a server sees how it does: ``/health``, whether the process lives; ``/ready``, whether
its store answers; ``/metrics``, for Prometheus. It asks for no token, so it is not for the server's users.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from findling.model.errors import FindlingError, InvalidInput
from findling.outbound import metrics


class Port:
    """Answers from a thread of its own until `close`. ``ready`` raises where the store does not answer. Raises
    `InvalidInput` for an address that cannot be had."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        ready: Callable[[], object] = lambda: None,
        gauges: Callable[[], dict[str, float]] = dict,
    ) -> None:
        class Handler(BaseHTTPRequestHandler):
            timeout = 10.0

            def do_GET(self) -> None:
                status, body = _answer(self.path, ready, gauges)
                self.send_response(status)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                return

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

        try:
            self._server = Server((host, port), Handler)
        except OSError as error:
            raise InvalidInput(
                f"Cannot listen on {host} port {port}: {error.strerror}.", remedy="Choose another port for --metrics."
            ) from error
        self._server.daemon_threads = True
        named = f"[{host}]" if ":" in host else host
        self.address = f"http://{named}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _answer(path: str, ready: Callable[[], object], gauges: Callable[[], dict[str, float]]) -> tuple[int, bytes]:
    if path == "/metrics":
        return 200, metrics.text(gauges).encode()
    if path == "/health":
        return 200, b"ok\n"
    if path == "/ready":
        try:
            ready()
        except FindlingError as error:
            return 503, f"{error}\n".encode()
        return 200, b"ok\n"
    return 404, b"There are /health, /ready and /metrics.\n"
