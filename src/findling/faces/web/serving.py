"""The page's server from its start to its end: the folder is checked, the port taken, the browser opened.

It listens on this machine alone, and answers whoever has the link.
"""

from __future__ import annotations

import asyncio
import html
import os
import secrets
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from findling import config, contracts, outbound
from findling.faces import http
from findling.faces.http.options import LOOPBACK_HOST, HttpOptions, Listening
from findling.faces.http.running import AddressGuard, App
from findling.faces.web.pages import Pages
from findling.faces.web.visitors import Visitors, refuse_address
from findling.model.errors import FindlingError, InvalidInput

if TYPE_CHECKING:
    from findling.faces.web.asking import Asker


# --- app ----------------------------------------------------------------------------------------------------------
# The page's addresses, and what stands between them and the network.


class _AnyPath(PathConvertor):
    """The rest of an address, line feeds included: files may have them in their names."""

    regex = r"[\s\S]*"


register_url_convertor("any_path", _AnyPath())


def make_app(asker: Asker, options: HttpOptions, *, token: str, name: str) -> App:
    """The page of the folder called ``name``, behind its guards: the address, then the visitor."""
    pages = Pages(asker, name)
    routes = [
        Route("/", pages.search),
        Route("/file/{path:any_path}", pages.file),
        Route("/symbol", pages.symbol),
        Route("/similar", pages.similar),
        Route("/grep", pages.grep),
        Route("/library", pages.library),
        Route("/library/file", pages.library_file),
        Route("/index", pages.index),
        Route("/index/update", pages.update, methods=["POST"]),
        Route("/index/stop", pages.stop, methods=["POST"]),
        Route("/progress", pages.progress),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
    ]
    app = Starlette(routes=routes, exception_handlers=pages.failures)
    return AddressGuard(Visitors(app, token), options, refuse_address)


HEAD_BYTES = 1 << 17
"""The most bytes of a request's head. The address holds what was typed, at up to nine bytes a character (Chinese), and
`pages.MOST_CHARS` of these must fit."""

PORT = 8730
"""The port to take where it is free, so that bookmarks stay right."""


def serve(path: Path | None, *, root: Path | None, cache: bool, port: int | None, open_browser: bool) -> None:
    """Serve the page of a folder until a signal. Raises `RootError`, and `InvalidInput` for a port that is taken."""
    found = config.find_root(path, root=root)  # a folder that cannot be searched is said now, not in the browser
    listening = _listen(port)
    try:
        outbound.to_stderr(config.load(found.root).config.log.level)
    except FindlingError:
        outbound.to_stderr()  # each question says what is wrong with the configuration
    workspace = contracts.Workspace(path, root=root, cache=cache, background=True)
    asyncio.run(_serve(listening, workspace, found.root.name or str(found.root), open_browser=open_browser))


def _listen(port: int | None) -> Listening:
    if port is not None:
        return http.listen(http.HttpOptions(LOOPBACK_HOST, port))
    try:
        return http.listen(http.HttpOptions(LOOPBACK_HOST, PORT))
    except InvalidInput:  # another page, perhaps of another folder
        return http.listen(http.HttpOptions(LOOPBACK_HOST, 0))


async def _serve(listening: Listening, workspace: contracts.Workspace, name: str, *, open_browser: bool) -> None:
    from findling.faces.http.running import run
    from findling.faces.web import highlighting
    from findling.faces.web.asking import Asker

    token = secrets.token_urlsafe(24)
    link = f"{listening.address}/?token={token}"
    asker = Asker(workspace)
    opened: list[Path] = []

    def started() -> None:
        sys.stdout.write(f"{link}\n")
        sys.stdout.flush()
        sys.stderr.write(f"findling: the page of {name} is there until Ctrl-C; the link is for you alone\n")
        sys.stderr.flush()
        asker.start()
        if open_browser and _has_screen():
            opened.append(_open(link))

    try:
        app = make_app(asker, listening.options, token=token, name=name)
        await run(app, listening, started=started, stop=asker.stop, head_bytes=HEAD_BYTES)
    finally:
        for file in opened:
            file.unlink(missing_ok=True)
        await asker.close()
        highlighting.end()


def _has_screen() -> bool:
    """Whether a browser would open in a window; one in the terminal would cover the link."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open(link: str) -> Path:
    """Open the link by way of a file that only the user can read: every user of a machine sees a program's arguments.
    The file, to be deleted at the end."""
    import webbrowser

    number, name = tempfile.mkstemp(prefix="findling-", suffix=".html")
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={html.escape(link)}">')
    path = Path(name)
    webbrowser.open(path.as_uri())
    return path
