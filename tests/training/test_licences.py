"""What may be mined: which licence governs which file, as the files of a commit say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from training import mine
from training.licences import RESTRICTED, SILENT, UNKNOWN, governed_folder, identify, licences, stating_folder
from training.mirrors import find_mirrors, head_commit, read_anyhow, tree

MIT = (
    "MIT License\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software and "
    'associated documentation files (the "Software"), to deal\nin the Software without restriction'
)
BSD = (
    "Redistribution and use in source and binary forms, with or without modification, are permitted. Neither the name "
    "may be used, and it may not be used to endorse products."
)
APACHE = (
    "Apache License\n  Version 2.0, January 2004\n You may not use this file except in compliance; Derivative Works "
    "shall not include works that remain separable; it cannot be construed as modifying the License"
)
GPL = "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007"
CODE = """# Waits a little longer after every failed attempt.
def back_off(attempt):
    delay = min(2 ** attempt, 60)
    time.sleep(delay)
    while not hinge.wide_open():
        hinge.turn(1)
    return delay, hinge.position_in_degrees(), hinge.number_of_turns_since_start()
"""


def git(folder: Path, *args: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *author, *args], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, files: dict[str, str | bytes], links: dict[str, str] | None = None) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, target in (links or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "all of it")


def mined(folder: Path, out: Path) -> dict[str, dict[str, object]]:
    mine.main([str(folder), "--out", str(out)])
    manifest = json.loads((out / "manifest.json").read_text())
    return {record["repository"]: record for record in manifest["mined"] + manifest["left_out"]}


def paths(out: Path, name: str) -> set[str]:
    return {json.loads(line)["path"] for line in (out / "pairs" / name).read_text().splitlines()}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"LICENSE": MIT}, ("MIT", True)),
        ({"LICENSE-MIT": MIT, "LICENSE-APACHE": APACHE}, ("Apache-2.0 AND MIT", True)),
        ({"LICENSE": BSD, "LICENSE.third-party": MIT}, ("BSD AND MIT", True)),
        ({"LICENSE": MIT, "COPYRIGHT": "2020 the authors"}, ("MIT", True)),
        ({"UNLICENSE": MIT, "COPYING": "This is dual-licensed under the Unlicense and MIT licenses."}, ("MIT", True)),
        ({"LICENSE": MIT, "license_check.py": GPL, ".licenseignore": GPL, "README": GPL}, ("MIT", True)),
        ({"LICENSE": MIT, "LICENSES/CC0-1.0.txt": "CC0 1.0 Universal\nCreative Commons"}, ("CC0-1.0 AND MIT", True)),
        ({"LICENSE": MIT, "COPYING.LESSER": GPL}, (f"MIT AND {RESTRICTED}", False)),
        ({"MIT-LICENSE.txt": MIT, "GPL-LICENSE.txt": GPL}, (f"MIT AND {RESTRICTED}", False)),
        ({"LICENSE": MIT, "COPYRIGHTS.md": f"The font is under the {GPL}"}, (f"MIT AND {RESTRICTED}", False)),
        ({"LICENSE": "Ask Bob first.", "COPYING": MIT}, ("MIT AND unknown", False)),
        ({"LICENSE": "All rights reserved."}, ("unknown", False)),
        ({"LICENSE": None, "COPYING": MIT}, ("MIT AND unreadable", False)),
        ({"LICENSE": MIT, "LICENSES/GPL-3.0-or-later.txt": GPL}, (f"MIT AND {RESTRICTED}", False)),
    ],
)  # fmt: skip
def test_every_licence_file_must_be_permissive(files: dict[str, str | None], expected: tuple[str, bool]) -> None:
    assert licences(files)[""] == expected


@pytest.mark.parametrize("files", [{}, {"README": MIT}, {"COPYRIGHT": "Copyright 2020 the authors"}])
def test_what_says_nothing_states_no_licence(files: dict[str, str | None]) -> None:
    assert licences(files) == {}


@pytest.mark.parametrize(
    "text",
    [
        "MIT or GNU GPL version 2, at your choice",
        f"{MIT}\nor under the LGPL-2.1",
        MIT + "\n" + "x " * 4000 + GPL,
        f"Functional Source License, Version 1.1, MIT Future License\nFSL-1.1-MIT\n{MIT}",
        f"FSL-1.1-ALv2\n{APACHE}",
        f"Business Source License 1.1\n{APACHE}",
        f'{MIT}\n"Commons Clause" License Condition v1.0',
        f"{MIT}\nThe Software shall be used for Good, not Evil.",
        f"{MIT}\nNo commercial use.",
        f"{MIT}\nYou may not offer it as a service.",
        f"{BSD}\nRedistributions must come with information on\n  how to obtain complete source code for it",
        f"{MIT}\nHippocratic License 3.0",
        f"{APACHE}\nDocumentation is under CC-BY-4.0.",
        "Creative Commons Attribution-ShareAlike 4.0 International",
        "CC0 1.0 Universal for the data, the rest is under CC BY-NC-SA 3.0",
        "Proprietary. Portions licensed under the Apache License, Version 2.0",
        "SIL Open Font License",
    ],
)
def test_whatever_speaks_of_another_licence_is_not_permissive(text: str) -> None:
    assert identify(text) == RESTRICTED


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"{MIT}\nIt is GPL-compatible, and compatible with the GPL.", "MIT"),
        (f"Copyright (c) 1996 and others\n{MIT}", "MIT"),
        (
            f"{APACHE}\n--- LLVM Exceptions\nif you combine or link compiled forms of this Software with software that "
            'is licensed under the GPLv2 ("Combined Software") and if a court determines that it conflicts with the '
            "conditions of the GPLv2, you may waive",
            "Apache-2.0",
        ),
        (
            "This is free and unencumbered software released into the public domain, commercial or non-commercial",
            "Unlicense",
        ),
        ("Copyright 2020, 2021 the authors", SILENT),
        ("Copyright 2020 the authors. You need a permission.", UNKNOWN),
        ("Parts of it were once under MIT", UNKNOWN),
    ],
)
def test_harmless_mentions_do_not_count(text: str, name: str) -> None:
    assert identify(text) == name


def test_the_nearest_folder_that_states_a_licence_governs() -> None:
    stated = licences({
        "LICENSE": MIT, "a/COPYING": GPL, "a/b/COPYRIGHT": "2020 the authors", "a/c/LICENSE": MIT,
        "docs/modules/about/license.adoc": "Creative Commons Attribution-ShareAlike 4.0", "docs/LICENSES/x": MIT,
        "text/0044-license-names.md": GPL, "src/licenses.md": GPL,
    })  # fmt: skip
    found = {path: stating_folder(path, stated) for path in ("x", "a/x", "a/b/x", "a/c/d/x", "docs/e/x", "text/x")}
    assert found == {"x": "", "a/x": "a", "a/b/x": "a", "a/c/d/x": "a/c", "docs/e/x": "docs", "text/x": ""}
    assert {folder: licence.permissive for folder, licence in stated.items()} == {
        "": True, "a": False, "a/c": True, "docs": False
    }  # fmt: skip
    assert governed_folder("LICENSES/LicenseRef-trademark-policy.txt") is None


def test_links_are_followed_within_the_commit_and_latin_1_is_read(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text(MIT)
    repository(
        tmp_path / "a" / "b",
        {"LICENSE-MIT": MIT, "GPL.txt": GPL, "COPYING": (GPL + " ©").encode("latin-1"), "LICENSE.big": b" " * 200_001},
        {"pkg/LICENSE": "../LICENSE-MIT", "LICENSE": "GPL.txt", "LICENSE-2": "../../outside", "LICENSE-3": "LICENSE-3"},
    )  # fmt: skip
    (mirror,) = find_mirrors(tmp_path)
    found = tree(mirror, head_commit(mirror))
    read = read_anyhow(mirror, [entry for entry in found if governed_folder(entry.path) is not None], found)
    assert read == {
        "LICENSE-MIT": MIT, "COPYING": GPL + " \ufffd", "LICENSE.big": None, "pkg/LICENSE": MIT, "LICENSE": GPL,
        "LICENSE-2": None, "LICENSE-3": None,
    }  # fmt: skip


def test_folders_under_other_licences_give_no_pairs(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"LICENSE": MIT, "src/own.py": CODE, "extra/other.py": CODE.replace("2 *", "3 *")}
    repository(tmp_path / "mirrors" / "some+library", {**files, "extra/COPYING": GPL})
    repository(tmp_path / "mirrors" / "some+choice", {**files, "LICENSES/GPL-2.0.txt": GPL})
    records = mined(tmp_path / "mirrors", tmp_path / "work")
    assert records["some/library"]["left_out_folders"] == {"extra": RESTRICTED}
    assert paths(tmp_path / "work", "some+library.jsonl") == {"src/own.py"}
    assert "permissive" in str(records["some/choice"]["left_out"])


def test_what_a_relative_path_holds_is_mined_and_links_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path / "clone", {"LICENSE": MIT, "src/own.py": CODE})
    git(tmp_path, "clone", "--bare", "clone", "mirrors/some+bare")
    os.symlink(tmp_path / "clone", tmp_path / "mirrors" / "some+link")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    repository(tmp_path / "mirrors" / "repo", {"LICENSE": MIT, "src/own.py": CODE})
    records = mined(Path("../mirrors"), Path("work"))
    assert records["repo"]["left_out"] == "it is not called owner/name"
    assert records["some/bare"]["pairs"] == len(Path("work/pairs/some+bare.jsonl").read_text().splitlines()) > 0
    assert records["some/link"]["left_out"] == "it is a symbolic link"


def test_pairs_of_a_repository_that_is_gone_are_removed(tmp_path: Path) -> None:
    repository(tmp_path / "mirrors" / "some+library", {"LICENSE": MIT, "src/own.py": CODE})
    pairs = tmp_path / "work" / "pairs"
    pairs.mkdir(parents=True)
    (pairs / "some+other.jsonl").write_text("{}\n")
    (pairs / "notes.txt").write_text("kept")
    mined(tmp_path / "mirrors", tmp_path / "work")
    assert sorted(path.name for path in pairs.iterdir()) == ["notes.txt", "some+library.jsonl"]


@pytest.mark.parametrize(("folder", "says"), [("empty", "no git mirror"), ("missing", "is no folder")])
def test_a_folder_without_mirrors_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str, says: str
) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit) as stopped:
        mine.main([str(tmp_path / folder), "--out", str(tmp_path / "work")])
    assert stopped.value.code == 2 and says in capsys.readouterr().err
    assert not (tmp_path / "work").exists()
