"""Callers that hang up before they have the answer, and sign a new payment for the same call, as clients do that know no
payment-identifier."""

import base64
import json
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis
from coincurve import PrivateKey

from shared.ledger.keys import in_every_bucket, record_key
from shared.money import Price
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests import signing
from tests.time_limits import patience

USDC = EVM_USDC["eip155:8453"]


@pytest.fixture
def key(service: Any) -> PrivateKey:
    return PrivateKey(bytes.fromhex(service.sandbox["evm"]["payerKey"].removeprefix("0x")))


def signed(service: Any, key: PrivateKey, name: str = "") -> str:
    """The header of a new payment for echo."""
    offer = evm.offers(USDC, Price.of("0.001"), service.sandbox["evm"]["payTo"])[0]
    payment: dict[str, Any] = {
        "x402Version": 2,
        "accepted": signing.wire(offer),
        "payload": signing.payload(key, offer),
        "resource": {"url": f"{service.base_url}/v1/cdp/echo"},
    }
    if name:
        payment["extensions"] = {"payment-identifier": {"info": {"required": False, "id": name}}}
    return base64.b64encode(json.dumps(payment).encode()).decode()


def received(service: Any) -> int:
    """USDC of the recipient, in atomic units."""
    to = service.sandbox["evm"]["payTo"].removeprefix("0x").lower().rjust(64, "0")
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_call"}
    params = [{"to": USDC.address, "data": "0x70a08231" + to}, "latest"]
    return int(httpx.post(service.sandbox["evm"]["rpcUrl"], json={**call, "params": params}).json()["result"], 16)


def record_of(header: str) -> str:
    """The key of a payment's record."""
    signed = json.loads(base64.b64decode(header))["payload"]["authorization"]
    return record_key(f"{USDC.network}:{USDC.address.lower()}:{signed['from'].lower()}:{signed['nonce'].lower()}")


@contextmanager
def ledger_of(service: Any) -> Iterator[redis.Redis]:
    settings = dict(line.split("=", 1) for line in service.environment)
    with redis.Redis.from_url(settings["COINSLOT_LEDGER_URL"]) as ledger:
        yield ledger


def marks(ledger: redis.Redis) -> set[bytes]:
    """The answers that were not delivered."""
    return set(ledger.scan_iter(in_every_bucket("undelivered:*"), count=10_000))


def is_noted(service: Any, header: str, body: bytes) -> bool:
    """Send a call, and close the connection when its payment is claimed. Returns whether the shop has noticed that: on a busy
    machine it may have answered before."""
    url, give_up_at = urlsplit(service.base_url), time.monotonic() + patience(15)
    assert url.port
    with ledger_of(service) as ledger:
        before, record = marks(ledger), record_of(header)
        with socket.create_connection(("127.0.0.1", url.port), timeout=patience(15)) as connection:
            connection.sendall(
                f"POST /v1/cdp/echo HTTP/1.1\r\nhost: {url.netloc}\r\npayment-signature: {header}\r\n"
                f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
                + body
            )
            while not ledger.exists(record):
                assert time.monotonic() < give_up_at
        while ledger.hget(record, "state") != b"DONE":
            assert time.monotonic() < give_up_at
            if marks(ledger) - before:
                return True
        return bool(marks(ledger) - before)


def hung_up(service: Any, key: PrivateKey) -> tuple[str, bytes]:
    """The payment and the body of a call on whose connection the caller hung up."""
    for _ in range(5):
        header, body = signed(service, key), json.dumps({"message": uuid.uuid4().hex}).encode()
        if is_noted(service, header, body):
            return header, body
    raise AssertionError("no hang-up was noticed")


def call(service: Any, header: str, body: bytes) -> tuple[int, dict[str, Any], str]:
    """Status, body and the receipt's transaction."""
    headers = {"payment-signature": header, "content-type": "application/json"}
    answer = httpx.post(f"{service.base_url}/v1/cdp/echo", headers=headers, content=body, timeout=patience(30))
    receipt = json.loads(base64.b64decode(answer.headers["payment-response"]))
    return answer.status_code, answer.json(), receipt["transaction"]


def test_the_next_payment_gets_the_answer_that_was_not_delivered(service: Any, key: PrivateKey) -> None:
    """It is not settled, and its receipt is that of the first. The one after it is for another call, as is one for another
    body."""
    first, body = hung_up(service, key)
    again = signed(service, key)
    second = call(service, again, body)
    assert second == call(service, first, body)
    with ledger_of(service) as ledger:
        assert not ledger.exists(record_of(again))
    before = received(service)
    third, other = call(service, signed(service, key), body), call(service, signed(service, key), b'{"message": "b"}')
    assert (third[0], other[0], len({second[2], third[2], other[2]})) == (200, 200, 3)
    assert received(service) - before == 2000


def test_a_named_call_is_a_call_for_itself(service: Any, key: PrivateKey) -> None:
    """Whatever of the same request was not delivered. It leaves no mark itself."""
    first, body = hung_up(service, key)
    named = call(service, signed(service, key, uuid.uuid4().hex), body)
    assert (named[0], named[2] != call(service, first, body)[2]) == (200, True)
    assert not is_noted(service, signed(service, key, uuid.uuid4().hex), body)
