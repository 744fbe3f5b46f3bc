"""The claimer on a ledger of several servers: what it sends is on a replica, and a shard that is away stops its own alone."""

import contextlib
import dataclasses
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis

from compose.sandbox.redis_cluster import RedisCluster, redis_cluster
from facilitator.claimer.__main__ import ledger_servers
from facilitator.claimer.claimer import OVERLAP_BLOCKS, Claimer, Terms
from facilitator.claimer.ledger import ChainState, ClaimerLedger
from shared.ledger.channels import CLAIMABLE, WATCH, behind, channel_key
from shared.ledger.keys import BUCKETS, bucket_of_payer
from shared.ledger.servers import SLOT
from shared.servers.ledger_connections import NotReplicated
from shared.settings.service import Settings
from shared.x402.evm_channel_ids import ChannelConfig
from shared.x402.networks import EVM_USDC
from shared.x402.wire import Settlement
from tests.api.payment.replicas import ReplicatedLedger, replicated_ledger

pytestmark = pytest.mark.anyio

NETWORK = "eip155:8453"
CHARGED, BALANCE, MS = 60_000, 100_000, 1_000


class Chain:
    """Each channel holds BALANCE, and nothing of it is claimed.

    Attributes:
        head_block: the newest block.
        leaving: of each channel whose payer withdraws: in which block he said so.
        searches: the first block of each search for events, and the channels.
    """

    def __init__(self) -> None:
        self.head_block = 100
        self.leaving: dict[str, int] = {}
        self.searches: list[tuple[int, set[str]]] = []

    async def head(self) -> int:
        return self.head_block

    async def gas_price(self) -> int:
        return 1

    async def final_block(self, head: int) -> int:
        return head

    async def states(self, channel_ids: Sequence[str], block: int) -> dict[str, ChainState]:
        leaving = {name: BALANCE if self.leaving.get(name, block + 1) <= block else 0 for name in channel_ids}
        return {name: ChainState(block, BALANCE, 0, leaving[name], 0, 0) for name in channel_ids}

    async def touched(self, channel_ids: Collection[str], first: int, last: int) -> set[str]:
        self.searches.append((first, set(channel_ids)))
        return {name for name in channel_ids if first <= self.leaving.get(name, -1) <= last}

    async def owed(self, receiver: str, token: str) -> int:
        return 0


class Relay:
    """Notes what is sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    async def send(self, payload: dict[str, Any]) -> Settlement:
        self.sent.append(payload)
        return Settlement(success=True, transaction="0x1", network=NETWORK)

    @property
    def payers(self) -> set[str]:
        """Whose channels were claimed of."""
        return {claim["voucher"]["channel"]["payer"] for payload in self.sent for claim in payload["claims"]}


@dataclasses.dataclass
class Bench:
    """A claimer with a ledger."""

    ledger: ClaimerLedger
    claimer: Claimer
    chain: Chain
    relay: Relay
    servers: Any

    def open(self, number: int) -> tuple[str, str, int]:
        """A channel that the ledger knows. Returns its payer, its id and its bucket."""
        payer, name = f"0x{number:040x}", f"0x{number:064x}"
        config = ChannelConfig(
            payer=payer,
            payer_authorizer=payer,
            receiver="0x" + 40 * "b",
            receiver_authorizer=self.claimer.address,
            token=EVM_USDC[NETWORK].address,
            withdraw_delay=900,
            salt="0x" + 64 * "0",
        )
        self.ledger.sync(name, NETWORK, payer, config, ChainState(1, BALANCE, 0, 0, 0, 0))
        return payer, name, bucket_of_payer(NETWORK, payer)

    def charge(self, name: str, bucket: int) -> None:
        """As if calls had been answered."""
        fields = ("charged", CHARGED, "top", CHARGED, "done_top", CHARGED, "sig", 130 * "0")
        self.servers.call("HSET", channel_key(bucket, name), *fields)
        self.servers.call("ZADD", CLAIMABLE[bucket], 1, name)


@contextlib.contextmanager
def bench_on(url: str, replicas: int) -> Iterator[Bench]:
    """With the connections that the process makes."""
    settings = Settings(ledger_url=url, ledger_replicas=replicas)
    with contextlib.closing(ledger_servers(settings, set())) as servers:
        terms = Terms("0x" + 40 * "b", 1e-6, 900, 10_000, claim_value=50_000, claim_within_s=60.0)
        ledger, chain, relay = ClaimerLedger(servers, "test"), Chain(), Relay()
        claimer = Claimer(ledger, chain, relay, EVM_USDC[NETWORK], bytes(31) + b"\x0a", terms)  # type: ignore[arg-type]
        yield Bench(ledger, claimer, chain, relay, servers)


@pytest.fixture(scope="module")
def replicated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicatedLedger]:
    with replicated_ledger(tmp_path_factory.mktemp("ledgers")) as made:
        yield made


async def test_nothing_is_claimed_that_no_replica_has(replicated: ReplicatedLedger) -> None:
    """Given a replica that hangs, then nothing is sent; when it is back, the next look claims."""
    with bench_on(replicated.url, 1) as bench:
        _, name, bucket = bench.open(1)
        bench.charge(name, bucket)
        with replicated.paused_replica(), pytest.raises(NotReplicated):
            await bench.claimer.look()
        assert not bench.relay.sent
        await bench.claimer.look()
        assert len(bench.relay.sent) == 1


async def test_a_claim_that_could_not_be_noted_is_made_at_the_next_look(
    replicated: ReplicatedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a replica that is gone just before the voucher is shown, then nothing is sent, and the next look claims."""
    with bench_on(replicated.url, 1) as bench, contextlib.ExitStack() as away:
        _, name, bucket = bench.open(2)
        bench.charge(name, bucket)
        show = bench.ledger.show

        def show_without_replica(channel: Any) -> Any:
            away.enter_context(replicated.paused_replica())
            return show(channel)

        monkeypatch.setattr(bench.ledger, "show", show_without_replica)
        with pytest.raises(NotReplicated):
            await bench.claimer.look()
        away.close()
        monkeypatch.undo()
        assert not bench.relay.sent
        await bench.claimer.look()
        assert len(bench.relay.sent) == 1


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RedisCluster]:
    with redis_cluster(tmp_path, 3, 0, options=("--appendfsync", "no")) as made:
        yield made


