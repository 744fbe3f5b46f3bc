"""Recommends what a wallet lacks, and how much of it."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from jobs.engines.evm.address import short
from jobs.engines.evm.quantity import ether, formatted
from jobs.fields import doc
from jobs.ports.chains import CHAIN_NAMES, Chain

GAS_UNITS = 100_000
"""A transfer of tokens, or a small swap."""
HEADROOM = 2
FLOOR_WEI: dict[Chain, int] = {"base": 20_000_000_000_000, "ethereum": 1_000_000_000_000_000}
"""0.00002 and 0.001 ETH: prices of gas multiply within minutes."""
DUST_ATOMIC = 10_000
"""0.01 USDC: less pays for few calls of anything."""
USDC_DECIMALS = 6
FIRST_USDC = 1_000_000
"""The amount that an empty wallet is recommended to get."""

Code = Literal[
    "add_gas",
    "add_usdc",
    "top_up_usdc",
    "usdc_blacklisted",
    "usdc_paused",
    "contract_wallet",
    "delegated_account",
    "unused_wallet",
    "ready",
]


class Recommendation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing to do, or to know."""

    code: Annotated[Code, doc("What to do, as a code. `ready` when there is nothing to do.")]
    message: Annotated[str, doc("What to do, in words.")]
    asset: Annotated[
        Literal["ETH", "USDC"] | None, doc("What to send to the wallet. Null when nothing is to be sent.")
    ] = None
    amount: Annotated[
        str | None, doc("How much to send at least, in whole units. Null when nothing is to be sent.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wallet:
    """The state of a wallet on the chain.

    Attributes:
        wei: ether. `atomic`: USDC.
        is_contract: it has code, and is not delegated.
        delegate: the contract whose code it runs (EIP-7702).
    """

    chain: Chain
    wei: int
    atomic: int
    nonce: int
    min_gas_wei: int
    is_contract: bool
    delegate: str | None
    is_blacklisted: bool | None
    is_paused: bool | None

    @property
    def low_gas(self) -> bool:
        """Whether it may be too little for the next transaction."""
        return self.wei < self.min_gas_wei

    @property
    def usdc_empty(self) -> bool:
        """Whether it has no USDC."""
        return self.atomic == 0

    @property
    def usdc_dust(self) -> bool:
        """Whether it has some USDC, and too little."""
        return 0 < self.atomic < DUST_ATOMIC

    @property
    def ready(self) -> bool:
        """Whether it can pay, for gas and in USDC."""
        return self.ready_for_x402 and not self.low_gas

    @property
    def ready_for_x402(self) -> bool:
        """Whether it can pay in USDC by x402, which needs no gas."""
        return not (self.usdc_empty or self.usdc_dust or self.is_blacklisted or self.is_paused)


def min_gas_wei(chain: Chain, gas_price: int, l1_fee: int | None) -> int:
    """The wei below which gas is low."""
    return max(FLOOR_WEI[chain], HEADROOM * (GAS_UNITS * gas_price + (l1_fee or 0)))


def recommendations(wallet: Wallet) -> list[Recommendation]:
    """What to do, the worst first; `ready` when there is nothing."""
    found = [*_blocked(wallet), *_gas(wallet), *_usdc(wallet), *_kind(wallet)]
    if wallet.ready:
        found.insert(0, Recommendation(code="ready", message="The wallet has ether for gas and USDC to pay with."))
    return found


def _blocked(wallet: Wallet) -> list[Recommendation]:
    found = []
    if wallet.is_blacklisted:
        message = "Circle has blacklisted this address: its USDC cannot move, and it can get none. Use another wallet."
        found.append(Recommendation(code="usdc_blacklisted", message=message))
    if wallet.is_paused:
        message = f"USDC is paused on {CHAIN_NAMES[wallet.chain]}: nobody can move any. Wait."
        found.append(Recommendation(code="usdc_paused", message=message))
    return found


def _gas(wallet: Wallet) -> list[Recommendation]:
    if not wallet.low_gas:
        return []
    lacking = ether(wallet.min_gas_wei - wallet.wei)
    message = (
        f"Send at least {lacking} ETH on {CHAIN_NAMES[wallet.chain]} to the wallet: it has {ether(wallet.wei)} and needs "
        f"{ether(wallet.min_gas_wei)} for gas. Payments by x402 need none: the facilitator pays."
    )
    return [Recommendation(code="add_gas", message=message, asset="ETH", amount=lacking)]


def _usdc(wallet: Wallet) -> list[Recommendation]:
    where = CHAIN_NAMES[wallet.chain]
    if wallet.is_blacklisted:
        return []
    if wallet.usdc_empty:
        amount = formatted(FIRST_USDC, USDC_DECIMALS)
        message = f"Send USDC on {where} to the wallet, {amount} USDC for instance: it has none."
        return [Recommendation(code="add_usdc", message=message, asset="USDC", amount=amount)]
    if wallet.usdc_dust:
        lacking = formatted(DUST_ATOMIC - wallet.atomic, USDC_DECIMALS)
        held = formatted(wallet.atomic, USDC_DECIMALS)
        message = f"Send at least {lacking} USDC on {where} to the wallet: it has {held}, less than most calls cost."
        return [Recommendation(code="top_up_usdc", message=message, asset="USDC", amount=lacking)]
    return []


def _kind(wallet: Wallet) -> list[Recommendation]:
    if wallet.delegate:
        message = (
            f"The account runs the code of {short(wallet.delegate)} (EIP-7702). If that was not you, its key is known to "
            "others: move what it has to a new wallet."
        )
        return [Recommendation(code="delegated_account", message=message)]
    if wallet.is_contract:
        message = "This is a contract: it pays by x402 only if the chain can verify its signatures (ERC-1271)."
        return [Recommendation(code="contract_wallet", message=message)]
    if not wallet.nonce and not wallet.wei and wallet.usdc_empty:
        message = f"This address was never used on {CHAIN_NAMES[wallet.chain]}: make sure that it is the right one."
        return [Recommendation(code="unused_wallet", message=message)]
    return []
