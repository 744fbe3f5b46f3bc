"""Channels in the ledger, on a real Redis: what is taken, what is charged, and what is never charged."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
import redis

from api.payment.channel_ledger import MOST_READS
from api.payment.ledger import Ledger
from api.payment.ledger_terms import Claim, Entry, Reserve, Verdict
from api.redis_client import Redis
from jobs.echo import ENDPOINT
from ops.books.journal import Journal
from ops.books.store import Books
from shared.ledger.channels import (
    CHANNELS,
    CLAIMABLE,
    READS,
    RUNNING,
    SHOW,
    SYNC,
    VOID,
    VOID_AFTER_MS,
    ReadRequest,
    channel_key,
    read_key,
)
from shared.ledger.keys import JOURNAL, RECORDS, bucket_of, record_key
from shared.money import Price
from shared.outcome import Failed, Ok, Outcome
from shared.sealing.answers import AnswerSealer
from shared.servers.ledger_connections import LedgerConnections
from shared.x402 import evm_channel
from shared.x402.networks import EVM_USDC
from tests.channel_signing import Payer
from workers.answers import AnswerStore, ClaimTerms, Result

pytestmark = pytest.mark.anyio

PRICE = 1_000
DEPOSIT = 100_000
SEALER = AnswerSealer(bytes(range(32)))
TERMS = {"receiverAuthorizer": "0x" + 40 * "a", "withdrawDelay": 900, "minDeposit": "10000"}
OFFER = evm_channel.offers(EVM_USDC["eip155:8453"], Price.of("0.001"), "0x" + 40 * "1")[0]
OFFER = evm_channel.completed(OFFER, TERMS) or OFFER


class Shop:
    """The ledger as API, worker and claimer use it, for one payer's channel."""

    def __init__(self, ledger: Ledger, store: AnswerStore, redis_url: str) -> None:
        self.ledger = ledger
        self.store = store
        self.redis = redis.Redis.from_url(redis_url, decode_responses=True)
        self.payer = Payer(OFFER)
        self.id = f"0x{self.payer.channel.hex()}"
        self.bucket = bucket_of(self.payer.checked(PRICE).payment_id)

    def claim(self, max_claimable: int, fingerprint: str = "") -> Claim:
        voucher = self.payer.checked(max_claimable)
        return Claim(
            payment_id=voucher.payment_id,
            fingerprint=fingerprint or f"body {max_claimable}",
            endpoint="echo",
            payer=voucher.payer,
            offer=b"",
            settle_lease_ms=0,
            run_lease_ms=10_000,
            reserve=Reserve(PRICE, max_claimable, voucher.signature.hex()),
        )

    async def accept(self, max_claimable: int, fingerprint: str = "") -> Entry:
        return await self.ledger.claim(self.claim(max_claimable, fingerprint))

    def end(self, max_claimable: int, outcome: Outcome = Ok(b"{}")) -> bytes:  # noqa: B008
        return self.store.done([Result(self.claim(max_claimable).payment_id, ENDPOINT, b"", outcome)])[0]

    def sync(self, block: int, balance: int = DEPOSIT, claimed: int = 0, leaving: int = 0) -> int:
        config = msgspec.json.encode(self.payer.config).decode()
        keys = {
            "channel": channel_key(self.bucket, self.id),
            "channels": CHANNELS[self.bucket],
            "claimable": CLAIMABLE[self.bucket],
            "journal": JOURNAL[self.bucket],
        }
        arguments = {
            "id": self.id,
            "block": block,
            "balance": balance,
            "claimed": claimed,
            "leaving": leaving,
            "withdraw_at": 1_700_000_000_000 if leaving else 0,
            "refund_nonce": 0,
            "config": config,
            "network": OFFER.network,
            "payer": self.payer.config.payer,
        }
        return int(self.redis.execute_command(*SYNC.eval({**keys, **arguments})))

    def number(self, field: str) -> int:
        return int(self.redis.hget(channel_key(self.bucket, self.id), field) or 0)

    def show(self) -> None:
        keys = {"channel": channel_key(self.bucket, self.id), "journal": JOURNAL[self.bucket]}
        self.redis.execute_command(*SHOW.eval({**keys, "id": self.id}))

    def void(self) -> int:
        arguments = {"running": RUNNING[self.bucket], "count": 100, "records": RECORDS[self.bucket]}
        return int(self.redis.execute_command(*VOID.eval(arguments)))


