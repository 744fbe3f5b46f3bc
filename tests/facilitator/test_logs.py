"""Only the log right after AuthorizationUsed proves a payment."""

from typing import Any

from facilitator.rails.evm.calldata import AUTHORIZATION_USED, TRANSFER
from facilitator.rails.evm.evidence import proves_payment, transfers_in
from shared.x402.evm import EvmAuthorization
from tests.each import each
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


def word(address: str) -> str:
    return "0x" + address[2:].lower().rjust(64, "0")


def used(index: int, *, nonce: bytes = NONCE, payer: str = PAYER, asset: str = TOKEN.address) -> dict[str, Any]:
    topics = ["0x" + AUTHORIZATION_USED.hex(), word(payer), "0x" + nonce.hex()]
    return {"address": asset, "logIndex": hex(index), "topics": topics, "data": "0x"}


def transfer(index: int, *, to: str = PAY_TO, value: int = 1_000, payer: str = PAYER) -> dict[str, Any]:
    topics = ["0x" + TRANSFER.hex(), word(payer), word(to)]
    return {"address": TOKEN.address, "logIndex": hex(index), "topics": topics, "data": f"0x{value:064x}"}


PROOFS = {
    "alone": [used(0), transfer(1)],
    "late in the block": [used(41), transfer(42)],
    "among others": [transfer(5, to=OTHER), used(6), transfer(7), transfer(8, to=OTHER)],
    "after another payment": [used(3, nonce=OTHER_NONCE), transfer(4, to=OTHER), used(5), transfer(6)],
    "out of order": [transfer(1), used(0)],
    "the asset in lower case": [used(0, asset=TOKEN.address.lower()), transfer(1)],
}


@each("logs", PROOFS.values(), ids=PROOFS)
def test_the_next_log_proves_the_payment(logs: list[Any]) -> None:
    """Wherever the two stand in the block, and whatever else the transaction did."""
    assert proves_payment(transfers_in(logs, TOKEN.address), OURS)


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
    "an NFT": [used(0), {**transfer(1), "topics": [*transfer(1)["topics"], "0x" + NONCE.hex()], "data": "0x"}],
    "no topics": [used(0), {**transfer(1), "topics": []}],
}


@each("logs", NO_PROOFS.values(), ids=NO_PROOFS)
def test_anything_else_does_not(logs: list[Any]) -> None:
    """A transfer that belongs to something else is not this payment's."""
    assert not proves_payment(transfers_in(logs, TOKEN.address), OURS)


def test_each_payment_has_its_own_transfer() -> None:
    """Of several payments in one transaction: recipient in lower case, and the value."""
    logs = [used(5, nonce=OTHER_NONCE), transfer(6, to=OTHER), used(7), transfer(8, value=2**256 - 1)]

    assert transfers_in(logs, TOKEN.address) == {
        (word(PAYER), "0x" + OTHER_NONCE.hex()): (OTHER.lower(), 1_000),
        (word(PAYER), "0x" + NONCE.hex()): (PAY_TO.lower(), 2**256 - 1),
    }
    assert transfers_in(logs, OTHER) == {}
