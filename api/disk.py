"""Checks the free space on the ledger's disk. A Redis that syncs every write stops when its disk is full."""

import logging
import shutil
import time

log = logging.getLogger(__name__)

CHECK_EVERY_S = 1.0


class Disk:
    """The disk of the ledger's files, checked at most once a second.

    Args:
        folder: a folder on that disk. Empty when the disk is on another machine; then it never counts as full.
        free_mb: megabytes that have to be free.
    """

    def __init__(self, folder: str, free_mb: int) -> None:
        self._folder = folder
        self._free_bytes = free_mb * 1_000_000
        self._checked_at = float("-inf")
        self._is_full = False

    def is_full(self) -> bool:
        """Whether there is too little space to take payments."""
        now = time.monotonic()
        if self._folder and now - self._checked_at > CHECK_EVERY_S:
            self._checked_at = now
            was_full, self._is_full = self._is_full, self._check()
            if self._is_full and not was_full:
                log.error("less than %d MB free for the ledger: no payments are taken", self._free_bytes // 1_000_000)
        return self._is_full

    def _check(self) -> bool:
        try:
            return shutil.disk_usage(self._folder).free < self._free_bytes
        except OSError as error:
            log.error("the ledger's folder cannot be checked: %s", type(error).__name__)
            return False