@pytest.fixture
async def shop(redis_url: str) -> AsyncIterator[Shop]:
    client, connection = Redis(redis_url), LedgerConnections([redis_url])
    store = AnswerStore(connection, SEALER, claims=ClaimTerms(60_000, 50 * PRICE))
    shop = Shop(Ledger(client), store, redis_url)
    yield shop
    client.close()
    connection.close()
    shop.redis.close()


@pytest.fixture(autouse=True)
def _empty(redis_url: str) -> Iterator[None]:
    yield
    with redis.Redis.from_url(redis_url) as server:
        server.flushall()


async def test_the_books_have_each_charge_once(shop: Shop, redis_url: str, tmp_path: Path) -> None:
    """By endpoint, while the channel owes something, and when it is about to be claimed. A call that fails is none."""
    books = Books(tmp_path)
    with redis.Redis.from_url(redis_url) as client:
        journal = Journal(client, books)
        shop.sync(1)
        written = []
        for number in range(1, 9):
            await shop.accept(number * PRICE)
            shop.end(number * PRICE, Failed("not_found", "") if number == 3 else Ok(b"{}"))
            if number == 6:
                shop.show()
            journal.follow() if number > 5 else journal.read_owing()
            written.append(list(books.rows("SELECT endpoint, payer, calls, amount FROM charges")))
    payer = shop.payer.config.payer
    sold = [1, 2, 2, 3, 4, 5, 5, 5]
    assert written == [[("echo", payer, calls, calls * PRICE)] for calls in sold]
    assert shop.number("charged") == 7 * PRICE
    books.close()


async def test_the_identifier_of_a_failed_call_is_free(shop: Shop) -> None:
    """A client that numbers on repeats its call with it; that of an answered call names the voucher that paid."""
    shop.sync(1)
    first, second, third = (dataclasses.replace(shop.claim(n * PRICE), identifier="one") for n in (1, 2, 3))
    assert (await shop.ledger.claim(first)).verdict is Verdict.RUN
    shop.end(PRICE, Failed("not_found", ""))
    assert (await shop.ledger.claim(second)).verdict is Verdict.RUN
    shop.end(2 * PRICE)
    again = await shop.ledger.claim(third)
    assert (again.verdict, again.other) == (Verdict.IDENTIFIED, second.payment_id)


async def test_whatever_comes_in_any_order_what_is_charged_is_what_was_answered(shop: Shop) -> None:
    """Vouchers, answers, failures and calls that are given up: 400 steps of a random buyer."""
    shop.sync(1, balance=10_000 * PRICE)
    choice = random.Random(20_261_124)
    running: set[int] = set()
    answered: set[int] = set()
    for _ in range(400):
        match choice.randrange(4):
            case 0 | 1:
                most = max(PRICE, shop.number("done_top") + PRICE * choice.randrange(-3, 5))
                entry = await shop.accept(most)
                if entry.verdict is Verdict.RUN:
                    running.add(most)
                elif most in answered:
                    assert entry.verdict is Verdict.ANSWER
            case 2 if running:
                most = running.pop()
                answered.add(most)
                assert shop.end(most).startswith(b"{")
            case 3 if running:
                most = running.pop()
                if choice.random() < 0.5:
                    assert shop.end(most, Failed("upstream_failed", "", retryable=True)).startswith(b"\n")
                else:
                    record = record_key(shop.claim(most).payment_id)
                    long_ago = int(shop.redis.time()[0]) * 1000 - VOID_AFTER_MS - 1_000
                    shop.redis.hset(record, "lease", long_ago)
                    shop.redis.zadd(RUNNING[shop.bucket], {shop.claim(most).payment_id: long_ago})
                    assert shop.void() == 1
                    assert shop.end(most) == b"\n"  # a late answer is not given away
        assert shop.number("charged") == PRICE * len(answered)
        assert shop.number("inflight") == PRICE * len(running)
        assert shop.number("top") >= shop.number("charged") + shop.number("inflight")
    assert len(answered) > 30


async def test_no_voucher_goes_beyond_what_stays_in_the_channel(shop: Shop) -> None:
    """An announced withdrawal counts at once, an older block changes nothing, and a reorganisation lowers the balance."""
    shop.sync(5)
    shop.sync(7, leaving=DEPOSIT - 2 * PRICE)
    assert shop.sync(6) == 0
    assert (await shop.accept(2 * PRICE)).verdict is Verdict.RUN
    assert (await shop.accept(3 * PRICE)).verdict is Verdict.EXCEEDS
    shop.end(2 * PRICE)
    due_ms = shop.redis.zscore(CLAIMABLE[shop.bucket], shop.id)
    assert due_ms <= int(shop.redis.time()[0]) * 1000 + 1_000
    shop.sync(8, balance=0)
    assert (await shop.accept(4 * PRICE)).verdict is Verdict.EXCEEDS


