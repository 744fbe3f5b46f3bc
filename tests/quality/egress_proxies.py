"""The list of bad inputs (tests/workers/egress/test_bad_inputs.py), called directly and through a real proxy of each kind.

A number of the list is handled when each of its cases ends as the list says, as it does directly, and no canary is called. The
browser's numbers are the hostile pages (hostile_pages.py), which `scripts/quality --hostile-pages` renders.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from compose.sandbox.child import claim_port
from jobs.hosts import NotPublic, public_host, public_url
from shared.endpoint import InvalidField
from shared.outcome import BlockedAddress
from tests.quality.scorer import Measure
from tests.workers.egress import test_bad_inputs as listed
from tests.workers.egress.hostile import Calls, Canary, connector, saying
from tests.workers.egress.name_server import NameServer
from tests.workers.egress.proxy_server import PLACE, Scheme, real_proxy
from tests.workers.servers import ADDRESS, server
from workers.egress.exits import Exits

_SERVED = saying(b"HTTP/1.1 200 OK\r\n\r\nserved")
_LINKS = ("http://10.0.0.1/", "//localhost/", "http://metadata.google.internal/", "http://[::1]/x", "http://x.local/")
_SCHEMAS = ("http://127.0.0.1:8080/schema.json", "file:///etc/hostname")


class _Case(NamedTuple):
    """One case of a number, and whether it ended as the list says; `said`: how it ended."""

    number: int
    said: str
    is_right: bool


class _Run(NamedTuple):
    """All cases by one exit, and the addresses that the proxy was given; `judged`: those that it may be given."""

    cases: list[_Case]
    given: list[tuple[str, int]]
    judged: set[tuple[str, int]]


def measures(held_out: bool) -> Iterator[Measure]:
    """By the numbers of the list. None is set aside."""
    if held_out:
        return
    direct = _run(None)
    yield Measure("bad inputs, directly", *_handled(direct, direct))
    schemes: tuple[Scheme, ...] = ("http", "socks5")
    for scheme in schemes:
        through = _run(scheme)
        yield Measure(f"bad inputs, {scheme} proxy", *_handled(through, direct))
        given = [place in through.judged for place in through.given]
        yield Measure(f"addresses given to the {scheme} proxy are judged", len(given), sum(given))


def _handled(run: _Run, direct: _Run) -> tuple[int, int]:
    numbers = {case.number for case in run.cases}
    pairs = zip(run.cases, direct.cases, strict=True)
    wrong = {case.number for case, other in pairs if not case.is_right or case.said != other.said}
    return len(numbers), len(numbers - wrong)


def _run(scheme: Scheme | None) -> _Run:
    port = claim_port(0, (ADDRESS, *listed.FORBIDDEN))
    with real_proxy() as proxy:
        exits = Exits("net", proxy.always(scheme)) if scheme else Exits()
        cases = [
            _watched(exits, port, number, attempt)
            for number, attempt in (*_static(port), *_names(port), *_http(port), *_links())
        ]
        return _Run(cases, list(proxy.asked), {(ADDRESS, port), (ADDRESS, 80)})


_Attempt = Callable[[NameServer, Exits], tuple[str, bool]]
"""How an input ends, and whether the list says so."""


def _watched(exits: Exits, port: int, number: int, attempt: _Attempt) -> _Case:
    """With canaries on this machine's addresses, and a look at whom this process calls."""
    with Canary(*((address, port) for address in listed.FORBIDDEN)) as canary, NameServer() as names, Calls() as calls:
        names.addresses("a.example.com", ADDRESS)
        said, is_right = attempt(names, exits)
        allowed = {names.server, *([(ADDRESS, port), (ADDRESS, 80)] if exits.has_direct else [])}
        strangers = {call for call in calls if call[0] != PLACE} - allowed
        asked = {question.name for question in names.questions if not question.name.endswith(".example.com")}
        return _Case(number, said, is_right and not canary.calls and not strangers and not asked)


def _static(port: int) -> Iterator[tuple[int, _Attempt]]:
    """What is refused for what it is; what is not goes the whole way."""
    for row in listed.STATIC:

        def attempt(names: NameServer, exits: Exits, row: listed.Static = row) -> tuple[str, bool]:
            url = row.text if row.number > 80 else f"http://{row.text}/"
            is_right = listed.code(public_url, url) == row.url and listed.code(public_host, row.text) == row.host
            with server(_SERVED, port=port), contextlib.suppress(NotPublic):
                text = row.text if "://" in row.text else f"http://{row.text}:{port}/"
                return listed.result(names, exits, port, text), is_right
            return "refused", is_right

        yield row.number, attempt


def _names(port: int) -> Iterator[tuple[int, _Attempt]]:
    """Names that lie."""
    for number, script, expected in listed.NAMES:

        def attempt(
            names: NameServer,
            exits: Exits,
            script: Callable[[NameServer], None] = script,
            expected: str = expected,
        ) -> tuple[str, bool]:
            script(names)
            with server(_SERVED, port=port):
                said = listed.result(names, exits, port, f"http://b.example.com:{port}/")
            return said, said == expected

        yield number, attempt


def _http(port: int) -> Iterator[tuple[int, _Attempt]]:
    """Servers that lie."""
    for number, answer, expected in listed.HTTP:

        def attempt(
            names: NameServer, exits: Exits, answer: listed.Served = answer, expected: str = expected
        ) -> tuple[str, bool]:
            names.addresses("b.example.com", "127.0.0.1")
            seconds = 1.0 if expected == "timeout" else 5.0
            with server(answer(port), port=port):
                said = listed.result(names, exits, port, f"http://a.example.com:{port}/", seconds=seconds)
            said = said.replace(f":{port}", ":PORT")
            return said, said == expected

        yield number, attempt


def _links() -> Iterator[tuple[int, _Attempt]]:
    """What WHOIS servers, schemas and catalogues name."""

    def referral(names: NameServer, exits: Exits) -> tuple[str, bool]:
        names.addresses("whois.example.com", "127.0.0.1")
        try:
            connector(server=names.server, exits=exits).connect("whois.example.com", 43, deadline=time.monotonic() + 5)
        except BlockedAddress:
            return listed.BLOCKED, True
        return "connected", False

    yield 131, referral
    for place in _SCHEMAS:

        def schema(_: NameServer, __: Exits, place: str = place) -> tuple[str, bool]:
            try:
                listed.schema_check.compile_schema({"$ref": place})
            except InvalidField as refused:
                return refused.code, refused.code == "remote_ref_not_allowed"
            return "compiled", False

        yield 132, schema
    base = public_url("http://a.example.com:8080/catalogue", listed.SITE)
    for link in _LINKS:

        def followed(_: NameServer, __: Exits, link: str = link) -> tuple[str, bool]:
            try:
                public_url(link, listed.SITE, base=base)
            except NotPublic as refused:
                return refused.code, refused.code == listed.BLOCKED
            return "taken", False

        yield 134, followed
