"""What the tests of the XRPL rail share: a ledger that closes quickly, with a node that fails on demand, and payers."""

import functools
import itertools
import threading
from collections.abc import Callable
from typing import Any

import msgspec
from xrpl.wallet import Wallet

from compose.sandbox.xrpl_ledger import Ledger
from compose.sandbox.xrpl_node import LIMIT, XrplServer, provision
from shared.x402 import xrpl
from shared.x402.networks import XrplToken
from shared.x402.wire import FacilitatorCall, Offer
from tests import xrpl_signing as signing
from tests.xrpl_signing import RLUSD, USDC, Json

CLOSE_EVERY_S = 0.1
PAYER_FUNDS = 100 * 10**6


class FaultyServer(XrplServer):
    """A node that fails on demand. `faults` says how it answers a method. Other calls pass through.

    Faults: ``hang up``, ``garbage``, ``list``, ``error``, ``lost`` (done, but the answer is lost), or a function that gets the
    parameters before the call passes through. `edits` changes a method's results. `seen` lists the methods that were called.
    """

    def __init__(self, ledger: Ledger, *, port: int = 0) -> None:
        super().__init__(ledger, port=port, close_every_s=CLOSE_EVERY_S)
        self.faults: dict[str, str | Callable[[Json], None]] = {}
        self.edits: dict[str, Callable[[Json], Json]] = {}
        self.seen: list[str] = []
        self._thread = threading.Thread(target=self.serve, daemon=True)

    def start(self) -> None:
        """In a thread of its own."""
        self._thread.start()

    def answer(self, body: bytes) -> bytes | None:
        request = msgspec.json.decode(body)
        method = request["method"]
        self.seen.append(method)
        fault = self.faults.get(method, self.faults.get("*"))
        if callable(fault):
            fault(request["params"][0])
        match fault:
            case "hang up":
                return None
            case "garbage":
                return b"<html>"
            case "list":
                return b'{"result":[1,2]}'
            case "error":
                return b'{"result":{"error":"slowDown","status":"error"}}'
            case "lost":
                super().answer(body)
                return None
        answer = super().answer(body)
        edit = self.edits.get(method)
        if edit is None or answer is None:
            return answer
        return msgspec.json.encode({"result": edit(msgspec.json.decode(answer)["result"])})


@functools.cache
def wallet(number: int) -> Wallet:
    """The same one for every ledger: xrpl-py takes 20 ms to derive its keys."""
    return Wallet.from_entropy(f"{number + 1:032x}")


class XrplBench:
    """One ledger with its node, a recipient, and as many payers as it takes."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.server = FaultyServer(self.ledger)
        self._wallets = map(wallet, itertools.count())
        self.pay_to = next(self._wallets).address
        provision(self.ledger, payer=next(self._wallets).address, pay_to=self.pay_to)

    def payer(self, balance: str = "10", *, drops: int = PAYER_FUNDS) -> Wallet:
        """A fresh account with so much of each token."""
        payer = next(self._wallets)
        with self.server.lock:
            self.ledger.fund(payer.address, drops)
            for token in (RLUSD, USDC):
                self.ledger.trust(payer.address, token.issuer, token.currency, balance, LIMIT)
        return payer

    def fields(self, payer: Wallet, offer: Offer, **changes: Any) -> Json:
        """A payment with the account's next sequence, and as long a life as it may have."""
        with self.server.lock:
            sequence = (
                self.ledger.open.accounts[payer.address].sequence if payer.address in self.ledger.open.accounts else 1
            )
            last = self.ledger.validated.index + xrpl.max_ledgers(offer)
        return signing.transaction(payer, offer, **{"Sequence": sequence, "LastLedgerSequence": last, **changes})

    def call(
        self, payer: Wallet, *, token: XrplToken = RLUSD, extra: Json | None = None, **changes: Any
    ) -> FacilitatorCall:
        """A payment of 0.001, as the API hands it to the facilitator."""
        offer = signing.offer(self.pay_to, token=token, **(extra or {}))
        blob = signing.blob(payer, self.fields(payer, offer, **changes))
        return msgspec.convert(signing.body({"signedTxBlob": blob}, offer), FacilitatorCall)

    def spend(self, payer: Wallet, **changes: Any) -> str:
        """Another transaction of the account: a millionth XRP to somebody. Returns its result."""
        fields = {
            "TransactionType": "Payment",
            "Account": payer.address,
            "Destination": self.pay_to,
            "Amount": "1",
            "Fee": "10",
            "Sequence": self.ledger.open.accounts[payer.address].sequence,
            **changes,
        }
        return self.submit(signing.blob(payer, fields))

    def submit(self, blob: str) -> str:
        """Straight to the ledger."""
        with self.server.lock:
            return self.ledger.submit(blob)[0]

    def change(self, account: str, **changes: Any) -> None:
        """Of an account root, by decree."""
        with self.server.lock:
            self.ledger.fund(account, changes.pop("balance", self.ledger.state.accounts[account].balance), **changes)

    def trust(self, holder: str, balance: str = "0", limit: str = LIMIT, **changes: Any) -> None:
        """Change a line to RLUSD."""
        with self.server.lock:
            self.ledger.trust(holder, RLUSD.issuer, RLUSD.currency, balance, limit, **changes)

    def balance(self, account: str, token: XrplToken = RLUSD) -> str:
        """What an account has of a token, by the newest validated ledger."""
        return str(self.ledger.state.lines[account, token.issuer, token.currency].balance)

    def transactions(self, account: str) -> int:
        """How many validated transactions have touched an account."""
        with self.server.lock:
            return len(self.ledger.transactions_of(account))


def payment_of(call: FacilitatorCall) -> xrpl.XrplAuthorization:
    """What the static check finds in it."""
    return xrpl.check(call.payment_requirements, call.payment_payload.payload)
