"""The endpoint: what may be asked, and how what the DNS says is written down."""

import json
import time
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.dns import endpoint as dns
from jobs.dns.endpoint import ENDPOINT, RECORD_TYPES, Request, run
from jobs.dns.records import answer
from jobs.ports import Context, DnsRecord, DnsResponse
from jobs.site import Site
from shared.endpoint import InvalidField
from tests.each import each
from tests.sites import PUBLIC, decoded

_NAMES = [
    *("ok", "domain", "recordType", "status", "exists", "answers", "truncated"),
    *("cnameChain", "authenticatedData", "minTtl", "ageSeconds", "elapsedMs"),
]


@dataclass
class Names:
    """jobs.ports.Dns, and the ports that it is in."""

    said: DnsResponse
    asked: list[tuple[str, str]] = field(default_factory=list)
    left_s: float = 0
    site: Site = PUBLIC

    def lookup(self, name: str, record_type: str, *, deadline: float) -> DnsResponse:
        self.asked.append((name, record_type))
        self.left_s = deadline - time.monotonic()
        return self.said

    @property
    def dns(self) -> "Names":
        return self


def said(*records: DnsRecord, rcode: str = "NOERROR", **more: Any) -> DnsResponse:
    given = {"aliases": (), "min_ttl": 60, "authenticated": False, "age_s": 0} | more
    return DnsResponse(rcode=rcode, records=records, **given)


def record(*fields: int | str | bytes, ttl: int = 60) -> DnsRecord:
    return DnsRecord("example.com", ttl, fields)


def ask(body: dict[str, Any], response: DnsResponse) -> tuple[dict[str, Any], Names]:
    names = Names(response)
    request = decoded(Request, body)
    ports: Any = names
    got: dict[str, Any] = json.loads(msgspec.json.encode(run(request, Context(payer="0x0", ports=ports))))
    assert list(got) == _NAMES
    return got, names


def answers(record_type: str, *records: DnsRecord) -> list[dict[str, Any]]:
    got, _ = ask({"domain": "example.com", "recordType": record_type}, said(*records))
    shown: list[dict[str, Any]] = got["answers"]
    return shown


def refusal(body: dict[str, Any]) -> InvalidField:
    with pytest.raises(InvalidField) as caught:
        decoded(Request, body)
    return caught.value


def test_an_answer() -> None:
    """All of it, in one place."""
    got, names = ask(
        {"domain": "WWW.Example.com."},
        said(
            DnsRecord("web.example.net", 20, ("93.184.215.14",)),
            DnsRecord("web.example.net", 20, ("1.1.1.1",)),
            aliases=("a.example.com", "web.example.net"),
            min_ttl=20,
            authenticated=True,
            age_s=7,
        ),
    )
    assert got | {"elapsedMs": 0} == {
        "ok": True,
        "domain": "www.example.com",
        "recordType": "A",
        "status": "NOERROR",
        "exists": True,
        "answers": [
            {"type": "A", "name": "web.example.net", "ttl": 20, "data": "93.184.215.14"},
            {"type": "A", "name": "web.example.net", "ttl": 20, "data": "1.1.1.1"},
        ],
        "truncated": False,
        "cnameChain": ["a.example.com", "web.example.net"],
        "authenticatedData": True,
        "minTtl": 20,
        "ageSeconds": 7,
        "elapsedMs": 0,
    }
    assert names.asked == [("www.example.com", "A")]
    assert 4 < names.left_s <= 5
    assert 0 <= got["elapsedMs"] < 1000


def test_the_example_is_what_such_records_give() -> None:
    """The test of the whole way is tests/api/test_catalogue.py."""
    got, _ = ask(
        ENDPOINT.example.request,
        said(record(20, "mail.example.net", ttl=3600), record(10, "mail.example.com", ttl=3600), min_ttl=3600),
    )
    assert got | {"elapsedMs": 0} == ENDPOINT.example.response | {"elapsedMs": 0}


