"""Whether a new payment may be taken for a call: what would refuse it, uncharged, before it is claimed."""

from __future__ import annotations

import dataclasses
import re
import time
from typing import cast

import msgspec

from api.disk import Disk
from api.errors import Problem, retryable_problem
from api.long_bodies import LONG_BYTES
from api.payment.binding import Binder
from api.payment.facilitator import REASON, Unsettled
from api.payment.settle import Checked
from api.pools import PoolRefusal
from shared.endpoint import MOST_BYTES, Endpoint, InvalidField
from shared.undecoded import least_size
from shared.x402.refusal import PaymentRefused

_REFUSED = "invalid_payload"
_RETRY_AFTER_S = {"pool_full": 1, "unavailable": 2, "upstream_closed": 30}
# How msgspec tells a place, behind what may quote the caller.
_AT = re.compile(r"(.*) - at (?:`key` in )?`\$([^`]*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
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
        self._limits = _limits(endpoint.request)
        # Those fields as they are, and no others.
        fields = [(name, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for name in self._limits]
        self._undecoded = msgspec.json.Decoder(msgspec.defstruct("Undecoded", fields))

    async def refusal(
        self, checked: Checked, no_seat: PoolRefusal | None, *, is_within: bool
    ) -> PaymentRefused | Problem | None:
        """Why a new payment would be refused, uncharged, in the order of the checks."""
        if problem := self.invalid(checked.body):
            return problem
        now = int(time.time())
        if reason := checked.authorization.window_refusal(now, checked.rail.health.ledger()):
            return PaymentRefused(reason)
        token = checked.claim.token
        if token and not self._binder.binds(token, self._endpoint.name, checked.body, now):
            return PaymentRefused(checked.rail.verifier.TOKEN_REASON)
        if no_seat is not None:
            after_s = _RETRY_AFTER_S[no_seat.code]
            problem = retryable_problem(no_seat.code, no_seat.detail, charged=False, after_s=after_s)
            return dataclasses.replace(problem, reason=no_seat.reason)
        if not is_within:
            return retryable_problem(
                "rate_limited", "Too many of your calls are being answered.", charged=False, after_s=1
            )
        if self._disk.is_full():
            return retryable_problem("unavailable", "No payment can be taken now.", charged=False, after_s=30)
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

    async def _refused_by_facilitator(self, checked: Checked) -> PaymentRefused | Problem | None:
        """The signature of a contract wallet, or of another key than the account's own, is the chain's to judge."""
        try:
            verification = await checked.rail.facilitator.verify(checked.payment, checked.offer)
        except Unsettled:
            return retryable_problem("unavailable", "The payment cannot be verified now.", charged=False, after_s=5)
        if verification.is_valid:
            return None
        reason = verification.invalid_reason or _REFUSED
        if reason.startswith("unexpected_"):
            return retryable_problem("unavailable", "The payment cannot be verified now.", charged=False, after_s=5)
        return PaymentRefused(reason if REASON.fullmatch(reason) else _REFUSED)

    def invalid(self, body: bytes) -> Problem | None:
        """Why the body cannot be answered, judged by the request's own declaration."""
        try:
            if self._limits and len(body) > LONG_BYTES:
                self._check_sizes(body)
            self._decoder.decode(body or (b"{}" if self._endpoint.body_optional else b""))
        except InvalidField as invalid:
            return _invalid_field(invalid)
        except msgspec.ValidationError as error:
            if not isinstance(error.__cause__, UnicodeError):
                return _invalid_body(error)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
        else:
            return None
        return Problem(code="invalid_json", detail="The body must be one JSON object in UTF-8.")

    def _check_sizes(self, body: bytes) -> None:
        undecoded = self._undecoded.decode(body)
        for name, most in self._limits.items():
            value = getattr(undecoded, name)
            if value is not msgspec.UNSET and len(value := bytes(value)) > most and least_size(value) > most:
                raise InvalidField(f"More than {most} bytes.", field=name)


def _limits(request: type[msgspec.Struct]) -> dict[str, int]:
    """Fields with MOST_BYTES, by their names on the wire."""
    limits = {}
    for field in cast(msgspec.inspect.StructType, msgspec.inspect.type_info(request)).fields:
        for info in (field.type, *getattr(field.type, "types", ())):
            if isinstance(info, msgspec.inspect.Metadata) and info.extra and MOST_BYTES in info.extra:
                limits[field.encode_name] = info.extra[MOST_BYTES]
    return limits


def _invalid_field(invalid: InvalidField) -> Problem:
    details = {"field": invalid.field, "message": invalid.detail, "suggestions": list(invalid.suggestions)}
    return Problem(code=invalid.code, detail=invalid.detail, field=invalid.field, details=(details,))


def _invalid_body(error: msgspec.ValidationError) -> Problem:
    cause = error.__cause__
    if isinstance(cause, InvalidField):
        return _invalid_field(cause)
    message, path = str(error), ""
    if at := _AT.fullmatch(message):
        message, path = at.groups()
    missing = _MISSING.match(message)
    # Which value of an object with names of its own it is, is not told.
    field = f"{path.partition('[...]')[0]}.{missing[1] if missing else ''}".strip(".") or None
    return Problem(
        code="invalid_body", detail=message + ".", field=field, details=({"field": field, "message": message},)
    )
