"""A collector of traces: OTLP over HTTP on loopback, decoded with OpenTelemetry's own protobuf classes."""

import http.server
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

LIMIT_S = 30


@dataclass(frozen=True, slots=True)
class Span:
    """One span as it arrived. Ids are hex; `parent_id` is empty for the root of a trace."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, Any]
    resource: dict[str, Any]
    is_error: bool
    start_ns: int
    end_ns: int


class Receiver:
    """A context manager. `answers.clear()` makes it take requests and not answer them.

    Attributes:
        raw: the bodies of all requests.
    """

    def __init__(self) -> None:
        self.raw: list[bytes] = []
        self.spans: list[Span] = []
        self.answers = threading.Event()
        self.answers.set()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def until(self, wanted: Callable[[list[Span]], Any]) -> Any:
        """What `wanted` finds in the spans, when it finds something."""
        give_up_at = time.monotonic() + LIMIT_S
        while not (found := wanted(list(self.spans))):
            assert time.monotonic() < give_up_at, self.spans
            time.sleep(0.02)
        return found

    def __enter__(self) -> "Receiver":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Answer nobody any more."""
        self.answers.set()
        self._server.shutdown()
        self._server.server_close()

    def _take(self, body: bytes) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
        from opentelemetry.proto.trace.v1.trace_pb2 import Status

        self.raw.append(body)
        for of_process in ExportTraceServiceRequest.FromString(body).resource_spans:
            for of_scope in of_process.scope_spans:
                self.spans += [
                    Span(
                        name=span.name,
                        trace_id=span.trace_id.hex(),
                        span_id=span.span_id.hex(),
                        parent_id=span.parent_span_id.hex(),
                        attributes=_values(span.attributes),
                        resource=_values(of_process.resource.attributes),
                        is_error=span.status.code == Status.STATUS_CODE_ERROR,
                        start_ns=span.start_time_unix_nano,
                        end_ns=span.end_time_unix_nano,
                    )
                    for span in of_scope.spans
                ]

    def _handler(receiver) -> type[http.server.BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.answers.wait()
                is_known = self.path == "/v1/traces"
                if is_known:
                    receiver._take(body)
                self.send_response(200 if is_known else 404)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        return Handler


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in attributes}
