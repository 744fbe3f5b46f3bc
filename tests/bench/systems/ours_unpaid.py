"""Our HTTP without the payment: the real application and the real worker, with one step in the place of steps 1 to 6.
A call that brings a payment is a real one all the same.

The switch is here and nowhere in the product: `api.app` is composed with a subclass of its paid call. The catalogue has one
sleeping job more per slow pool, which the real worker code runs.
"""

import asyncio
import os
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import msgspec
from litestar.types import Scope

import api.app
import workers.main
from api.__main__ import serve as serve_http
from api.body import RequestBody
from api.call_log import CallLog
from api.errors import problem_of
from api.http import Answer
from api.long_bodies import LONG_BYTES
from api.payment.headers import find_payment
from api.pipeline import PaidCall
from api.rsgi import Rsgi
from jobs import catalogue
from jobs.ports import Context
from shared.endpoint import Category, Endpoint, Example, Flavour, Pool
from shared.money import Price
from shared.outcome import Failed
from shared.pools import POOLS
from shared.process.tuning import keep_freed_memory, tune_gc
from shared.queue.message import Arguments
from shared.settled_payment import SettledPayment
from tests.bench.roles import become, play, port
from workers.answers import AnswerStore, Result
from workers.main import create_broker as create_real_broker
from workers.queue.broker import StreamBroker

MODULE = "tests.bench.systems.ours_unpaid"
SLOW_POOLS = {Pool.RENDER: 1, Pool.WHOIS: 16, Pool.YOUTUBE: 8}
"""And their threads, as in the Procfile."""


class Nap(msgspec.Struct, frozen=True):
    """How long to hold a worker thread, and which part of it chance adds or takes away."""

    seconds: float
    spread: float = 0.0


def sleep(request: Nap, context: Context) -> Nap:
    """Hold a worker thread, as a slow upstream does."""
    time.sleep(request.seconds * random.uniform(1 - request.spread, 1 + request.spread))
    return request


def sleeping(pool: Pool) -> Endpoint:
    """An endpoint that takes as long as its caller says."""
    return Endpoint(
        name=f"sleep-{pool.value}",
        price=Price.of("0.001"),
        category=Category.UTILITY,
        pool=pool,
        deadline_s=25,
        flavour=Flavour.NEWER,
        request=Nap,
        response=Nap,
        summary="Sleeps.",
        example=Example(request={"seconds": 1}, response={"seconds": 1}),
        run=sleep,
        listed=False,
    )


CATALOGUE = (*catalogue.CATALOGUE, *(sleeping(pool) for pool in SLOW_POOLS))


class UnpaidCall(PaidCall):
    """A paid call without the payment: body, room in the pool, job, answer."""

    async def _answer(self, scope: Scope, request_body: RequestBody, call_log: CallLog) -> Answer:
        if find_payment(scope["headers"]) or scope.get("method") != "POST":
            return await super()._answer(scope, request_body, call_log)
        payer = dict(scope["headers"]).get(b"x-wallet", b"nobody").decode()
        body = await request_body.read(limit=self._endpoint.max_body_bytes, payer=payer)
        if problem := self._admission.judged(body).problem:
            raise problem
        if len(body) > LONG_BYTES:
            await asyncio.sleep(0)  # others are served then, as while the ledger is asked
        # Sealed and opened as a paid answer is, with no signature and no payment to bind it to.
        dispatcher, answers = self._services.dispatcher, self._services.answers
        secret = answers.secret(self._endpoint, b"")
        async with dispatcher.slot(self._endpoint, payer, len(body)) as slot:
            if slot.refusal is not None:
                raise problem_of(slot.refusal.cause)
            answer = await dispatcher.run(self._endpoint, Arguments("", SettledPayment(payer=payer), body, secret))
            result = answers.open(answer, self._endpoint, "", secret)
        if isinstance(result, Failed):
            return Answer(502, ((b"content-type", b"text/plain"),), result.detail.encode())
        return Answer(200, ((b"content-type", b"application/json"),), result.body)


def create_app() -> Rsgi:
    """The real application around the unpaid call. Callers are not refused for their number: it is what is measured."""
    POOLS.update({pool: replace(policy, room=10_000) for pool, policy in POOLS.items()})
    with patch.object(api.app, "PaidCall", UnpaidCall):
        app = api.app.create_app(catalogue=CATALOGUE)
    tune_gc()
    keep_freed_memory()
    return Rsgi(app, app.lifespan)


class PaidAnswerStore(AnswerStore):
    """Stores the answers of paid calls only. All answers are sealed."""

    def done(self, results: Sequence[Result]) -> list[bytes]:
        """The answers that count."""
        paid = [result for result in results if result.payment_id]
        stored = iter(super().done(paid) if paid else ())
        return [next(stored) if result.payment_id else self.sealed(result) for result in results]


def create_broker() -> StreamBroker:
    """The real broker without the ledger, with the sleeping jobs beside echo."""
    with patch.object(workers.main, "AnswerStore", PaidAnswerStore):
        return create_real_broker(CATALOGUE)


def worker() -> None:
    """The pool that echo is in, as in the Procfile."""
    become("-m", "dramatiq", f"{MODULE}:create_broker", "--queues", "micro", "--processes", "1", "--threads", "1")


def fast_worker() -> None:
    """The pool of calculations, as in the Procfile."""
    become("-m", "dramatiq", f"{MODULE}:create_broker", "--queues", "fast", "--processes", "1", "--threads", "16")


def serve() -> None:
    """As api/__main__.py serves."""
    serve_http(f"{MODULE}:create_app", "127.0.0.1", port(), "text")


def slow_worker() -> None:
    """A worker of the slow pool BENCH_POOL, with BENCH_THREADS threads."""
    pool = Pool(os.environ["BENCH_POOL"])
    threads = os.environ.get("BENCH_THREADS", str(SLOW_POOLS[pool]))
    options = ("--queues", pool.value, "--processes", "1", "--threads", threads)
    become("-m", "dramatiq", f"{MODULE}:create_broker", *options)


if __name__ == "__main__":
    play({"worker": worker, "fast_worker": fast_worker, "slow_worker": slow_worker, "api": serve})
