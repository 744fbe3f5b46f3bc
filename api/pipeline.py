"""One paid call, from the request to the answer. Read it from top to bottom: there is no payment middleware."""

import asyncio
import contextlib
import dataclasses
import logging
import math
import time

from litestar.types import Receive, Scope, Send

from api import unknown_fields
from api.admission import Admission, RefusedByFacilitator
from api.body import RequestBody
from api.call_log import CallLog
from api.causes import Cause
from api.channel_calls import ChannelCalls
from api.claims import build_claim, settled_offer
from api.errors import ERROR_KINDS, Problem, problem_of
from api.http import ALLOW, PREFLIGHT, Answer, problem_answer, request_id, respond
from api.job_call import JobCall
from api.payment.gate import UNPAID, PaymentGate
from api.payment.headers import UNDECODABLE, Presented, decode_payment, find_payment
from api.payment.ledger_terms import LOOK_UPS, Entry, LookUp, NewPayment, Verdict
from api.payment.match import Match
from api.payment.settle import Checked, settle, with_receipt
from api.redis_client import RedisLost, RedisRefused
from api.services import Services
from api.status.counter import result_of
from api.undelivered import watch
from shared.endpoint import Endpoint
from shared.failpoints import reach
from shared.observability import tracing
from shared.observability.logs import call_ids
from shared.observability.metrics import metrics
from shared.x402.authorization import Authorization
from shared.x402.evm_channel import Deposit, RefundRequest, Voucher
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import FlatPayment, Payment

log = logging.getLogger(__name__)

DUPLICATE_WAIT_S = 25.0
"""How long a copy of a call waits for the copy that drives it. Common HTTP clients give up after 30 s."""
FIRST_POLL_S = 0.02
LONGEST_POLL_S = 0.25


