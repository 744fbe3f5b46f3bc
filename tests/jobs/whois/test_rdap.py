"""Answers of RDAP servers."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from compose.sandbox.upstreams.place import document
from jobs.whois.endpoint import iso
from jobs.whois.rdap import read_rdap
from tests.each import each

NAMES = ["example.app"]
RECORD = json.loads(document("domain.rdap.json"))


def read(found: Any, *, is_found: bool = True) -> Any:
    return read_rdap(json.dumps(found).encode(), NAMES, is_found=is_found)


def test_a_record() -> None:
    """Every field. Notices, other entities and other events are none."""
    record = read(RECORD)
    assert (record.registered, record.reason) == (True, None)
    assert (record.registrar, record.registrar_iana_id) == ("Example Registrar, Inc.", "9999")
    assert record.registrar_url == "https://registrar.example.net"
    assert (iso(record.created), iso(record.expires)) == ("2018-05-01T21:24:16Z", "2027-05-01T21:24:16Z")
    assert iso(record.updated) == "2026-06-05T12:00:00Z"
    assert record.name_servers == ("a.iana-servers.net", "b.iana-servers.net")
    assert record.status == ("clientDeleteProhibited", "clientTransferProhibited", "ok")
    assert record.dnssec is True


@each(
    ("changes", "registered", "reason"),
    [
        ({"ldhName": "other.app"}, None, "unclear"),
        ({"ldhName": None, "unicodeName": "EXAMPLE.app."}, True, None),
        ({"status": ["reserved"]}, True, None),
        ({"status": ["reserved"], "events": [], "entities": []}, None, "reserved"),
        ({"status": ["Blocked"], "events": None, "entities": None}, None, "reserved"),
        ({"status": ["pending delete", "redemption period"]}, True, None),
    ],
)
def test_what_a_record_says(changes: dict[str, Any], registered: bool | None, reason: str | None) -> None:
    """A record of another name says nothing, and a held name without a registration is reserved."""
    record = read(RECORD | changes)
    assert (record.registered, record.reason) == (registered, reason)


@each(
    ("title", "description", "reason"),
    [
        ("Not Found", "The domain was not found.", None),
        ("Object not found", "", None),
        ("Error", "No such domain", None),
        ("Not Found", "This name is reserved by the registry.", "reserved"),
        ("Not Found", "The domain is pending delete.", "ending"),
        ("Not Found", "Too many requests, please try again later.", "refused"),
        ("Not Found", "This TLD is not supported.", "unclear"),
    ],
)
def test_what_a_404_says(title: str, description: str, reason: str | None) -> None:
    """That there is no such domain, unless its text says something else."""
    record = read({"errorCode": 404, "title": title, "description": [description]}, is_found=False)
    assert (record.registered, record.reason) == (None if reason else False, reason)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.just("2026-01-01"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(sorted(RECORD)), inner, max_size=4),
)


@given(st.dictionaries(st.sampled_from(sorted({*RECORD, "title", "description"})), _JSON), st.booleans())
def test_any_types(found: dict[str, Any], is_found: bool) -> None:
    """Whatever the members are, the rest is read."""
    for members in (found, RECORD | found):
        record = read(members, is_found=is_found)
        assert (record.registered is None) == (record.reason is not None)


@each("raw", [b"", b"[]", b"[" * 200_000, b"{", b"<html>", b'{"ldhName": "\\ud800"}', b"\xff"], ids=range(7))
def test_no_json(raw: bytes) -> None:
    """Nothing follows from it, however deep it is."""
    assert read_rdap(raw, NAMES, is_found=True).reason == "unclear"
