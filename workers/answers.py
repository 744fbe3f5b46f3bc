"""The worker's side of the ledger: the one script that stores an answer."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Sequence

from redis.exceptions import NoScriptError, RedisError

from shared import outcome
from shared.answers import ANSWER_TTL_S, answer_key, record_key
from shared.connections import Wire
from shared.outcome import Failed, Outcome

log = logging.getLogger(__name__)

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


_SHA = hashlib.sha1(_DONE.encode(), usedforsecurity=False).hexdigest()

_NOT_STORED = outcome.encode(Failed(code="unavailable", detail="The answer was not stored.", retryable=True))


class AnswerStore:
    """The worker's side of the ledger. A worker of several queues has a thread for each: they take turns, or one payment's
    answer would be given to another's caller.

    Args:
        ledger: a connection to the ledger Redis.
    """

    def __init__(self, ledger: Wire) -> None:
        self._ledger = ledger
        self._turn = threading.Lock()

    def done(self, results: Sequence[tuple[str, Outcome]]) -> list[bytes]:
        """Store results by payment id, in one write, and return the encoded outcomes that count, in the same order: the
        first final one of a payment wins, whoever comes second.

        A retryable failure is not stored; it frees the payment, so that the same request runs the job again. A result that
        cannot be stored becomes such a failure, for a repeated request could get a different one.
        """
        commands = [_command(payment_id, result) for payment_id, result in results]
        try:
            with self._turn:
                answers = self._ledger.send(commands)
                if any(isinstance(answer, NoScriptError) for answer in answers):
                    # A Redis that was restarted does not know the script. Those that were stored are only looked up again.
                    self._ledger.call("SCRIPT", "LOAD", _DONE)
                    answers = self._ledger.send(commands)
        except RedisError as error:
            log.error("%d answers not stored: %s", len(results), type(error).__name__)
            return [_NOT_STORED] * len(results)
        return [self._stored(answer) for answer in answers]

    def _stored(self, answer: bytes | Exception) -> bytes:
        if isinstance(answer, Exception):
            log.error("an answer was not stored: %s", type(answer).__name__)
            return _NOT_STORED
        return answer


def _command(payment_id: str, result: Outcome) -> tuple[str | bytes | int, ...]:
    final = not (isinstance(result, Failed) and result.retryable)
    return (
        "EVALSHA",
        _SHA,
        2,
        record_key(payment_id),
        answer_key(payment_id),
        outcome.encode(result),
        "final" if final else "again",
        ANSWER_TTL_S,
    )
