"""Refunds, from a payment that FAILED to its end: planned, signed by the owner on a local ledger, and closed. Never twice."""

import asyncio
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_socket
import redis
from solders.hash import Hash
from solders.instruction import Instruction
from solders.keypair import Keypair
from solders.message import Message
from solders.transaction import Transaction
from stellar_sdk import TransactionBuilder, TransactionEnvelope

from api.payment.ledger import Ledger
from api.payment.ledger_terms import Claim, Entry, Verdict
from api.redis_client import Redis
from compose.sandbox.child import ROOT
from compose.sandbox.evm import provision, start_chain
from compose.sandbox.solana import start_solana
from compose.sandbox.stellar_node import TOKEN
from ops.main import main
from ops.refunds import evm, solana, stellar
from ops.refunds.transfers import Transfer
from shared.ledger import refunds
from shared.ledger.keys import JOURNAL, OPEN, REFUNDABLE, RERUN_MS, bucket_of, record_key
from shared.x402 import solana_address
from shared.x402.solana_message import read_transaction
from tests.facilitator.stellar_bench import StellarBench
from tests.facilitator.xrpl_bench import XrplBench
from tests.ops.refunding import EvmOwner, Owner, SolanaOwner, StellarOwner, XrplOwner, encoded, total
from tests.solana_signing import MEMO
from tests.solana_signing import TOKEN as TOKEN_PROGRAM
from tests.xrpl_signing import USDC

RECEIPT = b'{"success":true,"transaction":"0xabc"}'


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EvmOwner]:
    pytest_socket.enable_socket()
    var = tmp_path_factory.mktemp("base")
    chain = start_chain(var, node_folders=[ROOT / "var" / "node"])
    yield EvmOwner(chain, provision(chain, var).payer)
    chain.stop()


@pytest.fixture(scope="module")
def solana_owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SolanaOwner]:
    pytest_socket.enable_socket()
    sandbox = start_solana(tmp_path_factory.mktemp("solana"))
    yield SolanaOwner(sandbox)
    sandbox.stop()


@pytest.fixture(scope="module")
def stellar_owner() -> Iterator[StellarOwner]:
    pytest_socket.enable_socket()
    with StellarBench().running() as bench:
        yield StellarOwner(bench)


@pytest.fixture(scope="module")
def xrpl_owner() -> Iterator[XrplOwner]:
    pytest_socket.enable_socket()
    bench = XrplBench()
    bench.server.start()
    yield XrplOwner(bench)
    bench.server.stop()


@pytest.fixture(params=["base", "solana_owner", "stellar_owner", "xrpl_owner"])
def owner(request: pytest.FixtureRequest) -> Owner:
    """On each network."""
    made: Owner = request.getfixturevalue(request.param)
    return made


class Debts(NamedTuple):
    """What the operator does, and what became of payments."""

    url: str
    client: redis.Redis
    folder: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def serve(self, owner: Owner) -> None:
        """Whose settings the command has."""
        self.monkeypatch.setenv("COINSLOT_LEDGER_URL", self.url)
        self.monkeypatch.setenv(f"COINSLOT_{owner.name.upper()}_RPC_URL", owner.rpc_url)
        self.monkeypatch.setenv(f"COINSLOT_{owner.name.upper()}_PAY_TO", owner.pay_to)

    def owe(self, owner: Owner, payer: str, price: str, *, ago_ms: int = RERUN_MS) -> str:
        """A payment that is charged, not answered within a day, and given up, by the API's own transitions. Returns its id."""
        offer = owner.offer(price)
        payment = owner.payment_id(payer)
        claim = claim_of(payment, payer, encoded(offer))

        async def fail() -> None:
            ledger = Ledger(client := Redis(self.url))
            await ledger.claim(claim)
            await ledger.settled(payment, RECEIPT, 0)
            await client.call("HINCRBY", record_key(payment), "settled", -ago_ms)
            await client.call("ZADD", OPEN[bucket_of(payment)], 0, payment)
            assert await ledger.take_doubtful(8, 1_000) == []
            client.close()

        asyncio.run(fail())
        return payment

    def plan(self, *options: str) -> tuple[int, str]:
        return self.run("plan", "--to", str(self.folder), *options)

    def done(self, transaction: str) -> tuple[int, str]:
        return self.run("done", transaction)

    def run(self, *words: str) -> tuple[int, str]:
        code = main(["refunds", *words])
        return code, self.capsys.readouterr().out

    def plans(self) -> list[Path]:
        return sorted(self.folder.iterdir()) if self.folder.exists() else []

    def told(self, payment: str) -> Entry:
        """What the API knows when its payer repeats the call."""

        async def look() -> Entry:
            client = Redis(self.url)
            found = await Ledger(client).peek(claim_of(payment, "", b"{}"))
            client.close()
            return found

        return asyncio.run(look())

    def events(self, payment: str) -> list[str]:
        lines: Any = self.client.xrange(JOURNAL[bucket_of(payment)])
        return [line[b"event"].decode() for _, line in lines if line[b"payment"].decode() == payment]

    def is_owed(self, payment: str) -> bool:
        return self.client.zscore(REFUNDABLE[bucket_of(payment)], payment) is not None


