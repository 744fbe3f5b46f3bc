"""One Dramatiq actor per endpoint: open the message, run the handler, leave the result in the outbox."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

import dramatiq
import msgspec
from redis.exceptions import RedisError

from jobs.ports import Context, Ports
from shared import outcome
from shared.endpoint import Endpoint, Pool
from shared.failpoints import reach
from shared.layouts import UnknownLayout
from shared.observability import tracing
from shared.observability.logs import JobIds, call_ids
from shared.observability.metrics import metrics
from shared.outcome import UNAVAILABLE, DeadlineExceeded, Failed, Forbidden, Ok, Outcome, failed
from shared.queue.message import Arguments, open_arguments
from shared.queue.queue_clock import QueueClock
from shared.queue.replies import Cost
from shared.sealing.sealing import Sealer, Unsealable
from workers import children
from workers.answers import Result
from workers.child import Work
from workers.children import FORBIDDEN, ChildPool, Exhausted, Lost
from workers.execute import INTERNAL, declared, decode_request, execute, observe
from workers.mirror import NO_MIRROR, Mirror
from workers.observations import Observation, ObservationStore
from workers.queue.broker import StreamBroker
from workers.queue.outbox import Outbox

log = logging.getLogger(__name__)

UNKNOWN_BASELINE = Failed(UNAVAILABLE, "What was observed before cannot be read now.", retryable=True)
_NOT_STARTED = failed(DeadlineExceeded("The call waited too long to be started."))
_LATE = failed(DeadlineExceeded("The call took too long, or waited too long to be started."))
_UNFINISHED = (_NOT_STARTED, _LATE)


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """What all actors of a process share."""

    outbox: Outbox
    sealer: Sealer
    children: ChildPool
    ports: Ports
    observations: ObservationStore | None = None
    mirror: Mirror = NO_MIRROR


def declare_actors(broker: StreamBroker, catalogue: Sequence[Endpoint], services: WorkerServices) -> None:
    """One actor per endpoint, on the queue of its pool."""
    for endpoint in catalogue:
        declare = dramatiq.actor(
            actor_name=endpoint.name, queue_name=str(endpoint.pool), broker=broker, inline=endpoint.pool == Pool.MICRO
        )
        declare(JobRunner(endpoint, services, broker.clock))


class JobRunner:
    """The actor's function. It never raises: whatever happens is an outcome, and every outcome becomes a reply.

    Args:
        clock: of the queue. Deadlines are in its time.
    """

    def __init__(self, endpoint: Endpoint, services: WorkerServices, clock: QueueClock) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._services = services
        self.__name__ = endpoint.operation_id  # Dramatiq names what it logs after the function

    def __call__(self, *, job_id: str, sealed: str, reply_to: str, deadline_ms: int) -> None:
        """Run one job. The arguments are those of shared.queue.message.new_job."""
        try:
            arguments = open_arguments(sealed, endpoint=self._endpoint, job_id=job_id, sealer=self._services.sealer)
        except Unsealable as error:
            log.error("job %s of %s: %s", job_id, self._endpoint.name, error)
            return  # whose payment it was is not known: the outbox says so
        ids = JobIds(arguments.request_id, arguments.payment_id, job_id)
        call_ids.set(ids)
        self._services.mirror.started(job_id, self._endpoint, arguments)
        observation = None
        began = self._clock.now_s()
        started = time.perf_counter()
        try:
            result, observation = self._observed(arguments, deadline_ms)
        except Exception as error:  # a MemoryError among others
            log.error("job %s of %s: %s", job_id, self._endpoint.name, type(error).__name__)
            result = INTERNAL
        tracing.describe_job(ids, self._endpoint.name, result)
        reach("handler-done")
        cost = self._services.children.taken()
        ended = Result(
            arguments.payment_id,
            self._endpoint,
            arguments.secret,
            result,
            observation,
            cost._replace(is_whole=result not in _UNFINISHED) if self._endpoint.calculates else Cost(),
            arguments.with_previous,
        )
        call_ids.set(None)
        queued = deadline_ms / 1000 - self._endpoint.deadline_s
        metrics.job_ran(self._endpoint.pool, waited_s=began - queued, ran_s=time.perf_counter() - started)
        self._services.outbox.put(job_id, ended)

    def _observed(self, arguments: Arguments, deadline_ms: int) -> tuple[Outcome, Observation | None]:
        """The outcome, and what an endpoint that remembers has observed."""
        store, subject = self._services.observations, self._endpoint.subject
        if subject is None:
            return self._result(arguments, deadline_ms), None
        assert store is not None
        if deadline_ms / 1000 <= self._clock.now_s():  # nobody waits any more
            return _NOT_STARTED, None
        try:
            baseline = store.baseline(
                arguments.payment, subject(self._request(arguments.body), self._services.ports.site)
            )
            previous = store.previous(baseline)
        except (RedisError, UnknownLayout) as error:
            # Without it the answer would say that nothing was observed before.
            log.error("the last observation cannot be read: %s", type(error).__name__)
            return UNKNOWN_BASELINE, None
        except Unsealable as error:
            log.error("an observation cannot be opened: %s", error)
            previous = None
        context = Context(arguments.payment.payer, self._services.ports, arguments.payment, previous)
        result, content = observe(self._endpoint, arguments.body, context)
        return result, None if content is None else store.observation(baseline, content)

    def _result(self, arguments: Arguments, deadline_ms: int) -> Outcome:
        left_s = deadline_ms / 1000 - self._clock.now_s()
        if left_s <= 0:
            return _NOT_STARTED
        payment = arguments.payment
        if not self._needs_child(arguments.body):
            return execute(self._endpoint, arguments.body, Context(payment.payer, self._services.ports, payment))
        work = Work(self._endpoint.name, payment.payer, arguments.body, payment)
        try:
            answer = self._services.children.call(work, limit_s=self._endpoint.child_limit_s, wait_s=left_s)
            return declared(self._endpoint, outcome.decode(answer))
        except TimeoutError:
            return _LATE
        except Exhausted:
            if self._endpoint.exhausted is None:
                return failed(DeadlineExceeded("The call took too long."))
            return Ok(msgspec.json.encode(self._endpoint.exhausted(self._request(arguments.body))))
        except children.Forbidden:
            return failed(Forbidden(FORBIDDEN))
        except Lost:
            return INTERNAL

    def _needs_child(self, body: bytes) -> bool:
        is_long = self._endpoint.is_long
        return self._endpoint.isolated or (is_long is not None and is_long(self._request(body)))

    def _request(self, body: bytes) -> msgspec.Struct:
        return decode_request(self._endpoint, body, self._services.ports)
