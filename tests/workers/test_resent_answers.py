"""A worker whose connection to the ledger breaks sends its results again, and nothing counts twice."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest
import redis

from api.redis_client import Redis
from jobs.echo import ENDPOINT
from shared.ledger.keys import JOURNAL, bucket_of, record_key
from shared.lua_script import Command
from shared.outcome import Failed, Ok, Outcome
from shared.sealing.answers import AnswerSealer
from shared.servers.ledger_connections import LedgerConnections
from shared.servers.redis_connection import RedisConnection, connect
from workers.answers import AnswerStore, Result

SEALER = AnswerSealer(bytes(range(32)))
FAILURE = Failed("upstream_failed", "It did not answer.", retryable=True)


class CutOff(LedgerConnections):
    """Connections that break after Redis has run what it was sent, and before the answer arrives."""

    def __init__(self, url: str) -> None:
        super().__init__([url])
        self.cuts = 0

    def send(self, commands: Sequence[Command], *, bucket: int | None = None) -> list[Any]:
        answers = super().send(commands, bucket=bucket)
        if self.cuts:
            self.cuts -= 1
            self.close()
            return [redis.ConnectionError("on purpose")] * len(commands)
        return answers


@pytest.fixture
def ledger(clean_redis: str) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(clean_redis, decode_responses=True) as client:
        yield client


def stored(store: AnswerStore, payment_id: str, outcome: Outcome) -> Outcome:
    (answer,) = store.done([Result(payment_id, ENDPOINT, b"", outcome)])
    return SEALER.open(answer, ENDPOINT, payment_id, b"")


def events(ledger: redis.Redis, payment_id: str) -> list[str]:
    return [fields["event"] for _, fields in ledger.xrange(JOURNAL[bucket_of(payment_id)])]


def test_a_connection_that_was_closed_while_it_was_idle_costs_no_call(clean_redis: str, ledger: redis.Redis) -> None:
    """Given a server that closes all connections between two jobs, then the second answer is stored like the first."""
    with closing(LedgerConnections([clean_redis])) as connection:
        store = AnswerStore(connection, SEALER)
        for payment_id in ("first", "second"):
            ledger.hset(record_key(payment_id), "state", "SETTLED")
            assert stored(store, payment_id, Ok(b"1")) == Ok(b"1")
            assert ledger.client_kill_filter(_type="normal") >= 1


@pytest.mark.parametrize("cuts", [1, 3])
def test_what_is_sent_again_counts_once(clean_redis: str, ledger: redis.Redis, cuts: int) -> None:
    """Given connections that break behind the script, then a failure of the job is one failure, and an answer is the one that
    was stored first."""
    with closing(CutOff(clean_redis)) as connection:
        store = AnswerStore(connection, SEALER)
        ledger.hset(record_key("payment"), mapping={"state": "SETTLED", "lease": "1"})
        stored(AnswerStore(connection, SEALER), "another", Ok(b"1"))  # the script is known from here on
        connection.cuts = cuts
        assert stored(store, "payment", FAILURE) == FAILURE
        assert ledger.hmget(record_key("payment"), "failures", "lease") == ["1", "0"]
        assert stored(store, "payment", FAILURE) == FAILURE
        assert ledger.hget(record_key("payment"), "failures") == "2"
        connection.cuts = cuts
        assert stored(store, "payment", Ok(b"1")) == Ok(b"1")
        assert events(ledger, "payment") == ["FAILURE", "FAILURE", "DONE"]


@pytest.mark.anyio
async def test_connections_are_kept_alive(clean_redis: str) -> None:
    """Given clients of the workers and of the API, then the kernel asks after a minute whether the server is there."""
    own = Redis(clean_redis)
    with closing(connect(clean_redis)) as client, closing(RedisConnection(clean_redis)) as connection:
        before = set(to_redis(clean_redis))
        client.ping()
        connection.call("PING")
        await own.call("PING")
        found = [quiet_s for number, quiet_s in to_redis(clean_redis).items() if number not in before]
    own.close()
    assert found == [60, 60, 60]


def to_redis(url: str) -> dict[int, int]:
    """After how many quiet seconds each connection of this process to the server is checked, by its number; 0 for never."""
    port = int(url.rpartition(":")[2].partition("/")[0])
    found = {}
    for number in map(int, os.listdir("/proc/self/fd")):
        try:
            with socket.socket(fileno=os.dup(number)) as seen:
                if seen.family == socket.AF_INET and seen.getpeername()[1] == port:
                    is_kept = seen.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                    found[number] = seen.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) if is_kept else 0
        except OSError:
            continue  # no socket, or not connected
    return found
