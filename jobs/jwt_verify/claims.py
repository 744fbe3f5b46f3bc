"""Checks whether the claims of a token hold at a time (RFC 7519 section 4.1).

- A date is a JSON number, whole or not. Anything else in `exp` or `nbf`, null included, is `malformed`: a mistake must not
  make a token valid for ever. `iat` is shown and never judged.
- A token expires *at* `exp` and is valid from `nbf` on. With a tolerance of t seconds it is expired from exp + t on, and
  not yet valid before nbf - t.
- `iss` and `aud` are compared when the request names an issuer or audience: as text, character by character. One match is
  enough. An `aud` list that contains anything but text matches nothing.
- A required claim that is null counts as missing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec

from jobs.fields import doc
from jobs.jwt_verify.token import Fault

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Claim(msgspec.Struct, frozen=True):
    """One claim of the token."""

    present: Annotated[bool, doc("Whether the token has the claim.")]
    value: Annotated[Any, doc("The claim as in the token. Null when it is absent.")]
    ok: Annotated[
        bool | None,
        doc("Whether the claim is as required. Null when nothing was required of it or it could not be judged."),
    ]


class Claims(msgspec.Struct, frozen=True):
    """The four claims that are judged."""

    iss: Annotated[Claim, doc("The issuer.")]
    aud: Annotated[Claim, doc("The audience.")]
    exp: Annotated[Claim, doc("The time of expiry.")]
    nbf: Annotated[Claim, doc("The time before which the token is not valid.")]


@dataclass(frozen=True, slots=True)
class Rules:
    """The requirements on the claims.

    Attributes:
        issuers: the token must have one of them; empty: any issuer.
        audiences: the token must have one of them; empty: any audience.
        required: names of claims that must be present.
        tolerance_s: how far the clocks of issuer and verifier may differ.
    """

    issuers: Collection[str]
    audiences: Collection[str]
    required: Collection[str]
    tolerance_s: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the claims say at a time.

    Attributes:
        expired, not_yet_valid: None when the date cannot be read.
        expires_at, not_before, issued_at: ISO 8601; None when there is no date, or one outside the calendar.
    """

    claims: Claims
    expired: bool | None
    not_yet_valid: bool | None
    expires_at: str | None
    not_before: str | None
    issued_at: str | None
    faults: tuple[Fault, ...]


def judge(payload: dict[str, Any] | None, rules: Rules, now_s: float) -> Judgement:
    """Judge the claims. Without a payload nothing is known about them.

    Args:
        now_s: Unix seconds.
    """
    if payload is None:
        nothing = Claim(present=False, value=None, ok=None)
        return Judgement(Claims(nothing, nothing, nothing, nothing), None, None, None, None, None, ())
    expired = _reached(payload, "exp", now_s - rules.tolerance_s, absent=False)
    begun = _reached(payload, "nbf", now_s + rules.tolerance_s, absent=True)
    faults = [_no_date(name) for name, answer in (("exp", expired), ("nbf", begun)) if answer is None]
    if expired:
        faults.append(Fault("expired", "The token has expired.", "exp"))
    if begun is False:
        faults.append(Fault("not_yet_valid", "The token is not valid yet.", "nbf"))
    faults += _mismatch(payload, "iss", rules.issuers, "issuer_mismatch")
    faults += _mismatch(payload, "aud", rules.audiences, "audience_mismatch")
    at_fault = {fault.claim for fault in faults}
    missing = [name for name in dict.fromkeys(rules.required) if payload.get(name) is None and name not in at_fault]
    faults += [_missing(name) for name in missing]

    def claim(name: str, *, judged: bool) -> Claim:
        at_fault = any(fault.claim == name for fault in faults)
        return Claim(name in payload, payload.get(name), not at_fault if judged or at_fault else None)

    return Judgement(
        claims=Claims(
            iss=claim("iss", judged=bool(rules.issuers)),
            aud=claim("aud", judged=bool(rules.audiences)),
            exp=claim("exp", judged="exp" in payload),
            nbf=claim("nbf", judged="nbf" in payload),
        ),
        expired=expired,
        not_yet_valid=None if begun is None else not begun,
        expires_at=_instant(payload.get("exp")),
        not_before=_instant(payload.get("nbf")),
        issued_at=_instant(payload.get("iat")),
        faults=tuple(faults),
    )


def is_date(value: Any) -> bool:
    """Whether a claim's value is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _reached(payload: dict[str, Any], name: str, moment_s: float, *, absent: bool) -> bool | None:
    """Whether a moment is at or after the claim's date; None when the claim is not a date. Exact for integers of any size."""
    if name not in payload:
        return absent
    return payload[name] <= moment_s if is_date(payload[name]) else None


def _mismatch(
    payload: dict[str, Any], name: str, wanted: Collection[str], code: Literal["issuer_mismatch", "audience_mismatch"]
) -> list[Fault]:
    if not wanted:
        return []
    value = payload.get(name)
    if value is None:
        return [_missing(name)]
    texts = value if isinstance(value, list) and name == "aud" else [value]
    if not all(isinstance(text, str) for text in texts):
        return [Fault(code, f"The claim {name} is not of the type that RFC 7519 gives it.", name)]
    return (
        []
        if set(texts).intersection(wanted)
        else [Fault(code, f"The claim {name} does not have a requested value.", name)]
    )


def _missing(name: str) -> Fault:
    return Fault("missing_claim", f"The claim {name} is missing.", name)


def _no_date(name: str) -> Fault:
    return Fault("malformed", f"The claim {name} is not a number of seconds.", name)


def _instant(value: Any) -> str | None:
    if not is_date(value):
        return None
    try:
        return (_EPOCH + timedelta(seconds=value)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return None