class PaidCall:
    """The ASGI application of one endpoint's path."""

    def __init__(self, gate: PaymentGate, services: Services) -> None:
        self._gate = gate
        self._endpoint: Endpoint = gate.endpoint
        self._admission = Admission(gate.endpoint, services.disk, services.binder, services.site)
        self._services = services
        self._causes = known_causes(gate.endpoint)
        self._channels = ChannelCalls(gate, services)
        self._job = JobCall(gate, services, self._channels)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. No exception leaves it."""
        call_id = request_id(scope)
        answer = await self.answer(scope, receive, call_id)
        await respond(send, answer, request_id=call_id, head=scope.get("method") == "HEAD")

    async def answer(self, scope: Scope, receive: Receive, call_id: str) -> Answer:
        """The answer to one request, whichever transport brought it. No exception leaves it, and a paid call that fails leaves
        one line in the log."""
        call_log = CallLog(call_id, self._endpoint.name)
        call_ids.set(call_log)
        body = RequestBody(scope, receive, self._services.long_bodies)
        try:
            try:
                answer = await self._answer(scope, body, call_log)
            except PaymentRefused as refused:
                if isinstance(refused, RefusedByFacilitator):
                    call_log.refused(refused.reason, Cause.VERIFICATION_REFUSED)
                else:
                    tracing.annotate("coinslot.refusal", refused.reason)
                answer = await self._challenge(refused.reason, body)
        except Problem as problem:
            answer = self._failed(problem, call_log)
        except (RedisLost, RedisRefused) as error:
            # A script whose answer was lost may have run, so the caller has to repeat this payment.
            lost = problem_of(Cause.LEDGER_UNREACHABLE, charged="unknown", failure=error)
            answer = self._failed(lost, call_log)
        except Exception as error:
            if not call_log.is_paid:
                log.exception("request %s to %s failed", call_log.request_id, self._endpoint.path)
            unexpected = problem_of(Cause.UNEXPECTED, charged="unknown", failure=error)
            answer = self._failed(unexpected, call_log)
        if call_log.deposit and b"payment-response" not in dict(answer.headers):
            answer = answer.with_headers(self._gate.receipt(call_log.deposit))
        if call_log.ignored and answer.status != 402:
            answer = answer.with_headers(unknown_fields.header(call_log.ignored))
        if self._services.logs_calls and answer.status == 200:
            call_log.answered()
        if call_log.is_first and answer.status == 200:
            call_log.result = "answered"
        took_s, cause = time.monotonic() - call_log.began, self._cause(answer, call_log)
        metrics.call(self._endpoint.name, answer.status, cause, took_s, call_log.fault)
        if call_log.result:
            self._services.status.count(self._endpoint.name, call_log.rail, call_log.result, cause, took_s)
        tracing.end_call(call_log, answer.status)
        await body.discard()
        if call_log.watch is not None:
            await call_log.watch.end(is_final=answer.status == 200 or call_log.is_failed)
        return answer

    def _cause(self, answer: Answer, call_log: CallLog) -> str:
        """What metrics call it: of a closed set, whatever a worker says."""
        if call_log.cause:
            return call_log.cause if call_log.cause in self._causes else "other"
        if answer.status == 200:
            return "answered"
        return ("payment_refused" if call_log.is_paid else "unpaid") if answer.status == 402 else "preflight"

    def _failed(self, problem: Problem, call_log: CallLog) -> Answer:
        receipt = call_log.receipt or self._services.unrecorded.receipt(call_log.payment_id)
        if problem.charged == "unknown" and receipt:
            # A payment that was reported as charged is never reported as unknown later.
            headers = problem.headers + self._gate.receipt(receipt, older=True)
            problem = dataclasses.replace(problem, charged=True, headers=headers)
        call_log.failed(problem)
        call_log.result = result_of(problem, self._endpoint, is_first=call_log.is_first)
        if problem.charged is True:
            call_log.fault = "ours" if problem.cause else self._endpoint.fault_of(problem.code, problem.reason)
        return problem_answer(
            problem,
            instance=self._endpoint.path,
            request_id=call_log.request_id,
            base_url=self._services.base_url,
        )

    async def _answer(self, scope: Scope, request_body: RequestBody, call_log: CallLog) -> Answer:
        method = scope.get("method")
        if method == "OPTIONS":
            return Answer(204, (ALLOW, *PREFLIGHT), b"")
        if method not in ("POST", "GET", "HEAD"):
            raise Problem(code="method_not_allowed", detail="Use POST.", headers=(ALLOW,))

        # 1. Unpaid: the price, whatever the body. No parsing, no Redis.
        presented = find_payment(scope["headers"])
        if presented is None:
            return await self._challenge(UNPAID, request_body)
        may_get = method == "GET" and self._gate.has_channels
        if method != "POST" and not may_get:
            raise _use_post()
        payment = self._decoded(presented)
        call_log.is_paid = True
        call_log.span = tracing.begin_call(self._endpoint.path)

        # 2, 3. Whose offer it is, whether it is signed as it must be, and in time. No byte of the body is read before.
        with tracing.span("check"):
            paid, authorization = self._matched(payment)
        call_log.rail = paid.rail.rail
        await self._require_time(paid, authorization)
        if isinstance(authorization, RefundRequest):
            return await self._channels.refund(authorization)
        if method != "POST":
            raise _use_post()

        # Before the chain is asked, nobody knows who a contract wallet's payment is from.
        holder = authorization.payer if authorization.signature_checked else authorization.payment_id
        if isinstance(authorization, Voucher):
            holder = authorization.other_signer or holder
        try:
            body = await request_body.read(limit=self._endpoint.max_body_bytes, payer=holder)
        except Problem as unreadable:
            raise await self._with_charge(unreadable, authorization, call_log) from None
        claim = build_claim(self._services, self._endpoint, authorization, paid, scope["query_string"], body)
        call_log.payment_id = claim.payment_id
        offer, query = settled_offer(paid.offer, authorization), scope["query_string"]
        checked = Checked(presented, offer, paid.rail, paid.payment, authorization, claim, query, body, call_log)
        another_offer = None
        if not (paid.is_current or await self._is_honoured(paid)):
            another_offer = paid.refusal()
            checked = dataclasses.replace(checked, is_outdated=True)
            if not await self._services.ledger.has_claim(claim):
                raise another_offer

        # 4, 5. A new payment is claimed only if no check refuses it; a known one is looked up whatever the checks say.
        async with self._services.dispatcher.slot(self._endpoint, holder, len(body)) as slot:
            with self._services.limits.held(holder, claim.payment_id) as is_within:
                refusal = another_offer or await self._admission.refusal(checked, slot, is_within=is_within)
                entry = await self._enter(checked, refusal, has_slot=slot.refusal is None)
                checked, entry = await self._identified(checked, entry)
                call_log.watch = watch(scope, self._services.ledger, checked.claim, is_again=not entry.is_first)
                return await self._drive(checked, entry)

    def _matched(self, payment: Payment | FlatPayment) -> tuple[Match, Authorization]:
        """The offer that a payment pays, and what was signed. Raises PaymentRefused."""
        try:
            paid = self._gate.match(payment)
            return paid, paid.check()
        except PaymentRefused:
            if isinstance(payment, Payment):
                raise
            with contextlib.suppress(PaymentRefused):
                paid = self._gate.match_flat(payment, self._services.price_lists.known(self._endpoint.name))
                return paid, paid.check()
            raise

    async def _is_honoured(self, paid: Match) -> bool:
        """Whether a payment was made for an offer that another process makes, or that was made until a moment ago."""
        return self._gate.is_at(await self._services.price_lists.honoured(self._endpoint.name), paid)

    def _decoded(self, presented: Presented) -> Payment | FlatPayment:
        try:
            return decode_payment(presented.value)
        except Problem as undecodable:
            price = f'<{self._endpoint.path}>; rel="payment"'.encode()
            raise dataclasses.replace(undecodable, headers=((b"link", price),)) from None

    async def _with_charge(self, refusal: Problem, authorization: Authorization, call_log: CallLog) -> Problem:
        """A refusal of the body, with what the ledger knows of the payment: it may have been charged before."""
        ledger = self._services.ledger
        if await ledger.offer(authorization.payment_id) is None:
            return refusal
        if authorization.signature_checked:
            call_log.receipt = await ledger.receipt(authorization.payment_id)
        return dataclasses.replace(refusal, charged="unknown")

    async def _require_time(self, paid: Match, authorization: Authorization) -> None:
        """Raise PaymentRefused for a payment that cannot be settled now, unless the ledger knows it: it may have an answer."""
        if (refusal := authorization.window_refusal(int(time.time()), paid.rail.health.ledger())) is None:
            return
        if await self._services.ledger.offer(authorization.payment_id) is None:
            raise PaymentRefused(refusal)

    async def _enter(self, checked: Checked, refusal: PaymentRefused | Problem | None, *, has_slot: bool) -> Entry:
        """Claim the payment, or find what the ledger knows of it. Raises `refusal` when it knows nothing."""
        ledger, claim = self._services.ledger, checked.claim
        how = LOOK_UPS[_judged(refusal), has_slot]
        try:
            entry = await ledger.look_up(claim, how)
        except RedisRefused as full:
            if how is not LookUp.CLAIM:
                raise
            # The ledger's memory or its disk is full. It takes no new payment, and still finds the known ones.
            refusal = problem_of(Cause.LEDGER_FULL, failure=full)
            entry = await ledger.find(claim)
        if entry.verdict is Verdict.LATE:
            raise PaymentRefused(claim.last_claim.reason)
        if refusal is not None and entry.verdict is Verdict.ABSENT:
            raise refusal
        if refusal is not None and entry.verdict is Verdict.IDLE:
            # It may have been charged before, so the caller has to repeat this payment.
            checked.call_log.receipt = entry.receipt
            if isinstance(refusal, PaymentRefused):
                raise problem_of(Cause.DRIVER_MISSING, charged="unknown")
            raise dataclasses.replace(refusal, charged="unknown")
        return entry

    async def _identified(self, checked: Checked, entry: Entry) -> tuple[Checked, Entry]:
        """The payment that paid for this call when the client used the same identifier before; otherwise the arguments.

        Only that first payment was charged. Its job is run if nobody does. Raises Problem when it paid for another call.
        """
        if entry.verdict is not Verdict.IDENTIFIED:
            return checked, entry
        earlier = dataclasses.replace(checked.claim, payment_id=entry.other, identifier="")
        is_plain = not (self._endpoint.holds_secret or isinstance(checked.authorization, Deposit | Voucher))
        entry = await (self._services.ledger.resume if is_plain else self._services.ledger.peek)(earlier)
        if entry.verdict in (Verdict.CLAIMED, Verdict.CONFLICT, Verdict.EXPIRED, Verdict.ABSENT, Verdict.REJECTED):
            raise problem_of(Cause.IDENTIFIER_OF_ANOTHER)
        return dataclasses.replace(checked, claim=earlier), entry

    async def _challenge(self, reason: str, request_body: RequestBody) -> Answer:
        return self._gate.refuse(reason, await request_body.peek() if self._gate.binds_bodies else None)

    async def _drive(self, checked: Checked, entry: Entry) -> Answer:
        """Do what the ledger's verdict says, until there is an answer. A copy of a running call asks the ledger repeatedly."""
        give_up_at = time.monotonic() + DUPLICATE_WAIT_S
        pause_s, is_read = FIRST_POLL_S, False
        while True:
            checked.call_log.receipt = entry.receipt or checked.call_log.receipt
            checked.call_log.is_first |= entry.is_first
            is_deposit = isinstance(checked.authorization, Deposit)
            match entry.verdict:
                case Verdict.SETTLE:
                    reach("claimed")
                    services = self._services
                    receipt = await settle(checked, entry, services.ledger, self._gate, services.unrecorded)
                    if isinstance(receipt, Answer):
                        answer = receipt
                    elif is_deposit:
                        answer = await self._drive(*await self._channels.opened(checked))
                    else:
                        answer = await self._job.run(checked, receipt)
                    return answer if entry.quota is None else answer.with_headers(entry.quota.headers())
                case Verdict.RUN | Verdict.EXPIRED if is_deposit:
                    is_known = entry.verdict is Verdict.EXPIRED
                    return await self._drive(*await self._channels.opened(checked, is_read=is_known))
                case Verdict.RUN:
                    answer = await self._job.run(checked, entry.receipt)
                    return answer if entry.quota is None else answer.with_headers(entry.quota.headers())
                case Verdict.UNKNOWN if not is_read:
                    entry, is_read = await self._channels.known(checked), True
                    continue
                case Verdict.UNKNOWN | Verdict.MISMATCH | Verdict.EXCEEDS | Verdict.BUSY:
                    return self._channels.refuse(checked, entry)
                case Verdict.ANSWER:
                    receipt = await self._channels.receipt(checked, entry.receipt)
                    return self._job.answered(checked, receipt, entry.answer, wait_ms=entry.wait_ms)
                case Verdict.LIMITED:
                    raise _limited(entry)
                case Verdict.FAILED:
                    raise with_receipt(_not_answered(entry), checked, entry.receipt, self._gate)
                case Verdict.REJECTED:
                    checked.call_log.refused(entry.reason, Cause.REFUSED_BEFORE)
                    return self._gate.refuse(entry.reason)
                case Verdict.CLAIMED:
                    # After a 402 clients sign anew, and this payment may come free again.
                    raise problem_of(Cause.CLAIMED_BY_ANOTHER, charged="unknown")
                case Verdict.CONFLICT | Verdict.EXPIRED:
                    return self._gate.refuse("payment_already_used")
                case Verdict.IDLE:
                    # To settle it takes the first payment itself, and this request brings another one.
                    raise problem_of(Cause.IDENTIFIER_OPEN)
                case Verdict.ABSENT:
                    # The copy that drove it could not reach the facilitator, and the ledger forgot the payment.
                    raise problem_of(Cause.SETTLING_GIVEN_UP)
            if time.monotonic() >= give_up_at:
                raise problem_of(Cause.SAME_CALL, charged="unknown")
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, LONGEST_POLL_S)
            ledger = self._services.ledger
            entry = await (ledger.find if checked.is_its_own else ledger.peek)(checked.claim)


