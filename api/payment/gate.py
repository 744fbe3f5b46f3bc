"""The payment gate of one endpoint: its offers, its 402 answers, and which offer a payment pays."""

import contextlib
import itertools
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlsplit

import msgspec

from api.causes import Cause
from api.discovery import bazaar
from api.discovery.listing import MCP_PATH, Listing, resource
from api.errors import problem_of
from api.http import Answer
from api.payment import identifier
from api.payment.binding import Binder
from api.payment.challenge import OPEN, ChallengeForm, channel_state
from api.payment.headers import encode_header
from api.payment.ledger_terms import Channel
from api.payment.match import Match, matched
from api.payment.offer_receipt import Proofs, Signer
from api.payment.rails import ConfiguredRail
from shared.endpoint import Endpoint, Flavour
from shared.money import Price
from shared.x402 import evm_channel_ids
from shared.x402.exact import SCHEME
from shared.x402.networks import Rail
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import X402_VERSION, Challenge, FlatPayment, Offer, Payment, Settlement

log = logging.getLogger(__name__)

MAX_HEAD_BYTES = 8 * 1024
"""Of a 402: its headers altogether. Node refuses more than 16 KB, some proxies 8 KB."""
_OTHER_HEAD_BYTES = 800
"""Of it: the headers that every answer has (api/http.py), and what a server in front may add."""
UNPAID = "payment_required"
_TERMS_BYTES = 100
_LONGEST = Channel(
    balance=10**12,
    claimed=10**12,
    withdraw_at=10**12,
    refund_nonce=10**3,
    charged=10**12,
    inflight=0,
    done_top=10**12,
    top=10**12,
    signature=130 * "0",
)
_LONGEST_REASON = evm_channel_ids.PREFIX + "cumulative_amount_mismatch"


