"""Steps 7 and 8 of a paid call (docs/architecture.md): runs the job, and turns its outcome into a response."""

import contextlib
import logging
import math

import msgspec

from api.causes import Cause
from api.channel_calls import ChannelCalls
from api.dispatch import ReplyTimeout
from api.errors import ERROR_KINDS, Charged, Problem, problem_of
from api.http import Answer
from api.payment.gate import PaymentGate
from api.payment.ledger_terms import Verdict
from api.payment.settle import Checked, with_receipt
from api.redis_client import RedisLost, RedisRefused
from api.replies import Unread
from api.services import Services
from shared.failpoints import reach
from shared.layouts import UnknownLayout
from shared.observability.metrics import metrics
from shared.outcome import NOT_STORED, Failed
from shared.queue.message import Arguments
from shared.sealing.sealing import Unsealable
from shared.settled_payment import SettledPayment
from shared.x402.evm_channel import Voucher
from shared.x402.wire import Settlement

log = logging.getLogger(__name__)


class JobCall:
    """The jobs of one endpoint's calls."""

    def __init__(self, gate: PaymentGate, services: Services, channels: ChannelCalls) -> None:
        self._gate = gate
        self._endpoint = gate.endpoint
        self._services = services
        self._channels = channels

    async def run(self, checked: Checked, receipt: bytes) -> Answer:
        """7, 8. Run the job. From here on every answer carries the receipt, whatever happens."""
        checked.call_log.receipt = receipt
        secret = self._services.answers.secret(self._endpoint, checked.authorization.signature)
        authorization = checked.authorization
        payment = SettledPayment(
            network=checked.offer.network,
            payer=authorization.payer,
            asset=checked.offer.asset,
            amount=checked.offer.amount,
            transaction=msgspec.json.decode(receipt, type=Settlement).transaction if receipt else "",
            signer=authorization.other_signer if isinstance(authorization, Voucher) else "",
        )
        arguments = Arguments(
            checked.claim.payment_id, payment, checked.body, secret, request_id=checked.call_log.request_id
        )
        problem: Problem
        try:
            answer = await self._services.dispatcher.run(self._endpoint, arguments, checked.call_log)
            reach("reply-received")
            if isinstance(checked.authorization, Voucher):
                charged, _, answer = answer.partition(b"\n")
                if not answer:  # the call was given up before the worker was done
                    raise ReplyTimeout
                receipt = await self._channels.receipt(checked, charged)
                if charged:
                    tokens = checked.rail.tokens(checked.offer)
                    metrics.payment(self._endpoint.name, checked.rail.rail, "charged", tokens=tokens)
            return self.answered(checked, receipt, answer)
        except Problem as ended:
            if ended.cause is Cause.ANSWER_NOT_STORED:
                await self._services.ledger.release(checked.claim.payment_id)
            raise
        except ReplyTimeout:
            # The reply may have been lost on the way, while the answer is in the ledger.
            with contextlib.suppress(RedisLost, RedisRefused):
                entry = await self._services.ledger.peek(checked.claim)
                if entry.verdict is Verdict.ANSWER:
                    receipt = await self._channels.receipt(checked, entry.receipt)
                    return self.answered(checked, receipt, entry.answer)
            problem = problem_of(Cause.ANSWER_LATE, charged=True)
        except (RedisLost, RedisRefused) as error:
            await self._services.ledger.release(checked.claim.payment_id)
            problem = problem_of(Cause.QUEUE_UNREACHABLE, charged=True, failure=error)
        except Unread as error:
            problem = problem_of(Cause.WORKER_KEY, charged=True, failure=error)
        except Exception as error:
            problem = problem_of(Cause.RUN_FAILED, charged=True, failure=error)
        raise with_receipt(problem, checked, receipt, self._gate)

    def answered(self, checked: Checked, receipt: bytes, answer: bytes, *, wait_ms: int = 0) -> Answer:
        """Open a sealed outcome and turn it into a response, of the same bytes for every copy of the request.

        Args:
            wait_ms: milliseconds until a failed job may be run again.
        """
        answers, signature = self._services.answers, checked.authorization.signature
        is_voucher = isinstance(checked.authorization, Voucher)
        charged: Charged = "unknown" if is_voucher else True
        try:
            result = answers.open_for(answer, self._endpoint, checked.claim.payment_id, signature)
        except Unsealable as error:
            if not checked.is_its_own:  # the answer is secret, and sealed for the payment that was charged
                raise problem_of(Cause.IDENTIFIER_SECRET) from None
            # The answer belongs to another signature over the same authorization, or its key is gone.
            log.warning("an answer to %s cannot be opened: %s", self._endpoint.path, error)
            return self._gate.refuse("payment_already_used")
        except UnknownLayout as error:
            log.error("an answer to %s cannot be read: %s", self._endpoint.path, error)
            raise with_receipt(problem_of(Cause.ANSWER_LAYOUT, charged=charged), checked, receipt, self._gate) from None
        if result == NOT_STORED:
            raise with_receipt(problem_of(Cause.ANSWER_NOT_STORED, charged=charged), checked, receipt, self._gate)
        if isinstance(result, Failed):
            problem = Problem(
                code=result.code if result.code in ERROR_KINDS else "internal_error",
                detail=result.detail,
                reason=result.reason,
                charged=not is_voucher,
                retryable=result.retryable,
                retry_same_payment=result.retryable,
                retry_after_s=max(1, math.ceil(wait_ms / 1000)) if result.retryable else None,
            )
            raise with_receipt(problem, checked, receipt, self._gate)
        headers = ((b"content-type", b"application/json"),)
        proof = self._gate.receipt(receipt, older=checked.presented.older, is_delivered=True)
        return Answer(200, headers + proof, result.body)
