"""A job travels as an ordinary Dramatiq message that only our workers can read."""

import base64
import dataclasses
import time
from typing import Any

import dramatiq
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.echo import ENDPOINT
from shared.layouts import MESSAGES
from shared.queue.message import Arguments, new_job, open_arguments
from shared.sealing.sealing import Sealer, Unsealable
from shared.settled_payment import SettledPayment
from tests.each import each

SEALER = Sealer(bytes(range(32)))
CANARY = "canary-41d7-canary"
PAYER = "0x" + "a17e" * 10
ARGUMENTS = Arguments(
    f"eip155:8453:0x{'c0de' * 10}:{PAYER}:0x{'5eed' * 16}",
    SettledPayment(payer=PAYER),
    b'{"message": "%b"}' % CANARY.encode(),
)
OTHER = dataclasses.replace(ENDPOINT, name="other")


def made(arguments: Arguments = ARGUMENTS, deadline_ms: int = 1_900_000_000_000) -> dramatiq.Message[Any]:
    job = new_job(ENDPOINT, arguments, reply_to="coinslot:replies:1", deadline_ms=deadline_ms, sealer=SEALER)
    message: dramatiq.Message[Any] = dramatiq.Message.decode(job.encoded)
    assert (job.id, job.encoded) == (message.message_id, message.encode())
    return message


def opened(message: dramatiq.Message[Any], **changes: Any) -> Arguments:
    options = {
        "sealed": message.kwargs["sealed"],
        "endpoint": ENDPOINT,
        "job_id": message.kwargs["job_id"],
        "sealer": SEALER,
        **changes,
    }
    return open_arguments(options.pop("sealed"), **options)


@given(st.text(max_size=200), st.text(max_size=100), st.binary(max_size=2_000))
def test_round_trip(payment_id: str, payer: str, body: bytes) -> None:
    """Through Dramatiq's own encoding, any arguments come back as they were."""
    arguments = Arguments(payment_id, SettledPayment(payer=payer), body)

    received = dramatiq.Message.decode(made(arguments).encode())

    assert opened(received) == arguments


def test_what_everybody_may_read() -> None:
    """The queue, the actor, the reply's address and the deadline are Dramatiq's and the operator's business."""
    before = int(time.time() * 1000)

    message = dramatiq.Message.decode(made().encode())

    assert (message.queue_name, message.actor_name) == ("micro", "echo")
    assert (message.args, message.options) == ((), {"layout": MESSAGES.written})
    assert set(message.kwargs) == {"job_id", "sealed", "reply_to", "deadline_ms"}
    assert message.kwargs["job_id"] == message.message_id
    assert (message.kwargs["reply_to"], message.kwargs["deadline_ms"]) == ("coinslot:replies:1", 1_900_000_000_000)
    assert before <= message.message_timestamp <= time.time() * 1000 + 1


def test_nobody_else_can_read_the_arguments() -> None:
    """Neither the body, the payer nor the payment is in the message, plain, in base64 or in hex, nor in what a log shows."""
    message = made()
    seen = [message.encode(), repr(message).encode(), str(message).encode(), base64.b64decode(message.kwargs["sealed"])]

    for secret in (CANARY.encode(), PAYER.encode(), ARGUMENTS.payment_id.encode()):
        forms = [secret, secret.hex().encode(), *(base64.b64encode(bytes(n) + secret)[4:-4] for n in range(3))]
        assert not any(form in one for form in forms for one in seen)


def test_every_job_has_an_id_of_its_own() -> None:
    """A repeated call is another message."""
    messages = [made() for _ in range(100)]

    assert len({message.message_id for message in messages}) == 100
    assert len({message.kwargs["sealed"] for message in messages}) == 100


@each(
    "changes",
    [
        {"sealer": Sealer(bytes(32))},
        {"job_id": "0" * 32},
        {"job_id": ""},
        {"endpoint": OTHER},
        {"sealed": ""},
        {"sealed": "%%%%"},
        {"sealed": "AAAA"},
        {"sealed": "A" * 400},
    ],
    ids=["another key", "another job", "no job", "another endpoint", "empty", "not base64", "short", "garbage"],
)
def test_what_is_not_for_this_job_is_refused(changes: dict[str, Any]) -> None:
    """A message of another installation, job or endpoint, and one that was damaged."""
    with pytest.raises(Unsealable):
        opened(made(), **changes)


def test_base64_has_one_spelling() -> None:
    """Line ends and other characters that lenient decoders skip are refused."""
    message = made()
    sealed = message.kwargs["sealed"]

    for changed in (
        sealed + "\n",
        sealed[:8] + "\n" + sealed[8:],
        sealed[:8] + "-" + sealed[8:],
        sealed + "=",
        sealed + "====",
    ):
        with pytest.raises(Unsealable):
            opened(message, sealed=changed)


def test_an_older_workers_arguments_are_refused() -> None:
    """Rightly sealed, but not what is expected: two fields instead of three, or not MessagePack at all."""
    message = made()
    binding = f"{message.message_id}|echo".encode()

    for plain in (msgspec.msgpack.encode(["id", "payer"]), msgspec.msgpack.encode(["id", "payer", 5]), b"", b"\xc1"):
        sealed = base64.b64encode(SEALER.seal(plain, binding)).decode()
        with pytest.raises(Unsealable, match="damaged arguments"):
            opened(message, sealed=sealed)
