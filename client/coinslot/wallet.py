"""The accounts that can pay, and the choice of an offer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from coinslot.errors import NoPayableOffer, PriceTooHigh
from coinslot.signer import Signer, Unpayable
from shared.money import Price
from shared.x402.wire import Offer


@dataclass(frozen=True, slots=True)
class Choice:
    """The offer to pay, its price and its signer."""

    offer: Offer
    price: Price
    signer: Signer


@dataclass(frozen=True, slots=True)
class Wallet:
    """Signers in order of preference, one for each rail. They are gone through at each call.

    Attributes:
        signers: the first one that can pay an offer pays it.
    """

    signers: Iterable[Signer]

    @classmethod
    def evm(cls, key: bytes, *, network: str = "eip155:8453") -> "Wallet":
        """A wallet of one EVM account. Raises WalletUnusable."""
        from coinslot.evm_signer import EvmSigner

        return cls((EvmSigner(key, network=network),))

    def choose(self, offers: Sequence[Offer], *, max_price: Decimal | None) -> Choice:
        """The cheapest offer of the first signer that can pay any.

        Args:
            max_price: most that may be spent, in dollars; None for no limit.

        Raises:
            NoPayableOffer: no signer can pay any of them.
            PriceTooHigh: the chosen offer is above `max_price`.
        """
        reasons: list[str] = []
        for signer in self.signers:
            payable: list[Choice] = []
            for offer in offers:
                try:
                    payable.append(Choice(offer, signer.quote(offer), signer))
                except Unpayable as why:
                    reasons.append(f"{offer.network[:40]}: {why}")
            if payable:
                choice = min(payable, key=lambda one: one.price)
                if max_price is not None and choice.price.value > max_price:
                    raise PriceTooHigh(choice.price, max_price)
                return choice
        shown = "; ".join(reasons[:5]) or "there is no offer"
        raise NoPayableOffer(f"the challenge has no offer that this wallet can pay ({shown})")
