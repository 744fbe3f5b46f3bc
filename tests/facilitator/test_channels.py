"""Channels on a real chain: deposits, claims, refunds, withdrawals, with the facilitator as deployed and a real ledger."""

import dataclasses
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_socket
import redis
from coincurve import PrivateKey

from compose.sandbox.child import ROOT
from compose.sandbox.evm import provision, start_chain
from facilitator.claimer.chain import Chain
from facilitator.claimer.claimer import Claimer, Terms
from facilitator.claimer.ledger import ChainState, ClaimerLedger
from facilitator.claimer.relay import Relay
from facilitator.json_rpc import JsonRpcNode
from facilitator.rails.evm import calldata
from ops.books.keeper import Keeper
from ops.books.revenue import summed
from ops.books.store import Books
from ops.queries import get_json
from shared.ledger.channels import (
    CHANNELS,
    CLAIMABLE,
    REFUND_BEGIN,
    REFUNDS,
    SOLD,
    WATCH,
    ReadRequest,
    channel_key,
    read_key,
)
from shared.ledger.keys import JOURNAL, bucket_of_command, bucket_of_payer
from shared.money import Price
from shared.nodes.json_rpc import JsonRpc
from shared.servers.ledger_connections import LedgerConnections
from shared.settings.rails import EvmRailSettings
from shared.settings.service import Settings
from shared.x402 import evm, evm_channel
from shared.x402.evm_channel_ids import CONTRACT
from shared.x402.networks import EVM_USDC
from shared.x402.settlement_cost import TOO_COSTLY
from shared.x402.wire import Offer
from tests import channel_signing, signing
from tests.channel_signing import FINALIZE, INITIATE, on_chain
from tests.facilitator.bench import Bench, an_address, on_sandbox
from tests.facilitator.served import Served, serve

pytestmark = pytest.mark.anyio

TOKEN = EVM_USDC["eip155:8453"]
DELAY_S = 900
DEPOSIT = 100_000
AUTHORIZER = PrivateKey(bytes(31) + b"\x0a")


class Payer(channel_signing.Payer):
    """A payer on the chain, with gas of his own."""

    bench: Bench

    def send(self, signature: str, *more: tuple[str, Any]) -> str:
        """A call of the contract about his channel, by himself."""
        return self.bench.send(self.calldata(signature, *more), to=CONTRACT, key="0x" + self.key.secret.hex())


