"""The verifier of the XRP Ledger: scheme `exact` with a Payment of an issued token that its payer has signed in full.

`check` takes under 0.2 ms. Only the ledger knows sequences, balances and trust lines. Two kinds of client are accepted: the
foundation's, with an InvoiceID and no memo, and t54's, with the invoice also as the only memo and in the payload.

Sources: x402-foundation specs/schemes/exact/scheme_exact_xrpl.md and its TypeScript reference, whose reasons these are; PyPI
x402-xrpl 0.3.4 (t54); xrpl.org, "Payment" and "Transaction Common Fields".
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from shared.money import ExcessPrecision, Price
from shared.x402 import authorization
from shared.x402.exact import exact_offer, has_terms, unchanged
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

TERMS: tuple[str, ...] = ()
TOKEN_KEY = INVOICE
"""The transaction carries the hash of this text as its InvoiceID."""
TOKEN_REASON = PREFIX + "invoice_id_mismatch"
completed = unchanged
MORE_SETTLE_S = 6.0
"""A payment is in the next ledger or in the one after it, and a ledger takes 3 to 6 s."""
LEDGER_SECONDS = 5
LEDGER_TOLERANCE = 2
"""Both turn a timeout in seconds into ledgers, as the scheme says."""
MOST_STALE_LEDGERS = 25
"""By how many ledgers the newest one that a facilitator reports may be out of date."""
SLOWEST_LEDGER_S = 10

_PRECISION = 15
"""How many decimal digits an issued currency certainly keeps."""
_AMOUNT = re.compile(r"(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,18})?", re.ASCII)
_CURRENCY = re.compile(r"(?!0{40})[0-9A-F]{40}", re.ASCII)
_NETWORK = re.compile(r"xrpl:(?:0|[1-9][0-9]{0,9})", re.ASCII)
_PAYMENT_ID = re.compile(
    r"(xrpl:(?:0|[1-9][0-9]{0,9})):(r[1-9A-HJ-NP-Za-km-z]{24,34}):([1-9][0-9]{0,9}):([0-9A-F]{64})", re.ASCII
)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+", re.ASCII)
_METHODS = ("sequence", "ticketSequence")
_ELSEWHERE = ("crossCurrency", "facilitator", "facilitatorProof")
"""Keys of other servers' `extra` that ask for what this rail does not settle."""


@dataclass(frozen=True, slots=True)
class PaymentId:
    """Names a payment by what the ledger makes single-use.

    It contains the payment's last ledger, so that a node can say for certain that the payment was never made.
    """

    network: str
    payer: str
    last_ledger: int
    transaction: str

    def __str__(self) -> str:
        return f"{self.network}:{self.payer}:{self.last_ledger}:{self.transaction}"

    @classmethod
    def parse(cls, text: str) -> "PaymentId | None":
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
        signature_checked: False where another key than the account's own has signed. Only the ledger knows its regular key.
        transaction: hash of the signed transaction, in upper case.
        blob: the signed transaction, upper-case hex.
        issuer: classic address.
        sequence: 0 when the payment uses a ticket.
        ticket: 0 when the payment uses the account's sequence.
        fee: drops.
        send_max: the most of the token that the payer spends.
        destination_tag: None when there is none.
        max_ledgers: for how many ledgers the offer lets it be valid.
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

    def window_refusal(self, now: int, ledger: authorization.KnownLedger | None = None) -> str | None:
        """Judged by the ledger. The network may have closed others since it was reported."""
        if ledger is None:
            return None
        return self.ledger_refusal(ledger.number, tolerance=MOST_STALE_LEDGERS)

    def ledger_refusal(self, ledger: int, *, tolerance: int = 0) -> str | None:
        """Why the payment cannot be settled after the validated `ledger`, or None. The network may be `tolerance` further."""
        if self.last_ledger <= ledger:
            return PREFIX + "expired"
        if self.last_ledger > ledger + tolerance + self.max_ledgers:
            return PREFIX + "lastledgersequence_too_large"
        return None

    def expires(self, now: int) -> int:
        """The end of the longest payment that `window_refusal` lets pass, were all its ledgers slow."""
        return now + (self.max_ledgers + MOST_STALE_LEDGERS) * SLOWEST_LEDGER_S


def offers(token: XrplToken, price: Price, pay_to: str) -> tuple[Offer, ...]:
    """What a call costs in this token. Raises ExcessPrecision when the token cannot express the price."""
    if len(price.value.normalize().as_tuple().digits) > _PRECISION:
        raise ExcessPrecision(f"{price.value} has more than {_PRECISION} digits")
    extra = {"issuer": token.issuer, "areFeesSponsored": False}
    return (exact_offer(token.network, token.currency, price.text(), pay_to, **extra),)


def matches(offer: Offer, accepted: Offer) -> bool:
    """Whether the client accepted this very offer, the invoice aside. The amount may have another spelling."""
    return (
        has_terms(offer, accepted, token_key=TOKEN_KEY)
        and _is_amount(accepted.amount)
        and Decimal(accepted.amount) == Decimal(offer.amount)
        and (accepted.asset, accepted.pay_to) == (offer.asset, offer.pay_to)
    )


def is_payable(offer: Offer) -> bool:
    """Whether the offer has the form that `check` relies on."""
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
    """Decide whether `payload` pays `offer`: form, amount, recipient, invoice and signature, but not the time window.

    Args:
        offer: our own offer, never the client's copy of it; with the invoice where the payment must name one.
        payload: the `payload` member of the payment: ``{"signedTxBlob": "1200…", "invoiceId"?: "…"}``.

    Raises:
        PaymentRefused: it does not, with the reference implementation's reason or one like it.
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
        amount=format(fields["Amount"].value.normalize(), "f"),
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
    """Whether it is plain decimal text with no more digits than the ledger keeps. Decimal() also takes signs and exponents."""
    return _AMOUNT.fullmatch(text) is not None and len(text.replace(".", "").strip("0")) <= _PRECISION


def _is_tag(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 32
