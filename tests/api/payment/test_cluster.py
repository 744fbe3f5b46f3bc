"""The ledger's clients on a cluster: what a node did not run is sent again, and what it may have run is not."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol

import pytest
import redis

from api.ledger_servers import LedgerServers
from api.payment.ledger import Ledger
from api.payment.ledger_terms import Verdict
from api.redis_client import Redis, RedisBroken, RedisLost, RedisRefused
from compose.sandbox.redis_cluster import RedisCluster, redis_cluster
from jobs.echo import ENDPOINT
from shared.ledger.keys import BUCKETS, PREFIXES, bucket_of
from shared.ledger.layout import KEYS
from shared.ledger.servers import NO_CLUSTER, SLOT, asked
from shared.outcome import Ok
from shared.servers.ledger_connections import LedgerConnections, NotReplicated
from shared.servers.ledger_servers import ledger_client, run_check
from shared.servers.ledger_start import WrongLedger, refuse_wrong_ledger
from shared.settings.service import Settings
from tests.api.payment.test_ledger import RECEIPT, SEALER, a_claim
from tests.time_limits import patience
from workers.answers import AnswerStore, Result

pytestmark = pytest.mark.anyio

LOST = (RedisLost, redis.ConnectionError, redis.TimeoutError, NotReplicated)
TWO = "return redis.call('INCR', KEYS[1]) + redis.call('INCR', KEYS[2])"


class Asked(Protocol):
    """The API's client or the others'."""

    async def __call__(self, *command: Any) -> Any: ...


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    """Three primaries with a replica each."""
    options = ("--appendfsync", "no", "--min-replicas-max-lag", "2")
    with redis_cluster(tmp_path_factory.mktemp("cluster"), 3, 1, options=options) as made:
        yield made


@contextlib.contextmanager
def client_of(kind: str, urls: list[str], replicas: int) -> Iterator[Asked]:
    if kind == "api":
        servers = LedgerServers(urls, replicas)
        yield servers.replicated.call
        servers.close()
        return
    with contextlib.closing(LedgerConnections(urls, replicas=replicas)) as connections:
        one_at_a_time = asyncio.Lock()

        async def call(*command: Any) -> Any:
            async with one_at_a_time:
                return await asyncio.to_thread(connections.call, *command)

        yield call


@pytest.fixture(params=["api", "others"])
async def ask(request: pytest.FixtureRequest, cluster: RedisCluster) -> AsyncIterator[Asked]:
    """It knows the map of now."""
    with client_of(request.param, cluster.urls, 1) as asked:
        for prefix in PREFIXES:
            await asked("SET", f"{prefix}any", "0")
        yield asked


def key_of(bucket: int) -> str:
    return f"{PREFIXES[bucket]}any"


def places(cluster: RedisCluster, bucket: int) -> tuple[int, int]:
    """The primary that has a bucket, and another one."""
    source = cluster.server_of(SLOT[bucket])
    return source, next(
        cluster.server_of(SLOT[other]) for other in range(BUCKETS) if not cluster.has_slot(SLOT[other], source)
    )


async def test_a_bucket_that_has_moved_is_found(ask: Asked, cluster: RedisCluster) -> None:
    source, target = places(cluster, 5)
    await ask("SET", key_of(5), "kept")
    cluster.move(SLOT[5], source, target)
    assert await ask("GET", key_of(5)) == b"kept"


async def test_a_bucket_that_moves_key_by_key_is_asked_for_at_both(ask: Asked, cluster: RedisCluster) -> None:
    """Given a slot of which one key has moved, then each key is found, and a script with both waits until both are there."""
    source, target = places(cluster, 6)
    one, two = (f"{PREFIXES[6]}{name}" for name in ("one", "two"))
    await ask("SET", one, "1")
    await ask("SET", two, "1")
    port = cluster.urls[target].rpartition(":")[2]
    cluster.ask(target, "CLUSTER SETSLOT", SLOT[6], "IMPORTING", cluster.id_of(source))
    cluster.ask(source, "CLUSTER SETSLOT", SLOT[6], "MIGRATING", cluster.id_of(target))
    cluster.ask(source, "MIGRATE", "127.0.0.1", port, "", 0, 1_000, "KEYS", one)
    assert (await ask("GET", one), await ask("GET", two)) == (b"1", b"1")

    async def move_the_rest() -> None:
        await asyncio.sleep(0.05)
        keys = cluster.ask(source, "CLUSTER GETKEYSINSLOT", SLOT[6], 1_000)
        cluster.ask(source, "MIGRATE", "127.0.0.1", port, "", 0, 1_000, "REPLACE", "KEYS", *keys)
        for number in (target, source):
            cluster.ask(number, "CLUSTER SETSLOT", SLOT[6], "NODE", cluster.id_of(target))

    assert await asyncio.gather(ask("EVAL", TWO, 2, one, two), move_the_rest()) == [4, None]


async def test_a_new_node_gets_the_scripts(cluster: RedisCluster) -> None:
    """Given a node that joins empty and gets a bucket, then claims and answers of its payers go on there."""
    first, second = a_claim(), a_claim(payer="0x1")
    servers, connections = LedgerServers(cluster.urls[:1], 1), LedgerConnections(cluster.urls[:1], replicas=1)
    ledger, answers = Ledger(servers.commands, servers.replicated), AnswerStore(connections, SEALER)

    async def sold(claim: Any) -> bytes:
        assert (await ledger.claim(claim)).verdict is Verdict.SETTLE
        await ledger.settled(claim.payment_id, RECEIPT, claim.run_lease_ms)
        (stored,) = await asyncio.to_thread(answers.done, [Result(claim.payment_id, ENDPOINT, b"", Ok(b"{}"))])
        return stored

    stored = await sold(first)
    node, replica = cluster.add(), cluster.add()
    cluster.meet(node)
    cluster.meet(replica)
    cluster.follow(replica, node)
    bucket = bucket_of(first.payment_id)
    assert bucket == bucket_of(second.payment_id)
    cluster.move(SLOT[bucket], cluster.server_of(SLOT[bucket]), node)
    cluster.await_ready()
    found = await ledger.find(first)
    assert (found.verdict, found.answer) == (Verdict.ANSWER, stored)
    assert SEALER.open(await sold(second), ENDPOINT, second.payment_id, b"") == Ok(b"{}")
    servers.close()
    connections.close()


async def test_a_bucket_that_comes_without_its_keys_is_not_used(ask: Asked, cluster: RedisCluster) -> None:
    """Given a shard that is lost, when another primary gets its slots, empty, then nobody is sold anything with them: used
    payments would count as new. Other buckets of that primary are used on."""
    source, target = places(cluster, 14)
    number, theirs = KEYS[14], next(bucket for bucket in range(BUCKETS) if cluster.has_slot(SLOT[bucket], target))
    kept = cluster.ask(source, "GET", number)
    cluster.ask(source, "CLUSTER FLUSHSLOT", SLOT[14])
    for node in (target, source):
        cluster.ask(node, "CLUSTER SETSLOT", SLOT[14], "NODE", cluster.id_of(target))
    for _ in range(3):
        with pytest.raises(LOST, match=r"it was used before|no server of the ledger"):
            await ask("INCR", key_of(14))
    await ask("INCR", key_of(theirs))
    cluster.ask(target, "SET", number, kept)
    give_up_at = time.monotonic() + patience(10)
    while time.monotonic() < give_up_at:
        with contextlib.suppress(*LOST):
            assert await ask("INCR", key_of(14)) == 1
            return
    raise AssertionError("the bucket is not used again")


async def test_moves_under_calls_run_none_twice(ask: Asked, cluster: RedisCluster) -> None:
    """Given calls that count, while their bucket moves four times, then each has run once. One whose mark came after a move is
    told as lost, because nobody knows which replicas have it."""
    done, lost, is_over = 0, 0, False

    async def call() -> None:
        nonlocal done, lost
        while not is_over:
            try:
                await ask("INCR", key_of(9))
                done += 1
            except LOST:
                lost += 1

    calls = asyncio.gather(*(call() for _ in range(4)))
    for _ in range(4):
        source, target = places(cluster, 9)
        await asyncio.to_thread(cluster.move, SLOT[9], source, target)
    is_over = True
    await calls
    assert lost <= 16 < done + lost
    assert done <= int(await ask("GET", key_of(9))) <= done + lost


async def test_each_node_waits_for_its_own_replicas(ask: Asked, cluster: RedisCluster) -> None:
    """Given a replica that hangs, then what its primary has is told to nobody, and what the others have is."""
    source, target = places(cluster, 11)
    name = cluster.id_of(source)
    nodes: Any = cluster.ask(source, "CLUSTER NODES")
    behind = next(place.partition("@")[0] for place, node in nodes.items() if node["master_id"] == name)
    hanging = next(number for number, url in enumerate(cluster.urls) if url.endswith(f":{behind.rpartition(':')[2]}"))
    other = next(bucket for bucket in range(BUCKETS) if cluster.has_slot(SLOT[bucket], target))
    with cluster.paused(hanging):
        with pytest.raises(LOST, match="0 of 1 replicas"):
            await ask("INCR", key_of(11))
        await ask("INCR", key_of(other))


async def test_a_refused_mark_is_told_at_once(ask: Asked, cluster: RedisCluster) -> None:
    """Given a primary that takes no writes because it has too few replicas, then WAIT's second is not waited for."""
    source, _ = places(cluster, 12)
    cluster.ask(source, "CONFIG SET", "min-replicas-to-write", 2)
    try:
        took = []
        for _ in range(3):
            began = time.monotonic()
            with pytest.raises(LOST, match="the ledger takes no writes"):
                await ask("GET", key_of(12))
            took.append(time.monotonic() - began)
        assert min(took) < 0.5
    finally:
        cluster.ask(source, "CONFIG SET", "min-replicas-to-write", 0)


