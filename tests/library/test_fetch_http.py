"""One file from a server with bad manners, over real connections."""

from __future__ import annotations

import errno
import gzip
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_servers import FileServer, dripping, endless, headed, ranged, redirect

from findling.model.errors import Cancelled, ConfigError, FetchRefused, NetworkError
from findling.outbound import addresses
from findling.outbound.credentials import Credentials
from findling.outbound.fetch import Interrupted, Pace, Part, fetch, located

QUICK = Pace(head_s=1.0, stall_s=0.5, whole_s=5.0, grace_s=0.3, bytes_per_s=1000)


def got(server: FileServer, path: str, *, max_bytes: int = 100_000, also: tuple[str, ...] = ()) -> bytes:
    pieces: list[bytes] = []
    fetched = fetch(
        server.url + path,
        allowed_hosts=(server.host, *also),
        max_bytes=max_bytes,
        take=lambda piece, _: pieces.append(piece),
        pace=QUICK,
    )
    assert fetched.size == sum(map(len, pieces))
    return b"".join(pieces)


def test_a_file_and_what_is_sent_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with FileServer({"/a": b"hello"}) as server:
        assert got(server, "/a?x=1#y") == b"hello"
    path, headers = server.asked[0]
    assert path == "/a?x=1"
    assert not {name.lower() for name in headers} & {"cookie", "authorization", "referer"}


def test_redirects_are_followed_to_allowed_places_only() -> None:
    with FileServer({"/a": redirect("/b?t=1"), "/b": redirect("c", 307), "/c": b"there"}) as server:
        assert got(server, "/a") == b"there"
        with FileServer({"/x": b"secret"}) as inner:
            for place in (f"{inner.url}/x", f"http://localhost:{inner.port}/x", f"//127.0.0.1:{inner.port}/x"):
                server.answers["/away"] = redirect(place)
                with pytest.raises(FetchRefused):
                    got(server, "/away")
            assert inner.asked == []
        for place in ("file:///etc/passwd", "http://169.254.169.254/latest/", "http://[::1]/", "gopher://x/"):
            server.answers["/away"] = redirect(place)
            with pytest.raises(FetchRefused):
                got(server, "/away")


def test_credentials_open_nothing_that_another_server_redirects_to(tmp_path: Path) -> None:
    with FileServer({"/private": b"secret"}) as owner, FileServer({"/a": redirect("/b"), "/b": b""}) as mirror:
        lines = tmp_path / "credentials"
        lines.write_text(f"http://bot:token@{owner.host}\n", encoding="utf-8")
        lines.chmod(0o600)
        credentials, hosts = Credentials(str(lines)), (owner.host, mirror.host)
        owner.answers["/old"] = redirect("/private")
        assert located(f"{owner.url}/old", allowed_hosts=hosts, credentials=credentials) == f"{owner.url}/private"
        assert "Authorization" in owner.asked[-1][1]
        assert located(f"{mirror.url}/a", allowed_hosts=hosts, credentials=credentials) == f"{mirror.url}/b"
        assert "Authorization" not in mirror.asked[-1][1]
        asked = len(owner.asked)
        mirror.answers["/b"] = redirect(f"{owner.url}/private")
        with pytest.raises(FetchRefused, match="redirects to"):
            located(f"{mirror.url}/a", allowed_hosts=hosts, credentials=credentials)
        owner.answers["/out"] = redirect(f"{mirror.url}/a")
        with pytest.raises(FetchRefused, match="redirects to"):  # and back
            located(f"{owner.url}/out", allowed_hosts=hosts, credentials=credentials)
        assert "/private" not in [path for path, _ in owner.asked[asked:]]


def test_a_line_of_credentials_is_for_one_host_however_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "credentials"

    def sent(lines: str, url: str) -> bool:
        file.write_text(lines, encoding="utf-8")
        file.chmod(0o600)
        target = addresses.target_of(url, ("a.example:8443",))
        return bool(Credentials(str(file)).header_for(target))

    for line, url in (
        ("https://u:p@[2001:4860:4860::8888]", "https://[2001:4860:4860:0::8888]/a"),
        ("https://u:p@git.example:443/", "https://git.example/a"),
        ("https://u:p@GIT.example", "https://git.example./a"),
        ("https://u:p@git.example.", "https://git.example/a"),
        ("https://u:p@b\u00fccher.example", "https://b\u00fccher.example/a"),
        ("https://u:p@a.example:8443\nhttps://u:q@a.example", "https://a.example:8443/a"),
    ):
        assert sent(line, url), line
    for url in ("https://b.example/x", "http://a.example/x", "https://a.example:8443/x"):
        assert not sent("https://u:p@a.example", url)
    for lines, said in (
        ("https://u:p@git.example/org", "has a path"),
        ("https://u:p@a.example\nhttps://u:q@a.example:443", "Line 2 .* second one"),
        ("https://a.example", "cannot be read"),
        ("https://u:p@a.example/@b.example", "has a path"),
        ("#" * 100_001, "more than 100,000 bytes"),
    ):
        with pytest.raises(ConfigError, match=said):
            sent(lines, "https://b.example/")


