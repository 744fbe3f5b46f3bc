"""Shops on the sandbox's ledgers, whose owners sign and send what a plan of refunds proposes."""

import base64
import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
from eth_account import Account as EvmAccount
from solders.hash import Hash
from solders.keypair import Keypair as SolanaKeypair
from solders.pubkey import Pubkey
from solders.transaction import Transaction
from stellar_sdk import Keypair, TransactionEnvelope
from xrpl.wallet import Wallet

from compose.sandbox.child import LocalLedger
from compose.sandbox.evm import Chain
from compose.sandbox.stellar_node import TOKEN as STELLAR
from shared.money import Price
from shared.nodes.json_rpc import JsonRpc
from shared.x402 import evm, solana, stellar, xrpl
from shared.x402.networks import EVM_USDC, SOLANA_USDC, Token
from shared.x402.wire import Offer
from tests import xrpl_signing
from tests.facilitator.stellar_bench import StellarBench
from tests.facilitator.xrpl_bench import XrplBench, wallet
from tests.solana_signing import ata
from tests.workers.until import until

EXECUTOR = "60005b36811460315760448160140160003760006000604460006000853560601c5af1602a57600080fd5b6058016002565b00"
"""A contract wallet that anybody may use. Its calldata lists calls: an address of 20 bytes and 68 bytes of data for each."""


class Owner(ABC):
    """A shop on one network, with money, and the key that the service does not have."""

    name: str
    offers: Callable[[Any, Price, str], tuple[Offer, ...]]
    token: Token
    pay_to: str
    rpc_url: str

    def offer(self, price: str) -> Offer:
        return self.offers(self.token, Price.of(price), self.pay_to)[0]

    def payment_id(self, payer: str) -> str:
        offer = self.offer("1")
        return f"{offer.network}:{offer.asset}:{payer}:{secrets.token_hex(32)}"

    @abstractmethod
    def payer(self) -> str:
        """A fresh one, who can be paid and has nothing."""

    @abstractmethod
    def balance(self, account: str) -> Decimal:
        """As amounts are written in offers."""

    @abstractmethod
    def hold(self, funds: int) -> None:
        """Have so much, in the units of `balance`."""

    @abstractmethod
    def sign(self, folder: Path) -> list[str]:
        """Sign and send everything in a plan's folder. Returns the transactions, each at its end on the chain."""

    def read(self, path: Path) -> Any:
        return json.loads(path.read_text())


class EvmOwner(Owner):
    """A contract wallet that makes all calls of a Safe's batch in one transaction."""

    name, token = "evm", EVM_USDC["eip155:8453"]
    offers = staticmethod(evm.offers)

    def __init__(self, chain: Chain, payer: str) -> None:
        self.rpc = JsonRpc(chain.rpc_url)
        self.pay_to = evm.checksummed("0x" + secrets.token_hex(20))
        self.rpc_url = chain.rpc_url
        self.rpc("anvil_setCode", self.pay_to, "0x" + EXECUTOR)
        self.rich = payer
        for account in (payer, self.pay_to):
            self.rpc("anvil_impersonateAccount", account)
            self.rpc("anvil_setBalance", account, hex(10**20))
        self.hold(10**7)

    def payer(self) -> str:
        return EvmAccount.create().address.lower()

    def balance(self, account: str) -> Decimal:
        data = evm.selector("balanceOf(address)").hex() + account[2:].lower().rjust(64, "0")
        return Decimal(int(self.rpc("eth_call", {"to": self.token.address, "data": f"0x{data}"}, "latest"), 16))

    def hold(self, funds: int) -> None:
        more = funds - int(self.balance(self.pay_to))
        self.pay(*((self.rich, self.pay_to, more) if more > 0 else (self.pay_to, self.rich, -more)))

    def sign(self, folder: Path) -> list[str]:
        batches = [self.read(path) for path in sorted(folder.glob("evm-safe-*.json"))]
        calls = [call for batch in batches for call in batch["transactions"]]
        listed = self.read(folder / "evm-calls.json")["calls"]
        assert [{name: call[name] for name in ("to", "value", "data")} for call in listed] == calls
        assert {(batch["version"], batch["chainId"]) for batch in batches} == {("1.0", "8453")}
        assert {batch["meta"]["createdFromSafeAddress"] for batch in batches} == {self.pay_to}
        return [
            self.send(
                self.rich, self.pay_to, "".join(call["to"][2:] + call["data"][2:] for call in batch["transactions"])
            )
            for batch in batches
        ]

    def pay(self, sender: str, to: str, units: int, token: str = "") -> str:
        """A transfer by hand."""
        return self._in_a_block(self.transfer(sender, to, units, token))

    def transfer(self, sender: str, to: str, units: int, token: str = "", *, gwei: int = 10) -> str:
        """The same, without waiting for its block, where those that pay more for gas come first."""
        data = evm.selector("transfer(address,uint256)").hex() + to[2:].rjust(64, "0") + f"{units:064x}"
        return self._submit(sender, token or self.token.address, data, gwei)

    def send(self, sender: str, to: str, data: str) -> str:
        return self._in_a_block(self._submit(sender, to, data))

    def _submit(self, sender: str, to: str, data: str, gwei: int = 10) -> str:
        call = {"from": sender, "to": to, "data": f"0x{data}", "gas": hex(3_000_000), "gasPrice": hex(gwei * 10**9)}
        return str(self.rpc("eth_sendTransaction", call))

    def _in_a_block(self, transaction: str) -> str:
        until(lambda: self.rpc("eth_getTransactionReceipt", transaction))
        return transaction


