"""A payment with an unknown outcome, saved for `--resume`. The body is not saved: it may hold a secret."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import msgspec

from client import payment as payments
from client.errors import InvalidCall
from client.payment import SignedPayment
from shared.money import Price


class _Saved(msgspec.Struct, frozen=True, rename="camel"):
    url: str
    body_sha256: str | None = msgspec.field(name="bodySha256")
    payment_signature: str
    price: str
    asset: str


def save(payment: SignedPayment, folder: Path | None) -> Path:
    """Save the payment in a new file that only this user can read.

    Args:
        folder: of the file. None, or one that cannot be written to: the temporary folder.

    Raises:
        OSError: no folder can be written to.
    """
    content = msgspec.json.encode(
        _Saved(
            url=payment.url,
            body_sha256=_digest(payment.body),
            payment_signature=payment.header,
            price=payment.price.text(),
            asset=payment.asset,
        )
    )
    try:
        number, name = tempfile.mkstemp(prefix="payment-", suffix=".json", dir=folder)
    except OSError:
        if folder is None:
            raise
        return save(payment, None)
    with os.fdopen(number, "wb") as file:
        file.write(content)
    return Path(name)


def load(path: Path, *, body: bytes | None) -> SignedPayment:
    """The saved payment, for the same body.

    Raises:
        InvalidCall: the file is not a saved payment, or it belongs to another body.
    """
    try:
        saved = msgspec.json.decode(path.read_bytes(), type=_Saved)
        offer = payments.decode(saved.payment_signature).accepted
        price = Price.of(saved.price)
    except OSError as error:
        raise InvalidCall(f"cannot read the saved payment {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InvalidCall(f"{path} is not a saved payment") from None
    if saved.body_sha256 != _digest(body):
        raise InvalidCall(
            "the saved payment belongs to another body",
            hint="Give exactly the same NAME and JSON as in the first call.",
        )
    return SignedPayment(
        url=saved.url, body=body, header=saved.payment_signature, offer=offer, price=price, asset=saved.asset
    )


def _digest(body: bytes | None) -> str | None:
    return None if body is None else hashlib.sha256(body).hexdigest()
