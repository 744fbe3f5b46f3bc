"""Which requests are the same one."""

import json

import pytest

from api.payment.fingerprint import LONG_BYTES, Fingerprinter

FINGERPRINT = Fingerprinter(bytes(range(32)))


def of(body: bytes, *, endpoint: str = "echo", query: bytes = b"", proof: bytes = b"") -> str:
    return FINGERPRINT(endpoint, query, body, proof)


@pytest.mark.parametrize("body", [b'{"b":2,"a":"\xc3\xa9"}', b' { "a" : "\\u00e9", "b": 2 }\n'])
def test_json_that_is_written_differently_is_the_same(body: bytes) -> None:
    """Clients may write the body anew for the paid request."""
    assert of(body) == of(b'{"a":"\xc3\xa9","b":2}')


def test_every_part_counts() -> None:
    """And no part can be taken for the neighbour of another."""
    prints = {
        of(b"{}"),
        of(b"[]"),
        of(b"x"),
        of(b""),
        of(b"{}", query=b"a"),
        of(b"{}", proof=b"a"),
        of(b"{}", endpoint="a"),
    }
    prints |= {Fingerprinter(bytes(32))("echo", b"", b"{}", b"")}
    assert len(prints) == 8


def test_of_a_long_body_every_byte_counts() -> None:
    """It is not written anew."""
    long = json.dumps({"a": "x" * LONG_BYTES, "b": 1}).encode()
    assert of(long) == of(bytes(long))
    for other in (long.replace(b" ", b""), long + b" ", long.replace(b"1", b"2")):
        assert of(other) != of(long)
    short = json.dumps({"a": "x" * (LONG_BYTES - 30), "b": 1}).encode()
    assert len(short) <= LONG_BYTES
    assert of(short) == of(short.replace(b" ", b""))
