"""Why a payment is refused, in the words of the x402 specification."""

from __future__ import annotations


class PaymentRefused(Exception):
    """A payment is not acceptable. Nothing was settled.

    Args:
        reason: an error code of the x402 specification or SDK, e.g. ``invalid_exact_evm_payload_signature``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
