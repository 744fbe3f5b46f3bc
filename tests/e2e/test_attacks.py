"""Attacks that need the whole service: raw sockets, its processes, and the chain as the judge of what moved."""

import base64
import json
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis
from coincurve import PrivateKey

from shared.ledger.keys import record_key
from shared.money import Price
from shared.x402 import evm
from shared.x402.evm import keccak256
from shared.x402.networks import EVM_USDC
from tests import signing
from tests.time_limits import patience

TRANSFER = "0x" + keccak256(b"Transfer(address,address,uint256)").hex()
PATH = b"/v1/cdp/echo"
TYPE = b"Content-Type: application/json"


class Payment:
    """One good payment of an echo, by the sandbox's payer."""

    def __init__(self, service: Any) -> None:
        sandbox = service.sandbox["evm"]
        offer = evm.offers(EVM_USDC["eip155:8453"], Price.of("0.001"), sandbox["payTo"])[0]
        key = PrivateKey(bytes.fromhex(sandbox["payerKey"].removeprefix("0x")))
        self.nonce = "0x" + secrets.token_hex(32)
        payload = signing.payload(key, offer, nonce=self.nonce)
        content = {"x402Version": 2, "accepted": signing.wire(offer), "payload": payload}
        self.value = base64.b64encode(json.dumps(content).encode())
        self.header = b"PAYMENT-SIGNATURE: " + self.value
        self.id = f"{offer.network}:{offer.asset.lower()}:{payload['authorization']['from'].lower()}:{self.nonce}"


@pytest.fixture
def ledger(service: Any) -> Iterator[redis.Redis]:
    """The service's ledger."""
    url = next(line.partition("=")[2] for line in service.environment if line.startswith("COINSLOT_LEDGER_URL="))
    with redis.Redis.from_url(url, decode_responses=True, encoding_errors="replace") as found:
        yield found


def request(headers: Sequence[bytes], body: bytes, target: bytes = PATH, method: bytes = b"POST") -> bytes:
    """A whole HTTP request, with no judgement of what it says."""
    lines = [method + b" " + target + b" HTTP/1.1", b"Host: shop", b"Connection: close", *headers]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", body])


def exchange(service: Any, message: bytes, *, until: Callable[[], object] | None = None) -> tuple[int, bytes, bytes]:
    """Send it; (status, head, body). Zero when nothing came.

    Args:
        until: hang up as soon as this is true, without waiting for the answer.
    """
    address = urlsplit(service.base_url)
    with socket.create_connection((address.hostname, address.port), timeout=patience(20)) as connection:
        try:
            connection.sendall(message)
            if until is not None:
                give_up_at = time.monotonic() + patience(10)
                while not until() and time.monotonic() < give_up_at:
                    pass
                return 0, b"", b""
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
        except ConnectionError:
            return 0, b"", b""  # cut off while still sending
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), head, body


def transfers(service: Any) -> int:
    """How many transfers to us are on the chain."""
    sandbox = service.sandbox["evm"]
    topics = [TRANSFER, None, "0x" + "00" * 12 + sandbox["payTo"][2:].lower()]
    search = {"address": sandbox["usdc"], "topics": topics, "fromBlock": "0x0", "toBlock": "latest"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [search]}
    return len(httpx.post(sandbox["rpcUrl"], json=call).json()["result"])


def memory_kb(service: Any) -> int:
    """What the API's processes have in memory together."""
    mark = f"COINSLOT_VAR={service.var}\0".encode()
    total = 0
    for folder in Path("/proc").iterdir():
        try:
            if not folder.name.isdigit() or b"-m\0api" not in (folder / "cmdline").read_bytes():
                continue
            if mark in (folder / "environ").read_bytes():
                total += int((folder / "status").read_text().partition("VmRSS:")[2].split()[0])
        except OSError:  # it has ended
            continue
    return total


def test_p01_ten_megabytes_of_garbage_get_the_price(service: Any) -> None:
    """Somebody who does not pay uploads what he likes, declared or in chunks: the price, and nothing on the chain."""
    before = transfers(service)
    garbage = secrets.token_bytes(10_000) * 1_000
    status, _, body = exchange(service, request([TYPE], garbage))
    assert (status, json.loads(body)["error"]) == (402, "payment_required")
    chunked = b"POST " + PATH + b" HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (len(garbage), garbage)
    status, _, body = exchange(service, chunked + chunk + b"0\r\n\r\n")
    assert (status, json.loads(body)["error"]) == (402, "payment_required")
    assert transfers(service) == before


def test_p02_long_headers_are_refused_and_leave_nothing_in_memory(service: Any) -> None:
    """Payment headers of 8 to 512 KB, again and again: 400, or 431 by the server itself, and no memory is kept."""
    sizes = {kilobytes: b"PAYMENT-SIGNATURE: " + b"A" * (kilobytes * 1024) for kilobytes in (8, 16, 17, 64, 417, 512)}
    for header in sizes.values():
        exchange(service, request([header], b""))
    before = memory_kb(service)
    assert before > 0
    for _ in range(10):
        for kilobytes, header in sizes.items():
            status, _, body = exchange(service, request([header], b""))
            if kilobytes <= 17:
                assert (status, json.loads(body)["error"]) == (400, "invalid_payment")
            else:
                assert status in (0, 431), kilobytes
    assert memory_kb(service) - before < 16_000


