"""What the ends of a queue agree on: one Redis stream per pool, read by one consumer group.

An entry is added by the API, delivered to one consumer, and deleted when its job is done: the length of a stream is what
waits and runs, its pending entries are what runs. A consumer renews its lease on what it holds; what nobody renews is
claimed by another consumer. From the death of a worker to the second start of its jobs: LEASE_MS and RENEW_MS at most, 1.5 s.
"""

from __future__ import annotations

GROUP = "workers"
FIELD = "m"
"""The field of an entry that holds the encoded Dramatiq message."""
LEASE_MS = 1_200
"""An entry that its consumer has not renewed for that long is claimed by another."""
RENEW_MS = 300
"""How often a consumer renews its leases and looks for what others left. No consumer is silent for longer."""
MAX_DELIVERIES = 3
"""A message that was delivered that often and never finished is not run again: it ends the workers that run it."""


def stream_key(queue_name: str) -> str:
    """The Redis key of a queue's stream."""
    return f"coinslot:queue:{queue_name}"


def closed_key(queue_name: str) -> str:
    """The Redis key that exists while a pool's only upstream turns us away: nothing new is charged until it expires."""
    return f"coinslot:closed:{queue_name}"
