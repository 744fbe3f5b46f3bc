"""Calls an endpoint as its callers do: with a JSON body, for a JSON answer."""

import json
from typing import Any

import msgspec
import pytest

from jobs.ports import Context
from shared.endpoint import Endpoint, InvalidField

CONTEXT = Context(payer="0x0")


def request_of(endpoint: Endpoint, body: Any) -> Any:
    """The request of a body, which may be raw bytes."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return msgspec.json.decode(raw, type=endpoint.request)


def answer_to(endpoint: Endpoint, body: Any) -> dict[str, Any]:
    """The answer as it is sent, read by another JSON reader. It has every key, in the declared order."""
    answer: dict[str, Any] = json.loads(msgspec.json.encode(endpoint.run(request_of(endpoint, body), CONTEXT)))
    assert tuple(answer) == endpoint.response.__struct_encode_fields__
    return answer


def refusal_of(endpoint: Endpoint, body: Any) -> InvalidField:
    """The refusal of a body, which comes before any payment."""
    with pytest.raises(msgspec.ValidationError) as caught:
        request_of(endpoint, body)
    assert isinstance(caught.value.__cause__, InvalidField)
    return caught.value.__cause__
