"""What the books write down of a payment: the facts of its record in the ledger."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import redis

from ops.chains import Transfer
from shared.ledger.channels import is_voucher
from shared.ledger.keys import RECORDS, bucket_of
from shared.x402.evm_channel import SCHEME as CHANNEL_SCHEME

CALL, DEPOSIT = "call", "deposit"
"""A payment of a call, and one into a channel, which is no income: it belongs to its payer until it is claimed."""
TRANSFER, PAYOUT, CLAIM = "transfer", "payout", "claim"
"""What the chain has: a transfer to the recipient that the ledger does not know any more; what the channels' contract paid out;
another transaction about our channels, which moved nothing to the recipient."""
REFUNDED = "REFUNDED"
"""In place of the state of a record that has the field `refunded`: its payer got his money back."""
_FIELDS = ("settled", "state", "refunded", "lost", "endpoint", "payer", "offer", "receipt")


class Fact(NamedTuple):
    """A payment that was settled, or what a transaction moved.

    Attributes:
        id: the payment's; of what only the chain has: network, transaction and number of the event.
        kind: CALL, DEPOSIT, TRANSFER, PAYOUT or CLAIM.
        amount: as in an offer: atomic units, or whole tokens on the XRP Ledger.
        settled: Unix milliseconds: when the ledger recorded it, or the block's time of what only the chain has.
        state: of the record: SETTLED, DONE, FAILED or REFUNDED.
        lost: when the chain was found to show it no more, in Unix milliseconds; 0: it shows it.
    """

    id: str
    kind: str
    network: str
    asset: str
    endpoint: str
    payer: str
    amount: str
    transaction: str
    settled: int
    state: str = "DONE"
    lost: int = 0


def read_facts(server: redis.Redis, payment_ids: Sequence[str]) -> Iterator[Fact]:
    """The facts of those payments that were settled. All are in buckets of this server. Raises RedisError."""
    named = [payment_id for payment_id in payment_ids if not is_voucher(payment_id)]
    pipeline = server.pipeline(transaction=False)
    for payment_id in named:
        pipeline.hmget(RECORDS[bucket_of(payment_id)] + payment_id, *_FIELDS)
    for payment_id, fields in zip(named, pipeline.execute() if named else (), strict=True):
        settled, state, refunded, lost, endpoint, payer, offer, receipt = (value and value.decode() for value in fields)
        if not settled or not receipt:
            continue
        terms, paid = json.loads(offer), json.loads(receipt)
        is_deposit = terms["scheme"] == CHANNEL_SCHEME
        yield Fact(
            id=payment_id,
            kind=DEPOSIT if is_deposit else CALL,
            network=terms["network"],
            asset=terms["asset"],
            endpoint=endpoint,
            payer=payer,
            amount=paid["amount"] if is_deposit else terms["amount"],
            transaction=paid["transaction"],
            settled=int(settled),
            state=REFUNDED if refunded else state,
            lost=int(lost or 0),
        )


def fact_of(kind: str, network: str, asset: str, moved: Transfer) -> Fact:
    """The fact of what only the chain has."""
    name = f"{network}:{moved.transaction}:{moved.number}"
    return Fact(name, kind, network, asset, "", moved.payer, moved.amount, moved.transaction, moved.at * 1000)


def folded(address: str) -> str:
    """An address as it is compared: those of EVM networks have two spellings."""
    return address.lower() if address.startswith("0x") else address
