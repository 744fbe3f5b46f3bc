"""The documents together: which there are, that they agree, and that they never change by themselves."""

from collections.abc import Callable

import pytest

from api.discovery.catalogue import documents
from api.discovery.listing import Listing
from shared.endpoint import Endpoint

LAST_UPDATED = 1_763_600_000
PATHS = {"/openapi.json", "/bazaar.json", "/.well-known/x402", "/.well-known/x402.json"}


def test_there_are_four_paths(shop: tuple[Listing, ...], base_url: str) -> None:
    """OpenAPI, the bazaar and the well-known document under both of its names."""
    made = documents(shop, base_url, LAST_UPDATED)
    assert set(made) == PATHS
    assert made["/.well-known/x402"] == made["/.well-known/x402.json"]


def test_the_same_arguments_give_the_same_bytes(shop: tuple[Listing, ...], base_url: str) -> None:
    """Two builds are byte-identical, so replicas agree and caches can validate."""
    assert documents(shop, base_url, LAST_UPDATED) == documents(list(shop), base_url, LAST_UPDATED)


def test_only_the_time_differs_when_only_the_time_does(shop: tuple[Listing, ...], base_url: str) -> None:
    """`lastUpdated` is the argument, and OpenAPI has no clock."""
    first, second = (documents(shop, base_url, time) for time in (LAST_UPDATED, LAST_UPDATED + 1))
    assert first["/openapi.json"] == second["/openapi.json"]
    for path in PATHS - {"/openapi.json"}:
        assert first[path].replace(b"1763600000", b"1763600001") == second[path]


def test_an_unlisted_call_is_in_none(
    endpoint_of: Callable[..., Endpoint], listing_of: Callable[[Endpoint], Listing], base_url: str
) -> None:
    """What is not listed leaves no trace in any document."""
    listings = [listing_of(endpoint_of("shown")), listing_of(endpoint_of("hidden-thing", listed=False))]
    for body in documents(listings, base_url, LAST_UPDATED).values():
        assert b"/v1/cdp/shown" in body
        assert b"hidden" not in body.lower()


def test_a_slash_after_the_base_url_does_not_matter(shop: tuple[Listing, ...], base_url: str) -> None:
    """A base URL written with a trailing slash gives the same documents."""
    assert documents(shop, base_url + "/", LAST_UPDATED) == documents(shop, base_url, LAST_UPDATED)


def test_a_listing_elsewhere_is_refused(shop: tuple[Listing, ...]) -> None:
    """Addresses in the bazaar and the server in OpenAPI cannot come apart."""
    with pytest.raises(ValueError, match="not below"):
        documents(shop, "https://other.example", LAST_UPDATED)
