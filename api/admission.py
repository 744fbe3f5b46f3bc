"""Decides whether a new payment may be taken for a call. What is refused here is neither claimed nor charged.

Why a body is refused is said in the words of its caller: msgspec speaks of Python's types and quotes the value.
"""

import re
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, cast

import msgspec

from api.causes import Cause
from api.disk import Disk
from api.dispatch import Slot
from api.errors import Problem, problem_of
from api.long_bodies import LONG_BYTES
from api.payment.answers import REASON
from api.payment.binding import Binder
from api.payment.settle import Checked
from api.payment.unsettled import Unsettled
from api.unknown_fields import UnknownFields
from jobs.site import Site, SiteRequest
from shared import whole_numbers
from shared.endpoint import MOST_BYTES, Endpoint, InvalidField
from shared.raw_json import least_size, lone_surrogate
from shared.x402.refusal import PaymentRefused

_REFUSED = "invalid_payload"
"""The reason when a facilitator gives none, or one that is not in the specification's words."""

# msgspec puts the place in the body at the end of its message, behind text that may quote the caller.
_AT = re.compile(r"(.*) - at (?:`key` in )?`\$([^`]*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_TYPES = re.compile(r"((?:Expected|got) )`([a-z| ]+)`")
_NOT_INTEGER = re.compile(r"Expected `int\b.*got `float`")
_JSON_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_NOT_IN_LIST = "Invalid enum value"


class RefusedByFacilitator(PaymentRefused):
    """The facilitator says that a payment is not valid which only the chain can judge."""


class Judgement(NamedTuple):
    """The result of checking a body.

    Attributes:
        problem: why it is not a valid request; None when it is.
        ignored: its top-level fields that the endpoint does not know; of a long body the first.
    """

    problem: Problem | None
    ignored: tuple[str, ...] = ()


class _Decoders(NamedTuple):
    """What reads the bodies of one endpoint.

    Attributes:
        lax, strict: decode requests; the strict one refuses unknown fields.
        unknown_fields: decides which unknown fields are refused, and which are named in a header.
        limits: the most bytes of each field that declares MOST_BYTES, by the field's name on the wire.
        raw: decodes these fields only, and leaves their values as they are.
    """

    lax: msgspec.json.Decoder[msgspec.Struct]
    strict: msgspec.json.Decoder[msgspec.Struct]
    unknown_fields: UnknownFields
    limits: dict[str, int]
    raw: msgspec.json.Decoder[msgspec.Struct]


class Admission:
    """Decides for one endpoint whether a new payment may be taken.

    Args:
        disk: the disk of the ledger.
    """

    def __init__(self, endpoint: Endpoint, disk: Disk, binder: Binder, site: Site) -> None:
        self._endpoint = endpoint
        self._disk = disk
        self._binder = binder
        self._site = site
        self._decoders = _decoders(endpoint.request)

    async def refusal(self, checked: Checked, slot: Slot, *, is_within: bool) -> PaymentRefused | Problem | None:
        """The first check that would refuse a new payment, or None.

        Args:
            is_within: False when the payer has too many calls in flight.
        """
        judgement = self.judged(checked.body)
        checked.call_log.ignored = judgement.ignored
        if judgement.problem is not None:
            return judgement.problem
        now = int(time.time())
        if reason := checked.authorization.window_refusal(now, checked.rail.health.ledger()):
            return PaymentRefused(reason)
        token = checked.claim.token
        if token and not self._binder.binds(token, self._endpoint.name, checked.body, now):
            return PaymentRefused(checked.rail.verifier.TOKEN_REASON)
        if slot.refusal is not None:
            refusal = slot.refusal
            return problem_of(refusal.cause, reason=refusal.reason, retry_after_s=refusal.retry_after_s)
        if not is_within:
            return problem_of(Cause.CALLS_IN_FLIGHT)
        if self._disk.is_full():
            return problem_of(Cause.LEDGER_DISK_FULL)
        if not checked.rail.takes(checked.authorization):
            return problem_of(Cause.RAIL_DOWN, retry_after_s=checked.rail.health.retry_after_s)
        if not checked.rail.allows(checked.offer):
            return problem_of(Cause.SETTLEMENT_TOO_COSTLY)
        if not checked.authorization.signature_checked:
            return await self._refused_by_facilitator(checked)
        return None

    async def _refused_by_facilitator(self, checked: Checked) -> PaymentRefused | Problem | None:
        """Ask about a signature that only the chain can judge: of a contract wallet, or of a key that is not the account's."""
        try:
            verification = await checked.rail.facilitator.verify(checked.payment)
        except Unsettled as unanswered:
            return problem_of(Cause.VERIFICATION_UNANSWERED, failure=unanswered)
        if verification.is_valid:
            return None
        reason = verification.invalid_reason or _REFUSED
        return RefusedByFacilitator(reason if REASON.fullmatch(reason) else _REFUSED)

    def judged(self, body: bytes) -> Judgement:
        """Whether the body is a valid request of this endpoint, and what of it is ignored."""
        decoders = self._decoders
        unknown: tuple[str, ...] = ()
        content = body or (b"{}" if self._endpoint.body_optional else b"")
        try:
            if decoders.limits and len(body) > LONG_BYTES:
                self._check_sizes(body)
            try:
                request = whole_numbers.decoded(decoders.strict, content)
            except msgspec.ValidationError as error:
                unknown = decoders.unknown_fields.named(error, content)
                if not unknown:
                    raise
                if problem := decoders.unknown_fields.problem(unknown, content):
                    return Judgement(problem)
                request = whole_numbers.decoded(decoders.lax, content)
            if isinstance(request, SiteRequest):
                request.check(self._site)
        except InvalidField as invalid:
            return Judgement(invalid_field(invalid), unknown)
        except msgspec.ValidationError as error:
            if not isinstance(error.__cause__, UnicodeError):
                return Judgement(invalid_body(error, self._endpoint.request), unknown)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
        else:
            return Judgement(None, unknown)
        return Judgement(Problem(code="invalid_json", detail=_not_json(body)))

    def _check_sizes(self, body: bytes) -> None:
        raw = self._decoders.raw.decode(body)
        for name, most in self._decoders.limits.items():
            value = getattr(raw, name)
            if value is not msgspec.UNSET and len(value := bytes(value)) > most and least_size(value) > most:
                raise InvalidField(f"More than {most} bytes.", field=name)


def _not_json(body: bytes) -> str:
    escape = lone_surrogate(body)
    if escape is None:
        return "The body must be one JSON object in UTF-8."
    return f"The body has {escape}, a lone surrogate: it is half of a character, and not valid in UTF-8."


@cache
def _decoders(request: type[msgspec.Struct]) -> _Decoders:
    """Made once for each declaration, however often an API is built: it takes a millisecond."""
    limits = _limits(request)
    fields = [(name, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for name in limits]
    return _Decoders(
        lax=msgspec.json.Decoder(request),
        strict=msgspec.json.Decoder(
            msgspec.defstruct(request.__name__, (), bases=(request,), forbid_unknown_fields=True)
        ),
        unknown_fields=UnknownFields(request),
        limits=limits,
        raw=msgspec.json.Decoder(msgspec.defstruct("RawFields", fields)),
    )


def _limits(request: type[msgspec.Struct]) -> dict[str, int]:
    """The most bytes of each field that declares MOST_BYTES, by the field's name on the wire."""
    limits = {}
    for field in cast(msgspec.inspect.StructType, msgspec.inspect.type_info(request)).fields:
        for info in (field.type, *getattr(field.type, "types", ())):
            if isinstance(info, msgspec.inspect.Metadata) and info.extra and MOST_BYTES in info.extra:
                limits[field.encode_name] = info.extra[MOST_BYTES]
    return limits


def invalid_field(invalid: InvalidField) -> Problem:
    """The problem of a value that a request's own check refuses, and of the others that it refuses with it."""
    details = tuple(
        {"field": fault.field, "message": fault.detail, "suggestions": list(fault.suggestions)}
        for fault in (invalid, *invalid.others)
    )
    return Problem(code=invalid.code, detail=invalid.detail, field=invalid.field, details=details)


def invalid_body(error: msgspec.ValidationError, request: type[msgspec.Struct]) -> Problem:
    """The problem of a body that has not the form of `request`."""
    cause = error.__cause__
    if isinstance(cause, InvalidField):
        return invalid_field(cause)
    message, path = str(error), ""
    if at := _AT.fullmatch(message):
        message, path = at.groups()
    missing = _MISSING.match(message)
    # The caller's own names in an object are not repeated.
    field = f"{path.partition('[...]')[0]}.{missing[1] if missing else ''}".strip(".") or None
    message = _in_json_words(message, field or "", request)
    return Problem(
        code="invalid_body", detail=message + ".", field=field, details=({"field": field, "message": message},)
    )


def _in_json_words(message: str, field: str, request: type[msgspec.Struct]) -> str:
    if message.startswith(_NOT_IN_LIST):
        accepted = _accepted(request, re.split(r"[.\[]", field)[0])
        return f"Expected one of {accepted}" if accepted else "This value is not accepted here"
    if missing := _MISSING.match(message):
        return f"The field `{missing[1]}` is missing"
    said = _TYPES.sub(lambda found: found[1] + _json_types(found[2]), message)
    return f"{said} with a fraction" if _NOT_INTEGER.match(message) else said


def _json_types(types: str) -> str:
    """`str | null` as "`string` or `null`"."""
    return " or ".join(f"`{_JSON_TYPES.get(name, name)}`" for name in types.split(" | "))


def _accepted(request: type[msgspec.Struct], field: str) -> str:
    """The values of a field that is a list of words, or a list of such."""
    info = cast(msgspec.inspect.StructType, msgspec.inspect.type_info(request))
    types = [found.type for found in info.fields if found.encode_name == field]
    return ", ".join(f"`{word}`" for kind in types for word in _words(kind))


def _words(kind: Any) -> Iterator[Any]:
    if isinstance(kind, msgspec.inspect.LiteralType):
        yield from (word for word in kind.values if word is not None)
    elif isinstance(kind, msgspec.inspect.EnumType):
        yield from (word.value for word in kind.cls)
    for inner in (*getattr(kind, "types", ()), getattr(kind, "item_type", None), getattr(kind, "type", None)):
        if inner is not None:
            yield from _words(inner)