@each(
    ("rcode", "records", "status", "exists"),
    [
        ("NOERROR", (record("192.0.2.1"),), "NOERROR", True),
        ("NOERROR", (), "NODATA", True),
        ("NXDOMAIN", (), "NXDOMAIN", False),
        ("REFUSED", (), "REFUSED", None),
        ("SERVFAIL", (), "SERVFAIL", None),
    ],
)
def test_there_are_several_ways_to_say_no(
    rcode: str, records: tuple[DnsRecord, ...], status: str, exists: bool | None
) -> None:
    """Each is an answer, and no two are the same."""
    got, _ = ask({"domain": "example.com"}, said(*records, rcode=rcode, min_ttl=None))
    assert (got["ok"], got["status"], got["exists"], got["minTtl"]) == (True, status, exists, None)
    assert len(got["answers"]) == len(records)


@each("name", RECORD_TYPES)
def test_the_nine_types(name: str) -> None:
    """In upper and lower case; A when none is named."""
    for spelling in (name, name.lower(), name.title()):
        got, names = ask({"domain": "example.com", "recordType": spelling}, said())
        assert got["recordType"] == name
        assert names.asked == [("example.com", name)]
    assert ask({"domain": "example.com"}, said())[1].asked == [("example.com", "A")]


@each("record_type", ["", "PTR", "ANY", "AXFR", "A ", "TYPE1", "1", "ſoa", "a\n", "A,AAAA", "*"])
def test_other_types_are_refused(record_type: str) -> None:
    """Before they are charged."""
    refused = refusal({"domain": "example.com", "recordType": record_type})
    assert (refused.code, refused.field) == ("invalid_body", "recordType")


@each(
    ("text", "name"),
    [
        ("*.example.com", "*.example.com"),
        ("a.*.example.com", "a.*.example.com"),
        ("4.3.2.1.in-addr.arpa", "4.3.2.1.in-addr.arpa"),
        ("1.0.8.b.d.0.1.0.0.2.ip6.arpa", "1.0.8.b.d.0.1.0.0.2.ip6.arpa"),
        ("BU\u0308CHER.example.com。", "xn--bcher-kva.example.com"),
        ("straße.de", "xn--strae-oqa.de"),
        ("nope.invalid", "nope.invalid"),
        ("a.example", "a.example"),
        ("0.example.com", "0.example.com"),
        ("1.2.3.4.example.com", "1.2.3.4.example.com"),
        (".".join(["a" * 61] * 4) + ".abcde.", ".".join(["a" * 61] * 4) + ".abcde"),
    ],
)
def test_names_that_may_be_asked_for(text: str, name: str) -> None:
    """In whatever way they are written."""
    got, names = ask({"domain": text}, said())
    assert (got["domain"], names.asked) == (name, [(name, "A")])


@each(
    "text",
    [
        *(
            "",
            "..",
            "a..example.com",
            "*",
            "*.*",
            "a*.example.com",
            "**.com",
            " example.com",
            "example.com ",
            "a\tb.com",
        ),
        *("example.com\n", "example.com\x00", "a\u00a0b.com", "ü" * 60 + ".com", "a." * 600 + "com", "a" * 100_000),
        *("1.2.3.4", "127.1", "2130706433", "１.2.3.4", "::", "::ffff:127.0.0.1", "[::ffff:1.2.3.4]", "2001:db8::1"),
        *(
            "[v1.1]",
            "LOCALHOST.",
            "a.localhost",
            "printer.local",
            "db.internal",
            "a.onion",
            "home.arpa",
            "redis",
            "com",
        ),
        *("http://example.com", "example.com:53", "a\\b.com", "a;b.com", "\u202eexample.com", "a／b.com", "a／＠b.com"),
    ],
)
def test_what_is_no_name_is_refused(text: str) -> None:
    """It is refused before it is charged and before anybody is asked. More such texts: tests/jobs/test_hosts.py."""
    refused = refusal({"domain": text})
    assert (refused.code, refused.field) == ("invalid_domain", "domain")


