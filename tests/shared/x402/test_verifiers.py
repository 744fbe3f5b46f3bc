"""Each rail has tokens, and each of their networks a verifier."""

import msgspec
import pytest

from shared.money import Price
from shared.networks import NETWORKS
from shared.x402.exact import SCHEME
from shared.x402.networks import Token
from shared.x402.verifiers import verifier_of
from tests.each import each

CASES = [token for row in NETWORKS.values() for tokens in row.tokens.values() for token in tokens.values()]


@each("token", CASES)
def test_a_rail_offers_its_token_on_each_network(token: Token) -> None:
    """The verifier is found by the network, and its own offer matches itself."""
    verifier = verifier_of(token.network)
    (offer,) = verifier.offers(token, Price.of("0.001"), "someone")
    assert (offer.scheme, offer.network) == (SCHEME, token.network)
    assert verifier.matches(offer, offer)
    assert bool(verifier.TOKEN_KEY) == bool(verifier.TOKEN_REASON)


@each("token", CASES)
def test_an_accepted_offer_is_ours_or_not(token: Token) -> None:
    """Clients may add to `extra`, and may change nothing."""
    verifier = verifier_of(token.network)
    (offer,) = verifier.offers(token, Price.of("0.001"), "someone")
    assert verifier.matches(offer, msgspec.structs.replace(offer, extra={**offer.extra, "more": 1}))
    for changes in (
        {"scheme": "upto"},
        {"network": offer.network.upper()},
        {"amount": offer.amount + "1"},
        {"asset": "another"},
        {"pay_to": "another"},
        {"max_timeout_seconds": 61},
        {"extra": {}},
        *({"extra": {**offer.extra, key: None}} for key in offer.extra),
    ):
        assert not verifier.matches(offer, msgspec.structs.replace(offer, **changes)), changes


def test_an_unknown_network_has_no_verifier() -> None:
    """It is an error of whoever asks."""
    with pytest.raises(KeyError):
        verifier_of("bip122:000000000019d6689c085ae165831e93")
