"""With COINSLOT_LEDGER_REPLICAS, nothing is told that a failover to the replica would undo."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing

import pytest
import redis

from api.ledger_servers import LedgerServers
from api.payment.ledger import Ledger
from api.payment.ledger_terms import Verdict
from api.redis_client import RedisLost
from jobs.echo import ENDPOINT
from shared.ledger import fence
from shared.ledger.keys import record_key
from shared.outcome import Failed, Ok
from shared.servers.ledger_connections import LedgerConnections, LedgerPool, NotReplicated
from shared.settled_payment import SettledPayment
from tests.api.payment.replicas import ReplicatedLedger, replicated_ledger
from tests.api.payment.test_ledger import RECEIPT, SEALER, a_claim
from workers.answers import AnswerStore, Result
from workers.observations import ObservationStore

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicatedLedger]:
    with replicated_ledger(tmp_path_factory.mktemp("ledgers")) as made:
        yield made


@pytest.fixture
async def ledger(servers: ReplicatedLedger, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ledger]:
    monkeypatch.setattr(fence, "WITHIN_MS", 2_500)  # a busy machine syncs slowly
    made = LedgerServers([servers.url], 1)
    yield Ledger(made.commands, made.replicated)
    made.close()


async def test_what_is_told_is_on_the_replica(ledger: Ledger, servers: ReplicatedLedger) -> None:
    """Given many claims at once, when one of them is told, then the replica has it; and they have waited together."""
    with redis.Redis.from_url(servers.replica_url) as replica, redis.Redis.from_url(servers.url) as primary:
        before = primary.info("commandstats").get("cmdstat_wait", {"calls": 0})["calls"]

        async def claimed() -> bool:
            claim = a_claim()
            assert (await ledger.claim(claim)).verdict is Verdict.SETTLE
            return bool(replica.exists(record_key(claim.payment_id)))

        assert all(await asyncio.gather(*(claimed() for _ in range(100))))
        # Each of the two batches may come again with the text of a script that the server does not know.
        assert primary.info("commandstats")["cmdstat_wait"]["calls"] - before <= 10


async def test_nothing_is_told_that_no_replica_has(
    ledger: Ledger, servers: ReplicatedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a replica that hangs, then no claim, no refusal and no answer of anybody is told, and all are when it is back."""
    claim, rejected = a_claim(), a_claim()
    await ledger.claim(claim)
    await ledger.claim(rejected)
    await ledger.settled(claim.payment_id, RECEIPT, claim.run_lease_ms)
    with (
        closing(LedgerConnections([servers.url])) as alone,
        closing(LedgerConnections([servers.url], replicas=1)) as waiting,
    ):
        careless, careful = AnswerStore(alone, SEALER), AnswerStore(waiting, SEALER)
        result = Result(claim.payment_id, ENDPOINT, b"", Ok(b"{}"))
        with servers.paused_replica(), monkeypatch.context() as patched:
            patched.setattr(fence, "WITHIN_MS", 200)
            told = careful.done([result])[0]
            assert isinstance(SEALER.open(told, ENDPOINT, claim.payment_id, b""), Failed)
            stored = careless.done([result])[0]
            # The last only reads what another connection has written.
            for call in (
                ledger.claim(a_claim()),
                ledger.rejected(rejected.payment_id, 1, "no"),
                ledger.find(claim),
                ledger.offer(claim.payment_id),
            ):
                with pytest.raises(RedisLost, match="0 of 1 replicas"):
                    await call
        entry = await ledger.find(claim)
        assert (entry.verdict, entry.answer) == (Verdict.ANSWER, stored)
        assert careful.done([result]) == [stored]


@pytest.mark.parametrize("is_apart", [False, True], ids=["beside the payments", "apart"])
async def test_nothing_is_compared_with_what_no_replica_has(
    ledger: Ledger, servers: ReplicatedLedger, clean_redis: str, monkeypatch: pytest.MonkeyPatch, is_apart: bool
) -> None:
    """Given an observation on a primary whose replica hangs, then nothing is given, not even that there is none: another server
    may have become the primary. Where observations are apart, none is dropped for what this server says of its payment."""
    claim = a_claim()
    await ledger.claim(claim)
    await ledger.settled(claim.payment_id, RECEIPT, claim.run_lease_ms)
    payer = SettledPayment(network="eip155:8453", payer="0xa11ce")
    pool, own_url = LedgerPool([servers.url], replicas=1), clean_redis if is_apart else ""
    with (
        closing(ObservationStore(pool, own_url, bytes(32), days=1, most=10)) as store,
        closing(LedgerConnections([servers.url])) as alone,
    ):
        baseline, nothing = store.baseline(payer, "a page"), store.baseline(payer, "another page")
        result = Result(claim.payment_id, ENDPOINT, b"", Ok(b"{}"), store.observation(baseline, b"seen"))
        with servers.paused_replica(), monkeypatch.context() as patched:
            patched.setattr(fence, "WITHIN_MS", 200)
            AnswerStore(alone, SEALER, store).done([result])
            for place in (baseline,) if is_apart else (baseline, nothing):
                with pytest.raises(NotReplicated, match="0 of 1 replicas"):
                    store.previous(place)
        previous = store.previous(baseline)
        assert previous is not None
        assert previous.observation == b"seen"
        assert store.previous(nothing) is None


async def test_a_result_whose_settlement_is_lost_is_not_stored(ledger: Ledger, servers: ReplicatedLedger) -> None:
    """Given a failover that has lost SETTLED, then the result would be kept without a receipt: the call is run again."""
    claim = a_claim()
    await ledger.claim(claim)
    with closing(LedgerConnections([servers.url], replicas=1)) as connection:
        store = AnswerStore(connection, SEALER)
        told = store.done([Result(claim.payment_id, ENDPOINT, b"", Ok(b"{}"))])[0]
    assert isinstance(SEALER.open(told, ENDPOINT, claim.payment_id, b""), Failed)
    assert (await ledger.find(claim)).verdict is Verdict.WAIT
