"""Payments that were answered at their preconfirmation, and that the chain has not in the end."""

import logging
import time
from collections import deque

from facilitator.rails.evm.evidence import Transfer, Use, proves_payment
from facilitator.rails.evm.transaction import Sent

log = logging.getLogger(__name__)

BUDGET = 20
"""Payments that may be lost within WINDOW_S before no new ones are taken. The API has the same bound for reorganisations."""
WINDOW_S = 3600.0


class ReorgMonitor:
    """Counts such payments of the last hour."""

    def __init__(self) -> None:
        self._lost_at: deque[float] = deque(maxlen=BUDGET)

    @property
    def unavailable_reason(self) -> str:
        """Why nothing is settled; empty while few payments are lost."""
        if len(self._lost_at) < BUDGET or self._lost_at[0] < time.monotonic() - WINDOW_S:
            return ""
        return f"{BUDGET} payments were lost after their preconfirmation within an hour"

    def compare(self, sent: Sent, made: dict[Use, Transfer]) -> None:
        """Compare what was answered for the payments of a transaction with those that it has made in the end."""
        hashes = {form.hash for form in sent.forms}
        for payment in sent.members:
            answer = payment.ended.result() if payment.ended.done() else None
            is_preconfirmed = answer is not None and answer.success and answer.transaction in hashes
            if is_preconfirmed and not proves_payment(made, payment.authorization):
                self._lost_at.append(time.monotonic())
                log.error("%s was preconfirmed, and the chain does not have it", payment.authorization.payment_id)
                if self.unavailable_reason:
                    log.error("nothing is settled: %s", self.unavailable_reason)
