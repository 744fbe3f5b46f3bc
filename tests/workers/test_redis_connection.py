"""Every kind of address that the settings take leads to Redis, for the workers' clients and for the API's."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import redis

from api.redis_client import Redis, RedisLost
from compose.sandbox.child import claim_port, spawn
from compose.sandbox.redis_server import find_redis
from compose.sandbox.upstreams.authority import Authority
from shared.servers.redis_connection import RedisConnection, connect
from shared.settings.service import Settings
from tests.workers.servers import server
from tests.workers.tls_servers import context

PASSWORD, QUOTED = "a b/c%d@e:f", "a%20b%2Fc%25d%40e%3Af"
AUTHORITY = Authority()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Database 3 of a Redis with a password, by TCP, by path and, through a server in front of it, by TLS."""
    folder = tmp_path_factory.mktemp("redis")
    port, path = claim_port(0), folder / "redis.sock"
    options = ["--bind", "127.0.0.1", "--port", str(port), "--unixsocket", str(path), "--requirepass", PASSWORD]
    child = spawn("redis", [str(find_redis()), *options, "--save", "", "--dir", str(folder)], folder)
    child.wait_ready(path.exists)
    secured = context(AUTHORITY.identity("localhost"), ciphers="DEFAULT")

    def relay(connection: socket.socket) -> None:
        """Questions and answers in turn, for all that is asked here is short."""
        with (
            secured.wrap_socket(connection, server_side=True) as outer,
            socket.create_connection(("127.0.0.1", port)) as inner,
        ):
            while question := outer.recv(4096):
                inner.sendall(question)
                outer.sendall(inner.recv(4096))

    with server(relay, address="127.0.0.1") as tls_port:
        yield {
            "redis": f"redis://default:{QUOTED}@127.0.0.1:{port}/3",
            "rediss": f"rediss://:{QUOTED}@localhost:{tls_port}/3",
            "unix": f"unix://:{QUOTED}@{path}?db=3",
        }
    child.stop()


@pytest.fixture(params=["redis", "rediss", "unix"])
def url(
    request: pytest.FixtureRequest, addresses: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """One of the three."""
    monkeypatch.setenv("SSL_CERT_FILE", str(AUTHORITY.write_root(tmp_path / "ca.pem")))
    return addresses[request.param]


async def _ask(url: str, *command: str) -> object:
    client = Redis(url)
    try:
        return await client.call(*command)
    finally:
        client.close()
        await asyncio.sleep(0.05)  # until the loop has closed the connection


def test_all_clients_meet_in_one_database(url: str) -> None:
    """What one writes the others read, and it is in the database that was named."""
    with closing(connect(url)) as client, closing(RedisConnection(url)) as wire:
        client.flushall()
        assert wire.call("SET", "key", "value") == b"OK"
        assert client.get("key") == b"value"
        assert asyncio.run(_ask(url, "GET", "key")) == b"value"
        assert client.info("keyspace").keys() == {"db3"}


def test_a_wrong_password_is_an_error_for_all(url: str) -> None:
    """At once, and in Redis' own words."""
    wrong = url.replace(QUOTED, "wrong")
    with closing(connect(wrong)) as client, pytest.raises(redis.AuthenticationError):
        client.get("key")
    with closing(RedisConnection(wrong)) as wire, pytest.raises(redis.AuthenticationError):
        wire.call("GET", "key")
    with pytest.raises(RedisLost, match="cannot log in: WRONGPASS"):
        asyncio.run(_ask(wrong, "GET", "key"))


def test_a_certificate_that_nobody_vouches_for_is_refused(addresses: dict[str, str]) -> None:
    """By the worker and by the API: the password would go to whoever answers."""
    with (
        closing(RedisConnection(addresses["rediss"])) as wire,
        pytest.raises(redis.ConnectionError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        wire.call("GET", "key")
    with pytest.raises(RedisLost, match="cannot connect: SSLCertVerificationError"):
        asyncio.run(_ask(addresses["rediss"], "GET", "key"))


def test_an_authority_of_ones_own_is_trusted_by_all(addresses: dict[str, str], tmp_path: Path) -> None:
    """COINSLOT_REDIS_CA_FILE, without a word of it in the URL or in the environment."""
    settings = Settings(redis_ca_file=str(AUTHORITY.write_root(tmp_path / "the root.pem")))
    url = settings.redis_url(addresses["rediss"])
    with closing(connect(url)) as client, closing(RedisConnection(url)) as wire:
        assert wire.call("SET", "key", "secured") == b"OK"
        assert client.get("key") == b"secured"
    assert asyncio.run(_ask(url, "GET", "key")) == b"secured"
    assert settings.redis_url(addresses["redis"]) == addresses["redis"]