def test_a_redirect_whose_place_cannot_be_read() -> None:
    with FileServer({"/a": redirect("http://[")}) as server:
        with pytest.raises(NetworkError, match="cannot be read"):
            got(server, "/a")
        with pytest.raises(NetworkError, match="cannot be read"):
            located(f"{server.url}/a", allowed_hosts=(server.host,))


def test_what_the_taker_raises_is_not_the_servers_failure() -> None:
    def take(_: bytes, __: int | None) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with FileServer({"/a": b"hello"}) as server, pytest.raises(OSError) as caught:
        fetch(f"{server.url}/a", allowed_hosts=(server.host,), max_bytes=10, take=take)
    assert caught.value.errno == errno.ENOSPC


def test_redirects_in_a_circle() -> None:
    with FileServer({"/a": redirect("/b"), "/b": redirect("/a")}) as server, pytest.raises(NetworkError, match="5"):
        got(server, "/a")


def test_what_a_name_means_later_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is public when it is looked at and this machine when it is connected to."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def answer(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        if host != "rebound.example":
            return real(host, port, *args, **kwargs)
        asked.append(host)
        return [(2, 1, 6, "", ("198.51.100.7" if len(asked) > 1 else "93.184.216.34", port))]

    connected: list[str] = []

    def connect(place: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
        connected.append(place[0])
        raise OSError("no network in tests")

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(NetworkError):
        fetch("http://rebound.example/", allowed_hosts=(), max_bytes=10, take=lambda *_: None)
    assert (asked, connected) == (["rebound.example"], ["93.184.216.34"])


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"x" * 2000, FetchRefused),
        (headed(b"x" * 2000), FetchRefused),
        (endless, FetchRefused),
        (headed(b"short", Content_Length="500"), NetworkError),
        (headed(gzip.compress(b"x" * 10_000_000), Content_Encoding="gzip"), NetworkError),
        (headed(b"zz\r\nnot chunks", Transfer_Encoding="chunked"), NetworkError),
        (dripping(), NetworkError),
        (dripping(b"", 1.0, 3), None),
    ],
)
def test_bodies_that_are_cut(answer: Any, error: type[Exception] | None) -> None:
    with FileServer({"/a": answer}) as server:
        if error is None:
            with pytest.raises(NetworkError):
                got(server, "/a", max_bytes=1000)
            return
        with pytest.raises(error):
            got(server, "/a", max_bytes=1000)


def status(code: int, body: bytes = b"", **headers: str) -> Any:
    def answer(request: Any) -> None:
        request.send_response(code)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)

    return answer


def test_the_rest_of_a_file() -> None:
    began: list[Part] = []
    sizes: list[int | None] = []
    with FileServer({"/a": ranged(b"0123456789", breaks=[]), "/b": redirect("/a")}) as server:
        found = fetch(
            f"{server.url}/b",
            allowed_hosts=(server.host,),
            max_bytes=10,
            take=lambda piece, whole: sizes.extend((len(piece), whole)),
            begin=began.append,
            have=Part(4, '"1"'),
        )
    assert (found.size, began, sizes) == (10, [Part(4, '"1"')], [6, 10])
    assert [headers.get("If-Range") for _, headers in server.asked] == ['"1"', '"1"']


@pytest.mark.parametrize(
    ("answer", "begun"),
    [
        (status(200, b"another", ETag='"2"'), Part(0, '"2"')),
        (
            status(200, b"another", Last_Modified="Sat, 01 Jan 2000 00:00:00 GMT"),
            Part(0, "Sat, 01 Jan 2000 00:00:00 GMT"),
        ),
        (status(200, b"another", Last_Modified="yesterday"), Part(0, "")),
        (status(200, b"another", Last_Modified=f"Sat, 01 Jan 2000 00:00:00 +{'9' * 20}"), Part(0, "")),
        (status(206, b"rest of very much", Content_Range="bytes 4-20/21"), None),
    ],
)
def test_servers_that_do_not_go_on(answer: Any, begun: Part | None) -> None:
    began: list[Part] = []
    with FileServer({"/a": answer}) as server:

        def ask() -> None:
            fetch(
                f"{server.url}/a",
                allowed_hosts=(server.host,),
                max_bytes=10,
                take=lambda *_: None,
                begin=began.append,
                have=Part(4, '"1"'),
            )

        if begun is None:
            with pytest.raises(FetchRefused, match="21 bytes"):
                ask()
            return
        ask()
        assert began == [begun]


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Range": "bytes 3-6/7"},
        {},
        {"Content_Range": "bytes 4-7/*"},
        {"Content_Range": "bytes 4-7/6"},
        {"Content_Range": "bytes 4-7/8", "ETag": '"2"'},
    ],
)
def test_what_is_not_the_rest_that_was_asked_for(headers: dict[str, str]) -> None:
    def answer(request: Any) -> None:
        (status(206, b"rest", **headers) if "Range" in request.headers else status(200, b"whole"))(request)

    pieces: list[bytes] = []
    began: list[Part] = []
    with FileServer({"/a": answer}) as server:
        found = fetch(
            f"{server.url}/a",
            allowed_hosts=(server.host,),
            max_bytes=10,
            take=lambda piece, _: pieces.append(piece),
            begin=began.append,
            have=Part(4, '"1"'),
        )
    assert (found.size, pieces, began) == (5, [b"whole"], [Part(0, "")])


