"""What the API and the workers agree on about a queue: one Redis stream per pool, read by one consumer group.

The API adds an entry, Redis delivers it to one consumer, and the consumer deletes it when its job is done. So the length of a
stream counts the jobs that wait and run, and its pending entries are the jobs that run. A consumer renews its lease on the
entries that it holds; another consumer claims an entry that nobody renews. From the death of a worker to the second start of
its jobs at most LEASE_MS and RENEW_MS pass, 1.5 s together.
"""

from __future__ import annotations

GROUP = "workers"
FIELD = "m"
"""The field of an entry that holds the encoded Dramatiq message."""
LEASE_MS = 1_200
"""An entry that its consumer has not renewed for that long is claimed by another."""
RENEW_MS = 300
"""How often a consumer renews its leases and looks for the entries of dead consumers. None that lives is silent for longer."""
SILENT_MS = 3_000
"""A consumer that has sent no command for that long is dead."""
POOL_NAMES = "coinslot:pools"
"""The Redis key in which the API notes the pools of packages, joined by spaces. The operator's commands read it: they may run
where no package is installed."""
STARTING = "starting"
"""The reason of a consumer whose port has not started yet."""
MAX_DELIVERIES = 3
"""A message that was delivered that often and never finished is not run again: it ends the workers that run it."""


def stream_key(queue_name: str) -> str:
    """The Redis key of a queue's stream."""
    return f"coinslot:queue:{queue_name}"


def closed_key(queue_name: str) -> str:
    """The Redis key that exists while a pool's only upstream refuses our calls: nothing new is charged until it expires."""
    return f"coinslot:closed:{queue_name}"


def unavailable_key(queue_name: str, consumer: str) -> str:
    """The Redis key in which a living consumer reports why it cannot run jobs, in snake_case. A dead one's expires."""
    return f"coinslot:unavailable:{queue_name}:{consumer}"
