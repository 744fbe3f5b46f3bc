"""What servers do to an HTTP client: too much, too slowly, half, or in another tongue."""

from __future__ import annotations

import gzip
import ssl
import time
from collections.abc import Iterator

import pytest

from jobs.hosts import Local, configure, public_url
from jobs.ports import Page
from shared.outcome import UpstreamFailed
from tests.workers.egress.hostile import ADDRESS, Answer, connector, head_of, repeating, saying, server
from workers.egress.http import HttpClient

LIMIT = 100_000
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture(autouse=True)
def any_port() -> Iterator[None]:
    """Servers take the ports that are free."""
    configure(Local(ports=range(1, 65536)))
    yield
    configure(Local())


def get(answer: Answer, *, seconds: float = 5.0, path: str = "/") -> Page:
    """What the client makes of an answer."""
    client = HttpClient(connector(hosts={"a.example.com": ADDRESS}), ssl.create_default_context(), agent="test")
    with server(answer) as port:
        url = public_url(f"http://a.example.com:{port}{path}")
        return client.get(url, limit_bytes=LIMIT, deadline=time.monotonic() + seconds)


def failure(answer: Answer, *, seconds: float = 5.0) -> str | None:
    """The reason for which there is no page."""
    began = time.monotonic()
    with pytest.raises(UpstreamFailed) as failed:
        get(answer, seconds=seconds)
    assert time.monotonic() - began < seconds + 2
    return failed.value.reason


def test_no_end_of_announcements_is_too_large() -> None:
    """Answers of 1xx come before the answer; a server may send them for ever, and quickly."""
    for line in (b"100 Continue", b"103 Early Hints"):
        assert (
            failure(repeating(b"", (b"HTTP/1.1 " + line + b"\r\nLink: </a>\r\n\r\n") * 50), seconds=30) == "too_large"
        )


def test_a_few_announcements_are_skipped() -> None:
    """As HTTP wants it."""
    early = b"HTTP/1.1 103 Early Hints\r\nLink: <http://127.0.0.1/>; rel=preload\r\n\r\n"
    assert get(saying(early * 3 + OK + b"\r\nbody")).body == b"body"


def test_another_protocol_is_not_spoken() -> None:
    """Nobody asked for one."""
    switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello"
    assert failure(saying(switch)) == "bad_content"


@pytest.mark.parametrize(
    "headers",
    [
        b"".join(b"X-%d: y\r\n" % n for n in range(101)),
        b"X: " + b"y" * 33_000 + b"\r\n",
        b"X: " + b"y" * 200_000 + b"\r\n",
    ],
)
def test_headers_that_are_too_many_or_too_long(headers: bytes) -> None:
    """100 of them, 32 KB together."""
    assert failure(saying(OK + headers + b"\r\nbody")) == "too_large"


def test_headers_within_the_limits() -> None:
    """100 of them, and one of 32,000 bytes."""
    many = b"".join(b"X-%d: y\r\n" % n for n in range(99))
    assert len(get(saying(OK + many + b"Content-Length: 0\r\n\r\n")).headers) == 100
    assert get(saying(OK + b"X: " + b"y" * 32_000 + b"\r\n\r\n")).status == 200


def test_headers_without_end() -> None:
    """They are not collected."""
    assert (
        failure(repeating(OK, b"X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n" * 20), seconds=30)
        == "too_large"
    )


def test_what_surrounds_a_body_is_bounded_too() -> None:
    """Chunks of one byte are a body; a thousand bytes of extension around each of them are none."""
    first = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    whole = first + b"1\r\nx\r\n" * LIMIT + b"0\r\n\r\n"
    assert get(saying(whole), seconds=20).body == b"x" * LIMIT
    assert failure(repeating(first, b"1;" + b"e" * 1_000 + b"\r\nx\r\n"), seconds=30) == "too_large"


@pytest.mark.parametrize("coding", [b"gzip", b"deflate", b"br"])
def test_an_empty_body_has_no_coding(coding: bytes) -> None:
    """Redirects, 304 and 204 often name the coding that a body would have had."""
    for status in (b"204 No Content", b"304 Not Modified", b"200 OK"):
        answer = saying(b"HTTP/1.1 " + status + b"\r\nContent-Encoding: " + coding + b"\r\nContent-Length: 0\r\n\r\n")
        assert get(answer).body == b""


@pytest.mark.parametrize(
    "headers", [b"Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n", b"Content-Encoding: gzip, gzip\r\n"]
)
def test_a_body_in_two_codings_is_not_decoded_half(headers: bytes) -> None:
    """Written in one line or in two."""
    body = gzip.compress(gzip.compress(b"twice"))
    assert failure(saying(OK + headers + b"\r\n" + body)) == "bad_content"


def test_a_redirect_is_read_as_browsers_read_it() -> None:
    """With blanks, and in UTF-8 or, when it is none, in Latin-1."""
    for location, target in (
        (b"/a b?c d", "/a%20b?c%20d"),
        ("/café".encode(), "/caf%C3%A9"),
        ("/日本".encode(), "/%E6%97%A5%E6%9C%AC"),
        (b"/caf\xe9", "/caf%C3%A9"),
    ):
        asked: list[bytes] = []

        def answer(connection: object, location: bytes = location, asked: list[bytes] = asked) -> None:
            asked.append(head_of(connection))  # type: ignore[arg-type]
            found = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n"
            connection.sendall(found if len(asked) == 1 else OK + b"\r\n")  # type: ignore[attr-defined]

        assert get(answer).status == 200
        assert asked[1].split()[1].decode() == target