def claim_of(payment: str, payer: str, offer: bytes) -> Claim:
    return Claim(
        payment_id=payment,
        fingerprint="f",
        endpoint="echo",
        payer=payer,
        offer=offer,
        settle_lease_ms=0,
        run_lease_ms=0,
        valid_before=2_000_000_000,
    )


@pytest.fixture
def debts(
    clean_redis: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Debts]:
    monkeypatch.chdir(tmp_path)
    with redis.Redis.from_url(clean_redis) as client:
        yield Debts(clean_redis, client, tmp_path / "refunds", capsys, monkeypatch)


def test_what_is_owed_is_paid_once(owner: Owner, debts: Debts, monkeypatch: pytest.MonkeyPatch) -> None:
    """In several transactions, to the atomic unit; each step a second time is refused and moves nothing."""
    for module in (evm, solana, stellar):
        monkeypatch.setattr(module, "AT_ONCE", 2)
    debts.serve(owner)
    one, two = owner.payer(), owner.payer()
    prices = [*[(one, "0.001")] * 4, (two, "0.08"), (one, "0.005"), (two, "0.000001")]  # two transactions are the same
    owed = {debts.owe(owner, payer, price): (payer, owner.offer(price).amount) for payer, price in prices}
    had = owner.balance(owner.pay_to)

    assert debts.plan()[0] == 0
    code, said = debts.plan()
    (plan,) = debts.plans()
    assert (code, f"plan {plan.name} is open: {len(owed)} of its payments" in said) == (1, True)
    listed = json.loads((plan / "plan.json").read_text())["payments"]
    assert {one["payment"]: (one["to"], one["amount"]) for one in listed} == owed

    transactions = owner.sign(plan)
    assert all(map(debts.is_owed, owed))
    closing = [debts.done(one) for one in transactions]
    assert [code for code, _ in closing] == [0] * len(transactions)
    assert "still open" in closing[0][1]
    assert "still open" not in closing[-1][1]

    amounts = {payer: total([amount for who, amount in owed.values() if who == payer]) for payer in (one, two)}
    assert {payer: owner.balance(payer) for payer in amounts} == amounts
    assert had - owner.balance(owner.pay_to) == sum(amounts.values())
    for transaction in transactions:
        code, said = debts.done(transaction)
        assert (code, "before" in said) == (1, True)
    assert debts.plan("--again") == (0, "Nothing is owed.\n")
    for payment in owed:
        told = debts.told(payment)
        assert (told.verdict, told.refund in transactions) == (Verdict.FAILED, True)
        assert debts.events(payment)[-3:] == ["FAILED", "PLANNED", "REFUNDED"]
        assert not debts.is_owed(payment)
        assert 0 < debts.client.ttl(record_key(payment)) <= refunds.RECORD_TTL_S  # type: ignore[operator]
    assert len(debts.plans()) == 1


def test_a_plan_that_nobody_signs_is_made_again(xrpl_owner: XrplOwner, debts: Debts) -> None:
    """With what is new, and without what was paid meanwhile."""
    debts.serve(xrpl_owner)
    payers = [xrpl_owner.payer() for _ in range(3)]
    for payer in payers[:2]:
        debts.owe(xrpl_owner, payer, "0.001")
    assert debts.plan()[0] == 0
    (first,) = debts.plans()
    paid, left = json.loads((first / "xrpl.json").read_text())["transactions"]
    code, said = debts.done(xrpl_owner.send(xrpl_owner.key, paid["txjson"]))
    assert (code, f"still open in plan {first.name}: {left['for']['payment']}" in said) == (0, True)
    new = debts.owe(xrpl_owner, payers[2], "0.002")

    assert debts.plan()[0] == 1
    assert debts.plan("--again")[0] == 0

    (second,) = set(debts.plans()) - {first}
    planned = {one["payment"] for one in json.loads((second / "plan.json").read_text())["payments"]}
    assert planned == {left["for"]["payment"], new}
    assert [debts.done(one)[0] for one in xrpl_owner.sign(second)] == [0, 0]