def test_less_of_the_rest_than_there_is() -> None:
    pieces: list[bytes] = []
    answer = status(206, b"45", Content_Range="bytes 4-5/9", Content_Length="2")
    with FileServer({"/a": answer}) as server, pytest.raises(Interrupted, match="6 of 9"):
        fetch(
            f"{server.url}/a",
            allowed_hosts=(server.host,),
            max_bytes=10,
            take=lambda piece, _: pieces.append(piece),
            have=Part(4, '"1"'),
        )
    assert pieces == [b"45"]


def test_a_part_that_is_longer_than_the_file_by_now() -> None:
    def answer(request: Any) -> None:
        status(416 if "Range" in request.headers else 200, b"now")(request)

    got: list[bytes] = []
    with FileServer({"/a": answer}) as server:
        found = fetch(
            f"{server.url}/a",
            allowed_hosts=(server.host,),
            max_bytes=10,
            take=lambda piece, _: got.append(piece),
            have=Part(4, '"1"'),
        )
    assert (found.size, got) == (3, [b"now"])


def test_part_of_a_file_that_nobody_asked_for() -> None:
    answer = status(206, b"rest", Content_Range="bytes 0-3/7")
    with FileServer({"/a": answer}) as server, pytest.raises(NetworkError, match="206"):
        got(server, "/a")


def test_a_body_that_goes_on_quickly_but_for_too_long() -> None:
    sent: list[bytes] = []
    answer = dripping(b"x" * 500, 0.02, 400)
    with FileServer({"/a": answer}) as server, pytest.raises(NetworkError, match="too long"):
        fetch(
            f"{server.url}/a",
            allowed_hosts=(server.host,),
            max_bytes=1_000_000,
            take=lambda piece, _: sent.append(piece),
            pace=Pace(head_s=1.0, stall_s=0.5, whole_s=0.5, grace_s=0.3, bytes_per_s=1000),
        )
    assert 0 < sum(map(len, sent)) < 200_000, "it was ended before the server ended"


def test_a_head_that_never_ends() -> None:
    def slow(request: Any) -> None:
        import time

        for _ in range(100):
            request.wfile.write(b"X")
            request.wfile.flush()
            time.sleep(0.1)

    with FileServer({"/a": slow}) as server, pytest.raises(NetworkError, match="too long"):
        got(server, "/a")


@pytest.mark.parametrize("path", ["/none", "/made"])
def test_statuses_that_are_no_file(path: str) -> None:
    def teapot(request: Any) -> None:
        request.send_response(418, "I'm a \x1b[31mteapot")
        request.end_headers()

    with FileServer({"/made": teapot}) as server, pytest.raises(NetworkError, match=r"404|418") as caught:
        got(server, path)
    assert "\x1b" not in str(caught.value)


def test_nobody_there() -> None:
    with FileServer({}) as server:
        pass
    with pytest.raises(NetworkError, match="failed"):
        got(server, "/a")


def test_cancelling_between_pieces() -> None:
    seen: list[int] = []

    def check() -> None:
        if seen:
            raise Cancelled("stop")

    def take(piece: bytes, _: int | None) -> None:
        seen.append(len(piece))

    with FileServer({"/a": endless}) as server, pytest.raises(Cancelled):
        fetch(f"{server.url}/a", allowed_hosts=(server.host,), max_bytes=1 << 40, take=take, check=check)


def test_where_a_url_leads_without_its_body() -> None:
    with FileServer({"/a": redirect("/b?q=1"), "/b": endless}) as server:
        assert located(f"{server.url}/a", allowed_hosts=(server.host,)) == f"{server.url}/b?q=1"


def test_a_name_is_resolved_once_for_each_place(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real: Callable[[str, int], list[str]] = addresses._resolved

    def counted(host: str, port: int) -> list[str]:
        asked.append(host)
        return real(host, port)

    monkeypatch.setattr(addresses, "_resolved", counted)
    with FileServer({"/a": redirect("/b"), "/b": b"x"}) as server:
        got(server, "/a")
    assert asked == ["127.0.0.1", "127.0.0.1"]
