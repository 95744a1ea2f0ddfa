"""Repositories from a real git server on this machine: what is written, bundled, indexed, and what is not."""

from __future__ import annotations

import os
import random
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from file_servers import FileServer, commit, ended, git, git_server, redirect, tree_of
from shelf import write

from findling.config import load
from findling.engine.jobs import Job
from findling.engine.library import Library
from findling.engine.library.collections import Quota
from findling.engine.library.fetching import fetch_repo, repo_tree
from findling.engine.library.fetching.fetch_repo import numbered
from findling.engine.library.fetching.fetch_requests import RepoRequest, path_problem, repository_name
from findling.engine.library.fetching.running import run_here
from findling.model.errors import FetchRefused, FindlingError, InvalidInput
from findling.outbound.git import MAX_FETCH_MEMORY, GitServer, start_git

SOURCE = '''#!/usr/bin/env python
# a comment

def pour(cup):  # into the cup
    """Says # what it does."""
    return "# no comment"
    # the end
'''


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "served" / "acme" / "guide"
    commit(
        folder,
        {
            "README.md": "# Guide\n\nHow to make tea, step by step.\n",
            "docs/deep/notes.txt": "Water boils at a hundred degrees.\n",
            "src/pour.py": SOURCE,
            "node_modules/x/readme.md": "# Somebody else's\n",
            "docs/vendor/readme.md": "# Theirs\n",
            "data.json": '{"leaves": 3}\n',
        },
    )
    return folder


@pytest.fixture
def url(repo: Path, tmp_path: Path, local: Callable[..., None]) -> Iterator[str]:
    with git_server(tmp_path / "served") as base:
        local(base.removeprefix("http://"))
        yield f"{base}/acme/guide/.git"


def test_what_a_kill_leaves_half_written_is_none_of_the_files(repo: Path, tmp_path: Path) -> None:
    def fetched() -> set[str]:
        arguments = (
            repo / ".git",
            "HEAD",
            folder,
            tmp_path / "state.json",
            ("*.md", "*.txt"),
            ("node_modules/", "vendor"),
        )
        repo_tree.write_tree(*arguments, Quota((folder,), 1 << 20), lambda _: None)
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}

    class Killed(BaseException):
        pass

    def replace(*_: object) -> None:
        raise Killed

    folder = tmp_path / "files"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Path, "replace", replace)
        repo_tree._write(folder, "docs/new.md", b"half of", tmp_path / "state.partial")
    assert fetched() == {"README.md", "docs/deep/notes.txt"}


def done(library: Library, request: RepoRequest) -> Job:
    """Without a process of its own, which would take most of the time."""
    running = library.jobs.start("fetch", "fetch_repo")
    with suppress(FindlingError):
        run_here(library, request, running)
    return library.jobs.get(running.job.id)


def result(library: Library, request: RepoRequest) -> dict[str, object]:
    job = done(library, request)
    assert (job.status, job.error) == ("completed", "")
    assert job.result is not None
    return dict(job.result)


def files_in(folder: object) -> set[str]:
    base = Path(str(folder))
    return {path.relative_to(base).as_posix() for path in base.rglob("*") if not path.is_dir() or path.is_symlink()}


def test_what_is_taken_unless_told_otherwise(library: Library, url: str, repo: Path, data: Path) -> None:
    """S3-17, S3-18, S3-30, D15, D30."""
    found = ended(library.jobs, library.fetch(RepoRequest(url)).id).result
    assert files_in(found["path"]) == {"README.md", "docs/deep/notes.txt", "data.json"}
    assert (found["filesProcessed"], found["branch"], found["commit"]) == (3, "main", git(repo, "rev-parse", "HEAD"))
    assert found["repoName"] == "acme/guide"
    indexing = found["indexing"]
    assert isinstance(indexing, dict)
    assert (indexing["totalFiles"], indexing["processedFiles"], indexing["errors"]) == (3, 3, [])
    best = library.search("at what temperature does water boil", min_score=0.0).passages[0]
    assert (best.file_path, best.collection) == (f"{found['path']}/docs/deep/notes.txt", "acme-guide")
    assert best.fetched


