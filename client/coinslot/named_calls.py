"""For the official Python client of x402: one name for one call, however often it is sent.

The official clients sign a new payment each time they send a call again. When an answer was lost on its way, the call is then
paid twice. A server that takes the extension payment-identifier settles only the first payment under a name, and gives its
answer to the others (x402 specs/extensions/payment_identifier.md).

    client.register_extension(NamedCalls())  # of x402Client or x402ClientSync

    with one_call():
        ...  # send it until an answer comes

javascript/named-calls.mjs is the same for JavaScript.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_name: ContextVar[str] = ContextVar("_name")


@contextmanager
def one_call(name: str = "") -> Iterator[str]:
    """All that this thread or task pays within the block is one call: it must be the same request each time.

    Args:
        name: 16 to 128 letters, digits, hyphens or underscores, for a call that another process may send again. Empty: a new
            one.

    Yields:
        The name.
    """
    name = name or new_name()
    before = _name.set(name)
    try:
        yield name
    finally:
        _name.reset(before)


def new_name() -> str:
    """A name that nobody else has."""
    return f"call_{uuid.uuid4().hex}"


class NamedCalls:
    """The extension, as the official client registers it. A payment outside of `one_call` gets a name for itself."""

    key = "payment-identifier"

    def enrich_payment_payload(self, payload: Any, required: Any) -> Any:
        """Put the name into a payment, where the server takes names.

        Args:
            payload: x402.schemas.PaymentPayload.
            required: x402.schemas.PaymentRequired.
        """
        if self.key not in (required.extensions or {}):
            return payload
        named = {"info": {"required": False, "id": _name.get(None) or new_name()}}
        return payload.model_copy(update={"extensions": {**(payload.extensions or {}), self.key: named}})
