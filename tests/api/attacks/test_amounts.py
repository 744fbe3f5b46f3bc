"""Attacks with what is paid: amounts, units, recipients, assets (P6, P7, P8, P35)."""

import copy
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dramatiq
import httpx
import pytest
from coincurve import PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from jobs.catalogue import BY_NAME
from shared.money import Price
from shared.settings.service import Settings
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from shared.x402.refusal import PaymentRefused
from tests import signing
from tests.api.paying import Payer, paid_with
from tests.each import each

PATH = "/v1/cdp/echo"
PAY_TO = "0x1111111111111111111111111111111111111111"

pytestmark = pytest.mark.anyio


SOLD = (BY_NAME["echo"],)
"""These tests buy echo."""


AMOUNTS: list[Any] = [
    *("999", "1001", "0", "1", "-1000", "+1000", " 1000", "1000 ", "\t1000", "1000\n", "01000", "001000", "1_000"),
    *("1e3", "1E3", "10e2", "1000.0", "1000.", "1,000", "1 000", "0x3e8", "0b1111101000", "0o1750", "1000n", "1000L"),
    *("１０００", "١٠٠٠", "१०००", "1000\u200b", "\ufeff1000", "1000\x00", "¹⁰⁰⁰", "", "NaN", "Infinity", "one"),
    *("1" * 78, "1" * 79, "1" * 5_000, str(2**256 + 1000), str(2**64 + 1000), "0.001"),
    *(1000, 1000.0, True, None, ["1000"], {"amount": "1000"}),
]


async def test_p06_no_other_spelling_of_the_amount_pays(
    shop: httpx.AsyncClient, payer: Payer, exchanges: Any, ledger: Any
) -> None:
    """Too little, too much, or the right number in a spelling that a lenient parser reads as another one: in the accepted
    offer, and in the authorization, whose signature is over the right amount."""
    for amount in AMOUNTS:
        for place in ("accepted", "authorization"):
            payment = payer.payment()
            if place == "accepted":
                payment["accepted"]["amount"] = amount
            else:
                payment["payload"]["authorization"]["value"] = amount
            answer = await shop.post(PATH, json={}, headers=paid_with(payment))
            is_shape = place == "accepted" and not isinstance(amount, str)
            assert answer.status_code == (400 if is_shape else 402), (place, amount)
            assert answer.json()["error"] in (
                "invalid_payment",
                "invalid_payload",
                "no_matching_offer",
                "invalid_exact_evm_payload_authorization_value_mismatch",
            ), (place, amount)
    assert (exchanges.made, ledger.keys()) == ([], [])


OFFER = evm.offers(EVM_USDC["eip155:8453"], Price.of("0.001"), PAY_TO)[0]
GOOD = signing.payload(PrivateKey(bytes([7] * 32)), OFFER, now=1_800_000_000)
INSERTED = st.tuples(st.integers(0, 4), st.characters()).map(lambda at: "1000"[: at[0]] + at[1] + "1000"[at[0] :])


@given(st.one_of(INSERTED, st.integers(-(10**80), 10**80).map(str), st.text(max_size=6), st.floats().map(str)))
def test_p06_only_the_exact_digits_are_the_amount(text: str) -> None:
    """Any text at all in the place of the amount: accepted if and only if it is the offer's own digits."""
    payload = copy.deepcopy(GOOD)
    payload["authorization"]["value"] = text
    if text == "1000":
        assert evm.check(OFFER, payload).value == 1000
        return
    with pytest.raises(PaymentRefused):
        evm.check(OFFER, payload)


GOLDEN = json.loads(Path(__file__).with_name("accepts.json").read_text())
"""Amounts by SPEC's price list: 6 decimals of USDC on an EVM chain. A rail with other decimals gets rows of its own."""


@pytest.mark.parametrize("network", sorted(GOLDEN["tokens"]))
async def test_p07_every_offer_is_in_the_units_of_its_asset(
    settings: Settings, open_shop: Any, facilitator: Any, network: str
) -> None:
    """A unit confused between assets would sell for a tenth or ten times the price: every offer of every endpoint, by hand."""
    asset, name, version = GOLDEN["tokens"][network]
    async with open_shop(dataclasses.replace(settings, evm=dataclasses.replace(settings.evm, network=network))) as shop:
        listed = (await shop.get("/openapi.json")).json()["paths"]
        assert {path.removeprefix("/v1/cdp/") for path in listed if path.startswith("/v1/")} <= set(GOLDEN["amounts"])
        for endpoint, amount in GOLDEN["amounts"].items():
            accepts = (await shop.post("/v1/cdp/" + endpoint)).json()["accepts"]
            assert accepts == [
                {
                    "scheme": "exact",
                    "network": network,
                    "amount": amount,
                    "asset": asset,
                    "payTo": PAY_TO,
                    "maxTimeoutSeconds": 60,
                    "extra": {"name": name, "version": version, "paymentFlow": "upfront"},
                }
            ], endpoint


def test_p07_the_price_is_never_rounded() -> None:
    """0.001 in assets of 6 and 7 decimals; what an asset cannot express is an error at the start and not a cheaper offer."""
    assert [Price.of("0.001").atomic(decimals) for decimals in (3, 6, 7, 18)] == [1, 1_000, 10_000, 10**15]
    with pytest.raises(ValueError, match="decimals"):
        Price.of("0.0015").atomic(3)


