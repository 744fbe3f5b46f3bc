"""The payment-identifier extension: a client's own name for a call (x402 specs/extensions/payment_identifier.md).

A call that is paid for twice under one name is charged once: the second payment is not settled, and gets the answer of the
first.
"""

import re
from typing import Any

from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Payment

KEY = "payment-identifier"
_FORM = re.compile(r"[A-Za-z0-9_-]{16,128}", re.ASCII)

EXTENSION: dict[str, Any] = {
    "info": {"required": False},
    "schema": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "required": {"type": "boolean"},
            "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "minLength": 16, "maxLength": 128},
        },
        "required": ["required"],
    },
}
"""The extension as a challenge offers it."""


def of(payment: Payment) -> str:
    """The client's name for the call; "" when it has none.

    Raises:
        PaymentRefused: ``invalid_payment_identifier``.
    """
    echoed = (payment.extensions or {}).get(KEY)
    info = echoed.get("info") if isinstance(echoed, dict) else None
    named = info.get("id") if isinstance(info, dict) else None
    if named is None:
        return ""
    if not isinstance(named, str) or not _FORM.fullmatch(named):
        raise PaymentRefused("invalid_payment_identifier")
    return named
