"""A worker whose only upstream turns it away says so to every API process."""

import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
import redis

import workers.main
from shared.endpoint import Pool
from shared.queue.streams import closed_key
from workers.main import create_broker
from workers.ports import WorkerPorts
from workers.queue.broker import StreamBroker


@pytest.fixture
def worlds() -> Iterator[list[WorkerPorts]]:
    """Those that brokers are made with."""
    made: list[WorkerPorts] = []

    class Watched(WorkerPorts):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            made.append(self)

    with patch.object(workers.main, "WorkerPorts", Watched):
        yield made


@pytest.fixture
def broker(
    clean_redis: str, worlds: list[WorkerPorts], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[StreamBroker]:
    """As a worker process makes it."""
    key = tmp_path / "key"
    key.write_text(secrets.token_hex(32))
    for name, value in {"LEDGER_URL": clean_redis, "QUEUE_URL": clean_redis, "KEY_FILE": str(key)}.items():
        monkeypatch.setenv(f"COINSLOT_{name}", value)
    broker = create_broker()
    yield broker
    broker.close()


def test_a_circuit_that_opens_closes_its_pool_for_as_long(
    broker: StreamBroker, worlds: list[WorkerPorts], clean_redis: str
) -> None:
    """The key expires with the pause."""
    upstreams = worlds[0].captions._upstreams
    for _ in range(8):
        with pytest.raises(ConnectionError), upstreams.slot("youtube", deadline=time.monotonic() + 1):
            raise ConnectionError  # says nothing of it
    with redis.Redis.from_url(clean_redis) as client:
        assert client.pttl(closed_key(Pool.YOUTUBE)) == -2
        upstreams._open(upstreams._upstreams["youtube"])
        assert 9_000 < client.pttl(closed_key(Pool.YOUTUBE)) <= 10_000


def test_a_lost_queue_is_nobodys_failure(broker: StreamBroker, worlds: list[WorkerPorts]) -> None:
    """The circuit is open all the same."""
    with patch.object(broker.client, "set", side_effect=redis.ConnectionError):
        worlds[0]._close(Pool.YOUTUBE, 1.0)
