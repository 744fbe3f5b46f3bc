"""The ledger forgets nothing, the queue keeps nothing, and neither outlives who started it."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from compose.sandbox.child import StartFailed
from compose.sandbox.redis_server import RedisServer, find_redis, start_redis


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Any]:
    """Starts servers on a fresh state folder and stops them afterwards."""
    servers: list[RedisServer] = []

    def start(role: Any, port: int = 0) -> RedisServer:
        servers.append(start_redis(role, tmp_path, port))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def _client(server: RedisServer) -> redis.Redis:
    return redis.Redis.from_url(server.url)


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("ledger", {"appendonly": "yes", "appendfsync": "always", "save": "", "maxmemory-policy": "noeviction"}),
        ("queue", {"appendonly": "no", "save": "", "maxmemory-policy": "noeviction"}),
    ],
)
def test_it_is_configured_for_its_role(started: Any, role: str, expected: dict[str, str]) -> None:
    """The ledger syncs every write, the queue writes nothing, and both listen on the loopback only."""
    with _client(started(role)) as client:
        configured = client.config_get("*")

    assert {name: configured[name] for name in expected} == expected
    assert configured["bind"] == "127.0.0.1"


@pytest.mark.parametrize(("role", "kept"), [("ledger", b"1"), ("queue", None)])
def test_what_remains_after_a_crash(started: Any, role: str, kept: bytes | None) -> None:
    """Given a write that was acknowledged, when the server is killed, then the ledger has it at the next start."""
    server = started(role)
    with _client(server) as client:
        client.set("payment", "1")
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()

    with _client(started(role)) as client:
        assert client.get("payment") == kept


def test_one_folder_has_one_server(started: Any) -> None:
    """A second server on the same ledger is refused while the first lives, and welcome afterwards."""
    first = started("ledger")

    with pytest.raises(StartFailed, match="second sandbox"):
        started("ledger")

    started("queue")
    first.stop()
    started("ledger")


def test_a_given_port_is_used_and_a_taken_one_is_an_error(started: Any) -> None:
    """The error says what the server said."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(StartFailed, match="in use"):
            started("queue", port)

    assert started("queue", port).url == f"redis://127.0.0.1:{port}/0"


def test_an_old_redis_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wheel, a server on PATH is taken from version 7 on."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    binary = tmp_path / "redis-server"
    _write_version(binary, "Redis server v=6.2.14 sha=00000000:0 bits=64")
    with pytest.raises(StartFailed, match="no Redis"):
        find_redis()

    _write_version(binary, "Redis server v=7.0.15 sha=00000000:0 bits=64")

    assert find_redis() == binary


def _write_version(binary: Path, text: str) -> None:
    binary.write_text(f"#!/bin/sh\necho '{text}'\n")
    binary.chmod(0o755)
