"""What the two ends of a queue agree on: one Redis stream per pool, read by one consumer group."""

from __future__ import annotations

GROUP = "workers"
FIELD = "m"
"""The field of an entry that holds the encoded Dramatiq message."""
LEASE_MS = 3_000
"""An entry that its consumer has not renewed for that long is claimed by another."""


def stream_key(queue_name: str) -> str:
    """The Redis key of a queue's stream."""
    return f"coinslot:queue:{queue_name}"