def test_what_is_no_refund_closes_nothing(base: EvmOwner, debts: Debts) -> None:
    """A foreign sender, too little, another payee, a failed transaction, one without transfers, an unknown one, no name, one
    before the payment, one that is not final. Then a new recipient pays by hand, and too much: it closes one of two."""
    debts.serve(base)
    payer = base.payer()
    early = base.pay(base.pay_to, payer, 5_000)
    later = base.rpc("eth_getBlockByNumber", "latest", False)["timestamp"]
    base.rpc("evm_setNextBlockTimestamp", int(later, 16) + 10)
    owed = [debts.owe(base, payer, "0.005"), debts.owe(base, payer, "0.001")]
    stranger = base.rich

    def refused(transaction: str, why: str) -> None:
        code, said = debts.done(transaction)
        assert (code, why in said) == (1, True), said
        assert all(map(debts.is_owed, owed))

    refused(base.pay(stranger, payer, 5_000), "another sender")
    refused(base.pay(base.pay_to, payer, 999), "less than what is owed")
    refused(base.pay(base.pay_to, stranger, 5_000), "no payer")
    refused(base.pay(base.pay_to, payer, 10**15), "the transaction failed")
    refused(base.send(stranger, payer, ""), "no transfer of a token")
    refused("0x" + "7" * 64, "does not know the transaction")
    refused("tomorrow", "no name of a transaction")
    for payment in owed:
        debts.client.hset(record_key(payment), "settled", 4_000_000_000_000)
    refused(early, "older than the payment")
    for payment in owed:
        debts.client.hset(record_key(payment), "settled", 0)
    paid = base.pay(stranger, payer, 6_000)
    base.rpc("evm_setAutomine", True)  # no more blocks by the clock
    debts.monkeypatch.setenv("COINSLOT_EVM_PAY_TO", stranger)
    debts.monkeypatch.setenv("COINSLOT_EVM_FINALITY", "2")
    refused(paid, "has 0 of 2 blocks on top")
    base.rpc("anvil_mine", "0x2")

    code, said = debts.done(paid)

    assert (code, said.count("closed: ")) == (0, 1)
    assert [debts.is_owed(payment) for payment in owed] == [False, True]
    assert debts.done(paid)[0] == 1


def test_a_transaction_that_a_reorganisation_moves_closes_nothing_more(base: EvmOwner, debts: Debts) -> None:
    """Given a refund that closed one of two equal debts, when its block is made again with another transfer before it, then it
    still is the one transfer that has closed one."""
    debts.serve(base)
    payer = base.payer()
    owed = [debts.owe(base, payer, "0.004") for _ in range(2)]
    for payment in owed:
        debts.client.hset(record_key(payment), "settled", 0)
    before = base.rpc("evm_snapshot")
    paid = base.pay(base.pay_to, payer, 4_000)
    assert debts.done(paid)[0] == 0
    base.rpc("evm_revert", before)
    base.rpc("evm_setIntervalMining", 0)
    base.rpc("evm_setAutomine", False)
    try:
        base.transfer(base.rich, payer, 7, gwei=20)
        again = base.transfer(base.pay_to, payer, 4_000)
        base.rpc("anvil_mine", "0x1")
    finally:
        base.rpc("evm_setAutomine", True)
    assert again == paid
    assert base.rpc("eth_getTransactionReceipt", paid)["logs"][0]["logIndex"] == "0x1"

    code, said = debts.done(paid)

    assert (code, "closed before by this transaction" in said) == (1, True), said
    assert sum(map(debts.is_owed, owed)) == 1


