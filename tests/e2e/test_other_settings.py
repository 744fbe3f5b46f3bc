"""A service with settings that others do not have: traces, as a collector gets them, a log in JSON, and a browser that does not
start."""

import base64
import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from coinslot.buyer import Buyer
from coinslot.delivery import RetryPolicy
from coinslot.errors import CoinslotError
from coinslot.payment import SignedPayment
from tests.e2e.running import Running
from tests.otlp_receiver import Receiver, Span

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the packages of coinslot[otel] are not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")

CANARY = "cnry5b1fd6a0"
STRANGERS_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@dataclass(frozen=True, slots=True)
class Traced:
    """A running service that is traced, and its collector."""

    running: Running
    receiver: Receiver

    def trace_of(self, request_id: str, names: list[str]) -> dict[str, Span]:
        """The spans of one call by their path, when all have arrived: ``{"call": …, "call/settle/ledger": …}``."""

        def found(spans: list[Span]) -> dict[str, Span] | None:
            root = next((span for span in spans if span.attributes.get("coinslot.request_id") == request_id), None)
            if root is None:
                return None
            of_trace = {span.span_id: span for span in spans if span.trace_id == root.trace_id}

            def path(span: Span) -> str:
                if not span.parent_id:
                    return "call"
                return f"{path(of_trace[span.parent_id])}/{span.name}" if span.parent_id in of_trace else "?"

            tree = {path(span): span for span in of_trace.values()}
            return tree if len(tree) == len(of_trace) and set(names) <= tree.keys() else None

        tree: dict[str, Span] = self.receiver.until(found)
        assert sorted(tree) == sorted(names)
        return tree


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    with Receiver() as receiver:
        running = Running(
            tmp_path_factory.mktemp("var"),
            COINSLOT_CHROMIUM="/bin/true",
            COINSLOT_LOG="json",
            COINSLOT_LOG_CALLS="1",
            COINSLOT_OTEL="1",
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url,
            OTEL_BSP_SCHEDULE_DELAY="200",
        )
        try:
            running.wait_until_serving()
            yield Traced(running, receiver)
        finally:
            code, _ = running.end(signal.SIGINT)
        assert code == 0


def test_a_refused_call_is_explained_and_found(traced: Traced) -> None:
    """scripts/run says what is not sold, and serves the rest. The two endpoints of the browser are offered, and refused
    uncharged when they are paid. The request id that the caller got leads to the line with payment and cause; every line is an
    object; an answered call has one, too.

    tests/workers/browser/test_adapter.py has a machine without a browser, which differs by the reason alone.
    """
    running = traced.running
    (notice,) = (line for line in running.told if line.startswith("notice"))
    assert "Calls of render-pro, web-diff are refused, uncharged: the browser cannot be started." in notice
    assert running.buy("echo", {"message": "a"})["ok"] is True
    with pytest.raises(CoinslotError) as refused:
        running.buy("web-diff", {"url": "https://example.com/"}, retry_policy=RetryPolicy(budget_s=0))
    problem = refused.value.problem
    assert problem is not None
    assert (problem["reason"], problem["charged"]) == ("browser_not_started", False)

    give_up_at = time.monotonic() + 30
    while problem["requestId"] not in running.log():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)

    lines = [json.loads(line) for line in running.log().splitlines()]
    assert all({"time", "level", "logger", "process", "message"} <= line.keys() for line in lines)
    (line,) = (line for line in lines if line.get("request") == problem["requestId"])
    assert (line["message"], line["cause"], line["charged"]) == ("paid call not answered", "port_unavailable", False)
    assert line["payment"].startswith("eip155:8453:")
    answered = [line for line in lines if line["message"] == "paid call answered"]
    assert {line["endpoint"] for line in answered} == {"echo"}
    assert all(line["job"] and line["payment"] and line["ms"] > 0 for line in answered)


