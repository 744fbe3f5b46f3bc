"""The Stellar rail as the settings have it."""

from __future__ import annotations

from facilitator.rails.stellar.rail import StellarRail
from shared.settings.configured_token import configured_token
from shared.settings.secret_files import read_secret
from shared.settings.service import Settings
from shared.x402.networks import STELLAR_USDC


def rail(settings: Settings, name: str) -> StellarRail:
    """Raises InvalidSetting."""
    own = settings.stellar
    token = configured_token(STELLAR_USDC, own.network, name)
    return StellarRail(token, own.rpc_url, read_secret(own.settler_key_file))
