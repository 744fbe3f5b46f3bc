"""A list of 134 bad inputs, by number, and what becomes of each: a refusal with the right code, or a clear result.

Whatever it is, nobody is called: canaries listen on this machine's own addresses, and the name server keeps a log. What needs
the network is tried directly and through a real proxy, which is given judged addresses and never a name. The list is made of
what parsers, resolvers and gateways are known to disagree about; its numbers are only names.
"""

import contextlib
import gzip
import json
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from compose.sandbox.child import claim_port
from jobs.engines.json_schema import check as schema_check
from jobs.hosts import NotPublic, domain_name, public_host, public_url
from jobs.site import Site
from shared.endpoint import InvalidField
from shared.outcome import BlockedAddress, UpstreamFailed
from tests.each import each
from tests.time_limits import SLACK_S
from tests.workers.egress.hostile import Calls, Canary, connector, repeating, saying
from tests.workers.egress.name_server import NameServer, failing, records, silence
from tests.workers.egress.proxy_server import PLACE, real_proxy
from tests.workers.servers import ADDRESS, Answer, server
from workers.egress.exits import Exits
from workers.egress.http import HttpClient

BLOCKED, NO_URL, NO_HOST, NEVER = "blocked_address", "invalid_url", "invalid_domain", "-"
PUBLIC = "93.184.215.14"
FORBIDDEN = ("127.0.0.1", "127.0.0.2", "127.77.40.3", "::1")
TRUST = ssl.create_default_context()

ELSEWHERE = {
    **dict.fromkeys(range(122, 131), "a browser's: it has no network but the proxy, test_proxy.py"),
    133: "the XML parser's: it opens nothing, whatever a document says",
}
"""Numbers that nothing here can be fed with."""


class Static(NamedTuple):
    """An input that is refused for what it is.

    Attributes:
        url: with which code, as `http://{text}/` or, if it has a scheme, as it is. NEVER: it is a name, which the DNS judges.
        host: with which code as a host, where that is something else than a URL.
    """

    number: int
    text: str
    url: str = BLOCKED
    host: str | None = BLOCKED


STATIC = [
    *(Static(*json.loads(line)) for line in Path(__file__).with_name("bad_inputs.jsonl").read_text().splitlines()),
    Static(96, "http://127.0.0.1/" + "a" * 2_000_000, url=NO_URL, host=NO_HOST),
    Static(96, "http://" + "a." * 1_000_000 + "com/", url=NO_URL, host=NO_HOST),
]


SITE = Site(own={"api.own.example.com"})


def code(parse: Callable[[str, Site], object], text: str) -> str:
    """Of the refusal."""
    try:
        parse(text, SITE)
    except NotPublic as refused:
        return refused.code
    return NEVER