@dataclasses.dataclass
class Shop:
    """One recipient with its facilitator, its ledger and its claimer."""

    bench: Bench
    served: Served
    redis: redis.Redis
    ledger: ClaimerLedger
    claimer: Claimer
    offer: Offer

    def call(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The body of /settle."""
        wire = signing.wire(self.offer)
        return {
            "x402Version": 2,
            "paymentPayload": {"x402Version": 2, "accepted": wire, "payload": payload},
            "paymentRequirements": wire,
        }

    def payer(self, funds: int = DEPOSIT) -> Payer:
        """A payer who has money and gas."""
        payer = Payer(self.offer)
        payer.bench = self.bench
        self.bench.mint(payer.config.payer, funds)
        self.bench.send(b"", to=payer.config.payer, value=10**17, gas=21_000)
        return payer

    async def opened(self, *, charged: int = 0, top: int = 0) -> Payer:
        """A payer with a channel that the ledger knows, of which so much was charged."""
        payer = self.payer()
        settled = self.served.settle(self.call(payer.deposit(DEPOSIT, 1_000)))
        assert settled["success"], settled
        await self.claimer.read(self.request(payer))
        if charged:
            self.charge(payer, charged, top or charged)
        return payer

    def request(self, payer: Payer, ticket: str = "t") -> ReadRequest:
        config = msgspec.json.encode(payer.config).decode()
        return ReadRequest(f"0x{payer.channel.hex()}", self.offer.network, payer.config.payer, config, ticket)

    def key(self, payer: Payer) -> str:
        return channel_key(self.bucket(payer), f"0x{payer.channel.hex()}")

    def bucket(self, payer: Payer) -> int:
        return bucket_of_payer(self.offer.network, payer.config.payer)

    def charge(self, payer: Payer, charged: int, top: int) -> None:
        """As if calls had been answered."""
        signature = payer.checked(top).signature.hex()
        fields = {"charged": charged, "top": top, "done_top": top, "sig": signature, "calls": 20}
        self.redis.hset(self.key(payer), mapping=fields)
        self.redis.zadd(CLAIMABLE[self.bucket(payer)], {f"0x{payer.channel.hex()}": 1})

    def row(self, payer: Payer, field: str) -> int:
        return int(self.redis.hget(self.key(payer), field) or 0)

    def on_chain(self, payer: Payer) -> tuple[int, int]:
        """Balance and total claimed."""
        return on_chain(self.bench.rpc, payer.channel)

    def events(self) -> list[str]:
        """Of channels, in the journals."""
        return [entry[b"event"].decode() for key in JOURNAL for _, entry in self.redis.xrange(key)]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A chain of this module's, whose clock and blocks are moved."""
    pytest_socket.enable_socket()
    var = tmp_path_factory.mktemp("channels")
    chain = start_chain(var, node_folders=[ROOT / "var" / "node"])
    bench = Bench(provision(chain, var), JsonRpc(chain.rpc_url))
    bench.fund_stranger()
    yield bench
    chain.stop()


@pytest.fixture(scope="module")
def served(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    key = tmp_path_factory.mktemp("settler") / "settler.key"
    key.write_text(bench.sandbox.settler_key)
    pay_to = an_address()
    own = on_sandbox(bench.sandbox, settler_key_file=key, pay_to=pay_to, channels="on")
    process = serve(Settings(evm=own))
    yield process, pay_to
    process.stop()


@pytest.fixture
async def shop(bench: Bench, served: tuple[Served, str], clean_redis: str) -> AsyncIterator[Shop]:
    async with a_shop(bench, *served, clean_redis) as shop:
        yield shop


@asynccontextmanager
async def a_shop(
    bench: Bench, process: Served, pay_to: str, redis_url: str, *, name: str = "one", ether_price: float = 1e-6
) -> AsyncIterator[Shop]:
    terms = {
        "receiverAuthorizer": evm.address_of(AUTHORIZER.public_key),
        "withdrawDelay": DELAY_S,
        "minDeposit": "10000",
    }
    offer = evm_channel.completed(evm_channel.offers(TOKEN, Price.of("0.001"), pay_to)[0], terms)
    assert offer is not None
    connection, node = LedgerConnections([redis_url]), JsonRpcNode(bench.sandbox.rpc_url)
    ledger = ClaimerLedger(connection, name)
    relay = Relay(f"http://127.0.0.1:{process.port}", TOKEN, pay_to, headers={}, cdp_key=None)
    terms_of_claims = Terms(
        pay_to=pay_to,
        ether_price=ether_price,
        withdraw_delay=DELAY_S,
        min_deposit=10_000,
        claim_value=50_000,
        claim_within_s=60.0,
    )
    claimer = Claimer(ledger, Chain(node), relay, TOKEN, AUTHORIZER.secret, terms_of_claims)
    with redis.Redis.from_url(redis_url) as client:
        yield Shop(bench, process, client, ledger, claimer, offer)
    await relay.close()
    await node.close()
    connection.close()


async def test_a_deposit_is_made_once_and_named_by_its_channel(shop: Shop) -> None:
    payer = shop.payer()
    call = shop.call(payer.deposit(DEPOSIT, 1_000))
    first, again = shop.served.settle(call), shop.served.settle(call)
    assert first["success"], first
    assert (first["transaction"], first["amount"]) == (again["transaction"], str(DEPOSIT))
    assert first["extra"]["channelState"]["balance"] == str(DEPOSIT)
    assert shop.on_chain(payer) == (DEPOSIT, 0)
    assert shop.bench.balance(payer.config.payer) == 0


async def test_a_deposit_has_to_be_worth_its_gas(shop: Shop) -> None:
    """Given one of a thousand units, whose gas costs more than half of that, then nothing of it is sent; a larger one is."""
    any_deposit = msgspec.structs.replace(shop.offer, extra={**shop.offer.extra, "minDeposit": "0"})
    shop = dataclasses.replace(shop, offer=any_deposit)
    payer = shop.payer()

    refused = shop.served.settle(shop.call(payer.deposit(1_000, 1_000)))

    assert (refused["errorReason"], refused["transaction"]) == (TOO_COSTLY, "")
    assert shop.served.settle(shop.call(payer.deposit(5_000, 1_000)))["success"]
    assert shop.on_chain(payer)[0] == 5_000


async def test_a_deposit_that_a_stranger_sent_counts_all_the_same(shop: Shop) -> None:
    payer = shop.payer()
    payload = payer.deposit(DEPOSIT, 1_000)
    deposit = evm_channel.check(shop.offer, payload)
    assert isinstance(deposit, evm_channel.Deposit)
    sent = shop.bench.send(calldata.deposit(deposit), to=CONTRACT)
    settled = shop.served.settle(shop.call(payload))
    assert (settled["success"], settled["transaction"]) == (True, sent)


async def test_the_settler_pays_for_nobody_elses_channels(shop: Shop) -> None:
    """Deposits for another recipient, and claims, payouts and refunds of his channels, are refused before anything is sent."""
    other = Payer(msgspec.structs.replace(shop.offer, pay_to=an_address()))
    call = shop.call(other.deposit(DEPOSIT, 1_000))
    call["paymentRequirements"]["payTo"] = call["paymentPayload"]["accepted"]["payTo"] = other.offer.pay_to
    row = {
        "voucher": {"channel": msgspec.to_builtins(other.config), "maxClaimableAmount": "5"},
        "signature": "0x" + 130 * "1",
        "totalClaimed": "5",
    }
    claim = {"type": "claim", "claims": [row], "claimAuthorizerSignature": "0x" + 130 * "1"}
    payout = {"type": "settle", "receiver": other.offer.pay_to, "token": TOKEN.address}
    refund = {
        "type": "refund",
        "channelConfig": msgspec.to_builtins(other.config),
        "amount": "5",
        "refundNonce": "0",
        "refundAuthorizerSignature": "0x" + 130 * "1",
    }
    for asked in (call, *map(shop.call, (claim, payout, refund))):
        refused = shop.served.settle(asked)
        assert (refused["success"], refused["errorReason"]) == (False, "invalid_payment_requirements")
    own = await shop.opened()
    forged = {**refund, "channelConfig": msgspec.to_builtins(own.config)}
    assert shop.served.settle(shop.call(forged))["errorReason"].endswith("refund_simulation_failed")


async def test_what_was_charged_is_claimed_and_paid_out_to_the_unit(shop: Shop) -> None:
    """Of three channels in one transaction: what was charged, and not what the vouchers allow."""
    payers = [await shop.opened(charged=charged, top=charged + 7_000) for charged in (1_000, 2_000, 33_000)]
    before = shop.bench.balance(shop.offer.pay_to)
    await shop.claimer.look()
    assert [shop.on_chain(payer) for payer in payers] == [(DEPOSIT, 1_000), (DEPOSIT, 2_000), (DEPOSIT, 33_000)]
    assert [shop.row(payer, "claimed") for payer in payers] == [1_000, 2_000, 33_000]
    assert shop.bench.balance(shop.offer.pay_to) - before == 36_000
    assert shop.events().count("CLAIMING") == 3


async def test_the_books_have_what_was_paid_out_and_what_that_cost(shop: Shop, tmp_path: Path) -> None:
    """Payouts as they arrived, and the gas that the settler paid for claims and payouts. A payer's own transaction costs us
    nothing."""
    url = f"http://127.0.0.1:{shop.served.port}"
    own = EvmRailSettings(
        rpc_url=shop.bench.sandbox.rpc_url, pay_to=shop.offer.pay_to, channels="on", facilitator_url=url
    )
    books = Books(tmp_path)
    keeper = Keeper(Settings(evm=own), shop.redis, books)
    payers = [await shop.opened(charged=charged) for charged in (1_000, 33_000)]
    for payer, calls in zip(payers, (1, 33), strict=True):
        shop.redis.hset(shop.key(payer), f"{SOLD}echo:1000", calls)
    shop.bench.rpc("anvil_mine", hex(100))
    keeper.tick()
    _, told = get_json(f"{url}/supported")
    assert told is not None
    (settler,) = told["signers"]["eip155:*"]
    gas, balance = shop.bench.rpc("eth_getBalance", settler, "latest"), shop.bench.balance(shop.offer.pay_to)
    await shop.claimer.look()
    payers[0].send(INITIATE, ("uint128", 1_000))
    shop.bench.rpc("anvil_mine", hex(100))
    keeper.tick(is_all=True)
    keeper.tick(is_all=True)

    charges, payouts = sorted(summed(books, 0, 2**50, "endpoint"), key=lambda line: line.calls, reverse=True)
    assert (charges.key, charges.calls, charges.charged, charges.received) == ("echo", 34, 34_000, 0)
    assert charges.by_channels == 34_000
    assert payouts.received == 34_000 == shop.bench.balance(shop.offer.pay_to) - balance
    assert payouts.fees == int(gas, 16) - int(shop.bench.rpc("eth_getBalance", settler, "latest"), 16)
    assert payouts.fees_of == "chain+facilitator"
    books.close()


async def test_one_bad_row_costs_the_others_nothing(shop: Shop) -> None:
    """A channel that holds less than it owes pays what it holds; a signature that the ledger has spoiled pays nothing. Both are
    named."""
    good, drained, spoiled = [await shop.opened(charged=5_000) for _ in range(3)]
    shop.charge(drained, DEPOSIT + 1, DEPOSIT + 1)
    shop.redis.hset(shop.key(spoiled), "sig", 130 * "1")
    await shop.claimer.look()
    assert [shop.on_chain(payer)[1] for payer in (good, drained, spoiled)] == [5_000, DEPOSIT, 0]
    assert {"FROZEN", "CLAIM_REFUSED"} <= set(shop.events())


async def test_the_last_look_claims_of_more_channels_than_one_claim_has(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of those that are not due yet."""
    payers = [await shop.opened(charged=5_000) for _ in range(3)]
    for payer in payers:
        bucket = bucket_of_payer(shop.offer.network, payer.config.payer)
        shop.redis.zadd(CLAIMABLE[bucket], {f"0x{payer.channel.hex()}": 10**13})
    monkeypatch.setattr("facilitator.claimer.claimer.MOST_ROWS", 2)
    await shop.claimer.look(is_last=True)
    assert [shop.on_chain(payer)[1] for payer in payers] == 3 * [5_000]


async def test_what_is_not_worth_its_gas_waits(
    bench: Bench, served: tuple[Served, str], clean_redis: str, shop: Shop
) -> None:
    payer = await shop.opened(charged=5_000)
    async with a_shop(bench, *served, clean_redis, ether_price=1_000_000.0) as dear:
        await dear.claimer.look()
    assert shop.on_chain(payer) == (DEPOSIT, 0)
    (due,) = [score for key in CLAIMABLE for _, score in shop.redis.zrange(key, 0, -1, withscores=True)]
    assert due > 1
    assert "CLAIMING" not in shop.events()


async def test_a_refund_claims_first_and_pays_back_the_rest(shop: Shop) -> None:
    payer = await shop.opened(charged=30_000)
    bucket = bucket_of_payer(shop.offer.network, payer.config.payer)
    keys = {"channel": shop.key(payer), "refunds": REFUNDS[bucket]}
    asked = {**keys, "id": f"0x{payer.channel.hex()}", "max": 30_000, "wanted": ""}
    assert shop.redis.execute_command(*REFUND_BEGIN.eval(asked))[0] == b"begun"
    await shop.claimer.look()
    told = msgspec.json.decode(shop.redis.hget(shop.key(payer), "refund"))
    assert (told["success"], told["amount"]) == (True, str(DEPOSIT - 30_000))
    assert shop.bench.balance(payer.config.payer) == DEPOSIT - 30_000
    assert shop.on_chain(payer) == (30_000, 30_000)
    assert (shop.row(payer, "refunding"), shop.row(payer, "balance")) == (0, 30_000)
    assert "REFUNDED" in shop.events()


async def test_a_refund_whose_answer_was_lost_is_made_once(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    payer = await shop.opened(charged=30_000)
    bucket = bucket_of_payer(shop.offer.network, payer.config.payer)
    shop.redis.zadd(REFUNDS[bucket], {f"0x{payer.channel.hex()}": 1})
    send = shop.claimer._relay.send

    async def lost(payload: dict[str, Any]) -> Any:
        await send(payload)
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(shop.claimer._relay, "send", lost)
        await shop.claimer.look()
    await shop.claimer.look()
    assert shop.bench.balance(payer.config.payer) == DEPOSIT - 30_000
    told = msgspec.json.decode(shop.redis.hget(shop.key(payer), "refund"))
    assert told["success"]


async def test_a_refund_that_another_process_made_leaves_the_rest_alone(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The facilitator refuses the second one. Vouchers are taken again only when the ledger knows what is left."""
    payer = await shop.opened(charged=30_000)
    bucket = bucket_of_payer(shop.offer.network, payer.config.payer)
    shop.redis.zadd(REFUNDS[bucket], {f"0x{payer.channel.hex()}": 1})
    send = shop.claimer._relay.send

    async def after_another(payload: dict[str, Any]) -> Any:
        assert (await send(payload)).success
        return await send(payload)

    with monkeypatch.context() as patched:
        patched.setattr(shop.claimer._relay, "send", after_another)
        await shop.claimer.look()
    assert (shop.row(payer, "refunding"), shop.row(payer, "balance")) == (0, 30_000)
    assert msgspec.json.decode(shop.redis.hget(shop.key(payer), "refund"))["amount"] == str(DEPOSIT - 30_000)


async def test_channels_of_one_millisecond_are_all_watched(shop: Shop) -> None:
    """Also one that a replica with an earlier clock has written."""
    for name, score in (("0xa", 2_000), ("0xb", 2_000), ("0xc", 1_990)):
        shop.redis.zadd(CHANNELS[0], {name: score})
        shop.ledger.learn()
        assert name in shop.ledger.buckets


async def test_one_process_claims_and_one_key_signs(shop: Shop, clean_redis: str) -> None:
    connection = LedgerConnections([clean_redis])
    other = ClaimerLedger(connection, "another")
    assert shop.ledger.hold_lease()
    assert not other.hold_lease()
    assert shop.ledger.hold_lease()
    shop.ledger.give_lease_back()
    assert other.hold_lease()
    assert shop.ledger.authorizer(shop.claimer.address) == shop.claimer.address
    assert other.authorizer("0x" + 40 * "9") == shop.claimer.address
    connection.close()


async def test_a_read_answers_who_asked(shop: Shop) -> None:
    """Also of a channel that the chain does not know: then the ledger has no row."""
    payer = shop.payer()
    await shop.claimer.read(shop.request(payer, "ticket"))
    bucket = bucket_of_payer(shop.offer.network, payer.config.payer)
    assert shop.redis.exists(read_key(bucket, "ticket"))
    assert not shop.redis.exists(shop.key(payer))


async def test_an_older_block_changes_nothing(shop: Shop) -> None:
    payer = await shop.opened(charged=5_000)
    block = shop.row(payer, "block")
    stale = ChainState(block - 1, 7, 7, 7, 7, 7)
    name = f"0x{payer.channel.hex()}"
    assert not shop.ledger.sync(name, shop.offer.network, payer.config.payer, payer.config, stale)
    assert shop.row(payer, "balance") == DEPOSIT


async def test_a_deposit_that_the_chain_takes_back_covers_nothing(shop: Shop) -> None:
    """The blocks with the deposit are replaced by others: the balance falls, and what was charged stays on record."""
    snapshot = shop.bench.rpc("evm_snapshot")
    payer = shop.payer()
    deposit = evm_channel.check(shop.offer, payer.deposit(DEPOSIT, 1_000))
    assert isinstance(deposit, evm_channel.Deposit)
    shop.bench.send(calldata.deposit(deposit), to=CONTRACT)
    await shop.claimer.read(shop.request(payer))
    shop.charge(payer, 30_000, 30_000)
    shop.bench.rpc("evm_revert", snapshot)
    for _ in range(12):
        shop.bench.rpc("evm_mine")
    await shop.claimer.look()
    assert (shop.row(payer, "balance"), shop.row(payer, "charged")) == (0, 30_000)
    assert "FROZEN" in shop.events()


async def test_a_young_charge_waits_until_it_is_old_or_much(shop: Shop) -> None:
    """A busy channel is claimed when it owes enough, or when its oldest charge is old, and not at each look."""
    payer = await shop.opened(charged=5_000)
    shop.redis.hset(shop.key(payer), "owed_since", int(shop.redis.time()[0]) * 1000)
    await shop.claimer.look()
    assert shop.on_chain(payer)[1] == 0
    shop.charge(payer, 55_000, 55_000)
    await shop.claimer.look()
    assert shop.on_chain(payer)[1] == 55_000


@pytest.mark.parametrize("is_forgotten", [False, True])
async def test_every_withdrawal_is_seen(shop: Shop, monkeypatch: pytest.MonkeyPatch, *, is_forgotten: bool) -> None:
    """Of more channels than one search names; also when the ledger has lost which blocks were looked at."""
    monkeypatch.setattr("facilitator.claimer.chain.MOST_TOPICS", 2)
    monkeypatch.setattr("facilitator.claimer.claimer.MOST_ROWS", 2)
    payers = [await shop.opened() for _ in range(3)]
    await shop.claimer.look()
    for payer in payers:
        payer.send(INITIATE, ("uint128", DEPOSIT))
    if is_forgotten:
        shop.bench.rpc("anvil_mine", hex(30))
        shop.redis.delete(WATCH)
    await shop.claimer.look()
    assert [shop.row(payer, "leaving") for payer in payers] == 3 * [DEPOSIT]


async def test_one_lost_server_stops_no_other_payers_channels(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given two payers, when the bucket of one does not answer, then the other's charges are claimed and the chain counts as
    watched; and a withdrawal of the first meanwhile is seen when its bucket is back."""
    first, second = await shop.opened(), await shop.opened()
    while shop.bucket(first) in (0, shop.bucket(second)):
        first = await shop.opened()
    await shop.claimer.look()
    shop.charge(second, 6_000, 6_000)
    lost, send = shop.bucket(first), LedgerConnections.send

    def without(servers: LedgerConnections, commands: Any, *, bucket: int | None = None) -> list[Any]:
        answers = send(servers, commands, bucket=bucket)
        return [
            redis.ConnectionError("lost") if bucket is None and bucket_of_command(command) == lost else answer
            for command, answer in zip(commands, answers, strict=True)
        ]

    shop.redis.hset(WATCH, "watched_at", 1)
    with monkeypatch.context() as patched:
        patched.setattr(LedgerConnections, "send", without)
        first.send(INITIATE, ("uint128", DEPOSIT))
        await shop.claimer.look()
        assert (shop.on_chain(second)[1], shop.row(first, "leaving")) == (6_000, 0)
        assert int(shop.redis.hget(WATCH, "watched_at") or 0) > 1
        patched.setattr(LedgerConnections, "send", lambda *_, **__: [redis.ConnectionError("lost")] * 64)
        with pytest.raises(redis.ConnectionError):
            await shop.claimer.look()
    for _ in range(20):
        shop.bench.rpc("anvil_mine", "0x1")
    await shop.claimer.look()
    assert shop.row(first, "leaving") == DEPOSIT


async def test_a_payer_who_leaves_pays_first(shop: Shop) -> None:
    """His withdrawal is seen, no voucher goes beyond what stays, what he owes is claimed at once, and he gets the rest."""
    payer = await shop.opened(charged=30_000)
    bucket = bucket_of_payer(shop.offer.network, payer.config.payer)
    shop.redis.zadd(CLAIMABLE[bucket], {f"0x{payer.channel.hex()}": 10**13})  # not due for years
    await shop.claimer.look()
    payer.send(INITIATE, ("uint128", DEPOSIT))
    await shop.claimer.look()
    assert (shop.row(payer, "leaving"), shop.on_chain(payer)) == (DEPOSIT, (DEPOSIT, 30_000))
    shop.bench.rpc("evm_increaseTime", DELAY_S + 1)  # the last test: what is signed now has expired on this chain
    payer.send(FINALIZE)
    assert shop.bench.balance(payer.config.payer) == DEPOSIT - 30_000
    await shop.claimer.look()
    assert (shop.row(payer, "leaving"), shop.row(payer, "balance")) == (0, 30_000)
    assert shop.events().count("WITHDRAWING") == 1
