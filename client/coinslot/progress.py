"""The steps of a purchase that its `on_progress` receives, in this order."""

from dataclasses import dataclass
from pathlib import Path

from coinslot.payment import SignedPayment
from shared.money import Price


@dataclass(frozen=True, slots=True)
class Quoted:
    """The offer to pay is chosen, and nothing is signed yet.

    Attributes:
        price: in whole units of `asset`.
        network: CAIP-2.
        payer: the account that will pay.
    """

    price: Price
    asset: str
    network: str
    payer: str


@dataclass(frozen=True, slots=True)
class Sending:
    """The payment is signed, and is now sent for the first time in this run.

    Attributes:
        saved: the file that it is saved in; None when payments are not saved.
    """

    payment: SignedPayment
    saved: Path | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """An attempt brought no answer. The same payment is sent again after a pause.

    Attributes:
        wait_s: length of the pause.
        why: what the attempt ended with.
        transaction: of the settlement, if the server has named it; empty otherwise.
    """

    payment: SignedPayment
    wait_s: float
    why: str
    transaction: str


Progress = Quoted | Sending | Waiting
