"""The sandbox's Stellar network is strict where money is concerned, and speaks to the network's own SDK."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from stellar_sdk import (
    Account,
    CreateAccount,
    InvokeHostFunction,
    Keypair,
    SorobanServer,
    TransactionBuilder,
    TransactionEnvelope,
    scval,
    xdr,
)
from stellar_sdk.auth import authorize_entry
from stellar_sdk.soroban_rpc import GetTransactionStatus, SendTransactionStatus

from compose.sandbox.child import LocalLedger
from compose.sandbox.stellar import PAYER_FUNDS, start_stellar
from compose.sandbox.stellar_ledger import Ledger, Submission
from compose.sandbox.stellar_node import TOKEN, answer, new_ledger
from shared.nodes.json_rpc import JsonRpc
from tests import stellar_signing as signing

Code = xdr.TransactionResultCode
NOW = 1_900_000_000
TESTNET = "Test SDF Network ; September 2015"


class Network:
    """A network whose clock is stopped, with a sender, a payer with 100 units and a shop."""

    def __init__(self) -> None:
        self.now = float(NOW)
        self.ledger: Ledger = new_ledger()
        self.ledger.clock = lambda: self.now
        self.sender, self.payer, self.shop = Keypair.random(), Keypair.random(), Keypair.random()
        self.ledger.fund(self.sender.public_key, lumens=100)
        self.ledger.fund(self.payer.public_key, units=100)
        self.ledger.fund(self.shop.public_key, units=0)

    def call(self, method: str, **params: Any) -> Any:
        return answer(self.ledger, method, params)

    def args(self, amount: int = 100, to: str = "") -> list[xdr.SCVal]:
        to = to or self.shop.public_key
        return [scval.to_address(self.payer.public_key), scval.to_address(to), scval.to_int128(amount)]

    def entry(self, amount: int = 100, *, key: Keypair | None = None, lasts: int = 10, **how: Any) -> Any:
        """Well signed, unless another key is named."""
        passphrase = how.pop("passphrase", TOKEN.passphrase)
        call = signing.transfer(TOKEN.contract, self.args(amount, how.pop("to", "")))
        entry = signing.unsigned(self.payer.public_key, signing.invocation(call), how.pop("nonce", 5), **how)
        return authorize_entry(entry, key or self.payer, self.ledger.sequence + lasts, passphrase)

    def operation(self, entries: list[Any], amount: int = 100, to: str = "") -> InvokeHostFunction:
        call = signing.transfer(TOKEN.contract, self.args(amount, to))
        kind = xdr.HostFunctionType.HOST_FUNCTION_TYPE_INVOKE_CONTRACT
        return InvokeHostFunction(xdr.HostFunction(kind, invoke_contract=call), entries)

    def builder(self, *operations: Any, step: int = 0, key: Keypair | None = None) -> TransactionBuilder:
        source = (key or self.sender).public_key
        held = self.ledger.state.accounts.get(source)
        builder = TransactionBuilder(
            Account(source, (held.sequence if held else 0) + step), TOKEN.passphrase, base_fee=100
        )
        builder.add_time_bounds(0, 0)
        for each in operations:
            builder.append_operation(each)
        return builder

    def transfer(
        self,
        *,
        entries: list[Any] | None = None,
        amount: int = 100,
        to: str = "",
        step: int = 0,
        key: Keypair | None = None,
    ) -> Any:
        """An unsigned transaction with what simulation says that a transfer to the shop takes."""
        operation = self.operation([self.entry(amount, to=to)] if entries is None else entries, amount, to)
        envelope = self.builder(operation, step=step, key=key).build()
        measured = self.builder(self.operation([], 0)).build()
        simulated = self.call("simulateTransaction", transaction=measured.to_xdr())
        data = xdr.SorobanTransactionData.from_xdr(simulated["transactionData"])
        data.resources.footprint.read_write = [
            *(each for each in data.resources.footprint.read_write if each.contract_data is None),
            signing.nonce_key(self.payer.public_key, 5),
        ]
        envelope.transaction.soroban_data = data
        envelope.transaction.fee = 100 + data.resource_fee.int64
        return envelope

    def send(self, envelope: Any, *keys: Keypair) -> Submission:
        for key in keys or (self.sender,):
            envelope.sign(key)
        return self.ledger.send(envelope.to_xdr())

    def units(self, who: Keypair) -> int:
        return self.ledger.state.lines[who.public_key].balance


@pytest.fixture
def network() -> Network:
    return Network()


def put(name: str, value: Any) -> Callable[[Network, Any], None]:
    return lambda _, envelope: setattr(envelope.transaction, name, value)


def bounds(minimum: int, maximum: int) -> Callable[[Network, Any], None]:
    def edit(_: Network, envelope: Any) -> None:
        found = envelope.transaction.preconditions.time_bounds
        found.min_time, found.max_time = minimum, maximum

    return edit


def cheaper(_: Network, envelope: Any) -> None:
    envelope.transaction.soroban_data.resource_fee = xdr.Int64(envelope.transaction.soroban_data.resource_fee.int64 - 1)


def poorer(network: Network, _: Any) -> None:
    network.ledger.state.accounts[network.sender.public_key].balance = 10_000_000 + 1_000


def twice(_: Network, envelope: Any) -> None:
    envelope.transaction.operations *= 2


def nothing(_: Network, envelope: Any) -> None:
    envelope.transaction.operations.clear()
    envelope.transaction.soroban_data = None


NOT_TAKEN: list[tuple[str, Callable[[Network, Any], None], Code]] = [
    ("a used sequence number", lambda w, e: setattr(e.transaction, "sequence", e.transaction.sequence - 1), Code.txBAD_SEQ),
    ("a gap", lambda w, e: setattr(e.transaction, "sequence", e.transaction.sequence + 1), Code.txBAD_SEQ),
    ("too early", bounds(NOW + 1, 0), Code.txTOO_EARLY),
    ("too late", bounds(0, NOW - 1), Code.txTOO_LATE),
    ("no fee beside the resources", lambda w, e: setattr(e.transaction, "fee", e.transaction.fee - 1), Code.txINSUFFICIENT_FEE),
    ("less than the resources", put("fee", 100), Code.txSOROBAN_INVALID),
    ("cheaper resources", cheaper, Code.txSOROBAN_INVALID),
    ("no resources", put("soroban_data", None), Code.txSOROBAN_INVALID),
    ("two calls", twice, Code.txMALFORMED),
    ("no operation", nothing, Code.txMISSING_OPERATION),
    ("not enough for the fee", poorer, Code.txINSUFFICIENT_BALANCE),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "code"), [row[1:] for row in NOT_TAKEN], ids=[row[0] for row in NOT_TAKEN])
def test_what_is_invalid_is_not_taken(network: Network, edit: Callable[[Network, Any], None], code: Code) -> None:
    """With the code that the real network has for it, and at no cost."""
    envelope = network.transfer()
    edit(network, envelope)
    balance = network.ledger.state.accounts[network.sender.public_key].balance

    sent = network.send(envelope)

    assert (sent.status, sent.code) == ("ERROR", code)
    network.ledger.close()
    assert network.ledger.state.accounts[network.sender.public_key].balance == balance
    assert network.ledger.transaction(sent.hash) is None


def test_whose_signature_it_is_matters(network: Network) -> None:
    """None, another's, one too many, of another network; and an account that is not there."""
    assert network.ledger.send(network.transfer().to_xdr()).code == Code.txBAD_AUTH
    assert network.send(network.transfer(), network.payer).code == Code.txBAD_AUTH
    assert network.send(network.transfer(), network.sender, network.payer).code == Code.txBAD_AUTH_EXTRA
    elsewhere = TransactionEnvelope(network.transfer().transaction, TESTNET)
    elsewhere.sign(network.sender)
    assert network.ledger.send(elsewhere.to_xdr()).code == Code.txBAD_AUTH
    stranger = Keypair.random()
    assert network.send(network.transfer(key=stranger), stranger).code == Code.txNO_ACCOUNT


