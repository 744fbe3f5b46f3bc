"""Counts how new paid calls end, and writes it to the ledger every WRITE_S (shared/observability/status.py)."""

import contextlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from api.causes import Cause
from api.errors import Problem
from api.payment.periodic_task import PeriodicTask
from api.redis_client import Commands, RedisLost, RedisRefused
from shared.endpoint import Endpoint
from shared.lua_script import Command
from shared.observability.status import WINDOWS, WRITE_S, Result, Tally, Window, fields_of

_OF_KNOWN_PAYMENTS = frozenset((Cause.IDENTIFIER_OPEN, Cause.SETTLING_GIVEN_UP, Cause.SETTLEMENT_UNKNOWN))
"""Causes that are not charged and refuse no new call: of a copy of a call, or of a channel's refund."""
_OF_ANY_CALL = frozenset((Cause.LEDGER_UNREACHABLE, Cause.UNEXPECTED))
"""Causes with which nobody can say whether the call is a new one."""


@dataclass(slots=True)
class _Slot:
    """What this process has counted in one slot of a window, and which cells of it the ledger does not have yet."""

    tally: Tally = field(default_factory=Tally)
    unwritten: set[tuple[str, str]] = field(default_factory=set)


class StatusCounter(PeriodicTask):
    """What this process counts.

    Args:
        redis: the ledger.
        clock: gives Unix seconds.
    """

    def __init__(self, redis: Commands, clock: Callable[[], float] = time.time) -> None:
        super().__init__("status", every_s=WRITE_S, at_once=1)
        self._redis = redis
        self._clock = clock
        self._process = secrets.token_hex(8)
        self._new = Tally()
        self._slots: dict[tuple[Window, int], _Slot] = {}
        self._counted_until = clock()

    def count(self, endpoint: str, rail: str, result: Result, cause: str, took_s: float) -> None:
        """Count a call that has ended. It takes about a microsecond and asks nobody."""
        self._new.count(endpoint, rail, result, cause, took_s, self._clock())

    def start(self) -> None:
        """Count from now on."""
        self._counted_until = self._clock()
        super().start()

    async def stop(self) -> None:
        """Write what is left, and end."""
        await super().stop()
        with contextlib.suppress(RedisLost, RedisRefused):
            await self.run_once()

    async def run_once(self) -> int:
        """Write what is new in the slots of now, and what could not be written before. Writing it twice changes nothing."""
        now, began = self._clock(), self._counted_until
        if 0 <= now - began < 1 and not self._new.cells:
            return 0
        new, self._new, self._counted_until = self._new, Tally(), now
        if 0 <= now - began < 3 * WRITE_S:  # else the process did not run, or the clock was set
            new.spans = [(int(began), int(now))]
        for window in WINDOWS:
            slot = self._slots.setdefault((window, window.slots(now)[-1]), _Slot())
            slot.tally.add(new)
            slot.unwritten.update(new.cells)
        self._slots = {place: slot for place, slot in self._slots.items() if place[1] in place[0].slots(now)}
        commands: list[Command] = []
        for (window, number), slot in self._slots.items():
            key = window.key(number)
            commands.append(("HSET", key, *fields_of(self._process, slot.tally, slot.unwritten)))
            commands.append(("EXPIRE", key, window.keep_s))
        for answer in await self._redis.batch(commands):
            if isinstance(answer, BaseException):
                raise answer
        for slot in self._slots.values():
            slot.unwritten.clear()
        self._slots = {place: slot for place, slot in self._slots.items() if place[1] == place[0].slots(now)[-1]}
        return 0


def result_of(problem: Problem, endpoint: Endpoint, *, is_first: bool) -> Result | None:
    """How a call ended that is answered with a problem; None of what is not counted: a request that is not right, a payer above
    a limit, and a request that is not the first one of its call.

    Args:
        is_first: whether this is the request that made the payment known, so that it settles or runs the call.
    """
    cause, status = problem.cause, problem.kind.status
    if cause is None:  # the job's own failure, or a request that is refused before it is a call
        if not is_first:
            return None
        return "failed" if endpoint.fault_of(problem.code, problem.reason) == "ours" else "caller_failed"
    is_refusal = problem.charged is False and cause not in _OF_KNOWN_PAYMENTS
    if status < 500 or not (is_first or is_refusal or cause in _OF_ANY_CALL):
        return None
    return "refused" if problem.charged is False else "failed"
