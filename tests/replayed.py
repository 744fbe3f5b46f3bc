"""What an answer and its documented example have in common, whenever and wherever it was asked for."""

from __future__ import annotations

import re
from typing import Any

MEASURED = frozenset(
    (
        *("elapsedMs", "ageSeconds", "daysUntilExpiry", "fetchedAt", "observedAt", "checkedAt", "cursor"),
        # Of ledgers, which go on.
        *("blockNumber", "blockTimestamp", "timestamp", "confirmations", "ledgerIndex", "fromLedger", "toLedger"),
        *("gasPriceWei", "feeWei", "feeFormatted", "effectiveGasPriceWei", "minGasWei", "balanceWei", "totalSupply"),
    )
)
"""Fields that say when something was, how long it took or will take, how old it is, or what everybody else has done since."""
MADE_ANEW = frozenset(
    (
        *("validFrom", "validTo", "serialNumber", "fingerprintSha256", "chain", "ipAddress"),
        "dataVersion",  # of lists that scripts/data makes
        *("payer", "transaction"),
    )
)
"""Fields of what the sandbox or a script makes each time."""
_FEE = re.compile(r"paid [0-9.]+ ETH")


def unmeasured(answer: Any) -> Any:
    """An answer without these fields, at any depth, and without the fee in a transaction's narrative."""
    if isinstance(answer, str):
        return _FEE.sub("paid some ETH", answer)
    if isinstance(answer, dict):
        return {name: unmeasured(value) for name, value in answer.items() if name not in MEASURED | MADE_ANEW}
    return [unmeasured(each) for each in answer] if isinstance(answer, list) else answer
