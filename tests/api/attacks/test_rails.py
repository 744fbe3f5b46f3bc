"""Payments on every rail, and what a payment is bound to where its network can carry a token (P4, P9, P11, P14, P28)."""

import asyncio
import base64
import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

import dramatiq
import httpx
import msgspec
import pytest
from coincurve import PrivateKey
from solders.keypair import Keypair
from stellar_sdk import Keypair as StellarKeypair
from xrpl.wallet import Wallet

from jobs.catalogue import BY_NAME, CATALOGUE
from shared.settings.rails import SolanaRailSettings, StellarRailSettings, XrplRailSettings
from shared.settings.service import Settings
from shared.x402.networks import SOLANA_USDC, STELLAR_USDC, XRPL_RLUSD, XRPL_USDC
from shared.x402.wire import Offer
from tests import signing, solana_signing, stellar_signing, xrpl_signing

pytestmark = pytest.mark.anyio

ECHO = "/v1/cdp/echo"
BODY = {"message": "a"}
LEDGER = 100
FEE_PAYER = str(Keypair.from_seed(bytes([7] * 32)).pubkey())
BASE, SOLANA, STELLAR, XRPL = "eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "stellar:pubnet", "xrpl:0"
SUPPORTED = {
    "kinds": [
        {"x402Version": 2, "scheme": "exact", "network": BASE},
        {"x402Version": 2, "scheme": "exact", "network": SOLANA, "extra": {"feePayer": FEE_PAYER}},
        {
            "x402Version": 2,
            "scheme": "exact",
            "network": STELLAR,
            "extra": {"areFeesSponsored": True, "ledger": LEDGER},
        },
        {"x402Version": 2, "scheme": "exact", "network": XRPL, "extra": {"ledger": LEDGER}},
    ]
}

