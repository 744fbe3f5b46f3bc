"""The ledger for those who read all payments: the operator's commands and the exporter. They use redis-py's own clients, which
have one interface for a plain server and for a cluster."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import redis
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisClusterException
from redis.retry import Retry

from shared.ledger.keys import BUCKETS, record_key
from shared.ledger.layout import checked_by_reader
from shared.ledger.servers import NO_CLUSTER, NO_SERVER, Servers
from shared.servers.ledger_connections import ask_server
from shared.servers.ledger_start import wrong_ledger
from shared.servers.redis_connection import COMMAND_TIMEOUT_S, CONNECT_TIMEOUT_S, connect
from shared.settings.service import Settings

T = TypeVar("T")


@contextmanager
def connect_ledger(settings: Settings) -> Iterator[redis.Redis]:
    """A client of the ledger. Raises RedisError, and WrongLedger when a server must not be read."""
    servers = ask_any(settings.ledger_urls)
    for url, buckets in servers.buckets().items():
        with connect(url) as client:
            if why := check_server(client, checked_by_reader(buckets)):
                raise wrong_ledger(url, why)
    with ledger_client(settings.ledger_urls, servers) as client:
        yield client


def ask_any(urls: Sequence[str]) -> Servers:
    """What the first server that answers says of all.

    Raises:
        RedisError: none answers.
        WrongLedger: several plain servers are named.
    """
    failed: redis.RedisError | None = None
    for url in urls:
        try:
            found = ask_server(url)
        except redis.RedisError as error:
            failed = error
            continue
        if not found.is_cluster and len(urls) > 1:
            raise wrong_ledger(url, NO_CLUSTER)
        return found
    assert failed is not None
    raise failed


def ledger_client(urls: Sequence[str], servers: Servers | None = None) -> redis.Redis:
    """A client for several threads that send few commands. No command is sent again after a lost connection.

    Args:
        urls: of the settings.
        servers: as one of them has said it. None: it is asked. Raises RedisError.
    """
    servers = servers or ask_any(urls)
    if not servers.is_cluster:
        return connect(urls[0])
    if not servers.nodes:
        raise redis.ConnectionError(NO_SERVER)
    first, *others = (urlsplit(url) for url in servers.nodes)
    options: dict[str, Any] = {
        "startup_nodes": [_node(str(node.hostname), node.port or 6379) for node in others],
        "require_full_coverage": False,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "socket_timeout": COMMAND_TIMEOUT_S,
    }
    with _told_as_lost():
        return cast(redis.Redis, _Cluster.from_url(first.geturl(), **options))


@contextmanager
def _told_as_lost() -> Iterator[None]:
    """redis-py has no RedisError for a cluster without the servers that it needs."""
    try:
        yield
    except (RedisClusterException, IndexError) as error:
        raise redis.ConnectionError(f"{NO_SERVER}: {error}") from None


class _Cluster(RedisCluster):
    """Raises RedisError only."""

    def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        with _told_as_lost():
            return super().execute_command(*args, **kwargs)  # type: ignore[no-untyped-call]

    def pipeline(self, transaction: Any = None, shard_hint: Any = None) -> Any:
        made = super().pipeline(transaction, shard_hint)  # type: ignore[no-untyped-call]
        made.execute = _told_as_lost()(made.execute)
        return made


def check_server(client: redis.Redis, check: Generator[Any, Any, T]) -> T:
    """Do a check of shared/ledger/layout.py, or another one of its form. Returns its result. Raises RedisError."""

    try:
        commands = next(check)
        while True:
            with client.pipeline(transaction=False) as pipeline:
                for command in commands:
                    pipeline.execute_command(*command)  # type: ignore[no-untyped-call]
                commands = check.send(pipeline.execute(raise_on_error=False))
    except StopIteration as ended:
        result: T = ended.value
        return result


def run_check(url: str, check: Generator[Any, Any, T]) -> T | None:
    """The same on the server at a URL. None: it does not answer."""
    try:
        with connect(url) as client:
            return check_server(client, check)
    except redis.RedisError:
        return None


def _node(host: str, port: int) -> ClusterNode:
    return ClusterNode(host, port)  # type: ignore[no-untyped-call]


def read_record(ledger: redis.Redis, payment_id: str) -> dict[bytes, bytes]:
    """The record of a payment; empty when there is none. Raises RedisError."""
    found: Any = ledger.hgetall(record_key(payment_id))
    return dict(found)


def ask_each_bucket(ledger: redis.Redis, ask: Callable[[Pipeline, int], object]) -> list[Any]:
    """The answers to one command for each bucket, in their order, with one round trip for each server. Raises RedisError.

    Args:
        ask: sends the pipeline one command for the bucket.
    """
    with ledger.pipeline(transaction=False) as pipeline:
        for bucket in range(BUCKETS):
            ask(pipeline, bucket)
        return pipeline.execute()
