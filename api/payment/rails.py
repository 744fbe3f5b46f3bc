"""The rails that this installation sells on: what the pipeline needs of each, whatever the chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from api.payment.facilitator import Facilitator
from api.payment.health import Health
from shared.money import Price
from shared.secret_files import read_headers
from shared.settings import InvalidSetting, Settings
from shared.x402 import evm
from shared.x402.authorization import Authorization
from shared.x402.networks import Rail
from shared.x402.wire import Offer


@dataclass(frozen=True, slots=True)
class ConfiguredRail:
    """One rail with its recipient and its facilitator.

    Attributes:
        asset: network and asset of its offers.
        offers: what a price costs on this rail, as the catalogue says it.
        completed: an offer with what only its facilitator knows, as it is in a challenge; None while that is not known.
        terms: the keys of `extra` that this concerns.
        token_key: the key of `extra` that carries the token which binds a payment to its request; "" on a network whose
            payments can carry none.
        token_reason: why a payment with another token is refused.
        matches: whether the client's `accepted` is our offer.
        is_payable: whether an offer has the form that `check` relies on. Ours do.
        check: the static verifier; raises Refused.
    """

    rail: Rail
    asset: tuple[str, str]
    offers: Callable[[Price], tuple[Offer, ...]]
    matches: Callable[[Offer, Offer], bool]
    is_payable: Callable[[Offer], bool]
    check: Callable[[Offer, dict[str, Any]], Authorization]
    facilitator: Facilitator
    health: Health
    completed: Callable[[Offer, dict[str, Any]], Offer | None] = lambda offer, _: offer
    terms: tuple[str, ...] = ()
    token_key: str = ""
    token_reason: str = ""

    @property
    def is_up(self) -> bool:
        """Whether a new payment may be made on it. A known one is looked up, driven and answered whatever this says."""
        return self.health.is_up

    async def start(self) -> None:
        """Connect and begin to watch, on the running event loop."""
        await self.facilitator.start()
        self.health.start()

    async def stop(self) -> None:
        """Stop watching and disconnect."""
        await self.health.stop()
        await self.facilitator.stop()


def configured_rails(settings: Settings) -> tuple[ConfiguredRail, ...]:
    """The rails that have a recipient. One that is not configured is simply not offered.

    Raises:
        InvalidSetting: none is configured, one names a network that we know no token on, or its headers cannot be read.
    """
    if not settings.evm_pay_to:
        raise InvalidSetting("no rail is configured: set COINSLOT_EVM_PAY_TO to the address that is to be paid")
    try:
        token = evm.token_on(settings.evm_network)
    except KeyError:
        raise InvalidSetting(f"COINSLOT_EVM_NETWORK: no USDC contract is known on {settings.evm_network}") from None
    facilitator = Facilitator(
        settings.evm_facilitator_url,
        settle_timeout_s=settings.settle_timeout_s,
        headers=read_headers(settings.evm_facilitator_headers_file),
    )
    return (
        ConfiguredRail(
            rail=Rail.BASE,
            asset=(token.network, token.address),
            offers=partial(evm.offers, token, pay_to=settings.evm_pay_to),
            matches=evm.matches,
            is_payable=evm.is_payable,
            check=evm.check,
            facilitator=facilitator,
            health=Health(Rail.BASE, facilitator, scheme=evm.SCHEME, network=token.network),
        ),
    )
