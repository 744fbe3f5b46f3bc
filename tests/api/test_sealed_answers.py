"""Sealed answers over the whole API: who gets one back, and who is told that the payment is used."""

import base64
import json
import secrets
from typing import Any

import httpx
import pytest
import redis

from api.payment import identifier
from jobs.catalogue import BY_NAME
from jobs.jwt_verify.endpoint import ENDPOINT as JWT_VERIFY
from shared.ledger.keys import in_every_bucket
from shared.money import Price
from shared.sealing.answers import SECRET_ANSWER_TTL_S
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests.api.paying import Payer, paid_with

ECHO, JWT = "/v1/cdp/echo", JWT_VERIFY.path
PRICES = {ECHO: "0.001", JWT: "0.005"}
BODIES: dict[str, Any] = {ECHO: {"message": "hello"}, JWT: JWT_VERIFY.example.request}

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("worker")]


SOLD = (BY_NAME["echo"], JWT_VERIFY)
"""These tests buy a call whose answer is secret, and one whose answer is not."""


@pytest.fixture
def ledger(clean_redis: str) -> redis.Redis:
    return redis.Redis.from_url(clean_redis)


def answer_key(ledger: redis.Redis) -> bytes:
    """Of the one answer that there is."""
    (key,) = ledger.keys(in_every_bucket("answer:*"))  # type: ignore[misc]
    return bytes(key)


def respelled(payment: dict[str, Any], signature: bytes) -> dict[str, Any]:
    """The same authorization with another signature."""
    return {**payment, "payload": {**payment["payload"], "signature": "0x" + signature.hex()}}


def signed_again(payer: Payer, payment: dict[str, Any], path: str) -> dict[str, Any]:
    """Signed by the same key with another random number, as any signer may: both signatures are valid."""
    offer = evm.offers(EVM_USDC["eip155:8453"], Price.of(PRICES[path]), payment["accepted"]["payTo"])[0]
    fields = payment["payload"]["authorization"]
    digest = evm.transfer_digest(
        offer,
        fields["from"],
        fields["to"],
        int(fields["value"]),
        int(fields["validAfter"]),
        int(fields["validBefore"]),
        bytes.fromhex(fields["nonce"][2:]),
    )
    order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    k = secrets.randbelow(order - 1) + 1
    point = type(payer.key)(k.to_bytes(32, "big")).public_key.format(compressed=False)
    r = int.from_bytes(point[1:33], "big") % order
    s = pow(k, -1, order) * (int.from_bytes(digest, "big") + r * payer.key.to_int()) % order
    odd = point[64] & 1
    if s > order // 2:
        s, odd = order - s, 1 - odd
    return respelled(payment, r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + odd]))


@pytest.mark.parametrize("path", [ECHO, JWT])
async def test_the_same_request_gets_the_same_bytes_and_redis_has_none_of_them(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, ledger: redis.Redis, path: str
) -> None:
    """Also when v is written 0 or 1 in the place of 27 or 28, which means the same."""
    payment = payer.payment(price=PRICES[path])
    first = await shop.post(path, json=BODIES[path], headers=paid_with(payment))
    signature = bytes.fromhex(payment["payload"]["signature"][2:])
    older_v = respelled(payment, signature[:64] + bytes([signature[64] - 27]))

    for again in (payment, older_v, payment):
        answer = await shop.post(path, json=BODIES[path], headers=paid_with(again))
        assert (answer.status_code, answer.content) == (200, first.content)

    assert len(facilitator.settles) == 1
    kept: Any = ledger.get(answer_key(ledger))
    assert first.content not in kept
    assert b"service" not in kept
    assert b"valid" not in kept


async def test_a_secret_answer_is_for_the_signature_that_paid(
    shop: httpx.AsyncClient, payer: Payer, ledger: redis.Redis
) -> None:
    """Another valid signature over the same authorization is told that the payment is used; the first still gets its answer.
    An answer that is not secret is the same for both."""
    for path, status in ((JWT, 402), (ECHO, 200)):
        payment = payer.payment(price=PRICES[path])
        headers = paid_with(payment)
        first = await shop.post(path, json=BODIES[path], headers=headers)
        other = paid_with(signed_again(payer, payment, path))
        assert other != headers
        answer = await shop.post(path, json=BODIES[path], headers=other)
        assert answer.status_code == status, answer.text
        assert status == 200 or answer.json()["error"] == "payment_already_used"
        assert (await shop.post(path, json=BODIES[path], headers=headers)).content == first.content


