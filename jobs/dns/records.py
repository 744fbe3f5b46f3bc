"""The nine record types: each record as one text, as in a zone file, and field by field.

A text may be any bytes. If all texts of a record are UTF-8, they are shown as UTF-8. Otherwise bytes above 126 are written as
``\\DDD`` and a backslash as two, and `encoding` says so.
"""

import codecs
from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Literal, get_args

import msgspec

from jobs.fields import doc
from jobs.ports import DnsRecord

Encoding = Literal["utf-8", "escaped"]


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type"):
    name: Annotated[str, doc("The name that has the record, in lower case without a trailing dot.")]
    ttl: Annotated[int, doc("Seconds for which the record may still be cached.")]
    data: Annotated[str, doc("The record's data as one text, as in a zone file.")]


class A(Record, frozen=True, kw_only=True, tag="A"):
    """An IPv4 address of the name."""


class AAAA(Record, frozen=True, kw_only=True, tag="AAAA"):
    """An IPv6 address of the name."""


class NS(Record, frozen=True, kw_only=True, tag="NS"):
    """A name server of the zone."""


class CNAME(Record, frozen=True, kw_only=True, tag="CNAME"):
    """The name to which an alias leads."""


class MX(Record, frozen=True, kw_only=True, tag="MX", rename="camel"):
    """A mail server of the domain."""

    priority: Annotated[int, doc("The lowest value is tried first.")]
    exchange: Annotated[str, doc("The mail server. `.` when the domain accepts no mail.")]


class TXT(Record, frozen=True, kw_only=True, tag="TXT", rename="camel"):
    """A text."""

    strings: Annotated[
        list[str],
        doc(
            "The pieces in which `data` was sent, in order. A character that is cut in two belongs to the piece that "
            "ends it."
        ),
    ]
    encoding: Annotated[
        Encoding, doc("`utf-8`; or `escaped` when the text is not UTF-8: then bytes above 126 are written as `\\DDD`.")
    ]


class SOA(Record, frozen=True, kw_only=True, tag="SOA", rename="camel"):
    """The start of a zone."""

    mname: Annotated[str, doc("The primary name server of the zone.")]
    rname: Annotated[str, doc("Mail address of who runs the zone, with a dot in place of the @.")]
    serial: Annotated[int, doc("The version of the zone.")]
    refresh: Annotated[int, doc("Seconds until secondary servers look for a new version.")]
    retry: Annotated[int, doc("Seconds until they try again after a failure.")]
    expire: Annotated[int, doc("Seconds after which they stop answering without a refresh.")]
    minimum: Annotated[int, doc("Seconds for which negative answers may be cached.")]


class SRV(Record, frozen=True, kw_only=True, tag="SRV", rename="camel"):
    """Where a service runs."""

    priority: Annotated[int, doc("The lowest value is tried first.")]
    weight: Annotated[int, doc("Share of the calls among targets of the same priority.")]
    port: Annotated[int, doc("The port of the service.")]
    target: Annotated[str, doc("The host of the service. `.` when the service is not offered.")]


class CAA(Record, frozen=True, kw_only=True, tag="CAA", rename="camel"):
    """Which authorities may issue certificates."""

    flags: Annotated[int, doc("128 when an authority must understand the tag, else 0.")]
    tag: Annotated[str, doc("The property, such as `issue`, `issuewild` or `iodef`.")]
    value: Annotated[str, doc("The property's value, such as the domain of an authority.")]


Answer = A | AAAA | MX | TXT | NS | CNAME | SOA | SRV | CAA

_TYPES: dict[str, type[Answer]] = {kind.__name__: kind for kind in get_args(Answer)}


def answer(record_type: str, record: DnsRecord) -> Answer:
    """Convert a record.

    Raises:
        LookupError: the record does not have the fields of its type.
    """
    name, ttl = record.name, record.ttl
    match record_type, record.fields:
        case "TXT", strings if all(isinstance(string, bytes) for string in strings):
            texts, encoding = _texts([string for string in strings if isinstance(string, bytes)])
            return TXT(name=name, ttl=ttl, data="".join(texts), strings=texts, encoding=encoding)
        case "CAA", (int(flags), bytes(tag), bytes(value)):
            (tag_text,), _ = _texts([tag])
            (text,), _ = _texts([value])
            quoted = text.replace("\\", "\\\\").replace('"', '\\"')
            return CAA(name=name, ttl=ttl, data=f'{flags} {tag_text} "{quoted}"', flags=flags, tag=tag_text, value=text)
        case (("TXT" | "CAA"), _):
            raise LookupError(f"not the fields of {record_type}")
    # All others are written in a zone file as they are. A type without fields of its own has its data alone.
    try:
        kind = _TYPES[record_type]
        own = kind.__struct_fields__[len(Record.__struct_fields__) :] or ("data",)
        data = " ".join(map(str, record.fields))
        fields = {"name": name, "ttl": ttl, "data": data} | dict(zip(own, record.fields, strict=True))
        return msgspec.convert(fields, kind)
    except (KeyError, ValueError) as wrong:  # msgspec.ValidationError is a ValueError
        raise LookupError(f"not the fields of {record_type}") from wrong


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
