"""Every property of a payment, set wrong alone, is refused with its own reason, and nothing happens on the chain."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.each import each
from tests.facilitator.bench import ABSENT, TOKEN, Bench, Payer, changed

pytestmark = pytest.mark.anyio

N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
ELSEWHERE = "0x" + "99" * 20
SIGNATURE = "paymentPayload.payload.signature"
AUTHORIZATION = "paymentPayload.payload.authorization"
OFFER = "paymentRequirements"
ACCEPTED = "paymentPayload.accepted"

BAD_SIGNATURE = "invalid_exact_evm_payload_signature"
BAD_VALUE = "invalid_exact_evm_payload_authorization_value_mismatch"
BAD_RECIPIENT = "invalid_exact_evm_payload_recipient_mismatch"
EARLY = "invalid_exact_evm_payload_authorization_valid_after"
LATE = "invalid_exact_evm_payload_authorization_valid_before"
BAD_OFFER = "invalid_payment_requirements"
UNDEPLOYED = "invalid_exact_evm_payload_undeployed_smart_wallet"


def now(seconds: int) -> str:
    return str(int(time.time()) + seconds)


def high_s(signature: str) -> str:
    """The malleable twin of a signature."""
    r, s, v = signature[:66], int(signature[66:130], 16), int(signature[130:], 16)
    return f"{r}{N - s:064x}{55 - v:02x}"


def unsigned(path: str, value: Any) -> Callable[[Payer, str], Any]:
    """Changed after it was signed."""
    return lambda payer, pay_to: changed(payer.call(pay_to), path, value)


@dataclass(frozen=True)
class Signed:
    """Signed as it is sent, but not as it was offered."""

    fields: Callable[[], dict[str, str]]

    def __call__(self, payer: Payer, pay_to: str) -> Any:
        return payer.call(pay_to, **self.fields())


def by_somebody_else(payer: Payer, pay_to: str) -> Any:
    return Payer(payer.address).call(pay_to)


def by_the_malleable_twin(payer: Payer, pay_to: str) -> Any:
    call = payer.call(pay_to)
    return changed(call, SIGNATURE, high_s(call["paymentPayload"]["payload"]["signature"]))


def for_another_offer(payer: Payer, pay_to: str) -> Any:
    """A good payment of the cheap call, presented for the dear one."""
    return changed(payer.call(pay_to), f"{OFFER}.amount", "80000")


REFUSED: dict[str, tuple[Callable[[Payer, str], Any], str]] = {
    "another signer": (by_somebody_else, BAD_SIGNATURE),
    "high s": (by_the_malleable_twin, BAD_SIGNATURE),
    "garbage signature": (unsigned(SIGNATURE, "0x" + "ab" * 65), BAD_SIGNATURE),
    "zero signature": (unsigned(SIGNATURE, "0x" + "00" * 65), BAD_SIGNATURE),
    "nonce changed": (unsigned(f"{AUTHORIZATION}.nonce", "0x" + "12" * 32), BAD_SIGNATURE),
    "payer changed": (unsigned(f"{AUTHORIZATION}.from", ELSEWHERE), BAD_SIGNATURE),
    "validAfter changed": (unsigned(f"{AUTHORIZATION}.validAfter", "1"), BAD_SIGNATURE),
    "64 byte signature": (unsigned(SIGNATURE, "0x" + "ab" * 64), UNDEPLOYED),
    "ERC-6492": (unsigned(SIGNATURE, "0x" + "ab" * 96 + "6492" * 16), UNDEPLOYED),
    "value up": (Signed(lambda: {"value": "1001"}), BAD_VALUE),
    "value down": (Signed(lambda: {"value": "999"}), BAD_VALUE),
    "value changed": (unsigned(f"{AUTHORIZATION}.value", "1001"), BAD_VALUE),
    "a dearer offer": (for_another_offer, BAD_VALUE),
    "signed for another": (Signed(lambda: {"to": ELSEWHERE}), BAD_RECIPIENT),
    "recipient changed": (unsigned(f"{AUTHORIZATION}.to", ELSEWHERE), BAD_RECIPIENT),
    "offer's recipient changed": (unsigned(f"{OFFER}.payTo", ELSEWHERE), BAD_RECIPIENT),
    "expired": (Signed(lambda: {"validBefore": now(-1)}), LATE),
    "about to expire": (Signed(lambda: {"validBefore": now(4)}), LATE),
    "valid for too long": (Signed(lambda: {"validBefore": now(400)}), LATE),
    "valid for ever": (Signed(lambda: {"validBefore": str(2**256 - 1)}), LATE),
    "not yet valid": (Signed(lambda: {"validAfter": now(30)}), EARLY),
    "offer's network": (unsigned(f"{OFFER}.network", "eip155:1"), "invalid_network"),
    "accepted network": (unsigned(f"{ACCEPTED}.network", "eip155:84532"), "invalid_network"),
    "network by name": (unsigned(f"{OFFER}.network", "base"), "invalid_network"),
    "network in capitals": (unsigned(f"{OFFER}.network", "EIP155:8453"), "invalid_network"),
    "asset": (unsigned(f"{OFFER}.asset", ELSEWHERE), BAD_OFFER),
    "asset without form": (unsigned(f"{OFFER}.asset", "USDC"), BAD_OFFER),
    "domain name": (unsigned(f"{OFFER}.extra.name", "USDC"), "missing_eip712_domain"),
    "domain version": (unsigned(f"{OFFER}.extra.version", "1"), "missing_eip712_domain"),
    "domain version as a number": (unsigned(f"{OFFER}.extra.version", 2), "missing_eip712_domain"),
    "no domain name": (unsigned(f"{OFFER}.extra.name", ABSENT), "missing_eip712_domain"),
    "no extra": (unsigned(f"{OFFER}.extra", ABSENT), "missing_eip712_domain"),
    "version 1": (unsigned("x402Version", 1), "invalid_x402_version"),
    "version 99": (unsigned("x402Version", 99), "invalid_x402_version"),
    "payment version 1": (unsigned("paymentPayload.x402Version", 1), "invalid_x402_version"),
    "payment version 99": (unsigned("paymentPayload.x402Version", 99), "invalid_x402_version"),
    "scheme": (unsigned(f"{OFFER}.scheme", "upto"), "unsupported_scheme"),
    "accepted scheme": (unsigned(f"{ACCEPTED}.scheme", "Exact"), "unsupported_scheme"),
    "amount 1_000": (unsigned(f"{OFFER}.amount", "1_000"), BAD_OFFER),
    "amount 01000": (unsigned(f"{OFFER}.amount", "01000"), BAD_OFFER),
    "amount +1000": (unsigned(f"{OFFER}.amount", "+1000"), BAD_OFFER),
    "amount 1e3": (unsigned(f"{OFFER}.amount", "1e3"), BAD_OFFER),
    "amount ' 1000'": (unsigned(f"{OFFER}.amount", " 1000"), BAD_OFFER),
    "amount of other digits": (unsigned(f"{OFFER}.amount", "１０００"), BAD_OFFER),
    "negative amount": (unsigned(f"{OFFER}.amount", "-1000"), BAD_OFFER),
    "empty amount": (unsigned(f"{OFFER}.amount", ""), BAD_OFFER),
    "payTo garbage": (unsigned(f"{OFFER}.payTo", "garbage"), BAD_OFFER),
    "payTo too short": (unsigned(f"{OFFER}.payTo", "0x" + "11" * 19), BAD_OFFER),
    "payTo without 0x": (unsigned(f"{OFFER}.payTo", "11" * 20), BAD_OFFER),
    "payTo with a line end": (unsigned(f"{OFFER}.payTo", "0x" + "11" * 20 + "\n"), BAD_OFFER),
    "value 1_000": (unsigned(f"{AUTHORIZATION}.value", "1_000"), "invalid_payload"),
    "value as a number": (unsigned(f"{AUTHORIZATION}.value", 1000), "invalid_payload"),
    "value of 2**256": (unsigned(f"{AUTHORIZATION}.value", str(2**256)), "invalid_payload"),
    "nonce of 31 bytes": (unsigned(f"{AUTHORIZATION}.nonce", "0x" + "12" * 31), "invalid_payload"),
    "payer garbage": (unsigned(f"{AUTHORIZATION}.from", "garbage"), "invalid_payload"),
    "signature garbage": (unsigned(SIGNATURE, "garbage"), "invalid_payload"),
    "signature of 5 KB": (unsigned(SIGNATURE, "0x" + "ab" * 5_000), "invalid_payload"),
    "no signature": (unsigned(SIGNATURE, ABSENT), "invalid_payload"),
    "no authorization": (unsigned(AUTHORIZATION, ABSENT), "invalid_payload"),
    "authorization as a list": (unsigned(AUTHORIZATION, []), "invalid_payload"),
    "no payer": (unsigned(f"{AUTHORIZATION}.from", ABSENT), "invalid_payload"),
    "payer as a number": (unsigned(f"{AUTHORIZATION}.from", 5), "invalid_payload"),
    "permit2": (
        unsigned("paymentPayload.payload", {"signature": "0x00", "permit2Authorization": {}}),
        "invalid_payload",
    ),
}


@pytest.fixture(scope="module")
def payer(bench: Bench) -> Payer:
    """One with money: only the payment is wrong."""
    return bench.payer()


async def refusals(facilitator: httpx.AsyncClient, call: Any) -> tuple[str, str]:
    """What /verify and /settle say."""
    verified = await facilitator.post("/verify", json=call)
    settled = await facilitator.post("/settle", json=call)
    assert (verified.status_code, settled.status_code) == (200, 200)
    assert verified.json()["isValid"] is False
    assert settled.json()["success"] is False
    assert settled.json()["transaction"] == ""
    return verified.json()["invalidReason"], settled.json()["errorReason"]


@each(("made", "reason"), REFUSED.values(), ids=REFUSED)
async def test_a_wrong_payment_is_refused(
    facilitator: httpx.AsyncClient,
    bench: Bench,
    payer: Payer,
    pay_to: str,
    made: Callable[[Payer, str], Any],
    reason: str,
) -> None:
    """With its reason, by /verify and /settle alike; no money moves."""
    held, sent = bench.balance(payer.address), bench.rpc("eth_getTransactionCount", bench.sandbox.settler, "pending")

    assert await refusals(facilitator, made(payer, pay_to)) == (reason, reason)

    assert bench.balance(payer.address) == held
    assert bench.rpc("eth_getTransactionCount", bench.sandbox.settler, "pending") == sent


async def test_a_payer_without_money_is_refused(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """One unit too little is too little, and the nonce stays usable for when there is enough."""
    payer = bench.payer(funds=999)
    call = payer.call(pay_to)

    assert await refusals(facilitator, call) == ("insufficient_funds", "insufficient_funds")
    assert not bench.is_used(call)

    bench.mint(payer.address, 1)
    assert (await facilitator.post("/settle", json=call)).json()["success"]


async def test_a_cancelled_payment_is_refused(
    facilitator: httpx.AsyncClient, bench: Bench, payer: Payer, pay_to: str
) -> None:
    """A nonce that cancelAuthorization used up has paid nothing, though it looks like a settled one."""
    call = payer.call(pay_to)
    bench.cancel(payer, call)

    assert await refusals(facilitator, call) == ("invalid_exact_evm_nonce_already_used",) * 2
    assert (bench.is_used(call), bench.balance(pay_to)) == (True, 0)


async def test_an_expired_payment_that_was_cancelled_is_refused(
    facilitator: httpx.AsyncClient, bench: Bench, payer: Payer, pay_to: str
) -> None:
    """The used nonce of an expired payment is looked into, and is no payment."""
    call = payer.call(pay_to, validBefore=now(-1))
    bench.cancel(payer, call)

    assert await refusals(facilitator, call) == (LATE, LATE)


async def test_the_zero_address_cannot_be_paid(facilitator: httpx.AsyncClient, payer: Payer) -> None:
    """What the token itself refuses is refused before a transaction is sent."""
    reason = "invalid_exact_evm_transaction_simulation_failed"

    assert await refusals(facilitator, payer.call("0x" + "00" * 20)) == (reason, reason)


async def test_the_offer_decides_and_not_what_the_client_accepted(
    facilitator: httpx.AsyncClient, payer: Payer, pay_to: str
) -> None:
    """A client's copy of the offer with a lower amount and its own recipient changes nothing."""
    call = payer.call(pay_to, to=ELSEWHERE, value="1")
    for field, value in (("amount", "1"), ("payTo", ELSEWHERE)):
        call = changed(call, f"{ACCEPTED}.{field}", value)

    assert await refusals(facilitator, call) == (BAD_RECIPIENT, BAD_RECIPIENT)


def test_the_token_is_bases() -> None:
    """The table above is about USDC on Base."""
    assert TOKEN.address == "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
