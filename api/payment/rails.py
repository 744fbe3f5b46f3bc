"""The rails that this installation sells on: what the pipeline needs of each, whatever the chain."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from api.payment.answers import BazaarStatus
from api.payment.facilitator import Facilitator
from api.payment.health import Health
from api.payment.listing import ListingFacilitator
from api.payment.unsettled import Declined, NotSent, Unsettled
from shared.ledger.listing import LISTING
from shared.money import Price
from shared.networks import NETWORKS, Network
from shared.observability.metrics import metrics
from shared.settings.cdp_key import read_cdp_key
from shared.settings.rails import EvmRailSettings, RailSettings, XrplRailSettings, configured_token
from shared.settings.secret_files import read_headers
from shared.settings.service import PREFIX, InvalidSetting, Settings
from shared.x402 import evm
from shared.x402.authorization import Authorization
from shared.x402.evm_channel import Voucher
from shared.x402.exact import SCHEME
from shared.x402.networks import Rail, Token
from shared.x402.settlement_cost import TOO_COSTLY
from shared.x402.verifiers import RailVerifier, verifier_of
from shared.x402.wire import Offer, Payment, Settlement

_SOME_PRICE = Price.of("0.001")


@dataclass(frozen=True, slots=True)
class ConfiguredRail:
    """One rail with its recipient and its facilitator.

    Attributes:
        verifier: judges payments on it, offline.
        scheme: of its offers.
        listing: gets a payment of each call now and then, in place of `facilitator`.
        factories: contracts that may deploy a wallet with its first payment; none where that is refused.
        token: what it is paid with.
        pay_to: who is paid.
    """

    rail: Rail
    verifier: RailVerifier
    token: Token
    pay_to: str
    facilitator: Facilitator
    health: Health
    scheme: str = SCHEME
    listing: ListingFacilitator | None = None
    factories: frozenset[str] = frozenset()

    def check(self, offer: Offer, payload: dict[str, Any]) -> Authorization:
        """What was signed, where it pays the offer. Raises PaymentRefused."""
        if self.factories:
            return evm.check(offer, payload, self.factories)
        return self.verifier.check(offer, payload)

    def offers(self, price: Price) -> tuple[Offer, ...]:
        """What a price costs on this rail, as the catalogue says it. Raises ExcessPrecision."""
        return self.verifier.offers(self.token, price, self.pay_to)

    def tokens(self, offer: Offer) -> float:
        """What an offer asks for, in whole tokens."""
        return float(Decimal(offer.amount).scaleb(-self.token.decimals))

    def whole(self, atomic: int) -> str:
        """Atomic units in whole tokens, exactly."""
        return f"{Decimal(atomic).scaleb(-self.token.decimals):f}"

    def allows(self, offer: Offer) -> bool:
        """Whether its settlement costs no more of the offer than it may."""
        return self.health.costs.allows(offer.amount)

    async def settle(
        self,
        payment: Payment,
        offer: Offer,
        *,
        payer: str,
        facilitator: str = "",
        on_status: Callable[[BazaarStatus], None] = lambda status: None,
    ) -> Settlement:
        """Have a facilitator settle a payment, and count how long that took. Raises Unsettled.

        Args:
            facilitator: as the payment's record has it. Without the setting, the rail's own takes also the payments of LISTING.
            on_status: see Facilitator.
        """
        began, result = time.monotonic(), "unknown"
        settles = self.listing.facilitator if self.listing and facilitator == LISTING else self.facilitator
        try:
            settlement = await settles.settle(payment, offer, payer=payer, on_status=on_status)
            result = "settled"
            return settlement
        except Unsettled as failure:
            result = {NotSent: "not_sent", Declined: "declined"}.get(type(failure), result)
            if isinstance(failure, Declined) and failure.reason == TOO_COSTLY:
                self.health.ask_soon()
            raise
        finally:
            metrics.settle(self.rail, result, time.monotonic() - began)

    @property
    def asset(self) -> tuple[str, str]:
        """Network and asset of its offers."""
        offer = self.offers(_SOME_PRICE)[0]
        return offer.network, offer.asset

    @property
    def is_up(self) -> bool:
        """Whether a new payment may be made on it. A known payment is driven and answered also while the rail is down."""
        return self.health.is_up

    def takes(self, authorization: Authorization) -> bool:
        """Whether this new payment may be made on it. A voucher needs no facilitator, but somebody who claims."""
        is_held = self.health.is_held_for(authorization.payer)
        return not is_held and (isinstance(authorization, Voucher) or self.is_up)

    @property
    def is_offered(self) -> bool:
        """Whether challenges offer it: while it is up, and for some seconds after its facilitator has begun to fail."""
        return self.health.is_offered

    async def start(self) -> None:
        """Connect and begin to watch, on the running event loop."""
        await self.facilitator.start()
        if self.listing:
            await self.listing.facilitator.start()
        self.health.start()

    async def stop(self) -> None:
        """Stop watching and disconnect."""
        await self.health.stop()
        await self.facilitator.stop()
        if self.listing:
            await self.listing.facilitator.stop()


def configured_rails(settings: Settings) -> tuple[ConfiguredRail, ...]:
    """The rails that have a recipient. The others are not offered.

    Raises:
        InvalidSetting: no rail has a recipient; or on one of them no token is known, the recipient is no address, or the
            headers or the key for the facilitator cannot be read.
    """
    rails = tuple(
        _configured(rail, network, settings)
        for network in NETWORKS.values()
        for rail in network.tokens
        if _has_recipient(rail, settings.rails[network.name])
    )
    if not rails:
        raise InvalidSetting("no rail is configured: set COINSLOT_EVM_PAY_TO to the address that is to be paid")
    if len({configured.asset for configured in rails}) < len(rails):
        raise InvalidSetting("COINSLOT_EVM_NETWORK is Ethereum already: leave out COINSLOT_ETHEREUM_PAY_TO")
    return rails


def _has_recipient(rail: Rail, own: RailSettings) -> bool:
    if isinstance(own, XrplRailSettings) and rail.removeprefix("xrpl-") not in own.tokens.split(","):
        return False
    return bool(own.pay_to)


def _configured(rail: Rail, network: Network, settings: Settings) -> ConfiguredRail:
    """A rail with a separate facilitator client, so that two rails with one facilitator fail independently."""
    own = settings.rails[network.name]
    verifier = verifier_of(own.network)
    facilitator = facilitator_of(own, settings.settle_timeout_s + verifier.MORE_SETTLE_S)
    configured = ConfiguredRail(
        rail=rail,
        verifier=verifier,
        token=configured_token(network.tokens[rail], own.network, network.name),
        pay_to=own.pay_to,
        facilitator=facilitator,
        health=Health(rail, facilitator, scheme=SCHEME, network=own.network, cost_share=settings.cost_share),
        listing=_listing(own, settings.settle_timeout_s),
        factories=own.factories if isinstance(own, EvmRailSettings) else frozenset(),
    )
    _require_payable(configured, f"{PREFIX}{network.name.upper()}_PAY_TO")
    return configured


def _listing(own: RailSettings, settle_timeout_s: float) -> ListingFacilitator | None:
    """The listing facilitator, where the settings name one. Raises InvalidSetting."""
    if not isinstance(own, EvmRailSettings) or not own.listing_facilitator_url:
        return None
    if own.listing_facilitator_url.rstrip("/") == own.facilitator_url.rstrip("/"):
        raise InvalidSetting(
            "COINSLOT_EVM_LISTING_FACILITATOR_URL is the facilitator of all payments already: leave it out"
        )
    facilitator = Facilitator(
        own.listing_facilitator_url,
        settle_timeout_s=settle_timeout_s,
        headers=read_headers(own.listing_facilitator_headers_file),
        cdp_key=read_cdp_key(own.listing_facilitator_cdp_key_file),
    )
    return ListingFacilitator(facilitator, own.network)


def facilitator_of(own: RailSettings, settle_timeout_s: float) -> Facilitator:
    """A client of a rail's facilitator. Raises InvalidSetting when its headers or its key cannot be read."""
    return Facilitator(
        own.facilitator_url,
        settle_timeout_s=settle_timeout_s,
        headers=read_headers(own.facilitator_headers_file),
        cdp_key=read_cdp_key(own.facilitator_cdp_key_file),
    )


def _require_payable(configured: ConfiguredRail, setting: str) -> None:
    verifier = configured.verifier
    for offer in configured.offers(_SOME_PRICE):
        # Any address can stand for what the facilitator will say.
        completed = verifier.completed(offer, dict.fromkeys(verifier.TERMS, offer.asset))
        if completed is None or not verifier.is_payable(completed):
            raise InvalidSetting(f"{setting} is not an address: its checksum is wrong")
