"""What all API processes have counted, as /status.json says it. It names no payer and shows no exact number of calls."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from api.errors import Problem
from api.redis_client import Commands, RedisLost, RedisRefused
from shared.endpoint import Endpoint
from shared.observability.status import OURS, QUANTILES, WINDOWS, Cell, Tally, summed

FRESH_S = 10.0
"""A report this young is shown again."""
LONGEST = WINDOWS[-1].name


@dataclass(frozen=True, slots=True)
class Report:
    """The sums of all processes.

    Attributes:
        at: when they were read, in Unix seconds.
        tallies: by the name of the window.
    """

    at: float
    tallies: dict[str, Tally]


class StatusReader:
    """Reads the sums from the ledger when they are asked for, once for all who ask within FRESH_S.

    Args:
        redis: the ledger.
        clock: gives Unix seconds.
    """

    def __init__(self, redis: Commands, clock: Callable[[], float] = time.time) -> None:
        self._redis = redis
        self._clock = clock
        self._lock = asyncio.Lock()
        self._report: Report | None = None

    async def report(self) -> Report:
        """The last report, when the ledger does not answer. Raises Problem when there is none."""
        async with self._lock:
            if self._report is None or not 0 <= self._clock() - self._report.at < FRESH_S:
                try:
                    self._report = await self._read()
                except (RedisLost, RedisRefused) as error:
                    if self._report is None:
                        raise Problem(
                            code="unavailable", detail="What was counted cannot be read now.", failure=error
                        ) from None
            return self._report

    async def _read(self) -> Report:
        now, tallies = self._clock(), {}
        for window in WINDOWS:
            total = Tally()
            for fields in await self._redis.batch([("HVALS", key) for key in window.keys(now)]):
                if isinstance(fields, BaseException):
                    raise fields
                total.add(summed(fields))
                await asyncio.sleep(0)  # paid calls come between
            tallies[window.name] = total
        return Report(now, tallies)


def document(report: Report, endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """As JSON.

    Args:
        endpoints: those that are shown.
    """
    sold = {endpoint.name for endpoint in endpoints}
    shown = {
        name: Tally(cells={key: cell for key, cell in tally.cells.items() if key[0] in sold})
        for name, tally in report.tallies.items()
    }
    rails = sorted({rail for _, rail in shown[LONGEST].cells if rail})
    return {
        "asOf": _moment(report.at),
        "windows": {window.name: _window(report, window.name) for window in WINDOWS},
        "all": _figures(shown),
        "rails": {rail: _figures(shown, rail=rail) for rail in rails},
        "endpoints": [
            {
                "name": endpoint.name,
                "path": endpoint.path,
                "all": _figures(shown, endpoint=endpoint.name),
                "rails": {
                    rail: _figures(shown, endpoint=endpoint.name, rail=rail)
                    for rail in rails
                    if (endpoint.name, rail) in shown[LONGEST].cells
                },
                "lastFailures": _last_failures(shown[LONGEST], endpoint),
            }
            for endpoint in endpoints
        ],
    }


def _window(report: Report, name: str) -> dict[str, int]:
    window = next(window for window in WINDOWS if window.name == name)
    known_s, whole_s = report.tallies[name].known(window, report.at)
    return {"seconds": whole_s, "unknownSeconds": whole_s - known_s}


def _figures(shown: dict[str, Tally], **of: str) -> dict[str, dict[str, Any]]:
    """By window."""
    return {name: _of_cell(tally.total(**of)) for name, tally in shown.items()}


def _of_cell(cell: Cell) -> dict[str, Any]:
    """Shares, not counts: what is left of small differences would say who called when."""
    answered, callers = cell.count("answered"), cell.count("caller_failed")
    ours = {result: cell.count(result) for result in OURS}
    judged = answered + sum(ours.values())
    found: dict[str, Any] = {
        "callsAtLeast": _power_of_ten(judged + callers),
        "success": _share(answered, judged),
        **{result: _share(count, judged, is_up=True) for result, count in ours.items()},
        "callerFailed": _share(callers, judged + callers, is_up=True),
    }
    return found | {f"p{quantile * 100:.0f}Seconds": cell.quantile(quantile) for quantile in QUANTILES}


def _last_failures(tally: Tally, endpoint: Endpoint) -> list[dict[str, str | None]]:
    """When each cause was there last, the last one first."""
    found = [
        (failures.last, cause, result, rail)
        for (name, rail), cell in tally.cells.items()
        if name == endpoint.name
        for (result, cause), failures in cell.failures.items()
    ]
    return [
        {
            "cause": cause,
            "result": "callerFailed" if result == "caller_failed" else result,
            "fault": "ours" if result in OURS else "caller",
            "rail": rail or None,
            "lastAt": _moment(last // 60 * 60),
        }
        for last, cause, result, rail in sorted(found, reverse=True)
    ]


def _share(part: int, whole: int, *, is_up: bool = False) -> float | None:
    """To four digits. Rounded down, it is 1 only of all; rounded up, it is 0 only of none."""
    if not whole:
        return None
    return (-(-part * 10_000 // whole) if is_up else part * 10_000 // whole) / 10_000


def _power_of_ten(number: int) -> int:
    return 10 ** (len(str(number)) - 1) if number else 0


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
