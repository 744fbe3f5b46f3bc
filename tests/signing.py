"""How tests sign an EIP-3009 payment: one place, for every folder of tests."""

import secrets
import time
from collections.abc import Callable
from typing import Any

import msgspec
from coincurve import PrivateKey

from shared.x402 import evm
from shared.x402.wire import Offer


def wire(offer: Offer) -> dict[str, Any]:
    """An offer as it stands in a challenge."""
    content: dict[str, Any] = msgspec.to_builtins(offer)
    return content


def rsv(key: PrivateKey, digest: bytes) -> bytes:
    """r, s and v of 27 or 28."""
    raw = key.sign_recoverable(digest, hasher=None)
    return raw[:64] + bytes([raw[64] + 27])


def payload(
    key: PrivateKey,
    offer: Offer,
    *,
    address: str = "",
    wrap: Callable[[bytes], bytes] = bytes,
    now: int = 0,
    **fields: str,
) -> dict[str, Any]:
    """The scheme's payload, well signed over exactly these fields.

    Args:
        address: of a payer that is a contract with this key.
        wrap: what that contract makes of its owner's signature.
        now: Unix seconds; 0 asks the clock.
        fields: of the authorization, where they differ from the offer.
    """
    authorization = {
        "from": address or evm.address_of(key.public_key),
        "to": offer.pay_to,
        "value": offer.amount,
        "validAfter": "0",
        "validBefore": str((now or int(time.time())) + 60),
        "nonce": "0x" + secrets.token_hex(32),
        **fields,
    }
    digest = evm.transfer_digest(
        offer,
        authorization["from"],
        authorization["to"],
        int(authorization["value"]),
        int(authorization["validAfter"]),
        int(authorization["validBefore"]),
        bytes.fromhex(authorization["nonce"][2:]),
    )
    return {"signature": "0x" + wrap(rsv(key, digest)).hex(), "authorization": authorization}
