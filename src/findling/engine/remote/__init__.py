"""A store that many machines share: filling a view of it from a folder, and asking it."""

from __future__ import annotations
