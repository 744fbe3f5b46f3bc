"""One Dramatiq actor per endpoint: open the message, run the handler, store the answer, reply."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

import dramatiq
import msgspec
import redis
from redis.exceptions import RedisError

from jobs.ports import Context
from shared import outcome
from shared.answers import AnswerStore
from shared.broker import StreamBroker
from shared.endpoint import Endpoint
from shared.message import Arguments, open_arguments
from shared.outcome import DeadlineExceeded, Failed, Ok, Outcome, failed
from shared.replies import Reply, send_reply
from shared.sealing import Sealer, Unsealable
from workers.child import Work
from workers.children import ChildPool, Exhausted, Lost
from workers.execute import decode_request, execute

log = logging.getLogger(__name__)

_INTERNAL = Failed(code="internal_error", detail="The call failed here and was not your fault.", retryable=True)


@dataclass(frozen=True, slots=True)
class Kitchen:
    """What all actors of a process share."""

    answers: AnswerStore
    queue: redis.Redis
    sealer: Sealer
    children: ChildPool


def declare_actors(broker: StreamBroker, catalogue: Sequence[Endpoint], kitchen: Kitchen) -> None:
    """One actor per endpoint, on the queue of its pool."""
    for endpoint in catalogue:
        declare = dramatiq.actor(actor_name=endpoint.name, queue_name=endpoint.pool.value, broker=broker, max_retries=0)
        declare(JobRunner(endpoint, kitchen))


class JobRunner:
    """The actor's function. It never raises: whatever happens is an outcome, and every outcome is a reply."""

    def __init__(self, endpoint: Endpoint, kitchen: Kitchen) -> None:
        self._endpoint = endpoint
        self._kitchen = kitchen
        self.__name__ = endpoint.operation_id  # Dramatiq names what it logs after the function

    def __call__(self, *, job_id: str, sealed: str, reply_to: str, deadline_ms: int) -> None:
        """Run one job. The arguments are those of shared.message.new_message."""
        try:
            arguments = open_arguments(sealed, endpoint=self._endpoint, job_id=job_id, sealer=self._kitchen.sealer)
        except Unsealable as error:
            log.error("job %s of %s: %s", job_id, self._endpoint.name, error)
            self._reply(reply_to, job_id, outcome.encode(_INTERNAL))
            return
        try:
            result = self._result(arguments, deadline_ms)
        except Exception as error:  # a MemoryError among others
            log.error("job %s of %s: %s", job_id, self._endpoint.name, type(error).__name__)
            result = _INTERNAL
        self._reply(reply_to, job_id, self._stored(arguments.payment_id, result))

    def _result(self, arguments: Arguments, deadline_ms: int) -> Outcome:
        left_s = deadline_ms / 1000 - time.time()
        if left_s <= 0:
            return failed(DeadlineExceeded("The call waited too long to be started."))
        if not self._endpoint.isolated:
            return execute(self._endpoint, arguments.body, Context(payer=arguments.payer))
        assert self._endpoint.exhausted is not None
        work = Work(self._endpoint.name, arguments.payer, arguments.body)
        try:
            answer = self._kitchen.children.call(work, limit_s=min(self._endpoint.child_limit_s, left_s), wait_s=left_s)
            return outcome.decode(answer)
        except TimeoutError:
            return failed(DeadlineExceeded("The call waited too long to be started."))
        except Exhausted:
            request = decode_request(self._endpoint, arguments.body)
            return Ok(msgspec.json.encode(self._endpoint.exhausted(request)))
        except Lost:
            return _INTERNAL

    def _stored(self, payment_id: str, result: Outcome) -> bytes:
        try:
            return self._kitchen.answers.done(payment_id, result)
        except RedisError as error:
            # An answer that is not stored must not be given: a repeated request could get a different one.
            log.error("answer of %s not stored: %s", self._endpoint.name, type(error).__name__)
            return outcome.encode(Failed(code="unavailable", detail="The answer was not stored.", retryable=True))

    def _reply(self, reply_to: str, job_id: str, answer: bytes) -> None:
        try:
            send_reply(self._kitchen.queue, reply_to, Reply(job_id, answer))
        except RedisError as error:
            # The caller's repeated request finds the answer in the ledger.
            log.error("reply of %s not sent: %s", self._endpoint.name, type(error).__name__)
