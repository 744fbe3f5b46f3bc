"""The job on the wire: an ordinary Dramatiq message whose arguments are sealed."""

from __future__ import annotations

import base64
import time
import uuid
from typing import Any

import dramatiq
import msgspec

from shared.endpoint import Endpoint
from shared.sealing import Sealer, Unsealable


class Arguments(msgspec.Struct, frozen=True, array_like=True):
    """What a worker needs to run a call; nobody else can read it.

    Args:
        payment_id: key of the answer in the ledger.
        payer: the wallet that paid.
        body: the request body as it came, empty where the endpoint allows that.
    """

    payment_id: str
    payer: str
    body: bytes


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Arguments)


def new_message(
    endpoint: Endpoint, arguments: Arguments, *, reply_to: str, deadline_ms: int, sealer: Sealer
) -> dramatiq.Message[Any]:
    """Build the message of one job.

    Args:
        reply_to: key of the reply list of the API process that waits.
        deadline_ms: Unix milliseconds after which nobody waits and the job is not to be started.
    """
    message_id = uuid.uuid4().hex
    sealed = sealer.seal(_encoder.encode(arguments), _binding(endpoint.name, message_id))
    return dramatiq.Message(
        queue_name=endpoint.pool.value,
        actor_name=endpoint.name,
        args=(),
        kwargs={
            "job_id": message_id,
            "sealed": base64.b64encode(sealed).decode(),
            "reply_to": reply_to,
            "deadline_ms": deadline_ms,
        },
        options={},
        message_id=message_id,
        message_timestamp=int(time.time() * 1000),
    )


def open_arguments(sealed: str, *, endpoint: Endpoint, job_id: str, sealer: Sealer) -> Arguments:
    """Raises Unsealable when the message is not for this job or this installation."""
    try:
        return _decoder.decode(sealer.open(base64.b64decode(sealed, validate=True), _binding(endpoint.name, job_id)))
    except (ValueError, msgspec.DecodeError) as error:
        if isinstance(error, Unsealable):
            raise
        raise Unsealable(f"damaged arguments: {type(error).__name__}") from None


def _binding(endpoint_name: str, job_id: str) -> bytes:
    return f"{job_id}|{endpoint_name}".encode()
