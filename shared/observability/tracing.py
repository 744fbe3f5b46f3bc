"""Traces of paid calls, by OpenTelemetry, where COINSLOT_OTEL is 1. Otherwise nothing of OpenTelemetry is imported.

    POST /v1/cdp/echo      the API: from the payment header to the answer
    ├── check              the API: the payment, offline
    ├── ledger             the API: find the payment, or claim it
    ├── settle             the API: the facilitator settles the payment
    │   └── ledger         the API: the settlement is recorded
    ├── queue              the worker: how long the job waited
    └── job                the worker: the job runs

OpenTelemetry's own variables say where spans go (OTEL_EXPORTER_OTLP_ENDPOINT), under which name (OTEL_SERVICE_NAME) and how
many calls are sampled (OTEL_TRACES_SAMPLER). They leave over OTLP/HTTP from a thread of their own. Its queue is bounded: spans
are dropped while the collector is slow or down.

A caller's own `traceparent` is not read. Callers could choose ids with it: add a million calls to one trace, or overrule
the sampler. A caller that wants to find its calls sends an X-Request-Id, which is an attribute.

An attribute is never a body, a key, an answer, a URL of a caller or a whole payer.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from shared.observability.logs import CallIds
from shared.outcome import Failed, Outcome
from shared.settings.service import PREFIX, InvalidSetting, Settings

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, SpanKind

TRACEPARENT = "traceparent"
"""Message option: the call's span, as W3C's Trace Context writes it."""
SENT_NS = "sent_ns"
"""Message option: when the job was sent, in Unix nanoseconds. A message's own timestamp has milliseconds."""
FLUSH_S = 3.0
"""How long a process that ends tries to send its last spans."""

_TRACEPARENT = re.compile("00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})", re.ASCII)
_UNIX_NS = re.compile("[1-9][0-9]{0,18}", re.ASCII)
_SHOWN_WHOLE = 12
_UNTRACED = contextlib.nullcontext()

P = ParamSpec("P")
R = TypeVar("R")


class TracedCall(CallIds, Protocol):
    """What the span of a paid call says of it (api/call_log.py), "" where it is not known.

    Attributes:
        span: None where the call is not traced.
        cause: of a closed set.
    """

    endpoint: str
    rail: str
    cause: str
    span: ActiveSpan | None


class ActiveSpan:
    """A span that is the current one of its task or thread until it is ended. As a context it ends with the context."""

    __slots__ = ("_otel", "_token", "span")

    def __init__(self, otel: _OpenTelemetry, span: Span) -> None:
        self.span = span
        self._otel = otel
        self._token = otel.context.attach(otel.trace.set_span_in_context(span))

    def end(self) -> None:
        """End it. The span that was current before is current again."""
        self._otel.context.detach(self._token)
        self.span.end()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            # Never OpenTelemetry's record of an exception: its text may quote a value of the caller.
            self.span.set_attribute("error.type", kind.__qualname__)
            self.span.set_status(self._otel.trace.StatusCode.ERROR)
        self.end()


class _OpenTelemetry:
    """OpenTelemetry, loaded and exporting. Raises ImportError.

    Args:
        service: name of the process where OTEL_SERVICE_NAME says none.
    """

    def __init__(self, service: str) -> None:
        from opentelemetry import context, trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import PROCESS_PID, SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        self.context = context
        self.trace = trace
        resource = Resource.create({PROCESS_PID: os.getpid()})
        if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
            resource = resource.merge(Resource({SERVICE_NAME: service}))
        # `stop` flushes within a limit of time, which the SDK's own exit handler does not have.
        self.provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self.provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self.tracer = self.provider.get_tracer("coinslot")

    def begin(self, name: str, kind: SpanKind, parent: Context | None = None) -> ActiveSpan:
        """Begin a span as the current one, below `parent` or the current one."""
        return ActiveSpan(self, self.tracer.start_span(name, context=parent, kind=kind))


_otel: _OpenTelemetry | None = None


def check(settings: Settings) -> None:
    """Raises InvalidSetting when traces are wanted and the packages are not installed."""
    if settings.otel:
        try:
            import opentelemetry.exporter.otlp.proto.http
            import opentelemetry.sdk  # noqa: F401
        except ImportError as error:
            raise InvalidSetting(f"{PREFIX}OTEL needs the packages of coinslot[otel]: {error}") from None


def start(settings: Settings, service: str) -> None:
    """Begin to trace the calls of this process, if the settings say so. Call it after the last fork: it starts a thread.

    Raises:
        InvalidSetting: the packages are not installed.
    """
    global _otel
    check(settings)
    if settings.otel and _otel is None:
        _otel = _OpenTelemetry(service)


def stop() -> None:
    """Send the last spans, within FLUSH_S, and trace no more."""
    global _otel
    otel, _otel = _otel, None
    if otel is not None:
        flushing = threading.Thread(target=otel.provider.shutdown, daemon=True)
        flushing.start()
        flushing.join(FLUSH_S)


