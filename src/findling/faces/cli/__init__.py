"""The command line: what was typed, asked of an engine, and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.faces.cli.arguments import COMMANDS, overview, parse
    from findling.faces.cli.session import Session
else:
    __getattr__ = front_door(__name__)
