"""Servers that speak https: whose certificates are believed, by findling and by the git that it runs."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from file_servers import FileServer, commit, ended, git_server, redirect

from findling.engine.jobs import Job
from findling.engine.library import Library
from findling.engine.library.fetching.fetch_requests import RepoRequest
from findling.engine.library.fetching.running import run_here
from findling.model.errors import FetchRefused, FindlingError, NetworkError
from findling.outbound.fetch import USUAL, Pace, fetch
from findling.outbound.git import GitServer, start_git
from findling.outbound.http import HttpFailure, get

FOLDERS = ("SSL_CERT_DIR", "GIT_SSL_CAPATH")
VARIABLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", *FOLDERS)
NAME = "docs.example"


@pytest.fixture(autouse=True)
def nobody_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def bundle(authority: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


@pytest.fixture
def folder(bundle: Path) -> Path:
    """The same as a folder, where OpenSSL looks for hashes."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl")
    hashed = subprocess.run([openssl, "x509", "-hash", "-noout", "-in", bundle], capture_output=True, check=True)
    made = bundle.parent / "authorities"
    made.mkdir()
    shutil.copy(bundle, made / f"{hashed.stdout.decode().strip()}.0")
    return made


def serving(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def got(url: str, *allowed: str, pace: Pace = USUAL) -> bytes:
    pieces: list[bytes] = []
    fetch(url, allowed_hosts=allowed, max_bytes=1000, take=lambda piece, _: pieces.append(piece), pace=pace)
    return b"".join(pieces)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """`NAME` means this machine."""
    real = socket.getaddrinfo

    def answer(host: str, *args: Any, **kwargs: Any) -> Any:
        return real("127.0.0.1" if host == NAME else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", answer)


@pytest.mark.usefixtures("here")
def test_the_name_is_the_servers_and_the_address_the_one_that_was_looked_at(
    authority: trustme.CA, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    named: list[str] = []
    connected: list[tuple[str, int]] = []
    real = socket.create_connection

    def connect(place: tuple[str, int], *args: Any, **kwargs: Any) -> socket.socket:
        connected.append(place)
        return real(place, *args, **kwargs)

    monkeypatch.setattr(socket, "create_connection", connect)
    tls = serving(authority, NAME)
    tls.sni_callback = lambda _, name, __: named.append(str(name))
    with FileServer({"/a": b"hello"}, tls) as server:
        assert got(f"https://{NAME}:{server.port}/a", NAME) == b"hello"
    assert (named, connected) == ([NAME], [("127.0.0.1", server.port)])
    assert server.asked[0][1]["Host"] == f"{NAME}:{server.port}"


@pytest.mark.usefixtures("here")
def test_a_certificate_of_another_name(authority: trustme.CA, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    with FileServer({"/a": b"hello"}, serving(authority, "other.example", "127.0.0.1")) as server:
        with pytest.raises(NetworkError, match="certificate"):
            got(f"https://{NAME}:{server.port}/a", NAME)
        assert server.asked == []


@pytest.mark.parametrize("variable", [None, *VARIABLES])
def test_who_vouches_for_a_server(
    variable: str | None, authority: trustme.CA, bundle: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FileServer({"/a": b"hello"}, serving(authority, "127.0.0.1")) as server:
        if variable is None:
            with pytest.raises(NetworkError, match="certificate"):
                got(f"{server.url}/a", server.host)
            with pytest.raises(HttpFailure, match="certificate") as failed:
                get(f"{server.url}/a", timeout_s=5, max_bytes=100)
            assert failed.value.reason == "unreachable"
            return
        monkeypatch.setenv(variable, str(folder if variable in FOLDERS else bundle))
        assert got(f"{server.url}/a", server.host) == b"hello"
        assert get(f"{server.url}/a", timeout_s=5, max_bytes=100).body == b"hello"


def test_a_file_of_authorities_that_is_not_there(
    authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURL_CA_BUNDLE", str(tmp_path / "none.pem"))
    with (
        FileServer({"/a": b"hello"}, serving(authority, "127.0.0.1")) as server,
        pytest.raises(NetworkError, match=r"none\.pem"),
    ):
        got(f"{server.url}/a", server.host)


def test_nothing_leads_from_https_to_http(authority: trustme.CA, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    with (
        FileServer({"/b": b"plain"}) as plain,
        FileServer({"/a": redirect(f"{plain.url}/b")}, serving(authority, "127.0.0.1")) as server,
    ):
        with pytest.raises(FetchRefused, match="from https"):
            got(f"{server.url}/a", server.host, plain.host)
        assert plain.asked == []


def test_a_server_that_never_greets() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(NetworkError, match="too long"):
            got(f"https://{host}/", host, pace=Pace(head_s=0.2))
        with pytest.raises(HttpFailure, match="No answer"):
            get(f"https://{host}/", timeout_s=0.2, max_bytes=100)


# --- git -------------------------------------------------------------------------------------------------------


@pytest.fixture
def url(authority: trustme.CA, tmp_path: Path, local: Callable[..., None]) -> Any:
    commit(tmp_path / "served" / "guide", {"README.md": "# Guide\n\nHow to make tea.\n"})
    with git_server(tmp_path / "served", serving(authority, "127.0.0.1")) as base:
        local(base.removeprefix("https://"))
        yield f"{base}/guide/.git"


def done(library: Library, url: str) -> Job:
    running = library.jobs.start("fetch", "fetch_repo")
    with suppress(FindlingError):
        run_here(library, RepoRequest(url), running)
    return library.jobs.get(running.job.id)


@pytest.mark.parametrize("variable", VARIABLES)
def test_git_believes_whom_findling_believes(
    variable: str, library: Library, url: str, bundle: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = done(library, url)
    assert (unknown.status, "certificate" in unknown.error) == ("failed", True)
    monkeypatch.setenv(variable, str(folder if variable in FOLDERS else bundle))
    job = done(library, url)
    assert (job.status, job.error) == ("completed", "")
    assert job.result is not None and job.result["filesProcessed"] == 1


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "GIT_SSL_CAPATH"])
def test_a_path_that_begins_here_holds_in_the_jobs_process(
    variable: str, library: Library, url: str, bundle: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs in another folder, and git in a third one. The configuration is named in the same way."""
    monkeypatch.chdir(bundle.parent)
    monkeypatch.setenv(variable, (folder if variable in FOLDERS else bundle).name)
    monkeypatch.setenv("FINDLING_CONFIG", os.path.relpath("config/findling/config.toml"))
    job = ended(library.jobs, library.fetch(RepoRequest(url)).id)
    assert (job.status, job.error) == ("completed", "")


def test_git_itself_looks_at_certificates(
    url: str, bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the environment or the user's configuration says of not looking."""
    monkeypatch.setenv("GIT_SSL_NO_VERIFY", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_text("[http]\n\tsslVerify = false\n")
    port = int(url.split(":")[2].split("/")[0])
    server = GitServer("https", "127.0.0.1", port, ("127.0.0.1",))

    def asked() -> tuple[str, bytes]:
        with start_git(["ls-remote", url], cwd=tmp_path, server=server) as git:
            output = git.wait(30)
        return output.status, output.stdout + output.stderr

    status, said = asked()
    assert (status, b"certificate" in said) == ("failed", True), said
    monkeypatch.setenv("GIT_SSL_CAINFO", str(bundle))
    status, said = asked()
    assert (status, b"refs/heads/main" in said) == ("ok", True), said
