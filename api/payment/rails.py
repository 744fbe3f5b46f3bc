"""The rails that this installation sells on: what the pipeline needs of each, whatever the chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from api.payment.facilitator import Facilitator
from api.payment.health import Health
from shared.money import Price
from shared.rail_settings import EvmRailSettings, RailSettings
from shared.secret_files import read_headers
from shared.settings import PREFIX, InvalidSetting, Settings
from shared.x402 import evm, solana, stellar, xrpl
from shared.x402.authorization import Authorization
from shared.x402.networks import EVM_USDC, SOLANA_USDC, STELLAR_USDC, XRPL_RLUSD, XRPL_USDC, Rail
from shared.x402.wire import Offer

T = TypeVar("T")

LEDGERS_S = 6.0
"""A payment is in the next ledger or in the one after it, and both networks take 3 to 6 s for each."""
_SOME_PRICE = Price.of("0.001")


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
        InvalidSetting: none is configured, one names a network that we know no token on, its recipient is no address there,
            or its headers cannot be read.
    """
    rails = (*_evm(settings), *_ethereum(settings), *_solana(settings), *_stellar(settings), *_xrpl(settings))
    if not rails:
        raise InvalidSetting("no rail is configured: set COINSLOT_EVM_PAY_TO to the address that is to be paid")
    return rails


def _evm(settings: Settings) -> Iterator[ConfiguredRail]:
    if settings.evm.pay_to:
        yield _evm_rail(Rail.BASE, "evm", settings.evm, settings)


def _ethereum(settings: Settings) -> Iterator[ConfiguredRail]:
    if not settings.ethereum.pay_to:
        return
    if settings.evm.pay_to and settings.evm.network == settings.ethereum.network:
        raise InvalidSetting("COINSLOT_EVM_NETWORK is Ethereum already: leave out COINSLOT_ETHEREUM_PAY_TO")
    yield _evm_rail(Rail.ETHEREUM, "ethereum", settings.ethereum, settings)


def _evm_rail(rail: Rail, prefix: str, own: EvmRailSettings, settings: Settings) -> ConfiguredRail:
    token = _known(EVM_USDC, own.network, prefix)
    return ConfiguredRail(
        asset=(token.network, token.address),
        offers=partial(evm.offers, token, pay_to=own.pay_to),
        matches=evm.matches,
        is_payable=evm.is_payable,
        check=evm.check,
        **_settled_by(rail, own, settings),
    )


def _solana(settings: Settings) -> Iterator[ConfiguredRail]:
    if not settings.solana.pay_to:
        return
    token = _known(SOLANA_USDC, settings.solana.network, "solana")
    offers = partial(solana.offers, token, pay_to=settings.solana.pay_to)
    completed = (solana.with_fee_payer(offer, {"feePayer": token.mint}) for offer in offers(_SOME_PRICE))
    _require(all(offer is not None and solana.is_payable(offer) for offer in completed), "solana")
    yield ConfiguredRail(
        asset=(token.network, token.mint),
        offers=offers,
        matches=solana.matches,
        is_payable=solana.is_payable,
        check=solana.check,
        completed=solana.with_fee_payer,
        terms=("feePayer",),
        token_key=solana.TOKEN_KEY,
        token_reason="invalid_exact_svm_payload_memo_mismatch",  # noqa: S106  # a reason
        **_settled_by(Rail.SOLANA, settings.solana, settings),
    )


def _stellar(settings: Settings) -> Iterator[ConfiguredRail]:
    if not settings.stellar.pay_to:
        return
    token = _known(STELLAR_USDC, settings.stellar.network, "stellar")
    offers = partial(stellar.offers, token, pay_to=settings.stellar.pay_to)
    _require(all(stellar.is_payable(offer) for offer in offers(_SOME_PRICE)), "stellar")
    yield ConfiguredRail(
        asset=(token.network, token.contract),
        offers=offers,
        matches=stellar.matches,
        is_payable=stellar.is_payable,
        check=stellar.check,
        **_settled_by(Rail.STELLAR, settings.stellar, settings, more_s=LEDGERS_S),
    )


def _xrpl(settings: Settings) -> Iterator[ConfiguredRail]:
    for rail, name, tokens in ((Rail.XRPL_USDC, "usdc", XRPL_USDC), (Rail.XRPL_RLUSD, "rlusd", XRPL_RLUSD)):
        if not settings.xrpl.pay_to or name not in settings.xrpl.tokens.split(","):
            continue
        token = _known(tokens, settings.xrpl.network, "xrpl")
        offers = partial(xrpl.offers, token, pay_to=settings.xrpl.pay_to)
        _require(all(xrpl.is_payable(offer) for offer in offers(_SOME_PRICE)), "xrpl")
        yield ConfiguredRail(
            asset=(token.network, token.currency),
            offers=offers,
            matches=xrpl.matches,
            is_payable=xrpl.is_payable,
            check=xrpl.check,
            token_key=xrpl.TOKEN_KEY,
            token_reason="invalid_exact_xrpl_payload_invoice_id_mismatch",  # noqa: S106  # a reason
            **_settled_by(rail, settings.xrpl, settings, more_s=LEDGERS_S),
        )


def _settled_by(rail: Rail, own: RailSettings, settings: Settings, *, more_s: float = 0.0) -> dict[str, Any]:
    """A facilitator client of its own, even where two rails name one facilitator: a rail's troubles are not another's.

    Args:
        more_s: that a settlement may take longer than on the other networks.
    """
    facilitator = Facilitator(
        own.facilitator_url,
        settle_timeout_s=settings.settle_timeout_s + more_s,
        headers=read_headers(own.facilitator_headers_file),
    )
    health = Health(rail, facilitator, scheme=evm.SCHEME, network=own.network)
    return {"rail": rail, "facilitator": facilitator, "health": health}


def _known(tokens: Mapping[str, T], network: str, prefix: str) -> T:
    try:
        return tokens[network]
    except KeyError:
        raise InvalidSetting(f"{PREFIX}{prefix.upper()}_NETWORK: no token is known on {network}") from None


def _require(is_address: bool, prefix: str) -> None:
    if not is_address:
        raise InvalidSetting(f"{PREFIX}{prefix.upper()}_PAY_TO is not an address: its checksum is wrong")
