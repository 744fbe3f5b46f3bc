"""One call of one handler ends as an outcome, and a failure never tells what the caller sent."""

import dataclasses
import logging
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from jobs.dns import endpoint as dns
from jobs.echo import ENDPOINT, Request
from jobs.ports import NO_PORTS, Context
from jobs.site import Site
from shared.endpoint import Endpoint, InvalidField
from shared.outcome import DeadlineExceeded, Failed, InvalidInput, JobFailure, Ok, UpstreamFailed
from tests.each import each
from tests.sites import PUBLIC
from workers.execute import INTERNAL, MOST_ANSWER_BYTES, declared, decode_request, execute, observe

CANARY = "canary-5d1c"
CONTEXT = Context(payer="0x1")
BODY = msgspec.json.encode({"message": CANARY})


def running(handler: Any) -> Endpoint:
    """echo with another handler, and a reason."""
    return dataclasses.replace(ENDPOINT, run=handler, failures=("rate_limited",))


def test_the_response_is_encoded_once() -> None:
    """An Ok holds the very bytes that the caller will get."""
    assert execute(ENDPOINT, b'{"message": "hi"}', CONTEXT) == Ok(b'{"ok":true,"service":"coinslot","youSent":"hi"}')


def test_an_empty_body_is_an_empty_object() -> None:
    """Where the API lets it through."""
    assert decode_request(ENDPOINT, b"", NO_PORTS) == Request()
    assert execute(ENDPOINT, b"", CONTEXT) == Ok(b'{"ok":true,"service":"coinslot","youSent":null}')


def test_rules_of_a_site_are_checked_again() -> None:
    """With the Site of the ports, and without ports nothing is run."""
    body = b'{"domain": "printer.home"}'
    ports: Any = SimpleNamespace(site=Site(own=(), names={"printer.home"}))
    assert decode_request(dns.ENDPOINT, body, ports) == dns.Request(domain="printer.home")
    ports.site = PUBLIC
    with pytest.raises(InvalidField):
        decode_request(dns.ENDPOINT, body, ports)
    with pytest.raises(LookupError):
        decode_request(dns.ENDPOINT, body, NO_PORTS)


def test_the_handler_gets_the_decoded_request_and_the_payer() -> None:
    """And nothing else."""
    seen: list[Any] = []
    execute(running(lambda *arguments: seen.extend(arguments)), BODY, CONTEXT)

    assert seen == [Request(message=CANARY), CONTEXT]


def test_an_answer_that_no_buyer_reads_is_not_stored(caplog: pytest.LogCaptureFixture) -> None:
    """Or the ledger, which keeps answers for a day, would be full of what a cent or two have bought."""
    endpoint = running(lambda *_: "x" * (MOST_ANSWER_BYTES - 2))
    assert isinstance(execute(endpoint, BODY, CONTEXT), Ok)

    endpoint = running(lambda *_: "x" * (MOST_ANSWER_BYTES - 1))
    assert execute(endpoint, BODY, CONTEXT) == INTERNAL

    assert "echo answered with more than" in caplog.text


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (InvalidInput("No such day."), Failed("invalid_body", "No such day.")),
        (
            UpstreamFailed("It failed.", reason="rate_limited"),
            Failed("upstream_failed", "It failed.", "rate_limited", True),
        ),
        (DeadlineExceeded("Too slow."), Failed("deadline_exceeded", "Too slow.", None, True)),
        (JobFailure("Never mind."), Failed("internal_error", "Never mind.")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failure_on_purpose_is_told(failure: JobFailure, expected: Failed, caplog: pytest.LogCaptureFixture) -> None:
    """Its code, text, reason and whether the call may be repeated; nothing is logged, because nothing is wrong here."""

    def fail(request: Any, context: Any) -> Any:
        raise failure

    assert execute(running(fail), BODY, CONTEXT) == expected
    assert [record for record in caplog.records if record.name != "asyncio"] == []


@each(("reason", "shown"), [("no_luck", "no_luck"), ("\x1b[31m<b>", "in another form"), ("x" * 65, "in another form")])
def test_a_reason_that_is_not_declared_is_an_error(caplog: pytest.LogCaptureFixture, reason: str, shown: str) -> None:
    """Of a handler and of a child process alike. Callers get the failure without it, and the log says what to do."""
    caplog.clear()

    def fail(request: Any, context: Any) -> Any:
        raise UpstreamFailed("It failed.", reason=reason)

    endpoint = running(fail)
    expected = Failed("upstream_failed", "It failed.", None, True)
    assert execute(endpoint, BODY, CONTEXT) == expected
    assert observe(endpoint, BODY, CONTEXT) == (expected, None)
    assert declared(endpoint, Failed("upstream_failed", "It failed.", reason, True)) == expected
    said = f"echo failed with a reason that it does not declare, {shown}: add it to its `failures`"
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR] == [said] * 3


def value_error(request: Any, context: Any) -> Any:
    raise ValueError(request.message)


def chained(request: Any, context: Any) -> Any:
    try:
        value_error(request, context)
    except ValueError as error:
        raise RuntimeError(request) from error


def noted(request: Any, context: Any) -> Any:
    error = KeyError(request.message)
    error.add_note(request.message)
    raise error


def endless(request: Any, context: Any) -> Any:
    return endless(request, context)


def grouped(request: Any, context: Any) -> Any:
    raise ExceptionGroup(request.message, [ValueError(request.message)])


def decoding(request: Any, context: Any) -> Any:
    return bytes.fromhex(request.message)


def not_a_response(request: Any, context: Any) -> Any:
    return object()


def a_lone_surrogate(request: Any, context: Any) -> Any:
    return {"text": request.message + "\ud800"}


@pytest.mark.parametrize(
    "handler", [value_error, chained, noted, endless, grouped, decoding, not_a_response, a_lone_surrogate]
)
def test_an_unexpected_exception_tells_nothing(handler: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The log has the endpoint, the exception's type and its place; neither it nor the outcome has the caller's data."""
    caplog.set_level(logging.DEBUG)

    answer = execute(running(handler), BODY, CONTEXT)

    assert isinstance(answer, Failed)
    assert (answer.code, answer.reason, answer.retryable) == ("internal_error", None, True)
    assert CANARY not in repr(answer)
    (record,) = (record for record in caplog.records if record.name == "workers.execute")
    assert record.levelno == logging.ERROR
    assert record.exc_info is None
    assert "echo failed with" in caplog.text
    assert CANARY not in caplog.text


def test_a_body_that_does_not_decode_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The API has validated every body; a worker of another version still fails safely."""
    for body in (b'{"message": ["%b"]}' % CANARY.encode(), b'{"%b' % CANARY.encode(), b"\xff", b"[" * 60_000):
        answer = execute(ENDPOINT, body, CONTEXT)

        assert isinstance(answer, Failed)
        assert answer.code == "internal_error"
    assert CANARY not in caplog.text


@pytest.mark.parametrize("stop", [MemoryError, KeyboardInterrupt, SystemExit])
def test_what_ends_a_process_is_not_an_outcome(stop: type[BaseException]) -> None:
    """Only the process that runs the handler can judge whether it may go on."""

    def end(request: Any, context: Any) -> Any:
        raise stop

    with pytest.raises(stop):
        execute(running(end), BODY, CONTEXT)
