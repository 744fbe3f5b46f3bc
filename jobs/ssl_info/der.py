"""Reads DER one level at a time (X.690).

A library would not do: callers ask about odd certificates, and `cryptography` refuses negative serial numbers, wrong string
types and unknown versions, now or in later releases, and then shows nothing of the certificate.
"""

from typing import NamedTuple

INTEGER = 0x02
BIT_STRING = 0x03
OCTET_STRING = 0x04
OID = 0x06
UTC_TIME = 0x17
GENERALIZED_TIME = 0x18
SEQUENCE = 0x30
SET = 0x31

MAX_OID_BYTES = 64


class Malformed(ValueError):
    """These bytes are not DER, or not the expected element."""


class Element(NamedTuple):
    """A tag of one byte, and its content."""

    tag: int
    content: bytes


def elements(data: bytes) -> list[Element]:
    """All elements of `data`, in order. Raises Malformed."""
    found = []
    at = 0
    while at < len(data):
        element, at = _element(data, at)
        found.append(element)
    return found


def only(data: bytes, tag: int) -> bytes:
    """The content of the only element. Raises Malformed."""
    element, end = _element(data, 0)
    if end != len(data):
        raise Malformed("something follows")
    return expected(element, tag)


def expected(element: Element, tag: int) -> bytes:
    """The element's content. Raises Malformed when the element has another tag."""
    if element.tag != tag:
        raise Malformed("another kind of element")
    return element.content


def oid(content: bytes) -> str:
    """An object identifier in dotted form. Raises Malformed."""
    if not 0 < len(content) <= MAX_OID_BYTES or content[-1] & 0x80:
        raise Malformed("not an object identifier")
    arcs = []
    arc = 0
    for byte in content:
        arc = arc << 7 | byte & 0x7F
        if not byte & 0x80:
            arcs.append(arc)
            arc = 0
    first = min(arcs[0] // 40, 2)
    return ".".join(map(str, (first, arcs[0] - 40 * first, *arcs[1:])))


def bits(content: bytes) -> bytes:
    """The bytes of a BIT STRING without unused bits, which is the form of keys. Raises Malformed."""
    if not content or content[0] != 0:
        raise Malformed("not a string of whole bytes")
    return content[1:]


def _element(data: bytes, at: int) -> tuple[Element, int]:
    if at + 2 > len(data):
        raise Malformed("cut off")
    tag, length = data[at], data[at + 1]
    at += 2
    if tag & 0x1F == 0x1F:
        raise Malformed("a tag of several bytes")
    if length & 0x80:
        size = length & 0x7F
        if not 0 < size <= 4 or at + size > len(data):
            raise Malformed("not a length")
        length = int.from_bytes(data[at : at + size])
        at += size
    if at + length > len(data):
        raise Malformed("cut off")
    return Element(tag, data[at : at + length]), at + length
