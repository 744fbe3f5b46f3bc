"""The ledger on a cluster of three primaries: payers are shared out, and one that is gone stops its own payers alone."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from typing import Any

import dramatiq
import httpx
import pytest
import redis

from api.ledger_servers import LedgerServers
from api.payment.ledger import Ledger
from api.payment.rails import configured_rails
from api.payment.reorgs import ReorgMonitor
from compose.sandbox.redis_cluster import RedisCluster, redis_cluster
from ops.ledger_checks import examine
from ops.payments import attention
from shared.ledger.keys import RECHECK, bucket_of, in_every_bucket
from shared.ledger.servers import SLOT
from shared.servers.ledger_servers import ledger_client, read_record
from shared.settings.service import Settings
from tests.api.paying import Payer, paid_with
from tests.time_limits import patience

pytestmark = pytest.mark.anyio

PATH = "/v1/cdp/echo"
PAYERS = 24


COUNT = 3


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    with redis_cluster(tmp_path_factory.mktemp("ledgers"), COUNT, 0) as made:
        yield made


@pytest.fixture
def settings(settings: Settings, cluster: RedisCluster) -> Settings:
    """The ledger is these three."""
    for client in cluster.clients:
        client.flushall()
    return dataclasses.replace(settings, ledger_url=",".join(cluster.urls))


@pytest.fixture
def readers(cluster: RedisCluster) -> Iterator[redis.Redis]:
    """What the operator's commands read with."""
    with closing(ledger_client(cluster.urls)) as client:
        yield client


class Paid:
    """A payment of a payer of its own."""

    def __init__(self, payer: Payer) -> None:
        made = payer.payment()
        accepted, signed = made["accepted"], made["payload"]["authorization"]
        self.id = f"{accepted['network']}:{accepted['asset']}:{signed['from']}:{signed['nonce']}".lower()
        self.server = SLOT[bucket_of(self.id)] * COUNT // 16_384
        self.headers = paid_with(made)


@pytest.fixture
def payments() -> list[Paid]:
    """Of many payers, some of each server."""
    made = [Paid(Payer()) for _ in range(PAYERS)]
    while min(sum(each.server == server for each in made) for server in range(COUNT)) < 4:
        made.append(Paid(Payer()))
    return sorted(made, key=lambda each: each.server)


async def bought(shop: httpx.AsyncClient, payments: list[Paid]) -> list[httpx.Response]:
    return await asyncio.gather(*(shop.post(PATH, headers=each.headers) for each in payments))


@pytest.fixture
async def ledger(settings: Settings) -> AsyncIterator[Ledger]:
    servers = LedgerServers(settings.ledger_urls)
    yield Ledger(servers.commands)
    servers.close()


async def test_payers_are_shared_out_and_nothing_else_differs(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    facilitator: Any,
    payments: list[Paid],
    cluster: RedisCluster,
    readers: redis.Redis,
) -> None:
    """Claimed, settled, answered and repeated by all at once: each server has the payments of its own payers."""
    answers = await bought(shop, payments)
    assert {answer.status_code for answer in answers} == {200}
    assert [again.content for again in await bought(shop, payments)] == [answer.content for answer in answers]
    assert len(facilitator.settles) == len(payments)
    for server, client in enumerate(cluster.clients):
        keys: Any = client.keys(in_every_bucket("payment:*"))
        found = {key.decode().partition(":payment:")[2] for key in keys}
        assert found == {each.id for each in payments if each.server == server}
    assert {read_record(readers, each.id)[b"state"] for each in payments} == {b"DONE"}
    assert list(attention(readers, now_ms=int(time.time() * 1000))) == []


