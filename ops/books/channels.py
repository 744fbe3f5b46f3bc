"""What channels bring: from the ledger their charges, from the chain what their contract paid out and their transactions."""

import time
from collections.abc import Iterator, Sequence
from typing import cast

import redis

from ops.books.facts import CLAIM, PAYOUT, Fact, fact_of
from ops.books.store import DAY_MS, Books
from ops.chains import evm
from shared.ledger.channels import SOLD, channel_key
from shared.settings.service import Settings
from shared.x402.networks import EVM_USDC

PAGE = 500


def read_charges(server: redis.Redis, bucket: int, channels: Sequence[str], books: Books) -> None:
    """Write what channels of a bucket were charged since they were read last, within a transaction. Raises RedisError."""
    day = int(time.time() * 1000) // DAY_MS
    pipeline = server.pipeline(transaction=False)
    for name in channels:
        pipeline.hgetall(channel_key(bucket, name))
    for name, row in zip(channels, pipeline.execute() if channels else (), strict=True):
        fields = {field.decode(): value for field, value in row.items()}
        network = fields.get("network", b"").decode()
        if network not in EVM_USDC:
            continue
        books.move(f"channel {name}", network)
        for field, count in fields.items():
            if field.startswith(SOLD) and (
                calls := books.grown(f"{name} {fields['opened'].decode()} {field}", int(count))
            ):
                endpoint, _, price = field.removeprefix(SOLD).rpartition(":")
                asset, payer = EVM_USDC[network].address, fields["payer"].decode()
                books.charge(day, name, endpoint, network, asset, payer, calls, calls * int(price))


def listed(server: redis.Redis, key: str) -> Iterator[list[str]]:
    """Pages of a list of channels."""
    start = 0
    while page := cast(list[bytes], server.zrange(key, start, start + PAGE - 1)):
        start += PAGE
        yield [name.decode() for name in page]


def read_blocks(settings: Settings, books: Books) -> None:
    """Write what was paid out, and the transactions about our channels, in the blocks that are final now. The first time it is
    only noted where they end. Raises what is in NODE_ERRORS."""
    own = settings.evm
    names = [name for (name,) in books.rows("SELECT substr(name, 9) FROM positions WHERE name GLOB 'channel *'")]
    if not own.rpc_url or not (own.has_channels or names):
        return
    place, last = f"blocks {own.network}", evm.final_block(own.rpc_url)
    if not (read := books.position(place)):
        with books.transaction():
            books.move(place, str(last))
        return
    token = EVM_USDC[own.network].address
    payouts, touched = evm.channel_events(own.rpc_url, token, own.pay_to, names, int(read) + 1, last)
    with books.transaction():
        for paid in payouts:
            books.add([fact_of(PAYOUT, own.network, token, paid)])
        for transaction, at in touched.items():
            if not books.entries_of(own.network, transaction):
                name = f"{own.network}:{transaction}"
                books.add([Fact(name, CLAIM, own.network, token, "", "", "0", transaction, at * 1000)])
        books.move(place, str(max(int(read), last)))
