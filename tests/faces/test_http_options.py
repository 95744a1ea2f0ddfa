"""What `findling serve --http` accepts: addresses, tokens, hosts, origins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from findling.faces.http.options import HttpOptions, read_options
from findling.model.errors import InvalidInput

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("typed", "host", "port"),
    [
        ("8765", "127.0.0.1", 8765),
        ("0", "127.0.0.1", 0),
        ("localhost:1", "localhost", 1),
        ("[::1]:65535", "::1", 65535),
        ("0.0.0.0:80", "0.0.0.0", 80),
        ("Box.Example:80", "Box.Example", 80),
    ],
)
def test_addresses(typed: str, host: str, port: int) -> None:
    options = read_options(typed, environ={})
    assert (options.host, options.port, options.token) == (host, port, None)


@pytest.mark.parametrize(
    "typed", ["", ":", ":80", "::1", "::1:80", "[::1]", "host:", "host:65536", "-1", "a b:1", "http://h:1", "h:١"]
)
def test_what_is_no_address(typed: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not \[HOST:\]PORT"):
        read_options(typed, environ={})


def test_a_token_leaves_the_environment_and_is_not_shown() -> None:
    environ = {"FINDLING_HTTP_TOKEN": f" {TOKEN} ", "HOME": "/"}
    options = read_options("1", environ=environ)
    assert options.token == TOKEN
    assert environ == {"HOME": "/"}
    assert TOKEN not in repr(options)


@pytest.mark.parametrize("token", ["short", "x" * 513, "two words are no token", "ümlaut-ümlaut-ümlaut", "a\nb" * 10])
def test_what_is_no_token_is_refused_without_being_repeated(token: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="FINDLING_HTTP_TOKEN does not hold a token") as refused:
        read_options("1", environ={"FINDLING_HTTP_TOKEN": token})
    assert token not in str(refused.value)
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(InvalidInput, match="does not hold a token"):
        read_options("1", token_file=tmp_path / "token", environ={})


def test_the_file_of_a_token_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    assert read_options("1", token_file=file, environ={"FINDLING_HTTP_TOKEN": "f" * 20}).token == TOKEN
    if os.name == "posix":
        file.chmod(0o640)
        with pytest.raises(InvalidInput, match="can be read by others"):
            read_options("1", token_file=file, environ={})
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_options("1", token_file=tmp_path, environ={})


def test_named_hosts_and_origins() -> None:
    options = read_options(
        "1", hosts=["Box.Example", "other:99"], origins=["https://App.Example/", "vscode://panel"], environ={}
    )
    assert all(map(options.allows_host, ["box.example", "BOX.example:1", "other:99", "localhost", "[::1]:7"]))
    assert not any(map(options.allows_host, ["other", "other:98", "box.example.", "app.example", "*"]))
    assert all(map(options.allows_origin, ["https://app.example", "VSCODE://panel", "http://localhost:3"]))
    assert not any(map(options.allows_origin, ["http://app.example", "https://app.example:1", "https://box.example"]))


@pytest.mark.parametrize("given", [{"hosts": ["*"]}, {"hosts": ["a/b"]}, {"origins": ["*"]}, {"origins": ["app"]}])
def test_patterns_and_paths_are_no_names(given: dict[str, list[str]]) -> None:
    with pytest.raises(InvalidInput, match="patterns are not supported"):
        read_options("1", environ={}, **given)  # type: ignore[arg-type]


def test_nobody_else_is_allowed_by_default() -> None:
    options = HttpOptions("127.0.0.1", 1)
    assert not options.allows_host("box.example")
    assert not options.allows_origin("https://app.example")
