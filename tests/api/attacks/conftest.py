"""What the attacks are judged by: executions, calls of the facilitator, records, and every command that Redis gets."""

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import redis

from api.app import create_app
from api.payment.facilitator import Facilitator
from jobs.catalogue import CATALOGUE
from shared.endpoint import Endpoint
from shared.ledger.keys import JOURNAL, bucket_of, in_every_bucket, record_key
from shared.settings.service import Settings
from tests.api.conftest import opened
from workers.actors import JobRunner

_READS = """
BLMPOP ECHO EVALSHA EXISTS GET HGETALL HMGET KEYS PTTL SCRIPT TIME TTL XINFO XLEN XRANGE ZRANGEBYSCORE
HELLO CLIENT PING SELECT AUTH COMMAND MONITOR EVAL
"""
READS = set(_READS.split())
"""Commands that write nothing by themselves: what a script writes is shown as a command of its own. Some are always being
sent: the API watches its pools, waits for replies and looks for payments in doubt."""

OpenShop = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bytes]]:
    """Every execution of a job, as (endpoint, body)."""
    ran: list[tuple[str, bytes]] = []
    run = JobRunner._result

    def counted(self: JobRunner, arguments: Any, deadline_ms: int) -> Any:
        ran.append((self._endpoint.name, arguments.body))
        return run(self, arguments, deadline_ms)

    monkeypatch.setattr(JobRunner, "_result", counted)
    return ran


@dataclass
class Exchanges:
    """What the API asked of facilitators.

    Attributes:
        made: (path, JSON of the body or None), in order.
        at_once: the most that were under way at one time.
        go_on: where set, each one waits for it.
    """

    made: list[tuple[str, Any]]
    at_once: int = 0
    go_on: asyncio.Event | None = None
    _under_way: int = 0

    @asynccontextmanager
    async def under_way(self) -> AsyncIterator[None]:
        """While one is being made."""
        self._under_way += 1
        self.at_once = max(self.at_once, self._under_way)
        try:
            if self.go_on is not None:
                await self.go_on.wait()
            yield
        finally:
            self._under_way -= 1


@pytest.fixture
def exchanges(monkeypatch: pytest.MonkeyPatch) -> Exchanges:
    """Every call of a facilitator."""
    seen = Exchanges([])
    exchange = Facilitator._exchange

    async def watched(self: Facilitator, method: str, path: str, body: bytes | None, **options: Any) -> Any:
        seen.made.append((path, json.loads(body) if body else None))
        async with seen.under_way():
            return await exchange(self, method, path, body, **options)

    monkeypatch.setattr(Facilitator, "_exchange", watched)
    return seen


class Ledger:
    """What a Redis holds of payments, and what it is told to do."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._redis = redis.Redis.from_url(url, decode_responses=True, encoding_errors="replace")

    def close(self) -> None:
        """Hang up."""
        self._redis.close()

    def keys(self, kind: str = "payment") -> list[str]:
        """All keys of a kind: payment, answer, rate."""
        found: Any = self._redis.keys(in_every_bucket(f"{kind}:*"))
        return sorted(found)

    def forget_oldest(self, index: str) -> None:
        """Forget the member of a ZSET with the lowest score."""
        self._redis.zremrangebyrank(index, 0, 0)

    def record(self, payment: Any) -> dict[str, str]:
        """The record of a payment in v2 shape; empty when there is none."""
        found: Any = self._redis.hgetall(self._key(payment))
        return dict(found)

    def lifetime_s(self, payment: Any) -> int:
        """How long its record will be kept."""
        left: Any = self._redis.ttl(self._key(payment))
        return int(left)

    def forget(self, payment: Any) -> None:
        """As if the record had expired, with its answer."""
        key = self._key(payment)
        self._redis.delete(key, key.replace(":payment:", ":answer:"))

    def journal(self, payment: Any) -> list[str]:
        """The events of one payment, in order."""
        name = self._key(payment).partition(":payment:")[2]
        entries: Any = self._redis.xrange(JOURNAL[bucket_of(name)])
        return [fields["event"] for _, fields in entries if fields["payment"] == name]

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[list[str]]:
        """All that Redis is told meanwhile, one line for each command; complete when the block is left."""
        lines: list[str] = []
        address = urlsplit(self._url)
        with socket.create_connection((address.hostname, address.port or 6379), timeout=10) as monitor:
            monitor.sendall(b"MONITOR\r\n")
            said = b""
            while not said.startswith(b"+OK\r\n"):  # what others say at that moment may come with it
                said += monitor.recv(65536)
            yield lines
            mark = secrets.token_hex(8)
            self._redis.echo(mark)
            while mark.encode() not in said:
                said += monitor.recv(65536)
        lines.extend(line for line in said.decode("latin-1").splitlines()[1:] if mark not in line)

    @staticmethod
    def _key(payment: Any) -> str:
        accepted, authorization = payment["accepted"], payment["payload"]["authorization"]
        parts = accepted["network"], accepted["asset"].lower(), authorization["from"], authorization["nonce"].lower()
        return record_key(":".join(parts))


def effects(lines: Sequence[str]) -> list[str]:
    """Those commands that write, or that look a payment or a payer up."""

    def has_effect(line: str) -> bool:
        command = line.partition('"')[2].partition('"')[0].upper()
        kinds = ("payment", "answer", "rate", "identifier")
        return command not in READS or any(f"}}:{kind}:" in line for kind in kinds)

    return [line for line in lines if has_effect(line)]


@pytest.fixture
def ledger(clean_redis: str) -> Iterator[Ledger]:
    """The Redis of these tests."""
    found = Ledger(clean_redis)
    yield found
    found.close()


@pytest.fixture
def effects_of() -> Callable[[Sequence[str]], list[str]]:
    """`effects`, for test modules, which cannot import each other."""
    return effects


@pytest.fixture
def open_shop() -> OpenShop:
    """A further API process's worth of state: its own connections, slots, and facilitator."""

    @asynccontextmanager
    async def open_it(
        settings: Settings, catalogue: Sequence[Endpoint] = CATALOGUE
    ) -> AsyncIterator[httpx.AsyncClient]:
        async with opened(create_app(settings, catalogue)) as client:
            yield client
        await asyncio.sleep(0)  # its connections are closed in the loop's next turn

    return open_it
