"""For tests of packages: whether their endpoints can be sold, and what these answer."""

from typing import Any

import msgspec

from jobs.catalogue import installed
from jobs.observation import Previous
from jobs.packages import installed_packages
from jobs.ports import NO_PORTS, Context, Ports
from shared.endpoint import ENTRY_POINTS, Endpoint
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
        LookupError: no installed package has the prefix.
    """
    installed()
    for package in installed_packages():
        if package.prefix == prefix:
            return package.endpoints
    raise LookupError(f"no installed package has an entry point {prefix!r} of the group {ENTRY_POINTS}")


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
