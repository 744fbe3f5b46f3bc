"""The verifier of Stellar: scheme `exact` with a signed authorization of a SEP-41 transfer, whose fees the facilitator pays.

The payer signs a contract call and not a transaction: the facilitator puts the call into a transaction from its own account.
Only the network knows balances and used nonces.

Sources: x402-foundation specs/schemes/exact/scheme_exact_stellar.md, SEP-41, SEP-23, CAP-46-11 and CAP-71 (what is signed).
"""

import hashlib
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shared.money import Price
from shared.x402 import authorization, stellar_envelope
from shared.x402 import stellar_xdr as xdr
from shared.x402.curves import is_ed25519_signature
from shared.x402.exact import exact_offer, matches_exactly, strict_base64, unchanged
from shared.x402.networks import STELLAR_USDC, StellarToken
from shared.x402.refusal import PaymentRefused
from shared.x402.stellar_address import ACCOUNT, CONTRACT, Address, parse
from shared.x402.stellar_envelope import BY_ADDRESS, WRONG_INVOCATION, Entry, Envelope
from shared.x402.wire import Offer

TERMS: tuple[str, ...] = ()
TOKEN_KEY = TOKEN_REASON = ""
"""What a payer signs here has no room for a token of the server's."""
completed, matches = unchanged, matches_exactly
MORE_SETTLE_S = 6.0
"""A payment is in the next ledger or in the one after it, and a ledger takes 3 to 6 s."""
LONGEST_TIMEOUT_SECONDS = 600
"""The longest lifetime that an offer of another server may have."""
LEDGER_SECONDS = 5
"""How long a ledger takes, where nobody has measured it: the specification's figure."""
FASTEST_LEDGER_SECONDS = 2.0
"""However fast a network is, no authorization need be valid for more ledgers than that."""
LEDGER_TOLERANCE = 2
"""Nodes are not all at the same ledger: the official verifier's figure."""
FASTEST_CLOSE_SECONDS = 1.0
"""What a ledger may take where we have not seen it. Our sandbox closes one a second."""
REPORTED_AFTER_S = 3.0
"""How old the newest ledger may be when a facilitator reports it."""
MOST_STALE_LEDGERS = 40
"""By how many ledgers the newest one that a facilitator reports may be out of date at most."""
SLOWEST_LEDGER_SECONDS = 10
EXPIRED = "invalid_exact_stellar_signature_expired"

_MOST_CHARS = 11_000
_ENOUGH_LEDGERS = 10
_AMOUNT = re.compile(r"[1-9][0-9]{0,38}", re.ASCII)
_I128_MAX = (1 << 127) - 1
_PREFIX = "invalid_exact_stellar_payload_"
_PREIMAGE_OF_ADDRESS, _PREIMAGE_WITH_ADDRESS = 9, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StellarAuthorization(authorization.Authorization):
    """A payment that passed the static check.

    Attributes:
        payment_id: ``stellar:pubnet:<contract>:<payer>:<nonce>``, the nonce as a decimal number.
        payer: ``G…``, also where the transfer names a multiplexed account of it.
        value: atomic units.
        nonce: the network takes it from this payer once, until it has expired.
        expiration_ledger: the last ledger in which the payment can be settled.
        max_timeout_seconds: as offered.
        source: the account that the client's transaction names. The facilitator replaces it by its own.
        fee: stroops that the client's transaction declares.
        signature: 64 bytes.
    """

    value: int
    nonce: int
    expiration_ledger: int
    max_timeout_seconds: int
    source: str
    fee: int

    def window_refusal(self, now: int, ledger: authorization.KnownLedger | None = None) -> str | None:
        """Judged by the ledger that we know, by its age, and by the pace that the network was seen to have.

        Where the pace is not known, it may be the fastest: the facilitator asks the network itself.
        """
        if ledger is None:
            return None
        stale = math.ceil((ledger.age_s + REPORTED_AFTER_S) / (ledger.ledger_s or FASTEST_CLOSE_SECONDS))
        tolerance = LEDGER_TOLERANCE + min(stale, MOST_STALE_LEDGERS)
        ledger_s = within_bounds(ledger.ledger_s or FASTEST_LEDGER_SECONDS)
        return self.ledger_refusal(ledger.number, ledger_s, tolerance=tolerance)

    def ledger_refusal(self, ledger: int, ledger_s: float, *, tolerance: int = LEDGER_TOLERANCE) -> str | None:
        """Why the payment cannot be settled in the ledger after `ledger`, or None.

        Args:
            ledger_s: how long a ledger takes, in seconds.
            tolerance: how many ledgers longer than offered the payment may be valid.
        """
        if self.expiration_ledger <= ledger:
            return EXPIRED
        if self.expiration_ledger > ledger + lifetime(self.max_timeout_seconds, ledger_s) + tolerance:
            return "invalid_exact_stellar_signature_expiration_too_far"
        return None

    def expires(self, now: int) -> int:
        """The end of the longest authorization that is not refused, were all its ledgers slow."""
        ledgers = lifetime(self.max_timeout_seconds, FASTEST_LEDGER_SECONDS) + LEDGER_TOLERANCE + MOST_STALE_LEDGERS
        return now + ledgers * SLOWEST_LEDGER_SECONDS


