"""The tools over MCP: a protocol's shell around the registry. Must not know what a tool does.

The SDK is imported when a server starts, and nowhere else: it takes half a second. No index, model or engine is opened
before a tool is called, except to look at an embedding model that somebody chose. Which transport is the only thing
decided here.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from findling.faces.mcp.desk import Desk as Desk
from findling.faces.mcp.desk import make_server as make_server
from findling.model import errors
from findling.outbound.events import to_stderr

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from findling.config import Config
    from findling.faces.mcp.http_options import HttpOptions


def serve(
    path: Path | None = None,
    *,
    roots: Sequence[Path] = (),
    tools: Sequence[str] | None = None,
    cache: bool = False,
    allow_delete: bool = False,
    http: HttpOptions | None = None,
) -> None:
    """Serve until the client closes its end (stdin and stdout), or until a signal (``http``).

    ``tools``: families or single tools, None for all. With several ``roots`` paths begin with a root's name. Raises
    `InvalidInput`, `RootError`, and `EmbedderUnavailable` for a model of other dimensions than configured, before the
    first message.
    """
    from findling.config.roots import find_root
    from findling.contracts.registry import select
    from findling.contracts.workspaces import open_workspace

    chosen = select(tools, allow_delete=allow_delete)
    workspace = open_workspace(path, roots=roots, cache=cache, background=True)
    # a folder that cannot be searched is said now, not at the first call
    found = [find_root(path, root=root) for root in roots or (None,)]
    config = _configured(found[0].root)
    warnings = [warning for root in found for warning in _check_model(root.root, cache=cache)]
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    to_stderr(config.log.level)
    for warning in warnings:
        _log.warning("%s", warning)
    desk = Desk(chosen, workspace, index_at_start=config.semantic.index_on_startup)
    if http is None:
        from findling.faces.mcp.stdio import claim_wire, serve_stdio

        asyncio.run(serve_stdio(claim_wire(), desk))
        return
    from findling.faces.mcp.http_listening import listen

    listening = listen(http)  # a port that is taken, too, is said before anything is loaded
    from findling.faces.mcp.http import serve_http
    from findling.faces.mcp.stdio import claim_wire

    claim_wire()
    asyncio.run(serve_http(listening, desk))


def _check_model(root: Path, *, cache: bool) -> list[str]:
    """Warnings about the embedding model. Raises `EmbedderUnavailable` when it is not the one that was configured."""
    from findling.engine import Engine

    try:
        with Engine.open(root=root, cache=cache) as engine:
            return engine.check_model()
    except errors.EmbedderUnavailable:
        raise
    except errors.FindlingError:
        return []  # each call says it


def _configured(root: Path) -> Config:
    """What matters before the first call. What is wrong with the configuration each call says; the server starts."""
    from findling.config import Config, load

    try:
        return load(root).config
    except errors.ConfigError:
        return Config()
