"""A payer, and payments as they are sent."""

import base64
import json
from typing import Any

from coincurve import PrivateKey

from shared.money import Price
from shared.x402 import evm
from shared.x402.networks import EVM_USDC
from tests import signing

PAY_TO = "0x1111111111111111111111111111111111111111"


class Payer:
    """Signs payments, right or wrong."""

    def __init__(self) -> None:
        self.key = PrivateKey()
        self.address = evm.address_of(self.key.public_key)

    def payment(self, *, price: str = "0.001", resource: str | None = None, **fields: str) -> dict[str, Any]:
        """A v2 payment for our offer at that price."""
        offer = evm.offers(EVM_USDC["eip155:8453"], Price.of(price), PAY_TO)[0]
        content: dict[str, Any] = {
            "x402Version": 2,
            "accepted": signing.wire(offer),
            "payload": signing.payload(self.key, offer, **fields),
        }
        if resource is not None:
            content["resource"] = {"url": resource}
        return content

    def headers(self, **fields: str) -> dict[str, str]:
        """The headers of a call with a new payment."""
        return paid_with(self.payment(**fields))


def encoded(payment: Any) -> str:
    """A payment as header text."""
    return base64.b64encode(json.dumps(payment).encode()).decode()


def paid_with(payment: Any) -> dict[str, str]:
    """The headers of a call with this payment."""
    return {"PAYMENT-SIGNATURE": encoded(payment)}
