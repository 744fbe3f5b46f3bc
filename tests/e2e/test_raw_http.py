"""Requests that no client library sends, over a plain socket."""

import json
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from coinslot.buyer import Buyer
from coinslot.payment import SignedPayment
from coinslot.wallet import Wallet
from tests.time_limits import patience


def exchange(service: Any, *parts: bytes, hang_up: bool = False) -> tuple[int, bytes]:
    """Send bytes as they are, and perhaps the end of all sending; (status, everything that came back)."""
    address = urlsplit(service.base_url)
    with socket.create_connection((address.hostname, address.port), timeout=patience(15)) as connection:
        for part in parts:
            connection.sendall(part)
        if hang_up:
            connection.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    return int(answer.split(b" ", 2)[1]), answer


HEAD = b"POST /v1/cdp/echo HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n"


def test_an_upload_that_expects_to_be_asked_is_answered(service: Any) -> None:
    """Expect: 100-continue, as curl sends it for larger bodies."""
    status, answer = exchange(service, HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n", b"{}")
    assert status in (100, 402)
    assert b"402 Payment Required" in answer


@pytest.mark.parametrize(
    "head",
    [
        b"POST /v1/cdp/echo HTTP/1.1\r\nHost: shop\r\nContent-Length: 5\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello",
        b"POST /v1/cdp/echo HTTP/1.1\r\nHost: shop\r\nContent-Length: -1\r\nConnection: close\r\n\r\n",
        b"POST /v1/cdp/echo HTTP/1.1\r\nHost: shop\r\nBad Header: x\r\nConnection: close\r\n\r\n",
        b"NONSENSE\r\n\r\n",
    ],
    ids=["two lengths", "negative length", "space in a name", "nonsense"],
)
def test_broken_http_is_400(service: Any, head: bytes) -> None:
    """And the next request is answered."""
    assert exchange(service, head)[0] == 400
    assert exchange(service, HEAD + b"Content-Length: 0\r\n\r\n")[0] == 402


def test_http_1_0_is_answered(service: Any) -> None:
    """Old probes get the price too."""
    assert exchange(service, b"POST /v1/cdp/echo HTTP/1.0\r\n\r\n")[0] == 402


class Signed(Exception):
    """A payment that is not sent."""


def payment_header(service: Any, body: bytes, name: str = "echo") -> bytes:
    """A signed payment of one call, as a header."""

    def stop(payment: SignedPayment) -> None:
        raise Signed(payment.header)

    wallet = Wallet.evm(bytes.fromhex(service.sandbox["evm"]["payerKey"].removeprefix("0x")))
    with Buyer(service.base_url, wallet, max_price=None, on_signed=stop) as buyer, pytest.raises(Signed) as signed:
        buyer.call(name, body)
    return b"PAYMENT-SIGNATURE: " + str(signed.value).encode() + b"\r\n"


def framed(body: bytes, framing: str) -> tuple[bytes, bytes]:
    """(header, body as it is sent)."""
    if framing == "length":
        return b"Content-Length: %d\r\n\r\n" % len(body), body
    halves = body[: len(body) // 2], body[len(body) // 2 :]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(half), half) for half in halves)
    return b"Transfer-Encoding: chunked\r\n\r\n", chunks + b"0\r\n\r\n"


def test_a_long_answer_is_whole_and_may_be_left(service: Any) -> None:
    """It comes with its length, again for the same payment, and nothing is logged about a caller who hung up in it."""
    body = json.dumps({"template": {f"f{n}": "lorem.paragraphs" for n in range(50)}, "count": 60}).encode()
    payment = payment_header(service, body, "faker")
    request = b"POST /v1/cdp/faker HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n%sContent-Length: %d\r\n\r\n%s"
    request %= payment, len(body), body
    address = urlsplit(service.base_url)
    with socket.create_connection((address.hostname, address.port), timeout=patience(15)) as connection:
        connection.sendall(request)
        assert connection.recv(9) == b"HTTP/1.1 "
    answers = [exchange(service, request)[1].partition(b"\r\n\r\n") for _ in range(2)]
    for head, _, content in answers:
        assert b"\r\ncontent-length: %d\r\n" % len(content) in head.lower()
        assert len(json.loads(content)["data"]) == 60
        assert len(content) > 1_000_000
    assert answers[0][2] == answers[1][2]
    assert "Traceback" not in (service.var / "service.log").read_text()


@pytest.mark.parametrize("framing", ["length", "chunks"])
@pytest.mark.parametrize("size", [2, 1_000, 60_000])
def test_a_paid_body_that_is_cut_off_is_not_charged(service: Any, framing: str, size: int) -> None:
    """What came of it is not answered in its place. The whole body with the same payment is."""
    body = b'{"message":"x"}' + b" " * size  # JSON wherever it is cut behind the brace
    payment = payment_header(service, body)
    framing_header, content = framed(body, framing)

    for cut in (content[:1], content[: len(content) // 2], content[:-1]):
        status, answer = exchange(service, HEAD + payment + framing_header, cut, hang_up=True)
        assert (status, b'"charged":false' in answer) == (400, True)
    status, answer = exchange(service, HEAD + payment + framing_header, content)
    assert (status, b'"youSent":"x"' in answer) == (200, True)


def test_trailers_are_named_in_the_refusal(service: Any) -> None:
    """Whether the head announces them or not. The same body without them is answered, with the same payment."""
    body = b'{"message":"x"}'
    payment = payment_header(service, body)
    framing_header, content = framed(body, "chunks")
    for announced in (b"Trailer: x-checksum\r\n", b""):
        trailed = content.removesuffix(b"\r\n") + b"x-checksum: 1\r\n\r\n"
        status, answer = exchange(service, HEAD + payment + announced + framing_header, trailed)
        assert (status, b"trailers" in answer, b'"charged":false' in answer) == (400, True, True)
    assert exchange(service, HEAD + payment + framing_header, content)[0] == 200


@pytest.mark.parametrize("header", [b"Content-Length: 5", b"Content-Length: 200000", b"Transfer-Encoding: chunked"])
def test_an_unpaid_body_that_does_not_come_is_not_waited_for(service: Any, header: bytes) -> None:
    """The price comes after the 2 s that a slow upload is given."""
    began = time.monotonic()
    assert exchange(service, HEAD + header + b"\r\n\r\n", b"1")[0] == 402
    assert time.monotonic() - began < patience(5)


def test_a_header_that_is_not_ascii_is_no_payment(service: Any) -> None:
    """The price, as for a call without one."""
    status, _ = exchange(service, HEAD + b"PAYMENT-SIGNATURE: \xff\r\nContent-Length: 0\r\n\r\n")
    assert status == 402
