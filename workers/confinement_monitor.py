"""Tells operators what is missing to confine the children of this worker, and sells nothing where it is too little."""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from redis.exceptions import RedisError

from shared.observability.confinement_notes import KEY, NOTED_EVERY_S, note
from shared.pools import POOLS
from shared.queue.streams import STARTING
from workers.confinement.layers import Layers

UNCONFINED = "unconfined_children"
"""The reason of a pool in production whose children are not filtered: no other layer is certain to keep them from the keys."""
_LOOK_AGAIN_S = 0.1


class ConfinementMonitor:
    """Watches until the fork server is ready and its layers are known, and notes what is missing from then on.

    Args:
        layers: what is known now.
        client: of the queue Redis.
        is_strict: children that are not filtered get no calls (COINSLOT_PRODUCTION).
    """

    def __init__(self, layers: Callable[[], Layers | None], client: Any, *, is_strict: bool) -> None:
        self._layers = layers
        self._client = client
        self._is_strict = is_strict
        self._has_ended = threading.Event()
        self._known: Layers | None = None

    def start(self) -> None:
        """Begin, for a worker that has children."""
        self._known = self._layers()
        threading.Thread(target=self._run, name="confinement", daemon=True).start()

    def close(self) -> None:
        """Stop, and close the connection soon. What was noted expires."""
        self._has_ended.set()

    def unavailable_reason(self, queue_name: str) -> str:
        """Why this worker runs no jobs of a pool, "" when it does. Until its fork server is ready, they would be late."""
        if not POOLS[queue_name].needs_children:
            return ""
        if self._known is None:
            return STARTING
        return UNCONFINED if self._is_strict and not self._known.seccomp else ""

    def _run(self) -> None:
        with contextlib.closing(self._client):
            self._watch()

    def _watch(self) -> None:
        while self._known is None:
            self._known = self._layers()
            if self._has_ended.wait(_LOOK_AGAIN_S):
                return
        lacks = self._known.missing()
        machine = os.uname().nodename
        while True:
            with contextlib.suppress(RedisError):  # it is noted again
                if lacks:
                    self._client.hset(KEY, machine, note(time.time(), machine, lacks))
                else:
                    self._client.hdel(KEY, machine)
            if not lacks or self._has_ended.wait(NOTED_EVERY_S):
                return
