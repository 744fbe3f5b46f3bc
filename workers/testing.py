"""For tests of packages: whether their endpoints can be sold, and what these answer."""

from __future__ import annotations

from typing import Any

import msgspec

from jobs.catalogue import installed
from jobs.observation import Previous
from jobs.packages import package
from jobs.ports import NO_PORTS, Context, Ports
from shared.endpoint import Endpoint
from shared.outcome import Failed
from workers.execute import decode_request, execute


class CallFailed(Exception):
    """A call that was charged has failed. `failed` has its code, reason and detail."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed)
        self.failed = failed


def sold(prefix: str) -> tuple[Endpoint, ...]:
    """The endpoints that the installed package adds, checked as when Coinslot starts.

    Raises:
        RefusedPackage: this package, or another that is installed, cannot be sold.
    """
    names = {endpoint.name for endpoint in package(prefix).endpoints}
    return tuple(endpoint for endpoint in installed() if endpoint.name in names)


def answered(endpoint: Endpoint, request: object, *, ports: Ports = NO_PORTS, previous: Previous | None = None) -> Any:
    """The decoded answer to a request, as a worker runs it.

    Args:
        ports: what the handler uses of the outside: an object with those ports that it needs.
        previous: for an endpoint that remembers: what the last call observed.

    Raises:
        msgspec.ValidationError, InvalidField: the request is refused, uncharged.
        CallFailed: the handler has failed.
    """
    body = msgspec.json.encode(request)
    decode_request(endpoint, body, ports)
    result = execute(endpoint, body, Context(payer="0x0", ports=ports, previous=previous))
    if isinstance(result, Failed):
        raise CallFailed(result)
    return msgspec.json.decode(result.body)