def test_a_transaction_that_failed_moves_and_closes_nothing(owner: Owner, debts: Debts) -> None:
    """Also when the first of its transfers could be paid."""
    debts.serve(owner)
    payer = owner.payer()
    owed = [debts.owe(owner, payer, price) for price in ("0.001", "2000")]
    owner.hold(1_500)
    assert debts.plan()[0] == 0

    for transaction in owner.sign(debts.plans()[0]):
        if owner.name != "xrpl":  # one transfer in each transaction
            code, said = debts.done(transaction)
            assert (code, "the transaction failed" in said) == (1, True)

    assert owner.balance(payer) == (Decimal("0.001") if owner.name == "xrpl" else 0)
    assert all(map(debts.is_owed, owed))
    owner.hold(10**7)


def test_a_transfer_in_another_token_closes_nothing(xrpl_owner: XrplOwner, debts: Debts) -> None:
    debts.serve(xrpl_owner)
    payer = xrpl_owner.payer()
    payment = debts.owe(xrpl_owner, payer, "0.001")
    with xrpl_owner.bench.server.lock:
        xrpl_owner.bench.ledger.trust(xrpl_owner.pay_to, USDC.issuer, USDC.currency, "10", "100")
    amount = {"currency": USDC.currency, "issuer": USDC.issuer, "value": "0.001"}
    fields = {"TransactionType": "Payment", "Account": xrpl_owner.pay_to, "Destination": payer}
    wrong = xrpl_owner.send(xrpl_owner.key, {**fields, "Amount": amount, "SendMax": amount})

    code, said = debts.done(wrong)

    assert (code, "another asset" in said, debts.is_owed(payment)) == (1, True, True)


def test_payers_who_cannot_be_paid_are_named_and_left_out(xrpl_owner: XrplOwner, debts: Debts) -> None:
    debts.serve(xrpl_owner)
    bench = xrpl_owner.bench
    gone, tagged, closed, full, fine = (*(xrpl_owner.payer() for _ in range(4)), xrpl_owner.payer())
    with bench.server.lock:
        del bench.ledger.state.accounts[gone]
        del bench.ledger.open.accounts[gone]
    bench.change(tagged, flags=0x00020000)
    bench.change(closed, flags=0x01000000)
    bench.trust(full, balance="1", limit="1")
    why = {gone: "does not exist", tagged: "destination tag", closed: "DepositAuth", full: "limit"}
    owed = {debts.owe(xrpl_owner, payer, "0.001"): payer for payer in (*why, fine)}
    bench.server.close_ledgers()

    code, said = debts.plan()

    assert code == 1
    for payment, payer in owed.items():
        assert (f"not planned: {payment}" in said) == (payer in why)
    assert all(text in said for text in why.values())
    (sent,) = json.loads((debts.plans()[0] / "xrpl.json").read_text())["transactions"]
    assert sent["txjson"]["Destination"] == fine
    assert xrpl_owner.sign(debts.plans()[0])


def test_a_contract_on_stellar_is_paid_by_a_call(stellar_owner: StellarOwner, debts: Debts) -> None:
    """Where the network would not make the call, others are not kept waiting."""
    debts.serve(stellar_owner)
    contract = "CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC"
    account = stellar_owner.payer()
    had = stellar_owner.balance(contract)
    owed = [debts.owe(stellar_owner, payer, "0.0000001") for payer in (contract, account)]
    stellar_owner.hold(0)
    code, said = debts.plan()
    assert (code, [f"not planned: {payment}" in said for payment in owed]) == (1, [True, False])
    stellar_owner.hold(10**9)
    first = debts.plans()
    assert debts.plan("--again")[0] == 0

    (plan,) = set(debts.plans()) - set(first)
    transactions = stellar_owner.sign(plan)

    assert [debts.done(one)[0] for one in transactions] == [0, 0]
    assert stellar_owner.balance(contract) - had == stellar_owner.balance(account) == 1


def test_a_fee_bump_on_stellar_is_no_other_transaction(stellar_owner: StellarOwner, debts: Debts) -> None:
    """It has two hashes, and closes a payment under one of them."""
    debts.serve(stellar_owner)
    payer, sponsor = stellar_owner.payer(), stellar_owner.bench.settler
    owed = [debts.owe(stellar_owner, payer, "0.001") for _ in range(2)]
    assert debts.plan()[0] == 0
    (planned,) = stellar_owner.read(debts.plans()[0] / "stellar.json")["transactions"]
    inner = TransactionEnvelope.from_xdr(planned["envelope"], TOKEN.passphrase)
    inner.sign(stellar_owner.key)
    outer = TransactionBuilder.build_fee_bump_transaction(sponsor, 20_000, inner, TOKEN.passphrase)
    outer.sign(sponsor)
    assert stellar_owner.rpc.named("sendTransaction", transaction=outer.to_xdr())["status"] == "PENDING"
    stellar_owner.bench.pass_ledgers(1)
    owed.append(debts.owe(stellar_owner, payer, "0.001"))
    debts.client.hset(record_key(owed[-1]), "settled", 0)

    assert [debts.done(one.hash_hex())[0] for one in (outer, inner)] == [0, 1]

    assert [debts.is_owed(payment) for payment in owed] == [False, False, True]


