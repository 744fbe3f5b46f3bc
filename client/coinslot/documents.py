"""The members of the JSON objects that `--json` prints."""

from pathlib import Path
from typing import Any

import msgspec

from coinslot.answer import Answer
from coinslot.errors import CoinslotError
from coinslot.payment import SignedPayment


def of_answer(answer: Answer, payment: SignedPayment | None) -> dict[str, Any]:
    """An answer. Its numbers and escapes are unchanged."""
    return {
        "ok": True,
        "status": 200,
        "price": of_price(payment),
        "receipt": None if answer.receipt is None else msgspec.to_builtins(answer.receipt),
        "answer": msgspec.Raw(msgspec.json.format(answer.raw, indent=-1)),
        "requestId": answer.request_id,
    }


def of_error(error: CoinslotError, *, detail: str, hint: str, kept: Path | None) -> dict[str, Any]:
    """A failure.

    Args:
        detail, hint: of the error, without what must not be shown.
        kept: the file of the saved payment.
    """
    return {
        "ok": False,
        "status": error.status,
        "error": error.code,
        "detail": detail,
        "hint": hint or None,
        "charged": error.charged,
        "price": of_price(error.payment),
        "requestId": error.request_id,
        "retryAfterSeconds": error.retry_after_s,
        "resume": None if kept is None else str(kept),
        "problem": error.problem,
    }


def of_price(payment: SignedPayment | None) -> dict[str, str] | None:
    """`amount` in whole units of `asset`, which is a symbol."""
    if payment is None:
        return None
    return {"amount": payment.price.text(), "asset": payment.asset, "network": payment.offer.network}
