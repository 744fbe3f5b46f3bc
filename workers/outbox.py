"""Results on their way out: stored in the ledger, then sent to who waits for them, in the write that ends their messages."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import dramatiq

from shared.endpoint import Endpoint
from shared.failpoints import reach
from shared.message import open_arguments
from shared.outcome import Failed, Outcome
from shared.replies import Reply, encode_reply
from shared.sealing import Sealer, Unsealable
from workers.answers import AnswerStore

log = logging.getLogger(__name__)

INTERNAL = Failed(code="internal_error", detail="The call failed here and was not your fault.", retryable=True)


class Outbox:
    """The results of finished jobs, by job id.

    Args:
        endpoints: by name.
    """

    def __init__(self, answers: AnswerStore, endpoints: Mapping[str, Endpoint], sealer: Sealer) -> None:
        self._answers = answers
        self._endpoints = endpoints
        self._sealer = sealer
        self._results: dict[str, tuple[str, Outcome]] = {}

    def put(self, job_id: str, payment_id: str, result: Outcome) -> None:
        """From the thread that ran the job."""
        self._results[job_id] = (payment_id, result)

    def take(self, messages: Sequence[dramatiq.Message[Any]]) -> list[tuple[str, bytes]]:
        """Store the results of these messages and return the replies. What ended without a result failed here."""
        results = [self._results.pop(message.message_id, None) or self._failure(message) for message in messages]
        known = [(message, result) for message, result in zip(messages, results, strict=True) if result is not None]
        if not known:
            return []
        answers = self._answers.done([result for _, result in known])
        reach("answer-stored")
        return [
            (message.kwargs["reply_to"], encode_reply(Reply(message.message_id, answer)))
            for (message, _), answer in zip(known, answers, strict=True)
        ]

    def _failure(self, message: dramatiq.Message[Any]) -> tuple[str, Outcome] | None:
        """Of a message that no actor ran to its end. None when it cannot even be told whom to answer."""
        endpoint = self._endpoints.get(message.actor_name)
        try:
            sealed, _ = message.kwargs["sealed"], message.kwargs["reply_to"]
            assert endpoint is not None
            arguments = open_arguments(sealed, endpoint=endpoint, job_id=message.message_id, sealer=self._sealer)
        except (KeyError, AssertionError, Unsealable) as error:
            log.error("message %s: %s", message.message_id, type(error).__name__)
            return None
        return arguments.payment_id, INTERNAL