FAILS: list[tuple[str, Callable[[Network], Any]]] = [
    ("no authorization", lambda w: w.transfer(entries=[])),
    ("another's signature", lambda w: w.transfer(entries=[w.entry(key=w.shop)])),
    ("a signature for another network", lambda w: w.transfer(entries=[w.entry(passphrase=TESTNET)])),
    ("an expired one", lambda w: w.transfer(entries=[w.entry(lasts=0)])),
    ("one for ever", lambda w: w.transfer(entries=[w.entry(lasts=4_000_000)])),
    ("for another amount", lambda w: w.transfer(entries=[w.entry(99)])),
    ("for another recipient", lambda w: w.transfer(entries=[w.entry(to=w.payer.public_key)])),
    ("more than there is", lambda w: w.transfer(amount=101)),
    ("a negative amount", lambda w: w.transfer(amount=-1)),
    ("to nobody", lambda w: w.transfer(to=Keypair.random().public_key)),
    ("without a trust line", lambda w: w.transfer(to=w.sender.public_key)),
]  # fmt: skip


@pytest.mark.parametrize("made", [row[1] for row in FAILS], ids=[row[0] for row in FAILS])
def test_what_must_not_happen_fails_and_costs_its_fee(network: Network, made: Callable[[Network], Any]) -> None:
    """In its ledger, as on the real network; simulation says so before."""
    envelope = made(network)
    unsigned = envelope.to_xdr()
    if envelope.transaction.operations[0].auth:
        assert "error" in network.call("simulateTransaction", transaction=unsigned)

    sent = network.send(envelope)
    assert sent.status == "PENDING"
    network.ledger.close()

    applied = network.ledger.transaction(sent.hash)
    assert applied is not None
    assert applied.error
    assert applied.fee_charged == envelope.transaction.fee
    assert (network.units(network.payer), network.units(network.shop)) == (100, 0)
    assert network.call("getTransaction", hash=sent.hash)["status"] == "FAILED"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory, sockets: None) -> Iterator[LocalLedger]:
    sandbox = start_stellar(tmp_path_factory.mktemp("stellar"), close_every_s=0.2)
    yield sandbox
    sandbox.stop()


