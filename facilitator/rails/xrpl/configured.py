"""The XRP Ledger's rail as the settings have it."""

from __future__ import annotations

from facilitator.rails.xrpl.rail import XrplRail
from shared.settings.configured_token import configured_token
from shared.settings.rails import XrplRailSettings
from shared.x402.networks import XRPL_RLUSD, XRPL_USDC


def rail(settings: XrplRailSettings, name: str) -> XrplRail:
    """Both tokens, whichever are offered. Raises InvalidSetting."""
    return XrplRail(
        [configured_token(table, settings.network, name) for table in (XRPL_USDC, XRPL_RLUSD)], settings.rpc_url
    )
