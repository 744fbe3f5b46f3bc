"""The exception of a payment that is not acceptable."""


class PaymentRefused(Exception):
    """The payment is not acceptable. Nothing was settled.

    Args:
        reason: an error code of the x402 specification or SDK, e.g. ``invalid_exact_evm_payload_signature``.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
