"""What a facilitator's answers mean. Those of /settle are read on every status, and in doubt nothing is decided."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from api.payment.unsettled import Declined, Failing, Undecided
from shared.x402.networks import V1_NAMES
from shared.x402.wire import Offer, Settlement, Verification

T = TypeVar("T")

REASON = re.compile(r"[a-z0-9_]{1,100}", re.ASCII)
"""The form of a reason in the specification's words. Anything else is not repeated, and refuses nothing for certain."""
_TRANSACTION = re.compile(r"[0-9A-Za-z+/=_-]{1,128}", re.ASCII)
_ITS_TROUBLE = re.compile(r"unexpected_|internal_")
_OPEN = re.compile(
    # Broadcast and not confirmed (CDP, the SDKs), and the same on XRPL.
    r"(?:settlement|transaction|payment)_pending|settlement_status_unknown"
    # Made before, by this very payment perhaps: a copy of the call, or somebody who saw it, may have been faster.
    r"|duplicate_settlement|already"
    # It went wrong, and nobody says whether before or after it was broadcast.
    r"|time_?out|timed_out|_error$|unavailable|(?:settlement|submission|transaction)_failed$"
)
_REFUSES_US = (401, 403, 407, 408, 425, 429)
"""It refuses who calls, not the payment; whether before or after looking at it, nobody knows."""
_OF_THIS_CALL = (400, 409, 413, 415, 422)
"""Whoever made the payment may have made it so that it is answered like this."""


class _Settled(msgspec.Struct, frozen=True, rename="camel"):
    """What is read of an answer of /settle. Those that say no may leave out or null what they do not have."""

    success: bool
    transaction: str | None = None
    network: str | None = None
    payer: str | None = None
    amount: str | None = None
    error_reason: str | None = None


def settlement(status: int, body: bytes, offer: Offer, payer: str) -> Settlement:
    """What an answer of /settle says of this payment. Raises Declined and Undecided."""
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
    # A facilitator in trouble, or one that names a transaction, has not decided, whatever it says.
    if answer.transaction:
        raise Undecided(_shown(reason))
    in_trouble = not reason or _ITS_TROUBLE.match(reason) is not None
    if status >= 500:
        raise Failing(_shown(reason)) if in_trouble else Undecided(_shown(reason))
    if in_trouble or _OPEN.search(reason) or not REASON.fullmatch(reason):
        raise Undecided(_shown(reason))
    raise Declined(reason, Settlement(success=False, transaction="", network=offer.network, payer=payer))


def verification(status: int, body: bytes) -> Verification:
    """What an answer of /verify says. Raises Undecided."""
    answer = decode(body, Verification)
    reason = answer.invalid_reason or ""
    if (answer.is_valid and status >= 300) or (status >= 500 and not reason) or status in _REFUSES_US:
        raise Undecided(f"no verdict: HTTP {status}")
    if not answer.is_valid and _ITS_TROUBLE.match(reason):
        raise Undecided(_shown(reason))
    return answer


def _describes(answer: _Settled, offer: Offer, payer: str) -> bool:
    """Whether it is this payment that was settled. Some still call networks by their older names."""
    network = answer.network or ""
    return (
        _TRANSACTION.fullmatch(answer.transaction or "") is not None
        and V1_NAMES.get(network, network) == offer.network
        and _is_payer(answer.payer or payer, offer, payer)
        and (answer.amount or offer.amount) == offer.amount
    )


def _is_payer(said: str, offer: Offer, payer: str) -> bool:
    """Solana's scheme calls the fee payer the payer, the SDKs the account that pays. Hexadecimal has no case."""
    if said.startswith("0x"):
        return said.lower() == payer.lower()
    return said in (payer, offer.extra.get("feePayer"))


def _shown(reason: str) -> str:
    """For our log: a stranger's words are not written there."""
    if not reason:
        return "no reason given"
    return reason if REASON.fullmatch(reason) else "a reason that is not in the specification's words"


def decode(body: bytes, kind: type[T]) -> T:
    """Raises Undecided."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Undecided("the answer cannot be read") from None
