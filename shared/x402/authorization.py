"""What every rail's static check gives: a payment that is what was offered, as far as that can be known offline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """A payment that passed its rail's `check`. Rails add what settling it takes.

    Attributes:
        payment_id: the replay key: the network and what that makes single-use, in one canonical form. Never the header's
            text, and no signature that could be written in another way: those have endless aliases.
        network: CAIP-2.
        asset: as in the offer.
        payer: who pays, by our own decoding, in the network's canonical form.
        pay_to: as in the offer.
        signature: the payer's own, in one canonical form: it proves that whoever brings it is the payer.
        signature_checked: False where only the chain can check it.
    """

    payment_id: str
    network: str
    asset: str
    payer: str
    pay_to: str
    signature: bytes
    signature_checked: bool = True

    def window_refusal(self, now: int, ledger: int | None = None) -> str | None:
        """Why it cannot be settled now, or None. Kept apart from the check: an expired payment may be redelivered.

        Args:
            now: Unix seconds.
            ledger: about which ledger the network is at, where it counts them and somebody has told us.
        """
        raise NotImplementedError

    def expires(self, now: int) -> int:
        """From when on it cannot be settled for certain, by the chain's clock, if it still could at `now`. Unix seconds."""
        raise NotImplementedError
