"""A server from its start to its end: what it is for is looked at, then a transport is chosen.

No index, model or engine is opened before a tool is called, except to look at an embedding model that somebody chose.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from findling import config, contracts, engine, outbound
from findling.faces.mcp.desk import Desk
from findling.faces.mcp.http import serve_http
from findling.faces.mcp.http_listening import listen
from findling.faces.mcp.http_options import HttpOptions
from findling.faces.mcp.stdio import claim_wire, serve_stdio
from findling.model import errors

_log = logging.getLogger(__name__)


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
    chosen = contracts.select(tools, allow_delete=allow_delete)
    workspace = contracts.open_workspace(path, roots=roots, cache=cache, background=True)
    # a folder that cannot be searched is said now, not at the first call
    found = [config.find_root(path, root=root) for root in roots or (None,)]
    configured = _configured(found[0].root)
    warnings = [warning for root in found for warning in _check_model(root.root, cache=cache)]
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    outbound.to_stderr(configured.log.level)
    for warning in warnings:
        _log.warning("%s", warning)
    desk = Desk(chosen, workspace, index_at_start=configured.semantic.index_on_startup)
    if http is None:
        asyncio.run(serve_stdio(claim_wire(), desk))
        return
    listening = listen(http)  # a port that is taken, too, is said before anything is loaded
    claim_wire()
    asyncio.run(serve_http(listening, desk))


def _check_model(root: Path, *, cache: bool) -> list[str]:
    """Warnings about the embedding model. Raises `EmbedderUnavailable` when it is not the one that was configured."""
    try:
        with engine.Engine.open(root=root, cache=cache) as opened:
            return opened.check_model()
    except errors.EmbedderUnavailable:
        raise
    except errors.FindlingError:
        return []  # each call says it


def _configured(root: Path) -> config.Config:
    """What matters before the first call. What is wrong with the configuration each call says; the server starts."""
    try:
        return config.load(root).config
    except errors.ConfigError:
        return config.Config()
