"""Only the log right after AuthorizationUsed proves a payment."""

from __future__ import annotations

from typing import Any

import pytest

from facilitator.rails.evm.calldata import AUTHORIZATION_USED, TRANSFER
from facilitator.rails.evm.evidence import proves_payment, transfer_at
from shared.x402.evm import EvmAuthorization
from tests.facilitator.bench import TOKEN

PAYER, PAY_TO, OTHER = "0x" + "aa" * 20, "0x" + "bB" * 20, "0x" + "cc" * 20
NONCE, OTHER_NONCE = b"\1" * 32, b"\2" * 32

OURS = EvmAuthorization(
    payment_id="",
    network=TOKEN.network,
    asset=TOKEN.address,
    payer=PAYER,
    pay_to=PAY_TO,
    amount="1000",
    value=1_000,
    valid_after=0,
    valid_before=1,
    nonce=NONCE,
    signature=bytes(65),
    signature_checked=True,
)


def word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


def used(index: int, *, nonce: bytes = NONCE, payer: str = PAYER, asset: str = TOKEN.address) -> dict[str, Any]:
    return {"address": asset, "logIndex": index, "topics": [AUTHORIZATION_USED, word(payer), nonce], "data": b""}


def transfer(index: int, *, to: str = PAY_TO, value: int = 1_000, payer: str = PAYER) -> dict[str, Any]:
    data = value.to_bytes(32, "big")
    return {"address": TOKEN.address, "logIndex": index, "topics": [TRANSFER, word(payer), word(to)], "data": data}


PROOFS = {
    "alone": [used(0), transfer(1)],
    "late in the block": [used(41), transfer(42)],
    "among others": [transfer(5, to=OTHER), used(6), transfer(7), transfer(8, to=OTHER)],
    "after another payment": [used(3, nonce=OTHER_NONCE), transfer(4, to=OTHER), used(5), transfer(6)],
    "out of order": [transfer(1), used(0)],
    "the asset in lower case": [used(0, asset=TOKEN.address.lower()), transfer(1)],
}


@pytest.mark.parametrize("logs", PROOFS.values(), ids=PROOFS)
def test_the_next_log_proves_the_payment(logs: list[Any]) -> None:
    """Wherever the two stand in the block, and whatever else the transaction did."""
    assert proves_payment(logs, OURS)


NO_PROOFS = {
    "nothing": [],
    "a used nonce only": [used(0)],
    "a transfer only": [transfer(0)],
    "a transfer before the use": [transfer(0), used(1)],
    "a transfer one further on": [used(0), transfer(1, to=OTHER), transfer(2)],
    "a gap": [used(0), transfer(2)],
    "to somebody else": [used(0), transfer(1, to=OTHER)],
    "of less": [used(0), transfer(1, value=999)],
    "of more": [used(0), transfer(1, value=1_001)],
    "from somebody else": [used(0), transfer(1, payer=OTHER)],
    "of another nonce": [used(0, nonce=OTHER_NONCE), transfer(1)],
    "of another payer": [used(0, payer=OTHER), transfer(1)],
    "used in another token": [used(0, asset=OTHER), transfer(1)],
    "another payment's transfer": [used(0, nonce=OTHER_NONCE), transfer(1), used(2), transfer(3, to=OTHER)],
    "an NFT": [used(0), {**transfer(1), "topics": [*transfer(1)["topics"], NONCE], "data": b""}],
    "no topics": [used(0), {**transfer(1), "topics": []}],
}


@pytest.mark.parametrize("logs", NO_PROOFS.values(), ids=NO_PROOFS)
def test_anything_else_does_not(logs: list[Any]) -> None:
    """A transfer that belongs to something else is not this payment's."""
    assert not proves_payment(logs, OURS)


def test_the_transfer_is_read_from_its_log() -> None:
    """Recipient in lower case, and the value."""
    logs = [transfer(6, to=OTHER), transfer(7, value=2**256 - 1)]

    assert transfer_at(logs, 7, TOKEN.address, PAYER) == (PAY_TO.lower(), 2**256 - 1)
    assert transfer_at(logs, 8, TOKEN.address, PAYER) is None
    assert transfer_at(logs, 7, TOKEN.address, OTHER) is None
    assert transfer_at(logs, 7, OTHER, PAYER) is None