def begin_call(path: str) -> ActiveSpan | None:
    """Begin the span of one paid call, which begins a trace. None where calls are not traced."""
    if _otel is None:
        return None
    return _otel.begin(f"POST {path}", _otel.trace.SpanKind.SERVER, _otel.context.Context())


def end_call(call: TracedCall, status: int) -> None:
    """End the span of one paid call.

    Args:
        status: of the response. Only a 5xx is an error, as OpenTelemetry has it for servers.
    """
    if (active := call.span) is None:
        return
    span, call.span = active.span, None
    if span.is_recording():
        _describe(span, call, call.endpoint, call.cause)
        span.set_attribute("http.response.status_code", status)
        if call.rail:
            span.set_attribute("coinslot.rail", call.rail)
        if status >= 500:
            span.set_status(active._otel.trace.StatusCode.ERROR)
    active.end()


def span(name: str) -> AbstractContextManager[None]:
    """A part of the current call: ``with tracing.span("check"):``. Nothing outside a traced call."""
    if _otel is None or not _otel.trace.get_current_span().is_recording():
        return _UNTRACED
    return _otel.begin(name, _otel.trace.SpanKind.INTERNAL)


def traced(name: str) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Makes a coroutine function a part of the call that awaits it: ``@tracing.traced("settle")``."""

    def decorate(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
            if _otel is None:
                return function(*args, **kwargs)
            return _within(name, function(*args, **kwargs))

        return called

    return decorate


async def _within(name: str, work: Coroutine[Any, Any, R]) -> R:
    with span(name):
        return await work


def annotate(name: str, value: str) -> None:
    """Set an attribute of the current span. Never with a value of the caller."""
    if _otel is not None:
        _otel.trace.get_current_span().set_attribute(name, value)


def message_options() -> dict[str, str]:
    """What a message carries of the current call. Empty where the call is not traced."""
    if _otel is None:
        return {}
    current = _otel.trace.get_current_span()
    if not current.is_recording():
        return {}
    ids = current.get_span_context()
    parent = f"00-{ids.trace_id:032x}-{ids.span_id:016x}-{ids.trace_flags:02x}"
    return {TRACEPARENT: parent, SENT_NS: str(time.time_ns())}


def begin_job(options: Mapping[str, object]) -> ActiveSpan | None:
    """Begin the span of one job, and say how long it waited. None where its call is not traced.

    Args:
        options: of its message.
    """
    if _otel is None:
        return None
    parent = _TRACEPARENT.fullmatch(str(options.get(TRACEPARENT)))
    sent_ns = _UNIX_NS.fullmatch(str(options.get(SENT_NS)))
    if parent is None or sent_ns is None:
        return None
    trace, now_ns = _otel.trace, time.time_ns()
    trace_id, span_id, flags = (int(part, 16) for part in parent.groups())
    ids = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(flags))
    call = trace.set_span_in_context(trace.NonRecordingSpan(ids), _otel.context.Context())
    # The clocks of two machines may differ.
    waiting = _otel.tracer.start_span("queue", context=call, start_time=min(int(sent_ns[0]), now_ns))
    waiting.end(now_ns)
    return _otel.begin("job", trace.SpanKind.CONSUMER, call)


def describe_job(ids: CallIds, endpoint: str, result: Outcome) -> None:
    """Say in the current span which job it is, and what it ended with."""
    if _otel is None:
        return
    current = _otel.trace.get_current_span()
    if current.is_recording():
        failed = result if isinstance(result, Failed) else None
        _describe(current, ids, endpoint, (failed.reason or failed.code) if failed else "")
        if failed:
            current.set_status(_otel.trace.StatusCode.ERROR)


def _describe(span: Span, ids: CallIds, endpoint: str, cause: str) -> None:
    known = {
        "coinslot.endpoint": endpoint,
        "coinslot.request_id": ids.request_id,
        "coinslot.payment_id": without_payer(ids.payment_id),
        "coinslot.job_id": ids.job_id,
        "coinslot.cause": cause,
    }
    span.set_attributes({name: value for name, value in known.items() if value})


def without_payer(payment_id: str) -> str:
    """A payment id that shows only the ends of its payer. What makes the payment unique, its last part, stays searchable.

    The forms are those of `Authorization.payment_id`: ``eip155:8453:<asset>:<payer>:<nonce>``, and on the XRP Ledger
    ``xrpl:0:<payer>:<last ledger>:<hash>``.
    """
    parts = payment_id.split(":")
    at = 2 if parts[0] == "xrpl" else 3
    if len(parts) > at and len(parts[at]) > _SHOWN_WHOLE:
        parts[at] = f"{parts[at][:6]}...{parts[at][-4:]}"
    return ":".join(parts)
