"""The endpoint: what a request may be, and what comes back. The servers are real in tests/workers/test_tls.py."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from compose.sandbox.upstreams.authority import Authority, Identity, self_signed
from jobs import calculations, hosts
from jobs.ports import Context, Handshake
from jobs.site import Site
from jobs.ssl_info.endpoint import ENDPOINT, Request, run
from shared.endpoint import InvalidField
from shared.outcome import UpstreamFailed
from tests.each import each
from tests.jobs import certificates as made
from tests.sites import decoded

HOST = "www.example.com"
NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)
ROOT = Authority()
SITE = Site(own={"shop.example.com"}, ports={12345}, names={"box.internal"})
"""With an operator's port and name."""


class Ports:
    """A server that shows a chain, at a time; calculations are done here and now."""

    def __init__(self, chain: Identity | list[bytes], now: datetime = NOW, authorities: bytes = b"") -> None:
        self.chain = made.chain(chain) if isinstance(chain, Identity) else chain
        self.time = now
        self.site = SITE
        self.pem = authorities or ROOT.root.public_bytes(serialization.Encoding.PEM)
        self.tls = self.calculations = self.clock = self
        self.asked: list[tuple[str, int]] = []

    def handshake(self, host: str, port: int, *, deadline: float) -> Handshake:
        self.asked.append((host, port))
        return Handshake("198.51.100.7", "TLSv1.3", "TLS_AES_256_GCM_SHA384", 256, tuple(self.chain))

    def authorities(self) -> bytes:
        return self.pem

    def run(self, name: str, argument: bytes, *, limit_s: float, deadline: float | None = None) -> bytes:
        return calculations.CALCULATIONS[name].calculate(argument)

    def now(self) -> datetime:
        return self.time


def _request(body: Any) -> Request:
    return decoded(Request, body, SITE)


def _refusal(body: Any) -> tuple[str, str]:
    with pytest.raises(InvalidField) as caught:
        _request(body)
    return caught.value.field, caught.value.code


def answer(ports: Ports, **request: Any) -> dict[str, Any]:
    response = run(_request({"hostname": HOST, **request}), Context(payer="0x0", ports=ports))
    found: dict[str, Any] = json.loads(msgspec.json.encode(response))
    return found


def test_a_good_certificate() -> None:
    """Every field, in its order."""
    identity = ROOT.identity(HOST, not_before=NOW - DAY, not_after=NOW + 10 * DAY)
    certificate = identity.certificate
    name = {
        **dict.fromkeys(["commonName", "organization", "organizationalUnit", "locality", "stateOrProvince", "country"]),
        "organization": "Coinslot Sandbox",
    }
    subject = name | {"commonName": HOST, "distinguishedName": f"CN={HOST},O=Coinslot Sandbox"}
    issuer = name | {
        "commonName": "Coinslot Sandbox Root",
        "distinguishedName": "CN=Coinslot Sandbox Root,O=Coinslot Sandbox",
    }
    valid_to = (NOW + 10 * DAY).strftime("%Y-%m-%dT%H:%M:%SZ")
    fingerprint = certificate.fingerprint(certificate.signature_hash_algorithm).hex()  # type: ignore[arg-type]
    found = answer(Ports(identity))
    assert list(found) == list(ENDPOINT.example.response)
    assert isinstance(found.pop("elapsedMs"), int)
    assert found == {
        "ok": True,
        "hostname": HOST,
        "port": 443,
        "valid": True,
        "expired": False,
        "notYetValid": False,
        "selfSigned": False,
        "hostnameMatch": True,
        "trusted": True,
        "daysUntilExpiry": 10,
        "verifyError": None,
        "subject": subject,
        "issuer": issuer,
        "validFrom": (NOW - DAY).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "validTo": valid_to,
        "subjectAltNames": [HOST],
        "subjectAltNameCount": 1,
        "fingerprintSha256": fingerprint,
        "serialNumber": f"{certificate.serial_number:x}",
        "signatureAlgorithm": "ecdsa-with-SHA256",
        "keyType": "EC",
        "keyBits": 256,
        "protocol": "TLSv1.3",
        "cipher": {"name": "TLS_AES_256_GCM_SHA384", "bits": 256},
        "chain": [{"subject": subject, "issuer": issuer, "validTo": valid_to, "fingerprintSha256": fingerprint}],
        "chainLength": 1,
        "lint": [],
        "ipAddress": "198.51.100.7",
    }


