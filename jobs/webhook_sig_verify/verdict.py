"""Computes and compares the MACs. No other module knows the correct MAC, and it never leaves this one."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jobs.webhook_sig_verify import cdp, senders
from jobs.webhook_sig_verify.claim import Algorithm, Claim, Delivery, NoClaim, Reason

PROVIDERS: Mapping[str, Callable[[Delivery], Claim]] = {
    "stripe": senders.stripe,
    "github": senders.github,
    "vercel": senders.vercel,
    "slack": senders.slack,
    "cdp": cdp.claim,
    "generic": senders.generic,
}

TIMED = frozenset({"stripe", "slack", "cdp"})
"""Senders that sign the time."""

_HASHES: Mapping[Algorithm, str] = {"hmac_sha256": "sha256", "hmac_sha1": "sha1"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of checking a signature.

    Attributes:
        claim: what was checked; None when nothing could be checked.
        age_s: seconds since the claim's time, negative when it is in the future; None when the claim has no time.
        reason: why the signature is not valid; None when it is.
    """

    claim: Claim | None
    age_s: int | None
    reason: Reason | None


def judge(provider: str, delivery: Delivery, *, tolerance_s: int, now_s: int) -> Verdict:
    """Check a delivery by its provider's rules.

    Args:
        provider: a key of PROVIDERS.
        tolerance_s: how far the signed time may be from now, on either side; 0 accepts any time.
        now_s: Unix seconds.
    """
    try:
        claim = PROVIDERS[provider](delivery)
    except NoClaim as nothing:
        return Verdict(claim=None, age_s=None, reason=nothing.reason)
    age_s = None if claim.signed_at is None else now_s - claim.signed_at
    if not _is_signed(claim, delivery.secret):
        return Verdict(claim, age_s, "signature_mismatch")
    if age_s is not None and tolerance_s and abs(age_s) > tolerance_s:
        return Verdict(claim, age_s, "timestamp_out_of_tolerance")
    return Verdict(claim, age_s, None)


def _is_signed(claim: Claim, secret: bytes) -> bool:
    right = hmac.digest(secret, claim.signed, _HASHES[claim.algorithm])
    # All digests are compared, byte by byte in constant time, so the duration does not show which one was right.
    return any([hmac.compare_digest(right, mac) for mac in claim.macs])  # noqa: C419
