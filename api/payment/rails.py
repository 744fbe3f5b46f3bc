"""The rails that this installation sells on: what the pipeline needs of each, whatever the chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from api.payment.facilitator import Facilitator
from shared.money import Price
from shared.settings import InvalidSetting, Settings
from shared.x402 import evm
from shared.x402.networks import Rail
from shared.x402.wire import Offer


@dataclass(frozen=True, slots=True)
class ConfiguredRail:
    """One rail with its recipient and its facilitator.

    Attributes:
        asset: network and asset of its offers.
        offers: what a price costs on this rail.
        matches: whether the client's `accepted` is our offer.
        check: the static verifier; raises Refused.
    """

    rail: Rail
    asset: tuple[str, str]
    offers: Callable[[Price], tuple[Offer, ...]]
    matches: Callable[[Offer, Offer], bool]
    check: Callable[[Offer, dict[str, Any]], evm.Authorization]
    facilitator: Facilitator


def configured_rails(settings: Settings) -> tuple[ConfiguredRail, ...]:
    """The rails that have a recipient. One that is not configured is simply not offered.

    Raises:
        InvalidSetting: none is configured, or one names a network that we know no token on.
    """
    if not settings.evm_pay_to:
        raise InvalidSetting("no rail is configured: set COINSLOT_EVM_PAY_TO to the address that is to be paid")
    try:
        token = evm.token_on(settings.evm_network)
    except KeyError:
        raise InvalidSetting(f"COINSLOT_EVM_NETWORK: no USDC contract is known on {settings.evm_network}") from None
    return (
        ConfiguredRail(
            rail=Rail.BASE,
            asset=(token.network, token.address),
            offers=partial(evm.offers, token, pay_to=settings.evm_pay_to),
            matches=evm.matches,
            check=evm.check,
            facilitator=Facilitator(settings.evm_facilitator_url, settle_timeout_s=settings.settle_timeout_s),
        ),
    )
