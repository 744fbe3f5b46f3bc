"""What a server sends in the clear, however it is cut into pieces."""

from hypothesis import given
from hypothesis import strategies as st

from tests.each import each
from tests.workers.tls_servers import record
from workers.adapters.tls_records import ServerFlight, ciphers

HELLO = b"\x02" + (38 + 4).to_bytes(3) + b"\3\3" + b"r" * 32 + b"\4sess" + b"\xc0\x2f" + b"\0"
CERTIFICATES = b"\x0b\0\0\x0d\0\0\x0a\0\0\3one\0\0\1\x32"
FLIGHT = record(22, HELLO + CERTIFICATES[:7]) + record(22, CERTIFICATES[7:]) + record(22, b"\x0e\0\0\0")


def flight(*parts: bytes) -> ServerFlight:
    found = ServerFlight()
    for part in parts:
        found.feed(part)
    return found


@given(st.integers(0, len(FLIGHT)), st.integers(0, len(FLIGHT)))
def test_pieces_do_not_matter(first: int, second: int) -> None:
    """Messages lie across records, and records across what is received."""
    first, second = sorted((first, second))
    found = flight(FLIGHT[:first], FLIGHT[first:second], FLIGHT[second:])
    assert found.certificates() == [b"one", b"2"]
    assert found.cipher() == 0xC02F


@each("end", range(len(FLIGHT)))
def test_what_has_not_come_yet(end: int) -> None:
    """Nothing is told before its end, and never something else."""
    found = flight(FLIGHT[:end])
    assert found.certificates() in (None, [b"one", b"2"])
    assert found.cipher() in (None, 0xC02F)


def test_the_end_of_what_is_in_the_clear() -> None:
    """An alert, or what is encrypted: no more certificates come, and the cipher is still told."""
    for kind in (20, 21, 23, 0x48):
        found = flight(record(22, HELLO), record(kind, b"??"), FLIGHT)
        assert (found.certificates(), found.cipher()) == ([], 0xC02F)


def test_lengths_that_lie() -> None:
    """A certificate that is longer than its list."""
    assert flight(record(22, b"\x0b\0\0\x09\0\0\6\0\xff\xffabc")).certificates() == []
    assert flight(record(22, b"\x02\0\0\x23" + b"\xff" * 35)).cipher() is None


@given(st.lists(st.one_of(st.binary(max_size=60), st.binary(max_size=60).map(lambda data: record(22, data)))))
def test_any_bytes(parts: list[bytes]) -> None:
    """No exception."""
    found = flight(*parts)
    found.certificates()
    found.cipher()


def test_ciphers() -> None:
    """OpenSSL's names, of every version."""
    assert ciphers()[0xC02F] == ("ECDHE-RSA-AES128-GCM-SHA256", 128)
    assert ciphers()[0x1301] == ("TLS_AES_128_GCM_SHA256", 128)
