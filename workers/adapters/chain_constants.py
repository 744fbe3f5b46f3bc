"""What a chain answered and will not answer differently: a token's decimals, symbol and name, and code."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from jobs.ports.chains import Call, ChainCall, Code
from workers.adapters.expiring_cache import ExpiringCache

MAX_AGE_S = 3600.0
MAX_BYTES = 16 * 1024 * 1024
"""Of all answers that are kept."""

MAX_ANSWER_BYTES = 32 * 1024
"""Of one that is kept: code has 24 KB at most. A few tokens with names of a megabyte would leave no room for others."""

_ENTRY_BYTES = 500
"""What an entry takes beside its answer."""
_DELEGATION = b"\xef\x01\x00"


class Constants:
    """Answers to calls that say of themselves that they are constant. Thread-safe.

    Nothing empty is kept, because what is not there yet may come, and no delegation, because an account may change it. Nor is
    what is too long for a name or for code.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._cache: ExpiringCache[ChainCall, bytes] = ExpiringCache(MAX_BYTES, now)

    def get(self, call: ChainCall) -> bytes | None:
        """The answer of the last hour."""
        kept = self._cache.get(call)
        return kept[0] if kept else None

    def put(self, call: ChainCall, answer: Any) -> None:
        """Keep it, if it is one to keep."""
        if not isinstance(call, Call | Code) or not call.is_constant or not isinstance(answer, bytes) or not answer:
            return
        if len(answer) > MAX_ANSWER_BYTES or (isinstance(call, Code) and answer.startswith(_DELEGATION)):
            return
        self._cache.put(call, answer, size=len(answer) + _ENTRY_BYTES, lifetime_s=MAX_AGE_S)