async def test_what_goes_over_all_payments_finds_those_of_all_servers(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    facilitator: Any,
    payments: list[Paid],
    cluster: RedisCluster,
    readers: redis.Redis,
    settings: Settings,
    ledger: Ledger,
) -> None:
    """Given a chain that has taken all payments back, then each is found to be lost once, in runs of sixteen at most."""
    await bought(shop, payments)
    rails = configured_rails(settings)
    monitor = ReorgMonitor(ledger, rails)
    for rail in rails:
        await rail.facilitator.start()
    for each in payments:
        cluster.clients[each.server].zadd(RECHECK[bucket_of(each.id)], {each.id: 0})
    facilitator.evidence, facilitator.clock_s = "unused", 3600
    runs = []
    while not runs or runs[-1]:
        runs.append(await monitor.run_once())
    for rail in rails:
        await rail.facilitator.stop()

    assert (sum(runs), max(runs)) == (len(payments), 16)
    assert await ledger.lost_lately([rails[0].asset], 60_000) == [len(payments)]
    told = attention(readers, now_ms=int(time.time() * 1000))
    assert {(each["kind"], each["payment"]) for each in told} == {("lost", each.id) for each in payments}


async def test_one_that_is_gone_stops_its_own_payers_alone(
    shop: httpx.AsyncClient,
    worker: dramatiq.Worker,
    facilitator: Any,
    payments: list[Paid],
    cluster: RedisCluster,
    readers: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a primary that was killed, then its payers get 503, nothing of theirs is settled, and /readyz has a notice; all
    others buy, repeat, and have a doubtful payment found. When it is back, the same payments are answered."""
    # The doubtful payment is looked into when its lease is over.
    for name in ("claims.EVIDENCE_TIMEOUT_S", "claims.LEASE_MARGIN_S", "payment.facilitator.EVIDENCE_TIMEOUT_S"):
        monkeypatch.setattr(f"api.{name}", patience(0.3))
    before, after = payments[::2], payments[1::2]
    earlier = await bought(shop, before)
    gone = payments[0].server
    cluster.kill(gone)

    repeated = await bought(shop, before)
    for payment, first, again in zip(before, earlier, repeated, strict=True):
        expected = (503, False) if payment.server == gone else (200, True)
        assert (again.status_code, again.content == first.content) == expected
    dead = [each for each in after if each.server == gone]
    doubtful, *living = (each for each in after if each.server != gone)
    facilitator.script, facilitator.evidence = ["error500+paid"], "unknown"
    assert [answer.status_code for answer in await bought(shop, [doubtful])] == [503]
    facilitator.evidence = None
    assert {answer.status_code for answer in await bought(shop, living)} == {200}
    settles = len(facilitator.settles)
    for refused in await bought(shop, dead):
        problem = refused.json()
        assert (refused.status_code, problem["reason"], problem["retryWithSamePayment"]) == (
            503,
            "ledger_unreachable",
            True,
        )
    assert len(facilitator.settles) == settles

    ready = (await shop.get("/readyz")).json()
    assert ready["checks"]["ledger"]
    (notice,) = (text for text in ready["notices"] if "the ledger's server" in text)
    assert cluster.urls[gone].rpartition("/")[2] in notice
    for _ in range(400):
        if read_record(readers, doubtful.id)[b"state"] == b"SETTLED":
            break
        await asyncio.sleep(0.05)

    cluster.restart(gone)
    cluster.await_ready()
    assert {answer.status_code for answer in await bought(shop, [*dead, *before, doubtful])} == {200}
    assert len(facilitator.settles) == settles + len(dead)


def test_the_doctor_says_what_a_cluster_lacks(settings: Settings, cluster: RedisCluster) -> None:
    """Here: replicas, and hosts."""
    told = [(each.level, each.detail) for each in examine(dataclasses.replace(settings, ledger_replicas=1))]
    assert told.count(("fail", "0 replicas follow it, and 1 must have every write")) == COUNT
    assert ("ok", "cluster-require-full-coverage no") in told
    assert told[-1][0] == "warn"
    assert told[-1][1].startswith("3 of 3 primaries are on 127.0.0.1: cut off")
