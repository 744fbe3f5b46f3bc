"""The till of one endpoint: its offers, its 402 answers (built at start-up, and when a rail goes down or comes back), and
which offer a payment pays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from api.discovery import bazaar
from api.discovery.listing import Listing
from api.discovery.resource import resource
from api.http import Answer
from api.payment import identifier
from api.payment.headers import encode_header
from api.payment.rails import ConfiguredRail
from shared.endpoint import Endpoint, Flavour
from shared.x402.authorization import Authorization
from shared.x402.refusal import Refused
from shared.x402.wire import X402_VERSION, Challenge, FlatPayment, Offer, Payment, Settlement

MAX_CHALLENGE_HEADER_BYTES = 8 * 1024
"""Node refuses more than 16 KB of headers altogether, some proxies 8 KB."""

_UNPAID = "payment_required"


@dataclass(frozen=True, slots=True)
class Match:
    """A payment beside the offer that it pays.

    Attributes:
        offer: ours, never the client's copy of it.
        payment: in v2 shape, around our offer.
        is_current: False when amount or recipient are another than today's. Whether they were ours is for the ledger to say,
            and even then the payment buys nothing new: it only brings what was begun to its end.
    """

    offer: Offer
    rail: ConfiguredRail
    payment: Payment
    is_current: bool = True

    def check(self) -> Authorization:
        """Whether it is signed as it must be. Raises Refused."""
        try:
            return self.rail.check(self.offer, self.payment.payload)
        except Refused:
            if self.is_current:
                raise
            raise Refused("no_matching_offer") from None


class Till:
    """Sells one endpoint on the configured rails.

    Args:
        base_url: public address of the API.

    Raises:
        ValueError: no rail is left to sell it on, or its challenge does not fit into a header.
    """

    def __init__(self, endpoint: Endpoint, rails: Sequence[ConfiguredRail], base_url: str) -> None:
        self.endpoint = endpoint
        self._priced = tuple(
            (offer, rail)
            for name in endpoint.rails
            for rail in rails
            if rail.rail is name
            for offer in rail.offers(endpoint.price)
        )
        if not self._priced:
            raise ValueError(f"{endpoint.name}: none of its rails is configured")
        self.listing = Listing(endpoint, base_url + endpoint.path, tuple(offer for offer, _ in self._priced))
        self._resource = resource(self.listing)
        self._extensions = {identifier.KEY: identifier.EXTENSION}
        if endpoint.listed:
            self._extensions[bazaar.KEY] = bazaar.extension(endpoint)
        # A till lives as long as the process. Reasons may come from a facilitator, hence the bound.
        self._built = lru_cache(maxsize=64)(self._challenge)
        self._is_offered = (True,) * len(self._priced)
        self.unpaid = self.refuse(_UNPAID)
        size = max(len(value) for _, value in self.unpaid.headers)
        if size > MAX_CHALLENGE_HEADER_BYTES:
            raise ValueError(
                f"{endpoint.name}: a challenge header of {size} bytes is over {MAX_CHALLENGE_HEADER_BYTES}"
            )

        for health in {rail.rail: rail.health for _, rail in self._priced}.values():
            health.on_change(self._offer_what_is_up)
        self._offer_what_is_up()

    def refuse(self, reason: str) -> Answer:
        """402: a fresh challenge with a reason."""
        return self._built(reason, self._is_offered)

    def match(self, presented: Payment | FlatPayment) -> Match:
        """Find the offer that a payment pays, or may have paid when the price was another one.

        Raises:
            Refused: ``no_matching_offer``, or ``resource_mismatch`` when it names another call.
        """
        if isinstance(presented, Payment):
            self._require_this_resource(presented)
            for offer, rail in self._priced:
                if rail.matches(offer, presented.accepted):
                    return Match(offer, rail, msgspec.structs.replace(presented, accepted=offer))
            return self._earlier(presented)
        for offer, rail in self._priced:
            if presented.scheme == offer.scheme and presented.network == offer.network:
                return Match(offer, rail, Payment(x402_version=X402_VERSION, accepted=offer, payload=presented.payload))
        raise Refused("no_matching_offer")

    def _earlier(self, presented: Payment) -> Match:
        accepted = presented.accepted
        for offer, rail in self._priced:
            once = msgspec.structs.replace(offer, amount=accepted.amount, pay_to=accepted.pay_to)
            if rail.matches(once, accepted) and rail.is_payable(once):
                return Match(once, rail, msgspec.structs.replace(presented, accepted=once), is_current=False)
        raise Refused("no_matching_offer")

    def declined(self, reason: str, settlement: Settlement) -> Answer:
        """402 after a settlement that failed for good: a fresh challenge and the failed receipt."""
        answer = self.refuse(reason)
        return Answer(answer.status, (*answer.headers, *self.receipt(msgspec.json.encode(settlement))), answer.body)

    def receipt(self, settlement: bytes, *, older: bool = False) -> tuple[tuple[bytes, bytes], ...]:
        """The receipt headers of a settlement given as JSON.

        Args:
            older: the payment came in X-PAYMENT.
        """
        encoded = encode_header(settlement)
        headers: tuple[tuple[bytes, bytes], ...] = ((b"payment-response", encoded),)
        if older or self.endpoint.flavour is Flavour.OLDER:
            headers += ((b"x-payment-response", encoded),)
        return headers

    def _offer_what_is_up(self) -> None:
        """From now on: offers on rails that are up. A challenge offers something, so when none is, it offers all."""
        is_up = tuple(rail.is_up for _, rail in self._priced)
        self._is_offered = is_up if any(is_up) else (True,) * len(is_up)
        self.unpaid = self.refuse(_UNPAID)

    def _challenge(self, reason: str, is_offered: tuple[bool, ...]) -> Answer:
        """The challenge, with a reason, in the body and in every header of the flavour."""
        offers = tuple(itertools.compress(self.listing.offers, is_offered))
        challenge = Challenge(error=reason, resource=self._resource, accepts=offers, extensions=self._extensions)
        body = msgspec.json.encode(challenge)
        headers = [(b"content-type", b"application/json"), (b"payment-required", encode_header(body))]
        if self.endpoint.flavour is not Flavour.NEWER:
            # The same challenge without its extensions: twice the whole would be more than some clients read.
            short = msgspec.json.encode(msgspec.structs.replace(challenge, extensions={}))
            headers.append((b"www-authenticate", b"X402 " + encode_header(short)))
        return Answer(402, tuple(headers), body)

    def _require_this_resource(self, payment: Payment) -> None:
        # Not signed, so no proof; but a client that means another call is better told than charged.
        url = (payment.resource or {}).get("url")
        if url is None:
            return
        path = url.split("?")[0].split("#")[0].rstrip("/") if isinstance(url, str) else ""
        if not path.endswith(self.endpoint.path):
            raise Refused("resource_mismatch")
