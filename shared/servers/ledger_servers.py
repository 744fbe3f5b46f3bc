"""The primaries of the ledger for those who read all payments: the operator's commands and the exporter."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import redis
from redis.client import Pipeline

from shared.ledger.keys import BUCKETS, bucket_of, record_key, server_of
from shared.ledger.layout import Check, checked_by_reader
from shared.servers.ledger_start import wrong_ledger
from shared.servers.redis_connection import connect
from shared.settings.service import Settings


@contextmanager
def connect_ledger(settings: Settings) -> Iterator[Sequence[redis.Redis]]:
    """A client for each primary, in the order of COINSLOT_LEDGER_URL. Raises RedisError, and WrongLedger when one must not be
    read."""
    with ExitStack() as stack:
        clients = []
        for url, place in settings.ledger_places:
            clients.append(stack.enter_context(connect(url)))
            if why := check_server(clients[-1], checked_by_reader(place)):
                raise wrong_ledger(url, why)
        yield clients


def check_server(client: redis.Redis, check: Check) -> str:
    """Do a check of shared/ledger/layout.py. Returns its result. Raises RedisError."""
    try:
        commands = next(check)
        while True:
            commands = check.send([client.execute_command(*command) for command in commands])  # type: ignore[no-untyped-call]
    except StopIteration as ended:
        return str(ended.value)


def run_check(url: str, check: Check) -> str | None:
    """The same on the server at a URL. None: it does not answer."""
    try:
        with connect(url) as client:
            return check_server(client, check)
    except redis.RedisError:
        return None


def of_bucket(ledger: Sequence[redis.Redis], bucket: int) -> redis.Redis:
    """The primary that has a bucket."""
    return ledger[server_of(bucket, len(ledger))]


def read_record(ledger: Sequence[redis.Redis], payment_id: str) -> dict[bytes, bytes]:
    """The record of a payment; empty when there is none. Raises RedisError."""
    found: Any = of_bucket(ledger, bucket_of(payment_id)).hgetall(record_key(payment_id))
    return dict(found)


def ask_each_bucket(ledger: Sequence[redis.Redis], ask: Callable[[Pipeline, int], object]) -> list[Any]:
    """The answers to one command for each bucket, in their order, with one round trip for each primary. Raises RedisError.

    Args:
        ask: sends the pipeline one command for the bucket.
    """
    answers: list[Any] = [None] * BUCKETS
    for server, client in enumerate(ledger):
        buckets = [bucket for bucket in range(BUCKETS) if server_of(bucket, len(ledger)) == server]
        with client.pipeline(transaction=False) as pipeline:
            for bucket in buckets:
                ask(pipeline, bucket)
            for bucket, answer in zip(buckets, pipeline.execute(), strict=True):
                answers[bucket] = answer
    return answers
