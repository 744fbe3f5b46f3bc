"""What spans say of calls and jobs that end badly, and what becomes of damaged contexts. The collector is a real one."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from api.call_log import CallLog
from api.causes import Cause
from api.errors import problem_of
from shared.observability import tracing
from shared.observability.logs import JobIds
from shared.outcome import Failed, Ok
from shared.settings.service import Settings
from tests.otlp_receiver import Receiver, Span

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the packages of coinslot[otel] are not installed")

PARENT = f"00-{'1a' * 16}-{'2b' * 8}-01"


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """This process is traced. `tracing.stop()` sends what there is."""
    with Receiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "shop-7")
        tracing.start(Settings(otel=True), "coinslot-api")
        yield receiver
        tracing.stop()


def sent(receiver: Receiver) -> dict[str, Span]:
    """All spans, by name."""
    tracing.stop()
    return {span.name: span for span in receiver.spans}


def test_a_call_that_fails_here_is_an_error_with_its_cause(receiver: Receiver) -> None:
    """OpenTelemetry's name of the service wins over ours."""
    call = CallLog("request-1", "echo", is_paid=True, span=tracing.begin_call("/v1/cdp/echo"))
    call.failed(problem_of(Cause.POOL_FULL))

    tracing.end_call(call, 503)

    [span] = sent(receiver).values()
    assert (span.is_error, span.parent_id) == (True, "")
    assert span.attributes["coinslot.cause"] == "pool_full"
    assert span.resource["service.name"] == "shop-7"


def test_a_job_that_fails_says_its_reason(receiver: Receiver) -> None:
    """Below the span of the message's options; the detail, which may quote the caller, is not in it."""
    active = tracing.begin_job({tracing.TRACEPARENT: PARENT, tracing.SENT_NS: str(time.time_ns() - 50_000_000)})
    assert active is not None
    failed = Failed("upstream_failed", "no answer from secret.example.com", reason="timeout", retryable=True)
    tracing.describe_job(JobIds("request-1", "payment-1", "job-1"), "dns", failed)
    active.end()

    spans = sent(receiver)

    assert {span.parent_id for span in spans.values()} == {"2b" * 8}
    assert {span.trace_id for span in spans.values()} == {"1a" * 16}
    assert spans["job"].is_error
    assert spans["job"].attributes["coinslot.cause"] == "timeout"
    assert spans["queue"].end_ns - spans["queue"].start_ns >= 50_000_000
    assert b"secret.example.com" not in b"".join(receiver.raw)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {tracing.TRACEPARENT: PARENT},
        {tracing.TRACEPARENT: PARENT + "\n", tracing.SENT_NS: "1"},
        {tracing.TRACEPARENT: PARENT, tracing.SENT_NS: "-1"},
        {tracing.TRACEPARENT: 7, tracing.SENT_NS: "1"},
    ],
)
def test_a_job_without_a_readable_context_is_not_traced(receiver: Receiver, options: dict[str, object]) -> None:
    """It runs as any other."""
    assert tracing.begin_job(options) is None
    tracing.describe_job(JobIds(), "echo", Ok(b"{}"))

    assert sent(receiver) == {}


def test_outside_a_call_nothing_is_traced(receiver: Receiver) -> None:
    """The reconciler records settlements, too: they begin no trace."""

    @tracing.traced("ledger")
    async def settled() -> bool:
        return True

    assert asyncio.run(settled())
    assert sent(receiver) == {}


def test_a_part_that_raises_is_an_error_without_its_text(receiver: Receiver) -> None:
    """The type is told. The text may quote the caller."""
    call = CallLog("request-1", "echo", is_paid=True, span=tracing.begin_call("/v1/cdp/echo"))
    with pytest.raises(KeyError), tracing.span("check"):
        raise KeyError("cnry-secret")
    tracing.end_call(call, 500)

    spans = sent(receiver)

    assert spans["check"].attributes == {"error.type": "KeyError"}
    assert spans["check"].is_error
    assert b"cnry-secret" not in b"".join(receiver.raw)


def test_a_call_that_is_not_sampled_leaves_nothing(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its message carries nothing, so the worker traces it neither."""
    tracing.stop()
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    tracing.start(Settings(otel=True), "coinslot-api")
    call = CallLog("request-1", "echo", is_paid=True, span=tracing.begin_call("/v1/cdp/echo"))
    with tracing.span("check"):
        assert tracing.message_options() == {}
    tracing.end_call(call, 200)

    assert sent(receiver) == {}


def test_more_spans_than_its_queue_holds_are_dropped(receiver: Receiver) -> None:
    """Nothing waits for a collector that takes no request."""
    receiver.answers.clear()
    for _ in range(5_000):
        tracing.end_call(CallLog("r", "echo", span=tracing.begin_call("/v1/cdp/echo")), 200)
    receiver.answers.set()

    tracing.stop()

    assert len(receiver.spans) < 5_000
