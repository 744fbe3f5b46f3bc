"""rss as a worker runs it: real servers, the guarded client, real children, and a listener that nobody may reach."""

import gzip
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from compose.sandbox.upstreams.authority import Authority
from jobs.ports import Context
from jobs.rss import endpoint as rss
from shared.outcome import Failed, Ok, Outcome
from shared.settings.service import Settings
from tests.each import each
from tests.sites import FREE_PORTS
from tests.workers.egress.raw_server import Server, response, serving
from tests.workers.memory import growth_below
from tests.workers.servers import ADDRESS
from workers.children import ChildPool
from workers.execute import execute
from workers.ports import WorkerPorts

FEED = b'<rss version="2.0"><channel><title>t</title><item><link>/x</link></item></channel></rss>'
HOST = "feeds.example.com"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def ports(net_children: ChildPool, authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> WorkerPorts:
    settings = Settings(
        hosts=f"{HOST}={ADDRESS},inside.example.com=127.0.0.1",
        egress_allow=f"{ADDRESS}/32",
        ca_file=str(authority.write_root(tmp_path_factory.mktemp("trust") / "ca.pem")),
    )
    made = WorkerPorts(settings, net_children)
    made.site = replace(made.site, ports=FREE_PORTS)
    return made


@pytest.fixture
def canary() -> Iterator[Server]:
    """It listens where only this machine may."""
    with serving(response(FEED), address="127.0.0.1") as server:
        yield server
        assert server.connections == 0


def outcome(ports: WorkerPorts, url: str, **more: Any) -> Outcome:
    body = msgspec.json.encode({"url": url} | more)
    return execute(rss.ENDPOINT, body, Context(payer="0x0", ports=ports))


def called(ports: WorkerPorts, *answers: Any) -> Outcome:
    with serving(*answers) as server:
        return outcome(ports, f"http://{HOST}:{server.port}/f/feed.xml")


def answer(result: Outcome) -> dict[str, Any]:
    assert isinstance(result, Ok), result
    decoded: dict[str, Any] = msgspec.json.decode(result.body)
    return decoded


def failure(result: Outcome) -> tuple[str, str | None]:
    assert isinstance(result, Failed), result
    return result.code, result.reason


def test_a_feed(ports: WorkerPorts) -> None:
    """Fetched, and read in a child."""
    with serving(response(FEED, "Content-Type: text/plain")) as server:
        told = answer(outcome(ports, f"http://{HOST}:{server.port}/f/feed.xml"))
    assert (told["feed"]["title"], told["items"][0]["link"]) == ("t", f"http://{HOST}:{server.port}/x")


def test_a_feed_over_tls_that_has_moved(ports: WorkerPorts, authority: Authority) -> None:
    """Links are relative to where it is now."""
    with serving(
        response(b"", "Location: /new/feed", status="301 x"),
        response(gzip.compress(FEED), "Content-Encoding: gzip"),
        trust=authority.identity(HOST).server_context(),
    ) as server:
        told = answer(outcome(ports, f"https://{HOST}:{server.port}/"))
    assert told["finalUrl"] == f"https://{HOST}:{server.port}/new/feed"
    assert told["url"] == f"https://{HOST}:{server.port}/"


PASSING = (response(b""), response(FEED, "Content-Encoding: br"), b"SSH-2.0-x\r\n")


@each(
    ("raw", "expected"),
    [
        (response(b"gone", status="410 Gone"), "http_status"),
        (response(FEED, status="500 x"), "http_status"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", "http_status"),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", "http_status"),
        (response(b"", "Location: /f/feed.xml", status="302 x"), "bad_content"),
        (response(b"<!doctype html><title>x</title>"), "not_a_feed"),
        (response(b""), "not_a_feed"),
        (response(b"x" * 2_000_001), "too_large"),
        (response(gzip.compress(b"x" * 2_000_001), "Content-Encoding: gzip"), "too_large"),
        (response(FEED, "Content-Encoding: br"), "bad_content"),
        (response(FEED, *["X: y"] * 200), "too_large"),
        (b"SSH-2.0-x\r\n", "bad_content"),
        (b"", "connection_refused"),
    ],
    ids=[
        *("410", "a feed with 500", "204", "304", "loop", "HTML", "empty", "large", "bomb", "br", "headers", "SSH"),
        "closed",
    ],
)
def test_failures_have_documented_reasons(ports: WorkerPorts, raw: bytes, expected: str) -> None:
    """502. What the server says of the document is final; where the server itself fails, the same payment may try again."""
    result = called(ports, raw)
    assert failure(result) == ("upstream_failed", expected)
    assert isinstance(result, Failed)
    is_passing = raw[9:12] in (b"500", b"204", b"304") or expected == "connection_refused" or raw in PASSING
    assert result.retryable == is_passing
    assert expected in rss.ENDPOINT.failures


@pytest.mark.parametrize("location", ["http://127.0.0.1:{}/", "http://[::1]:{}/", "http://inside.example.com:{}/"])
def test_a_redirect_to_the_inside(ports: WorkerPorts, canary: Server, location: str) -> None:
    """400, charged: the caller named a host that leads there."""
    moved = response(b"", "Location: " + location.format(canary.port), status="302 x")
    assert failure(called(ports, moved)) == ("blocked_address", None)


def test_a_name_that_leads_to_the_inside(ports: WorkerPorts, canary: Server) -> None:
    """At once."""
    assert failure(outcome(ports, f"http://inside.example.com:{canary.port}/")) == ("blocked_address", None)


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE r [<!ENTITY x SYSTEM "{0}"><!ENTITY % p SYSTEM "{0}p"> %p;]>'
        "<rss><channel><title>a&x;b</title></channel></rss>",
        '<!DOCTYPE rss SYSTEM "{0}x.dtd"><rss><channel><title>ab</title></channel></rss>',
        '<?xml-stylesheet href="{0}"?><rss xmlns:xi="http://www.w3.org/2001/XInclude"><channel><title>ab</title>'
        '<xi:include href="{0}"/><description><xi:include href="{0}"/></description></channel></rss>',
        '<rss xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{0} {0}"><channel><title>ab</title>'
        '<image><url>{0}</url></image><atom:link rel="self" href="{0}"/><link>{0}</link></channel></rss>',
    ],
    ids=["entities", "doctype", "xinclude", "links"],
)
def test_a_feed_makes_nobody_connect(ports: WorkerPorts, canary: Server, body: str) -> None:
    """What it names is not looked at."""
    feed = body.replace("{0}", f"http://127.0.0.1:{canary.port}/")
    assert answer(called(ports, response(feed.encode())))["feed"]["title"] == "ab"


def test_what_takes_too_long_to_read_is_ended(ports: WorkerPorts, monkeypatch: pytest.MonkeyPatch) -> None:
    """The child is killed, and the next call has another."""
    monkeypatch.setattr(rss, "READ_S", 0.001)
    heavy = b"<rss><channel><item><title>" + b"<i/>" * 490_000
    assert failure(called(ports, response(heavy))) == ("upstream_failed", "bad_content")
    monkeypatch.undo()
    assert answer(called(ports, response(FEED)))["ok"] is True


def test_the_worker_stays_small(ports: WorkerPorts) -> None:
    """The worst that 2 MB can be, one after the other: what they take is taken in the child."""
    answer(called(ports, response(FEED)))
    bombs: list[Callable[[], bytes]] = [
        lambda: response(gzip.compress(bytes(100_000_000)), "Content-Encoding: gzip"),
        lambda: response(b"<rss><channel><title>" + b"&" * 1_999_000),
        lambda: response(b"<rss><channel>" + b"<a/>" * 490_000),
        lambda: response(b"<rss><channel>" + b"<item><title>x</title></item>" * 60_000),
    ]
    answers = [bomb() for bomb in bombs]
    with growth_below(100):
        for raw in answers:
            called(ports, raw)
