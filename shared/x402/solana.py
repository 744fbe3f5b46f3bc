"""The Solana rail, offline: scheme `exact` with a TransferChecked of USDC, in a transaction whose fee the facilitator pays.

`offers()` says what may be paid, `check()` decides statically whether a transaction pays that and asks nothing else of
whoever pays the fee, in about 0.12 ms, nearly all of it the payer's signature. Only the chain knows balances and which
blockhashes are alive.

Sources: x402-foundation specs/schemes/exact/scheme_exact_svm.md (the static layout), the error codes of npm @x402/svm 2.27.0.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from shared.money import Price
from shared.x402 import authorization
from shared.x402.networks import SOLANA_USDC, SolanaToken
from shared.x402.refusal import PaymentRefused
from shared.x402.solana_address import decode_base58, encode_base58, is_address, may_be_token_account, token_account
from shared.x402.solana_layout import check_layout
from shared.x402.solana_message import MAX_TRANSACTION_BYTES, Malformed, Transaction, read_transaction
from shared.x402.solana_signature import is_signed_by
from shared.x402.wire import Offer

SCHEME = "exact"
MAX_TIMEOUT_SECONDS = 60
"""Offered lifetime of a payment. The chain's own is that of a blockhash: 150 blocks, a minute or a little more."""
TOKEN_KEY = "memo"  # noqa: S105  # the name of a member
"""Of `extra`: the text that the payment has to carry as its memo."""
EXPIRES_WITHIN_S = 300
"""No blockhash lives that long."""
MAX_MEMO_BYTES = 256

_U64 = re.compile(r"0|[1-9][0-9]{0,19}", re.ASCII)
_MAX_PAYLOAD_CHARS = (MAX_TRANSACTION_BYTES + 2) // 3 * 4
_PREFIX = "invalid_exact_svm_payload_"


@dataclass(frozen=True, slots=True, kw_only=True)
class SolanaAuthorization(authorization.Authorization):
    """A payment that passed the static check.

    Attributes:
        payment_id: ``solana:<genesis>:<mint>:<payer>:<SHA-256 of the message, hex>``: a node takes a message once.
        payer: who signs the transfer: the owner of the account that pays.
        signature: the payer's, of `message`.
        value: atomic units.
        message: all that is signed. The facilitator's signature of the same bytes makes it a transaction.
        blockhash: the transaction lives as long as this is among the last 150.
        source, destination: the token accounts.
    """

    value: int
    message: bytes
    blockhash: bytes
    source: bytes
    destination: bytes

    def window_refusal(self, now: int, ledger: int | None = None) -> str | None:
        """Never: only the chain knows how old a blockhash is."""
        return None

    def expires(self, now: int) -> int:
        """By when its blockhash is dead, were it the newest one."""
        return now + EXPIRES_WITHIN_S


def offers(token: SolanaToken, price: Price, pay_to: str) -> tuple[Offer, ...]:
    """What a call costs on this rail, without the fee payer. Raises ExcessPrecision when the token cannot express the price."""
    return (
        Offer(
            scheme=SCHEME,
            network=token.network,
            amount=str(price.atomic(token.decimals)),
            asset=token.mint,
            pay_to=pay_to,
            max_timeout_seconds=MAX_TIMEOUT_SECONDS,
            extra={"paymentFlow": "upfront"},
        ),
    )


def with_fee_payer(offer: Offer, kind_extra: dict[str, Any] | None) -> Offer | None:
    """The offer with the fee payer that a facilitator's /supported names; None when it names none that can be used."""
    fee_payer = (kind_extra or {}).get("feePayer")
    if not is_address(fee_payer):
        return None
    return msgspec.structs.replace(offer, extra={**offer.extra, "feePayer": fee_payer})


def matches(offer: Offer, accepted: Offer) -> bool:
    """Whether the client accepted this very offer, the memo aside. Clients may add keys to `extra`."""
    return (
        accepted.scheme == offer.scheme
        and accepted.network == offer.network
        and accepted.amount == offer.amount
        and accepted.asset == offer.asset
        and accepted.pay_to == offer.pay_to
        and accepted.max_timeout_seconds == offer.max_timeout_seconds
        and all(accepted.extra.get(key) == value for key, value in offer.extra.items() if key != TOKEN_KEY)
    )


def is_payable(offer: Offer) -> bool:
    """Whether the offer has the form that `check` relies on. Ours do; a facilitator is handed anybody's."""
    try:
        _read(offer)
    except ValueError:
        return False
    return True


def is_memo(value: object) -> bool:
    """Whether clients carry it: a text of 1 to 256 bytes. They take an empty one for none."""
    try:
        return isinstance(value, str) and 0 < len(value.encode()) <= MAX_MEMO_BYTES
    except UnicodeEncodeError:
        return False


