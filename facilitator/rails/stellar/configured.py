"""The Stellar rail as the settings have it."""

from __future__ import annotations

from facilitator.rails.stellar.rail import StellarRail
from shared.settings.configured_token import configured_token
from shared.settings.rails import StellarRailSettings
from shared.settings.secret_files import read_secret
from shared.x402.networks import STELLAR_USDC


def rail(settings: StellarRailSettings, name: str) -> StellarRail:
    """Raises InvalidSetting."""
    token = configured_token(STELLAR_USDC, settings.network, name)
    return StellarRail(token, settings.rpc_url, read_secret(settings.settler_key_file))