Pay = Callable[[Offer], dict[str, Any]]
PAYERS: dict[str, tuple[str, str, Pay]] = {
    "base": (BASE, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", lambda offer: signing.payload(PrivateKey(), offer)),
    "solana": (SOLANA, SOLANA_USDC[SOLANA].mint, lambda offer: solana_signing.Draft(offer, Keypair()).payload()),
    "stellar": (
        STELLAR,
        STELLAR_USDC[STELLAR].contract,
        lambda offer: stellar_signing.payload(StellarKeypair.random(), offer, expiration=LEDGER + 12),
    ),
    "xrpl-usdc": (XRPL, XRPL_USDC[XRPL].currency, lambda offer: xrpl_signing.payload(Wallet.create(), offer)),
    "xrpl-rlusd": (XRPL, XRPL_RLUSD[XRPL].currency, lambda offer: xrpl_signing.t54_payload(Wallet.create(), offer)),
}
"""Network, asset and how a new payer pays. On the XRP Ledger each of the two kinds of client."""
BOUND = {"solana": "memo", "xrpl-usdc": "invoiceId", "xrpl-rlusd": "invoiceId"}
"""Where an offer has its token."""
MISMATCH = {
    "solana": "invalid_exact_svm_payload_memo_mismatch",
    "xrpl-usdc": "invalid_exact_xrpl_payload_invoice_id_mismatch",
    "xrpl-rlusd": "invalid_exact_xrpl_payload_invoice_id_mismatch",
}

TWINS = [one for one in CATALOGUE if str(one.price.value) == "0.005"][:2]
"""Two calls of one price."""


SOLD = (BY_NAME["echo"], *TWINS)
"""What these tests buy."""


every_rail = pytest.mark.parametrize("rail", PAYERS)
every_bound_rail = pytest.mark.parametrize("rail", BOUND)


@pytest.fixture
def settings(settings: Settings, facilitator: Any) -> Settings:
    """All rails, settled by the double."""
    facilitator.says = json.dumps(SUPPORTED).encode()
    return dataclasses.replace(
        settings,
        solana=SolanaRailSettings(
            pay_to=str(Keypair.from_seed(bytes([8] * 32)).pubkey()),
            facilitator_url=facilitator.url,
        ),
        stellar=StellarRailSettings(
            pay_to=StellarKeypair.from_raw_ed25519_seed(bytes([9] * 32)).public_key,
            facilitator_url=facilitator.url,
        ),
        xrpl=XrplRailSettings(
            pay_to="rpsqFvjMbCmMyT4Gfz7pfmzcExUDnjuktd",
            facilitator_url=facilitator.url,
        ),
    )


@pytest.fixture
async def shop(shop: httpx.AsyncClient) -> httpx.AsyncClient:
    """Once it knows what the facilitator says of every network."""
    for _ in range(500):
        if len((await shop.post(ECHO)).json()["accepts"]) == len(PAYERS):
            return shop
        await asyncio.sleep(0.01)
    raise TimeoutError("not all rails are offered")


async def offered(shop: httpx.AsyncClient, rail: str, body: Any = BODY, *, path: str = ECHO) -> Offer:
    """What a challenge asks for on a rail."""
    unpaid = await shop.post(path, json=body) if body is not None else await shop.post(path)
    network, asset, _ = PAYERS[rail]
    [offer] = [one for one in unpaid.json()["accepts"] if (one["network"], one["asset"]) == (network, asset)]
    return msgspec.convert(offer, Offer)


def payment(rail: str, offer: Offer) -> dict[str, Any]:
    """A new payer's payment of an offer."""
    return {"x402Version": 2, "accepted": msgspec.to_builtins(offer), "payload": PAYERS[rail][2](offer)}


def paid(made: Any, *, name: str = "PAYMENT-SIGNATURE", indent: int | None = None) -> dict[str, str]:
    return {name: base64.b64encode(json.dumps(made, indent=indent).encode()).decode()}


@every_rail
async def test_a_payment_on_every_rail_buys_one_call(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any, runs: list[Any], rail: str
) -> None:
    """And the same request again gets the same answer, with the receipt, and is neither settled nor run again."""
    made = payment(rail, await offered(shop, rail))
    first = await shop.post(ECHO, json=BODY, headers=paid(made))
    again = await shop.post(ECHO, json=BODY, headers=paid(made))

    assert (first.status_code, first.json()["youSent"]) == (200, "a"), first.text
    receipt = json.loads(base64.b64decode(first.headers["payment-response"]))
    assert (receipt["success"], receipt["network"]) == (True, PAYERS[rail][0])
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["payment-response"] == first.headers["payment-response"]
    assert (len(facilitator.settles), len(runs)) == (1, 1)


@every_rail
async def test_p04_one_payment_is_served_once_however_it_is_dressed(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any, runs: list[Any], rail: str
) -> None:
    """On two routes, in both headers, spelt in two ways, and for two bodies, all at once: one of the requests is served."""
    one, other = TWINS
    made = payment(rail, await offered(shop, rail, None, path=one.path))
    requests = [
        (path, body, paid(made, name=name, indent=indent))
        for path, body in (
            (one.path, one.example.request),
            (one.path, {**one.example.request, "unknown": 1}),
            (other.path, other.example.request),
        )
        for name in ("PAYMENT-SIGNATURE", "X-PAYMENT")
        for indent in (None, 2)
    ]
    answers = await asyncio.gather(*(shop.post(path, json=body, headers=headers) for path, body, headers in requests))

    served = {
        (path, json.dumps(body)) for (path, body, _), one in zip(requests, answers, strict=True) if one.is_success
    }
    assert len(served) == 1, [one.text for one in answers]
    assert {200} < {one.status_code for one in answers} <= {200, 402, 503}  # 503: while the one is being settled
    assert (len(facilitator.settles), len(runs)) == (1, 1)


@every_bound_rail
async def test_p14_a_token_is_for_the_body_of_its_challenge(
    shop: httpx.AsyncClient, exchanges: Any, ledger: Any, rail: str
) -> None:
    """The price was asked for one body; with another one the payment is refused before anybody else is asked."""
    made = payment(rail, await offered(shop, rail))
    exchanges.made.clear()
    answer = await shop.post(ECHO, json={"message": "b"}, headers=paid(made))

    assert (answer.status_code, answer.json()["error"]) == (402, MISMATCH[rail])
    assert ([made for made in exchanges.made if made[0] != "/supported"], ledger.keys()) == ([], [])
    fresh = next(one for one in answer.json()["accepts"] if BOUND[rail] in one["extra"])
    assert fresh["extra"][BOUND[rail]] != made["accepted"]["extra"][BOUND[rail]]


@every_bound_rail
async def test_p09_a_token_is_for_the_route_of_its_challenge(
    shop: httpx.AsyncClient, exchanges: Any, ledger: Any, rail: str
) -> None:
    """Also when the price was asked without a body, and the other route costs the same."""
    one, other = TWINS
    made = payment(rail, await offered(shop, rail, None, path=one.path))
    exchanges.made.clear()
    answer = await shop.post(other.path, json=other.example.request, headers=paid(made))

    assert (answer.status_code, answer.json()["error"]) == (402, MISMATCH[rail])
    assert ([made for made in exchanges.made if made[0] != "/supported"], ledger.keys()) == ([], [])


@every_bound_rail
@pytest.mark.parametrize("wrong", ["", "none", "another", "changed", "long"])
async def test_p14_no_other_token_will_do(
    shop: httpx.AsyncClient, exchanges: Any, ledger: Any, rail: str, wrong: str
) -> None:
    """Well signed over a token that the payer made up, has from elsewhere, or leaves out."""
    offer = await offered(shop, rail)
    token = offer.extra[BOUND[rail]]
    other = {"": "", "another": "x" * 28, "changed": token[:-1] + ("A" if token[-1] != "A" else "B"), "long": token * 3}
    extra = {key: value for key, value in offer.extra.items() if key != BOUND[rail]}
    if wrong != "none":
        extra[BOUND[rail]] = other[wrong]
    signed_over = msgspec.structs.replace(offer, extra={**extra, BOUND[rail]: extra.get(BOUND[rail]) or token})
    made = payment(rail, signed_over) | {"accepted": msgspec.to_builtins(msgspec.structs.replace(offer, extra=extra))}
    exchanges.made.clear()
    answer = await shop.post(ECHO, json=BODY, headers=paid(made))

    assert (answer.status_code, answer.json()["error"]) == (402, MISMATCH[rail])
    assert ([made for made in exchanges.made if made[0] != "/supported"], ledger.keys()) == ([], [])


@every_bound_rail
async def test_p14_a_token_is_good_for_ten_minutes(
    shop: httpx.AsyncClient, ledger: Any, rail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payment that was signed long after its challenge is refused uncharged."""
    made = payment(rail, await offered(shop, rail))
    real = time.time
    monkeypatch.setattr("api.admission.time.time", lambda: real() + 603)
    answer = await shop.post(ECHO, json=BODY, headers=paid(made))

    assert (answer.status_code, answer.json()["error"]) == (402, MISMATCH[rail])
    assert ledger.keys() == []


@every_bound_rail
async def test_p15_a_payment_that_reaches_the_ledger_after_its_time_is_refused(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    facilitator: Any,
    ledger: Any,
    rail: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As one that is checked too late. Here only the ledger's server has the right time."""
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 700)
    answer = await shop.post(ECHO, json=BODY, headers=paid(payment(rail, await offered(shop, rail))))

    assert (answer.status_code, answer.json()["error"]) == (402, MISMATCH[rail])
    assert (ledger.keys(), facilitator.settles) == ([], [])


@every_bound_rail
async def test_p28_of_two_payments_with_one_token_one_is_taken(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any, runs: list[Any], rail: str
) -> None:
    """Two payers pay one challenge at once, and a third comes later."""
    offer = await offered(shop, rail)
    both = [payment(rail, offer) for _ in range(2)]
    answers = await asyncio.gather(*(shop.post(ECHO, json=BODY, headers=paid(made)) for made in both))
    late = await shop.post(ECHO, json=BODY, headers=paid(payment(rail, offer)))

    assert sorted(one.status_code for one in answers) == [200, 402]
    refused = next(one for one in answers if one.status_code == 402)
    assert refused.json()["error"] == late.json()["error"] == "payment_already_used"
    assert (len(facilitator.settles), len(runs)) == (1, 1)
    winner = both[[one.status_code for one in answers].index(200)]
    assert (await shop.post(ECHO, json=BODY, headers=paid(winner))).status_code == 200


async def test_p28_one_challenge_is_paid_on_one_network(
    shop: httpx.AsyncClient, worker: dramatiq.Worker, facilitator: Any
) -> None:
    """Its offers share their token."""
    unpaid = (await shop.post(ECHO, json=BODY)).json()["accepts"]
    tokens = {one["extra"].get("memo") or one["extra"].get("invoiceId") for one in unpaid} - {None}
    assert len(tokens) == 1
    answers = []
    for rail in BOUND:
        network, asset, _ = PAYERS[rail]
        [offer] = [one for one in unpaid if (one["network"], one["asset"]) == (network, asset)]
        made = payment(rail, msgspec.convert(offer, Offer))
        answers.append(await shop.post(ECHO, json=BODY, headers=paid(made)))

    assert [one.status_code for one in answers] == [200, 402, 402]
    assert len(facilitator.settles) == 1
