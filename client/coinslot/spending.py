"""The log of what was spent: one line of JSON for each payment that was charged, in a file that only its owner can read."""

import hashlib
import os
import time
from pathlib import Path

import msgspec

from coinslot.payment import SignedPayment
from shared.x402.wire import Settlement


class Spent(msgspec.Struct, frozen=True, rename="camel"):
    """One payment.

    Attributes:
        payment: digest of the payment. A payment that was resumed can have several lines.
        at: Unix seconds of the answer.
        url: of the call.
        amount: in whole units of `asset`.
        network: CAIP-2.
        transaction: of the settlement; empty when the server named none.
        request_id: for questions to the server's operator.
        answered: False when the call was charged and failed.
    """

    payment: str
    at: int
    url: str
    amount: str
    asset: str
    network: str
    payer: str
    transaction: str
    request_id: str
    answered: bool


class SpendingLog:
    """The file. It is made with its first line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, payment: SignedPayment, *, receipt: Settlement | None, request_id: str, answered: bool) -> None:
        """Append a line, and have it on the disk. Raises OSError."""
        spent = Spent(
            payment=hashlib.sha256(payment.header.encode()).hexdigest()[:32],
            at=int(time.time()),
            url=payment.url,
            amount=payment.price.text(),
            asset=payment.asset,
            network=payment.offer.network,
            payer=(receipt.payer if receipt else None) or payment.payer,
            transaction=receipt.transaction if receipt else "",
            request_id=request_id,
            answered=answered,
        )
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            # The line break comes first, too: a line that a crash has cut off spoils no other.
            os.write(descriptor, b"\n" + msgspec.json.encode(spent) + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def read(self) -> list[Spent]:
        """Each payment once, as its last line says, in the order of the first lines. Raises OSError."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found: dict[str, Spent] = {}
        for line in lines:
            try:
                spent = msgspec.json.decode(line, type=Spent)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue
            found[spent.payment] = spent
        return list(found.values())
