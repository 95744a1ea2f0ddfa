"""How much of what gitleaks' rules know is masked, by samples made of its rule file.

    gitleaks.py gitleaks.toml [--seed 1] [--each 5]

The rule file is config/gitleaks.toml of github.com/gitleaks/gitleaks (MIT, Copyright (c) 2019 Zachary Rice). Some rules
know a secret by its shape, others by the vendor's name before it: those samples are given to a name like the rule's
(ADAFRUIT_API_KEY). Rules of identifiers, which open nothing, are left out. Of each rule whose samples are not all
masked one is printed.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import tomllib
from collections.abc import Sequence
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from findling.model import secrets

_ANY = string.ascii_letters + string.digits
_CATEGORIES = {op.CATEGORY_DIGIT: string.digits, op.CATEGORY_WORD: _ANY, op.CATEGORY_SPACE: " "}
_MORE = 3
"""How often something is repeated beyond the least, at most."""

_NAMED = "{0,20})["
"""Stands in every rule that asks for a vendor's name before the secret."""

_KINDS = {"shape": False, "name": True}

_IDENTIFIERS = ("-id", "-pub-key", "-public-key", "-pub-api-key")

_CLASSES = {"[:alnum:]": "A-Za-z0-9", "[:alpha:]": "A-Za-z", "[:digit:]": "0-9"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=5)
    options = parser.parse_args()
    rules = [
        rule
        for rule in tomllib.loads(options.rules.read_text())["rules"]
        if "regex" in rule and not rule["id"].endswith(_IDENTIFIERS)
    ]
    kinds = {kind: [rule for rule in rules if (_NAMED in rule["regex"]) is named] for kind, named in _KINDS.items()}
    rows = []
    for kind, of_kind in kinds.items():
        tried = masked = whole = 0
        for rule in of_kind:
            chance = random.Random(f"{options.seed} {rule['id']}")
            tree = _parser.parse(_of_python(rule["regex"]))
            name = rule["id"].replace("-", "_").upper() if _KINDS[kind] else ""
            samples = [Sample(tree, chance, name) for _ in range(options.each)]
            missed = [sample.text for sample in samples if not sample.is_masked]
            tried, masked, whole = tried + len(samples), masked + len(samples) - len(missed), whole + (not missed)
            if missed:
                print(f"{rule['id']}: {len(missed)} of {len(samples)} missed: {missed[0]!r}")
        rows.append(f"| {kind} | {len(of_kind)} | {whole} | {tried:,} | {masked / tried:.3f} |")
    print("\n| known by | rules | all samples masked | samples | masked |\n|---|--:|--:|--:|--:|", *rows, sep="\n")


def _of_python(expression: str) -> str:
    """A rule's expression in Python's syntax. Letters are taken as they stand, whatever flags there are."""
    for name, letters in _CLASSES.items():
        expression = expression.replace(name, letters)
    expression = re.sub(r"\(\?[is]*-?[is]*:", "(?:", re.sub(r"\(\?[is]+\)", "", expression))
    return re.sub(r"\(\?P<\w+>", "(", expression).replace(r"\z", r"\Z")


class Sample:
    """``text``: something that a rule matches; ``secret``: its part that is one."""

    def __init__(self, tree: Any, chance: random.Random, name: str) -> None:
        """``name``: what it is given to, '' for a rule that says itself what stands before a secret."""
        self._chance = chance
        self.secret = ""
        self.text = re.sub(r"\\[nr]$", "", self._made(tree))
        self.secret = self.secret or self.text
        if name:
            self.text = f"{name} = {self.secret}"

    @property
    def is_masked(self) -> bool:
        shown = secrets.mask(f"first\n{self.text}\n".encode()).text.decode()
        return self.secret[-12:] not in shown

    def _made(self, tree: Sequence[Any]) -> str:
        return "".join(self._of(kind, value) for kind, value in tree)

    def _of(self, kind: Any, value: Any) -> str:
        chance = self._chance
        if kind is op.LITERAL:
            return chr(value)
        if kind is op.IN:
            return chance.choice(_letters(value))
        if kind in (op.ANY, op.NOT_LITERAL):
            return chance.choice(_ANY)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, tree = value
            return "".join(self._made(tree) for _ in range(chance.randint(least, min(most, least + _MORE))))
        if kind is op.BRANCH:
            return self._made(chance.choice(value[1]))
        if kind is op.SUBPATTERN:
            number, *_, tree = value
            made = self._made(tree)
            if number is not None and len(made) > len(self.secret):
                self.secret = made
            return made
        assert kind is op.AT, kind
        return ""


def _letters(members: Sequence[Any]) -> str:
    found = ""
    for kind, value in members:
        if kind is op.NEGATE:
            return _ANY
        if kind is op.LITERAL:
            found += chr(value)
        elif kind is op.RANGE:
            found += "".join(map(chr, range(value[0], value[1] + 1)))
        else:
            found += _CATEGORIES.get(value, _ANY)
    return found


if __name__ == "__main__":
    main()