def lifetime(seconds: int, ledger_s: float) -> int:
    """How many ledgers pass in a time, rounded up."""
    return int(-(-seconds // ledger_s))


def ledger_seconds(ledgers: int, elapsed_s: int) -> float:
    """How long a ledger takes, measured over so many of them; the specification's figure where they are too few."""
    if ledgers < _ENOUGH_LEDGERS:
        return float(LEDGER_SECONDS)
    return within_bounds(elapsed_s / ledgers)


def within_bounds(ledger_s: float) -> float:
    """How long a ledger counts as: between FASTEST_LEDGER_SECONDS and the specification's figure."""
    return min(max(ledger_s, FASTEST_LEDGER_SECONDS), float(LEDGER_SECONDS))


def offers(token: StellarToken, price: Price, pay_to: str) -> tuple[Offer, ...]:
    """What a call costs in this token. Raises ExcessPrecision when the token cannot express the price."""
    amount = str(price.atomic(token.decimals))
    return (exact_offer(token.network, token.contract, amount, pay_to, areFeesSponsored=True),)


def is_payable(offer: Offer) -> bool:
    """Whether the offer has the form that `check` relies on."""
    asset = parse(offer.asset)
    return bool(
        offer.network in STELLAR_USDC
        and _AMOUNT.fullmatch(offer.amount)
        and int(offer.amount) <= _I128_MAX
        and asset is not None
        and asset.kind == CONTRACT
        and parse(offer.pay_to) is not None
        and 0 < offer.max_timeout_seconds <= LONGEST_TIMEOUT_SECONDS
        and offer.extra.get("areFeesSponsored") is True
    )


def check(offer: Offer, payload: dict[str, Any]) -> StellarAuthorization:
    """Decide whether `payload` pays `offer`: one transfer with its payer's own signature, but not the time window.

    Args:
        offer: our own offer, never the client's copy of it.
        payload: the `payload` member of the payment: ``{"transaction": "<base64 of a TransactionEnvelope>"}``.

    Raises:
        PaymentRefused: it does not, with the specification's reason.
    """
    envelope = _envelope(payload.get("transaction"))
    if envelope.operation_source is not None:
        # Nobody would sign for that account: the settler signs as the source of the transaction.
        raise PaymentRefused(_PREFIX + "unsafe_tx_or_op_source")
    call = envelope.call
    if call.contract != parse(offer.asset):
        raise PaymentRefused(_PREFIX + "wrong_asset")
    if call.function != b"transfer" or len(call.args) != 3:
        raise PaymentRefused(_PREFIX + "wrong_function_name")
    sender, recipient, amount = call.args
    if sender[0] != xdr.ADDRESS:
        raise PaymentRefused(_PREFIX + "malformed")
    if recipient != (xdr.ADDRESS, parse(offer.pay_to)):
        raise PaymentRefused(_PREFIX + "wrong_recipient")
    if amount != (xdr.I128, int(offer.amount)):
        raise PaymentRefused(_PREFIX + "wrong_amount")
    payer: Address = sender[1].account
    if payer.kind != ACCOUNT:
        # Only a contract's own code can check its signature, at the settler's cost.
        raise PaymentRefused(_PREFIX + "unsupported_payer")
    entry = _entry(envelope, payer)
    signature = _signature(entry, payer)
    if not _is_signed(entry, payer, signature, STELLAR_USDC[offer.network].passphrase):
        raise PaymentRefused(_PREFIX + "signature")
    return StellarAuthorization(
        payment_id=f"{offer.network}:{offer.asset}:{payer.text}:{entry.nonce}",
        network=offer.network,
        asset=offer.asset,
        payer=payer.text,
        pay_to=offer.pay_to,
        amount=offer.amount,
        signature=signature,
        value=int(offer.amount),
        nonce=entry.nonce,
        expiration_ledger=entry.expiration_ledger,
        max_timeout_seconds=offer.max_timeout_seconds,
        source=envelope.source.account.text,
        fee=envelope.fee,
    )


def _envelope(transaction: object) -> Envelope:
    if not isinstance(transaction, str):
        raise PaymentRefused(_PREFIX + "malformed")
    try:
        return stellar_envelope.read(strict_base64(transaction, _MOST_CHARS))
    except ValueError:
        raise PaymentRefused(_PREFIX + "malformed") from None


def _entry(envelope: Envelope, payer: Address) -> Entry:
    """The only entry that is allowed: the payer's, for this very call."""
    if not envelope.entries:
        raise PaymentRefused(_PREFIX + "no_auth_entries")
    for entry in envelope.entries:
        if entry.call.raw != envelope.call.raw:
            raise PaymentRefused(WRONG_INVOCATION)
    ours = [entry for entry in envelope.entries if entry.address == payer]
    if not ours or any(entry.signature[0] == xdr.VOID for entry in ours):
        raise PaymentRefused(_PREFIX + "missing_payer_signature")
    if any(entry.signature[0] == xdr.VOID for entry in envelope.entries):
        raise PaymentRefused(_PREFIX + "unexpected_pending_signatures")
    if len(envelope.entries) > 1:
        raise PaymentRefused(_PREFIX + "unexpected_auth_entries")
    return ours[0]


def _signature(entry: Entry, payer: Address) -> bytes:
    """The signature of the account's own key: ``[{public_key, signature}]``. Only the network knows further signers."""
    match entry.signature:
        case (
            xdr.VEC,
            (
                (
                    xdr.MAP,
                    (
                        ((xdr.SYMBOL, b"public_key"), (xdr.BYTES, payer.key)),
                        ((xdr.SYMBOL, b"signature"), (xdr.BYTES, bytes(signature))),
                    ),
                ),
            ),
        ) if len(signature) == 64:
            return signature
    raise PaymentRefused(_PREFIX + "signature")


def _is_signed(entry: Entry, payer: Address, signature: bytes, passphrase: str) -> bool:
    with_address = entry.credentials != BY_ADDRESS
    preimage = b"".join(
        (
            (_PREIMAGE_WITH_ADDRESS if with_address else _PREIMAGE_OF_ADDRESS).to_bytes(4, "big"),
            _network_id(passphrase),
            entry.nonce.to_bytes(8, "big", signed=True),
            entry.expiration_ledger.to_bytes(4, "big"),
            entry.address_raw if with_address else b"",
            entry.invocation_raw,
        )
    )
    return is_ed25519_signature(payer.key, signature, hashlib.sha256(preimage).digest())


@lru_cache(maxsize=8)
def _network_id(passphrase: str) -> bytes:
    return hashlib.sha256(passphrase.encode()).digest()
