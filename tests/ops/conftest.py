"""A queue and a mirror on real Redis, and what workers and the API put there."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_socket
import redis

from compose.sandbox.redis_server import start_redis
from ops.projector import Projector
from shared.pools import Pool
from shared.queue.mirror import FIELD as REPORT_FIELD
from shared.queue.mirror import REPORTS, Report, Run, encode_report
from shared.queue.streams import FIELD, GROUP, stream_key
from shared.servers.redis_connection import connect


@pytest.fixture(scope="session")
def mirror_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The mirror's own server."""
    pytest_socket.enable_socket()
    server = start_redis("mirror", tmp_path_factory.mktemp("mirror"))
    yield server.url
    server.stop()


@pytest.fixture
def mirror(mirror_url: str) -> Iterator[redis.Redis]:
    """Empty."""
    with connect(mirror_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def queue(clean_redis: str) -> Iterator[redis.Redis]:
    """Empty."""
    with connect(clean_redis) as client:
        yield client


@pytest.fixture
def projector(queue: redis.Redis, mirror: redis.Redis) -> Projector:
    """It ticks when the test says so."""
    return Projector(queue, mirror)


def enqueue(queue: redis.Redis, job_id: str, *, pool: Pool = Pool.FAST, endpoint: str = "dns") -> str:
    """As the API does; the id of the entry."""
    fields = {"queue_name": pool.value, "actor_name": endpoint, "args": (), "options": {}, "message_id": job_id}
    arguments = {"job_id": job_id, "sealed": "secret", "reply_to": "r", "deadline_ms": 1}
    message = json.dumps({**fields, "kwargs": arguments, "message_timestamp": int(time.time() * 1000)})
    entry: Any = queue.xadd(stream_key(pool), {FIELD: message})
    return str(entry.decode())


def fetch(queue: redis.Redis, count: int, *, pool: Pool = Pool.FAST) -> None:
    """As a worker does."""
    queue.xgroup_create(stream_key(pool), GROUP, "0", mkstream=True)
    queue.xreadgroup(GROUP, "consumer", {stream_key(pool): ">"}, count=count)


def finish(queue: redis.Redis, entry: str, *, pool: Pool = Pool.FAST) -> None:
    """As a worker does."""
    queue.xack(stream_key(pool), GROUP, entry)
    queue.xdel(stream_key(pool), entry)


def report(mirror: redis.Redis, *, running: list[Run] | None = None, ended: list[Run] | None = None) -> None:
    """As a worker does."""
    content = Report("fast.host.7", ["fast"], 7, "host", time.time(), running or [], ended or [], (1, 2))
    mirror.xadd(REPORTS, {REPORT_FIELD: encode_report(content)})


def a_run(job_id: str, **fields: Any) -> Run:
    """Of a job that has begun."""
    run = Run(job_id, "dns", "fast", f"request-{job_id}", f"payment-{job_id}", "0x3056…da2f", time.time())
    for name, value in fields.items():
        setattr(run, name, value)
    return run


def answered(job_id: str) -> Run:
    """Of a job that has been answered."""
    return a_run(job_id, ended=time.time())


def failed(job_id: str) -> Run:
    """Of a job that has failed."""
    return a_run(job_id, ended=time.time(), cause="timeout", code="upstream_failed")


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    """With a password in it."""
    path = tmp_path / "password"
    path.write_text("correct horse battery\n")
    return path
