"""One paid call, read from top to bottom. There is no payment middleware: this is the whole way."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from dataclasses import dataclass

import msgspec
from litestar.types import Receive, Scope, Send

from api.body import RequestBody
from api.dispatch import Dispatcher, Late
from api.errors import Charged, Problem
from api.http import Answer, problem_answer, request_id, respond
from api.payment.facilitator import Declined, NotSent, Unsettled
from api.payment.fingerprint import Fingerprinter
from api.payment.headers import Presented, decode_payment, find_payment
from api.payment.ledger import Claim, Entry, Ledger, Verdict
from api.payment.rails import ConfiguredRail
from api.payment.till import Till
from api.resp import RedisLost, RedisRefused
from shared import outcome
from shared.endpoint import Endpoint, InvalidField
from shared.message import Arguments
from shared.outcome import Failed
from shared.x402.evm import Authorization
from shared.x402.refusal import Refused
from shared.x402.wire import Evidence, Offer, Payment, Settlement

log = logging.getLogger(__name__)

SETTLE_LEASE_MARGIN_S = 2.0
RUN_LEASE_MARGIN_S = 3.0
DUPLICATE_WAIT_S = 25.0
"""How long a copy of a call waits for the one that drives it. Common HTTP clients give up after 30 s."""
DUPLICATE_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Services:
    """What a paid call needs from this process."""

    ledger: Ledger
    dispatcher: Dispatcher
    fingerprint: Fingerprinter
    settle_timeout_s: float


@dataclass(frozen=True, slots=True)
class _Checked:
    """A payment that passed every check that needs no network, with the request that it pays."""

    presented: Presented
    offer: Offer
    rail: ConfiguredRail
    payment: Payment
    authorization: Authorization
    claim: Claim
    body: bytes


class PaidCall:
    """The ASGI application of one endpoint's path."""

    def __init__(self, till: Till, services: Services) -> None:
        self._till = till
        self._endpoint: Endpoint = till.endpoint
        self._decoder = msgspec.json.Decoder(till.endpoint.request)
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Nothing escapes: an unexpected failure is logged with the request's id."""
        call_id = request_id(scope)
        body = RequestBody(scope, receive)
        try:
            answer = await self._answer(scope, body)
        except Refused as refused:
            answer = self._till.refuse(refused.reason)
        except Problem as problem:
            answer = problem_answer(problem, instance=self._endpoint.path, request_id=call_id)
        except (RedisLost, RedisRefused) as error:
            # After the claim: the payment may have been settled and its record not written. The same payment finds out.
            log.error("request %s to %s lost the ledger: %s", call_id, self._endpoint.path, type(error).__name__)
            lost = _again(
                "unavailable", "The ledger cannot be reached. Do not pay again.", charged="unknown", after_s=2
            )
            answer = problem_answer(lost, instance=self._endpoint.path, request_id=call_id)
        except Exception:
            log.exception("request %s to %s failed", call_id, self._endpoint.path)
            failed = _again("internal_error", "Do not pay again.", charged="unknown", after_s=2)
            answer = problem_answer(failed, instance=self._endpoint.path, request_id=call_id)
        await body.discard()
        await respond(send, answer, request_id=call_id, head=scope.get("method") == "HEAD")

    async def _answer(self, scope: Scope, request_body: RequestBody) -> Answer:
        method = scope.get("method")
        if method not in ("POST", "GET", "HEAD"):
            raise Problem(code="method_not_allowed", detail="Use POST.", headers=((b"allow", b"POST"),))

        # 1. Unpaid: the price, whatever the body. No parsing, no Redis.
        presented = find_payment(scope["headers"])
        if presented is None:
            return self._till.unpaid
        if method != "POST":
            raise Problem(code="method_not_allowed", detail="Use POST to pay.", headers=((b"allow", b"POST"),))

        # 2, 3. Whose offer it is, and whether it is signed as it must be.
        offer, rail, payment = self._till.match(decode_payment(presented.value))
        authorization = rail.check(offer, payment.payload)

        body = await request_body.read(limit=self._endpoint.max_body_bytes)
        checked = _Checked(
            presented, offer, rail, payment, authorization, self._claim(authorization, offer, scope, body), body
        )

        # 4 to 8. What would refuse a new payment does not refuse one that is known already: its answer is kept.
        refusal = await self._refusal(checked)
        try:
            if refusal is None:
                entry = await self._services.ledger.claim(checked.claim)
            else:
                entry = await self._services.ledger.find(checked.claim)
                if entry.verdict is Verdict.ABSENT:
                    raise refusal
        except (RedisLost, RedisRefused) as error:
            log.error("ledger: %s", type(error).__name__)
            # A script that timed out may have run all the same, so it is this payment that is to be repeated.
            detail = "The ledger cannot be reached. Nothing was charged by this request."
            raise _again("unavailable", detail, charged=False, after_s=2) from None
        return await self._drive(checked, entry)

    async def _refusal(self, checked: _Checked) -> Refused | Problem | None:
        """Why a new payment would be refused, uncharged, in the order of the checks."""
        if reason := checked.authorization.window_refusal(int(time.time())):
            return Refused(reason)
        if problem := self._invalid(checked.body):
            return problem
        if not self._services.dispatcher.has_room(self._endpoint.pool):
            return Problem(code="pool_full", detail="Too many calls of this kind are waiting.", retry_after_s=1)
        if not checked.authorization.signature_checked:
            return await self._refused_by_facilitator(checked)
        return None

    async def _refused_by_facilitator(self, checked: _Checked) -> Refused | Problem | None:
        """A contract wallet's signature is the chain's to judge."""
        try:
            verification = await checked.rail.facilitator.verify(checked.payment, checked.offer)
        except Unsettled:
            return Problem(code="unavailable", detail="The payment cannot be verified now.", retry_after_s=5)
        if verification.is_valid:
            return None
        return Refused(verification.invalid_reason or "invalid_exact_evm_payload_signature")

    def _invalid(self, body: bytes) -> Problem | None:
        """Why the body cannot be answered, judged by the request's own declaration."""
        try:
            self._decoder.decode(body or (b"{}" if self._endpoint.body_optional else b""))
        except msgspec.ValidationError as error:
            return _invalid_body(error)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return Problem(code="invalid_json", detail="The body must be one JSON object in UTF-8.")
        return None

    def _claim(self, authorization: Authorization, offer: Offer, scope: Scope, body: bytes) -> Claim:
        return Claim(
            payment_id=authorization.payment_id,
            fingerprint=self._services.fingerprint(self._endpoint.name, scope["query_string"], body),
            endpoint=self._endpoint.name,
            payer=authorization.payer,
            offer=msgspec.json.encode(offer),
            settle_lease_ms=int((self._services.settle_timeout_s + SETTLE_LEASE_MARGIN_S) * 1000),
            run_lease_ms=int((self._endpoint.deadline_s + RUN_LEASE_MARGIN_S) * 1000),
        )

    async def _drive(self, checked: _Checked, entry: Entry) -> Answer:
        """From the ledger's verdict to the answer; a copy of a running call comes back here until it is answered."""
        give_up_at = time.monotonic() + DUPLICATE_WAIT_S
        while True:
            match entry.verdict:
                case Verdict.SETTLE:
                    receipt = await self._settle(checked, entry.attempts)
                    return receipt if isinstance(receipt, Answer) else await self._run(checked, receipt)
                case Verdict.RUN:
                    return await self._run(checked, entry.receipt)
                case Verdict.ANSWER:
                    return self._answered(checked, entry.receipt, entry.answer)
                case Verdict.REJECTED:
                    return self._till.refuse(entry.reason)
                case Verdict.CONFLICT | Verdict.EXPIRED:
                    return self._till.refuse("payment_already_used")
            if time.monotonic() >= give_up_at:
                raise _again("in_progress", "The same call is still being answered.", charged="unknown", after_s=2)
            await asyncio.sleep(DUPLICATE_POLL_S)
            entry = await self._services.ledger.find(checked.claim)

    async def _settle(self, checked: _Checked, attempts: int) -> bytes | Answer:
        """9. Settle; the stored receipt, or the 402 of a definite refusal. Unknown is never a 402: clients pay twice then."""
        ledger, facilitator = self._services.ledger, checked.rail.facilitator
        try:
            settlement = await facilitator.settle(checked.payment, checked.offer, payer=checked.authorization.payer)
        except NotSent:
            forgotten = await ledger.abandon(checked.claim)
            raise _again(
                "unavailable",
                "The payment cannot be settled now.",
                charged=False if forgotten else "unknown",
                after_s=5,
            ) from None
        except Declined as declined:
            if await ledger.rejected(checked.claim, declined.settlement.error_reason or "settlement_failed"):
                return self._till.declined(declined.settlement.error_reason or "settlement_failed", declined.settlement)
            return await self._settled_by_evidence(checked, attempts)
        except Unsettled as undecided:
            log.warning("undecided settlement of %s: %s", checked.claim.payment_id, undecided)
            return await self._settled_by_evidence(checked, attempts)
        return await ledger.settled(checked.claim, settlement)

    async def _settled_by_evidence(self, checked: _Checked, attempts: int) -> bytes | Answer:
        """After any doubt only the chain decides."""
        ledger, authorization = self._services.ledger, checked.authorization
        try:
            evidence = await checked.rail.facilitator.evidence(authorization.payment_id)
        except Unsettled:
            evidence = None
        if evidence is not None and _proves(evidence, checked.offer):
            settlement = Settlement(
                success=True,
                transaction=evidence.transaction,
                network=checked.offer.network,
                payer=authorization.payer,
                amount=checked.offer.amount,
            )
            return await ledger.settled(checked.claim, settlement)
        unusable = evidence is not None and (
            evidence.status in ("void", "settled")
            or (evidence.status == "unused" and time.time() > authorization.valid_before)
        )
        if unusable and await ledger.rejected(checked.claim, "settlement_failed", by_evidence=True):
            return self._till.refuse("settlement_failed")
        await ledger.unknown(checked.claim)
        log.warning("unknown settlement of %s after %d attempts", authorization.payment_id, attempts)
        raise _again(
            "settlement_unknown",
            "It is not known yet whether the payment went through. Do not pay again.",
            charged="unknown",
            after_s=2,
        )

    async def _run(self, checked: _Checked, receipt: bytes) -> Answer:
        """10. The job. From here every answer carries the receipt."""
        arguments = Arguments(payment_id=checked.claim.payment_id, payer=checked.authorization.payer, body=checked.body)
        try:
            result = await self._services.dispatcher.run(self._endpoint, arguments)
        except Late:
            raise self._with_receipt(
                _again("deadline_exceeded", "The answer took too long.", charged=True, after_s=3), checked, receipt
            ) from None
        except (RedisLost, RedisRefused) as error:
            log.error("queue: %s", type(error).__name__)
            await self._services.ledger.release(checked.claim)
            raise self._with_receipt(
                _again("unavailable", "The call was paid and cannot be run now.", charged=True, after_s=2),
                checked,
                receipt,
            ) from None
        return self._answered(checked, receipt, outcome.encode(result))

    def _answered(self, checked: _Checked, receipt: bytes, answer: bytes) -> Answer:
        """The same bytes for every copy of the request, now and for as long as the answer is kept."""
        result = outcome.decode(answer)
        if isinstance(result, Failed):
            problem = Problem(
                code=result.code,
                detail=result.detail,
                reason=result.reason,
                charged=True,
                retryable=result.retryable,
                retry_same_payment=result.retryable,
                retry_after_s=1 if result.retryable else None,
            )
            raise self._with_receipt(problem, checked, receipt)
        headers = ((b"content-type", b"application/json"),)
        return Answer(200, headers + self._till.receipt(receipt, older=checked.presented.older), result.body)

    def _with_receipt(self, problem: Problem, checked: _Checked, receipt: bytes) -> Problem:
        headers = self._till.receipt(receipt, older=checked.presented.older)
        return dataclasses.replace(problem, headers=problem.headers + headers)


def _again(code: str, detail: str, *, charged: Charged, after_s: int) -> Problem:
    """A failure that the same request with the same payment gets over."""
    return Problem(code=code, detail=detail, charged=charged, retry_same_payment=True, retry_after_s=after_s)


def _proves(evidence: Evidence, offer: Offer) -> bool:
    """Whether the chain shows a transfer of this offer. One nonce may have been signed for two recipients."""
    return (
        evidence.status == "settled"
        and bool(evidence.transaction)
        and (evidence.pay_to or "").lower() == offer.pay_to.lower()
        and evidence.amount == offer.amount
    )


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
