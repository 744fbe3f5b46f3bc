"""Merges the calls of all documents. Each call appears once, with the terms of the best source."""

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec

from jobs.fields import doc
from jobs.x402_discover.assets import same_asset
from jobs.x402_discover.document import Entry, Evidence, Offer, clean
from jobs.x402_discover.locators import origin_of

MAX_BYTES = 1 << 20
"""Limit of the calls of a report, as JSON."""
DEAR_USDC = 1000
MAX_NAMED = 5
"""How many calls a warning names."""

SourceName = Literal["challenge", "well_known", "bazaar", "openapi", "html_link"]


class Endpoint(msgspec.Struct, rename="camel"):
    """A call that is sold."""

    url: Annotated[str, doc("The absolute address of the call.")]
    method: Annotated[str | None, doc("The HTTP method. Null when it is not stated.")]
    source: Annotated[SourceName, doc("Where its terms were found first.")]
    x402_version: Annotated[int | None, doc("The version of x402. Null when it is not stated.")] = msgspec.field(
        name="x402Version"
    )
    description: Annotated[str | None, doc("What the call does, as its seller says. Null when nothing is said.")]
    accepts: Annotated[list[Offer], doc("The ways to pay for it.")]
    price_usdc: Annotated[float | None, doc("The price in USDC. Null when it is not known to be in USDC.")]
    evidence: Annotated[
        Evidence,
        doc(
            "`challenge`: the call demanded payment. `terms`: a document states its terms. `listed`: a document names "
            "it without a price."
        ),
    ]
    cross_origin: Annotated[bool, doc("Whether it is at another origin than the target.")]


class Calls:
    """The calls found, in the order in which they were found.

    Args:
        origin: the target's origin.
    """

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._found: list[Endpoint] = []
        self._by_url: dict[str, list[Endpoint]] = {}
        self._contradicted: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, entries: Iterable[Entry], offers: tuple[Offer, ...], source: SourceName) -> None:
        """Add the calls of a document. A known call gets missing fields; if the two contradict each other, the first terms
        stay."""
        for entry in entries:
            new = Endpoint(
                url=entry.url,
                method=entry.method,
                source=source,
                x402_version=entry.x402_version,
                description=entry.description,
                accepts=[offers[place] for place in entry.offers],
                price_usdc=None if entry.price_usdc is None else float(entry.price_usdc),
                evidence=entry.evidence,
                cross_origin=origin_of(entry.url) != self._origin,
            )
            same_url = self._by_url.setdefault(entry.url, [])
            known = next(
                (one for one in same_url if None in (one.method, new.method) or one.method == new.method), None
            )
            if known is None:
                same_url.append(new)
                self._found.append(new)
            else:
                self._merge(known, new)

    def first(self, limit: int) -> list[Endpoint]:
        """The first calls, as many as requested and as fit."""
        shown: list[Endpoint] = []
        size = 0
        for call in self._found[:limit]:
            size += len(msgspec.json.encode(call))
            if size > MAX_BYTES:
                break
            shown.append(call)
        return shown

    def warnings(self) -> list[str]:
        """The warnings about all calls together."""
        found = []
        if self._contradicted:
            names = ", ".join(list(self._contradicted)[:MAX_NAMED])
            found.append(
                "Calls with contradictory terms in different places, of which the first are reported: "
                f"{len(self._contradicted)} ({names})."
            )
        if dear := [call for call in self._found if (call.price_usdc or 0) > DEAR_USDC]:
            names = ", ".join(clean(f"{call.method or ''} {call.url}", 200) or call.url for call in dear[:MAX_NAMED])
            found.append(f"Calls for more than 1,000 USDC, perhaps because of a mistaken unit: {len(dear)} ({names}).")
        if foreign := sum(call.cross_origin for call in self._found):
            found.append(f"Calls at other origins than the target, which may be somebody else's: {foreign}.")
        if listed := sum(call.evidence == "listed" for call in self._found):
            found.append(
                f"Calls that are listed without payment terms, whose prices only their challenges state: {listed}."
            )
        return found

    def _merge(self, known: Endpoint, new: Endpoint) -> None:
        known.method = known.method or new.method
        known.description = known.description or new.description
        if known.evidence == "listed" and new.evidence != "listed":
            known.source, known.evidence = new.source, new.evidence
            known.accepts, known.price_usdc = new.accepts, new.price_usdc
            known.x402_version = new.x402_version or known.x402_version
            return
        known.x402_version = known.x402_version or new.x402_version
        if new.evidence == "listed":
            return
        if _contradict(known, new):
            name = clean(f"{known.method or ''} {known.url}", 200)
            self._contradicted[name or known.url] = None
        elif not known.accepts:
            known.accepts = new.accepts
        known.price_usdc = new.price_usdc if known.price_usdc is None else known.price_usdc


def _contradict(known: Endpoint, new: Endpoint) -> bool:
    """Whether they state different prices, or different amounts or payees for the same asset."""
    if known.price_usdc is not None and new.price_usdc is not None and known.price_usdc != new.price_usdc:
        return True
    for mine in known.accepts:
        for other in new.accepts:
            if mine.network != other.network or not same_asset(mine.network, mine.asset, other.asset):
                continue
            if mine.scheme == other.scheme and _differ(mine, other):
                # A call may offer the same asset twice, for example to two payees. It contradicts only if no offer is equal.
                return not any(not _differ(one, other) for one in known.accepts)
    return False


def _differ(one: Offer, other: Offer) -> bool:
    if None not in (one.amount, other.amount) and one.amount != other.amount:
        return True
    return None not in (one.pay_to, other.pay_to) and not same_asset(one.network, one.pay_to, other.pay_to)
