"""What the API does with a call between its payment and its answer, and the worker processes that answer it."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from api.dispatch import Dispatcher
from api.pools import Pools
from api.redis_client import COMMAND_TIMEOUT_S, Redis
from api.replies import READ_TIMEOUT_S, ReplyReader
from compose.sandbox.child import ROOT
from shared.endpoint import Endpoint
from shared.outcome import Ok
from shared.queue.message import Arguments
from shared.sealing.answers import AnswerSealer
from shared.sealing.sealing import Sealer
from shared.settings.secret_files import read_key
from shared.settled_payment import SettledPayment

StartProcess = Callable[..., subprocess.Popen[bytes]]


@dataclass
class Dispatching:
    """The dispatcher of one API process, for one endpoint like echo."""

    endpoint: Endpoint
    pools: Pools
    dispatcher: Dispatcher
    answers: AnswerSealer

    async def call(self, text: str = "x") -> Any:
        """The answer to one call, which takes its slot first."""
        async with self.dispatcher.slot(self.endpoint, "0xpayer", len(text)) as slot:
            assert slot.refusal is None
            return await self.run(text)

    async def run(self, text: str = "x") -> Any:
        """The same, whatever is known of the pool."""
        body = msgspec.json.encode({"message": text})
        sealed = await self.dispatcher.run(self.endpoint, Arguments("", SettledPayment(payer="0xpayer"), body))
        answer = self.answers.open(sealed, self.endpoint, "", b"")
        assert isinstance(answer, Ok), answer
        return msgspec.json.decode(answer.body)["youSent"]


@asynccontextmanager
async def dispatching(endpoint: Endpoint, queue_url: str, key_file: Path) -> AsyncIterator[Dispatching]:
    """While its pools are watched and its replies are read."""
    short, long = Redis(queue_url), Redis(queue_url, timeout_s=READ_TIMEOUT_S + COMMAND_TIMEOUT_S)
    replies, pools = ReplyReader(long), Pools(short)
    master = read_key(key_file)
    replies.start()
    pools.start()
    yield Dispatching(endpoint, pools, Dispatcher(short, replies, pools, Sealer(master)), AnswerSealer(master))
    await pools.stop()
    await replies.stop()
    short.close()
    long.close()


@contextmanager
def worker_processes(module: str, endpoint: Endpoint, *options: str) -> Iterator[StartProcess]:
    """Starts stock worker processes, each a master with one child, in a group of their own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(**settings: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dramatiq", f"{module}:create_broker", "--queues", endpoint.pool.value]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
        started.append(
            subprocess.Popen(
                [*command, "--processes", "1", *options], env=environment, cwd=ROOT, start_new_session=True
            )
        )
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # an orderly end takes three seconds
            process.wait(30)
