"""The rails that the settings name a node for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeVar

from facilitator.rail import Rail
from shared.secret_files import read_key, read_secret
from shared.settings import PREFIX, InvalidSetting, Settings
from shared.x402.networks import EVM_USDC, SOLANA_USDC, STELLAR_USDC, XRPL_RLUSD, XRPL_USDC

T = TypeVar("T")


def configured_rails(settings: Settings) -> Sequence[Rail]:
    """Every rail with a node. Each brings its network's library with it, which takes a second or two to import.

    Raises:
        InvalidSetting: there is none, a key cannot be read, or no token is known on a network.
    """
    rails: list[Rail] = []
    if settings.evm_rpc_url:
        rails.append(_evm(settings, "evm", settings.evm_network))
    if settings.ethereum_rpc_url:
        rails.append(_evm(settings, "ethereum", "eip155:1"))
    if settings.solana_rpc_url:
        rails.append(_solana(settings))
    if settings.stellar_rpc_url:
        rails.append(_stellar(settings))
    if settings.xrpl_rpc_url:
        rails.append(_xrpl(settings))
    if not rails:
        raise InvalidSetting("COINSLOT_EVM_RPC_URL, or that of another network, must name a node to settle through")
    networks = [rail.network for rail in rails]
    if len(set(networks)) < len(networks):
        raise InvalidSetting("COINSLOT_EVM_NETWORK is Ethereum already: leave out COINSLOT_ETHEREUM_RPC_URL")
    return rails


def _evm(settings: Settings, prefix: str, network: str) -> Rail:
    from facilitator.rails.evm.rail import EvmRail

    token = _known(EVM_USDC, network, prefix)
    return EvmRail(
        token,
        getattr(settings, f"{prefix}_rpc_url"),
        read_key(getattr(settings, f"{prefix}_settler_key_file")),
        most_for_gas=_atomic(getattr(settings, f"{prefix}_max_fee_gwei"), 9),
        low_balance=_atomic(getattr(settings, f"{prefix}_low_balance_eth"), 18),
    )


def _solana(settings: Settings) -> Rail:
    from facilitator.rails.solana.rail import SolanaRail

    token = _known(SOLANA_USDC, settings.solana_network, "solana")
    return SolanaRail(token, settings.solana_rpc_url, read_key(settings.solana_settler_key_file))


def _stellar(settings: Settings) -> Rail:
    from facilitator.rails.stellar.rail import StellarRail

    token = _known(STELLAR_USDC, settings.stellar_network, "stellar")
    return StellarRail(token, settings.stellar_rpc_url, read_secret(settings.stellar_settler_key_file))


def _xrpl(settings: Settings) -> Rail:
    from facilitator.rails.xrpl.rail import XrplRail

    tokens = [_known(table, settings.xrpl_network, "xrpl") for table in (XRPL_USDC, XRPL_RLUSD)]
    return XrplRail(tokens, settings.xrpl_rpc_url)


def _known(tokens: Mapping[str, T], network: str, prefix: str) -> T:
    try:
        return tokens[network]
    except KeyError:
        raise InvalidSetting(f"{PREFIX}{prefix.upper()}_NETWORK: no token is known on {network}") from None


def _atomic(amount: float, decimals: int) -> int:
    """In the smallest unit, of the figure as it is written."""
    return int(Decimal(repr(amount)).scaleb(decimals))