async def test_a_secret_answer_is_kept_for_a_quarter_of_an_hour(
    shop: httpx.AsyncClient, payer: Payer, ledger: redis.Redis
) -> None:
    """After it the payment is used up."""
    headers = payer.headers(price="0.005")
    assert (await shop.post(JWT, json=BODIES[JWT], headers=headers)).status_code == 200
    assert SECRET_ANSWER_TTL_S - 20 < int(ledger.ttl(answer_key(ledger))) <= SECRET_ANSWER_TTL_S  # type: ignore[arg-type]
    ledger.delete(answer_key(ledger))
    answer = await shop.post(JWT, json=BODIES[JWT], headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (402, "payment_already_used")


@pytest.mark.parametrize("path", [ECHO, JWT])
@pytest.mark.parametrize("change", ["garbage", "cut", "empty", "of another payment", "not sealed"])
async def test_an_answer_that_cannot_be_opened(
    shop: httpx.AsyncClient, payer: Payer, ledger: redis.Redis, caplog: pytest.LogCaptureFixture, path: str, change: str
) -> None:
    """Damaged, sealed under a key that is gone, another's, or from before answers were sealed: 402, and a line in the log."""
    headers = payer.headers(price=PRICES[path])
    first = await shop.post(path, json=BODIES[path], headers=headers)
    key = answer_key(ledger)
    kept: Any = ledger.get(key)
    other = b""
    if change == "of another payment":
        ledger.rename(key, "aside")
        second = payer.headers(price=PRICES[path])
        assert (await shop.post(path, json=BODIES[path], headers=second)).content == first.content
        other = ledger.get(answer_key(ledger)) or b""  # type: ignore[assignment]
    values = {
        "garbage": secrets.token_bytes(len(kept)),
        "cut": kept[:-1],
        "empty": b"",
        "of another payment": other,
        "not sealed": b"\x92\xa2ok\xc4" + bytes([len(first.content) % 256]) + first.content,
    }
    ledger.set(key, values[change], ex=60)

    answer = await shop.post(path, json=BODIES[path], headers=headers)

    assert (answer.status_code, answer.json()["error"]) == (402, "payment_already_used")
    assert f"an answer to {path} cannot be opened" in caplog.text
    assert "Traceback" not in caplog.text
    ledger.set(key, kept, ex=60)
    assert (await shop.post(path, json=BODIES[path], headers=headers)).content == first.content


async def test_a_worker_with_another_key_runs_nothing_and_the_payer_is_told(
    shop: httpx.AsyncClient, payer: Payer, monkeypatch: pytest.MonkeyPatch, facilitator: Any, paid_calls: Any
) -> None:
    """At once, with the receipt: it was charged, and the same payment brings the answer when the keys agree. Never 402."""
    headers = payer.headers()
    seal = paid_calls[ECHO]._services.dispatcher._sealer
    with monkeypatch.context() as changed:
        changed.setattr(seal, "_cipher", type(seal)(bytes(range(32)))._cipher)
        answer = await shop.post(ECHO, json=BODIES[ECHO], headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (500, "internal_error")
    assert (problem["charged"], problem["retryWithSamePayment"]) == (True, True)
    assert json.loads(base64.b64decode(answer.headers["payment-response"]))["success"] is True
    assert len(facilitator.settles) == 1


@pytest.mark.parametrize(("path", "status"), [(ECHO, 200), (JWT, 409)])
async def test_a_named_call_that_is_paid_for_again_does_not_show_a_secret_answer(
    shop: httpx.AsyncClient, payer: Payer, facilitator: Any, path: str, status: int
) -> None:
    """It is sealed for the payment that was charged. The second payment is not charged, and the first still fetches it."""
    echoed = {identifier.KEY: {"info": {"required": False, "id": secrets.token_hex(8)}}}
    first, second = ({**payer.payment(price=PRICES[path]), "extensions": echoed} for _ in range(2))
    answers = [
        await shop.post(path, json=BODIES[path], headers=paid_with(payment)) for payment in (first, second, first)
    ]
    assert [answer.status_code for answer in answers] == [200, status, 200]
    assert answers[0].content == answers[2].content
    assert len(facilitator.settles) == 1
    if status == 409:
        assert (answers[1].json()["code"], answers[1].json()["charged"]) == ("identifier_used", False)
