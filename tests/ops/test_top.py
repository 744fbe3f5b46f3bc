"""`coinslot-ops top` shows calls that were charged and failed, as workers left them in the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import redis
from rich.console import Console

from compose.sandbox.child import claim_port
from jobs.chain.chain_id import ENDPOINT as CHAIN_ID
from jobs.rss.endpoint import ENDPOINT as RSS
from ops.top import WINDOW_S, Observer, View, drawn
from shared.endpoint import Endpoint
from shared.ledger.keys import record_key
from shared.outcome import Failed, InvalidInput, Ok, Outcome, UpstreamFailed, failed
from shared.sealing.answers import AnswerSealer
from shared.servers.ledger_connections import LedgerConnections
from shared.settings.service import Settings
from workers.answers import AnswerStore, Result

FINAL = UpstreamFailed("It has no address.", reason="dns_failure", is_final=True)


class Ledger:
    """Payments that are charged, and what workers end their jobs with."""

    def __init__(self, client: redis.Redis, store: AnswerStore) -> None:
        self.client = client
        self._store = store

    def end(self, name: str, endpoint: Endpoint, outcome: Outcome) -> str:
        """The payment's id."""
        payment_id = f"eip155:8453:0xasset:0xpayer:{name}"
        record = {"state": "SETTLED", "endpoint": endpoint.name, "attempts": 1}
        self.client.hset(record_key(payment_id), mapping=record)  # type: ignore[arg-type]
        self._store.done([Result(payment_id, endpoint, b"", outcome)])
        return payment_id


@pytest.fixture
def ledger(clean_redis: str) -> Iterator[Ledger]:
    connection = LedgerConnections([clean_redis])
    with redis.Redis.from_url(clean_redis) as client:
        yield Ledger(client, AnswerStore(connection, AnswerSealer(bytes(32))))
    connection.close()


@pytest.fixture
def observer(ledger: Ledger) -> Observer:
    return Observer(Settings(port=claim_port(0)), ledger.client, ledger.client)


def shown(view: View) -> str:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(drawn(view))
    return captured.get()


def test_charged_failures_are_shown_with_endpoint_cause_and_whose_they_are(ledger: Ledger, observer: Observer) -> None:
    """Also failures that are the answer, which are DONE in the journal. The same cause is the caller's fault where the caller
    named the host, and ours where our node has it."""
    ledger.end("good", RSS, Ok(b"{}"))
    ends = [
        (RSS, failed(FINAL), "FINAL", "dns_failure", "caller"),
        (RSS, failed(UpstreamFailed("Too slow.", reason="timeout")), "FAILURE", "timeout", "caller"),
        (CHAIN_ID, failed(UpstreamFailed("Too slow.", reason="timeout")), "FAILURE", "timeout", "ours"),
        (RSS, failed(InvalidInput("No.")), "FINAL", "invalid_body", "caller"),
        (RSS, Failed("internal_error", "A fault.", retryable=True), "FAILURE", "internal_error", "ours"),
        (RSS, Failed("\x1b[31m", "Of a child that was taken over."), "FINAL", "other", "caller"),
    ]
    ids = [ledger.end(str(number), endpoint, outcome) for number, (endpoint, outcome, *_) in enumerate(ends)]
    view = observer.look()
    assert view.rates["DONE"] == 1 / WINDOW_S
    assert view.failing == {"caller": 4 / WINDOW_S, "ours": 2 / WINDOW_S}
    assert {failure[1:] for failure in view.failures} == {
        (event, payment_id, endpoint.name, cause, fault)
        for payment_id, (endpoint, _, event, cause, fault) in zip(ids, ends, strict=True)
    }
    text = shown(view)
    assert "0.1 answered a second" in text
    assert "0.6 charged and failed (0.2 ours)" in text
    assert re.search(r"FINAL +rss +dns_failure +caller +eip155:8453:", text)


def test_failures_before_the_first_look_are_shown(ledger: Ledger) -> None:
    """Until others take their place."""
    payment_id = ledger.end("earlier", RSS, failed(FINAL))
    ledger.end("good", RSS, Ok(b"{}"))
    (failure,) = Observer(Settings(port=claim_port(0)), ledger.client, ledger.client).look().failures
    assert (failure.payment_id, failure.event, failure.cause) == (payment_id, "FINAL", "dns_failure")
