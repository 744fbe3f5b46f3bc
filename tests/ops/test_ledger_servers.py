"""redis-py's client of a cluster, as the operator's commands use it, and clusters that have moved."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis

from compose.sandbox.redis_cluster import RedisCluster, redis_cluster
from ops.ledger_spread import LEAST_VERSION, moves_no_slot
from shared.ledger.keys import PREFIXES
from shared.servers.ledger_connections import LedgerPool
from shared.servers.ledger_servers import ledger_client


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[RedisCluster]:
    """A cluster of three, and nodes that are in none."""
    with redis_cluster(tmp_path, 3, 0) as made:
        yield made


def test_a_cluster_without_slots_is_lost_and_not_an_error_of_ours(nodes: RedisCluster) -> None:
    """Given a node that has loaded nothing yet."""
    number = nodes.add()
    with pytest.raises(redis.ConnectionError, match="no server of the ledger"):
        ledger_client([nodes.urls[number]])


def test_a_cluster_that_is_gone_is_lost(nodes: RedisCluster) -> None:
    """For commands and for pipelines."""
    with ledger_client(nodes.urls) as client:
        assert client.get("{a}") is None
        for number in range(3):
            nodes.kill(number)
        for _ in range(3):
            with pytest.raises(redis.RedisError):
                client.get("{a}")
            with client.pipeline(transaction=False) as pipeline:
                pipeline.get("{a}")
                with pytest.raises(redis.RedisError):
                    pipeline.execute()


def test_a_cluster_is_found_again_at_other_addresses(
    nodes: RedisCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given nodes that came back at other addresses behind the name that the settings have."""
    key, resolved, at = f"{PREFIXES[0]}any", socket.getaddrinfo, [nodes.urls[0]]

    def resolve(host: str, port: int, *options: Any) -> Any:
        return resolved(*(("127.0.0.1", urlsplit(at[0]).port) if host == "ledger.test" else (host, port)), *options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    pool = LedgerPool(["redis://ledger.test:6379/0"])
    pool.call("SET", key, "old")
    (tmp_path / "new").mkdir()
    with redis_cluster(tmp_path / "new", 3, 0) as others, closing(LedgerPool(others.urls)) as first:
        first.call("SET", key, "new")
        for number in range(3):
            nodes.kill(number)
        with pytest.raises(redis.RedisError):
            pool.call("GET", key)
        at[0] = others.urls[0]
        assert pool.call("GET", key) == b"new"
    pool.close()


def test_a_server_that_moves_no_slot_says_so(nodes: RedisCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    client = nodes.clients[0]
    assert moves_no_slot(client) == ""
    monkeypatch.setattr(client, "info", lambda _: {"redis_version": "7.0.15"})
    assert (
        moves_no_slot(client)
        == f"it is Redis 7.0.15, and a bucket moves at once with Valkey {LEAST_VERSION} or later only"
    )
