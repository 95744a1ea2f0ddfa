"""A server from its start to its end: options and roots are checked, then a transport is chosen.

No index, model or engine is opened before a tool is called, except to look at an embedding model that somebody chose.
Over stdin and stdout a client is answered before the SDK is loaded (`opening`).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from findling import config, contracts, engine, outbound
from findling.engine.remote.users import Users
from findling.faces.http.options import HttpOptions, listen
from findling.faces.mcp import parts
from findling.faces.mcp.opening import Opening, read_results
from findling.faces.mcp.wire import Incoming, claim_wire
from findling.model import errors

if TYPE_CHECKING:
    from findling.contracts.tools import Tool
    from findling.faces.mcp.desk import Desk

OPENING_S = 1.0
"""How long a client that has not listed the tools yet is waited for, before the rest is loaded all the same."""

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
    contracts.check_roots(path, roots)
    # a folder that cannot be searched is said now, not at the first call
    found = [config.find_root(path, root=root) for root in roots or (None,)]
    configured = [_configured(root.root) for root in found]
    warnings = [
        warning
        for root, its in zip(found, configured, strict=True)
        for warning in _check_model(root.root, its, cache=cache)
    ]
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    outbound.to_stderr(configured[0].log.level)
    for warning in warnings:
        _log.warning("%s", warning)

    def open_desk(of_user: Callable[[str], contracts.Workspace] | None = None) -> Desk:
        workspace = contracts.Workspace(path, roots=roots, cache=cache, background=True)
        return parts.desk.Desk(chosen, workspace, of_user)

    if http is None:
        wire = claim_wire()
        incoming = Incoming(wire, Opening(read_results(), chosen))
        if incoming.meet(OPENING_S):
            parts.stdio.serve_stdio(wire, incoming, open_desk())
        return
    if http.users:
        _serve_users(http, open_desk, chosen, path, roots)
        return
    listening = listen(http)  # a port that is taken, too, is said before anything is loaded
    claim_wire()
    parts.http.serve_http(listening, open_desk())


def _serve_users(
    http: HttpOptions, open_desk: Callable[..., Desk], chosen: list[Tool], path: Path | None, roots: Sequence[Path]
) -> None:
    """Serve the users of a shared store, each what the groups that he is in are allowed."""
    configured = config.load(config.find_root(path, root=next(iter(roots), None)).root).config
    if configured.store.url is None or not configured.store.collections or len(roots) > 1:
        raise errors.InvalidInput(
            "--users is for the collections of a shared store.", remedy="Add --store URL and --collection NAMES or '*'."
        )
    # the library and jobs are this machine's, and no user's
    chosen[:] = [tool for tool in chosen if tool.family != "library" and not tool.writes]
    users = Users(configured.store.url)
    listening = listen(http)
    claim_wire()

    def of_user(name: str) -> contracts.Workspace:
        return contracts.Workspace(path, roots=roots, config=structs.replace(configured, person=name))

    parts.http.serve_http(listening, open_desk(of_user), users)


def _check_model(root: Path, configured: config.Config, *, cache: bool) -> list[str]:
    """Warnings about the embedding model. Raises `EmbedderUnavailable` when it is not the one that was configured."""
    if not config.choose_provider(configured, None, lambda: False).named:
        return []
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
