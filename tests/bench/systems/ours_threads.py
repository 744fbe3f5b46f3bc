"""Our queue, end to end: the broker under the stock `dramatiq` command, and the API's own way of waiting for a reply.

What belongs to a payment is left out: sealed arguments, the ledger. ours_inline.py is the same in the consumer's thread.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import dramatiq
import msgspec

from api.redis_client import COMMAND_TIMEOUT_S, Redis
from api.replies import READ_TIMEOUT_S, ReplyReader
from shared.queue.replies import Reply, encode_reply
from shared.queue.streams import FIELD, stream_key
from tests.bench.caller import Call, serve_calls
from tests.bench.roles import THREADS, become, play, queue_url
from workers.queue.broker import StopFetching, StreamBroker
from workers.queue.work_queue import FastWorkQueue

MODULE = "tests.bench.systems.ours_threads"
QUEUE = "hop"


class Results:
    """An outbox in memory."""

    def __init__(self) -> None:
        self.results: dict[str, tuple[str, bytes]] = {}

    def take(self, messages: Sequence[dramatiq.Message[Any]]) -> list[tuple[str, bytes]]:
        """The replies to these messages."""
        return [self.results.pop(message.message_id) for message in messages]


def new_broker(*, inline: bool) -> StreamBroker:
    """The worker's broker with the job."""
    outbox = Results()
    broker = StreamBroker(queue_url(), middleware=[FastWorkQueue(), StopFetching()], outbox=outbox)

    @dramatiq.actor(broker=broker, queue_name=QUEUE, inline=inline)
    def echo(job_id: str, reply_to: str, text: str) -> None:
        outbox.results[job_id] = (reply_to, encode_reply(Reply(job_id, text.encode())))

    dramatiq.set_broker(broker)
    return broker


def create_broker() -> StreamBroker:
    """For the command line."""
    return new_broker(inline=False)


def worker() -> None:
    """One worker process."""
    become("-m", "dramatiq", f"{MODULE}:create_broker", "--processes", "1", "--threads", str(THREADS))


async def connect() -> Call:
    """As api.dispatch.Dispatcher does it."""
    queue = Redis(queue_url())
    replies = ReplyReader(Redis(queue_url(), timeout_s=READ_TIMEOUT_S + COMMAND_TIMEOUT_S))
    replies.start()
    numbers = itertools.count()
    encoder = msgspec.json.Encoder()
    message = {"queue_name": QUEUE, "actor_name": "echo", "args": (), "options": {}, "message_timestamp": 0}

    async def call(text: str) -> str:
        job_id = f"{next(numbers):x}"
        arguments = {"job_id": job_id, "reply_to": replies.address, "text": text}
        reply = replies.expect(job_id)
        encoded = encoder.encode({**message, "kwargs": arguments, "message_id": job_id})
        await queue.call("XADD", stream_key(QUEUE), "*", FIELD, encoded)
        return (await reply).decode()

    return call


if __name__ == "__main__":
    play({"worker": worker, "call": lambda: serve_calls(connect)})