def test_one_paid_call_is_one_trace_across_two_processes(traced: Traced) -> None:
    """Its tree, who did what, and what the spans say and do not say."""
    signed: list[SignedPayment] = []
    with Buyer(traced.running.base_url, traced.running.wallet(), max_price=None, on_signed=signed.append) as buyer:
        answer = buyer.call("echo", {"message": CANARY})

    names = ["call", "call/check", "call/ledger", "call/settle", "call/settle/ledger", "call/queue", "call/job"]
    spans = traced.trace_of(answer.request_id, names)

    call, job = spans["call"], spans["call/job"]
    assert answer.receipt is not None
    payer = (answer.receipt.payer or "").lower()
    assert call.name == "POST /v1/cdp/echo"
    assert call.attributes["http.response.status_code"] == 200
    assert call.attributes["coinslot.rail"] == "base"
    for span in (call, job):
        assert span.attributes["coinslot.endpoint"] == "echo"
        assert span.attributes["coinslot.request_id"] == answer.request_id
        assert span.attributes["coinslot.payment_id"].split(":")[3] == f"{payer[:6]}...{payer[-4:]}"
    assert call.attributes["coinslot.job_id"] == job.attributes["coinslot.job_id"]
    assert not any(span.is_error for span in spans.values())

    assert {span.resource["service.name"] for span in spans.values()} == {"coinslot-api", "coinslot-worker"}
    of_worker = {name for name, span in spans.items() if span.resource["service.name"] == "coinslot-worker"}
    assert of_worker == {"call/queue", "call/job"}
    assert len({span.resource["process.pid"] for span in spans.values()}) == 2
    assert all(call.start_ns <= span.start_ns <= span.end_ns <= call.end_ns for span in spans.values())
    assert spans["call/settle"].end_ns <= spans["call/queue"].start_ns
    assert spans["call/queue"].end_ns <= job.start_ns

    sent = b"".join(traced.receiver.raw).lower()
    assert b"coinslot.payment_id" in sent
    for secret in (CANARY, payer, payer.removeprefix("0x"), signed[0].header):
        assert secret.lower().encode() not in sent


def test_the_same_payment_again_is_a_trace_of_its_own(traced: Traced) -> None:
    """It is answered from the ledger: no settlement, no job. The caller's own traceparent changes nothing."""
    signed: list[SignedPayment] = []
    with Buyer(traced.running.base_url, traced.running.wallet(), max_price=None, on_signed=signed.append) as buyer:
        buyer.call("echo", {"message": "twice"})
    headers = {
        "PAYMENT-SIGNATURE": signed[0].header,
        "Content-Type": "application/json",
        "X-Request-Id": "again-1",
        "traceparent": f"00-{STRANGERS_TRACE}-00f067aa0ba902b7-01",
    }

    answer = httpx.post(signed[0].url, content=signed[0].body, headers=headers, timeout=30)

    assert answer.status_code == 200
    spans = traced.trace_of("again-1", ["call", "call/check", "call/ledger"])
    assert spans["call"].trace_id != STRANGERS_TRACE


def test_a_refused_payment_says_why(traced: Traced) -> None:
    """A 402 for a payment that is not acceptable is a trace, and no error of ours."""
    payment = b'{"x402Version":1,"scheme":"exact","network":"base","payload":{}}'
    headers = {"PAYMENT-SIGNATURE": base64.b64encode(payment).decode(), "X-Request-Id": "refused-1"}

    answer = httpx.post(f"{traced.running.base_url}/v1/cdp/echo", json={"message": "x"}, headers=headers, timeout=30)

    assert answer.status_code == 402
    spans = traced.trace_of("refused-1", ["call", "call/check"])
    assert spans["call"].attributes["http.response.status_code"] == 402
    assert not spans["call"].is_error
    assert spans["call/check"].attributes["error.type"] == "PaymentRefused"


def test_unpaid_calls_and_free_pages_leave_no_trace(traced: Traced) -> None:
    """Only what carries a payment is traced: the root of every trace is a paid call."""
    unpaid = httpx.post(
        f"{traced.running.base_url}/v1/cdp/echo", json={"message": "x"}, headers={"X-Request-Id": "free-1"}
    )
    free = httpx.get(f"{traced.running.base_url}/bazaar.json", headers={"X-Request-Id": "free-2"})
    assert (unpaid.status_code, free.status_code) == (402, 200)
    traced.running.buy("echo", {"message": "after them"})

    roots = [span for span in traced.receiver.spans if not span.parent_id]

    assert roots
    assert {"free-1", "free-2"}.isdisjoint(str(span.attributes.get("coinslot.request_id")) for span in roots)


def test_a_collector_that_does_not_answer_or_is_gone_delays_nothing(traced: Traced) -> None:
    """Calls are answered while it holds every request, and when nobody listens. The service then stops as ever (fixture)."""
    traced.receiver.answers.clear()
    for number in range(10):
        assert traced.running.buy("echo", {"message": f"held {number}"})["youSent"] == f"held {number}"

    traced.receiver.close()

    for number in range(10):
        assert traced.running.buy("echo", {"message": f"alone {number}"})["youSent"] == f"alone {number}"
