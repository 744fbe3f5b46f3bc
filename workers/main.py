"""The Dramatiq entry point: `dramatiq workers.main:create_broker --queues fast`."""

from __future__ import annotations

import ctypes
import os
import signal

import dramatiq
from dramatiq.broker import Broker
from dramatiq.middleware import Middleware, Retries
from dramatiq.worker import Worker

from jobs.catalogue import CATALOGUE
from shared.answers import AnswerStore
from shared.broker import StopFetching, StreamBroker
from shared.connections import connect
from shared.sealing import Sealer
from shared.settings import Settings, read_key
from workers.actors import Kitchen, declare_actors
from workers.children import ChildPool

PR_SET_PDEATHSIG = 1


class OfItsOwnGroup(Middleware):
    """Supervisors signal a whole process group, and Dramatiq's master signals its workers: of two SIGTERMs the second ends a
    worker at once, with its jobs undone. In a group of its own it hears only its master, and it ends when that one does."""

    def after_process_boot(self, broker: Broker) -> None:
        """Dramatiq's signal, in worker processes of its command line only."""
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class ChildrenOfTheWorker(Middleware):
    """Starts the children of a worker whose queues need them before its first job, and ends them after its last."""

    def __init__(self, children: ChildPool) -> None:
        self._children = children

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Dramatiq's signal."""
        isolated = {endpoint.pool.value for endpoint in CATALOGUE if endpoint.isolated}
        if isolated & (worker.consumer_whitelist or isolated):
            self._children.start(os.cpu_count() or 1)

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Dramatiq's signal."""
        self._children.close()


def create_broker() -> StreamBroker:
    """Build the broker with every actor. `--queues` decides which of them this process serves."""
    settings = Settings.from_env(os.environ)
    children = ChildPool()
    # Every middleware there is. Dramatiq's default ones cost 14 us a message, and its time limit cannot stop C code.
    broker = StreamBroker(
        settings.queue_url,
        middleware=[OfItsOwnGroup(), StopFetching(), Retries(max_retries=0), ChildrenOfTheWorker(children)],
    )
    kitchen = Kitchen(
        answers=AnswerStore(connect(settings.ledger_url)),
        queue=broker.client,
        sealer=Sealer(read_key(settings.key_file)),
        children=children,
    )
    declare_actors(broker, CATALOGUE, kitchen)
    dramatiq.set_broker(broker)
    return broker
