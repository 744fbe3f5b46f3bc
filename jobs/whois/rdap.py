"""Reads an RDAP server's answer about a domain (RFC 9083). Its JSON may be anything: what has another type is left out."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from jobs.whois import values
from jobs.whois.dates import read_date
from jobs.whois.lines import tokens
from jobs.whois.reason import Reason
from jobs.whois.record import MOST_NAME_SERVERS, Record
from jobs.whois.text import decode
from jobs.whois.verdicts import Speech

MOST = 200
"""Members of a list that are read."""
_MARKS = frozenset(("rdapConformance", "objectClassName", "errorCode"))
_HELD = frozenset(("reserved", "blocked", "prohibited", "restricted"))
_REGISTERED = frozenset(("registration", "expiration", "transfer", "reregistration", "reinstantiation"))


def read_rdap(raw: bytes, names: Sequence[str], *, is_found: bool) -> Record:
    """Read what an answer says about a domain.

    Args:
        names: the domain in A-labels, and in Unicode when that differs; lower case.
        is_found: the status was 200; else it was 404.
    """
    try:
        found = _object(msgspec.json.decode(decode(raw))) if raw.strip() else {}
    except (msgspec.DecodeError, RecursionError):
        return Record(reason="unclear")
    if not is_found:
        verdict = _absent(found, names)
        return Record(registered=False) if verdict is None else Record(reason=verdict)
    called = {_text(found.get(key)).lower().rstrip(".") for key in ("ldhName", "unicodeName")}
    if not called.intersection(names):
        return Record(reason="unclear")
    record = _record(found)
    actions = {_text(event.get("eventAction")).lower() for event in _objects(found.get("events"))}
    is_held = any(_text(one).lower() in _HELD for one in _list(found.get("status")))
    if is_held and not (actions & _REGISTERED or record.registrar):
        return replace(record, reason="reserved")
    return replace(record, registered=True)


def is_rdap(raw: bytes) -> bool:
    """Whether an answer is an object or an error of RDAP, and not another server's JSON."""
    try:
        return not _MARKS.isdisjoint(_object(msgspec.json.decode(raw)))
    except (msgspec.DecodeError, RecursionError):
        return False


def _absent(error: dict[str, Any], names: Sequence[str]) -> Reason | None:
    """Why nothing follows from a 404; None when the server says that there is no such domain."""
    lines = [error.get("title"), *_list(error.get("description"))]
    speech = Speech(list(tokens("\n\n".join(map(_text, lines)))), names)
    if speech.is_refusal:
        return "refused"
    if speech.is_held:
        return "reserved"
    if speech.is_ending:
        return "ending"
    return "unclear" if speech.is_unclear else None


def _record(found: dict[str, Any]) -> Record:
    hosts = {_text(one.get("ldhName")).lower().rstrip(".") for one in _objects(found.get("nameservers"))}
    status: list[str] = []
    for one in _list(found.get("status")):
        # RFC 8056: RDAP's name of the EPP code `ok` is `active`.
        written = "ok" if (text := _text(one)).lower() == "active" else text
        status += [code for code in values.statuses(written) if code not in status]
    signed = _object(found.get("secureDNS")).get("delegationSigned")
    registrar = next(_with_role(found, "registrar"), {})
    return Record(
        registrar=values.text_or_none(_name(registrar)),
        registrar_iana_id=next(_iana_ids(registrar), None),
        registrar_url=_url(registrar),
        created=_date(found, "registration"),
        updated=_date(found, "last changed"),
        expires=_date(found, "expiration"),
        name_servers=tuple(sorted(host for host in hosts if values.is_host(host))[:MOST_NAME_SERVERS]),
        status=tuple(status),
        dnssec=signed if isinstance(signed, bool) else None,
    )


def _date(found: dict[str, Any], action: str) -> datetime | None:
    for event in _objects(found.get("events")):
        if _text(event.get("eventAction")).lower() == action and (moment := read_date(_text(event.get("eventDate")))):
            return moment
    return None


def _with_role(found: dict[str, Any], role: str) -> Iterator[dict[str, Any]]:
    return (one for one in _objects(found.get("entities")) if role in _list(one.get("roles")))


def _iana_ids(entity: dict[str, Any]) -> Iterator[str]:
    for one in _objects(entity.get("publicIds")):
        if "iana" in _text(one.get("type")).lower() and (number := values.iana_id(_text(one.get("identifier")))):
            yield number


def _name(entity: dict[str, Any]) -> str:
    return _property(entity, "fn") or _property(entity, "org")


def _url(entity: dict[str, Any]) -> str | None:
    links = (_text(one.get("href")) for one in _objects(entity.get("links")) if one.get("rel") == "about")
    return values.web_address(next(links, "") or _property(entity, "url"))


def _property(entity: dict[str, Any], name: str) -> str:
    """The text of a jCard's property (RFC 7095): ``["vcard", [["fn", {}, "text", "A Registrar"], ...]]``."""
    card = _list(entity.get("vcardArray"))
    for one in _list(card[1] if len(card) > 1 else None):
        match _list(one):
            case [found, _, _, str(value), *_] if found == name and value.strip():
                return value
    return ""


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value[:MOST] if isinstance(value, list) else []


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in _list(value) if isinstance(one, dict)]
