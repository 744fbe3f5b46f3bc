"""Computes and compares the MACs. No other module knows the correct MAC, and it never leaves this one."""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from jobs.webhook_sig_verify import causes, cdp, senders
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
        hint: the probable cause in a sentence; None when it is valid.
    """

    claim: Claim | None
    age_s: int | None
    reason: Reason | None
    hint: str | None


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
        return Verdict(None, None, nothing.reason, causes.hint(provider, nothing.reason))
    age_s = None if claim.signed_at is None else now_s - claim.signed_at
    if not _is_signed(claim, claim.signed, delivery.secret):
        cause = causes.of_mismatch(provider, delivery, claim, partial(_is_signed, claim))
        return Verdict(claim, age_s, "signature_mismatch", cause)
    if age_s is not None and tolerance_s and abs(age_s) > tolerance_s:
        hint = causes.hint(provider, "timestamp_out_of_tolerance")
        return Verdict(claim, age_s, "timestamp_out_of_tolerance", hint)
    return Verdict(claim, age_s, None, None)


def _is_signed(claim: Claim, signed: bytes, secret: bytes) -> bool:
    right = hmac.digest(secret, signed, _HASHES[claim.algorithm])
    # All digests are compared, byte by byte in constant time, so the duration does not show which one was right.
    return any([hmac.compare_digest(right, mac) for mac in claim.macs])  # noqa: C419
