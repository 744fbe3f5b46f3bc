"""What is wrong after a run over two versions, by the chains, the ledger and the callers."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

import redis

from shared.ledger.channels import channel_key, is_voucher
from shared.ledger.keys import bucket_of_payer
from shared.x402.networks import Rail
from tests.chaos.checker import INVARIANTS
from tests.chaos.history import History, Transfer
from tests.upgrade.buying import Buying
from tests.upgrade.purchases import Shop

ELSEWHERE = (10, 12)
"""Invariants of tests/chaos/checker.py that are for its own shop: sums, as amounts may be decimal here, and what is watched."""


def wrong_payments(buying: Buying, history: History, moved: Sequence[Transfer]) -> Iterator[str]:
    """The invariants of payments of one call each. Those are left out whose calls failed for good, and those that a restored
    ledger had to find on the chain."""
    left_out = buying.unknown_to_copy | {one.payment for one in (*buying.failing, *buying.vouchers)}

    def of(name: str) -> bool:
        return name not in left_out and not is_voucher(name)

    judged = History(
        answers=[one for one in history.answers if of(one.payment)],
        transfers=[one for one in moved if of(one.payment)],
        records={name: record for name, record in history.records.items() if of(name)},
        journal=[entry for entry in history.journal if of(entry.payment)],
        refundable=history.refundable,
        open=history.open,
        now=history.now,
        most_executions=history.most_executions,
    )
    for number, invariant in INVARIANTS.items():
        if number not in ELSEWHERE:
            yield from (f"({number}) {text}" for text in invariant(judged))


def wrong_money(shop: Shop, moved: Sequence[Transfer], received: Mapping[Rail, Decimal], claims: int) -> Iterator[str]:
    """On every rail the recipient has what the payments moved, to the atomic unit."""
    for rail, has in received.items():
        token = shop.offer(rail)
        made = sum(Decimal(one.amount) for one in moved if (one.network, one.asset) == (token.network, token.asset))
        if has != made + (claims if rail is Rail.BASE else 0):
            yield f"{rail}: {has} received, {made} paid, {claims} claimed"


def wrong_channel(buying: Buying, ledger_url: str, claims: int) -> Iterator[str]:
    """Each answered voucher was charged once, and no more is claimed."""
    assert buying.channel is not None
    payer = buying.channel.payer
    bucket = bucket_of_payer(payer.offer.network, payer.config.payer.lower())
    with redis.Redis.from_url(ledger_url) as ledger:
        charged = int(ledger.hget(channel_key(bucket, f"0x{payer.channel.hex()}"), "charged") or 0)
    wanted = buying.channel.price * sum(one.end == 200 for one in buying.vouchers)
    if charged != wanted or claims > charged or any(one.end != 200 for one in buying.vouchers):
        yield f"channel: {charged} charged, {wanted} answered, {claims} claimed"