def test_the_bundle_has_the_files_own_line_numbers(library: Library, url: str) -> None:
    """S3-20, S3-21, D15."""
    found = result(library, RepoRequest(url, include=("*.py", "*.md"), remove_comments=True))
    text = Path(str(found["bundlePath"])).read_text()
    assert "## README.md\n\n```markdown\n1  # Guide\n2\n3  How to make tea, step by step.\n```\n" in text
    assert text.endswith(
        "## src/pour.py\n\n```python\n1  #!/usr/bin/env python\n3\n4  def pour(cup):\n"
        '5      """Says # what it does."""\n6      return "# no comment"\n```\n'
    )
    assert text.startswith("# acme/guide\n")
    plain = result(library, RepoRequest(url, include=("*.py",), line_numbers=False))
    assert f"```python\n{SOURCE.rstrip()}\n```" in Path(str(plain["bundlePath"])).read_text()


def test_comments_go_by_the_syntax_of_the_language() -> None:
    text = "a /* one\ntwo */ b\n// three\nc\n"
    spans = [(2, 15), (18, 26)]
    assert numbered(text, spans) == [(1, "a"), (2, " b"), (4, "c")]


def test_a_fence_is_longer_than_any_in_the_file(library: Library, url: str, repo: Path) -> None:
    commit(repo, {"README.md": "````\n## forged.py\n````\n"})
    text = Path(str(result(library, RepoRequest(url, include=("README.md",)))["bundlePath"])).read_text()
    assert "`````markdown\n1  ````\n" in text


def test_fetching_again_touches_what_changed_only(library: Library, url: str, repo: Path) -> None:
    """S3-17: *.rst is taken too."""
    folder = Path(str(result(library, RepoRequest(url))["path"]))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    library.refresh("acme-guide")  # what was read the moment it was written counts as changed once
    commit(
        repo, {"README.md": "# Guide\n\nNow about coffee beans.\n", "data.json": None, "new.rst": "New\n===\n\ntext\n"}
    )
    (refreshed,) = library.refresh("acme-guide")
    assert refreshed.report is not None
    assert (refreshed.report.changed, refreshed.report.removed, refreshed.report.files) == (2, 1, 3)
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    assert {path.name for path in after if before.get(path) == after[path]} == {"notes.txt"}
    assert library.search("coffee", min_score=0.0).passages[0].content.startswith("# Guide")
    again = result(library, RepoRequest(url))
    assert (again["filesChanged"], again["filesRemoved"], again["filesProcessed"]) == (0, 0, 3)


def test_branches_tags_and_commits(library: Library, url: str, repo: Path) -> None:
    """S3-15, S3-16, D22."""
    first = git(repo, "rev-parse", "HEAD")
    git(repo, "tag", "v1")
    git(repo, "checkout", "-q", "-b", "topic/x")
    second = commit(repo, {"README.md": "# Topic\n"})
    assert result(library, RepoRequest(url))["commit"] == first
    assert result(library, RepoRequest(f"{url}#topic/x"))["commit"] == second
    assert result(library, RepoRequest(f"{url}#v1", "topic/x"))["branch"] == "topic/x"
    assert result(library, RepoRequest(url, "v1"))["commit"] == first
    assert result(library, RepoRequest(url, first))["branch"] == first
    assert "no branch or tag" in done(library, RepoRequest(url, "nothing")).error
    assert "whole id of a commit" in done(library, RepoRequest(url, first[:10])).error


def test_without_a_branch_called_main(library: Library, url: str, repo: Path) -> None:
    """D22."""
    git(repo, "branch", "-m", "trunk")
    assert result(library, RepoRequest(url))["branch"] == "trunk"
    assert "no branch or tag" in done(library, RepoRequest(url, "main")).error


@pytest.mark.parametrize(
    "branch", ["-oops", "--upload-pack=id", "a..b", "a b", "a\nb", "a^", "refs/@{1}", "x.lock", "/x"]
)
def test_names_that_are_no_branches(library: Library, url: str, branch: str) -> None:
    with pytest.raises(InvalidInput):
        library.fetch(RepoRequest(url, branch))


