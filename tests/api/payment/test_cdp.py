"""Coinbase's facilitator: a token for every call, its words, and a rail that uses it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from api.payment.facilitator import Facilitator
from api.payment.rails import configured_rails
from api.payment.unsettled import Declined, NoEvidence, Undecided
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from shared.x402.networks import Rail
from shared.x402.wire import Offer, Payment
from tests.cdp import ED25519_ID, FILES, Gateway

pytestmark = pytest.mark.anyio

PAYER = "0x" + "aa" * 20
TRANSACTION = "0x" + "ab" * 32
BASE = "/platform/v2/x402"
KINDS = [
    {"x402Version": 1, "scheme": "exact", "network": "base"},
    {"x402Version": 2, "scheme": "exact", "network": "eip155:8453"},
    {"x402Version": 2, "scheme": "upto", "network": "eip155:8453", "extra": {"name": "USDC", "version": "2"}},
    {"x402Version": 2, "scheme": "batch-settlement", "network": "eip155:8453", "extra": {"withdrawDelay": 900}},
    {
        "x402Version": 2,
        "scheme": "exact",
        "network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        "extra": {"feePayer": "F"},
    },
]


class Coinbase:
    """Its gateway and its facilitator, in the form of its OpenAPI document (`cdp-sdk` 1.51.0)."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[str] = []
        self.refusals: list[str] = []
        self.settles: dict[str, Any] = {
            "success": True,
            "payer": PAYER,
            "transaction": TRANSACTION,
            "network": "eip155:8453",
        }
        self._gateway = Gateway()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.calls.append(f"{request.method} {request.path}")
        refusal = self._gateway.refusal(
            request.headers.get("Authorization", ""), f"{request.method} {request.host}{request.path}", time.time()
        )
        if refusal:
            self.refusals.append(refusal)
            return web.json_response(
                {"errorType": "unauthorized", "errorMessage": refusal, "correlationId": "41deb8d59a9dc9a7-IAD"},
                status=401,
            )
        if self.calls[-1] == f"GET {BASE}/supported":
            return web.json_response({"kinds": KINDS, "extensions": ["bazaar"], "signers": {"eip155:*": [PAYER]}})
        if self.calls[-1] not in (f"POST {BASE}/settle", f"POST {BASE}/verify"):
            return web.json_response({"errorType": "not_found", "errorMessage": "-"}, status=404)
        asked = await request.json()
        if set(asked) != {"x402Version", "paymentPayload", "paymentRequirements"} or asked["x402Version"] != 2:
            return web.json_response({"errorType": "invalid_request", "errorMessage": "-"}, status=400)
        if request.path.endswith("/verify"):
            return web.json_response({"isValid": True, "payer": PAYER})
        return web.json_response(self.settles, status=200 if self.settles["success"] else 400)


@pytest.fixture
async def coinbase(serving: Any) -> Coinbase:
    """One that is asked."""
    double = Coinbase()
    double.url = await serving(double.answer)
    return double


@pytest.fixture
def rail(coinbase: Coinbase, tmp_path: Path) -> Any:
    """A rail that is set up for it as an operator would."""
    file = tmp_path / "cdp.json"
    file.write_text(json.dumps(FILES[ED25519_ID]))
    own = EvmRailSettings(
        pay_to="0x" + "11" * 20, facilitator_url=coinbase.url + BASE + "/", facilitator_cdp_key_file=str(file)
    )
    (configured,) = configured_rails(Settings(evm=own))
    assert configured.rail is Rail.BASE
    return configured


async def test_every_call_has_a_token_of_its_own(
    coinbase: Coinbase, rail: Any, started: Any, offer: Offer, payment: Payment
) -> None:
    """Two settlements, a verification, and what is supported. It is not asked for evidence, of which it has none."""
    async with started(rail.facilitator) as facilitator:
        for _ in range(2):
            assert (await facilitator.settle(payment, offer, payer=PAYER)).transaction == TRANSACTION
        assert (await facilitator.verify(payment)).is_valid
        assert await rail.health.is_ready()
        with pytest.raises(NoEvidence):
            await facilitator.evidence("eip155:8453:0xa:0xb:0xc")
    assert coinbase.refusals == []
    assert coinbase.calls == [f"POST {BASE}/settle"] * 2 + [f"POST {BASE}/verify", f"GET {BASE}/supported"]


async def test_without_a_token_nothing_is_decided(
    coinbase: Coinbase, started: Any, offer: Offer, payment: Payment
) -> None:
    """Its 401 is about us, not about the payment."""
    async with started(Facilitator(coinbase.url + BASE, settle_timeout_s=2)) as facilitator:
        with pytest.raises(Undecided):
            await facilitator.settle(payment, offer, payer=PAYER)
    assert coinbase.refusals == ["no token"]


REFUSALS = ("kyt_risk_detected", "insufficient_funds", "amount_too_low", "request_blocked_by_location")
OPEN = (
    "settle_exact_node_failure",
    "node_failure",
    "settle_exact_failed_onchain",
    "settle_exact_evm_transaction_confirmation_timed_out",
    "settle_exact_svm_block_height_exceeded",
    "settlement_pending",
    "invalid_exact_evm_failed_to_execute_transfer",
    "invalid_exact_evm_failed_to_get_receipt",
    "invalid_exact_solana_transaction_confirmation_failed",
    "unknown_error",
)


async def test_its_words_for_a_refusal_and_for_what_is_open(
    coinbase: Coinbase, rail: Any, started: Any, offer: Offer, payment: Payment
) -> None:
    """A reason is a refusal only when nothing can have been broadcast."""
    async with started(rail.facilitator) as facilitator:
        for reason in (*REFUSALS, *OPEN):
            coinbase.settles = {"success": False, "errorReason": reason, "errorMessage": "-", "payer": PAYER}
            with pytest.raises(Declined if reason in REFUSALS else Undecided) as refused:
                await facilitator.settle(payment, offer, payer=PAYER)
            assert isinstance(refused.value, Declined) is (reason in REFUSALS), reason


def test_rails_that_coinbase_does_not_settle_have_no_such_setting() -> None:
    """Ethereum itself, Stellar and the XRP Ledger."""
    names = {name for name in Settings().variables() if name.endswith("_CDP_KEY_FILE")}
    settled_on = {"EVM_FACILITATOR", "EVM_LISTING_FACILITATOR", "SOLANA_FACILITATOR"}
    assert names == {f"COINSLOT_{name}_CDP_KEY_FILE" for name in settled_on}
