"""The state of each pool, as one script on the queue Redis reads it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.lua_script import NOW, load
from shared.queue.streams import GROUP, SILENT_MS, closed_key, stream_key, unavailable_key

SCRIPT = load(Path(__file__).with_name("lua") / "pool_states.lua", NOW).text


@dataclass(frozen=True, slots=True)
class PoolState:
    """One pool at one moment, over all API and worker processes."""

    depth: int
    """Messages that wait or run."""
    running: int
    """Messages that a worker has fetched."""
    waited_ms: int
    """How long the oldest message has waited that no worker has fetched."""
    workers: int
    """Living worker processes."""
    available: int
    """Living worker processes whose ports work."""
    closed_ms: int
    """For how long from now its only upstream refuses our calls."""
    reason: str
    """Why a living worker cannot run jobs, as its port says; "" when all can."""


def arguments(pools: Sequence[str]) -> tuple[str | int, ...]:
    """What EVAL takes after the script."""
    keys = (*map(stream_key, pools), *map(closed_key, pools))
    return (len(keys), *keys, GROUP, SILENT_MS, *(unavailable_key(pool, "") for pool in pools))


def pool_states(answer: Sequence[Any], pools: Iterable[str]) -> dict[str, PoolState]:
    """What the script answers about these pools."""
    return {pool: _state(*fields) for pool, fields in zip(pools, answer[:-1], strict=True)}


def server_time_s(answer: Sequence[Any]) -> float:
    """When the script ran, in Unix seconds of the server's clock."""
    return float(answer[-1]) / 1000


def _state(*fields: Any) -> PoolState:
    depth, running, waited_ms, workers, available, closed_ms, reason = fields
    return PoolState(depth, running, waited_ms, workers, available, closed_ms, reason.decode())
