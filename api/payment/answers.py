"""Reads the answers of a facilitator. An answer of /settle is read whatever its HTTP status, and decides nothing in doubt."""

import base64
import re
from typing import TypeVar

import msgspec

from api.payment.unsettled import Declined, Failing, Undecided
from shared.x402.networks import V1_NAMES
from shared.x402.wire import Offer, Settlement, Verification

T = TypeVar("T")

REASON = re.compile(r"[a-z0-9_]{1,100}", re.ASCII)
"""The form of the specification's reasons. Any other text is not repeated, and is not a definite refusal."""
MAX_REASON = 300
"""Characters that are kept of why a catalogue does not take a call."""
_TRANSACTION = re.compile(r"[0-9A-Za-z+/=_-]{1,128}", re.ASCII)
_ITS_TROUBLE = re.compile(r"unexpected_|internal_")
_OPEN = re.compile(
    # Broadcast and not confirmed (CDP, the SDKs), and the same on XRPL.
    r"(?:settlement|transaction|payment)_pending|settlement_status_unknown"
    # Made before, by this very payment perhaps: a copy of the call, or somebody who saw it, may have been faster.
    r"|duplicate_settlement|already"
    # It went wrong, and nobody says whether before or after it was broadcast.
    r"|time_?out|timed_out|_error$|unavailable|(?:settlement|submission|transaction)_failed$"
    # The same in the words of Coinbase's facilitator (errorReason in its OpenAPI document, cdp-sdk 1.51.0).
    r"|node_failure$|failed_onchain$|block_height_exceeded$|failed_to_(?:execute_transfer|get_receipt)$|confirmation_failed$"
)
_REFUSES_US = (401, 403, 407, 408, 425, 429)
"""The facilitator refuses us, not the payment. Nobody knows whether it looked at the payment first."""
_OF_THIS_CALL = (400, 409, 413, 415, 422)
"""A payer may have made the payment so that it gets this status: these do not count as failures of the facilitator."""


class _Settled(msgspec.Struct, frozen=True, rename="camel"):
    """The parts of a /settle answer that we read. A refusal may leave out or null the parts that it does not have."""

    success: bool
    transaction: str | None = None
    network: str | None = None
    payer: str | None = None
    amount: str | None = None
    error_reason: str | None = None


def settlement(status: int, body: bytes, offer: Offer, payer: str) -> Settlement:
    """The settlement that a /settle answer confirms. Raises Declined and Undecided."""
    try:
        answer = decode(body, _Settled)
    except Undecided:
        if status in _OF_THIS_CALL:
            raise
        raise Failing(f"HTTP {status}, and the answer cannot be read") from None
    if answer.success:
        if status >= 300 or not _describes(answer, offer, payer):
            raise Failing("the facilitator's success does not describe this payment")
        return Settlement(
            success=True,
            transaction=answer.transaction or "",
            network=offer.network,
            payer=payer,
            amount=offer.amount,
        )
    reason = answer.error_reason or ""
    if 300 <= status < 400 or status in _REFUSES_US:
        raise Failing(f"HTTP {status}")
    # An answer that names a transaction decides nothing, and neither does a facilitator in trouble.
    if answer.transaction:
        raise Undecided(shown(reason))
    in_trouble = not reason or _ITS_TROUBLE.match(reason) is not None
    if status >= 500:
        raise Failing(shown(reason)) if in_trouble else Undecided(shown(reason))
    if in_trouble or _OPEN.search(reason) or not REASON.fullmatch(reason):
        raise Undecided(shown(reason))
    raise Declined(reason, Settlement(success=False, transaction="", network=offer.network, payer=payer))


def verification(status: int, body: bytes) -> Verification:
    """The verdict of a /verify answer. Raises Undecided."""
    answer = decode(body, Verification)
    reason = answer.invalid_reason or ""
    if (answer.is_valid and status >= 300) or (status >= 500 and not reason) or status in _REFUSES_US:
        raise Undecided(f"no verdict: HTTP {status}")
    if not answer.is_valid and _ITS_TROUBLE.match(reason):
        raise Undecided(shown(reason))
    return answer


class BazaarStatus(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a facilitator says in EXTENSION-RESPONSES of the bazaar extension: `success`, `processing` or `rejected`."""

    status: str
    rejected_reason: str | None = None


class _ExtensionResponses(msgspec.Struct, frozen=True):
    bazaar: BazaarStatus | None = None


def bazaar_status(header: str) -> BazaarStatus | None:
    """What the header EXTENSION-RESPONSES says of the bazaar; None where it says nothing of it, or cannot be read."""
    try:
        said = msgspec.json.decode(base64.b64decode(header), type=_ExtensionResponses).bazaar
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None
    if said is None or not REASON.fullmatch(said.status):
        return None
    reason = (said.rejected_reason or "").encode("ascii", "replace").decode()[:MAX_REASON]
    return BazaarStatus(said.status, "".join(filter(str.isprintable, reason)) or None)


def _describes(answer: _Settled, offer: Offer, payer: str) -> bool:
    """Whether the answer is about this payment. Some facilitators still use the older names of networks."""
    network = answer.network or ""
    return (
        _TRANSACTION.fullmatch(answer.transaction or "") is not None
        and V1_NAMES.get(network, network) == offer.network
        and _is_payer(answer.payer or payer, offer, payer)
        and (answer.amount or offer.amount) == offer.amount
    )


def _is_payer(said: str, offer: Offer, payer: str) -> bool:
    """Whether the answer names our payer. On Solana it may also name the fee payer, as its scheme says."""
    if said.startswith("0x"):
        return said.lower() == payer.lower()
    return said in (payer, offer.extra.get("feePayer"))


def shown(reason: str) -> str:
    """A reason for our log, which takes no free text of a facilitator."""
    if not reason:
        return "no reason given"
    return reason if REASON.fullmatch(reason) else "a reason that is not in the specification's words"


def decode(body: bytes, kind: type[T]) -> T:
    """Raises Undecided."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Undecided("the answer cannot be read") from None
