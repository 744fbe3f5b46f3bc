"""Checks the fields of a payment on the XRP Ledger against an offer."""

import hashlib
from decimal import Decimal
from typing import Any

from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Offer
from shared.x402.xrpl_binary import Drops, Foreign, Issued, Transaction, Unreadable, decode
from shared.x402.xrpl_keys import account_id

INVOICE = "invoiceId"
MAX_FEE_DROPS = 10_000
"""The most that a payer may spend on the network's fee, as in the reference. More is a mistake, or theft from the payer."""
LAST_STANDARD_NETWORK = 1024
"""On networks up to this number transactions must not name their network. On others they must."""

PREFIX = "invalid_exact_xrpl_payload_"
_PAYMENT = 0
_FULLY_CANONICAL = 0x80000000
_PARTIAL_PAYMENT = 0x00020000
_FOREIGN = {
    "Paths": "paths_not_allowed",
    "DeliverMin": "delivermin_not_allowed",
    "Delegate": "delegate_not_allowed",
    "Signers": "multisig_not_supported",
}


def invoice_hash(invoice: str) -> bytes:
    """The InvoiceID of a transaction that pays an invoice."""
    return hashlib.sha256(invoice.encode()).digest()


def refused(reason: str) -> PaymentRefused:
    """A refusal with one of the scheme's own reasons, which share a prefix."""
    return PaymentRefused(PREFIX + reason)


def read(blob: bytes) -> Transaction:
    """The payment in the blob. Raises PaymentRefused unless it is a canonical payment with permitted fields only."""
    try:
        transaction = decode(blob)
    except Foreign as foreign:
        raise refused(_FOREIGN.get(foreign.field, "field_not_allowed")) from None
    except Unreadable:
        raise refused("transaction_could_not_be_decoded") from None
    if transaction.fields.get("TransactionType") != _PAYMENT:
        raise refused("transaction_type")
    return transaction


def check_fields(offer: Offer, fields: dict[str, Any], invoice: str | None) -> None:
    """Raises PaymentRefused unless the fields pay the offer.

    Args:
        invoice: the payload's own copy of the invoice; None when it has none.
    """
    _check_amounts(offer, fields)
    _check_recipient(offer, fields)
    _check_network(offer, fields)
    _check_invoice(offer, fields, invoice)
    _check_fee(fields)
    if not fields.get("LastLedgerSequence"):
        raise refused("lastledgersequence_missing")


def _check_amounts(offer: Offer, fields: dict[str, Any]) -> None:
    """Exactly the amount of the very token, and nothing that would deliver less."""
    amount, most = fields.get("Amount"), fields.get("SendMax")
    if not isinstance(amount, Issued):
        raise refused("iou_amount")
    if amount.currency != bytes.fromhex(offer.asset):
        raise refused("iou_currency_mismatch")
    if amount.issuer != account_id(offer.extra["issuer"]):
        raise refused("iou_issuer_mismatch")
    if amount.value != Decimal(offer.amount):
        raise refused("iou_value_mismatch")
    if not isinstance(most, Issued):
        raise refused("sendmax_required")
    if (most.currency, most.issuer) != (amount.currency, amount.issuer):
        raise refused("sendmax_iou_mismatch")
    if most.value < amount.value:
        raise refused("sendmax_too_low")
    flags = fields.get("Flags", 0)
    if flags & _PARTIAL_PAYMENT:
        raise refused("partial_payment_not_allowed")
    if flags & ~_FULLY_CANONICAL:
        raise refused("flags_not_allowed")


def _check_recipient(offer: Offer, fields: dict[str, Any]) -> None:
    if fields.get("Destination") != account_id(offer.pay_to):
        raise refused("destination_mismatch")
    if fields.get("DestinationTag") != offer.extra.get("destinationTag"):
        raise refused("destination_tag_mismatch")
    if "SourceTag" in fields and fields["SourceTag"] != offer.extra.get("sourceTag"):
        raise refused("source_tag_mismatch")


def _check_network(offer: Offer, fields: dict[str, Any]) -> None:
    network = int(offer.network[5:])
    if network <= LAST_STANDARD_NETWORK:
        if "NetworkID" in fields:
            raise refused("network_id_for_standard_network")
    elif fields.get("NetworkID") != network:
        raise refused("network_id_mismatch")


def _check_invoice(offer: Offer, fields: dict[str, Any], named: str | None) -> None:
    """The InvoiceID must be the offer's. t54's client also sends it as a memo and in the payload: both must be equal to it."""
    invoice = offer.extra.get(INVOICE)
    memos = fields.get("Memos")
    if invoice is None:
        if memos is not None:
            raise refused("memos_not_allowed")
        return
    if "InvoiceID" not in fields:
        raise refused("invoice_missing")
    if fields["InvoiceID"] != invoice_hash(invoice) or named not in (None, invoice):
        raise refused("invoice_id_mismatch")
    if memos is not None and memos != [{"MemoData": invoice.encode()}]:
        raise refused("memos_not_allowed")


def _check_fee(fields: dict[str, Any]) -> None:
    fee = fields.get("Fee")
    if not isinstance(fee, Drops) or fee.drops == 0:
        raise refused("fee_missing")
    if fee.drops > MAX_FEE_DROPS:
        raise refused("fee_too_high")


def sequence_and_ticket(offer: Offer, fields: dict[str, Any]) -> tuple[int, int]:
    """Sequence and ticket of the payment, one of which is 0. Without a method in the offer the payer may choose."""
    method = offer.extra.get("assetTransferMethod")
    ticket = fields.get("TicketSequence")
    if method == "sequence" and ticket is not None:
        raise refused("ticket_sequence_not_allowed")
    if method == "ticketSequence" and not ticket:
        raise refused("ticket_sequence_missing")
    sequence = fields.get("Sequence")
    if ticket is not None:
        if sequence != 0 or ticket == 0:
            raise refused("sequence_must_be_zero")
        return 0, int(ticket)
    if not sequence:
        raise refused("sequence_missing")
    return int(sequence), 0
