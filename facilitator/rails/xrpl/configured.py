"""The XRP Ledger's rail as the settings have it."""

from __future__ import annotations

from facilitator.rails.xrpl.rail import XrplRail
from shared.settings.configured_token import configured_token
from shared.settings.service import Settings
from shared.x402.networks import XRPL_RLUSD, XRPL_USDC


def rail(settings: Settings, name: str) -> XrplRail:
    """Both tokens, whichever are offered. Raises InvalidSetting."""
    own = settings.xrpl
    return XrplRail([configured_token(table, own.network, name) for table in (XRPL_USDC, XRPL_RLUSD)], own.rpc_url)