@each("name", RECORD_TYPES)
def test_top_level_domains(name: str) -> None:
    """They have name servers. Addresses they have none, but a host of the server's own network may be called so."""
    if name in ("A", "AAAA"):
        assert refusal({"domain": "com", "recordType": name.lower()}).code == "invalid_domain"
    else:
        assert ask({"domain": "COM.", "recordType": name}, said())[1].asked == [("com", name)]


@given(st.text(max_size=30))
def test_any_text_is_a_name_or_is_refused(text: str) -> None:
    """And a name is one that stays what it is."""
    try:
        request = decoded(Request, {"domain": text, "recordType": "NS"})
    except InvalidField:
        return
    names = Names(said())
    ports: Any = names
    domain = run(request, Context(payer="0x0", ports=ports)).domain
    assert domain.isascii()
    assert len(domain) <= 253
    assert all(0 < len(label) <= 63 for label in domain.split("."))
    assert names.asked == [(domain, "NS")]
    Request(domain=domain, record_type="NS").check(PUBLIC)


@each(
    ("record_type", "fields", "data", "own"),
    [
        ("A", ("192.0.2.1",), "192.0.2.1", {}),
        ("AAAA", ("2001:db8::1",), "2001:db8::1", {}),
        ("NS", ("ns1.example.com",), "ns1.example.com", {}),
        ("CNAME", (".",), ".", {}),
        ("MX", (0, "."), "0 .", {"priority": 0, "exchange": "."}),
        (
            "SRV",
            (10, 60, 5061, "a.example.com"),
            "10 60 5061 a.example.com",
            {"priority": 10, "weight": 60, "port": 5061, "target": "a.example.com"},
        ),
        (
            "SOA",
            ("ns1.example.com", r"john\.doe.example.com", 4294967295, 7200, 3600, 1209600, 300),
            r"ns1.example.com john\.doe.example.com 4294967295 7200 3600 1209600 300",
            {
                "mname": "ns1.example.com",
                "rname": r"john\.doe.example.com",
                "serial": 4294967295,
                "refresh": 7200,
                "retry": 3600,
                "expire": 1209600,
                "minimum": 300,
            },
        ),
        (
            "CAA",
            (128, b"issue", b'ca.example.net; a="b\\c"'),
            r'128 issue "ca.example.net; a=\"b\\c\""',
            {"flags": 128, "tag": "issue", "value": r'ca.example.net; a="b\c"'},
        ),
        ("CAA", (0, b"issue", b"\xff"), r'0 issue "\\255"', {"flags": 0, "tag": "issue", "value": r"\255"}),
    ],
)
def test_records(record_type: str, fields: tuple[Any, ...], data: str, own: dict[str, Any]) -> None:
    """Each record is shown as a zone file writes it, and field by field."""
    (shown,) = answers(record_type, record(*fields))
    assert shown == {"type": record_type, "name": "example.com", "ttl": 60, "data": data, **own}


def test_mail_servers_and_services_come_by_priority() -> None:
    """Those of one priority keep their order: weights are for the client."""
    shown = answers("MX", record(20, "c.example.com"), record(5, "B.example.com"), record(5, "a.example.com"))
    assert [each["data"] for each in shown] == ["5 B.example.com", "5 a.example.com", "20 c.example.com"]
    shown = answers("SRV", record(20, 0, 5060, "b"), record(10, 1, 5060, "c"), record(10, 60, 5061, "a"))
    assert [each["target"] for each in shown] == ["c", "a", "b"]


def test_other_records_come_as_they_were_received() -> None:
    """Rotated or sorted by whoever sent them."""
    addresses = ["192.0.2.9", "192.0.2.1", "192.0.2.5"]
    assert [each["data"] for each in answers("A", *map(record, addresses))] == addresses


