"""The rails that the settings name a node for."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from facilitator.rail import Rail
from shared.secret_files import read_key
from shared.settings import InvalidSetting, Settings
from shared.x402 import evm


def configured_rails(settings: Settings) -> Sequence[Rail]:
    """Every rail with a node. Each brings its network's library with it, which takes a second or two to import.

    Raises:
        InvalidSetting: there is none, a key cannot be read, or no token is known on a network.
    """
    rails: list[Rail] = []
    if settings.evm_rpc_url:
        rails.append(_evm(settings))
    if not rails:
        raise InvalidSetting("COINSLOT_EVM_RPC_URL must name a JSON-RPC node to settle through")
    return rails


def _evm(settings: Settings) -> Rail:
    from facilitator.rails.evm import EvmRail

    try:
        token = evm.token_on(settings.evm_network)
    except KeyError:
        raise InvalidSetting(f"COINSLOT_EVM_NETWORK: no USDC contract is known on {settings.evm_network}") from None
    return EvmRail(
        token,
        settings.evm_rpc_url,
        read_key(settings.evm_settler_key_file),
        most_for_gas=_atomic(settings.evm_max_fee_gwei, 9),
        low_balance=_atomic(settings.evm_low_balance_eth, 18),
    )


def _atomic(amount: float, decimals: int) -> int:
    """In the smallest unit, of the figure as it is written."""
    return int(Decimal(repr(amount)).scaleb(decimals))
