"""The XRPL rail, offline: scheme `exact` with a Payment that its payer has signed in full, in a token that an account issues.

`offers()` says what may be paid, `check()` decides statically whether a payment is what was offered, in under 0.2 ms. Only the
ledger knows sequences, balances and trust lines. Two kinds of client pay it: the foundation's (InvoiceID, no memo) and t54's
(the same InvoiceID, and beside it the invoice as the only memo and in the payload).

Sources: x402-foundation specs/schemes/exact/scheme_exact_xrpl.md and its TypeScript reference, whose reasons these are; PyPI
x402-xrpl 0.3.4 (t54); xrpl.org, "Payment" and "Transaction Common Fields".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from shared.money import ExcessPrecision, Price
from shared.x402 import authorization
from shared.x402.networks import XrplToken
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer
from shared.x402.xrpl_binary import MAX_BLOB_BYTES, Transaction
from shared.x402.xrpl_keys import (
    ED25519_PREFIX,
    PUBLIC_KEY_BYTES,
    address,
    address_of,
    is_address,
    is_signed,
)
from shared.x402.xrpl_payment import INVOICE, PREFIX, check_fields, read, refused, sequence_and_ticket

SCHEME = "exact"
TOKEN_KEY = INVOICE
"""The key in `extra` that carries the server's binding: the transaction has its hash as InvoiceID."""
MAX_TIMEOUT_SECONDS = 60
"""Offered lifetime of a payment."""
LEDGER_SECONDS = 5
LEDGER_TOLERANCE = 2
"""Both are the scheme's: from a timeout in seconds to ledgers."""
LEDGER_SLACK = 25
"""Whoever tells us the ledger may be that far behind it."""
SLOWEST_LEDGER_S = 10

_PRECISION = 15
"""Decimal digits that an issued currency keeps for certain."""
_AMOUNT = re.compile(r"(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,18})?", re.ASCII)
_CURRENCY = re.compile(r"(?!0{40})[0-9A-F]{40}", re.ASCII)
_NETWORK = re.compile(r"xrpl:(?:0|[1-9][0-9]{0,9})", re.ASCII)
_PAYMENT_ID = re.compile(
    r"(xrpl:(?:0|[1-9][0-9]{0,9})):(r[1-9A-HJ-NP-Za-km-z]{24,34}):([1-9][0-9]{0,9}):([0-9A-F]{64})", re.ASCII
)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+", re.ASCII)
_METHODS = ("sequence", "ticketSequence")
_ELSEWHERE = ("crossCurrency", "facilitator", "facilitatorProof")
"""What other servers may put into `extra` and this rail does not settle: other currencies, memos of a facilitator."""


@dataclass(frozen=True, slots=True)
class PaymentId:
    """A payment, by what the ledger makes single-use. Its last ledger is in it: then the ledger can say that it never was."""

    network: str
    payer: str
    last_ledger: int
    transaction: str

    def __str__(self) -> str:
        return f"{self.network}:{self.payer}:{self.last_ledger}:{self.transaction}"

    @classmethod
    def parse(cls, text: str) -> PaymentId | None:
        """The parts of an XRPL payment id, or None when it is not one."""
        match = _PAYMENT_ID.fullmatch(text)
        if match is None or int(match[3]) >= 1 << 32 or not is_address(match[2]):
            return None
        return cls(match[1], match[2], int(match[3]), match[4])


@dataclass(frozen=True, slots=True, kw_only=True)
class XrplAuthorization(authorization.Authorization):
    """A payment that passed the static check.

    Attributes:
        payment_id: ``xrpl:0:<account>:<LastLedgerSequence>:<transaction hash>``.
        payer: classic address.
        signature_checked: False where another key than the account's own has signed: only the ledger knows its regular key.
        transaction: hash of the signed transaction, in upper case.
        blob: what is submitted, upper-case hex.
        value: as the offer has it, without trailing zeros.
        issuer: classic address.
        sequence: 0 when it uses a ticket.
        ticket: 0 when it uses the account's sequence.
        fee: drops.
        send_max: the most of the token that the payer spends.
        destination_tag: None when it has none.
        max_ledgers: how many ledgers the offer lets it live.
    """

    transaction: str
    blob: str
    value: Decimal
    issuer: str
    signer: str
    sequence: int
    ticket: int
    fee: int
    send_max: Decimal
    last_ledger: int
    destination_tag: int | None
    max_ledgers: int

    def window_refusal(self, now: int, ledger: int | None = None) -> str | None:
        """By the ledger alone, which may be further than we were told."""
        if ledger is None:
            return None
        return self.ledger_refusal(ledger, slack=LEDGER_SLACK)

    def ledger_refusal(self, ledger: int, *, slack: int = 0) -> str | None:
        """Why it cannot be settled after the validated `ledger`, which may be `slack` behind."""
        if self.last_ledger <= ledger:
            return PREFIX + "expired"
        if self.last_ledger > ledger + slack + self.max_ledgers:
            return PREFIX + "lastledgersequence_too_large"
        return None

    def expires(self, now: int) -> int:
        """As many ledgers from now as `window_refusal` lets pass, were each a slow one."""
        return now + (self.max_ledgers + LEDGER_SLACK) * SLOWEST_LEDGER_S


