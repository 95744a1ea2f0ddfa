"""RESULTS -> WHAT IS PRINTED. Useful for showing any answer type; knows no engine, no index and no arguments.

A view prints one kind of output: ``plain`` for pipes (stable, one block or line for each place), ``pretty`` for
terminals (rich, imported only then), ``json`` for programs. ``words`` has the sentences for stderr, ``safe`` keeps
control characters away from terminals, ``progress`` shows how far indexing is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.faces.cli.terminal.json import JsonView, error_to_json, write_events, write_json, write_summary
    from findling.faces.cli.terminal.plain import PlainView
    from findling.faces.cli.terminal.pretty import PrettyView
    from findling.faces.cli.terminal.safe import make_encodable, silence, write_line
else:
    __getattr__ = front_door(__name__)