def _use_post() -> Problem:
    return Problem(code="method_not_allowed", detail="Use POST to pay.", headers=(ALLOW,))


def known_causes(endpoint: Endpoint) -> frozenset[str]:
    """Why calls of an endpoint are not answered: all that metrics have a name for."""
    return frozenset((*(cause.reason for cause in Cause), *ERROR_KINDS, *UNDECODABLE, *endpoint.failures))


def _judged(refusal: PaymentRefused | Problem | None) -> NewPayment:
    if refusal is None:
        return NewPayment.ADMITTED
    if isinstance(refusal, PaymentRefused):
        return NewPayment.PAYMENT_REFUSED
    is_of_rail = refusal.cause in (Cause.RAIL_DOWN, Cause.SETTLEMENT_TOO_COSTLY)
    return NewPayment.RAIL_DOWN if is_of_rail else NewPayment.CALL_REFUSED


def _not_answered(entry: Entry) -> Problem:
    problem = problem_of(Cause.REFUNDED if entry.refund else Cause.REFUNDABLE, charged=True)
    refund = ({"refund": entry.refund},) if entry.refund else ()
    return dataclasses.replace(problem, retryable=False, details=refund)


def _limited(entry: Entry) -> Problem:
    assert entry.quota is not None
    problem = problem_of(Cause.CALL_RATE, retry_after_s=max(1, math.ceil(entry.wait_ms / 1000)))
    return dataclasses.replace(problem, headers=entry.quota.headers())
