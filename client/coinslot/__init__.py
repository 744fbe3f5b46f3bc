"""The buyer: pays a challenge and returns the answer. `coinslot` is its command (main.py).

    from decimal import Decimal
    from coinslot import Buyer, Wallet

    with Buyer("https://api.example", Wallet.evm(key), max_price=Decimal("0.01")) as buyer:
        answer = buyer.call("echo", {"message": "hello"})

The names are imported when they are first used: the command must start fast, and one run uses few of the modules.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coinslot.answer import Answer as Answer
    from coinslot.async_buyer import AsyncBuyer as AsyncBuyer
    from coinslot.buyer import Buyer as Buyer
    from coinslot.delivery import RetryPolicy as RetryPolicy
    from coinslot.errors import CallFailed as CallFailed
    from coinslot.errors import CoinslotError as CoinslotError
    from coinslot.errors import NothingPaid as NothingPaid
    from coinslot.errors import PaymentRejected as PaymentRejected
    from coinslot.errors import Unreachable as Unreachable
    from coinslot.payment import SignedPayment as SignedPayment
    from coinslot.payment_folder import PaymentFolder as PaymentFolder
    from coinslot.wallet import Wallet as Wallet

_MODULES = {
    "Answer": "answer",
    "AsyncBuyer": "async_buyer",
    "Buyer": "buyer",
    "CallFailed": "errors",
    "CoinslotError": "errors",
    "NothingPaid": "errors",
    "PaymentFolder": "payment_folder",
    "PaymentRejected": "errors",
    "RetryPolicy": "delivery",
    "SignedPayment": "payment",
    "Unreachable": "errors",
    "Wallet": "wallet",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
