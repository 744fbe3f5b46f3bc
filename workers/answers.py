"""The worker's side of the ledger: the one script that stores an answer, and what the call observed."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from shared.endpoint import Endpoint, is_reason
from shared.failpoints import reach
from shared.ledger.channels import ANSWER_TTL_S, CLAIMABLE, ROTATION_MS, SOLD, channel_of, is_voucher, voucher_keys
from shared.ledger.keys import NOTE, RERUN_WINDOW_MS, bucket_of, payment_keys
from shared.lua_script import NOW, Command, Value, load
from shared.observability.metrics import metrics
from shared.outcome import NOT_STORED, Failed, Ok, Outcome
from shared.queue.replies import Cost
from shared.sealing.answers import AnswerSealer, ttl_s
from shared.servers.ledger_connections import LedgerConnections
from workers.observations import OBSERVE, Observation, ObservationStore

log = logging.getLogger(__name__)

_DONE = load(Path(__file__).with_name("lua") / "done.lua", NOW, NOTE, OBSERVE, RERUN_WINDOW_MS=RERUN_WINDOW_MS)

_CHARGE = load(Path(__file__).with_name("lua") / "charge.lua", NOW, OBSERVE, ROTATION_MS=ROTATION_MS, SOLD=SOLD)

_TEXTS: dict[Value, str] = {script.sha: script.text for script in (_DONE, _CHARGE)}
_LOST = (RedisConnectionError, RedisTimeoutError)

_RESEND_WITHIN_S = 1.0
"""So long results are sent again over new connections. It is less than the lease on their messages
(shared/queue/streams.py)."""
_RESEND_PAUSE_S = 0.05


class ClaimTerms(NamedTuple):
    """When a channel is to be claimed.

    Attributes:
        after_ms: so long after its oldest charge that is not claimed.
        value: or when so many atomic units are not.
    """

    after_ms: int
    value: int


_NO_CHANNELS = ClaimTerms(0, 0)


class Result(NamedTuple):
    """What a job ended with, and whose it is.

    Attributes:
        secret: as in its arguments.
        observation: what the call leaves for the payer's next one about the same subject.
        cost: of an endpoint whose calls are calculations.
        with_previous: as in its arguments.
    """

    payment_id: str
    endpoint: Endpoint
    secret: bytes
    outcome: Outcome
    observation: Observation | None = None
    cost: Cost = Cost()
    with_previous: bool = False


class AnswerStore:
    """The worker's side of the ledger. A worker of several queues has a thread for each: they take turns, or one payment's
    answer would be given to another's caller.

    Args:
        ledger: it answers when enough replicas have an answer.
        sealer: nothing is stored or sent without it.
        observations: None where no endpoint remembers.
        claims: when a channel is to be claimed.
    """

    def __init__(
        self,
        ledger: LedgerConnections,
        sealer: AnswerSealer,
        observations: ObservationStore | None = None,
        *,
        claims: ClaimTerms = _NO_CHANNELS,
    ) -> None:
        self._ledger = ledger
        self._sealer = sealer
        self._observations = observations
        self._claims = claims
        self._turn = threading.Lock()

    def done(self, results: Sequence[Result]) -> list[bytes]:
        """Store results, sealed, in one write for each server, and return the sealed outcomes that count, in the same order:
        the first final one of a payment wins, whoever comes second.

        A retryable failure is not stored; it frees the payment, so that the same request runs the job again. A result that
        cannot be stored becomes such a failure, for a repeated request could get a different one.
        """
        results = [self._prepared(result) for result in results]
        sealed = [self.sealed(result) for result in results]
        commands = [self._command(result, own) for result, own in zip(results, sealed, strict=True)]
        with self._turn:
            answers = self._send_again(commands)
        if lost := Counter(type(answer).__name__ for answer in answers if isinstance(answer, Exception)):
            log.error("%d answers not stored: %s", lost.total(), ", ".join(lost))
        self._settle_observations(result for result, answer in zip(results, answers, strict=True) if _is_stored(answer))
        _count(results, [_named(*ended) for ended in zip(results, sealed, answers, strict=True)])
        return [self._stored(answer, result) for answer, result in zip(answers, results, strict=True)]

    def _send_again(self, commands: Sequence[Command]) -> list[Any]:
        """As `_send`, over new connections when one breaks. What was stored the first time is only looked up again."""
        answers = self._send(commands)
        give_up_at = time.monotonic() + _RESEND_WITHIN_S
        pause_s = 0.0  # a connection may have been closed while it was idle, which only a command finds out
        while lost := [number for number, answer in enumerate(answers) if isinstance(answer, _LOST)]:
            if pause_s and time.monotonic() >= give_up_at:
                break
            time.sleep(pause_s)
            pause_s = _RESEND_PAUSE_S
            for number, answer in zip(lost, self._send([commands[number] for number in lost]), strict=True):
                answers[number] = answer
        return answers

    def _send(self, commands: Sequence[Command]) -> list[Any]:
        """The answers, with an exception in place of one that there is not."""
        answers = self._ledger.send(commands)
        # A server that was restarted, promoted or added does not know the scripts.
        whole = {
            number: ("EVAL", text, *commands[number][2:])
            for number, answer in enumerate(answers)
            if isinstance(answer, NoScriptError) and (text := _TEXTS.get(commands[number][1]))
        }
        if whole:
            for number, answer in zip(whole, self._ledger.send(list(whole.values())), strict=True):
                answers[number] = answer
        return answers

    def _prepared(self, result: Result) -> Result:
        """Before its answer may be stored, an observation for another Redis is pending there."""
        if result.observation is None or self._observations is None or not self._observations.is_separate:
            return result
        try:
            self._observations.keep_pending(result.payment_id, result.observation)
        except RedisError as error:
            log.error("an observation was not stored: %s", type(error).__name__)
            return result._replace(outcome=NOT_STORED, observation=None)
        reach("observation-pending")
        return result

    def _settle_observations(self, results: Iterable[Result]) -> None:
        if self._observations is None or not self._observations.is_separate:
            return
        for result in results:
            if result.observation is not None:
                # What fails here is made up for by the next call about the subject.
                with contextlib.suppress(RedisError):
                    self._observations.settle_pending(result.payment_id, result.observation)

    def _stored(self, answer: bytes | Exception, result: Result) -> bytes:
        return answer if _is_stored(answer) else self._not_stored(result)

    def _not_stored(self, result: Result) -> bytes:
        sealed = self.sealed(result._replace(outcome=NOT_STORED))
        return b"\n" + sealed if is_voucher(result.payment_id) else sealed

    def sealed(self, result: Result) -> bytes:
        """For its caller alone."""
        return self._sealer.seal(
            result.outcome, result.endpoint, result.payment_id, result.secret, with_previous=result.with_previous
        )

    def _charge(self, result: Result, sealed: bytes) -> Command:
        """Of a call that a voucher pays: every failure is free, and the voucher may come again."""
        payment_id = result.payment_id
        keys = voucher_keys(payment_id)
        store, observation = self._observations, result.observation
        beside = None if store is None or store.is_separate else observation
        return _CHARGE.evalsha(
            {
                **keys,
                "claimable": CLAIMABLE[bucket_of(payment_id)],
                "baseline": beside.baseline.key if beside else keys["record"],
                "payer_index": beside.baseline.payer_index if beside else keys["record"],
                "id": payment_id,
                "channel_id": channel_of(payment_id),
                "network": ":".join(payment_id.split(":", 2)[:2]),
                "payer": payment_id.split(":", 4)[3],
                "outcome": sealed,
                "is_answer": int(isinstance(result.outcome, Ok)),
                "ttl_s": ANSWER_TTL_S,
                "claim_after_ms": self._claims.after_ms,
                "claim_value": self._claims.value,
                "tag": observation.tag if observation and store and store.is_separate else "",
                "observation": beside.sealed if beside else "",
                "observation_ttl_ms": store.ttl_ms if store else 0,
                "most": store.most if store else 0,
            }
        )

    def _command(self, result: Result, sealed: bytes) -> Command:
        if is_voucher(result.payment_id):
            return self._charge(result, sealed)
        keys = payment_keys(result.payment_id)
        store, observation = self._observations, result.observation
        beside = None if store is None or store.is_separate else observation
        cause, fault = _blamed(result)
        return _DONE.evalsha(
            {
                **keys,
                "baseline": beside.baseline.key if beside else keys["record"],
                "payer_index": beside.baseline.payer_index if beside else keys["record"],
                "id": result.payment_id,
                "outcome": sealed,
                "kind": "again" if _may_run_again(result) else "final",
                "ttl_s": ttl_s(result.endpoint),
                "tag": observation.tag if observation and store and store.is_separate else "",
                "cause": cause,
                "fault": fault,
                "observation": beside.sealed if beside else "",
                "observation_ttl_ms": store.ttl_ms if store else 0,
                "most": store.most if store else 0,
            }
        )


def _is_stored(answer: bytes | Exception) -> TypeGuard[bytes]:
    return not isinstance(answer, Exception)


def _may_run_again(result: Result) -> bool:
    return isinstance(result.outcome, Failed) and result.outcome.retryable


def _blamed(result: Result) -> tuple[str, str]:
    """The cause and the fault of a failure; empty for an answer. A child that was taken over chooses its code."""
    failure = result.outcome
    if not isinstance(failure, Failed):
        return "", ""
    cause = failure.reason or failure.code
    return cause if is_reason(cause) else "other", result.endpoint.fault_of(failure.code, failure.reason)


def _named(result: Result, sealed: bytes, answer: bytes | Exception) -> str:
    """What metrics call a result, by the answer of the ledger: it gives back what it was sent, or what it had stored before."""
    if isinstance(answer, Exception):
        return "not_stored"
    if is_voucher(result.payment_id):
        receipt, _, answer = answer.partition(b"\n")
        if not receipt:
            return "failed"
    if answer != sealed:
        return "superseded"
    return "failed" if _may_run_again(result) else "done"


def _count(results: Sequence[Result], named: Sequence[str]) -> None:
    for result, name in zip(results, named, strict=True):
        metrics.job_ended(result.endpoint.pool, result.endpoint.name, name)