SECOND = timedelta(seconds=1)


@each(
    ("passed", "expired", "not_yet", "days"),
    [
        (-DAY - SECOND, False, True, 4),
        (-DAY, False, False, 4),
        (timedelta(0), False, False, 3),
        (3 * DAY, False, False, 0),
        (3 * DAY + timedelta(milliseconds=999), False, False, 0),
        (3 * DAY + SECOND, True, False, -1),
        (4 * DAY, True, False, -1),
        (4 * DAY + SECOND, True, False, -2),
    ],
)
def test_dates(passed: timedelta, expired: bool, not_yet: bool, days: int) -> None:
    """To the second, the last one included (RFC 5280, 4.1.2.5); days are rounded down, below zero too."""
    identity = ROOT.identity(HOST, not_before=NOW - DAY, not_after=NOW + 3 * DAY)
    found = answer(Ports(identity, NOW + passed))
    assert (found["expired"], found["notYetValid"], found["daysUntilExpiry"]) == (expired, not_yet, days)
    assert found["trusted"] is True
    assert found["valid"] is (not expired and not not_yet)
    assert found["verifyError"] == ("expired" if expired else "not_yet_valid" if not_yet else None)


def test_statements_are_independent_and_the_first_reason_is_given() -> None:
    """Trust, dates and name, each by itself; the reason is of trust, then of dates, then of the name."""
    past = {"not_before": NOW - 9 * DAY, "not_after": NOW - DAY}
    for identity, trusted, expired, match, reason in [
        (ROOT.identity(HOST), True, False, True, None),
        (ROOT.identity("other.example.com"), True, False, False, "hostname_mismatch"),
        (ROOT.identity(HOST, **past), True, True, True, "expired"),
        (ROOT.identity("other.example.com", **past), True, True, False, "expired"),
        (self_signed(HOST), False, False, True, "self_signed"),
        (self_signed("other.example.com", **past), False, True, False, "self_signed"),
        (Authority("Stranger").identity(HOST, **past), False, True, True, "incomplete_chain"),
    ]:
        found = answer(Ports(identity))
        assert (found["trusted"], found["expired"], found["hostnameMatch"]) == (trusted, expired, match)
        assert (found["verifyError"], found["valid"]) == (reason, reason is None)
        assert found["selfSigned"] is (reason == "self_signed")


def test_names_of_every_kind() -> None:
    """A wildcard matches one label, an IDN its A-label; an address and a common name match nothing."""
    wildcard = Ports(ROOT.identity("*.example.com", "xn--bcher-kva.example"))
    assert answer(wildcard)["hostnameMatch"]
    assert answer(wildcard, hostname="BÜCHER.example.com.")["hostname"] == "xn--bcher-kva.example.com"
    assert answer(wildcard, hostname="BÜCHER.example.com.")["hostnameMatch"]
    assert not answer(wildcard, hostname="a.b.example.com")["hostnameMatch"]
    assert not answer(wildcard, hostname="example.com")["hostnameMatch"]
    key = ec.generate_private_key(ec.SECP256R1())
    nameless = made.altered(self_signed(HOST, key=key), key, {made.EXTENSIONS: made.extensions()})
    found = answer(Ports([nameless]))
    assert (found["hostnameMatch"], found["subjectAltNames"], found["subject"]["commonName"]) == (False, [], HOST)


def test_a_certificate_of_ten_thousand_names() -> None:
    """200 are shown, all are counted, and the last one counts as much as the first."""
    names = [f"host-{number}.example.com" for number in range(10_000)]
    found = answer(Ports(ROOT.identity(*names, HOST)))
    assert (len(found["subjectAltNames"]), found["subjectAltNameCount"]) == (200, 10_001)
    assert found["valid"]


def test_a_long_chain() -> None:
    """20 are shown, all are counted, as they were sent; what cannot be read is there with its fingerprint."""
    identity = ROOT.identity(HOST)
    chain = [*made.chain(identity), b"nonsense", *[made.der(self_signed(f"s{n}.example.com")) for n in range(60)]]
    found = answer(Ports(chain))
    assert (len(found["chain"]), found["chainLength"]) == (20, 62)
    fingerprint = hashlib.sha256(b"nonsense").hexdigest()
    assert found["chain"][1] == {**dict.fromkeys(["subject", "issuer", "validTo"]), "fingerprintSha256": fingerprint}
    assert (found["trusted"], found["verifyError"]) == (False, "malformed")


