"""What the ledger knows of payment channels: what they owe, who withdraws, and how far the claimer is. Functions raise
RedisError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, cast

import redis

from shared.ledger.channels import CHANNELS, CLAIMABLE, WATCH, channel_key
from shared.servers.ledger_servers import ask_each_bucket, of_bucket
from shared.settings.rails import EvmRailSettings

PAGE = 500
DECIMALS = 6
"""Of the token, USDC."""
_FIELDS = ("payer", "network", "balance", "charged", "claimed", "leaving", "withdraw_at", "owed_since", "calls")


class Channel(NamedTuple):
    """A channel's row. Amounts are atomic units of the token.

    Attributes:
        charged, claimed: by us, and from the contract.
        leaving, withdraw_at: of a withdrawal that its payer has announced: how much, and when in Unix milliseconds.
        owed_since: when the oldest charge was made that is not claimed, in Unix milliseconds.
    """

    id: str
    payer: str
    network: str
    balance: int
    charged: int
    claimed: int
    leaving: int
    withdraw_at: int
    owed_since: int
    calls: int

    @property
    def owed(self) -> int:
        """What was charged and not claimed."""
        return max(0, self.charged - self.claimed)

    @property
    def is_frozen(self) -> bool:
        """Whether it owes more than it holds: the contract refuses such a claim."""
        return self.owed > 0 and self.charged > self.balance


@dataclass(frozen=True, slots=True)
class State:
    """All channels.

    Attributes:
        count: of channels that were ever opened.
        owing: those with charges that are not claimed, at most as many as were asked for.
        leaving: those of them whose payer withdraws.
        frozen: those of them that owe more than they hold.
        small: those of them whose claim is due, and not worth its gas.
        watched_ms: how long ago the claimer has looked at the chain; None: never.
        oldest_ms: how old the oldest charge is whose claim is possible and worth its gas.
        withdrawal_ms: how long ago the first of `leaving` was announced.
    """

    count: int
    owing: tuple[Channel, ...]
    leaving: tuple[Channel, ...]
    frozen: tuple[Channel, ...]
    small: tuple[Channel, ...]
    watched_ms: int | None
    oldest_ms: int
    withdrawal_ms: int

    @property
    def owed(self) -> int:
        """What all channels owe."""
        return sum(channel.owed for channel in self.owing)


def is_used(ledger: Sequence[redis.Redis], own: EvmRailSettings) -> bool:
    """Whether there is anything to say of channels. They may owe money when they are not sold any more."""
    return own.has_channels or bool(_count(ledger))


def read(ledger: Sequence[redis.Redis], own: EvmRailSettings, *, now_ms: int, most: int | None = None) -> State:
    """The state of all channels.

    Args:
        ledger: its primaries (shared/servers/ledger_servers.py).
        most: how many channels that owe are read; None: all.
    """
    watch = cast(dict[bytes, bytes], of_bucket(ledger, 0).hgetall(WATCH))
    owing = tuple(channel for channel in islice(_claimable(ledger), most) if channel.owed)
    frozen = tuple(channel for channel in owing if channel.is_frozen)
    leaving = tuple(channel for channel in owing if channel.leaving)
    due = now_ms - own.claim_within_s * 1000
    cost = int(watch.get(b"claim_cost", 0))
    small = tuple(channel for channel in owing if channel.owed < cost and channel.owed_since < due)
    impossible = {channel.id for channel in (*small, *frozen)}
    waited = [now_ms - channel.owed_since for channel in owing if channel.owed_since and channel.id not in impossible]
    return State(
        count=_count(ledger),
        owing=owing,
        leaving=leaving,
        frozen=frozen,
        small=small,
        watched_ms=now_ms - int(watch[b"watched_at"]) if b"watched_at" in watch else None,
        oldest_ms=max(waited, default=0),
        withdrawal_ms=max((now_ms - channel.withdraw_at for channel in leaving), default=0),
    )


def _count(ledger: Sequence[redis.Redis]) -> int:
    return sum(ask_each_bucket(ledger, lambda asked, bucket: asked.zcard(CHANNELS[bucket])))


def _claimable(ledger: Sequence[redis.Redis]) -> Iterator[Channel]:
    """Every channel that may owe something: a charge puts it there, and a final claim takes it away."""
    for bucket, key in enumerate(CLAIMABLE):
        server, start = of_bucket(ledger, bucket), 0
        while names := cast(list[bytes], server.zrange(key, start, start + PAGE - 1)):
            start += PAGE
            with server.pipeline(transaction=False) as pipeline:
                for name in names:
                    pipeline.hmget(channel_key(bucket, name.decode()), _FIELDS)
                for name, fields in zip(names, pipeline.execute(), strict=True):
                    if fields[0] is not None:
                        yield _channel(name.decode(), fields)


def _channel(name: str, fields: Sequence[Any]) -> Channel:
    payer, network, *numbers = fields
    return Channel(name, payer.decode(), network.decode(), *(int(number or 0) for number in numbers))
