"""The primaries of the ledger for those who read all payments: the operator's commands and the exporter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import redis
from redis.client import Pipeline

from shared.ledger import BUCKETS, bucket_of, record_key, server_of
from shared.redis_connection import connect
from shared.settings import Settings


@contextmanager
def connect_ledger(settings: Settings) -> Iterator[Sequence[redis.Redis]]:
    """A client for each primary, in the order of COINSLOT_LEDGER_URL."""
    with ExitStack() as stack:
        yield [stack.enter_context(connect(url)) for url in settings.ledger_urls]


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
