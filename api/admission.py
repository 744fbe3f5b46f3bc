"""Whether a new payment may be taken for a call: what would refuse it, uncharged, before it is claimed."""

from __future__ import annotations

import time

import msgspec

from api.disk import Disk
from api.errors import Problem, again
from api.payment.binding import Binder
from api.payment.facilitator import REASON, Unsettled
from api.payment.settle import Checked
from shared.endpoint import Endpoint, InvalidField
from shared.x402.refusal import Refused

_REFUSED = "invalid_payload"
"""When a facilitator does not say why, or not in the specification's words."""


class RailDown(Problem):
    """The facilitator of the payment's rail is left alone. A payment that is settled is run all the same."""


class Admission:
    """Of one endpoint.

    Args:
        disk: the ledger's.
    """

    def __init__(self, endpoint: Endpoint, disk: Disk, binder: Binder) -> None:
        self._endpoint = endpoint
        self._disk = disk
        self._binder = binder
        self._decoder = msgspec.json.Decoder(endpoint.request)

    async def refusal(self, checked: Checked, no_seat: str | None, *, is_within: bool) -> Refused | Problem | None:
        """Why a new payment would be refused, uncharged, in the order of the checks."""
        if problem := self.invalid(checked.body):
            return problem
        now = int(time.time())
        if reason := checked.authorization.window_refusal(now, checked.rail.health.ledger()):
            return Refused(reason)
        token = checked.claim.token
        if token and not self._binder.binds(token, self._endpoint.name, checked.body, now):
            return Refused(checked.rail.token_reason)
        if no_seat == "pool_full":
            return again(no_seat, "Too many calls of this kind are waiting.", charged=False, after_s=1)
        if no_seat == "upstream_closed":
            return again(no_seat, "What this call asks turns us away for now.", charged=False, after_s=30)
        if no_seat:
            return again(no_seat, "No worker serves this call now.", charged=False, after_s=2)
        if not is_within:
            return again("rate_limited", "Too many of your calls are being answered.", charged=False, after_s=1)
        if self._disk.is_full():
            return again("unavailable", "No payment can be taken now.", charged=False, after_s=30)
        if not checked.rail.is_up:
            return RailDown(
                code="unavailable",
                detail="No payment on this network can be settled now.",
                retry_same_payment=True,
                retry_after_s=checked.rail.health.retry_after_s,
            )
        if not checked.authorization.signature_checked:
            return await self._refused_by_facilitator(checked)
        return None

    async def _refused_by_facilitator(self, checked: Checked) -> Refused | Problem | None:
        """The signature of a contract wallet, or of another key than the account's own, is the chain's to judge."""
        try:
            verification = await checked.rail.facilitator.verify(checked.payment, checked.offer)
        except Unsettled:
            return again("unavailable", "The payment cannot be verified now.", charged=False, after_s=5)
        if verification.is_valid:
            return None
        reason = verification.invalid_reason or _REFUSED
        if reason.startswith("unexpected_"):
            return again("unavailable", "The payment cannot be verified now.", charged=False, after_s=5)
        return Refused(reason if REASON.fullmatch(reason) else _REFUSED)

    def invalid(self, body: bytes) -> Problem | None:
        """Why the body cannot be answered, judged by the request's own declaration."""
        try:
            self._decoder.decode(body or (b"{}" if self._endpoint.body_optional else b""))
        except msgspec.ValidationError as error:
            return _invalid_body(error)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return Problem(code="invalid_json", detail="The body must be one JSON object in UTF-8.")
        return None


def _invalid_body(error: msgspec.ValidationError) -> Problem:
    cause = error.__cause__
    if isinstance(cause, InvalidField):
        return Problem(
            code=cause.code,
            detail=cause.detail,
            field=cause.field,
            details=({"field": cause.field, "message": cause.detail, "suggestions": list(cause.suggestions)},),
        )
    message, _, path = str(error).partition(" - at `$")
    field = path.rstrip("`").lstrip(".") or None
    return Problem(
        code="invalid_body", detail=message + ".", field=field, details=({"field": field, "message": message},)
    )
