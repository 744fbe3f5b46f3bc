"""What servers do to an HTTP client that is neither in its headers nor in its body."""

from __future__ import annotations

import ssl
import time

import pytest

from jobs.hosts import public_url
from jobs.ports import Page
from jobs.site import Site
from shared.outcome import UpstreamFailed
from tests.sites import FREE_PORTS
from tests.time_limits import SLACK_S
from tests.workers.egress.hostile import connector, head_of, repeating, saying
from tests.workers.servers import ADDRESS, Answer, server
from workers.egress.http import HttpClient

LIMIT = 100_000
OK = b"HTTP/1.1 200 OK\r\n"
SITE = Site(own=(), ports=FREE_PORTS)


def get(answer: Answer, *, seconds: float = 5.0, path: str = "/") -> Page:
    """What the client makes of an answer."""
    client = HttpClient(connector(hosts={"a.example.com": ADDRESS}), ssl.create_default_context(), SITE, agent="test")
    with server(answer) as port:
        url = public_url(f"http://a.example.com:{port}{path}", SITE)
        return client.get(url, limit_bytes=LIMIT, deadline=time.monotonic() + seconds)


def failure(answer: Answer, *, seconds: float = 5.0) -> str | None:
    """The reason for which there is no page."""
    began = time.monotonic()
    with pytest.raises(UpstreamFailed) as failed:
        get(answer, seconds=seconds)
    assert time.monotonic() - began < seconds + SLACK_S
    return failed.value.reason


def test_what_surrounds_a_body_is_bounded_too() -> None:
    """Chunks of one byte are a body; a thousand bytes of extension around each of them are none."""
    first = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    whole = first + b"1\r\nx\r\n" * 40_000 + b"0\r\n\r\n"
    assert get(saying(whole), seconds=20).body == b"x" * 40_000
    assert failure(repeating(first, b"1;" + b"e" * 1_000 + b"\r\nx\r\n"), seconds=30) == "too_large"


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
