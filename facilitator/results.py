"""The answers of /verify and /settle. They have the same form on every rail."""

from shared.x402.authorization import Authorization
from shared.x402.wire import Evidence, Settlement, Verification


def valid(authorization: Authorization) -> Verification:
    """The payment would settle now."""
    return Verification(is_valid=True, payer=authorization.payer)


def invalid(reason: str, payer: str | None = None) -> Verification:
    """The payment would not settle now."""
    return Verification(is_valid=False, invalid_reason=reason, payer=payer)


def unverified(error: Exception) -> Verification:
    """It is not known, because the node did not answer as it should. The answer names the error's class only."""
    return Verification(is_valid=False, invalid_reason="unexpected_verify_error", invalid_message=type(error).__name__)


def succeeded(authorization: Authorization, transaction: str) -> Settlement:
    """The payment is settled by that transaction."""
    return Settlement(
        success=True,
        transaction=transaction,
        network=authorization.network,
        payer=authorization.payer,
        amount=authorization.amount,
    )


def failed(network: str, reason: str, payer: str | None = None) -> Settlement:
    """The payment did not settle, and nothing of it was sent."""
    return Settlement(success=False, transaction="", network=network, payer=payer, error_reason=reason)


def unsettled(authorization: Authorization, transaction: str = "", *, message: str | None = None) -> Settlement:
    """The payment is not settled yet.

    Args:
        transaction: what was sent for it and may still settle it; empty when nothing was sent.
        message: why nothing was sent.
    """
    return Settlement(
        success=False,
        transaction=transaction,
        network=authorization.network,
        payer=authorization.payer,
        error_reason="settlement_pending" if transaction else "unexpected_settle_error",
        error_message=message,
    )


def settled_before(authorization: Authorization, evidence: Evidence) -> Settlement | None:
    """The earlier settlement that the evidence shows, or None when it shows that this payment was not settled.

    Raises:
        TimeoutError: the evidence shows neither.
    """
    if evidence.status == "unknown":
        raise TimeoutError("the chain does not say what became of it")
    # Only EVM addresses have two spellings; on the other networks lower case keeps different addresses different.
    shown = evidence.status, (evidence.pay_to or "").lower(), evidence.amount
    is_ours = shown == ("settled", authorization.pay_to.lower(), authorization.amount)
    return succeeded(authorization, evidence.transaction) if is_ours else None