@each(
    ("strings", "texts", "encoding"),
    [
        ([b"v=spf1 -all"], ["v=spf1 -all"], "utf-8"),
        ([b"v=DKIM1; p=abc", b"def"], ["v=DKIM1; p=abc", "def"], "utf-8"),
        ([b""], [""], "utf-8"),
        ([b"", b"a", b""], ["", "a", ""], "utf-8"),
        ([b'say "hi"\\'], ['say "hi"\\'], "utf-8"),
        (["grüße 😀".encode()], ["grüße 😀"], "utf-8"),
        ([b"gr\xc3", b"\xbc\xc3\x9fe"], ["gr", "üße"], "utf-8"),
        ([b"a\x00b\tc\x7f"], ["a\x00b\tc\x7f"], "utf-8"),
        ([b"caf\xe9"], [r"caf\233"], "escaped"),
        ([b"a\\b", b"\xff\x7f~"], [r"a\\b", r"\255\127~"], "escaped"),
        ([b"cut \xc3"], [r"cut \195"], "escaped"),
        ([b"surrogate \xed\xa0\x80"], [r"surrogate \237\160\128"], "escaped"),
        ([b"\xc3", b"A"], [r"\195", "A"], "escaped"),
    ],
)
def test_texts(strings: list[bytes], texts: list[str], encoding: str) -> None:
    """Joined with nothing between; readable when they are UTF-8, and escaped when they are not."""
    (shown,) = answers("TXT", record(*strings))
    assert (shown["strings"], shown["encoding"]) == (texts, encoding)
    assert shown["data"] == "".join(texts)


@given(st.lists(st.binary(max_size=255), min_size=1, max_size=4))
def test_any_text_can_be_read_back(strings: list[bytes]) -> None:
    """Nothing of it is lost, and it is JSON."""
    (shown,) = answers("TXT", record(*strings))
    assert shown["data"] == "".join(shown["strings"])
    if shown["encoding"] == "utf-8":
        assert shown["data"].encode() == b"".join(strings)
        return
    got, rest = bytearray(), shown["data"]
    while rest:
        if rest.startswith("\\\\"):
            got, rest = got + b"\\", rest[2:]
        elif rest.startswith("\\"):
            got, rest = got + bytes([int(rest[1:4])]), rest[4:]
        else:
            got, rest = got + rest[0].encode("ascii"), rest[1:]
    assert bytes(got) == b"".join(strings)


def test_an_answer_has_an_end() -> None:
    """A thousand addresses are shown; what compression hides in 64 KB is shown in part, and that is said."""
    got, _ = ask({"domain": "example.com"}, said(*(record(f"192.0.2.{i % 256}") for i in range(4000))))
    assert (len(got["answers"]), got["truncated"]) == (4000, False)

    longest = ".".join([r"\255" * 63] * 3)
    got, _ = ask({"domain": "example.com", "recordType": "MX"}, said(*(record(i, longest) for i in range(4000))))
    assert got["truncated"] is True
    assert 500 < len(got["answers"]) < 4000
    assert [each["priority"] for each in got["answers"]] == list(range(len(got["answers"])))
    assert len(json.dumps(got)) < 4 * dns.MAX_SIZE

    got, _ = ask({"domain": "example.com", "recordType": "TXT"}, said(record(b"\xff" * 65_000), record(b"a")))
    assert (len(got["answers"]), got["truncated"]) == (2, False)


def test_fields_of_another_type_are_a_mistake_of_ours() -> None:
    """Not of the caller, and not an answer."""
    for record_type, fields in (
        ("A", (5,)),
        ("MX", ("a",)),
        ("TXT", ("a",)),
        ("SOA", ("a", "b", 1)),
        ("CAA", (0, "issue", "a")),
        ("PTR", ("a",)),
    ):
        with pytest.raises(LookupError):
            answer(record_type, record(*fields))
    with pytest.raises(LookupError):
        ask({"domain": "example.com"}, said(rcode="YXDOMAIN"))
