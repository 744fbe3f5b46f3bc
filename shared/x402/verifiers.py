"""The verifier of each network: what judges a payment offline, before anything is claimed or settled."""

from collections.abc import Mapping
from typing import Any, Protocol

from shared.money import Price
from shared.x402 import evm, evm_channel, solana, stellar, xrpl
from shared.x402.authorization import Authorization
from shared.x402.exact import SCHEME
from shared.x402.wire import Offer


class RailVerifier(Protocol):
    """What the module of a network does. It asks nobody, keeps nothing, and takes well under a millisecond.

    Attributes:
        TERMS: the keys of an offer's `extra` that only the facilitator knows.
        TOKEN_KEY: the key of `extra` with the token that binds a payment to its request; "" where a payer's signature can
            cover none.
        TOKEN_REASON: why a payment with another token is refused.
        MORE_SETTLE_S: how many seconds longer than elsewhere a settlement may take.
    """

    TERMS: tuple[str, ...]
    TOKEN_KEY: str
    TOKEN_REASON: str
    MORE_SETTLE_S: float

    def offers(self, token: Any, price: Price, pay_to: str) -> tuple[Offer, ...]:
        """What a call costs in this token. Raises ExcessPrecision when the token cannot express the price."""

    def completed(self, offer: Offer, terms: Mapping[str, Any]) -> Offer | None:
        """The offer with what the facilitator's /supported says; None when that is missing or unusable."""

    def matches(self, offer: Offer, accepted: Offer) -> bool:
        """Whether the client accepted this very offer, its token aside."""

    def is_payable(self, offer: Offer) -> bool:
        """Whether the offer has the form that `check` relies on. Ours do; a facilitator is handed anybody's."""

    def check(self, offer: Offer, payload: dict[str, Any]) -> Authorization:
        """Decide whether the payload pays the offer: everything but the time window, balances and single use.

        Raises:
            PaymentRefused: it does not.
        """


VERIFIERS: dict[tuple[str, str], RailVerifier] = {
    (SCHEME, "eip155"): evm,
    (SCHEME, "solana"): solana,
    (SCHEME, "stellar"): stellar,
    (SCHEME, "xrpl"): xrpl,
    (evm_channel.SCHEME, "eip155"): evm_channel,
}
"""By scheme, and the namespace of the network's CAIP-2 name. The modules themselves are the verifiers."""


def verifier_of(network: str, scheme: str = SCHEME) -> RailVerifier:
    """The verifier of a network's payments by a scheme. Raises KeyError when there is none."""
    return VERIFIERS[scheme, network.partition(":")[0]]
