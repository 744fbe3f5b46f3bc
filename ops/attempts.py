"""Bounds how many wrong passwords are compared: a few of each address in a minute, in constant memory."""

import ipaddress
import math
import threading
import time
from collections import Counter
from collections.abc import Callable

WRONG = 10
"""Wrong passwords of one address in a window. After that none of its passwords is compared until the window ends."""
WINDOW_S = 60.0
MOST_ADDRESSES = 1_000
"""Addresses that are counted apart in a window. All others share one count."""
_OTHERS = ""
_HOST_BITS = 64


class Attempts:
    """The wrong passwords of the present window, by address. A right password is not counted, so its owner is not slowed down
    by others.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began = clock()
        self._wrong: Counter[str] = Counter()

    def wait_s(self, address: str) -> int:
        """How many seconds this address has to wait before its password is compared; 0 when it has not."""
        with self._lock:
            left_s = self._left_s()
            return math.ceil(left_s) if self._wrong[self._counted_as(address)] >= WRONG else 0

    def count_wrong(self, address: str) -> None:
        """This address has sent a wrong password."""
        with self._lock:
            self._left_s()
            self._wrong[self._counted_as(address)] += 1

    def _left_s(self) -> float:
        """Seconds until the window ends. Begins a new one when the last has ended."""
        now = self._clock()
        if now - self._began >= WINDOW_S:
            self._began = now
            self._wrong.clear()
        return self._began + WINDOW_S - now

    def _counted_as(self, address: str) -> str:
        """One caller may have all addresses of an IPv6 network of 64 bits."""
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return _OTHERS
        if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
            parsed = ipaddress.IPv6Address(int(parsed) >> _HOST_BITS << _HOST_BITS)
        name = str(parsed)
        return name if name in self._wrong or len(self._wrong) < MOST_ADDRESSES else _OTHERS
