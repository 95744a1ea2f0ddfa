"""What a tool is given and what it gives back. Plain values; knows no tool and no transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from findling.contracts.untrusted import UntrustedText
from findling.model.errors import FindlingError
from findling.model.types import OnProgress

if TYPE_CHECKING:
    from findling.contracts.workspaces import Workspace

UNTRUSTED = "findling/untrusted"
"""In ``_meta`` of a text block: it is data, whoever wrote it."""

Schema = Mapping[str, Any]
"""A JSON schema of the part of the language that `schema.validate` reads."""

Arguments = Mapping[str, Any]
"""Validated arguments: every one that has a default is there."""


class ToolResult(Struct, frozen=True):
    """A finished answer. ``structured`` is a JSON object or None; ``text_blocks`` carry the same facts as text, those
    that are no JSON and have other people's text in them as `UntrustedText`.

    A refusal or failure is a result too, with ``is_error``.
    """

    structured: dict[str, Any] | None
    text_blocks: list[str]
    is_error: bool = False

    def as_json(self) -> dict[str, Any]:
        """One JSON object for programs that take no text blocks."""
        if self.structured is not None:
            return self.structured
        return {"content": list(map(text_block, self.text_blocks)), "isError": self.is_error}


def text_block(text: str) -> dict[str, Any]:
    """A text as the protocol has it, with a mark beside it where it is data, whoever wrote it."""
    block: dict[str, Any] = {"type": "text", "text": text}
    return {**block, "_meta": {UNTRUSTED: True}} if isinstance(text, UntrustedText) else block


class Reply(Struct, frozen=True):
    """What a handler gives back: facts, and where they may be cut.

    ``items`` is the key of the list that loses its tail when the answer is too long, '' when nothing may be cut.
    ``listing``: what that list is a page of, where there may be more pages.
    ``text``: text blocks where they are not simply the facts as JSON; with None for facts they are all there is.
    ``is_error`` marks facts that are a refusal. ``unfinished``: indexing would make the answer better, so it goes on in
    the background.
    """

    facts: dict[str, Any] | None
    items: str = ""
    text: list[str] | None = None
    is_error: bool = False
    unfinished: bool = False
    listing: Listing | None = None


class Listing(Struct, frozen=True):
    """The whole list that an answer shows a page of: how many items it has, and a name of what it was made from, which
    is another one when the list may be in another order. ``shown``: how many of them are on the page, where these are
    not simply the answer's items."""

    total: int
    made_from: str
    shown: int | None = None


class Call(Struct, frozen=True):
    """One call: where it looks, and how it tells how far it is.

    ``progress`` may raise `errors.Cancelled` to stop the work. ``notes``: what its answer has to say of the question.
    ``offset``: how many items of the list come before the page that is asked for. ``root``: the name of the only root
    that it is about, '' where paths are told as that root has them.
    """

    workspace: Workspace
    progress: OnProgress | None = None
    notes: tuple[str, ...] = ()
    offset: int = 0
    root: str = ""

    def told(self, path: str) -> str:
        """A path of the root as the answer has it."""
        return f"{self.root}/{path}" if self.root else path


Handler = Callable[[Call, Arguments], Reply]


class Refusal(FindlingError):
    """A call that cannot be answered: ``code`` for programs, ``message`` for people, ``data`` to go on from."""

    def __init__(self, code: str, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data or {}