@each("row", STATIC)
def test_what_is_refused_for_what_it_is(row: Static, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the payment, in the API: without a question to anybody."""
    for name in ("socket", "getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, lambda *_: pytest.fail("nobody is asked"))
    url = row.text if row.number > 80 else f"http://{row.text}/"
    began = time.process_time()
    assert code(public_url, url) == row.url
    assert code(public_host, row.text) == row.host
    assert time.process_time() - began < 0.5


@each("row", [row for row in STATIC if row.number <= 80])
def test_addresses_and_special_names_are_not_asked_for(row: Static) -> None:
    """Where a name is for the DNS alone. Names of one label are asked for: they are the top-level domains."""
    allowed = {"redis", "instance-data", "api.own.example.com"}
    assert code(domain_name, row.text) == (NEVER if row.text in allowed else NO_HOST)


def test_an_authority_that_looks_like_an_address_is_the_name_it_is() -> None:
    """Numbers 13 and 85: read once, as a browser reads it, and only what was read is used."""
    assert public_url("http://127.0.0.1%2eexample.com/", SITE).host == "127.0.0.1.example.com"
    assert str(public_url("http://a.example.com#@127.0.0.1", SITE)) == "http://a.example.com/"


@pytest.fixture
def port() -> int:
    """Free on every address that the tests name."""
    return claim_port(0, (ADDRESS, *FORBIDDEN))


@pytest.fixture
def canary(port: int) -> Iterator[Canary]:
    """On the port that is called, of addresses that are not to be called."""
    with Canary(*((address, port) for address in FORBIDDEN)) as listening:
        yield listening
        assert listening.calls == 0


@pytest.fixture(params=["directly", "http", "socks5"])
def exits(request: pytest.FixtureRequest, port: int) -> Iterator[Exits]:
    """By which connections leave: a real proxy is given judged addresses and nothing else."""
    with real_proxy() as proxy:
        yield Exits() if request.param == "directly" else Exits("net", proxy.always(request.param))
        assert set(proxy.asked) <= {(ADDRESS, port), (ADDRESS, 80)}


@pytest.fixture
def names(port: int, exits: Exits) -> Iterator[NameServer]:
    """It knows a public host, which is the server, and is asked for nothing but public names; and nobody else is called."""
    with NameServer() as running, Calls() as calls:
        running.addresses("a.example.com", ADDRESS)
        yield running
        called = {call for call in calls if call[0] != PLACE}
        assert called <= {running.server, *([(ADDRESS, port), (ADDRESS, 80)] if exits.has_direct else [])}
        asked = {question.name for question in running.questions}
        assert all(name.endswith(".example.com") for name in asked)


def result(names: NameServer, exits: Exits, port: int, url: str, seconds: float = 3.0) -> str:
    """A page's body, or why there is none."""
    site = replace(SITE, ports={port})
    client = HttpClient(connector(server=names.server, exits=exits), TRUST, site, agent="test")
    began = time.monotonic()
    try:
        page = client.get(public_url(url, site), limit_bytes=100_000, deadline=began + seconds)
        said = page.body.decode()
    except BlockedAddress:
        said = BLOCKED
    except UpstreamFailed as failed:
        said = str(failed.reason)
    assert time.monotonic() - began < seconds + SLACK_S
    return said


def internal(names: NameServer) -> None:
    """72."""
    names.script(
        "b.example.com", "A", records("b.example.com. 0 IN CNAME db.internal.", "db.internal. 0 IN A 127.0.0.1")
    )


def rebinding(names: NameServer) -> None:
    """73: by the time of the second question it is another."""
    names.script(
        "b.example.com", "A", records(f"b.example.com. 0 IN A {ADDRESS}"), records("b.example.com. 0 IN A 127.0.0.1")
    )


def circle(names: NameServer) -> None:
    """76."""
    lines = ("b.example.com. 0 IN CNAME c.example.com.", "c.example.com. 0 IN CNAME b.example.com.")
    names.script("b.example.com", "A", records(*lines))
    names.script("b.example.com", "AAAA", records(*lines))


def thousand(names: NameServer) -> None:
    """75."""
    names.script(
        "b.example.com", "A", records(*(f"b.example.com. 0 IN A 93.184.{n >> 8}.{n & 255}" for n in range(1000)))
    )


def each(step: object) -> Callable[[NameServer], None]:
    """77: for both types."""

    def script(names: NameServer) -> None:
        for record_type in ("A", "AAAA"):
            names.script("b.example.com", record_type, step)  # type: ignore[arg-type]

    return script


def addresses(*of_it: str) -> Callable[[NameServer], None]:
    """A host's."""
    return lambda names: names.addresses("b.example.com", *of_it, ttl=0)


NAMES: list[tuple[int, Callable[[NameServer], None], str]] = [
    (69, addresses("127.0.0.1"), BLOCKED),
    (69, addresses("127.77.40.3"), BLOCKED),
    (70, addresses(PUBLIC, "127.0.0.1"), BLOCKED),
    (70, addresses(ADDRESS, "127.0.0.2"), BLOCKED),
    (71, addresses(ADDRESS, "::1"), BLOCKED),
    (72, internal, BLOCKED),
    (73, rebinding, "served"),
    (74, rebinding, "served"),
    (75, thousand, "dns_failure"),
    (76, circle, "dns_failure"),
    (77, each(failing("SERVFAIL")), "dns_failure"),
    (77, each(silence), "timeout"),
]


@pytest.mark.parametrize(
    ("number", "script", "expected"), NAMES, ids=lambda value: str(value) if isinstance(value, int) else ""
)
def test_names_that_lie(
    names: NameServer,
    exits: Exits,
    canary: Canary,
    port: int,
    number: int,
    script: Callable[[NameServer], None],
    expected: str,
) -> None:
    """A clear result; the connection goes to what was checked, or to nobody."""
    script(names)
    with server(saying(b"HTTP/1.1 200 OK\r\n\r\nserved"), port=port):
        assert result(names, exits, port, f"http://b.example.com:{port}/") == expected
        if number in {73, 74}:
            assert names.asked("b.example.com").count("A") == 1
            assert result(names, exits, port, f"http://b.example.com:{port}/") == BLOCKED


Served = Callable[[int], Answer]
"""By a server on this port."""


def raw(response: bytes) -> Served:
    """These bytes."""
    return lambda port: saying(response.replace(b":PORT", b":%d" % port))


def endless(first: bytes, then: bytes, pause_s: float = 0.0) -> Served:
    """Bytes without end."""
    return lambda port: repeating(first, then, pause_s=pause_s)


def to(location: str) -> Served:
    """A redirect."""
    return raw(f"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: {location}\r\n\r\n".encode())


def page(body: str, headers: str = "") -> Served:
    """200."""
    return raw(f"HTTP/1.1 200 OK\r\n{headers}\r\n{body}".encode())


def bomb(coding: str, body: bytes) -> Served:
    """Much, packed."""
    return raw(f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n".encode() + body)


META = '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:PORT/"><script>location="http://127.0.0.1:PORT/"</script>'
ZEROS = bytes(10_000_000)
HTTP: list[tuple[int, Callable[[int], Answer], str]] = [
    (109, to("http://127.0.0.1:PORT/"), BLOCKED),
    (109, to("http://b.example.com:PORT/"), BLOCKED),
    (110, to("http://169.254.169.254/latest/meta-data/"), BLOCKED),
    (111, to("file:///etc/hostname"), "bad_content"),
    (112, page(META), META),
    (113, to("/"), "bad_content"),
    (113, to("http://a.example.com:PORT/again"), "bad_content"),
    (114, to("//redis:PORT/"), BLOCKED),
    (114, to("//127.1:PORT/"), BLOCKED),
    (115, to("/" + "a" * 100_000), "too_large"),
    (
        116,
        page("ok", "Link: <http://127.0.0.1:PORT/>; rel=preload\r\nRefresh: 0; url=http://127.0.0.1:PORT/\r\n"),
        "ok",
    ),
    (117, bomb("gzip", gzip.compress(ZEROS)), "too_large"),
    (117, bomb("deflate", zlib.compress(ZEROS)), "too_large"),
    (117, bomb("gzip,gzip", gzip.compress(gzip.compress(ZEROS))), "bad_content"),
    (117, bomb("br", b"\x0b\x02\x80abc\x03"), "bad_content"),
    (117, bomb("zstd", b"\x28\xb5\x2f\xfd\x04\x00"), "bad_content"),
    (118, endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.2), "timeout"),
    (119, endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 50), "too_large"),
    (120, raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), "bad_content"),
    (120, raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlongerthanthat"), "longe"),
    (120, raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"), "bad_content"),
    (121, raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), "bad_content"),
    (121, raw(b"HTTP/1.1 103 Early Hints\r\nLink: <http://127.0.0.1:PORT/>\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok"), "ok"),
    (134, to("http://catalogue.internal/next"), BLOCKED),
]


