"""The JSON objects of x402 v2 (specs/x402-specification-v2.md of x402-foundation/x402), as msgspec Structs.

Their JSON names are camelCase. Absent optional fields are left out, never null.
"""

from typing import Any

import msgspec

X402_VERSION = 2
BAZAAR = "bazaar"
"""Key of the extension by which facilitators list calls: in a challenge's `extensions`, and in /supported."""


class Offer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One entry of a challenge's `accepts` (the specification's PaymentRequirements).

    Args:
        network: CAIP-2, e.g. ``eip155:8453``.
        amount: atomic units as digits; a decimal value on XRPL issued currencies.
        asset: token contract, mint or currency code.
        pay_to: recipient.
        max_timeout_seconds: how long a payment made from this offer is expected to stay valid.
        extra: data of the scheme. `paymentFlow` "upfront" says that the payment is settled before the answer.
    """

    scheme: str
    network: str
    amount: str
    asset: str
    pay_to: str
    max_timeout_seconds: int
    extra: dict[str, Any] = {}


class Resource(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The call that is sold. `service_name` and `tags` are printable ASCII of at most 32 characters, `description` of 500."""

    url: str
    description: str | None = None
    mime_type: str | None = None
    service_name: str | None = None
    tags: tuple[str, ...] | None = None


class Challenge(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The specification's PaymentRequired: the body of every 402 and, in base64, the PAYMENT-REQUIRED header."""

    x402_version: int = msgspec.field(default=X402_VERSION, name="x402Version")
    error: str
    resource: Resource
    accepts: tuple[Offer, ...]
    extensions: dict[str, Any] = {}


class Payment(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The specification's PaymentPayload, the content of PAYMENT-SIGNATURE."""

    x402_version: int = msgspec.field(name="x402Version")
    accepted: Offer
    payload: dict[str, Any]
    resource: dict[str, Any] | None = None
    extensions: dict[str, Any] | None = None


class FlatPayment(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The older content of X-PAYMENT. It has no `accepted`, and `network` may be a v1 name such as ``base``."""

    x402_version: int = msgspec.field(name="x402Version")
    scheme: str
    network: str
    payload: dict[str, Any]


class FacilitatorCall(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The body of /verify and /settle. t54's client leaves out the version and may add extensions."""

    payment_payload: Payment
    payment_requirements: Offer
    x402_version: int = msgspec.field(default=X402_VERSION, name="x402Version")


class Verification(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The answer of /verify."""

    is_valid: bool
    invalid_reason: str | None = None
    invalid_message: str | None = None
    payer: str | None = None
    extra: dict[str, Any] | None = None


class Settlement(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The answer of /settle and, in base64, the PAYMENT-RESPONSE header: the receipt.

    `extra` has the state of the payer's channel, where the payment was made with one.

    `success` False with `error_reason` "settlement_pending" is not final: the transaction was sent and is not confirmed yet.
    """

    success: bool
    transaction: str
    network: str
    payer: str | None = None
    amount: str | None = None
    error_reason: str | None = None
    error_message: str | None = None
    extra: dict[str, Any] | None = None


class Evidence(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The answer of our facilitator's /settlements/{payment id}: what the chain shows of one payment.

    Args:
        status: ``settled`` (the chain has its transfer), ``unused`` (not used as of `as_of`), ``void`` (it was cancelled or
            failed, and can never settle) or ``unknown`` (the chain does not answer, or does not show what became of it).
        as_of: the time of the newest block, in Unix seconds; 0 when it is not known.
    """

    status: str
    network: str
    as_of: int = 0
    transaction: str = ""
    payer: str | None = None
    pay_to: str | None = None
    amount: str | None = None


class SupportedKind(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """One (version, scheme, network) that a facilitator settles."""

    x402_version: int = msgspec.field(name="x402Version")
    scheme: str
    network: str
    extra: dict[str, Any] | None = None


class Supported(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The answer of /supported."""

    kinds: tuple[SupportedKind, ...]
    extensions: tuple[str, ...] = ()
    signers: dict[str, tuple[str, ...]] = {}
