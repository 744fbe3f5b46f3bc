"""Run one call of one handler, from body bytes to an outcome, in a worker thread or in a child process."""

import logging
import traceback
from collections.abc import Callable
from functools import cache

import msgspec

from jobs.calculations import CALCULATIONS
from jobs.observation import Observed
from jobs.ports import Context, Ports
from jobs.site import SiteRequest
from shared import whole_numbers
from shared.endpoint import Endpoint, is_reason
from shared.outcome import Failed, JobFailure, Ok, Outcome, failed

log = logging.getLogger(__name__)

INTERNAL = Failed(code="internal_error", detail="The call failed here and was not your fault.", retryable=True)

MOST_ANSWER_BYTES = 32 * 1024 * 1024
"""Of an answer. The buyer (client/coinslot/exchange.py) reads no longer one, and the ledger keeps each for a day."""


@cache
def _decoder(request: type[msgspec.Struct]) -> msgspec.json.Decoder[msgspec.Struct]:
    return msgspec.json.Decoder(request)


def decode_request(endpoint: Endpoint, body: bytes, ports: Ports) -> msgspec.Struct:
    """Decode a body that the API has validated, and check it again with the Site of these ports.

    Raises:
        msgspec.DecodeError, InvalidField: it is not valid.
        LookupError: the endpoint's rules depend on the Site, and there are no ports.
    """
    request = whole_numbers.decoded(_decoder(endpoint.request), body or b"{}")
    if isinstance(request, SiteRequest):
        request.check(ports.site)
    return request


def execute(endpoint: Endpoint, body: bytes, context: Context) -> Outcome:
    """Run the handler. Raises only MemoryError and Unstoppable, whose meaning depends on the process that runs it."""
    return observe(endpoint, body, context)[0]


def observe(endpoint: Endpoint, body: bytes, context: Context) -> tuple[Outcome, bytes | None]:
    """Run the handler of an endpoint that remembers: its outcome, and the observation that it leaves. Raises as `execute`."""
    observations: list[bytes] = []

    def work() -> bytes:
        answer = endpoint.run(decode_request(endpoint, body, context.ports), context)
        if isinstance(answer, Observed):
            observations.append(answer.observation)
            answer = answer.response
        return msgspec.json.encode(answer)

    result = declared(endpoint, _outcome(endpoint.name, work))
    return result, observations[0] if observations and isinstance(result, Ok) else None


def declared(endpoint: Endpoint, result: Outcome) -> Outcome:
    """The outcome without a reason that the endpoint does not document: callers could not know it, and metrics have no name
    for it. The log says what to do."""
    if not isinstance(result, Failed) or result.reason is None or result.reason in endpoint.failures:
        return result
    reason = result.reason if is_reason(result.reason) else "in another form"
    log.error("%s failed with a reason that it does not declare, %s: add it to its `failures`", endpoint.name, reason)
    return msgspec.structs.replace(result, reason=None)


def calculate(name: str, argument: bytes) -> Outcome:
    """Run a calculation. Raises the same exceptions as `execute`."""
    return _outcome(name, lambda: CALCULATIONS[name].calculate(argument))


def _outcome(name: str, work: Callable[[], bytes]) -> Outcome:
    try:
        answer = work()
    except JobFailure as failure:
        return failed(failure)
    except MemoryError:
        raise
    except Exception as error:
        # The exception's text may hold the caller's data: only its type and place are logged.
        place = "".join(traceback.format_tb(error.__traceback__)[-3:])
        log.error("%s failed with %s\n%s", name, type(error).__name__, place)
        return INTERNAL
    if len(answer) > MOST_ANSWER_BYTES:
        log.error("%s answered with more than %d bytes, which are not stored", name, MOST_ANSWER_BYTES)
        return INTERNAL
    return Ok(answer)
