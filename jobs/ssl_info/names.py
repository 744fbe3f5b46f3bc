"""Reads distinguished names: the subject and the issuer of a certificate."""

import re
from typing import Annotated

import msgspec

from jobs.fields import doc
from jobs.ssl_info import der
from jobs.ssl_info.der import SEQUENCE, SET, Element, Malformed, elements, expected, oid

MAX_VALUE = 128
"""How many characters of one value are shown."""
MAX_NAME = 512
"""How many characters of a whole name are shown."""

_ENCODINGS = {
    0x0C: "utf-8",
    0x12: "ascii",
    0x13: "ascii",
    0x14: "latin-1",  # T.61, which nobody implemented
    0x16: "ascii",
    0x1C: "utf-32-be",
    0x1E: "utf-16-be",
}
# RFC 4514, section 3, and other attributes that certificates have.
_SHORT = {
    "2.5.4.3": "CN",
    "2.5.4.4": "SN",
    "2.5.4.5": "serialNumber",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "2.5.4.15": "businessCategory",
    "2.5.4.17": "postalCode",
    "2.5.4.42": "GN",
    "2.5.4.97": "organizationIdentifier",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
    "1.2.840.113549.1.9.1": "emailAddress",
}
_SPECIAL = re.compile(r'[,+"\\<>;=]')


class Name(msgspec.Struct, frozen=True, rename="camel"):
    """A name. A part that it does not have is null; of several, the first one counts."""

    common_name: Annotated[str | None, doc("The common name (CN).")]
    organization: Annotated[str | None, doc("The organization (O).")]
    organizational_unit: Annotated[str | None, doc("The unit of the organization (OU).")]
    locality: Annotated[str | None, doc("The city or place (L).")]
    state_or_province: Annotated[str | None, doc("The state or province (ST).")]
    country: Annotated[str | None, doc("The country's two-letter code (C).")]
    distinguished_name: Annotated[str, doc("The whole name as one text, last part first (RFC 4514).")]


def read_name(content: bytes) -> Name:
    """Read the content of a Name. Raises Malformed."""
    first: dict[str, str] = {}
    parts = []
    for relative in elements(content):
        values = []
        for attribute in elements(expected(relative, SET)):
            kind, value = _attribute(expected(attribute, SEQUENCE))
            text = shown(value)
            first.setdefault(kind, text)
            values.append(f"{_SHORT.get(kind, kind)}={_escaped(text)}")
        parts.append("+".join(values))
    return Name(
        common_name=first.get("2.5.4.3"),
        organization=first.get("2.5.4.10"),
        organizational_unit=first.get("2.5.4.11"),
        locality=first.get("2.5.4.7"),
        state_or_province=first.get("2.5.4.8"),
        country=first.get("2.5.4.6"),
        distinguished_name=cut(",".join(reversed(parts)), MAX_NAME),
    )


def shown(value: Element) -> str:
    """A value as text. Unreadable bytes become U+FFFD. A value that is not a text becomes hex after a #."""
    encoding = _ENCODINGS.get(value.tag)
    if encoding is None:
        return cut("#" + value.content[:MAX_VALUE].hex(), MAX_VALUE)
    return cut(value.content[: 4 * MAX_VALUE + 4].decode(encoding, "replace"), MAX_VALUE)


def cut(text: str, most: int) -> str:
    """Cut a text to `most` characters, with an ellipsis for the rest."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _attribute(content: bytes) -> tuple[str, Element]:
    match elements(content):
        case [Element(der.OID, name), value]:
            return oid(name), value
    raise Malformed("not an attribute")


def _escaped(text: str) -> str:
    text = _SPECIAL.sub(r"\\\g<0>", text).replace("\0", r"\00")
    if text[:1] in (" ", "#"):
        text = "\\" + text
    return text[:-1] + "\\ " if len(text) > 1 and text.endswith(" ") and not text.endswith("\\ ") else text
