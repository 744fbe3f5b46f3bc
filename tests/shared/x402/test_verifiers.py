"""Each rail has tokens, and each of their networks a verifier."""

from __future__ import annotations

import pytest

from shared.money import Price
from shared.x402.exact import SCHEME
from shared.x402.networks import TOKENS, Rail
from shared.x402.verifiers import verifier_of
from tests.each import each

CASES = [(rail, network) for rail in Rail for network in TOKENS[rail]]


@each(("rail", "network"), CASES)
def test_a_rail_offers_its_token_on_each_network(rail: Rail, network: str) -> None:
    """The verifier is found by the network, and its own offer matches itself."""
    verifier = verifier_of(network)
    (offer,) = verifier.offers(TOKENS[rail][network], Price.of("0.001"), "someone")
    assert (offer.scheme, offer.network) == (SCHEME, network)
    assert verifier.matches(offer, offer)
    assert bool(verifier.TOKEN_KEY) == bool(verifier.TOKEN_REASON)


def test_an_unknown_network_has_no_verifier() -> None:
    """It is an error of whoever asks."""
    with pytest.raises(KeyError):
        verifier_of("bip122:000000000019d6689c085ae165831e93")
