"""How tests sign a payment on the XRP Ledger, with xrpl-py and not with our own codec: one place, for every folder of tests."""

import hashlib
from typing import Any

import msgspec
from xrpl.constants import CryptoAlgorithm
from xrpl.core.binarycodec import encode, encode_for_signing
from xrpl.core.keypairs import sign
from xrpl.wallet import Wallet

from shared.money import Price
from shared.x402 import xrpl
from shared.x402.networks import XRPL_RLUSD, XRPL_USDC, XrplToken
from shared.x402.wire import Offer

RLUSD, USDC = XRPL_RLUSD["xrpl:0"], XRPL_USDC["xrpl:0"]
INVOICE = "v1.9gTqW0-example_token"
ED25519, SECP256K1 = CryptoAlgorithm.ED25519, CryptoAlgorithm.SECP256K1

Json = dict[str, Any]


def offer(pay_to: str, *, token: XrplToken = RLUSD, price: str = "0.001", **extra: Any) -> Offer:
    """What we ask, with the invoice of one challenge in it, or with other things in `extra`."""
    [made] = xrpl.offers(token, Price.of(price), pay_to)
    return msgspec.structs.replace(made, extra={**made.extra, "invoiceId": INVOICE, **extra})


def amount(value: str, token: XrplToken = RLUSD) -> Json:
    """An amount of a token."""
    return {"currency": token.currency, "issuer": token.issuer, "value": value}


def transaction(payer: Wallet, wanted: Offer, **changes: Any) -> Json:
    """The payment that the foundation's client makes of an offer, with some fields changed, or left out by None."""
    token = {"currency": wanted.asset, "issuer": wanted.extra["issuer"], "value": wanted.amount}
    fields = {
        "TransactionType": "Payment",
        "Account": payer.address,
        "Destination": wanted.pay_to,
        "Amount": token,
        "SendMax": token,
        "Fee": "10",
        "Sequence": 7,
        "LastLedgerSequence": 114,
    }
    if "invoiceId" in wanted.extra:
        fields["InvoiceID"] = hashlib.sha256(wanted.extra["invoiceId"].encode()).hexdigest().upper()
    return {name: value for name, value in (fields | changes).items() if value is not None}


def memo(text: str, **more: str) -> Json:
    """A memo as t54's client writes the invoice."""
    return {"Memo": {"MemoData": text.encode().hex().upper(), **more}}


def blob(payer: Wallet, fields: Json) -> str:
    """Signed, in hex."""
    named = {**fields, "SigningPubKey": payer.public_key}
    signature = sign(bytes.fromhex(encode_for_signing(named)), payer.private_key)
    return encode({**named, "TxnSignature": signature})


def payload(payer: Wallet, wanted: Offer, **changes: Any) -> Json:
    """The scheme's payload, well signed over exactly these fields."""
    return {"signedTxBlob": blob(payer, transaction(payer, wanted, **changes))}


def t54_payload(payer: Wallet, wanted: Offer, **changes: Any) -> Json:
    """The same, as PyPI x402-xrpl 0.3.4 makes it: the invoice also as the only memo, and beside the blob."""
    invoice = wanted.extra["invoiceId"]
    return {**payload(payer, wanted, Memos=[memo(invoice)], **changes), "invoiceId": invoice}


def body(payload: Json, wanted: Offer) -> Json:
    """The body of /verify and /settle."""
    requirements = msgspec.to_builtins(wanted)
    payment = {"x402Version": 2, "accepted": requirements, "payload": payload}
    return {"x402Version": 2, "paymentPayload": payment, "paymentRequirements": requirements}