def test_transfers_that_programs_of_solana_make_are_seen() -> None:
    """As a multisig's vault does: the instructions are inner ones, and some accounts are from a table."""
    names = [str(Keypair().pubkey()) for _ in range(4)]
    vault, payer, source, destination = names
    message = Message.new_with_blockhash([Instruction(MEMO, b"", [])], Keypair().pubkey(), Hash.default())
    loaded = {"writable": [source, destination], "readonly": [str(TOKEN_PROGRAM)]}
    at = len(message.account_keys)
    data = solana_address.encode_base58(b"\x03" + (1_000).to_bytes(8, "little"))
    inner = {"programIdIndex": at + 2, "accounts": [at, at + 1, 0], "data": data}
    held = [{"accountIndex": at, "owner": vault, "mint": "m"}, {"accountIndex": at + 1, "owner": payer, "mint": "m"}]
    meta = {
        "loadedAddresses": loaded,
        "innerInstructions": [{"index": 0, "instructions": [inner]}],
        "preTokenBalances": held[:1],
        "postTokenBalances": held,
    }
    read = read_transaction(bytes(Transaction.new_unsigned(message)))

    assert list(solana._transfers(read.message, meta)) == [Transfer("0.0", "m", vault, payer, Decimal(1_000))]


def test_a_full_transaction_of_solana_fits(solana_owner: SolanaOwner, debts: Debts) -> None:
    """Each payer's token account has to be made."""
    debts.serve(solana_owner)
    payers = [solana_owner.payer() for _ in range(solana.AT_ONCE)]
    for payer in payers:
        debts.owe(solana_owner, payer, "0.001")
    code, said = debts.plan()
    assert (code, f"{len(payers)} payers on Solana have no token account" in said) == (0, True)

    (transaction,) = solana_owner.sign(debts.plans()[0])

    code, said = debts.done(transaction)
    assert (code, said.count("closed: ")) == (0, len(payers))
    assert {solana_owner.balance(payer) for payer in payers} == {Decimal(1_000)}


def test_a_node_that_does_not_answer_plans_nothing(owner: Owner, debts: Debts) -> None:
    debts.serve(owner)
    payment = debts.owe(owner, owner.payer(), "0.001")
    debts.monkeypatch.setenv(f"COINSLOT_{owner.name.upper()}_RPC_URL", "http://127.0.0.1:1")

    code, said = debts.plan()

    assert (code, debts.plans(), debts.events(payment)[-1]) == (1, [], "FAILED")
    assert "does not answer as it should" in said


def test_what_the_chain_took_back_is_not_owed(base: EvmOwner, debts: Debts) -> None:
    debts.serve(base)
    payment = debts.owe(base, base.payer(), "0.001")
    debts.client.hset(record_key(payment), "lost", 1)

    assert debts.plan() == (0, "Nothing is owed.\n")


def test_whoever_comes_second_changes_nothing(base: EvmOwner, debts: Debts) -> None:
    """Two commands at one time have read the same: one plan has the payment, and a transfer closes one, also sent again."""
    debts.serve(base)
    payer = base.payer()
    one, two = (debts.owe(base, payer, "0.001") for _ in range(2))
    commands = [refunds.plan(one, "a", ""), refunds.plan(one, "b", "")]
    commands += [
        refunds.close(*each) for each in ((one, "tx", "t"), (two, "tx", "t"), (one, "tx", "t"), (one, "ty", "u"))
    ]

    assert [debts.client.execute_command(*each) for each in commands] == [1, 0, 1, 0, 1, 0]  # type: ignore[no-untyped-call]

    assert debts.client.hmget(record_key(one), "refund_plan", "refund_tx") == [b"a", b"tx"]
    assert debts.is_owed(two)
