"""Estimates how much work it takes to parse a DNS message, before it is parsed.

A name may be a pointer of two bytes to a name of 127 labels. dnspython builds each name anew: 64 KB of pointers took it 8.5 s
(measured).
"""

import dns.rdatatype as of

MAX_LABELS = 30_000
"""Labels in all names of a message, a quarter of a second of work. 4000 addresses of a name of four labels have 16,000."""

_LONGEST = 127
_HEADER = 12
_NAMES = {
    **dict.fromkeys((of.A, of.AAAA, of.TXT, of.CAA, of.OPT, of.DS, of.DNSKEY, of.NSEC3), (0, 0)),
    **dict.fromkeys((of.NS, of.CNAME, of.DNAME, of.PTR, of.NSEC), (0, 1)),
    of.SOA: (0, 2),
    of.MX: (2, 1),
    of.SRV: (6, 1),
    of.RRSIG: (18, 1),
}
"""By record type: at which byte its names begin, and how many there are."""


def labels(wire: bytes) -> int:
    """An upper bound of the labels of all names in a message.

    Raises:
        ValueError: it is no DNS message.
    """
    try:
        return _Reader(wire).labels()
    except IndexError:
        raise ValueError("the message is cut off") from None


class _Reader:
    def __init__(self, wire: bytes) -> None:
        self._wire = wire
        self._known: dict[int, int] = {}

    def labels(self) -> int:
        questions, *others = (self._number(place) for place in (4, 6, 8, 10))
        found, at = 0, _HEADER
        for _ in range(questions):
            count, at = self._name(at)
            found += count
            at += 4
        for _ in range(sum(others)):
            count, at = self._name(at)
            size = self._number(at + 8)
            found += count + self._of_data(self._number(at), at + 10, size)
            at += 10 + size
        return found

    def _of_data(self, record_type: int, at: int, size: int) -> int:
        if record_type not in _NAMES:
            return size // 2 * _LONGEST
        prefix, names = _NAMES[of.RdataType(record_type)]
        found, at = 0, at + prefix
        for _ in range(names if size else 0):
            count, at = self._name(at)
            found += count
        return found

    def _name(self, at: int, hops: int = 0) -> tuple[int, int]:
        """The number of labels of the name at this byte, and where the name ends."""
        found = 0
        while size := self._wire[at]:
            if size >= 0xC0:
                return found + self._pointed_to(at, hops), at + 2
            found += 1
            at += 1 + size
            if size > 63 or found > _LONGEST:
                raise ValueError("this is no name")
        return found, at + 1

    def _pointed_to(self, at: int, hops: int) -> int:
        target = self._number(at) & 0x3FFF
        if target >= at or hops > _LONGEST:
            raise ValueError("a pointer leads forward, or nowhere")
        if target not in self._known:
            self._known[target] = self._name(target, hops + 1)[0]
        return self._known[target]

    def _number(self, at: int) -> int:
        return self._wire[at] << 8 | self._wire[at + 1]