@pytest.mark.parametrize(
    "given",
    [
        *(
            "ext::sh -c id",
            "file:///etc",
            "/etc",
            "ssh://git@github.com/a/b",
            "git@github.com:a/b.git",
            "-oProxyCommand=id",
        ),
        *("http://github.com/a/b", "https://user:pw@github.com/a/b", "https://github.com/a/b?x=1", "git://x.org/a", ""),
    ],
)
def test_urls_that_are_not_fetched(library: Library, local: Callable[..., None], given: str) -> None:
    local()
    with pytest.raises(FetchRefused) as caught:
        library.fetch(RepoRequest(given))
    assert "pw" not in str(caught.value)
    assert library.jobs.all() == []


def test_odd_entries_of_a_tree_are_not_written(library: Library, url: str, repo: Path, data: Path) -> None:
    """git itself would warn of some of these; a server that is no git need not."""
    entries = [
        ("100644", "README.md", b"fine\n"),
        ("100644", "readme.md", b"differs in case\n"),
        ("120000", "passwd.md", b"/etc/passwd"),
        ("100644", "nul.md", b"device\n"),
        ("100644", "back\\slash.md", b"x\n"),
        ("100644", "tick\n.md", b"x\n"),
        ("100644", "big.md", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"),
        ("100644", "key.md", b"-----BEGIN PRIVATE KEY-----\n" + b"A" * 64 + b"\n-----END PRIVATE KEY-----\n"),
        ("100644", "credentials.json", b'{"token": "x"}\n'),
        ("160000", "module.md", b""),
    ]
    tree_of(repo, entries)
    found = result(library, RepoRequest(url))
    assert files_in(found["path"]) == {"README.md"}
    assert found["leftOut"] == 9
    assert "passwd.md: a link" in str(found["leftOutFiles"])
    assert "key" in str(found["leftOutFiles"])
    assert library.search("token", min_score=0.0).total == 1


def test_an_index_or_a_configuration_that_a_repository_brings_along_is_left_out(
    library: Library, url: str, repo: Path
) -> None:
    commit(repo, {".findling/config.toml": "[index]\nexclude = ['*']\n", ".findling/index.md": "# planted\n"})
    commit(repo, {"docs/.Findling/index.md": "# planted\n", "docs/.findlingignore.md": "# A page\n"})
    brought = {"findling.toml", ".repo_search/config.json", "docs/Findling.toml", "docs/.repo_search/config.json"}
    commit(repo, dict.fromkeys(brought, "[index]\nexclude = ['*']\n"))
    found = result(library, RepoRequest(url, include=("**",)))
    copy = Path(found["path"])
    assert not [file for file in copy.rglob("*") if file.name.lower() in (".findling", "findling.toml", ".repo_search")]
    assert not [file for file in load(copy).files if file.is_relative_to(copy)], (
        "nothing of it configures whoever searches it"
    )
    assert {"README.md", "docs/.findlingignore.md"} <= files_in(found["path"])
    named = {line.partition(":")[0] for line in found["leftOutFiles"]}
    assert {".findling/config.toml", ".findling/index.md", "docs/.Findling/index.md", *brought} <= named
    assert all("planted" not in passage.content for passage in library.search("planted", min_score=0.0).passages)
    assert library.search("tea", min_score=0.0).passages


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "a/../b",
        "/x",
        "a//b",
        ".git/config",
        "a/.GIT/hooks/x",
        "git~1/x",
        ".git./x",
        "a\0b",
        "CON",
        "a/aux.md",
        "x /y",
    ],
)
def test_paths_that_lead_elsewhere(path: str) -> None:
    assert path_problem(path)


@pytest.mark.parametrize("path", ["a/b.md", ".github/x.md", "Übung/naïve.md", "config", ".gitignore", "a b.md"])
def test_paths_that_are_fine(path: str) -> None:
    assert not path_problem(path)


