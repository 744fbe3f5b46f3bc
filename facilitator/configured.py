"""The rails whose node the settings name."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from facilitator.rail import Rail
from shared.rail_settings import EvmRailSettings, SolanaRailSettings, StellarRailSettings, XrplRailSettings
from shared.secret_files import read_key, read_secret
from shared.settings import InvalidSetting, Settings
from shared.x402.configured_token import configured_token
from shared.x402.networks import EVM_USDC, SOLANA_USDC, STELLAR_USDC, XRPL_RLUSD, XRPL_USDC

log = logging.getLogger(__name__)


def configured_rails(settings: Settings) -> Sequence[Rail]:
    """Every rail with a node. Each one imports its network's library, which takes a second or two.

    Raises:
        InvalidSetting: no rail has a node, a key cannot be read, or no token is known on a network.
    """
    rails: list[Rail] = []
    if settings.evm.rpc_url:
        rails.append(_evm(settings.evm, "evm"))
    if settings.ethereum.rpc_url:
        rails.append(_evm(settings.ethereum, "ethereum"))
    if settings.solana.rpc_url:
        rails.append(_solana(settings.solana))
    if settings.stellar.rpc_url:
        rails.append(_stellar(settings.stellar))
    if settings.xrpl.rpc_url:
        rails.append(_xrpl(settings.xrpl))
    if not rails:
        raise InvalidSetting("COINSLOT_EVM_RPC_URL, or that of another network, must name a node to settle through")
    networks = [rail.network for rail in rails]
    if len(set(networks)) < len(networks):
        raise InvalidSetting("COINSLOT_EVM_NETWORK is Ethereum already: leave out COINSLOT_ETHEREUM_RPC_URL")
    return rails


def _evm(settings: EvmRailSettings, prefix: str) -> Rail:
    from facilitator.rails.evm.rail import EvmRail

    return EvmRail(
        configured_token(EVM_USDC, settings.network, prefix),
        settings.rpc_url,
        read_key(settings.settler_key_file),
        most_for_gas=_atomic(settings.max_fee_gwei, 9),
        low_balance=_atomic(settings.low_balance_eth, 18),
        batch=settings.batch,
        spacing_s=settings.spacing_ms / 1000,
        finality=settings.finality,
        journal=_journal(settings, prefix),
    )


def _journal(settings: EvmRailSettings, prefix: str) -> Path | None:
    """The rail's journal; None when it has no place of its own and cannot be beside the key.

    Raises:
        InvalidSetting: it cannot be written where the settings say, or was written by a version that this one does not
            understand.
    """
    from facilitator.rails.evm.journal_layout import refuse_other_layout

    chain_id = settings.network.partition(":")[2]
    path = Path(settings.journal_file or f"{settings.settler_key_file}.{chain_id}.journal")
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError as error:
        name = f"COINSLOT_{prefix.upper()}_JOURNAL_FILE"
        if settings.journal_file:
            raise InvalidSetting(f"{name}: {path} cannot be written: {error.strerror}") from None
        log.warning(
            "no journal, because %s cannot be written: %s. %s may name another place", path, error.strerror, name
        )
        return None
    refuse_other_layout(path)
    return path


def _solana(settings: SolanaRailSettings) -> Rail:
    from facilitator.rails.solana.rail import SolanaRail

    token = configured_token(SOLANA_USDC, settings.network, "solana")
    return SolanaRail(token, settings.rpc_url, read_key(settings.settler_key_file))


def _stellar(settings: StellarRailSettings) -> Rail:
    from facilitator.rails.stellar.rail import StellarRail

    token = configured_token(STELLAR_USDC, settings.network, "stellar")
    return StellarRail(token, settings.rpc_url, read_secret(settings.settler_key_file))


def _xrpl(settings: XrplRailSettings) -> Rail:
    from facilitator.rails.xrpl.rail import XrplRail

    tokens = [configured_token(table, settings.network, "xrpl") for table in (XRPL_USDC, XRPL_RLUSD)]
    return XrplRail(tokens, settings.rpc_url)


def _atomic(amount: float, decimals: int) -> int:
    """The amount in the smallest unit, exactly as the setting writes it."""
    return int(Decimal(repr(amount)).scaleb(decimals))