STRANGER = "0x" + "22" * 20
OTHER = PrivateKey(bytes([9] * 32))


def changed_after_signing(field: str, value: str) -> Callable[[Any], Any]:
    def change(payer: Payer) -> Any:
        payment = payer.payment()
        payment["payload"]["authorization"][field] = value
        return payment

    return change


def signed_for(**changes: Any) -> Callable[[Any], Any]:
    """Correct in `accepted`, and signed for another domain, chain or contract."""

    def sign(payer: Payer) -> Any:
        payment = payer.payment()
        other = OFFER.__class__(**{**{name: getattr(OFFER, name) for name in OFFER.__struct_fields__}, **changes})
        fields = payment["payload"]["authorization"]
        payment["payload"]["signature"] = signing.payload(payer.key, other, **fields)["signature"]
        return payment

    return sign


def signed_by_another(payer: Payer) -> Any:
    payment = payer.payment()
    fields = payment["payload"]["authorization"]
    payment["payload"]["signature"] = signing.payload(OTHER, OFFER, **fields)["signature"]
    return payment


MISMATCHES: dict[str, Callable[[Any], Any]] = {
    "signed to a stranger": lambda payer: payer.payment(to=STRANGER),
    "signed over less": lambda payer: payer.payment(value="1"),
    "signed over more": lambda payer: payer.payment(value="1000000000"),
    "recipient changed": changed_after_signing("to", STRANGER),
    "recipient changed back": lambda payer: changed_to_ours(payer.payment(to=STRANGER)),
    "amount raised": lambda payer: raised(payer.payment(value="1")),
    "payer changed": changed_after_signing("from", STRANGER),
    "nonce changed": changed_after_signing("nonce", "0x" + "33" * 32),
    "window changed": changed_after_signing("validAfter", "1"),
    "signed by another": signed_by_another,
    "other chain": signed_for(network="eip155:1"),
    "test chain": signed_for(network="eip155:84532"),
    "other contract": signed_for(asset=STRANGER),
    "other domain name": signed_for(extra={"name": "USDC", "version": "2"}),
    "other domain version": signed_for(extra={"name": "USD Coin", "version": "1"}),
}


def changed_to_ours(payment: Any) -> Any:
    payment["payload"]["authorization"]["to"] = PAY_TO
    return payment


def raised(payment: Any) -> Any:
    payment["payload"]["authorization"]["value"] = "1000"
    return payment


@each("mismatch", MISMATCHES)
async def test_p08_what_was_signed_is_what_was_offered(
    shop: httpx.AsyncClient, payer: Payer, exchanges: Any, ledger: Any, mismatch: str
) -> None:
    """`accepted` is our own offer to the letter, and what was signed pays somebody else, elsewhere, or something else."""
    payment = MISMATCHES[mismatch](payer)
    assert payment["accepted"] == signing.wire(OFFER)
    answer = await shop.post(PATH, json={}, headers=paid_with(payment))
    assert answer.status_code == 402
    assert answer.json()["error"].startswith("invalid_exact_evm_payload_")
    assert (exchanges.made, ledger.keys()) == ([], [])


async def test_p08_the_facilitator_is_told_our_offer_and_not_the_clients(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, payer: Payer, exchanges: Any
) -> None:
    """The client smuggles terms of its own into `accepted`, in the places where it may add: none of them travels on."""
    payment = payer.payment()
    payment["accepted"]["extra"] |= {"feePayer": STRANGER, "assetTransferMethod": "permit2", "amount": "1"}
    payment["accepted"] |= {"maxAmountRequired": "1", "outputSchema": {}}
    payment["accepted"]["payTo"] = payment["accepted"]["payTo"].upper().replace("0X", "0x")
    answer = await shop.post(PATH, json={}, headers=paid_with(payment))
    assert answer.status_code == 200
    (call,) = [body for path, body in exchanges.made if path == "/settle"]
    assert call["paymentRequirements"] == call["paymentPayload"]["accepted"] == signing.wire(OFFER)


NATIVE = [
    {"network": "xrpl:0", "asset": "XRP", "payTo": "rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De"},
    {"network": "xrpl:0", "asset": "XRP", "payTo": "rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De", "amount": "0.001"},
    {"network": "stellar:pubnet", "asset": "native"},
    {"network": "stellar:pubnet", "asset": "CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA"},
    {"asset": "0x" + "00" * 20},
    {"asset": "0x" + "ee" * 20},
    {"asset": "ETH"},
    {"asset": ""},
]


async def test_p35_a_chains_own_coin_is_not_taken(
    shop: httpx.AsyncClient, payer: Payer, exchanges: Any, ledger: Any
) -> None:
    """A thousand units of XRP, XLM or ether, worth something else, are offered as if they had been asked for."""
    for changes in NATIVE:
        payment = payer.payment()
        payment["accepted"] |= changes
        flat = {**payment["accepted"], "x402Version": 2, "payload": payment["payload"]}
        for one in (payment, flat) if "network" in changes else (payment,):
            answer = await shop.post(PATH, json={}, headers=paid_with(one))
            assert (answer.status_code, answer.json()["error"]) == (402, "no_matching_offer"), changes
            offered = {(offer["network"], offer["asset"]) for offer in answer.json()["accepts"]}
            assert offered == {("eip155:8453", EVM_USDC["eip155:8453"].address)}
    assert (exchanges.made, ledger.keys()) == ([], [])