@pytest.mark.parametrize(
    ("number", "answer", "expected"), HTTP, ids=lambda value: str(value) if isinstance(value, int) else ""
)
def test_servers_that_lie(
    names: NameServer, exits: Exits, canary: Canary, port: int, number: int, answer: Served, expected: str
) -> None:
    """A clear result within the deadline; what a page or a header names is called by nobody."""
    names.addresses("b.example.com", "127.0.0.1")
    with server(answer(port), port=port):
        said = result(
            names, exits, port, f"http://a.example.com:{port}/", seconds=1.0 if expected == "timeout" else 5.0
        )
    assert said == expected.replace(":PORT", f":{port}")


def test_a_referral_to_this_machine(names: NameServer, exits: Exits, canary: Canary) -> None:
    """131: a WHOIS server may name any host as the one that knows more. An address is refused, and a name that leads to one."""
    assert code(public_host, "127.0.0.1") == BLOCKED
    names.addresses("whois.example.com", "127.0.0.1")
    with pytest.raises(BlockedAddress):
        connector(server=names.server, exits=exits).connect("whois.example.com", 43, deadline=time.monotonic() + 5)


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"$ref": "http://127.0.0.1:8080/schema.json"}, "remote_ref_not_allowed"),
        ({"$ref": "file:///etc/hostname"}, "remote_ref_not_allowed"),
        ({"$schema": "http://127.0.0.1/draft"}, "unknown_dialect"),
        ({"$id": "http://127.0.0.1:8080/", "properties": {"a": {"$ref": "other.json"}}}, "remote_ref_not_allowed"),
    ],
)
def test_a_schema_that_refers_to_this_machine(
    names: NameServer, canary: Canary, schema: dict[str, object], code: str
) -> None:
    """132: nothing is fetched."""
    with pytest.raises(InvalidField) as refused:
        schema_check.compile_schema(schema)
    assert refused.value.code == code


def test_every_link_of_a_page_is_judged_as_a_url_of_a_callers(names: NameServer, canary: Canary) -> None:
    """134: catalogues name the next ones."""
    base = public_url("http://a.example.com:8080/catalogue", SITE)
    for link in (
        "http://10.0.0.1/",
        "//localhost/",
        "http://metadata.google.internal/",
        "http://[::1]/x",
        "http://x.local/",
    ):
        with pytest.raises(NotPublic) as refused:
            public_url(link, SITE, base=base)
        assert refused.value.code == BLOCKED


def test_nobody_is_called_for_what_is_refused_unpaid(
    names: NameServer, exits: Exits, canary: Canary, port: int
) -> None:
    """Even if the whole way were gone with it: what a URL is read as leads to the server, or nowhere."""
    with server(saying(b"HTTP/1.1 200 OK\r\n\r\nserved"), port=port):
        for row in STATIC:
            with contextlib.suppress(NotPublic):
                text = row.text if "://" in row.text else f"http://{row.text}:{port}/"
                assert result(names, exits, port, text) in {"served", "dns_failure", "connection_refused", "too_large"}


def test_every_number_has_its_row() -> None:
    """From 1 to 134: here, or with the reason why not."""
    here = (
        {row.number for row in STATIC}
        | {number for number, *_ in NAMES}
        | {number for number, *_ in HTTP}
        | {131, 132, 134}
    )
    assert here.isdisjoint(ELSEWHERE)
    assert here | set(ELSEWHERE) == set(range(1, 135))
