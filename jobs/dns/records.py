"""The nine record types: each record as one text, as in a zone file, and field by field.

A text may be any bytes. If all texts of a record are UTF-8, they are shown as UTF-8. Otherwise bytes above 126 are written as
``\\DDD`` and a backslash as two, and `encoding` says so.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from operator import attrgetter
from typing import Literal

import msgspec

from jobs.ports import DnsRecord

Encoding = Literal["utf-8", "escaped"]


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type"):
    """The fields of every record."""

    name: str
    ttl: int
    data: str


class A(Record, frozen=True, kw_only=True, tag="A"):
    """`data`: an IPv4 address."""


class AAAA(Record, frozen=True, kw_only=True, tag="AAAA"):
    """`data`: an IPv6 address."""


class NS(Record, frozen=True, kw_only=True, tag="NS"):
    """`data`: a name server."""


class CNAME(Record, frozen=True, kw_only=True, tag="CNAME"):
    """`data`: the name to which this alias leads."""


class MX(Record, frozen=True, kw_only=True, tag="MX", rename="camel"):
    """`exchange`: a mail server; ``.`` when the domain accepts no mail. The lowest `priority` comes first."""

    priority: int
    exchange: str


class TXT(Record, frozen=True, kw_only=True, tag="TXT", rename="camel"):
    """`strings`: the pieces in which `data` was sent. A character that is cut in two belongs to the piece in which it ends."""

    strings: list[str]
    encoding: Encoding


class SOA(Record, frozen=True, kw_only=True, tag="SOA", rename="camel"):
    """`rname`: a mail address, with a dot for the @. Times in seconds."""

    mname: str
    rname: str
    serial: int
    refresh: int
    retry: int
    expire: int
    minimum: int


class SRV(Record, frozen=True, kw_only=True, tag="SRV", rename="camel"):
    """`target`: a host; ``.`` when the service is not offered. The lowest `priority` comes first."""

    priority: int
    weight: int
    port: int
    target: str


class CAA(Record, frozen=True, kw_only=True, tag="CAA", rename="camel"):
    """`tag`: issue, issuewild, iodef, ..."""

    flags: int
    tag: str
    value: str


Answer = A | AAAA | MX | TXT | NS | CNAME | SOA | SRV | CAA

_HOLDS_ONE_TEXT: dict[str, type[A | AAAA | NS | CNAME]] = {"A": A, "AAAA": AAAA, "NS": NS, "CNAME": CNAME}


def answer(record_type: str, record: DnsRecord) -> Answer:
    """Convert a record.

    Raises:
        LookupError: the record does not have the fields of its type.
    """
    name, ttl = record.name, record.ttl
    match record_type, record.fields:
        case "A" | "AAAA" | "NS" | "CNAME", (str(text),):
            return _HOLDS_ONE_TEXT[record_type](name=name, ttl=ttl, data=text)
        case "MX", (int(priority), str(exchange)):
            return MX(name=name, ttl=ttl, data=f"{priority} {exchange}", priority=priority, exchange=exchange)
        case "TXT", strings if all(isinstance(string, bytes) for string in strings):
            texts, encoding = _texts([string for string in strings if isinstance(string, bytes)])
            return TXT(name=name, ttl=ttl, data="".join(texts), strings=texts, encoding=encoding)
        case "SOA", (str(mname), str(rname), int(serial), int(refresh), int(retry), int(expire), int(minimum)):
            return SOA(
                name=name,
                ttl=ttl,
                data=f"{mname} {rname} {serial} {refresh} {retry} {expire} {minimum}",
                mname=mname,
                rname=rname,
                serial=serial,
                refresh=refresh,
                retry=retry,
                expire=expire,
                minimum=minimum,
            )
        case "SRV", (int(priority), int(weight), int(port), str(target)):
            data = f"{priority} {weight} {port} {target}"
            return SRV(name=name, ttl=ttl, data=data, priority=priority, weight=weight, port=port, target=target)
        case "CAA", (int(flags), bytes(tag), bytes(value)):
            (tag_text,), _ = _texts([tag])
            (text,), _ = _texts([value])
            quoted = text.replace("\\", "\\\\").replace('"', '\\"')
            return CAA(name=name, ttl=ttl, data=f'{flags} {tag_text} "{quoted}"', flags=flags, tag=tag_text, value=text)
    raise LookupError(f"not the fields of {record_type}")


def in_order(answers: Sequence[Answer]) -> list[Answer]:
    """Sort mail servers and services by priority. All others keep the order in which they were received."""
    if answers and isinstance(answers[0], MX | SRV):
        return sorted(answers, key=attrgetter("priority"))
    return list(answers)


def _texts(strings: Sequence[bytes]) -> tuple[list[str], Encoding]:
    """The strings of one record as readable text. Joined, they are the whole text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        texts = [decoder.decode(string) for string in strings]
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return [_escaped(string) for string in strings], "escaped"
    return texts, "utf-8"


def _escaped(string: bytes) -> str:
    return "".join("\\\\" if byte == 0x5C else chr(byte) if byte < 0x7F else f"\\{byte:03d}" for byte in string)
