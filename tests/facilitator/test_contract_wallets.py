"""A payer that is a contract is asked whether it signed (ERC-1271)."""

import asyncio
from typing import Any

import httpx
import pytest
from eth_abi import encode

from compose.sandbox import artefact
from tests.facilitator.bench import Bench, Payer, an_address, settle

pytestmark = pytest.mark.anyio

INVALID = "invalid_exact_evm_payload_signature"


def wrap(signature: bytes, owner_index: int = 0) -> bytes:
    """As the wallet wants it: abi.encode(owner index, the owner's signature)."""
    return encode(["uint256", "bytes"], [owner_index, signature])


@pytest.fixture(scope="module")
def wallet(bench: Bench) -> Payer:
    """A deployed wallet that holds 1 USDC, and its owner's key."""
    owner = Payer()
    owner.address = bench.deploy(artefact.load("Wallet1271").bytecode + encode(["address"], [owner.address])).lower()
    bench.mint(owner.address, 1_000_000)
    return owner


async def test_a_contract_wallet_pays(facilitator: httpx.AsyncClient, bench: Bench, wallet: Payer, pay_to: str) -> None:
    """Through /verify and /settle, and again with the same transaction."""
    call = wallet.call(pay_to, wrap=wrap)

    assert (await facilitator.post("/verify", json=call)).json() == {"isValid": True, "payer": wallet.address}
    settlement = (await facilitator.post("/settle", json=call)).json()

    assert (settlement["success"], settlement["payer"], settlement["amount"]) == (True, wallet.address, "1000")
    assert bench.transfers(pay_to) == [settlement["transaction"]]
    assert (await facilitator.post("/settle", json=call)).json() == settlement


async def refusals(facilitator: httpx.AsyncClient, call: Any) -> tuple[str, str]:
    verified, settled = await facilitator.post("/verify", json=call), await facilitator.post("/settle", json=call)
    assert (verified.json()["isValid"], settled.json()["success"]) == (False, False)
    return verified.json()["invalidReason"], settled.json()["errorReason"]


async def test_a_stranger_cannot_sign_for_the_wallet(
    facilitator: httpx.AsyncClient, bench: Bench, wallet: Payer, pay_to: str
) -> None:
    """Neither another key nor another owner index passes, nor anything that the wallet cannot read."""
    stranger = Payer(wallet.address)

    assert await refusals(facilitator, stranger.call(pay_to, wrap=wrap)) == (INVALID, INVALID)
    assert await refusals(facilitator, wallet.call(pay_to, wrap=lambda s: wrap(s, owner_index=1))) == (INVALID, INVALID)
    assert await refusals(facilitator, wallet.call(pay_to, wrap=lambda s: s + b"\0")) == (INVALID, INVALID)
    assert bench.balance(pay_to) == 0


async def test_the_owners_bare_signature_is_not_the_wallets(
    facilitator: httpx.AsyncClient, wallet: Payer, pay_to: str
) -> None:
    """The owner's 65 bytes recover to the owner, who is not the payer."""
    assert await refusals(facilitator, wallet.call(pay_to)) == (INVALID, INVALID)


async def test_a_contract_that_is_no_wallet_cannot_pay(
    facilitator: httpx.AsyncClient, bench: Bench, pay_to: str
) -> None:
    """The token itself has no isValidSignature; asked all the same, it refuses by reverting."""
    token = Payer(bench.sandbox.usdc.lower())

    assert await refusals(facilitator, token.call(pay_to, wrap=wrap)) == (INVALID, INVALID)


async def test_a_wallet_that_is_not_there_cannot_pay(facilitator: httpx.AsyncClient, bench: Bench, pay_to: str) -> None:
    """An account without code has no say, even when its owner signed: deploying it would cost the settler."""
    payer = bench.payer()
    reason = "invalid_exact_evm_payload_undeployed_smart_wallet"

    assert await refusals(facilitator, payer.call(pay_to, wrap=wrap)) == (reason, reason)
    assert await refusals(facilitator, payer.call(pay_to, wrap=lambda s: wrap(s) + b"\x64\x92" * 16)) == (
        reason,
        reason,
    )


async def test_a_signature_for_one_payment_is_not_for_another(
    facilitator: httpx.AsyncClient, wallet: Payer, pay_to: str
) -> None:
    """The digest that the wallet is asked about covers the nonce."""
    signed, other = wallet.call(pay_to, wrap=wrap), wallet.call(pay_to, wrap=wrap)
    other["paymentPayload"]["payload"]["signature"] = signed["paymentPayload"]["payload"]["signature"]

    assert await refusals(facilitator, other) == (INVALID, INVALID)


async def test_a_wallet_that_answers_too_much_fails_no_other_payment(
    facilitator: httpx.AsyncClient, bench: Bench, pay_to: str
) -> None:
    """Its code says yes, in an answer as long as its gas allows. Many of them are more than one answer of the node may hold."""
    runtime = bytes.fromhex("631626ba7e60e01b60005262060000" + "6000f3")
    creation = bytes.fromhex(f"60{len(runtime):02x}600c60003960{len(runtime):02x}6000f3") + runtime
    wallet, honest = Payer(bench.deploy(creation).lower()), bench.payer()
    bench.mint(wallet.address, 1_000_000)
    many = [wallet.call(an_address(), wrap=wrap) for _ in range(14)]
    settlement, *_ = await asyncio.gather(*(settle(facilitator, call) for call in (honest.call(pay_to), *many)))
    assert (settlement["success"], bench.balance(pay_to)) == (True, 1000)
