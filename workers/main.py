"""The Dramatiq entry point: `dramatiq workers.main:create_broker --queues fast`."""

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

import dramatiq
from dramatiq.broker import Broker, MessageProxy
from dramatiq.middleware import Middleware
from dramatiq.worker import Worker
from redis.exceptions import RedisError

from jobs.catalogue import installed
from jobs.packages import RefusedPackage
from shared.endpoint import Endpoint
from shared.observability import tracing
from shared.observability.log_redaction import redact_logs
from shared.observability.logs import configure_logs
from shared.observability.metrics import metrics
from shared.pools import POOLS, niceness
from shared.process.machine import cores
from shared.process.scheduling import give_way
from shared.process.setting_names import read_settings
from shared.process.tuning import keep_freed_memory, tune_gc
from shared.process.user import refuse_root
from shared.queue.streams import closed_key
from shared.sealing.answers import AnswerSealer
from shared.sealing.keys import read_sealing_keys
from shared.sealing.sealing import Sealer
from shared.servers.ledger_connections import LedgerConnections, LedgerPool
from shared.servers.ledger_servers import run_check
from shared.servers.ledger_start import known_buckets, refuse_wrong_ledger
from shared.servers.queue_start import checked_by_worker, refuse_wrong_queue
from shared.servers.redis_connection import connect
from shared.settings.rails import EvmRailSettings
from shared.settings.service import InvalidSetting, Settings
from workers.actors import WorkerServices, declare_actors
from workers.answers import AnswerStore, ClaimTerms
from workers.children import ChildPool
from workers.confinement_monitor import ConfinementMonitor
from workers.mirror import NO_MIRROR, Mirror, RedisMirror
from workers.observations import ObservationStore
from workers.port_lifecycle import PortMonitor
from workers.ports import WorkerPorts
from workers.preload import preload
from workers.queue.broker import StopFetching, StreamBroker
from workers.queue.outbox import Outbox
from workers.queue.work_queue import FastWorkQueue

CHILDREN = max(1, cores() - 1)
"""Child processes for hostile work: one core stays free for everything else. With all cores busy, echo's p99 is 4 ms later (a
tick of Linux's clock, whatever the children's priority); with one free core it is less than twice its p99 without hostile
work."""
PR_SET_PDEATHSIG = 1


class OwnProcessGroup(Middleware):
    """Puts a worker process into its own process group, in which it gets only its master's signals. Supervisors signal a
    whole group, and Dramatiq's master signals its workers: the second of two SIGTERMs ends a worker before its jobs are done.
    The worker ends when its master dies."""

    def after_process_boot(self, broker: Broker) -> None:
        """Dramatiq's signal, which only worker processes of its command line get."""
        master = os.getppid()
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != master:  # it died before prctl took effect
            os._exit(1)
        tune_gc()
        keep_freed_memory()
        redact_logs()
        settings = Settings.from_env(os.environ)
        configure_logs(settings.log)
        tracing.start(settings, "coinslot-worker")
        metrics.start(settings.metrics_dir)


class WorkerLifecycle(Middleware):
    """Starts what a worker needs before its first job, and closes it after its last."""

    def __init__(
        self,
        settings: Settings,
        children: ChildPool,
        confinement: ConfinementMonitor,
        ports: PortMonitor,
        ledger: LedgerConnections,
        observations: ObservationStore,
        mirror: Mirror,
    ) -> None:
        self._settings = settings
        self._children = children
        self._confinement = confinement
        self._ports = ports
        self._ledger = ledger
        self._observations = observations
        self._mirror = mirror

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Dramatiq's signal."""
        served = [pool for pool in POOLS if pool in (worker.consumer_whitelist or POOLS)]
        if any(POOLS[pool].needs_children for pool in served):
            self._children.start(CHILDREN, served)
            self._confinement.start()
        give_way(niceness(served))  # the fork server has started by now: it gives way when it has loaded everything
        self._ports.start(served)
        preload(self._settings, served)
        self._mirror.start(served)

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Dramatiq's signal."""
        self._confinement.close()
        self._ports.close()
        self._children.close()
        self._ledger.close()
        self._observations.close()
        self._mirror.close()
        tracing.stop()


