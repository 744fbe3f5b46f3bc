"""What operators see of channels: what is owed and not claimed, payers who leave, and when the claimer looked at the chain."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import redis

from ops.queries import count_of
from shared.ledger.channels import CHANNELS, CLAIMABLE, WATCH, behind, channel_key
from shared.settings.rails import EvmRailSettings

PAGE = 1_000
_FIELDS = ("payer", "network", "balance", "charged", "claimed", "leaving", "withdraw_at", "owed_since")


class Channel(NamedTuple):
    """A channel. Amounts in atomic units, times in Unix milliseconds; 0: there is none."""

    id: str
    payer: str
    network: str
    balance: int
    charged: int
    claimed: int
    leaving: int
    withdraw_at: int
    owed_since: int

    @property
    def unclaimed(self) -> int:
        """What was charged and not claimed."""
        return max(0, self.charged - self.claimed)

    @property
    def is_frozen(self) -> bool:
        """Whether it owes more than it holds: a deposit is no longer on the chain."""
        return self.charged > self.balance

    @property
    def is_urgent(self) -> bool:
        """Whether its payer leaves while something is owed."""
        return self.leaving > 0 and self.unclaimed > 0


class Summary(NamedTuple):
    """All channels.

    Attributes:
        unclaimed: atomic units.
        oldest_s: age of the oldest charge that is not claimed, and whose claim is possible and worth its gas.
        leaving: payers who withdraw while they owe something.
        leaving_s: since when the first of them.
        small: channels whose claim is due and not worth its gas.
        watch_age_s: since the claimer looked at the chain; None: it never did.
    """

    open: int
    unclaimed: int
    oldest_s: float
    leaving: int
    leaving_s: float
    frozen: int
    small: int
    watch_age_s: float | None


def channels(ledger: redis.Redis) -> Iterator[Channel]:
    """Every channel that may owe something: a charge lists it, and a final claim ends that. Raises RedisError."""
    for bucket, key in enumerate(CLAIMABLE):
        start = 0
        while page := cast(list[bytes], ledger.zrange(key, start, start + PAGE - 1)):
            start += PAGE
            pipeline = ledger.pipeline(transaction=False)
            for name in page:
                pipeline.hmget(channel_key(bucket, name.decode()), *_FIELDS)
            for name, (payer, network, *numbers) in zip(page, pipeline.execute(), strict=True):
                if payer is not None:
                    amounts = (int(number or 0) for number in numbers)
                    yield Channel(name.decode(), payer.decode(), network.decode(), *amounts)


def summary(ledger: redis.Redis, own: EvmRailSettings) -> Summary | None:
    """The sum of all channels; None where none are sold and none was opened. Raises RedisError."""
    opened = count_of(ledger, CHANNELS)
    if not own.has_channels and not opened:
        return None
    watched_at, cost, unwatched = cast(list[Any], ledger.hmget(WATCH, "watched_at", "claim_cost", "behind"))
    if watched_at is not None:  # the bucket that was not looked at for the longest time counts
        watched_at = min([int(watched_at), *(looked.at_ms for looked in behind(unwatched).values())])
    found = list(channels(ledger))
    now = time.time()
    due_ms = (now - own.claim_within_s) * 1000
    small = {one.id for one in found if 0 < one.unclaimed < int(cost or 0) and one.owed_since < due_ms}
    owed = [
        one.owed_since
        for one in found
        if one.unclaimed and one.owed_since and one.id not in small and not one.is_frozen
    ]
    left = [one.withdraw_at for one in found if one.is_urgent]
    return Summary(
        open=opened,
        unclaimed=sum(one.unclaimed for one in found),
        oldest_s=max(0.0, now - min(owed) / 1000) if owed else 0.0,
        leaving=len(left),
        leaving_s=max(0.0, now - min(left) / 1000) if left else 0.0,
        frozen=sum(one.is_frozen for one in found),
        small=len(small),
        watch_age_s=None if watched_at is None else max(0.0, now - watched_at / 1000),
    )


def sentence(summed: Summary) -> str:
    """The sum in one line."""
    watched = "nobody watches the chain" if summed.watch_age_s is None else f"chain read {summed.watch_age_s:.0f} s ago"
    return (
        f"channels: {summed.open} open, {summed.unclaimed / 1e6:.6f} USDC unclaimed (oldest {summed.oldest_s:.0f} s), "
        f"{summed.leaving} withdraw while they owe, {summed.frozen} frozen, {summed.small} not worth a claim, {watched}"
    )


def is_unwatched(summed: Summary, own: EvmRailSettings) -> bool:
    """Whether something is owed while the claimer has not looked at the chain for too long: it could be withdrawn unseen."""
    return summed.unclaimed > 0 and (summed.watch_age_s is None or summed.watch_age_s > own.channels_stale_s)