async def test_a_shard_that_is_away_stops_its_own_channels_alone(
    cluster: RedisCluster, caplog: pytest.LogCaptureFixture
) -> None:
    """The others are looked after. What the chain showed meanwhile of its channels is found when it is back, by any claimer."""
    first = cluster.server_of(SLOT[0])
    away = next(number for number in range(3) if number != first)
    gone = {bucket for bucket in range(BUCKETS) if cluster.has_slot(SLOT[bucket], away)}
    url = ",".join(cluster.urls)
    with bench_on(url, 0) as bench:
        opened = [bench.open(number) for number in range(1, 30)]
        payer, name, bucket = next(one for one in opened if one[2] in gone)
        other, other_name, other_bucket = next(one for one in opened if one[2] not in gone)
        await bench.claimer.look()
        bench.charge(name, bucket)
        bench.charge(other_name, other_bucket)
        before = int(bench.servers.call("HGET", WATCH, "watched_at"))
        cluster.kill(away)
        bench.chain.head_block = 200
        bench.chain.leaving[name] = 150
        for block in (200, 300):
            bench.chain.head_block = block
            await bench.claimer.look()
        handled, watched_at, field = bench.servers.call("HMGET", WATCH, "handled_block", "watched_at", "behind")
        assert int(handled) == 300
        assert before < int(watched_at) <= time.time() * MS
        assert behind(field) == dict.fromkeys(gone, (100, before))
        assert bench.relay.payers == {other}
        assert len([line for line in caplog.messages if "cannot be looked after" in line]) == 1
    cluster.restart(away)
    cluster.await_ready()
    with bench_on(url, 0) as bench:
        bench.chain.head_block = 301
        bench.chain.leaving[name] = 150
        await bench.claimer.look()
        searches = {first for first, names in bench.chain.searches if name in names}
        assert searches == {100 - OVERLAP_BLOCKS}
        assert int(bench.servers.call("HGET", channel_key(bucket, name), "leaving")) == BALANCE
        assert behind(bench.servers.call("HGET", WATCH, "behind")) == {}
        assert payer in bench.relay.payers


async def test_no_look_counts_while_all_are_away(cluster: RedisCluster) -> None:
    with bench_on(",".join(cluster.urls), 0) as bench:
        for number in range(3):
            cluster.kill(number)
        with pytest.raises(redis.ConnectionError):
            await bench.claimer.look()


def test_a_watch_without_the_field_is_of_all_buckets() -> None:
    assert behind(None) == {}
    assert behind(msgspec.json.encode({3: (1, 2)})) == {3: (1, 2)}