def test_p03_two_payment_headers_pay_nothing(service: Any, ledger: Any) -> None:
    """Two good payments, or one twice, as only a socket can send them; then one of them alone, which is as good as new."""
    one, two = Payment(service), Payment(service)
    before = transfers(service)
    for headers in (
        [one.header, two.header],
        [one.header, one.header],
        [one.header.lower().replace(one.value.lower(), one.value), two.header],
        [one.header, b"x-payment: " + two.value],
        [one.header, b"X-Payment: " + one.value, b"PAYMENT-SIGNATURE: " + one.value],
        [one.header, b"PAYMENT-SIGNATURE:"],
    ):
        status, _, body = exchange(service, request([TYPE, *headers], b"{}"))
        assert (status, json.loads(body)["error"]) == (402, "ambiguous_payment")
    for value in (one.value + b", " + two.value, one.value + b"," + one.value, one.value + b"\r\n " + two.value):
        status, _, body = exchange(service, request([TYPE, b"PAYMENT-SIGNATURE: " + value], b"{}"))
        assert status == 400 or (status, json.loads(body)["error"]) == (402, "invalid_payload")
    assert (transfers(service), ledger.exists(record_key(one.id), record_key(two.id))) == (before, 0)
    assert exchange(service, request([TYPE, one.header], b"{}"))[0] == 200
    assert transfers(service) == before + 1


def test_p37_an_answer_that_got_lost_is_fetched_with_the_same_request(service: Any, ledger: Any) -> None:
    """The connection breaks as soon as the payment was taken: the call is settled, run and stored all the same, and every copy
    of the request then gets the same bytes, the same receipt, and is not charged."""
    before = transfers(service)
    payment = Payment(service)
    message = request([TYPE, payment.header], b'{"message":"lost"}')
    exchange(service, message, until=lambda: ledger.exists(record_key(payment.id)))
    give_up_at = time.monotonic() + patience(10)
    while ledger.hget(record_key(payment.id), "state") != "DONE":
        assert time.monotonic() < give_up_at, ledger.hgetall(record_key(payment.id))
        time.sleep(0.05)
    answers = [exchange(service, message) for _ in range(3)]
    assert {(status, body) for status, _, body in answers} == {
        (200, b'{"ok":true,"service":"coinslot","youSent":"lost"}')
    }
    receipts = {
        line for _, head, _ in answers for line in head.split(b"\r\n") if line.lower().startswith(b"payment-response")
    }
    assert len(receipts) == 1
    assert ledger.hget(record_key(payment.id), "attempts") == "1"
    assert transfers(service) == before + 1


TARGETS = [
    *(b"/V1/CDP/ECHO", b"/v1/cdp/ECHO", b"/v1/cdp/echo/", b"//v1/cdp/echo", b"/v1//cdp/echo", b"/v1/cdp/./echo"),
    *(b"/v1/x/../cdp/echo", b"/v1/cdp/%65cho", b"/v1/cdp/%2565cho", b"/v1/cdp%2fecho", b"/v1/cdp/echo%2f"),
    *(b"/v1/cdp/echo%00", b"/v1/cdp/echo%20", b"/v1/cdp/echo;a=b", b"/v1/cdp/echo#", b"/v1/cdp/ech%C3%B6"),
    *(b"/v1/cdp/ech%FF", b"/v1/cdp/%EF%BD%85cho", b"/v1/cdp/%zzecho", b"\\v1\\cdp\\echo", b"/v1/cdp/echo\\"),
    *(b"http://shop/v1/cdp/echo", b"http://other.example/v1/cdp/echo", b"/v1/cdp/../../v1/cdp/echo"),
    *(b"/v1/cdp/echo?", b"/v1/cdp/echo?#a", b"*", b"v1/cdp/echo"),
]


@pytest.mark.parametrize("origin", [(), (b"Origin: https://agent.example",)], ids=["agent", "browser"])
def test_p39_no_spelling_of_the_target_is_another_call(service: Any, ledger: Any, origin: tuple[bytes, ...]) -> None:
    """A used payment at every spelling of the path that a socket can send: nothing there, or the same call and its stored
    answer; never a second transfer."""
    payment = Payment(service)
    before = transfers(service)
    headers = [TYPE, payment.header, *origin]
    status, _, first = exchange(service, request(headers, b'{"message":"a"}'))
    assert status == 200
    for target in TARGETS:
        unpaid = exchange(service, request([TYPE, *origin], b"{}", target))[0]
        same, _, body = exchange(service, request(headers, b'{"message":"a"}', target))
        other = exchange(service, request(headers, b'{"message":"b"}', target))[0]
        assert (unpaid, same, other) in ((404, 404, 404), (400, 400, 400), (402, 200, 402)), target
        assert same != 200 or body == first, target
    assert transfers(service) == before + 1
    assert ledger.hget(record_key(payment.id), "attempts") == "1"