def test_the_process_is_ready_for_payments(sandbox: LocalLedger) -> None:
    """Over HTTP, with the network's own SDK: the payer's funds, the settler's lumens, and ledgers that close by themselves."""
    rpc = JsonRpc(sandbox.rpc_url)
    with SorobanServer(sandbox.rpc_url) as server:
        assert server.get_network().passphrase == TOKEN.passphrase
        assert server.get_health().status == "healthy"
        first = server.get_latest_ledger().sequence
        assert server.load_account(sandbox.settler).sequence > 0
        settler = Keypair.from_secret(sandbox.settler_key)
        account = server.load_account(settler.public_key)
        made = (
            TransactionBuilder(account, TOKEN.passphrase, base_fee=100)
            .append_operation(CreateAccount(Keypair.random().public_key, "1"))
            .add_time_bounds(0, 0)
            .build()
        )
        made.sign(settler)
        sent = server.send_transaction(made)
        assert sent.status == SendTransactionStatus.PENDING
        found = server.poll_transaction(sent.hash, 50, lambda _: 0)
        while found.status == GetTransactionStatus.NOT_FOUND:
            found = server.poll_transaction(sent.hash, 50, lambda _: 0)
        assert found.status == GetTransactionStatus.SUCCESS
        assert server.get_latest_ledger().sequence > first
        assert server.get_fee_stats().soroban_inclusion_fee.p90 == 100
        assert server.get_version_info().protocol_version == 27
    assert rpc.named("sandbox_balances", account=sandbox.payer)["units"] == PAYER_FUNDS
    assert rpc.named("sandbox_balances", account=sandbox.pay_to)["units"] == 0
    assert sandbox.payer_secret not in repr(sandbox)
    assert sandbox.settler_key not in repr(sandbox)
