"""What the tests of the Stellar rail share: a network in this process whose ledgers close quickly, and people on it."""

import contextlib
import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from stellar_sdk import Account, Keypair, TransactionBuilder, xdr

from compose.sandbox.stellar_ledger import Ledger
from compose.sandbox.stellar_node import TOKEN, StellarServer, answer, new_ledger
from shared.money import Price
from shared.x402 import stellar
from shared.x402.wire import FacilitatorCall, Payment
from tests import stellar_signing as signing
from tests.time_limits import patience

LEDGER_S = patience(0.1)
"""What is signed for 30 of them is to be verified and sent in time."""


class StellarBench:
    """One network. Whoever looks at the ledger itself does so under its lock."""

    def __init__(self) -> None:
        self.ledger: Ledger = new_ledger()
        self.server = StellarServer(0, self.ledger, LEDGER_S)
        self.rpc_url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.settler, self.stranger = Keypair.random(), Keypair.random()
        self.ledger.fund(self.settler.public_key, lumens=10_000)
        self.ledger.fund(self.stranger.public_key, lumens=10_000)

    @contextlib.contextmanager
    def running(self) -> "Iterator[StellarBench]":
        """Answering, and closing ledgers."""
        threads = [threading.Thread(target=each) for each in (self._serve, self.server.close_ledgers)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self.server.shutdown()
            self.server.server_close()
            for thread in threads:
                thread.join(10)

    def payer(self, funds: int = 10_000_000) -> Keypair:
        """A fresh account with `funds` atomic units of USDC."""
        return self._account(funds)

    def shop(self, limit: int | None = None) -> str:
        """A fresh account that nothing was paid to yet."""
        return self._account(0, limit).public_key

    def offer(self, pay_to: str, price: str = "0.001") -> Any:
        """What is asked for."""
        return stellar.offers(TOKEN, Price.of(price), pay_to)[0]

    def call(self, payer: Keypair, pay_to: str, *, price: str = "0.001", **how: Any) -> FacilitatorCall:
        """What /verify and /settle are handed. `how` is as in tests/stellar_signing.py; `lasts` is in ledgers."""
        offer = self.offer(pay_to, price)
        lasts = how.pop("lasts", 30)
        payload = signing.payload(payer, offer, **{"expiration": self.ledger.sequence + lasts, **how})
        return FacilitatorCall(
            payment_payload=Payment(x402_version=2, accepted=copy.deepcopy(offer), payload=payload),
            payment_requirements=offer,
        )

    def payment_id(self, call: FacilitatorCall) -> str:
        """The replay key of a payment."""
        return stellar.check(call.payment_requirements, call.payment_payload.payload).payment_id

    def balance(self, account: str) -> int:
        """USDC of an account, in atomic units."""
        with self.server.lock:
            return self.ledger.state.lines[account].balance

    def lumens(self, account: str) -> int:
        """Of an account, in stroops."""
        with self.server.lock:
            return self.ledger.state.accounts[account].balance

    def transfers(self, pay_to: str) -> list[str]:
        """The transactions that moved USDC to an account."""
        with self.server.lock:
            found = self.ledger.between(1, self.ledger.sequence + 1)
            return [
                each.sent.hash for each in found if each.effect and each.effect.moves and each.effect.moves[1] == pay_to
            ]

    def sent(self) -> int:
        """How many transactions there have been."""
        with self.server.lock:
            return len(self.ledger.between(1, self.ledger.sequence + 1))

    def pass_ledgers(self, ledgers: int) -> None:
        """Time passes."""
        with self.server.lock:
            self.ledger.close(ledgers)

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """No ledger is closed meanwhile."""
        self.ledger.held = True
        try:
            yield
        finally:
            self.ledger.held = False

    def broadcast(self, call: FacilitatorCall, *more: Any, edit: Callable[[Any], None] | None = None) -> str:
        """A stranger sends somebody's authorization himself, and succeeds. Returns the transaction.

        Args:
            more: authorization entries that he puts beside it.
        """
        envelope = TransactionBuilder.from_xdr(call.payment_payload.payload["transaction"], TOKEN.passphrase)
        [operation] = envelope.transaction.operations  # type: ignore[union-attr]
        operation.auth = [*operation.auth, *more]
        return self.submit(operation)

    def submit(self, operation: Any) -> str:
        """A transaction of the stranger's, that must succeed."""
        with self.server.lock:
            state = self.ledger.state.accounts[self.stranger.public_key]

            def made(data: xdr.SorobanTransactionData | None) -> Any:
                builder = TransactionBuilder(
                    Account(self.stranger.public_key, state.sequence), TOKEN.passphrase, base_fee=100
                )
                builder.append_operation(operation).add_time_bounds(0, 0)
                if data is not None:
                    builder.set_soroban_data(data)
                envelope = builder.build()
                envelope.sign(self.stranger)
                return envelope

            simulated = answer(self.ledger, "simulateTransaction", {"transaction": made(None).to_xdr()})
            assert "error" not in simulated, simulated
            data = xdr.SorobanTransactionData.from_xdr(simulated["transactionData"])
            sent = self.ledger.send(made(data).to_xdr())
            assert sent.status == "PENDING", sent
            self.ledger.close()
            applied = self.ledger.transaction(sent.hash)
            assert applied is not None
            assert not applied.error
            return sent.hash

    def _account(self, units: int, limit: int | None = None) -> Keypair:
        key = Keypair.random()
        with self.server.lock:
            self.ledger.fund(key.public_key, units=units, limit=limit)
        return key

    def _serve(self) -> None:
        self.server.serve_forever(poll_interval=0.02)


def changed(call: FacilitatorCall, **offer: Any) -> FacilitatorCall:
    """The same payment, presented for another offer."""
    other = msgspec.structs.replace(call.payment_requirements, **offer)
    return msgspec.structs.replace(call, payment_requirements=other)
