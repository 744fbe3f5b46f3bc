"""One Dramatiq actor per endpoint: open the message, run the handler, leave the result in the outbox."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

import dramatiq
import msgspec

from jobs.ports import Context, Ports
from shared import outcome
from shared.endpoint import Endpoint, Pool
from shared.failpoints import reach
from shared.message import Arguments, open_arguments
from shared.outcome import DeadlineExceeded, Ok, Outcome, failed
from shared.sealing import Sealer, Unsealable
from workers.answers import Result
from workers.child import Work
from workers.children import ChildPool, Exhausted, Lost
from workers.execute import decode_request, execute
from workers.queue.broker import StreamBroker
from workers.queue.outbox import INTERNAL, Outbox

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """What all actors of a process share."""

    outbox: Outbox
    sealer: Sealer
    children: ChildPool
    ports: Ports


def declare_actors(broker: StreamBroker, catalogue: Sequence[Endpoint], services: WorkerServices) -> None:
    """One actor per endpoint, on the queue of its pool."""
    for endpoint in catalogue:
        declare = dramatiq.actor(
            actor_name=endpoint.name, queue_name=endpoint.pool.value, broker=broker, inline=endpoint.pool is Pool.MICRO
        )
        declare(JobRunner(endpoint, services))


class JobRunner:
    """The actor's function. It never raises: whatever happens is an outcome, and every outcome becomes a reply."""

    def __init__(self, endpoint: Endpoint, services: WorkerServices) -> None:
        self._endpoint = endpoint
        self._services = services
        self.__name__ = endpoint.operation_id  # Dramatiq names what it logs after the function

    def __call__(self, *, job_id: str, sealed: str, reply_to: str, deadline_ms: int) -> None:
        """Run one job. The arguments are those of shared.message.new_job."""
        try:
            arguments = open_arguments(sealed, endpoint=self._endpoint, job_id=job_id, sealer=self._services.sealer)
        except Unsealable as error:
            log.error("job %s of %s: %s", job_id, self._endpoint.name, error)
            return  # whose payment it was is not known: the outbox says so
        try:
            result = self._result(arguments, deadline_ms)
        except Exception as error:  # a MemoryError among others
            log.error("job %s of %s: %s", job_id, self._endpoint.name, type(error).__name__)
            result = INTERNAL
        reach("handler-done")
        self._services.outbox.put(job_id, Result(arguments.payment_id, self._endpoint, arguments.secret, result))

    def _result(self, arguments: Arguments, deadline_ms: int) -> Outcome:
        left_s = deadline_ms / 1000 - time.time()
        if left_s <= 0:
            return failed(DeadlineExceeded("The call waited too long to be started."))
        if not self._needs_child(arguments.body):
            return execute(self._endpoint, arguments.body, Context(arguments.payer, self._services.ports))
        work = Work(self._endpoint.name, arguments.payer, arguments.body)
        try:
            answer = self._services.children.call(
                work, limit_s=min(self._endpoint.child_limit_s, left_s), wait_s=left_s
            )
            return outcome.decode(answer)
        except TimeoutError:
            return failed(DeadlineExceeded("The call took too long, or waited too long to be started."))
        except Exhausted:
            if self._endpoint.exhausted is None:
                return failed(DeadlineExceeded("The call took too long."))
            request = decode_request(self._endpoint, arguments.body)
            return Ok(msgspec.json.encode(self._endpoint.exhausted(request)))
        except Lost:
            return INTERNAL

    def _needs_child(self, body: bytes) -> bool:
        is_long = self._endpoint.is_long
        return self._endpoint.isolated or (is_long is not None and is_long(decode_request(self._endpoint, body)))