class PaymentGate:
    """Sells one endpoint on the configured rails.

    Args:
        base_url: public address of the API.
        extra_hosts: names of hosts that it has beside that of `base_url`.
        signer: signs offers and receipts. None: nothing is signed.

    Raises:
        ValueError: no rail is left to sell it on, or its challenge does not fit into the headers.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        rails: Sequence[ConfiguredRail],
        base_url: str,
        binder: Binder,
        extra_hosts: Iterable[str] = (),
        signer: Signer | None = None,
    ) -> None:
        self.endpoint = endpoint
        public = urlsplit(base_url)
        self._hosts = {public.hostname, *extra_hosts}
        # A proxy may serve the API below a path, which it removes.
        self._paths = {start + path for start in ("", public.path) for path in (endpoint.path, MCP_PATH)}
        self._binder = binder
        # Channels come last: a client that knows both schemes takes the first one.
        sold = [rail for name in endpoint.rails for rail in rails if rail.rail is name and _sells(rail, endpoint)]
        sold.sort(key=lambda rail: rail.scheme != SCHEME)
        self._rails = tuple(sold)
        self._url = base_url + endpoint.path
        self._proofs = Proofs(signer, self._url)
        # A gate lives as long as the process. The cache is bounded, because reasons may come from a facilitator.
        self._form = lru_cache(maxsize=64)(self._build)
        self._costly: frozenset[Rail] = frozenset()
        self.is_sold = True
        """Whether new payments are taken. Known ones are looked up in any case."""
        self._price()
        for rail in sold:
            rail.health.on_change(self._choose_offers)

    def sell_at(self, price: Price | None) -> None:
        """Sell at another price from now on, or at None no more.

        Raises:
            ValueError: no rail is left to sell it on, a token cannot express the price, or the challenge does not fit into the
                headers. The gate is to get another price then.
        """
        if self.is_sold and price == self.endpoint.price:
            return
        self.is_sold = price is not None
        if price is None:
            self._choose_offers()
        else:
            self.endpoint = replace(self.endpoint, price=price)
            self._price()

    def _price(self) -> None:
        """Make everything that the price is part of."""
        endpoint = self.endpoint
        self._priced = tuple((offer, rail) for rail in self._rails for offer in rail.offers(endpoint.price))
        if not self._priced:
            raise ValueError(f"{endpoint.name}: none of its rails is configured")
        self.listing = Listing(endpoint, self._url, tuple(offer for offer, _ in self._priced))
        """What discovery shows: an offer of every rail, up or down, with what its facilitator has said."""
        self._resource = resource(self.listing)
        self._echoed_resource = msgspec.to_builtins(self._resource)
        self._extensions = {identifier.KEY: identifier.EXTENSION}
        self._offered = tuple(_open(_longest(offer, rail), rail) for offer, rail in self._priced)
        details = bazaar.Detail if endpoint.listed else (None,)
        for signed, detail in itertools.product(range(len(self._offered), -1, -1), details):
            if signed and detail is bazaar.Detail.NOTHING_OF_EITHER:  # indexers need the request more than a signature
                continue
            self._signed_offers = signed
            if detail is not None:
                self._extensions[bazaar.KEY] = bazaar.extension(endpoint, detail)
            if self._head_bytes() <= MAX_HEAD_BYTES:
                break
        if (size := self._head_bytes()) > MAX_HEAD_BYTES:
            raise ValueError(f"{endpoint.name}: the headers of a challenge have {size} bytes, over {MAX_HEAD_BYTES}")
        self._choose_offers()
        self._form.cache_clear()

    @property
    def offered(self) -> tuple[Offer, ...]:
        """What a challenge offers now. It is the same object until that changes."""
        return self._offered

    def rail_of(self, offer: Offer) -> ConfiguredRail:
        """The rail of one of our offers."""
        wanted = (offer.scheme, offer.network, offer.asset)
        return next(rail for priced, rail in self._priced if (priced.scheme, priced.network, priced.asset) == wanted)

    @property
    def has_channels(self) -> bool:
        """Whether the endpoint is sold by channels, too."""
        return any(rail.scheme != SCHEME for _, rail in self._priced)

    def is_worth(self, rail: ConfiguredRail) -> bool:
        """Whether the price is worth a settlement on this rail now, whether or not that is limited."""
        return all(one is not rail or rail.health.costs.is_worth(offer.amount) for offer, one in self._priced)

    @property
    def binds_bodies(self) -> bool:
        """Whether a challenge can be bound to the body of the unpaid request, which is read then."""
        return self._form(UNPAID).has_token

    def described(self, payment: Payment) -> Payment:
        """The payment with our own description of what it pays, for a facilitator that lists calls. What the client echoes of
        it is not signed: it may be missing or forged."""
        extensions = {key: value for key, value in (payment.extensions or {}).items() if key != bazaar.KEY}
        if bazaar.KEY in self._extensions:
            extensions[bazaar.KEY] = self._extensions[bazaar.KEY]
        return msgspec.structs.replace(payment, resource=self._echoed_resource, extensions=extensions)

    def refuse(self, reason: str, body: bytes | None = None) -> Answer:
        """402: a fresh challenge with a reason. Raises Problem when the endpoint is not sold: there is nothing to pay.

        Args:
            body: the body of the refused request, to which the next payment is bound. None or empty binds it to no body.
        """
        if not self.is_sold:
            raise problem_of(Cause.NOT_SOLD)
        if self._proofs.are_outdated:
            self._form.cache_clear()
        return self._answer(self._form(reason), body)

    def correct(self, reason: str, channel_id: bytes, channel: Channel) -> Answer:
        """402: a fresh challenge with what the payer of a channel has to know to sign the next voucher.

        Only a caller whose voucher has the payer's signature may get it.
        """
        stated = channel_state(channel_id, channel)
        offers = tuple(
            msgspec.structs.replace(offer, extra={**offer.extra, **stated}) if offer.scheme != SCHEME else offer
            # Of what is not sold any more, too: with it a payer gets the rest of his channel back.
            for offer in self._offered or self.listing.offers
        )
        # Who pays already needs no description of the endpoint, and headers are to stay short.
        extensions = {identifier.KEY: identifier.EXTENSION}
        challenge = Challenge(error=reason, resource=self._resource, accepts=offers, extensions=extensions)
        return self._answer(ChallengeForm(challenge, self.endpoint.flavour), None)

    def _answer(self, form: ChallengeForm, body: bytes | None) -> Answer:
        if not form.has_token:
            return form.answer("")
        return form.answer(self._binder.token(self.endpoint.name, body, int(time.time())))

    def match(self, presented: Payment | FlatPayment) -> Match:
        """Find the offer that a payment pays, or may have paid at an earlier price.

        Raises:
            PaymentRefused: ``no_matching_offer``, or ``resource_mismatch`` when it names another call.
        """
        if isinstance(presented, Payment):
            self._require_this_resource(presented)
            for offer, rail in self._current:
                if rail.verifier.matches(offer, presented.accepted):
                    return matched(offer, rail, presented, is_current=True)
            return self._earlier(presented)
        for offer, rail in self._current:
            # A payment names its token in `accepted`, which a flat payment does not have.
            if not rail.verifier.TOKEN_KEY and (presented.scheme, presented.network) == (offer.scheme, offer.network):
                return Match(offer, rail, Payment(x402_version=X402_VERSION, accepted=offer, payload=presented.payload))
        raise PaymentRefused("no_matching_offer")

    def _earlier(self, presented: Payment) -> Match:
        accepted = presented.accepted
        for offer, rail in self._priced:
            terms = {key: accepted.extra[key] for key in rail.verifier.TERMS if key in accepted.extra}
            once = msgspec.structs.replace(
                offer, amount=accepted.amount, pay_to=accepted.pay_to, extra={**offer.extra, **terms}
            )
            if rail.verifier.matches(once, accepted) and rail.verifier.is_payable(once):
                return matched(once, rail, presented, is_current=False)
        raise PaymentRefused("no_matching_offer")

    def match_flat(self, presented: FlatPayment, prices: Iterable[Price]) -> Match:
        """Find the earlier price that a flat payment, which does not say it, is signed for. Raises PaymentRefused."""
        for offer, rail in self._at(prices):
            if not rail.verifier.TOKEN_KEY and (presented.scheme, presented.network) == (offer.scheme, offer.network):
                payment = Payment(x402_version=X402_VERSION, accepted=offer, payload=presented.payload)
                match = Match(offer, rail, payment, is_current=False)
                with contextlib.suppress(PaymentRefused):
                    match.check()
                    return match
        raise PaymentRefused("no_matching_offer")

    def is_at(self, prices: Iterable[Price], match: Match) -> bool:
        """Whether the offer that a payment pays is ours at one of these prices."""
        accepted = match.payment.accepted
        return any(rail is match.rail and rail.verifier.matches(offer, accepted) for offer, rail in self._at(prices))

    def _at(self, prices: Iterable[Price]) -> Iterator[tuple[Offer, ConfiguredRail]]:
        """The offers at these prices that can be paid now."""
        for rail in self._rails:
            for offer in (offer for price in prices for offer in rail.offers(price)):
                if completed := rail.verifier.completed(offer, rail.health.terms):
                    yield completed, rail

    def declined(self, reason: str, settlement: Settlement) -> Answer:
        """402 after a settlement that failed for good: a fresh challenge and the failed receipt."""
        answer = self.refuse(reason)
        return Answer(answer.status, (*answer.headers, *self.receipt(msgspec.json.encode(settlement))), answer.body)

    def receipt(
        self, settlement: bytes, *, older: bool = False, is_delivered: bool = False
    ) -> tuple[tuple[bytes, bytes], ...]:
        """The receipt headers of a settlement given as JSON.

        Args:
            older: the payment came in X-PAYMENT.
            is_delivered: the call is answered, which a signed receipt says.
        """
        encoded = encode_header(self._proofs.delivered(settlement) if is_delivered else settlement)
        headers: tuple[tuple[bytes, bytes], ...] = ((b"payment-response", encoded),)
        if older or self.endpoint.flavour is Flavour.OLDER:
            headers += ((b"x-payment-response", encoded),)
        return headers

    def _choose_offers(self) -> None:
        """Offer only the rails that are to be offered from now on, where the price is worth its settlement; or all when there
        is none: a challenge has at least one."""
        completed = [(rail.verifier.completed(offer, rail.health.terms), rail) for offer, rail in self._priced]
        self._current = tuple((offer, rail) for offer, rail in completed if offer is not None and self.is_sold)
        # What a channel is without its terms, nobody can use.
        shown = [
            (offer or priced, rail)
            for (offer, rail), (priced, _) in zip(completed, self._priced, strict=True)
            if offer or rail.scheme == SCHEME
        ]
        self.listing = replace(self.listing, offers=tuple(offer for offer, _ in shown))
        if self.is_sold:
            self._note_costs()
        offered = [_open(offer, rail) for offer, rail in self._current if rail.is_offered and rail.allows(offer)]
        exact = [(offer, rail) for offer, rail in self._priced if rail.scheme == SCHEME]
        chosen = tuple(offered) or tuple(_open(offer, rail) for offer, rail in exact if self.is_sold)
        if chosen != self._offered:
            self._offered = chosen
            self._form.cache_clear()

    def _note_costs(self) -> None:
        """Write one line each time a rail is left out for its costs, or is back."""
        costly = {rail.rail: (rail.health.costs.cost, offer) for offer, rail in self._priced if not rail.allows(offer)}
        for name in costly.keys() - self._costly:
            cost, offer = costly[name]
            why = f"a settlement costs {cost} of its {offer.amount} atomic units"
            log.warning("%s is not offered on %s: %s", self.endpoint.name, name, why)
        for name in self._costly - costly.keys():
            log.warning("%s is offered on %s again: its settlement costs less", self.endpoint.name, name)
        self._costly = frozenset(costly)

    def _build(self, reason: str) -> ChallengeForm:
        extensions = self._extensions | self._proofs.of_offers(self._offered[: self._signed_offers])
        challenge = Challenge(error=reason, resource=self._resource, accepts=self._offered, extensions=extensions)
        return ChallengeForm(challenge, self.endpoint.flavour)

    def _head_bytes(self) -> int:
        """The length of all headers, with what facilitators may add to the offers."""
        answers = [self._build(UNPAID).answer(OPEN)]
        if self.has_channels:
            answers.append(self.correct(_LONGEST_REASON, bytes(32), _LONGEST))
        own = (sum(len(name) + len(value) + len(": \r\n") for name, value in answer.headers) for answer in answers)
        return _OTHER_HEAD_BYTES + _TERMS_BYTES + max(own)

    def _require_this_resource(self, payment: Payment) -> None:
        # The address is not signed and proves nothing, but a client that means another call should not be charged.
        url = (payment.resource or {}).get("url")
        if url is None:
            return
        try:
            parts = urlsplit(url if isinstance(url, str) else "")
            host = parts.hostname
        except ValueError:
            raise PaymentRefused("resource_mismatch") from None
        # Some clients send the path alone.
        is_ours = host in self._hosts or not (host or parts.scheme)
        if not is_ours or parts.path.removesuffix("/") not in self._paths:
            raise PaymentRefused("resource_mismatch")


def _sells(rail: ConfiguredRail, endpoint: Endpoint) -> bool:
    """Answers that hold secrets are sealed with the payment's signature, and a voucher's becomes public when it is claimed."""
    return rail.scheme == SCHEME or not endpoint.holds_secret


def _longest(offer: Offer, rail: ConfiguredRail) -> Offer:
    """The offer with the longest terms that a channel may have."""
    if rail.scheme == SCHEME:
        return offer
    terms = {"receiverAuthorizer": "0x" + 40 * "0", "withdrawDelay": 10**6, "minDeposit": str(10**9)}
    return msgspec.structs.replace(offer, extra={**offer.extra, **terms})


def _open(offer: Offer, rail: ConfiguredRail) -> Offer:
    """The offer with a place for a token, if the rail has tokens."""
    if not (key := rail.verifier.TOKEN_KEY):
        return offer
    return msgspec.structs.replace(offer, extra={**offer.extra, key: OPEN})
