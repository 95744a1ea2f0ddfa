"""The words of the house: values, errors, and what text is made of. Imports nothing else of findling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findling.model.front_door import front_door

if TYPE_CHECKING:
    from findling.model.languages import LANGUAGES, find_language
    from findling.model.tokenizer import squash
    from findling.model.types import MODES, SYMBOL_KINDS
else:
    __getattr__ = front_door(__name__)
