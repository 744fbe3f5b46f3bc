"""One paid call, read from top to bottom. There is no payment middleware: this is the whole way."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import math
import time

import msgspec
from litestar.types import Receive, Scope, Send

from api.admission import Admission, RailDown
from api.body import RequestBody
from api.claims import build_claim
from api.dispatch import ReplyTimeout
from api.errors import ERROR_KINDS, Problem, retryable_problem
from api.http import PREFLIGHT, Answer, problem_answer, request_id, respond
from api.payment.gate import UNPAID, PaymentGate
from api.payment.headers import decode_payment, find_payment
from api.payment.ledger import Entry, Verdict
from api.payment.settle import Checked, settle, with_receipt
from api.redis_client import RedisLost, RedisRefused
from api.services import Services
from shared.endpoint import Endpoint
from shared.failpoints import reach
from shared.message import Arguments
from shared.outcome import Failed
from shared.sealing import Unsealable
from shared.settled_payment import SettledPayment
from shared.x402.refusal import PaymentRefused
from shared.x402.wire import Settlement

log = logging.getLogger(__name__)

DUPLICATE_WAIT_S = 25.0
"""How long a copy of a call waits for the one that drives it. Common HTTP clients give up after 30 s."""
FIRST_POLL_S = 0.02
LONGEST_POLL_S = 0.25


class PaidCall:
    """The ASGI application of one endpoint's path."""

    def __init__(self, gate: PaymentGate, services: Services) -> None:
        self._gate = gate
        self._endpoint: Endpoint = gate.endpoint
        self._admission = Admission(gate.endpoint, services.disk, services.binder)
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Nothing escapes: an unexpected failure is logged with the request's id."""
        call_id = request_id(scope)
        body = RequestBody(scope, receive, self._services.long_bodies)
        try:
            answer = await self._answer(scope, body)
        except PaymentRefused as refused:
            answer = await self._challenge(refused.reason, body)
        except Problem as problem:
            answer = problem_answer(problem, instance=self._endpoint.path, request_id=call_id)
        except (RedisLost, RedisRefused) as error:
            log.error("request %s to %s: ledger: %s", call_id, self._endpoint.path, error)
            # A script whose answer was lost may have run, so it is this payment that is to be repeated.
            lost = retryable_problem(
                "unavailable", "The ledger cannot be reached. Do not pay again.", charged="unknown", after_s=2
            )
            answer = problem_answer(lost, instance=self._endpoint.path, request_id=call_id)
        except Exception:
            log.exception("request %s to %s failed", call_id, self._endpoint.path)
            unexpected = retryable_problem("internal_error", "Do not pay again.", charged="unknown", after_s=2)
            answer = problem_answer(unexpected, instance=self._endpoint.path, request_id=call_id)
        await body.discard()
        await respond(send, answer, request_id=call_id, head=scope.get("method") == "HEAD")

    async def _answer(self, scope: Scope, request_body: RequestBody) -> Answer:
        method = scope.get("method")
        if method == "OPTIONS":
            return Answer(204, ((b"allow", b"POST, OPTIONS"), *PREFLIGHT), b"")
        if method not in ("POST", "GET", "HEAD"):
            raise Problem(code="method_not_allowed", detail="Use POST.", headers=((b"allow", b"POST"),))

        # 1. Unpaid: the price, whatever the body. No parsing, no Redis.
        presented = find_payment(scope["headers"])
        if presented is None:
            return await self._challenge(UNPAID, request_body)
        if method != "POST":
            raise Problem(code="method_not_allowed", detail="Use POST to pay.", headers=((b"allow", b"POST"),))

        # 2, 3. Whose offer it is, and whether it is signed as it must be.
        paid = self._gate.match(decode_payment(presented.value))
        authorization = paid.check()

        body = await request_body.read(limit=self._endpoint.max_body_bytes)
        claim = build_claim(self._services, self._endpoint, authorization, paid, scope["query_string"], body)
        checked = Checked(presented, paid.offer, paid.rail, paid.payment, authorization, claim, body)
        another_offer = None if paid.is_current else PaymentRefused("no_matching_offer")
        if another_offer and await self._services.ledger.offer(claim.payment_id) != claim.offer:
            raise another_offer

        # 4, 5. A new payment is claimed only if nothing speaks against it; a known one is looked up whatever does.
        no_seat = await self._services.dispatcher.take_seat(self._endpoint)
        try:
            # Who a contract wallet's payment is from is not known before the chain was asked.
            holder = claim.payer if authorization.signature_checked else claim.payment_id
            with self._services.limits.held(holder, claim.payment_id) as is_within:
                refusal = another_offer or await self._admission.refusal(checked, no_seat, is_within=is_within)
                entry = await self._enter(checked, refusal, has_seat=no_seat is None)
                return await self._drive(*await self._identified(checked, entry))
        finally:
            if no_seat is None:
                self._services.dispatcher.leave_seat(self._endpoint)

    async def _enter(self, checked: Checked, refusal: PaymentRefused | Problem | None, *, has_seat: bool) -> Entry:
        """Claim the payment, or find what is known of it. Raises `refusal` when that is nothing."""
        ledger, claim = self._services.ledger, checked.claim
        if refusal is None:
            try:
                return await ledger.claim(claim)
            except RedisRefused as refused:
                # Full, or its disk is: it takes nothing new, and still knows what it has.
                log.error("the ledger takes no payment: %s", refused)
                entry = await ledger.find(claim)
                if entry.verdict is Verdict.ABSENT:
                    raise retryable_problem(
                        "unavailable", "No payment can be taken now.", charged=False, after_s=10
                    ) from None
                return entry
        # Out of its window it can still be driven: it may have been settled in time. With its rail down it can be run if it is
        # settled. Without a seat it can do neither.
        look_up = ledger.peek
        if has_seat and isinstance(refusal, PaymentRefused):
            look_up = ledger.find
        elif has_seat and isinstance(refusal, RailDown):
            look_up = ledger.resume
        entry = await look_up(claim)
        if entry.verdict is Verdict.ABSENT:
            raise refusal
        if entry.verdict is Verdict.IDLE:
            # It may have been charged before, so it is this payment that is to be repeated.
            if isinstance(refusal, PaymentRefused):
                raise retryable_problem("unavailable", "This call cannot be run now.", charged="unknown", after_s=2)
            raise dataclasses.replace(refusal, charged="unknown")
        return entry

    async def _identified(self, checked: Checked, entry: Entry) -> tuple[Checked, Entry]:
        """When the client has named this call before and paid for it then: that payment, which alone was charged."""
        if entry.verdict is not Verdict.IDENTIFIED:
            return checked, entry
        earlier = dataclasses.replace(checked.claim, payment_id=entry.other, identifier="")
        entry = await self._services.ledger.peek(earlier)
        if entry.verdict in (Verdict.CONFLICT, Verdict.EXPIRED, Verdict.ABSENT, Verdict.REJECTED):
            raise Problem(code="identifier_used", detail="Take another identifier for another call.")
        return dataclasses.replace(checked, claim=earlier), entry

    async def _challenge(self, reason: str, request_body: RequestBody) -> Answer:
        return self._gate.refuse(reason, await request_body.peek() if self._gate.binds_bodies else None)

    async def _drive(self, checked: Checked, entry: Entry) -> Answer:
        """From the ledger's verdict to the answer; a copy of a running call comes back here until it is answered."""
        give_up_at = time.monotonic() + DUPLICATE_WAIT_S
        pause_s = FIRST_POLL_S
        while True:
            match entry.verdict:
                case Verdict.SETTLE:
                    reach("claimed")
                    receipt = await settle(checked, entry.attempts, self._services.ledger, self._gate)
                    answer = receipt if isinstance(receipt, Answer) else await self._run(checked, receipt)
                    return answer if entry.quota is None else answer.with_headers(entry.quota.headers())
                case Verdict.RUN:
                    return await self._run(checked, entry.receipt)
                case Verdict.ANSWER:
                    return self._answered(checked, entry.receipt, entry.answer, wait_ms=entry.wait_ms)
                case Verdict.LIMITED:
                    raise _limited(entry)
                case Verdict.FAILED:
                    detail = "This call was paid and could not be answered. The operator can refund it."
                    failed = Problem(
                        code="internal_error", detail=detail, charged=True, retryable=False, reason="refundable"
                    )
                    raise with_receipt(failed, checked, entry.receipt, self._gate)
                case Verdict.REJECTED:
                    return self._gate.refuse(entry.reason)
                case Verdict.CONFLICT | Verdict.EXPIRED:
                    return self._gate.refuse("payment_already_used")
                case Verdict.IDLE:
                    # To drive it takes the payment itself, which this request does not bring: it brings another.
                    raise retryable_problem(
                        "in_progress", "Repeat the call with its first payment.", charged=False, after_s=2
                    )
                case Verdict.ABSENT:
                    # The copy that drove it could not reach the facilitator and forgot it.
                    raise retryable_problem(
                        "unavailable", "The payment cannot be settled now.", charged=False, after_s=5
                    )
            if time.monotonic() >= give_up_at:
                raise retryable_problem(
                    "in_progress", "The same call is still being answered.", charged="unknown", after_s=2
                )
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, LONGEST_POLL_S)
            ledger = self._services.ledger
            entry = await (ledger.find if checked.is_its_own else ledger.peek)(checked.claim)

    async def _run(self, checked: Checked, receipt: bytes) -> Answer:
        """7, 8. The job. From here every answer carries the receipt, whatever happens."""
        secret = self._services.answers.secret(self._endpoint, checked.authorization.signature)
        payment = SettledPayment(
            network=checked.offer.network,
            payer=checked.authorization.payer,
            asset=checked.offer.asset,
            amount=checked.offer.amount,
            transaction=msgspec.json.decode(receipt, type=Settlement).transaction,
        )
        arguments = Arguments(checked.claim.payment_id, payment, checked.body, secret)
        problem: Problem
        try:
            answer = await self._services.dispatcher.run(self._endpoint, arguments)
            reach("reply-received")
            return self._answered(checked, receipt, answer)
        except Problem:
            raise
        except ReplyTimeout:
            # Its reply may have been lost on the way, with the answer in the ledger.
            with contextlib.suppress(RedisLost, RedisRefused):
                entry = await self._services.ledger.peek(checked.claim)
                if entry.verdict is Verdict.ANSWER:
                    return self._answered(checked, entry.receipt, entry.answer)
            problem = retryable_problem("deadline_exceeded", "The answer took too long.", charged=True, after_s=3)
        except (RedisLost, RedisRefused) as error:
            log.error("queue: %s", error)
            with contextlib.suppress(RedisLost, RedisRefused):
                await self._services.ledger.release(checked.claim.payment_id)
            problem = retryable_problem(
                "unavailable", "The call was paid and cannot be run now.", charged=True, after_s=2
            )
        except Exception:
            log.exception("running %s failed", self._endpoint.name)
            problem = retryable_problem("internal_error", "The call was paid and failed here.", charged=True, after_s=2)
        raise with_receipt(problem, checked, receipt, self._gate)

    def _answered(self, checked: Checked, receipt: bytes, answer: bytes, *, wait_ms: int = 0) -> Answer:
        """A sealed outcome over HTTP: the same bytes for every copy of the request, for as long as it is kept.

        Args:
            wait_ms: until a failed job may be run again.
        """
        answers = self._services.answers
        secret = answers.secret(self._endpoint, checked.authorization.signature)
        try:
            result = answers.open(answer, self._endpoint, checked.claim.payment_id, secret)
        except Unsealable as error:
            if not checked.is_its_own:  # it is secret, and sealed for the payment that was charged
                detail = "Repeat the call with its first payment, or take another identifier."
                raise Problem(code="identifier_used", detail=detail) from None
            # It was given to another signature over the same authorization, or sealed with a key that is gone.
            log.warning("an answer to %s cannot be opened: %s", self._endpoint.path, error)
            return self._gate.refuse("payment_already_used")
        if isinstance(result, Failed):
            problem = Problem(
                code=result.code if result.code in ERROR_KINDS else "internal_error",
                detail=result.detail,
                reason=result.reason,
                charged=True,
                retryable=result.retryable,
                retry_same_payment=result.retryable,
                retry_after_s=max(1, math.ceil(wait_ms / 1000)) if result.retryable else None,
            )
            raise with_receipt(problem, checked, receipt, self._gate)
        headers = ((b"content-type", b"application/json"),)
        return Answer(200, headers + self._gate.receipt(receipt, older=checked.presented.older), result.body)


def _limited(entry: Entry) -> Problem:
    assert entry.quota is not None
    problem = retryable_problem(
        "rate_limited",
        "You call this endpoint too often.",
        charged=False,
        after_s=max(1, math.ceil(entry.wait_ms / 1000)),
    )
    return dataclasses.replace(problem, headers=entry.quota.headers())
