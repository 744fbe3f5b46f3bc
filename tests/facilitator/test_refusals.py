"""Every property of a payment, set wrong alone, is refused with its own reason, and nothing happens on the chain."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.each import each
from tests.facilitator.bench import ABSENT, Bench, Payer, changed

pytestmark = pytest.mark.anyio

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


REFUSED: dict[str, tuple[Callable[[Payer, str], Any], str]] = {
    "another signer": (by_somebody_else, BAD_SIGNATURE),
    "64 byte signature": (unsigned(SIGNATURE, "0x" + "ab" * 64), UNDEPLOYED),
    "value up": (Signed(lambda: {"value": "1001"}), BAD_VALUE),
    "a dearer offer": (unsigned(f"{OFFER}.amount", "80000"), BAD_VALUE),
    "signed for another": (Signed(lambda: {"to": ELSEWHERE}), BAD_RECIPIENT),
    "expired": (Signed(lambda: {"validBefore": now(-1)}), LATE),
    "about to expire": (Signed(lambda: {"validBefore": now(4)}), LATE),
    "valid for too long": (Signed(lambda: {"validBefore": now(400)}), LATE),
    "not yet valid": (Signed(lambda: {"validAfter": now(30)}), EARLY),
    "offer's network": (unsigned(f"{OFFER}.network", "eip155:1"), "invalid_network"),
    "accepted network": (unsigned(f"{ACCEPTED}.network", "eip155:84532"), "invalid_network"),
    "network by name": (unsigned(f"{OFFER}.network", "base"), "invalid_network"),
    "network in capitals": (unsigned(f"{OFFER}.network", "EIP155:8453"), "invalid_network"),
    "asset": (unsigned(f"{OFFER}.asset", ELSEWHERE), BAD_OFFER),
    "domain name": (unsigned(f"{OFFER}.extra.name", "USDC"), "missing_eip712_domain"),
    "domain version as a number": (unsigned(f"{OFFER}.extra.version", 2), "missing_eip712_domain"),
    "no extra": (unsigned(f"{OFFER}.extra", ABSENT), "missing_eip712_domain"),
    "version 1": (unsigned("x402Version", 1), "invalid_x402_version"),
    "payment version 1": (unsigned("paymentPayload.x402Version", 1), "invalid_x402_version"),
    "scheme": (unsigned(f"{OFFER}.scheme", "upto"), "unsupported_scheme"),
    "accepted scheme": (unsigned(f"{ACCEPTED}.scheme", "Exact"), "unsupported_scheme"),
    "an amount of another form": (unsigned(f"{OFFER}.amount", "1e3"), BAD_OFFER),
    "a recipient of another form": (unsigned(f"{OFFER}.payTo", "garbage"), BAD_OFFER),
    "no payer": (unsigned(f"{AUTHORIZATION}.from", ABSENT), "invalid_payload"),
    "permit2": (
        unsigned("paymentPayload.payload", {"signature": "0x00", "permit2Authorization": {}}),
        "invalid_payload",
    ),
}
"""Each check of the rail, and some of those of the verifier, whose own table is in tests/shared/x402/test_evm.py."""


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