@pytest.mark.parametrize("kind", ["api", "others"])
async def test_any_seed_that_answers_will_do(kind: str, cluster: RedisCluster) -> None:
    """In any order, also replicas, and also when the first is down."""
    for seeds in (["redis://127.0.0.1:1", cluster.urls[4]], list(reversed(cluster.urls[:2])), cluster.urls[3:4]):
        with client_of(kind, seeds, 1) as asked:
            for bucket in range(0, BUCKETS, 7):
                await asked("SET", key_of(bucket), "1")
    with contextlib.closing(ledger_client(["redis://127.0.0.1:1", cluster.urls[0]])) as client:
        assert client.get(key_of(7)) == b"1"


async def test_a_plain_server_in_a_list_is_refused(cluster: RedisCluster, clean_redis: str) -> None:
    """It may be one of primaries that shared the payers in an earlier version."""
    mixed = [clean_redis, cluster.urls[0]]
    for urls in (mixed, list(reversed(mixed)), [clean_redis, clean_redis.replace("127.0.0.1", "localhost")]):
        with pytest.raises(WrongLedger) as refused:
            refuse_wrong_ledger(Settings(ledger_url=",".join(urls)), run_check)
        assert NO_CLUSTER in str(refused.value)
    for kind in ("api", "others"):
        with client_of(kind, urls, 0) as asked, pytest.raises(LOST) as lost:
            await asked("GET", key_of(1))
        assert str(lost.value) == NO_CLUSTER