def test_a_certificate_without_readable_dates() -> None:
    """The dates are null, and it is not valid."""
    key = ec.generate_private_key(ec.SECP256R1())
    identity = self_signed(HOST, key=key)
    der = made.altered(identity, key, {made.VALIDITY: made.validity(b"2601010000Z", b"2701010000Z")})
    found = answer(Ports([der]))
    assert [found[field] for field in ("validFrom", "validTo", "daysUntilExpiry")] == [None, None, None]
    assert (found["expired"], found["notYetValid"], found["valid"]) == (False, False, False)


def test_what_is_no_certificate() -> None:
    """502: there is nothing to be said of it."""
    with pytest.raises(UpstreamFailed) as caught:
        answer(Ports([b"nonsense"]))
    assert caught.value.reason == "bad_content"
    assert caught.value.reason in ENDPOINT.failures


def test_what_is_asked_of_the_world() -> None:
    """The host in A-labels, whichever field it came in."""
    ports = Ports(ROOT.identity(HOST))
    answer(ports, port=8443)
    answer(ports, host="WWW.example.com.")
    run(_request({"host": "bücher.example.com"}), Context(payer="0x0", ports=ports))
    assert ports.asked == [(HOST, 8443), (HOST, 443), ("xn--bcher-kva.example.com", 443)]


@each(
    ("body", "field", "code"),
    [
        ({}, "hostname", "invalid_body"),
        ({"hostname": None}, "hostname", "invalid_body"),
        ({"hostname": HOST, "host": "other.example.com"}, "host", "invalid_body"),
        ({"hostname": HOST, "host": "127.0.0.1"}, "host", "blocked_address"),
        ({"hostname": "127.0.0.1"}, "hostname", "blocked_address"),
        ({"hostname": "::1"}, "hostname", "blocked_address"),
        ({"hostname": "2606:4700::1111"}, "hostname", "blocked_address"),
        ({"hostname": "localhost"}, "hostname", "blocked_address"),
        ({"hostname": "a.test"}, "hostname", "blocked_address"),
        ({"hostname": "shop.example.com"}, "hostname", "blocked_address"),
        ({"hostname": "example.com\r\nset x 0 0 1"}, "hostname", "invalid_domain"),
        ({"hostname": "example.com\0.net"}, "hostname", "invalid_domain"),
        ({"hostname": "example.com/path"}, "hostname", "invalid_domain"),
        ({"hostname": "-a.example.com"}, "hostname", "invalid_domain"),
        ({"hostname": "a..example.com"}, "hostname", "invalid_domain"),
        ({"hostname": HOST, "port": 22}, "port", "blocked_address"),
        ({"hostname": HOST, "port": 25}, "port", "blocked_address"),
        ({"hostname": HOST, "port": 6379}, "port", "blocked_address"),
    ],
)
def test_refused_before_the_payment(body: Any, field: str, code: str) -> None:
    """Whatever can be known without the server. More such hosts: tests/jobs/test_hosts.py."""
    assert _refusal(body) == (field, code)


@each(
    "body",
    [
        {"hostname": ""},
        {"hostname": 5},
        {"hostname": HOST, "port": 0},
        {"hostname": HOST, "port": 65536},
        {"hostname": HOST, "port": -1},
        {"hostname": HOST, "port": "443"},
        {"hostname": HOST, "port": 443.5},
        {"hostname": HOST, "port": None},
        {"hostname": "a" * 1013},
    ],
)
def test_wrong_types_and_bounds(body: Any) -> None:
    """Refused by the declaration."""
    with pytest.raises(msgspec.ValidationError):
        _request(body)


@each("port", [*sorted(hosts.TLS_PORTS), 1024, 8443, 9443, 10443, 54321, 65535])
def test_ports(port: int) -> None:
    """Those where TLS is spoken from the first byte, and those that anybody may choose for it."""
    assert _request({"hostname": HOST, "port": port}).port == port


def test_what_the_operator_adds() -> None:
    """A port of COINSLOT_EGRESS_PORTS, and a name of COINSLOT_HOSTS."""
    assert _request({"hostname": "box.internal", "port": 12345}).name(SITE) == "box.internal"


def test_both_names_of_the_host_may_be_given() -> None:
    """When they are the same host."""
    assert _request({"hostname": "Bücher.example.com", "host": "xn--bcher-kva.example.com."}).name(SITE) == (
        "xn--bcher-kva.example.com"
    )