def offers(token: XrplToken, price: Price, pay_to: str) -> tuple[Offer, ...]:
    """What a call costs on this rail. Raises ExcessPrecision when the token cannot express the price."""
    if len(price.value.normalize().as_tuple().digits) > _PRECISION:
        raise ExcessPrecision(f"{price.value} has more than {_PRECISION} digits")
    return (
        Offer(
            scheme=SCHEME,
            network=token.network,
            amount=price.text(),
            asset=token.currency,
            pay_to=pay_to,
            max_timeout_seconds=MAX_TIMEOUT_SECONDS,
            extra={"issuer": token.issuer, "areFeesSponsored": False, "paymentFlow": "upfront"},
        ),
    )


def matches(offer: Offer, accepted: Offer) -> bool:
    """Whether the client accepted this very offer. Clients may add keys to `extra`, and write the amount in another way."""
    return (
        accepted.scheme == offer.scheme
        and accepted.network == offer.network
        and _is_amount(accepted.amount)
        and Decimal(accepted.amount) == Decimal(offer.amount)
        and accepted.asset == offer.asset
        and accepted.pay_to == offer.pay_to
        and accepted.max_timeout_seconds == offer.max_timeout_seconds
        and all(_same(accepted.extra.get(key), value) for key, value in offer.extra.items() if key != TOKEN_KEY)
    )


def is_payable(offer: Offer) -> bool:
    """Whether the offer has the form that `check` relies on. Ours do; a facilitator is handed anybody's."""
    extra = offer.extra
    invoice = extra.get(TOKEN_KEY)
    return (
        _is_amount(offer.amount)
        and Decimal(offer.amount) > 0
        and _NETWORK.fullmatch(offer.network) is not None
        and int(offer.network[5:]) < 1 << 32
        and _CURRENCY.fullmatch(offer.asset) is not None
        and is_address(offer.pay_to)
        and is_address(extra.get("issuer"))
        and offer.max_timeout_seconds > 0
        and extra.get("areFeesSponsored") is False
        and extra.get("assetTransferMethod", "sequence") in _METHODS
        and (TOKEN_KEY not in extra or (isinstance(invoice, str) and 0 < len(invoice) <= 256 and invoice.isprintable()))
        and all(_is_tag(extra[key]) for key in ("destinationTag", "sourceTag") if key in extra)
        and not any(key in extra for key in _ELSEWHERE)
    )


class _Payload(msgspec.Struct, frozen=True, rename="camel"):
    signed_tx_blob: str
    invoice_id: str | None = None


def check(offer: Offer, payload: dict[str, Any]) -> XrplAuthorization:
    """Decide offline whether `payload` pays `offer`: shape, amount, recipient, invoice and signature, but not when.

    Args:
        offer: our own offer, never the client's copy of it, with the invoice in it where the payment must name one.
        payload: the `payload` member of the payment: ``{"signedTxBlob": "1200…", "invoiceId"?: "…"}``.

    Raises:
        Refused: with the reference implementation's reason, or one in its manner.
    """
    try:
        decoded = msgspec.convert(payload, _Payload)
    except msgspec.ValidationError:
        raise PaymentRefused("invalid_payload") from None
    if len(decoded.signed_tx_blob) > 2 * MAX_BLOB_BYTES or not _HEX.fullmatch(decoded.signed_tx_blob):
        raise PaymentRefused("invalid_payload")
    transaction = read(bytes.fromhex(decoded.signed_tx_blob))
    fields = transaction.fields
    check_fields(offer, fields, decoded.invoice_id)
    sequence, ticket = sequence_and_ticket(offer, fields)
    payer, signer = _payer_and_signer(transaction)
    last_ledger = fields["LastLedgerSequence"]
    return XrplAuthorization(
        payment_id=str(PaymentId(offer.network, payer, last_ledger, transaction.hash)),
        network=offer.network,
        asset=offer.asset,
        payer=payer,
        pay_to=offer.pay_to,
        signature=fields["TxnSignature"],
        signature_checked=signer == payer,
        transaction=transaction.hash,
        blob=transaction.blob.hex().upper(),
        value=fields["Amount"].value,
        issuer=offer.extra["issuer"],
        signer=signer,
        sequence=sequence,
        ticket=ticket,
        fee=fields["Fee"].drops,
        send_max=fields["SendMax"].value,
        last_ledger=last_ledger,
        destination_tag=fields.get("DestinationTag"),
        max_ledgers=max_ledgers(offer),
    )


def max_ledgers(offer: Offer) -> int:
    """For how many ledgers a payment of this offer may be valid."""
    return -(-offer.max_timeout_seconds // LEDGER_SECONDS) + LEDGER_TOLERANCE


def _payer_and_signer(transaction: Transaction) -> tuple[str, str]:
    fields = transaction.fields
    key, signature, account = (fields.get(name, b"") for name in ("SigningPubKey", "TxnSignature", "Account"))
    if len(key) != PUBLIC_KEY_BYTES or key[0] not in (2, 3, ED25519_PREFIX):
        raise refused("signing_pub_key")
    if not account:
        raise refused("account_missing")
    if account == fields["Destination"]:
        raise refused("account_is_pay_to")
    if not is_signed(key, transaction.signed, signature):
        raise refused("signature")
    return address(account), address_of(key)


def _is_amount(text: str) -> bool:
    """Plain decimal text of at most as many digits as the ledger keeps: Decimal() alone takes signs, spaces and exponents."""
    return _AMOUNT.fullmatch(text) is not None and len(text.replace(".", "").strip("0")) <= _PRECISION


def _is_tag(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32


def _same(accepted: object, offered: object) -> bool:
    """Equal and of one kind: 0 is not False here."""
    return type(accepted) is type(offered) and accepted == offered
