"""The Solana rail as the settings have it."""

from __future__ import annotations

from facilitator.rails.solana.rail import SolanaRail
from shared.settings.configured_token import configured_token
from shared.settings.secret_files import read_key
from shared.settings.service import Settings
from shared.x402.networks import SOLANA_USDC


def rail(settings: Settings, name: str) -> SolanaRail:
    """Raises InvalidSetting."""
    own = settings.solana
    token = configured_token(SOLANA_USDC, own.network, name)
    return SolanaRail(token, own.rpc_url, read_key(own.settler_key_file))