async def test_a_claim_makes_the_oldest_charge_a_newer_one(shop: Shop) -> None:
    """Also of a channel that is charged all the time, so that never everything is claimed: its age is no alarm."""
    shop.sync(1)
    for calls in (1, 2):
        await shop.accept(calls * PRICE)
        shop.end(calls * PRICE)
    shop.redis.hset(channel_key(shop.bucket, shop.id), "owed_since", 1)
    shop.sync(2)
    assert shop.number("owed_since") == 1
    shop.sync(3, claimed=PRICE)
    assert shop.number("owed_since") > 1
    shop.sync(4, claimed=2 * PRICE)
    assert shop.number("owed_since") == 0


async def test_a_voucher_of_before_a_withdrawal_covers_no_more_than_the_rest(shop: Shop) -> None:
    shop.sync(1)
    await shop.accept(DEPOSIT)
    shop.end(DEPOSIT, Failed("not_found", ""))
    shop.sync(2, balance=5 * PRICE)  # the rest was withdrawn
    verdicts = []
    for max_claimable in range(1, 11):
        verdicts.append((await shop.accept(max_claimable)).verdict)
        shop.end(max_claimable)
    assert verdicts == 5 * [Verdict.RUN] + 5 * [Verdict.EXCEEDS]
    assert shop.number("charged") == 5 * PRICE


async def test_a_voucher_from_a_claim_gets_no_other_voucher(shop: Shop) -> None:
    """Anybody can read it on the chain. A voucher whose call has failed would pay his own."""
    shop.sync(1)
    await shop.accept(PRICE)
    shop.end(PRICE)
    shop.show()
    await shop.accept(2 * PRICE)
    shop.end(2 * PRICE, Failed("not_found", ""))
    stale = await shop.accept(PRICE, "a call of somebody else")
    _, wanted = await shop.ledger.channels.begin_refund(shop.payer.checked(0), None)
    for told in (stale.channel, wanted):
        assert told is not None
        assert (told.top, told.signature) == (2 * PRICE, "")
    await shop.accept(2 * PRICE)
    shop.end(2 * PRICE)
    stale = await shop.accept(PRICE, "a call of somebody else")
    assert stale.channel is not None
    assert stale.channel.signature == shop.payer.checked(2 * PRICE).signature.hex()


async def test_a_channel_that_is_refunded_takes_no_voucher(shop: Shop) -> None:
    """Only when nothing is in flight, after enough calls, with the whole rest; and it can be begun twice."""
    shop.sync(1)
    channels = shop.ledger.channels
    for calls in range(1, 11):
        verdict, _ = await channels.begin_refund(shop.payer.checked(shop.number("charged")), None)
        assert verdict == "limited"
        await shop.accept(calls * PRICE)
        shop.end(calls * PRICE)
    assert (await channels.begin_refund(shop.payer.checked(9 * PRICE), None))[0] == "mismatch"
    assert (await channels.begin_refund(shop.payer.checked(10 * PRICE), 5))[0] == "partial"
    await shop.accept(11 * PRICE)
    assert (await channels.begin_refund(shop.payer.checked(10 * PRICE), None))[0] == "busy"
    shop.end(11 * PRICE)
    for _ in range(2):
        assert (await channels.begin_refund(shop.payer.checked(11 * PRICE), DEPOSIT - 11 * PRICE))[0] == "begun"
    assert (await shop.accept(12 * PRICE)).verdict is Verdict.BUSY


async def test_strangers_do_not_keep_deposits_waiting(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody reads in time does not stay, few wait, and a deposit comes first."""
    channels, voucher = shop.ledger.channels, shop.payer.checked(PRICE)
    with monkeypatch.context() as patched:
        patched.setattr("api.payment.channel_ledger.READ_TIMEOUT_S", 0.0)
        assert not await channels.read(voucher)
        assert not await channels.read(voucher, has_deposit=True)
    assert shop.redis.llen(READS) == 0
    shop.redis.rpush(READS, *(MOST_READS * ["of a stranger"]))
    assert not await channels.read(voucher)
    asked = asyncio.create_task(channels.read(voucher, has_deposit=True))
    while shop.redis.llen(READS) == MOST_READS:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    request = ReadRequest(*msgspec.json.decode(shop.redis.lpop(READS)))
    shop.redis.set(read_key(shop.bucket, request.ticket), 1)
    assert await asked
