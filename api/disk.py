"""Whether the ledger's disk has room. A Redis that syncs every write ends when its disk is full, with all it holds."""

from __future__ import annotations

import logging
import shutil
import time

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0


class Disk:
    """The disk of the ledger's files, looked at once a second at most.

    Args:
        folder: on that disk; empty when this machine does not have it, and nothing is known.
        free_mb: what has to be free.
    """

    def __init__(self, folder: str, free_mb: int) -> None:
        self._folder = folder
        self._free_bytes = free_mb * 1_000_000
        self._looked_at = float("-inf")
        self._is_full = False

    def is_full(self) -> bool:
        """Whether no payment is to be taken now."""
        now = time.monotonic()
        if self._folder and now - self._looked_at > LOOK_EVERY_S:
            self._looked_at = now
            was_full, self._is_full = self._is_full, self._look()
            if self._is_full and not was_full:
                log.error("less than %d MB free for the ledger: no payments are taken", self._free_bytes // 1_000_000)
        return self._is_full

    def _look(self) -> bool:
        try:
            return shutil.disk_usage(self._folder).free < self._free_bytes
        except OSError as error:
            log.error("the ledger's folder cannot be looked at: %s", type(error).__name__)
            return False
