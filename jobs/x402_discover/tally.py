"""Collects the calls of one document: entries in their order, and a table of the offers that they share."""

from jobs.x402_discover import figures
from jobs.x402_discover.document import Entry, Evidence, Offer
from jobs.x402_discover.locators import Locator, absolute
from jobs.x402_discover.terms import Stated, read

MAX_ENTRIES = 10_000


class Tally:
    """The calls that one document names."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.free = 0
        self.unusable = 0
        self.is_cut = False
        self._places: dict[Offer, int] = {}
        self._seen: set[Entry] = set()

    @property
    def offers(self) -> tuple[Offer, ...]:
        """The table."""
        return tuple(self._places)

    def add(
        self, found: Locator, base: str, said: Stated | None, *, version: int | None, description: str | None
    ) -> None:
        """Add a call, unless it is free or its address is not one that HTTP can call.

        Args:
            base: the address to which a relative one is resolved.
            said: its payment terms; None when it is listed without terms.
        """
        terms = None if said is None else read(said)
        if terms is not None and terms.is_free:
            self.free += 1
            return
        url = absolute(found.text, base)
        if url is None:
            self.unusable += 1
            return
        if len(self.entries) == MAX_ENTRIES:
            self.is_cut = True
            return
        evidence: Evidence = "listed" if terms is None else "terms"
        offers = () if terms is None else tuple(self._places.setdefault(o, len(self._places)) for o in terms.offers)
        price = None if terms is None or terms.price_usdc is None else figures.plain_text(terms.price_usdc)
        entry = Entry(url, found.method, version, description, offers, price, evidence)
        if entry not in self._seen:
            self._seen.add(entry)
            self.entries.append(entry)

    def warnings(self, name: str) -> list[str]:
        """The warnings about the document."""
        found = []
        if self.free:
            found.append(f"Free calls in {name}, which are not reported: {self.free}.")
        if self.unusable:
            found.append(f"Addresses in {name} that HTTP does not call: {self.unusable}.")
        if self.is_cut:
            found.append(f"There is more in {name} than was read.")
        return found
