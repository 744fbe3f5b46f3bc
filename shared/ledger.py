"""The ledger's keys: what the API (api/payment/ledger.py) and the workers (workers/answers.py) both write.

One payment has two keys: its record (a hash) and its answer, which the `done` script of workers/answers.py writes, and nothing
else. Beside them there are two indexes and the journal. All of them live in one Redis: scripts name records by what they find
in an index.
"""

from __future__ import annotations

OPEN = "coinslot:open"
"""ZSET of the payments that are not at their end. Score: when to look at them next, in Unix milliseconds."""
REFUNDABLE = "coinslot:refundable"
"""ZSET of the payments that were charged and never answered. Score: when that was given up, in Unix milliseconds."""
RECHECK = "coinslot:recheck"
"""ZSET of the payments whose settlement is looked at once more. Score: when, in Unix milliseconds."""
LOST = "coinslot:lost"
"""ZSET of the payments that the chain took back after they were settled. Score: when that was found, in Unix milliseconds."""
JOURNAL = "coinslot:journal"
"""Stream, one entry per transition: `payment`, `event` (the new state, FORGOTTEN, LOST, or FAILURE of a job), `attempts`."""
JOURNAL_LENGTH = 1_000_000
"""About 150 MB. Older entries are dropped."""
RERUN_WINDOW_MS = 10 * 60 * 1000
FREE_RERUNS = 3
"""A job that failed for a passing reason is run again, free, that often within RERUN_WINDOW_MS."""
RERUN_MS = 24 * 3600 * 1000
"""Until then after its settlement a payment without an answer can be run again. Then it is FAILED."""

_PAYMENT = "coinslot:payment:"

NOTE = f"""
local function note(payment, event, attempts)
  redis.call('XADD', '{JOURNAL}', 'MAXLEN', '~', {JOURNAL_LENGTH}, '*',
    'payment', payment, 'event', event, 'attempts', attempts or '')
end
"""
"""Lua, for every script that moves a payment: one line of the journal. The stream is to be among the script's KEYS."""
NOW = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
"""
"""Lua: the ledger's own clock, in Unix milliseconds. All leases are by it."""


def record_key(payment_id: str) -> str:
    """Key of the payment's record."""
    return _PAYMENT + payment_id


def answer_key(payment_id: str) -> str:
    """Key of the answer: a sealed Outcome."""
    return f"coinslot:answer:{payment_id}"
