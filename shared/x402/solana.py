"""The verifier of Solana: scheme `exact` with a TransferChecked of USDC, in a transaction whose fee the facilitator pays.

`check` also makes sure that the transaction costs its fee payer nothing but the fee. It takes about 0.12 ms, nearly all for
the payer's signature. Only the chain knows balances and which blockhashes are alive.

Sources: x402-foundation specs/schemes/exact/scheme_exact_svm.md (the static layout), the error codes of npm @x402/svm 2.27.0.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from shared.money import Price
from shared.x402 import authorization
from shared.x402.curves import is_ed25519_signature
from shared.x402.exact import exact_offer, matches_exactly, strict_base64
from shared.x402.networks import SOLANA_USDC, SolanaToken
from shared.x402.refusal import PaymentRefused
from shared.x402.solana_address import decode_base58, encode_base58, is_address, may_be_token_account, token_account
from shared.x402.solana_layout import check_layout
from shared.x402.solana_message import MAX_TRANSACTION_BYTES, Transaction, read_transaction
from shared.x402.wire import Offer

TERMS: tuple[str, ...] = ("feePayer",)
TOKEN_KEY = "memo"  # noqa: S105  # the name of a member
"""The payment must carry this text as its memo."""
TOKEN_REASON = "invalid_exact_svm_payload_memo_mismatch"  # noqa: S105  # a reason
MORE_SETTLE_S = 0.0
EXPIRES_WITHIN_S = 300
"""No blockhash lives that long: it takes 150 blocks, a minute or a little more."""
MAX_MEMO_BYTES = 256

_U64 = re.compile(r"0|[1-9][0-9]{0,19}", re.ASCII)
_MAX_PAYLOAD_CHARS = (MAX_TRANSACTION_BYTES + 2) // 3 * 4
_PREFIX = "invalid_exact_svm_payload_"

_ORDER = 2**252 + 27742317777372353535851937790883648493
_Y = (1 << 255) - 1
_P = 2**255 - 19
# The y of every point of small order: 0, 1, -1 and two of order 8, with their other spellings in 255 bits. For such a key
# every message has a valid signature. The two of order 8 come from libsodium's table.
_ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
SMALL_ORDER = frozenset({0, 1, _P - 1, _P, _P + 1, _ORDER_8, _P - _ORDER_8})


@dataclass(frozen=True, slots=True, kw_only=True)
class SolanaAuthorization(authorization.Authorization):
    """A payment that passed the static check.

    Attributes:
        payment_id: ``solana:<genesis>:<mint>:<payer>:<SHA-256 of the message, hex>``: a node takes a message once.
        payer: the owner of the token account that pays, who signs the transfer.
        signature: the payer's, of `message`.
        value: atomic units.
        message: the signed bytes. With the facilitator's signature they become a transaction.
        blockhash: the transaction is valid while this is one of the last 150.
        source, destination: the token accounts.
    """

    value: int
    message: bytes
    blockhash: bytes
    source: bytes
    destination: bytes

    def window_refusal(self, now: int, ledger: authorization.KnownLedger | None = None) -> str | None:
        """Always None: only the chain knows how old a blockhash is."""
        return None

    def expires(self, now: int) -> int:
        """The time when even the newest blockhash is dead."""
        return now + EXPIRES_WITHIN_S


def offers(token: SolanaToken, price: Price, pay_to: str) -> tuple[Offer, ...]:
    """What a call costs, without the fee payer. Raises ExcessPrecision when the token cannot express the price."""
    return (exact_offer(token.network, token.mint, str(price.atomic(token.decimals)), pay_to),)


def completed(offer: Offer, terms: Mapping[str, Any]) -> Offer | None:
    """The offer with the fee payer that the facilitator's /supported names; None when that is no address."""
    fee_payer = terms.get("feePayer")
    if not is_address(fee_payer):
        return None
    return msgspec.structs.replace(offer, extra={**offer.extra, "feePayer": fee_payer})


def matches(offer: Offer, accepted: Offer) -> bool:
    """Whether the client accepted this very offer, the memo aside."""
    return matches_exactly(offer, accepted, token_key=TOKEN_KEY)


def is_payable(offer: Offer) -> bool:
    """Whether the offer has the form that `check` relies on."""
    try:
        _read(offer)
    except ValueError:
        return False
    return True


def is_memo(value: object) -> bool:
    """Whether clients can carry it: a text of 1 to 256 bytes. They treat an empty text as no memo."""
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
    """Decide whether `payload` pays `offer`: layout, amount, recipient, memo and signature.

    Args:
        offer: our own offer with the fee payer, and with the memo if we gave one out.
        payload: the `payload` member of the payment: ``{"transaction": "<base64>"}``.

    Raises:
        PaymentRefused: it does not, with the specification's reason or the SDK's.
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
        # The payer could be a delegate, who spends somebody else's money.
        raise PaymentRefused(_PREFIX + "source_mismatch")
    if transfer.source == transfer.destination:
        # The transfer would succeed and move nothing.
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
        amount=offer.amount,
        signature=signature,
        value=transfer.amount,
        message=transaction.signed,
        blockhash=transaction.message.blockhash,
        source=transfer.source,
        destination=transfer.destination,
    )


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
    try:
        return read_transaction(strict_base64(text, _MAX_PAYLOAD_CHARS))
    except ValueError:
        raise PaymentRefused(_PREFIX + "transaction_could_not_be_decoded") from None


def is_signed_by(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether 64 bytes are the key's signature in its only accepted form: s below the group's order, no small orders."""
    if int.from_bytes(signature[32:], "little") >= _ORDER:
        return False
    if (
        int.from_bytes(signature[:32], "little") & _Y in SMALL_ORDER
        or int.from_bytes(key, "little") & _Y in SMALL_ORDER
    ):
        return False
    return is_ed25519_signature(key, signature, message)
