"""The EVM rail as the settings have it."""

from __future__ import annotations

import logging
import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from facilitator.rails.evm.journal import refuse_other_layout
from facilitator.rails.evm.rail import EvmRail
from shared.settings.configured_token import configured_token
from shared.settings.rails import EvmRailSettings
from shared.settings.secret_files import read_key
from shared.settings.service import InvalidSetting, Settings
from shared.x402.networks import EVM_USDC

log = logging.getLogger(__name__)


def rail(settings: Settings, name: str) -> EvmRail:
    """Raises InvalidSetting."""
    own = settings.rails[name]
    assert isinstance(own, EvmRailSettings)
    return EvmRail(
        configured_token(EVM_USDC, own.network, name),
        own.rpc_url,
        read_key(own.settler_key_file),
        most_for_gas=_atomic(own.max_fee_gwei, 9),
        low_balance=_atomic(own.low_balance_eth, 18),
        ether_price=Fraction(repr(own.ether_price)),
        cost_share=settings.cost_share,
        batch=own.batch,
        spacing_s=own.spacing_ms / 1000,
        finality=own.finality,
        journal=_journal(own, name),
        channels_of=own.pay_to if own.has_channels else "",
        factories=own.factories,
    )


def _journal(settings: EvmRailSettings, name: str) -> Path | None:
    """The rail's journal; None when no file is set and none can be made beside the key.

    Raises:
        InvalidSetting: it cannot be written where the settings say, or was written by a version that this one does not
            understand.
    """
    path = settings.journal_path
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError as error:
        variable = f"COINSLOT_{name.upper()}_JOURNAL_FILE"
        if settings.journal_file:
            raise InvalidSetting(f"{variable}: {path} cannot be written: {error.strerror}") from None
        log.warning(
            "no journal, because %s cannot be written: %s. %s may name another file", path, error.strerror, variable
        )
        return None
    refuse_other_layout(path)
    return path


def _atomic(amount: float, decimals: int) -> int:
    """The amount in the smallest unit, exactly as the setting writes it."""
    return int(Decimal(repr(amount)).scaleb(decimals))