class _Payload(msgspec.Struct, frozen=True):
    transaction: str


class _Terms(NamedTuple):
    mint: bytes
    decimals: int
    destination: bytes
    fee_payer: bytes


def check(offer: Offer, payload: dict[str, Any]) -> SolanaAuthorization:
    """Decide offline whether `payload` pays `offer`. What its blockhash and the balances allow, only the chain knows.

    Args:
        offer: our own offer, with the fee payer, and with the memo that we gave out, if we did.
        payload: the `payload` member of the payment: ``{"transaction": "<base64>"}``.

    Raises:
        Refused: with the specification's reason, or the SDK's.
    """
    try:
        decoded = msgspec.convert(payload, _Payload)
    except msgspec.ValidationError:
        raise PaymentRefused("invalid_payload") from None
    if "feePayer" not in offer.extra:
        raise PaymentRefused(_PREFIX + "missing_fee_payer")
    try:
        terms, amount, memo = _read(offer)
    except ValueError:
        raise PaymentRefused("invalid_payment_requirements") from None

    transaction = _transaction(decoded.transaction)
    transfer = check_layout(transaction.message, fee_payer=terms.fee_payer, memo=memo)
    if transfer.mint != terms.mint:
        raise PaymentRefused(_PREFIX + "mint_mismatch")
    if transfer.decimals != terms.decimals:
        raise PaymentRefused(_PREFIX + "decimals_mismatch")
    if transfer.destination != terms.destination:
        raise PaymentRefused(_PREFIX + "recipient_mismatch")
    if transfer.amount != amount:
        raise PaymentRefused(_PREFIX + ("amount_insufficient" if transfer.amount < amount else "amount_mismatch"))
    payer, signature = transaction.message.keys[1], transaction.signatures[1]
    if not may_be_token_account(transfer.source, payer, terms.mint):
        # The payer may spend from another's account when that one allowed it, and would not be whose money it is.
        raise PaymentRefused(_PREFIX + "source_mismatch")
    if transfer.source == transfer.destination:
        # It would succeed, and nothing would move.
        raise PaymentRefused(_PREFIX + "source_is_destination")
    if not is_signed_by(payer, signature, transaction.signed):
        raise PaymentRefused(_PREFIX + "signature_invalid")

    address = encode_base58(payer)
    return SolanaAuthorization(
        payment_id=f"{offer.network}:{offer.asset}:{address}:{hashlib.sha256(transaction.signed).hexdigest()}",
        network=offer.network,
        asset=offer.asset,
        payer=address,
        pay_to=offer.pay_to,
        signature=signature,
        value=transfer.amount,
        message=transaction.signed,
        blockhash=transaction.message.blockhash,
        source=transfer.source,
        destination=transfer.destination,
    )


def token_on(network: str) -> SolanaToken:
    """The USDC mint of a network. Raises KeyError when there is none that we know."""
    return SOLANA_USDC[network]


def _read(offer: Offer) -> tuple[_Terms, int, bytes | None]:
    """Terms, amount and memo. Raises ValueError when one of them has the wrong form."""
    fee_payer, memo = offer.extra.get("feePayer"), None
    if not isinstance(fee_payer, str) or not _U64.fullmatch(offer.amount):
        raise ValueError
    amount = int(offer.amount)
    if amount >= 1 << 64:
        raise ValueError
    if TOKEN_KEY in offer.extra:
        if not is_memo(offer.extra[TOKEN_KEY]):
            raise ValueError
        memo = offer.extra[TOKEN_KEY].encode()
    return _terms(offer.network, offer.asset, offer.pay_to, fee_payer), amount, memo


@lru_cache(maxsize=64)
def _terms(network: str, asset: str, pay_to: str, fee_payer: str) -> _Terms:
    token = SOLANA_USDC.get(network)
    if token is None or asset != token.mint:
        raise ValueError
    mint = decode_base58(token.mint, 32)
    destination = token_account(decode_base58(pay_to, 32), mint)
    return _Terms(mint, token.decimals, destination, decode_base58(fee_payer, 32))


def _transaction(text: str) -> Transaction:
    if len(text) > _MAX_PAYLOAD_CHARS:
        raise PaymentRefused(_PREFIX + "transaction_could_not_be_decoded")
    try:
        raw = base64.b64decode(text, validate=True)
        # Python reads other spellings of the last characters, too.
        if base64.b64encode(raw).decode() != text:
            raise ValueError
        return read_transaction(raw)
    except (Malformed, binascii.Error, ValueError):
        raise PaymentRefused(_PREFIX + "transaction_could_not_be_decoded") from None
