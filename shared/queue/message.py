"""The job on the wire: an ordinary Dramatiq message whose arguments are sealed."""

import random
import time
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import pybase64

from shared.endpoint import Endpoint
from shared.layouts import MESSAGES
from shared.observability import tracing
from shared.sealing.answers import is_secret_of
from shared.sealing.sealing import Sealer, Unsealable
from shared.settled_payment import SettledPayment


class Arguments(msgspec.Struct, frozen=True, array_like=True):
    """What a worker needs to run a call; nobody else can read it.

    Args:
        payment_id: key of the answer in the ledger.
        payment: what was paid, and by whom.
        body: the request body as it came, empty where the endpoint allows that.
        secret: what the answer is sealed with beside our key (shared/sealing/answers.py). Of endpoints that hold secrets only.
        request_id: of the HTTP request, for the logs.
        with_previous: whether they were sealed with the previous key. Never sent: who opens them learns it.
    """

    payment_id: str
    payment: SettledPayment
    body: bytes
    secret: bytes = b""
    request_id: str = ""
    with_previous: bool = False


class Job(NamedTuple):
    """A message that is ready to be enqueued: its id, and its bytes as `dramatiq.Message.encode` would write them."""

    id: str
    encoded: bytes


class _Keywords(msgspec.Struct, frozen=True):
    job_id: str
    sealed: msgspec.Raw
    reply_to: str
    deadline_ms: int


class _Message(msgspec.Struct, frozen=True):
    # The fields of dramatiq.Message. Importing Dramatiq would cost the API 0.1 s of its start.
    queue_name: str
    actor_name: str
    args: tuple[()]
    kwargs: _Keywords
    options: dict[str, str | int]
    message_id: str
    message_timestamp: int


_LAYOUT = "layout"
"""The option with the number of everything in a message. `deadline_ms` has its name and meaning in every layout."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Arguments)
_json = msgspec.json.Encoder()


def new_job(endpoint: Endpoint, arguments: Arguments, *, reply_to: str, deadline_ms: int, sealer: Sealer) -> Job:
    """Build the message of one job.

    Args:
        reply_to: key of the reply list of the API process that waits.
        deadline_ms: Unix milliseconds, by the queue's clock, after which nobody waits and the job is not to be started.
    """
    # Unique is enough, it opens nothing: `secrets` costs several times as much.
    job_id = f"{random.getrandbits(128):032x}"
    sealed = sealer.seal(_encoder.encode(arguments), _binding(endpoint.name, job_id))
    message = _Message(
        queue_name=str(endpoint.pool),
        actor_name=endpoint.name,
        args=(),
        kwargs=_Keywords(job_id, _quoted_base64(sealed), reply_to, deadline_ms),
        options={_LAYOUT: MESSAGES.written, **tracing.message_options()},
        message_id=job_id,
        message_timestamp=int(time.time() * 1000),
    )
    return Job(job_id, _json.encode(message))


def wrong_layout(options: Mapping[str, object]) -> str:
    """Why this version must not run a message with these options; empty when it may."""
    return MESSAGES.wrong(options.get(_LAYOUT, MESSAGES.unnumbered))


def open_arguments(sealed: str, *, endpoint: Endpoint, job_id: str, sealer: Sealer) -> Arguments:
    """Raises Unsealable when the message is not for this job or this installation."""
    try:
        raw = pybase64.b64decode(sealed, validate=True)
        if len(sealed) != 4 * ((len(raw) + 2) // 3):  # more padding than is needed passes for valid
            raise ValueError
        plain, with_previous = sealer.opened(raw, _binding(endpoint.name, job_id))
        arguments = _decoder.decode(plain)
    except (ValueError, TypeError, msgspec.DecodeError) as error:
        if isinstance(error, Unsealable):
            raise
        raise Unsealable(f"damaged arguments: {type(error).__name__}") from None
    if not is_secret_of(endpoint, arguments.secret):
        raise Unsealable("damaged arguments: without what their answer is to be sealed with")
    return msgspec.structs.replace(arguments, with_previous=True) if with_previous else arguments


def _quoted_base64(content: bytes) -> msgspec.Raw:
    # There is nothing in base64 that JSON would have to escape, and a large body needs no other copy of it.
    return msgspec.Raw(b'"%b"' % pybase64.b64encode(content))


def _binding(endpoint_name: str, job_id: str) -> bytes:
    return f"{job_id}|{endpoint_name}".encode()
