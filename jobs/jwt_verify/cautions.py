"""Warns of claims that do not make a token invalid, but that the caller should not rely on."""

from typing import Any

from jobs.jwt_verify.claims import Rules, is_date
from jobs.jwt_verify.token import Caution

_LEAST_MS, _MOST_MS = 100_000_000_000, 10_000_000_000_000
"""1973 and 2286 in milliseconds."""


def of_claims(payload: dict[str, Any] | None, rules: Rules, now_s: float) -> list[Caution]:
    """The warnings about a payload. An unreadable one has none.

    Args:
        now_s: Unix seconds.
    """
    if payload is None:
        return []
    cautions = []
    if payload.get("aud") is not None and not rules.audiences:
        detail = (
            "The token has the claim aud, and the request has no audience, so a token that was issued for another service "
            "passes. RFC 7519 section 4.1.3 demands the check: send your own name as audience."
        )
        cautions.append(Caution("audience_not_checked", detail))
    if "exp" not in payload:
        cautions.append(Caution("no_expiry", "The token has no claim exp: it is valid for ever."))
    milliseconds = dates_in_milliseconds(payload)
    issued = payload.get("iat")
    if is_date(issued) and "iat" not in milliseconds and issued > now_s + rules.tolerance_s:  # type: ignore[operator]
        detail = "The claim iat is in the future: the issuer's clock or yours is wrong, or the token was made up."
        cautions.append(Caution("issued_in_future", detail))
    return cautions + [_in_milliseconds(name) for name in milliseconds]


def dates_in_milliseconds(payload: dict[str, Any]) -> list[str]:
    """The claims whose dates are in milliseconds, as JavaScript counts. In seconds they would be after the year 5000."""
    dates = {name: payload.get(name) for name in ("exp", "nbf", "iat")}
    return [name for name, value in dates.items() if is_date(value) and _LEAST_MS <= value < _MOST_MS]  # type: ignore[operator]


def _in_milliseconds(claim: str) -> Caution:
    detail = (
        f"The claim {claim} looks like milliseconds. RFC 7519 counts seconds, so the date is thousands of years ahead."
    )
    return Caution("date_in_milliseconds", detail)
