"""The ignore files of a folder tree: read from disk when a path asks for them, nothing else read."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

from findling.sources.ignore_rules import IgnoreRules, Rule, RuleSet

GIT_IGNORE_FILES = (".gitignore",)
OWN_IGNORE_FILES = (".ignore", ".findlingignore")  # the later is the stronger
ALL_IGNORE_FILES = GIT_IGNORE_FILES + OWN_IGNORE_FILES
_MAX_IGNORE_BYTES = 1 << 20  # the largest honest ignore files have some kilobytes


class IgnoreTree:
    """The ignore files of a folder tree, read when a path asks for them.

    ``names`` are the ignore files that count, the stronger later; ``above`` holds rules from outside the tree,
    relative to a folder above the root (``up`` is the root's path from there, with a slash at its end).
    ``folders`` are the only ones that have ignore files; None when that is not known.
    """

    def __init__(
        self,
        root: str,
        names: tuple[str, ...],
        above: IgnoreRules | None = None,
        up: str = "",
        folders: Collection[str] | None = None,
    ) -> None:
        self._root = root
        self._names = names
        self.up = up
        self.folders = folders
        self._above = above if above is not None else IgnoreRules()
        self._inside: dict[str, IgnoreRules] = {}
        self._verdicts: dict[str, Rule | None] = {"": None}

    def rules_in(self, folder: str, names: Collection[str] | None = None) -> IgnoreRules:
        """The rules in effect in ``folder`` ("" is the root). ``names``, if known, are the entries it has."""
        rules = self._inside.get(folder)
        if rules is None:
            outer = self.rules_in(folder.rpartition("/")[0]) if folder else self._above
            known_none = self.folders is not None and folder not in self.folders
            if known_none or (names is not None and not any(name in names for name in self._names)):
                rules = outer
            else:
                rules = self._read(folder, outer)
            self._inside[folder] = rules
        return rules

    def _read(self, folder: str, outer: IgnoreRules) -> IgnoreRules:
        prefix = f"{folder}/" if folder else ""
        sets = []
        for name in self._names:
            rules = self.read_rules(prefix + name)
            if rules is not None:
                sets.append(rules)
        return outer.inside((self.up + folder).rstrip("/"), sets) if sets else outer

    def read_rules(self, path: str) -> RuleSet | None:
        """The rules of one ignore file of the tree; None when there is none."""
        text = read_small_text(f"{self._root}/{path}")
        return None if text is None else RuleSet.from_text(text, path)

    def rule_for(self, folder: str, name: str, is_dir: bool) -> Rule | None:
        """The rule that ignores the entry ``name`` of ``folder``, the folders above it not considered."""
        rules = self.rules_in(folder)
        if not rules:
            return None
        path = f"{self.up}{folder}/{name}" if folder else self.up + name
        return rules.ignores(path, name, is_dir)

    def folder_rule(self, folder: str) -> Rule | None:
        """The rule that ignores ``folder`` or one above it, up to the root (never the root itself)."""
        try:
            return self._verdicts[folder]
        except KeyError:
            outer, _, name = folder.rpartition("/")
            rule = self.folder_rule(outer) or self.rule_for(outer, name, True)
            self._verdicts[folder] = rule
            return rule

    def ignores(self, path: str) -> Rule | None:
        """The rule that ignores the file ``path``, itself or with a folder above it."""
        folder, _, name = path.rpartition("/")
        return self.folder_rule(folder) or self.rule_for(folder, name, False)


def read_small_text(path: str) -> str | None:
    """An ignore file's text; None when there is none to be had. Links and pipes do not count, as in git."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = os.read(descriptor, _MAX_IGNORE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return os.fsdecode(data)