class SolanaOwner(Owner):
    name, token = "solana", SOLANA_USDC["solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]
    offers = staticmethod(solana.offers)

    def __init__(self, sandbox: LocalLedger) -> None:
        self.rpc, self.key = JsonRpc(sandbox.rpc_url), SolanaKeypair()
        self.pay_to = str(self.key.pubkey())
        self.rpc_url = sandbox.rpc_url
        self.rpc("sandbox_fund", self.pay_to, {"lamports": 10**9})
        self.hold(10**9)

    def payer(self) -> str:
        """Every one has closed his token account."""
        return str(SolanaKeypair().pubkey())

    def balance(self, account: str) -> Decimal:
        held = str(ata(Pubkey.from_string(account), Pubkey.from_string(self.token.mint)))
        if self.rpc("getAccountInfo", held, {"encoding": "base64"})["value"] is None:
            return Decimal(0)
        return Decimal(self.rpc("getTokenAccountBalance", held)["value"]["amount"])

    def hold(self, funds: int) -> None:
        self.rpc("sandbox_fund", self.pay_to, {"usdc": funds})

    def sign(self, folder: Path) -> list[str]:
        plan = self.read(folder / "solana.json")
        return [self._send(one["transaction"], plan["blockhash"]) for one in plan["transactions"]]

    def _send(self, text: str, blockhash: str) -> str:
        transaction = Transaction.from_bytes(base64.b64decode(text))
        assert not any(map(any, map(bytes, transaction.signatures)))
        transaction.sign([self.key], Hash.from_string(blockhash))
        return str(
            self.rpc(
                "sendTransaction",
                base64.b64encode(bytes(transaction)).decode(),
                {"encoding": "base64", "skipPreflight": True},
            )
        )


class StellarOwner(Owner):
    name, token = "stellar", STELLAR
    offers = staticmethod(stellar.offers)

    def __init__(self, bench: StellarBench) -> None:
        self.bench, self.key = bench, Keypair.random()
        self.pay_to, self.rpc = self.key.public_key, JsonRpc(bench.rpc_url)
        self.rpc_url = bench.rpc_url
        with bench.server.lock:
            bench.ledger.fund(self.pay_to, lumens=100, units=10**9)

    def payer(self) -> str:
        return self.bench.payer(0).public_key

    def balance(self, account: str) -> Decimal:
        return Decimal(self.rpc.named("sandbox_balances", account=account)["units"] or 0)

    def hold(self, funds: int) -> None:
        with self.bench.server.lock:
            self.bench.ledger.state.lines[self.pay_to].balance = funds

    def sign(self, folder: Path) -> list[str]:
        plan = self.read(folder / "stellar.json")
        return [self._send(one["envelope"], plan["networkPassphrase"]) for one in plan["transactions"]]

    def _send(self, text: str, passphrase: str) -> str:
        envelope = TransactionEnvelope.from_xdr(text, passphrase)
        assert not envelope.signatures
        envelope.sign(self.key)
        assert self.rpc.named("sendTransaction", transaction=envelope.to_xdr())["status"] == "PENDING"
        self.bench.pass_ledgers(1)
        return envelope.hash_hex()


class XrplOwner(Owner):
    name, token = "xrpl", xrpl_signing.RLUSD
    offers = staticmethod(xrpl.offers)

    def __init__(self, bench: XrplBench) -> None:
        self.bench, self.key = bench, wallet(0)
        self.pay_to = self.key.address
        self.rpc_url = bench.server.url
        self.hold(1_000)

    def payer(self) -> str:
        return str(self.bench.payer("0").address)

    def payment_id(self, payer: str) -> str:
        return str(xrpl.PaymentId(self.token.network, payer, 7, secrets.token_hex(32).upper()))

    def balance(self, account: str) -> Decimal:
        return Decimal(self.bench.balance(account))

    def hold(self, funds: int) -> None:
        self.bench.trust(self.pay_to, balance=str(funds))

    def sign(self, folder: Path) -> list[str]:
        return [self.send(self.key, one["txjson"]) for one in self.read(folder / "xrpl.json")["transactions"]]

    def send(self, key: Wallet, payment: dict[str, Any]) -> str:
        """What a wallet adds, its signature, and the next ledger."""
        sequence = self.bench.ledger.open.accounts[key.address].sequence
        last = self.bench.ledger.validated.index + 20
        blob = xrpl_signing.blob(key, payment | {"Sequence": sequence, "Fee": "10", "LastLedgerSequence": last})
        with self.bench.server.lock:
            result, _, name = self.bench.ledger.submit(blob)
        assert result in ("tesSUCCESS", "tecPATH_PARTIAL"), result
        self.bench.server.close_ledgers()
        return name


def encoded(offer: Offer) -> bytes:
    """As it is in a record."""
    return msgspec.json.encode(offer)


def total(amounts: Sequence[str]) -> Decimal:
    return sum(map(Decimal, amounts), Decimal(0))
