"""How often one payer may make new calls of one endpoint: GCRA (the virtual scheduling of ITU-T I.371).

The claim script counts a call after its payment was checked and before it is settled. So nobody can use up another payer's
rate, a refused call is not charged, and repeating a paid call does not count.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from shared.pools import POOLS
from shared.settings.service import InvalidSetting

IN_FLIGHT = 8
"""New calls of one payer that one API process answers at the same time."""
OFF = "off"

_ENTRY = re.compile(r"([a-z0-9-]+)=([0-9]{1,4}(?:\.[0-9]{1,3})?)/([0-9]{1,4})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Limit:
    """A rate.

    Attributes:
        interval_ms: milliseconds between two calls in the long run; 0 for no limit.
        burst: calls that may be made at once after a rest.
    """

    interval_ms: float
    burst: int


NO_LIMIT = Limit(0, 0)


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left of a payer's rate.

    Attributes:
        left: calls that the payer may make at once.
        reset_ms: milliseconds until the whole burst is available again.
    """

    limit: Limit
    left: int
    reset_ms: int

    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10)."""
        window_s = max(1, math.ceil(self.limit.burst * self.limit.interval_ms / 1000))
        return (
            (b"ratelimit-policy", f'"payer";q={self.limit.burst};w={window_s}'.encode()),
            (b"ratelimit", f'"payer";r={self.left};t={math.ceil(self.reset_ms / 1000)}'.encode()),
        )


class Limits:
    """The rates of all pools, and the calls of each payer that this process is answering.

    Args:
        text: changes to the rates of shared/pools.py, as ``pool=<calls per second>/<burst>,...``, or ``off``.

    Raises:
        InvalidSetting: it has another form.
    """

    def __init__(self, text: str = "") -> None:
        self._is_off = text.strip() == OFF
        self._by_pool = dict.fromkeys(POOLS, NO_LIMIT) if self._is_off else {**_defaults(), **_parsed(text)}
        self._in_flight: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def of(self, pool: str) -> Limit:
        """The rate of each endpoint of a pool."""
        return self._by_pool[pool]

    @contextmanager
    def held(self, payer: str, payment_id: str) -> Iterator[bool]:
        """Count a call while it is answered. Yields False when the payer has too many others; copies of one call count once."""
        calls = self._in_flight[payer]
        is_allowed = self._is_off or payment_id in calls or len(calls) < IN_FLIGHT
        calls[payment_id] = calls.get(payment_id, 0) + 1
        try:
            yield is_allowed
        finally:
            calls[payment_id] -= 1
            if not calls[payment_id]:
                del calls[payment_id]
            if not calls:
                self._in_flight.pop(payer, None)


def _defaults() -> dict[str, Limit]:
    return {pool: Limit(policy.call_interval_ms, policy.call_burst) for pool, policy in POOLS.items()}


def _parsed(text: str) -> dict[str, Limit]:
    limits = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        found = _ENTRY.fullmatch(entry)
        if not found or found[1] not in POOLS or not float(found[2]) or not int(found[3]):
            raise InvalidSetting(
                f"COINSLOT_RATE_LIMITS: {entry!r} is not <pool>=<calls per second>/<burst>, like fast=10/20"
            )
        limits[found[1]] = Limit(1000 / float(found[2]), int(found[3]))
    return limits