def test_nothing_of_the_users_is_sent_and_nothing_in_a_repository_is_run(
    library: Library, url: str, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    mark = tmp_path / "ran"
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f'[url "{tmp_path}/elsewhere"]\n\tinsteadOf = http://127.0.0.1\n[credential]\n\thelper = "!touch {mark}"\n'
        f'[core]\n\tfsmonitor = "touch {mark}"\n\thooksPath = {home}\n[filter "x"]\n\tsmudge = touch {mark}\n'
    )
    (home / "post-checkout").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (home / "post-checkout").chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("GIT_SSH_COMMAND", f"touch {mark}")
    monkeypatch.setenv("GIT_ASKPASS", f"touch {mark}")
    commit(repo, {".gitattributes": "* filter=x\n", ".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ext::id\n'})
    found = result(library, RepoRequest(url, include=("*",)))
    assert "README.md" in files_in(found["path"])
    assert not mark.exists()
    hooks = list((data / "repositories").rglob("hooks/*"))
    assert hooks == []


def test_redirects_are_looked_at(library: Library, url: str, repo: Path, local: Callable[..., None]) -> None:
    base = url.removeprefix("http://").split("/")[0]
    with FileServer({"/old/info/refs": redirect(f"{url}/info/refs?service=git-upload-pack")}) as server:
        local(server.host, base)
        assert result(library, RepoRequest(f"{server.url}/old"))["filesProcessed"] == 3
        local(server.host)
        refused = done(library, RepoRequest(f"{server.url}/old"))
    assert (refused.status, refused.error[:8]) == ("failed", "network:")


def test_git_connects_to_the_address_that_was_looked_at(
    library: Library, url: str, local: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name means something to this process alone: git would not find it."""
    real = socket.getaddrinfo

    def answer(host: str, *args: Any, **kwargs: Any) -> Any:
        return real("127.0.0.1" if host == "docs.invalid" else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    local("docs.invalid")
    assert result(library, RepoRequest(url.replace("127.0.0.1", "docs.invalid")))["filesProcessed"] == 3


@pytest.mark.skipif(sys.platform != "linux", reason="nothing else can bound a process that it did not write")
def test_what_a_server_sends_cannot_take_all_memory(data: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        server = GitServer("http", "127.0.0.1", port, ("127.0.0.1",))
        with start_git(["ls-remote", f"http://127.0.0.1:{port}/"], cwd=tmp_path, server=server) as git_:
            connection, _ = silent.accept()  # by a program that git started
            with connection:
                assert git_._process is not None
                pid = git_._process.pid
                helpers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                limits = [Path(f"/proc/{each}/limits").read_text() for each in (pid, *helpers)]
    assert helpers
    for text in limits:
        (line,) = [line for line in text.split("\n") if line.startswith("Max data size")]
        assert line.split()[3] == str(MAX_FETCH_MEMORY)


def test_what_is_too_much_is_not_brought(
    library: Library, url: str, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repo_tree, "MAX_FILES", 2)
    assert "files or" in done(library, RepoRequest(url)).error
    monkeypatch.setattr(repo_tree, "MAX_FILES", 100)
    monkeypatch.setattr(repo_tree, "MAX_FILE_BYTES", 30)
    assert result(library, RepoRequest(url))["filesProcessed"] == 1


def test_a_server_that_is_no_git(library: Library, local: Callable[..., None], data: Path) -> None:
    with FileServer({"/a/info/refs": b"<html>hello</html>"}) as server:
        local(server.host)
        job = done(library, RepoRequest(f"{server.url}/a"))
    assert (job.status, job.error[:8]) == ("failed", "network:"), job.error
    assert library.collections() == ()


def test_removing_the_collection_removes_the_copy(library: Library, url: str, data: Path) -> None:
    found = result(library, RepoRequest(url))
    assert library.remove("acme-guide").fetched == ("acme-guide",)
    assert not Path(str(found["path"])).exists()
    assert library.collections() == ()
    assert os.listdir(data / "repositories") == []


def test_a_first_fetch_that_fails_leaves_nothing(library: Library, url: str, data: Path) -> None:
    job = done(library, RepoRequest(url, branch="none"))
    assert job.status == "failed"
    assert {path.name for path in (data / "repositories").rglob("*") if path.is_file()} <= {"writer.lock"}
    result(library, RepoRequest(url))
    there = files_in(data / "repositories")
    assert done(library, RepoRequest(url, branch="none")).status == "failed"
    assert there <= files_in(data / "repositories"), "a later one leaves what was there"


def test_a_repository_counts_against_the_quota(
    library: Library, url: str, repo: Path, data: Path, tmp_path: Path
) -> None:
    commit(repo, {"noise.txt": random.Random(1).randbytes(900_000).hex()})
    config = tmp_path / "config" / "findling" / "config.toml"
    config.write_text(config.read_text().replace("[fetch]", "[fetch]\nmax_total_bytes = 2097152"))
    job = done(library, RepoRequest(url))
    assert (job.status, job.error[:8]) == ("failed", "storage:"), job.error
    left = {path.name for path in (data / "repositories").rglob("*") if path.is_file()}
    assert (library.collections(), left) == ((), {"writer.lock"})
    assert done(library, RepoRequest(url, include=("README.md",))).status == "completed"


def test_what_a_killed_fetch_left_is_cleared_up(library: Library, url: str, repo: Path, data: Path) -> None:
    home = fetch_repo.home_of(data, RepoRequest(url))
    orphan, packs = data / "repositories" / "other-0", home / "objects.git" / "objects" / "pack"
    for folder in (orphan, packs):
        folder.mkdir(parents=True)
        for name in ("tmp_pack_x", ".tmp-7-pack-x.pack"):  # of fetching, of packing
            (folder / name).write_bytes(b"half")
    result(library, RepoRequest(url))
    assert not any(orphan.glob("*tmp*")) and not any(packs.glob("*tmp*"))
    commit(repo, {"README.md": "# Guide\n\nNow about coffee beans.\n"})
    objects = packs.parent.parent
    left = [objects / "shallow.lock", objects / "refs" / "findling" / "fetched.lock", packs / "pack-x.keep"]
    left += [home / "bundle.json.7.tmp", home / ".guide.md.7.tmp"]
    for path in left:
        path.touch()
    assert result(library, RepoRequest(url))["filesChanged"] == 1, "its locks hold nobody up"
    assert not any(path.exists() for path in left)


def test_what_became_a_collection_meanwhile_is_not_swept_away(data: Path) -> None:
    home = data.resolve() / "repositories" / "guide-0"
    write(home / "files", {"README.md": "# Guide\n"})
    inside = [os.fspath(home / "files" / "docs")]
    seen: list[list[str]] = [[], inside]
    fetch_repo.sweep(data, lambda: seen.pop(0))
    assert (home / "files" / "README.md").exists() and not seen
    fetch_repo.sweep(data, lambda: [f"{home}-other/files"])
    assert not (home / "files").exists()


def test_objects_of_commits_that_are_gone_are_forgotten(
    library: Library, url: str, repo: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_repo, "PACKS", 1)
    for text in ("one", "two", "three"):
        commit(repo, {"README.md": f"# Guide\n\n{text}\n"})
        found = result(library, RepoRequest(url))
    (packs,) = data.glob("repositories/*/objects.git/objects/pack")
    assert len(list(packs.glob("*.pack"))) == 1
    assert git(packs.parent.parent, "count-objects").startswith("0 objects")
    assert "three" in (Path(str(found["path"])) / "README.md").read_text()
    assert result(library, RepoRequest(url))["filesChanged"] == 0


def test_names_of_repositories() -> None:
    names = {
        "https://github.com/owner/repo": "owner/repo",
        "https://github.com/owner/repo.git": "owner/repo",
        "https://gitlab.com/group/sub/repo/": "sub/repo",
        "https://x.org/../../etc": "etc",
        "https://x.org/": "x.org",
    }
    assert {url: repository_name(url) for url in names} == names


def test_patterns_are_bounded(library: Library, url: str) -> None:
    with pytest.raises(InvalidInput):
        library.fetch(RepoRequest(url, include=("*",) * 101))
    with pytest.raises(InvalidInput):
        library.fetch(RepoRequest(url, include=("x" * 300,)))
