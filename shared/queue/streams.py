"""What the API and the workers agree on about a queue: one Redis stream per pool, read by one consumer group.

The API adds an entry, Redis delivers it to one consumer, and the consumer deletes it when its job is done. So the length of a
stream counts the jobs that wait and run, and its pending entries are the jobs that run. A consumer renews its lease on the
entries that it holds; another consumer claims an entry that nobody renews. From the death of a worker to the second start of
its jobs at most LEASE_MS and RENEW_MS pass, 1.5 s together.
"""

import uuid

from shared.layouts import MESSAGES

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
OUTDATED = "outdated"
"""The reason of a consumer that met a message which only a worker of another version can run."""
OUTDATED_MS = 3_000
"""For so long it fetches nothing, so that such a worker gets the message."""
MAX_DELIVERIES = 3
"""A message that was delivered that often and never finished is not run again: it ends the workers that run it."""


def stream_key(queue_name: str) -> str:
    """The Redis key of a queue's stream."""
    return f"coinslot:queue:{queue_name}"


def consumer_name(host: str) -> str:
    """A name for a new consumer. compose/probe.py looks for the host, and shared/servers/queue_start.py, when an API starts,
    for the layouts of messages that the consumer reads, the oldest and the newest."""
    return f"{host}:{uuid.uuid4().hex}:{min(MESSAGES.read)}-{max(MESSAGES.read)}"


def closed_key(queue_name: str) -> str:
    """The Redis key that exists while a pool's only upstream refuses our calls: nothing new is charged until it expires."""
    return f"coinslot:closed:{queue_name}"


def unavailable_key(queue_name: str, consumer: str) -> str:
    """The Redis key in which a living consumer reports why it cannot run jobs, in snake_case. A dead one's expires."""
    return f"coinslot:unavailable:{queue_name}:{consumer}"