async def test_a_replica_takes_over(ask: Asked, cluster: RedisCluster) -> None:
    """Given a primary that is killed, then other payers notice nothing, nothing is sent twice, and its own payers are served
    again as soon as a replica follows the new primary."""
    gone, other = places(cluster, 13)
    theirs = next(bucket for bucket in range(BUCKETS) if cluster.has_slot(SLOT[bucket], other))
    done = int(await ask("INCR", key_of(13)))
    cluster.kill(gone)
    lost, give_up_at = 0, time.monotonic() + patience(30)
    is_back, value = False, 0
    while not value and time.monotonic() < give_up_at:
        await ask("INCR", key_of(theirs))
        try:
            value = int(await ask("INCR", key_of(13)))
        except (*LOST, RedisRefused) as error:
            lost += 1
            if "0 of 1 replicas" in str(error) and not is_back:
                is_back = True
                await asyncio.to_thread(cluster.restart, gone)
    assert is_back
    assert done < value <= done + lost + 1
    cluster.await_ready()


async def test_a_break_while_the_map_is_asked_for_is_no_answer(
    cluster: RedisCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a connection that breaks then, the node is not taken for a plain server, and it is asked again."""
    breaks = 1
    batch = Redis.batch

    async def broken(client: Redis, commands: Any) -> list[Any]:
        nonlocal breaks
        if breaks:
            breaks -= 1
            return [RedisBroken("the connection was lost")] * len(commands)
        return await batch(client, commands)

    monkeypatch.setattr(Redis, "batch", broken)
    servers = LedgerServers(cluster.urls[:1])
    await servers.learn()
    servers.close()
    assert (breaks, len(set(servers.of)) >= 3, servers.commands.only) == (0, True, None)


def test_a_node_that_keeps_an_old_none_is_asked_for_its_shards() -> None:
    """Valkey 9.1 answers CLUSTER SLOTS with what it said while it loaded, until the cluster changes."""
    info = b"cluster_state:ok\r\ncluster_slots_assigned:16384\r\ncluster_current_epoch:3\r\n"
    question = asked("redis://127.0.0.1:7001/0")
    next(question)
    assert question.send([[], info]) == (("CLUSTER", "SHARDS"),)
    nodes = [_node(7001, b"master", b"fail"), _node(7003, b"replica", b"online"), _node(7002, b"master", b"online")]
    with pytest.raises(StopIteration) as ended:
        question.send([[[b"slots", [0, 16383], b"nodes", nodes]]])
    servers = ended.value.value
    assert set(servers.of) == {"redis://127.0.0.1:7002"}
    assert set(servers.nodes) == {f"redis://127.0.0.1:{port}" for port in (7001, 7002, 7003)}


def _node(port: int, role: bytes, health: bytes) -> list[Any]:
    """As a node of Valkey 9.1.2 says it."""
    where = [b"port", port, b"ip", b"127.0.0.1", b"endpoint", b"127.0.0.1"]
    return [b"id", b"%040d" % port, *where, b"role", role, b"replication-offset", 1, b"health", health]
