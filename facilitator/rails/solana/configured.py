"""The Solana rail as the settings have it."""

from __future__ import annotations

from facilitator.rails.solana.rail import SolanaRail
from shared.settings.configured_token import configured_token
from shared.settings.rails import SolanaRailSettings
from shared.settings.secret_files import read_key
from shared.x402.networks import SOLANA_USDC


def rail(settings: SolanaRailSettings, name: str) -> SolanaRail:
    """Raises InvalidSetting."""
    token = configured_token(SOLANA_USDC, settings.network, name)
    return SolanaRail(token, settings.rpc_url, read_key(settings.settler_key_file))
