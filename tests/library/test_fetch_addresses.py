"""Which URLs and addresses are fetched from. Nothing here reaches a network."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from findling.model.errors import FetchRefused, NetworkError
from findling.outbound import addresses
from findling.outbound.addresses import addresses_of, is_public, target_of


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "ftp://example.org/x",
        "ssh://git@example.org/x",
        "ext::sh -c id",
        "git://example.org/x",
        "git@example.org:owner/name",
        "-oProxyCommand=id",
        "--upload-pack=id",
        "//example.org/x",
        "/etc/passwd",
        "data:text/plain,x",
        "https:example.org",
        "https:///x",
        "https://",
        "https://user@example.org/",
        "https://user:pass@example.org/",
        "https://@example.org/",
        "https://example.org\\@127.0.0.1/",
        "https://example.org/a b",
        "https://example.org/\nHost: x",
        "https://example.org/\x00",
        "https://example.org:99999/",
        "https://example.org:22/",
        "https://example.org:0/",
        "https://-example.org/",
        "https://exa%6dple.org/",
        "https://[::1%25lo]/",
        "https://[::1/",
        "https://" + "a" * 300 + ".org/",
        "https://example.org/" + "a" * 3000,
        "https://example.org/\udcff",
        "https://ex\udcffample.org/",
    ],
)
def test_refused_as_they_stand(url: str) -> None:
    with pytest.raises(FetchRefused) as caught:
        target_of(url)
    assert "pass" not in str(caught.value).replace("password", "")


def test_a_url_taken_apart() -> None:
    target = target_of("https://Example.ORG/a/ü?token=secret#x")
    assert (target.host, target.port, target.path) == ("example.org", 443, "/a/%C3%BC?token=secret")
    assert target.shown == "https://example.org/a/%C3%BC"
    assert target_of("http://bücher.example/").host == "xn--bcher-kva.example"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "169.254.0.1", "100.64.0.1", "100.100.100.200", "192.0.0.8", "192.0.2.1", "198.18.0.1"),
        *("224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("2002:7f00:1::", "2002:a9fe:a9fe::", "nonsense", ""),
        *("168.63.129.16", "::ffff:168.63.129.16", "64:ff9b::a83f:8110", "2002:a83f:8110::1", "64:ff9b:1::808:808"),
        *("192.88.99.1", "::ffff:192.88.99.1", "64:ff9b::c058:6301", "2002:c058:6301::"),
        *("192.31.196.1", "192.52.193.1", "192.175.48.1", "64:ff9b::c01f:c401", "2620:4f:8000::1"),
        *("fec0::1", "feff::1", "fec0::1%eth0", "5f00::1", "3fff::1", "2001::1", "2001:20::1", "100::1", "4000::1"),
        *("::169.254.169.254", "::ffff:0:169.254.169.254"),
    ],
)
def test_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"),
        *("168.63.129.17", "192.88.98.1", "2620:4f:8001::1", "64:ff9b::808:808", "2a00:1450:4001::1", "3ffe::1"),
    ],
)
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]"])
def test_this_machine_by_any_name(host: str) -> None:
    with pytest.raises((FetchRefused, NetworkError)) as caught:
        addresses_of(target_of(f"http://{host}/"))
    if host in ("127.0.0.1", "localhost", "[::1]", "127.1", "2130706433"):
        assert caught.type is FetchRefused


def test_one_private_address_among_public_ones_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", ("93.184.216.34", 80)), (2, 1, 6, "", ("10.0.0.7", 80))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    with pytest.raises(FetchRefused, match=r"10\.0\.0\.7"):
        addresses_of(target_of("http://mixed.example/"))


def test_hosts_that_the_user_allows() -> None:
    allowed = ("localhost:8080", "Files.Intern", "[::1]:99")
    assert target_of("http://localhost:8080/", allowed).permitted
    assert target_of("http://files.intern:1234/", allowed).permitted
    assert target_of("http://[::1]:99/", allowed).permitted
    assert not target_of("http://localhost/", allowed).permitted
    assert not target_of("http://files.intern.evil.example/", allowed).permitted
    for url, host in (("http://localhost:8081/", "localhost:8081"), ("http://[::1]:98/", "[::1]:98")):
        with pytest.raises(FetchRefused) as caught:
            target_of(url, allowed)
        assert f"may name {host}." in str(caught.value)
        assert target_of(url, (host,)).permitted


def test_a_slow_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [never.wait(5)][:0])
    monkeypatch.setattr(addresses, "RESOLVE_S", 0.05)
    with pytest.raises(NetworkError, match="too long"):
        addresses_of(target_of("http://slow.example/"))
    never.set()
