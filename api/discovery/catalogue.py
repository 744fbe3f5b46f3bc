"""What discovery serves now. It is built again when a facilitator has said something new that an offer carries."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from api.discovery import bazaar, openapi, well_known
from api.discovery.listing import Listing
from api.discovery.tools import Tools
from api.stored import Stored
from shared.x402.wire import Offer

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Filters:
    """What GET /discovery/resources is asked for (specs/extensions/bazaar.md). None: anything.

    Attributes:
        kind: type of resource, such as bazaar.HTTP.
        pay_to, network, scheme: one offer of a resource has all of these.
        extension: key of an extension that a resource has.
    """

    kind: str | None = None
    pay_to: str | None = None
    network: str | None = None
    scheme: str | None = None
    extension: str | None = None

    def match(self, kind: str, offers: Iterable[Offer]) -> bool:
        """Whether a resource of this type with these offers is asked for."""
        is_described = self.kind in (None, kind) and self.extension in (None, bazaar.KEY)
        return is_described and any(
            self.network in (None, offer.network)
            and self.scheme in (None, offer.scheme)
            and (self.pay_to is None or _canonical(self.pay_to) == _canonical(offer.pay_to))
            for offer in offers
        )


def _canonical(address: str) -> str:
    """EVM addresses alone may be spelled in several ways."""
    return address.lower() if address[:2] in ("0x", "0X") else address


@dataclass(frozen=True, slots=True)
class _Built:
    listings: tuple[Listing, ...]
    last_updated: int
    documents: dict[str, Stored]
    items: list[tuple[str, Listing, msgspec.Raw]]
    tools: Tools


EVERYTHING = Filters()


class Catalogue:
    """The documents and the bazaar's list.

    Args:
        listings: gives those of now, which are the same objects while nothing has changed.
        last_updated: gives that of now.
        base_url, contact: see `documents`.

    Raises:
        ValueError: the listings cannot be shown.
    """

    def __init__(
        self,
        listings: Callable[[], Sequence[Listing]],
        *,
        base_url: str,
        last_updated: Callable[[], int],
        contact: str = "",
    ) -> None:
        self._listings = listings
        self._base_url = base_url
        self._last_updated = last_updated
        self._contact = contact
        self._built = self._build()

    @property
    def documents(self) -> dict[str, Stored]:
        """The documents by path."""
        return self._current().documents

    @property
    def tools(self) -> Tools:
        """What the MCP server lists."""
        return self._current().tools

    def resources(self, filters: Filters = EVERYTHING, *, limit: int = DEFAULT_LIMIT, offset: int = 0) -> bytes:
        """The answer to GET /discovery/resources: a part of /bazaar.json.

        Args:
            limit: of items.
            offset: of the first item that `filters` let through.
        """
        items = [item for kind, listing, item in self._current().items if filters.match(kind, listing.offers)]
        return msgspec.json.encode(
            bazaar.page(items[offset : offset + limit], limit=limit, offset=offset, total=len(items))
        )

    def _current(self) -> _Built:
        if (tuple(self._listings()), self._last_updated()) != (self._built.listings, self._built.last_updated):
            self._built = self._build()
        return self._built

    def _build(self) -> _Built:
        listings, last_updated = tuple(self._listings()), self._last_updated()
        return _Built(
            listings,
            last_updated,
            {
                path: Stored(body)
                for path, body in documents(listings, self._base_url, last_updated, self._contact).items()
            },
            [
                (item["type"], one, msgspec.Raw(msgspec.json.encode(item)))
                for one, item in bazaar.items(listings, last_updated)
            ],
            Tools(listings),
        )


def documents(listings: Sequence[Listing], base_url: str, last_updated: int, contact: str = "") -> dict[str, bytes]:
    """Path on the API to body. The same arguments give the same bytes.

    Args:
        base_url: public address of the API; every listing's address is below it.
        last_updated: Unix seconds of when what is shown last changed.
        contact: COINSLOT_CONTACT.

    Raises:
        ValueError: a listing is elsewhere, so that the documents would contradict each other.
    """
    base_url = base_url.rstrip("/")
    for listing in listings:
        if listing.url != base_url + listing.endpoint.path:
            raise ValueError(f"{listing.endpoint.name} is listed at {listing.url}, not below {base_url}")
    manifest = msgspec.json.encode(well_known.document(listings, last_updated))
    return {
        "/openapi.json": msgspec.json.encode(openapi.document(listings, base_url, contact)),
        "/bazaar.json": msgspec.json.encode(bazaar.catalogue_document(listings, last_updated)),
        "/.well-known/x402": manifest,
        "/.well-known/x402.json": manifest,
    }
