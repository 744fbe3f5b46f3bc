"""`published` refuses what no document could show truthfully."""

from collections.abc import Callable

import pytest

from api.discovery.listing import Listing, published
from shared.endpoint import Endpoint


def test_it_keeps_the_order(shop: tuple[Listing, ...]) -> None:
    """It is the catalogue in its order, without what is unlisted."""
    assert published(shop) == tuple(listing for listing in shop if listing.endpoint.name != "chain/erc1155-balance")


def test_a_call_listed_twice_is_refused(
    endpoint_of: Callable[..., Endpoint], listing_of: Callable[[Endpoint], Listing]
) -> None:
    """One address cannot be two things on sale."""
    listing = listing_of(endpoint_of())
    with pytest.raises(ValueError, match="address used twice"):
        published([listing, listing])


def test_a_call_without_an_offer_is_refused(endpoint_of: Callable[..., Endpoint], base_url: str) -> None:
    """What cannot be paid for has no price to show."""
    with pytest.raises(ValueError, match="has no offer"):
        published([Listing(endpoint_of(), base_url + "/v1/cdp/made-up", ())])
