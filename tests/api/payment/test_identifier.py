"""The client's name for a call, out of its payment."""

from typing import Any

import jsonschema
import pytest

from api.payment import identifier
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer, Payment
from tests.each import each

OFFER = Offer(scheme="exact", network="eip155:8453", amount="1", asset="0x", pay_to="0x", max_timeout_seconds=60)


def named(extensions: Any) -> str:
    return identifier.of(Payment(x402_version=2, accepted=OFFER, payload={}, extensions=extensions))


def echoed(value: Any) -> dict[str, Any]:
    """As a client echoes the extension with its name in it."""
    return {identifier.KEY: {**identifier.EXTENSION, "info": {"required": False, "id": value}}}


def test_a_name() -> None:
    """Sixteen to 128 letters, digits, - and _."""
    for name in ("a" * 16, "Z_-9" * 32):
        assert named(echoed(name)) == name
        jsonschema.validate(echoed(name)[identifier.KEY]["info"], identifier.EXTENSION["schema"])


@each(
    "extensions", [None, {}, {"bazaar": {}}, {identifier.KEY: identifier.EXTENSION}, {identifier.KEY: []}, echoed(None)]
)
def test_no_name(extensions: Any) -> None:
    """It is not required."""
    assert named(extensions) == ""


@each("value", ["a" * 15, "a" * 129, "a" * 15 + " ", "a" * 16 + "\n", "ä" * 16, 7, ["a" * 16], {}, True])
def test_a_wrong_name_is_refused(value: Any) -> None:
    """Before anything is charged: it would not protect whoever relies on it."""
    with pytest.raises(PaymentRefused) as caught:
        named(echoed(value))
    assert caught.value.reason == "invalid_payment_identifier"
