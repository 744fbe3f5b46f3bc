"""The result of a verifier's `check`: a payment that is what was offered, as far as that can be known offline."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class KnownLedger:
    """The newest ledger of a network that a facilitator has reported. The network has closed others since.

    Attributes:
        age_s: seconds since it was reported.
        ledger_s: seconds that a ledger takes at least, as far as that was seen; None when it was not.
    """

    number: int
    age_s: float = 0.0
    ledger_s: float | None = None


class LastClaim(NamedTuple):
    """Until when a new payment may be claimed.

    Attributes:
        at: Unix seconds; 0: at any time.
        reason: why it is refused afterwards.
    """

    at: int
    reason: str


ANY_TIME = LastClaim(0, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization:
    """A payment that passed the `check` of its rail. Each rail adds what it needs to settle the payment.

    Attributes:
        payment_id: the replay key: the network and what it makes single-use, in one canonical form. The header's text would
            not do, nor a signature that has several spellings: one payment would have many ids.
        network: CAIP-2.
        asset, pay_to: as in the offer.
        payer: the payer's address as we decoded it, in the network's canonical form.
        amount: in the form that an offer has it.
        signature: the payer's signature in one canonical form. It proves that whoever presents it is the payer.
        signature_checked: False where only the chain can check the signature.
    """

    payment_id: str
    network: str
    asset: str
    payer: str
    pay_to: str
    amount: str
    signature: bytes
    signature_checked: bool = True

    def window_refusal(self, now: int, ledger: KnownLedger | None = None) -> str | None:
        """Why the payment cannot be settled now, or None. It is not part of `check`: a settled payment may be repeated later.

        Args:
            now: Unix seconds.
            ledger: on a network where payments expire by ledgers; None where none was reported.
        """
        raise NotImplementedError

    def expires(self, now: int) -> int:
        """The time from which the payment certainly cannot be settled any more, by the chain's clock. Both in Unix seconds."""
        raise NotImplementedError

    def last_claim(self) -> LastClaim:
        """Until when it may be claimed, where `window_refusal` refuses by the clock what the chain would still take.

        It ends a second before `window_refusal` begins to refuse, for clocks that are not quite the same.
        """
        return ANY_TIME
