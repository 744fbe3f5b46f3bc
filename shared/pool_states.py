"""The state of each pool, as one script on the queue Redis reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shared.pools import Pool
from shared.streams import GROUP, SILENT_MS, closed_key, stream_key, unavailable_key

SCRIPT = """#!lua flags=no-writes
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function named(flat)
  local fields = {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end
local states = {}
local pools = #KEYS / 2
for i = 1, pools do
  local stream = KEYS[i]
  local running, waited, workers, available, reason = 0, 0, 0, 0, ''
  local groups = redis.pcall('XINFO', 'GROUPS', stream)
  for _, flat in ipairs(groups) do
    local group = named(flat)
    if group['name'] == ARGV[1] then
      running = group['pending']
      local first = redis.call('XRANGE', stream, '(' .. group['last-delivered-id'], '+', 'COUNT', 1)[1]
      if first then waited = now - tonumber(string.match(first[1], '^%d+')) end
      for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', stream, ARGV[1])) do
        local fields = named(consumer)
        if fields['idle'] < tonumber(ARGV[2]) then
          workers = workers + 1
          local told = redis.call('GET', ARGV[2 + i] .. fields['name'])
          if told then reason = told else available = available + 1 end
        end
      end
    end
  end
  local closed = math.max(0, redis.call('PTTL', KEYS[pools + i]))
  states[i] = {redis.call('XLEN', stream), running, waited, workers, available, closed, reason}
end
states[pools + 1] = now
return states
"""

KEYS = (*(stream_key(pool) for pool in Pool), *(closed_key(pool) for pool in Pool))
ARGUMENTS: tuple[str | int, ...] = (GROUP, SILENT_MS, *(unavailable_key(pool, "") for pool in Pool))


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
    """How long its only upstream will still refuse our calls."""
    reason: str
    """Why a living worker cannot run jobs, as its port says; "" when all can."""


def pool_states(answer: Sequence[Any]) -> dict[Pool, PoolState]:
    """What the script answers."""
    return {pool: _state(*fields) for pool, fields in zip(Pool, answer[:-1], strict=True)}


def server_time_s(answer: Sequence[Any]) -> float:
    """When the script ran, in Unix seconds of the server's clock."""
    return float(answer[-1]) / 1000


def _state(*fields: Any) -> PoolState:
    depth, running, waited_ms, workers, available, closed_ms, reason = fields
    return PoolState(depth, running, waited_ms, workers, available, closed_ms, reason.decode())
