"""Results on their way out: stored in the ledger, then sent to who waits for them, in the write that ends their messages."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import dramatiq

from shared.endpoint import Endpoint
from shared.failpoints import reach
from shared.layouts import REPLIES
from shared.queue.message import open_arguments
from shared.queue.replies import PART_BYTES, UNREADABLE, Cost, Parts, Reply, encode_reply, in_parts
from shared.sealing.sealing import Sealer, Unsealable
from workers.answers import AnswerStore, Result
from workers.execute import INTERNAL
from workers.mirror import NO_MIRROR, Mirror

log = logging.getLogger(__name__)


class Outbox:
    """The results of finished jobs, by job id.

    Args:
        endpoints: by name.
        mirror: gets every job that has ended.
    """

    def __init__(
        self, answers: AnswerStore, endpoints: Mapping[str, Endpoint], sealer: Sealer, mirror: Mirror = NO_MIRROR
    ) -> None:
        self._answers = answers
        self._endpoints = endpoints
        self._sealer = sealer
        self._mirror = mirror
        self._results: dict[str, Result] = {}

    def put(self, job_id: str, result: Result) -> None:
        """From the thread that ran the job."""
        self._results[job_id] = result

    def take(self, messages: Sequence[dramatiq.Message[Any]]) -> list[tuple[str, bytes]]:
        """Store the results of these messages and return the replies, parts first. What ended without a result failed here."""
        results = [self._results.pop(message.message_id, None) or self._failure(message) for message in messages]
        self._mirror.ended(messages, results)
        known = [result for result in results if result is not None]
        answers = iter(self._answers.done(known) if known else ())
        if known:
            reach("answer-stored")
        parts: list[tuple[str, bytes]] = []
        replies = []
        for message, result in zip(messages, results, strict=True):
            outcome = UNREADABLE if result is None else next(answers)
            if (address := _address(message)) is None:
                continue
            answer: bytes | Parts = outcome
            if len(outcome) > PART_BYTES:
                answer, pushes = in_parts(outcome)
                parts += pushes
            cost = Cost() if result is None else result.cost
            replies.append((address, encode_reply(Reply(message.message_id, answer, *cost, layout=REPLIES.written))))
        return parts + replies

    def _failure(self, message: dramatiq.Message[Any]) -> Result | None:
        """The result of a message that no actor ran to its end. None when nobody can say whose it was."""
        endpoint = self._endpoints.get(message.actor_name)
        try:
            assert endpoint is not None
            sealed = message.kwargs["sealed"]
            arguments = open_arguments(sealed, endpoint=endpoint, job_id=message.message_id, sealer=self._sealer)
        except (KeyError, TypeError, AssertionError, Unsealable) as error:
            log.error("message %s: %s", message.message_id, type(error).__name__)
            return None
        return Result(arguments.payment_id, endpoint, arguments.secret, INTERNAL, with_previous=arguments.with_previous)


def _address(message: dramatiq.Message[Any]) -> str | None:
    """Whom to reply to. None in a message that is none of ours."""
    try:
        address = message.kwargs["reply_to"]
    except (KeyError, TypeError):
        return None
    return address if isinstance(address, str) else None
