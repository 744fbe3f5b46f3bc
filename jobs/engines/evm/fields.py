"""Fields that the responses of several endpoints for Ethereum and Base have."""

from typing import Annotated, Any

from jobs.engines.evm.reverts import Revert
from jobs.fields import doc

TokenAddress = Annotated[str, doc("The token's contract, in checksum case.")]
Symbol = Annotated[str | None, doc("The token's own symbol, without invisible characters. Null when it has none.")]
Decimals = Annotated[int | None, doc("How many decimals the token's amounts have. Null when the token does not say.")]
HasReverted = Annotated[bool, doc("Whether the call reverted: the chain undid it.")]
RevertReason = Annotated[str | None, doc("Why it reverted, in words. Null when it did not, or gave no reason.")]
RevertDetails = Annotated[Revert | None, doc("The revert in detail. Null when the call did not revert.")]


def revert_fields(revert: Revert | None) -> dict[str, Any]:
    """The three fields that say whether and why a call reverted."""
    return {"reverted": revert is not None, "revert_reason": revert.reason if revert else None, "revert": revert}
