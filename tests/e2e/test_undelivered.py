"""Callers that hang up before they have the answer, and sign a new payment for the same call, as clients do that know no
payment-identifier."""

from __future__ import annotations

import base64
import json
import socket
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis
from coincurve import PrivateKey

from shared.ledger.keys import in_every_bucket
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


def keys(service: Any, name: str) -> set[str]:
    """The ledger's keys of this name."""
    settings = dict(line.split("=", 1) for line in service.environment)
    with redis.Redis.from_url(settings["COINSLOT_LEDGER_URL"], decode_responses=True) as ledger:
        return set(ledger.scan_iter(in_every_bucket(name), count=1000))


def until_more(service: Any, name: str, before: set[str]) -> None:
    """Wait until the ledger has one more."""
    give_up_at = time.monotonic() + patience(20)
    while len(keys(service, name)) <= len(before):
        assert time.monotonic() < give_up_at


def hang_up(service: Any, header: str, body: bytes, *, is_noted: bool = True) -> None:
    """Send a call, and close the connection once its payment is claimed. Wait until the ledger knows that it is closed."""
    claimed, noted = keys(service, "payment:*"), keys(service, "undelivered:*")
    url = urlsplit(service.base_url)
    assert url.port
    with socket.create_connection(("127.0.0.1", url.port), timeout=patience(15)) as connection:
        connection.sendall(
            f"POST /v1/cdp/echo HTTP/1.1\r\nhost: {url.netloc}\r\npayment-signature: {header}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        until_more(service, "payment:*", claimed)
    if is_noted:
        until_more(service, "undelivered:*", noted)


def call(service: Any, header: str, body: bytes) -> tuple[int, dict[str, Any], str]:
    """Status, body and the receipt's transaction."""
    headers = {"payment-signature": header, "content-type": "application/json"}
    answer = httpx.post(f"{service.base_url}/v1/cdp/echo", headers=headers, content=body, timeout=patience(30))
    receipt = json.loads(base64.b64decode(answer.headers["payment-response"]))
    return answer.status_code, answer.json(), receipt["transaction"]


def test_the_next_payment_gets_the_answer_that_was_not_delivered(service: Any, key: PrivateKey) -> None:
    """It is not settled, and its receipt is that of the first. The one after it is for another call, as is one for another
    body."""
    before, body = received(service), json.dumps({"message": uuid.uuid4().hex}).encode()
    first = signed(service, key)
    hang_up(service, first, body)
    second = call(service, signed(service, key), body)
    assert second == call(service, first, body)
    assert received(service) - before == 1000
    third, other = call(service, signed(service, key), body), call(service, signed(service, key), b'{"message": "b"}')
    assert (third[0], other[0], len({second[2], third[2], other[2]})) == (200, 200, 3)
    assert received(service) - before == 3000


def test_calls_at_the_same_time_and_named_calls_are_calls_each(service: Any, key: PrivateKey) -> None:
    """A caller that hangs up on one call pays for those that it has named, and for those that he waits for."""
    before, body = received(service), json.dumps({"message": uuid.uuid4().hex}).encode()
    hang_up(service, signed(service, key, uuid.uuid4().hex), body, is_noted=False)
    hang_up(service, signed(service, key), body)
    named = call(service, signed(service, key, uuid.uuid4().hex), body)
    assert named[0] == 200
    give_up_at = time.monotonic() + patience(20)
    while received(service) - before < 3000:
        assert time.monotonic() < give_up_at
        time.sleep(0.05)
    assert received(service) - before == 3000
