"""A cache of what other systems answered: each answer has a lifetime, and all of them together have a limit."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class ExpiringCache(Generic[Key, Value]):
    """Values by key. When there is too much of them, the least recently used go first. Thread-safe.

    Args:
        limit: of the sizes of all values, in the unit that `put` counts in.
        now: monotonic seconds.
    """

    def __init__(self, limit: int, now: Callable[[], float]) -> None:
        self._limit = limit
        self._now = now
        self._entries: OrderedDict[Key, tuple[Value, int, float, float]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Key) -> tuple[Value, float] | None:
        """A value and its age in seconds; None when there is none, or it has expired."""
        with self._lock:
            if key not in self._entries:
                return None
            value, _, since, until = self._entries[key]
            now = self._now()
            if now >= until:
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return value, now - since

    def put(self, key: Key, value: Value, *, size: int, lifetime_s: float) -> None:
        """Keep a value in the place of an earlier one. With a lifetime of 0, none is kept."""
        with self._lock:
            self._drop(key)
            if lifetime_s <= 0:
                return
            since = self._now()
            self._entries[key] = value, size, since, since + lifetime_s
            self._size += size
            while self._size > self._limit:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: Key) -> None:
        if dropped := self._entries.pop(key, None):
            self._size -= dropped[1]
