"""Where the answers of paid calls are kept: written once by a worker, read by the API for ever the same.

One payment has two keys in the ledger: its record (a hash, written by api/payment/ledger.py) and its answer. The `done`
script is the only thing that a worker writes there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared import outcome
from shared.outcome import Failed, Outcome

if TYPE_CHECKING:
    import redis  # the API never imports it: redis-py costs 0.1 s of its start

ANSWER_TTL_S = 24 * 3600
"""How long an answer can be fetched again with the same request."""


def record_key(payment_id: str) -> str:
    """Key of the payment's record."""
    return f"coinslot:payment:{payment_id}"


def answer_key(payment_id: str) -> str:
    """Key of the answer: an encoded Outcome."""
    return f"coinslot:answer:{payment_id}"


# allow-oom: a charged call's answer must be storable when a full Redis refuses new claims.
_DONE = """#!lua flags=allow-oom
local stored = redis.call('GET', KEYS[2])
if stored then return stored end
if redis.call('EXISTS', KEYS[1]) == 1 then
  if ARGV[2] == 'final' then
    redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[3])
    redis.call('HSET', KEYS[1], 'state', 'DONE', 'lease', 0)
  else
    redis.call('HSET', KEYS[1], 'lease', 0)
  end
end
return ARGV[1]
"""


class AnswerStore:
    """The worker's side of the ledger.

    Args:
        ledger: a client of the ledger Redis.
    """

    def __init__(self, ledger: redis.Redis) -> None:
        self._done = ledger.register_script(_DONE)

    def done(self, payment_id: str, result: Outcome) -> bytes:
        """Store a result and return the encoded outcome that counts: the first final one wins, whoever comes second.

        A retryable failure is not stored; it frees the payment, so that the same request runs the job again.
        """
        final = not (isinstance(result, Failed) and result.retryable)
        winner: bytes = self._done(
            keys=[record_key(payment_id), answer_key(payment_id)],
            args=[outcome.encode(result), "final" if final else "again", ANSWER_TTL_S],
        )
        return winner
