"""Adds findling to the settings of coding agents: where each keeps its servers, and what is written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.faces.install.changes import Agent, Change, carry_out, command, entry, known, planned, planned_hint
else:
    __getattr__ = front_door(__name__)