class PrefetchPerThread(Middleware):
    """Lets a worker fetch as many messages as it has threads. Dramatiq's default is twice as many: a message that waits in one
    process cannot be run by another that is idle. (A job of 0 ms waited 3.9 s behind a slow one, measured.)"""

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Dramatiq's signal."""
        worker.queue_prefetch = worker.worker_threads


class TracedJobs(Middleware):
    """Runs each job in a span of its call's trace (shared/observability/tracing.py). The message's options carry the trace,
    and actors do not see them."""

    def __init__(self) -> None:
        self._thread = threading.local()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        """Dramatiq's signal, in the thread that runs the job."""
        self._thread.span = tracing.begin_job(message.options)

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """Dramatiq's signal, in the same thread."""
        if (span := self._thread.span) is not None:
            span.end()


def create_broker(catalogue: Sequence[Endpoint] | None = None) -> StreamBroker:
    """Build the broker with every actor. `--queues` decides which queues this process serves.

    Args:
        catalogue: whose actors; None: all that is installed.
    """
    settings = read_settings(os.environ)
    refuse_root(settings)
    try:
        refuse_wrong_ledger(settings, run_check)
        refuse_wrong_queue(settings, checked_by_worker(), run_check)
        if catalogue is None:
            catalogue = installed()
    except (RefusedPackage, InvalidSetting) as error:
        sys.exit(f"coinslot worker: {error}")
    master, previous = read_sealing_keys(settings)
    sealer = Sealer(master, previous=previous)
    children = ChildPool()
    urls, known, replicas = settings.ledger_urls, known_buckets(settings), settings.ledger_replicas
    ledger = LedgerConnections(urls, known=known, replicas=replicas)
    observations = ObservationStore(
        LedgerPool(urls, known=known, replicas=replicas),
        settings.redis_url(settings.observation_url),
        master,
        previous=previous,
        days=settings.observation_days,
        most=settings.observations_per_payer,
    )
    channels = settings.rails["evm"]
    assert isinstance(channels, EvmRailSettings)
    answers = AnswerStore(
        ledger,
        AnswerSealer(master, previous),
        observations,
        claims=ClaimTerms(int(channels.claim_within_s * 1000), channels.claim_value),
    )
    mirror = (
        RedisMirror(settings.redis_url(settings.dashboard_redis_url)) if settings.dashboard_redis_url else NO_MIRROR
    )
    outbox = Outbox(answers, {endpoint.name: endpoint for endpoint in catalogue}, sealer, mirror)

    def close(pool: str, seconds: float) -> None:
        with contextlib.suppress(RedisError):  # then the API sells on, and the worker refuses each call
            broker.client.set(closed_key(pool), 1, px=int(seconds * 1000))

    try:
        ports = WorkerPorts(settings, children, close)
    except InvalidSetting as error:
        sys.exit(f"coinslot worker: {error}")
    sold = {endpoint.pool for endpoint in catalogue}
    port_monitor = PortMonitor(lambda pool: ports.live_ports(pool) if pool in sold else ())
    confinement = ConfinementMonitor(
        children.confinement, connect(settings.redis_url(settings.queue_url)), is_strict=settings.production
    )
    # Dramatiq's default middleware is left out: it costs 14 us a message, its time limit cannot stop C code, and its retries
    # would run a job whose failure the caller already has.
    broker = StreamBroker(
        settings.redis_url(settings.queue_url),
        middleware=[
            OwnProcessGroup(),
            PrefetchPerThread(),
            FastWorkQueue(),
            StopFetching(),
            WorkerLifecycle(settings, children, confinement, port_monitor, ledger, observations, mirror),
            *([TracedJobs()] if settings.otel else []),
        ],
        outbox=outbox,
        batched={pool for pool, policy in POOLS.items() if policy.is_batched},
        unavailable_reason=lambda queue: (
            port_monitor.unavailable_reason(queue) or confinement.unavailable_reason(queue)
        ),
    )
    declare_actors(broker, catalogue, WorkerServices(outbox, sealer, children, ports, observations, mirror))
    dramatiq.set_broker(broker)
    return broker
