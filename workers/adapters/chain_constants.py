"""What a chain answered and will not answer differently: a token's decimals, symbol and name, and code."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from jobs.ports.chains import Call, ChainCall, Code

MAX_AGE_S = 3600.0
MAX_BYTES = 16 * 1024 * 1024
"""Of all answers that are kept."""

MAX_ANSWER_BYTES = 32 * 1024
"""Of one that is kept: code has 24 KB at most. A few tokens with names of a megabyte would leave no room for others."""

_ENTRY_BYTES = 500
"""What an entry takes beside its answer."""
_DELEGATION = b"\xef\x01\x00"


class _Kept(NamedTuple):
    answer: bytes
    until: float


class Constants:
    """Answers to calls that say of themselves that they are constant. Thread-safe.

    Nothing empty is kept, because what is not there yet may come, and no delegation, because an account may change it. Nor is
    what is too long for a name or for code.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: OrderedDict[ChainCall, _Kept] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, call: ChainCall) -> bytes | None:
        """The answer of the last hour."""
        if not isinstance(call, Call | Code) or not call.is_constant:
            return None
        with self._lock:
            kept = self._kept.get(call)
            if kept is None or kept.until < self._now():
                return None
            self._kept.move_to_end(call)
            return kept.answer

    def put(self, call: ChainCall, answer: Any) -> None:
        """Keep it, if it is one to keep."""
        if not isinstance(call, Call | Code) or not call.is_constant or not isinstance(answer, bytes) or not answer:
            return
        if len(answer) > MAX_ANSWER_BYTES or (isinstance(call, Code) and answer.startswith(_DELEGATION)):
            return
        with self._lock:
            self._drop(call)
            self._kept[call] = _Kept(answer, self._now() + MAX_AGE_S)
            self._bytes += len(answer) + _ENTRY_BYTES
            while self._bytes > MAX_BYTES:
                self._drop(next(iter(self._kept)))

    def _drop(self, call: ChainCall) -> None:
        if dropped := self._kept.pop(call, None):
            self._bytes -= len(dropped.answer) + _ENTRY_BYTES
