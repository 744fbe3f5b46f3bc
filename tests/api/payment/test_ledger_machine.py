"""Any sequence of transitions, on a real Redis, on a cluster of three, and on a model of a few lines: they never
disagree."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from api.ledger_servers import LedgerServers
from api.payment.ledger import Ledger
from api.payment.ledger_terms import Claim, LookUp, Recorded, Verdict
from jobs.echo import ENDPOINT
from shared.ledger.keys import FREE_RERUNS, JOURNAL, OPEN, bucket_of, record_key
from shared.outcome import Failed, Ok
from shared.sealing.answers import AnswerSealer
from shared.servers.ledger_connections import LedgerConnections
from shared.servers.ledger_servers import ledger_client
from workers.answers import AnswerStore, Result

T = TypeVar("T")

SEALER = AnswerSealer(bytes(range(32)))
RECEIPT = b'{"success":true}'
FAILURE = Failed("upstream_failed", "down", retryable=True)
PAYMENTS = st.integers(0, 1)
FINGERPRINTS = st.sampled_from(["a", "a", "a", "b"])
IS_STALE = st.sampled_from([False, False, False, True])
ENDED = {"DONE", "FAILED"}


class Model:
    """One payment as the documentation has it."""

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.state = "SETTLING"
        self.attempts = 1
        self.is_driven = True
        self.failures = 0
        self.events = ["SETTLING"]

    def move(self, state: str, *, is_driven: bool) -> None:
        self.state, self.is_driven = state, is_driven
        self.events.append(state)

    @property
    def is_undecided(self) -> bool:
        return self.state in ("SETTLING", "UNKNOWN")


class LedgerMachine(RuleBasedStateMachine):
    """Callers, drivers, workers and reconcilers, in any order, also late and stale ones."""

    urls: ClassVar[list[str]] = []

    @initialize()
    def start(self) -> None:
        self.runner = asyncio.Runner()
        self.servers = LedgerServers(self.urls)
        self.client = self.servers.commands
        self.ledger = Ledger(self.client)
        self.wires = LedgerConnections(self.urls)
        self.answers = AnswerStore(self.wires, SEALER)
        self.names = [secrets.token_hex(8) for _ in range(2)]
        self.model: dict[int, Model] = {}
        self.forgotten: dict[int, list[str]] = {}
        self.first_answer: dict[int, bytes] = {}
        for payment in range(len(self.names)):  # or few of the steps would find a payment in the state that they need
            self.present(payment, "a", "claim")

    def run(self, awaitable: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await awaitable

        return self.runner.run(awaited())

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            self.servers.close()
            self.wires.close()
            self.runner.close()

    def claim_of(self, payment: int, fingerprint: str) -> Claim:
        return Claim(
            payment_id=self.names[payment],
            fingerprint=fingerprint,
            endpoint="echo",
            payer="0x1",
            offer=b"{}",
            settle_lease_ms=600_000,
            run_lease_ms=600_000,
            valid_before=2_000_000_000,
        )

    @rule(payment=PAYMENTS, fingerprint=FINGERPRINTS, mode=st.sampled_from(["peek", "resume", "find", "claim"]))
    def present(self, payment: int, fingerprint: str, mode: str) -> None:
        entry = self.run(self.ledger.look_up(self.claim_of(payment, fingerprint), LookUp(mode)))
        assert entry.verdict is self.expected(payment, fingerprint, mode)
        known = self.model.get(payment)
        if entry.verdict is Verdict.REJECTED:
            assert entry.reason == "refused"
        if entry.verdict is Verdict.SETTLE:
            assert known is not None
            assert entry.attempts == known.attempts
        if entry.verdict is Verdict.ANSWER and known is not None and known.state == "DONE":
            assert entry.answer == self.first_answer[payment]

    def expected(self, payment: int, fingerprint: str, mode: str) -> Verdict:
        known = self.model.get(payment)
        if known is None:
            if mode != "claim":
                return Verdict.ABSENT
            self.model[payment] = Model(fingerprint)
            self.model[payment].events = [*self.forgotten.pop(payment, []), "SETTLING"]
            return Verdict.SETTLE
        if known.fingerprint != fingerprint:
            return Verdict.CLAIMED if known.is_undecided else Verdict.CONFLICT
        ends = {"DONE": Verdict.ANSWER, "REJECTED": Verdict.REJECTED, "FAILED": Verdict.FAILED}
        if known.state in ends:
            return ends[known.state]
        if known.is_driven:
            return Verdict.WAIT
        if known.state == "SETTLED" and known.failures > FREE_RERUNS:
            return Verdict.ANSWER
        if mode == "peek" or (mode == "resume" and known.state != "SETTLED"):
            return Verdict.IDLE
        known.is_driven = True
        if known.state == "SETTLED":
            return Verdict.RUN
        known.attempts += 1
        known.move("SETTLING", is_driven=True)
        return Verdict.SETTLE

    @rule(payment=PAYMENTS, driven=st.booleans())
    def settle(self, payment: int, driven: bool) -> None:
        done = self.run(self.ledger.settled(self.names[payment], RECEIPT, 600_000 if driven else 0))
        known = self.model.get(payment)
        assert bool(done) is (known is not None and known.state not in ENDED)
        if known is not None and done:
            assert (done is Recorded.AGAIN) is (known.state == "SETTLED")
            if known.state == "SETTLED":
                known.is_driven = driven
            else:
                known.move("SETTLED", is_driven=driven)

    @rule(payment=PAYMENTS, stale=IS_STALE, proof=st.booleans())
    def refuse(self, payment: int, stale: bool, proof: bool) -> None:
        known = self.model.get(payment)
        attempts = (known.attempts if known else 1) - stale
        done = self.run(self.ledger.rejected(self.names[payment], attempts, "refused", by_evidence=proof))
        counts = known is not None and known.is_undecided and not stale and (proof or known.attempts == 1)
        assert done is counts
        if known is not None and counts:
            known.move("REJECTED", is_driven=False)

    @rule(payment=PAYMENTS, stale=IS_STALE)
    def doubt(self, payment: int, stale: bool) -> None:
        known = self.model.get(payment)
        self.run(self.ledger.unknown(self.names[payment], (known.attempts if known else 1) - stale))
        if known is not None and known.is_undecided and not stale:
            if known.state == "SETTLING":
                known.move("UNKNOWN", is_driven=False)
            known.is_driven = False

    @rule(payment=PAYMENTS, stale=IS_STALE)
    def never_sent(self, payment: int, stale: bool) -> None:
        known = self.model.get(payment)
        done = self.run(self.ledger.abandon(self.names[payment], (known.attempts if known else 1) - stale))
        is_mine = known is not None and known.state == "SETTLING" and not stale
        assert done is (is_mine and known is not None and known.attempts == 1)
        if known is not None and is_mine:
            if done:
                self.forgotten[payment] = [*known.events, "FORGOTTEN"]
                del self.model[payment]
            else:
                known.move("UNKNOWN", is_driven=False)

    @rule(payment=PAYMENTS, stale=IS_STALE)
    def ask_again(self, payment: int, stale: bool) -> None:
        known = self.model.get(payment)
        number = self.run(self.ledger.attempt(self.names[payment], (known.attempts if known else 1) - stale, 600_000))
        if known is not None and known.is_undecided and not stale:
            known.attempts += 1
            known.move("SETTLING", is_driven=True)
            assert number == known.attempts
        else:
            assert number == 0

    @rule(payment=PAYMENTS)
    def give_the_job_back(self, payment: int) -> None:
        self.run(self.ledger.release(self.names[payment]))
        known = self.model.get(payment)
        if known is not None and known.state == "SETTLED":
            known.is_driven = False

    @rule(payment=PAYMENTS, text=st.sampled_from([b"1", b"2"]))
    def answer(self, payment: int, text: bytes) -> None:
        """A worker's result, also a second one, and one of a run that nobody knows of any more."""
        known = self.model.get(payment)
        if known is not None and known.state != "SETTLED" and known.state != "DONE":
            return  # no job before the settlement
        (stored,) = self.answers.done([Result(self.names[payment], ENDPOINT, b"", Ok(text))])
        if known is None:
            return
        if known.state == "DONE":
            assert stored == self.first_answer[payment]
            return
        self.first_answer[payment] = stored
        known.move("DONE", is_driven=False)

    @rule(payment=PAYMENTS)
    def fail(self, payment: int) -> None:
        known = self.model.get(payment)
        if known is None or known.state not in ("SETTLED", "DONE"):
            return
        (stored,) = self.answers.done([Result(self.names[payment], ENDPOINT, b"", FAILURE)])
        if known.state == "DONE":
            assert stored == self.first_answer[payment]
            return
        assert SEALER.open(stored, ENDPOINT, self.names[payment], b"") == FAILURE
        known.failures += 1
        known.is_driven = False
        known.events.append("FAILURE")

    @rule(payment=PAYMENTS)
    def driver_dies(self, payment: int) -> None:
        known = self.model.get(payment)
        if known is not None:
            self.run(self.client.call("HSET", record_key(self.names[payment]), "lease", 0))
            known.is_driven = False

    @rule(payment=PAYMENTS)
    def driver_dies_and_a_copy_comes(self, payment: int) -> None:
        self.driver_dies(payment)
        if known := self.model.get(payment):
            self.present(payment, known.fingerprint, "find")

    @rule()
    def look_into(self) -> None:
        """Everything is due at once: what is undecided and not driven is taken, or refused and looked for once more."""
        for payment, known in self.model.items():
            if known.state not in ENDED:
                self.run(self.client.call("ZADD", OPEN[bucket_of(self.names[payment])], 0, self.names[payment]))
        taken = {each.payment_id: each.state for each in self.run(self.ledger.take_doubtful(100, 600_000))}
        for payment, known in self.model.items():
            is_due = known.state == "REJECTED" or (known.is_undecided and not known.is_driven)
            assert taken.get(self.names[payment]) == (known.state if is_due else None)
            if known.is_undecided:
                known.is_driven = True

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "runner"):
            return
        for payment, name in enumerate(self.names):
            known = self.model.get(payment)
            record = self.run(self.client.call("HMGET", record_key(name), "state", "attempts", "fingerprint"))
            if known is None:
                assert record == [None, None, None]
                continue
            assert [value.decode() for value in record] == [known.state, str(known.attempts), known.fingerprint]
            score: Any = self.run(self.client.call("ZSCORE", OPEN[bucket_of(name)], name))
            if known.state in ENDED:
                assert score is None
            elif known.state != "REJECTED":
                assert score is not None

    @rule()
    def read_the_journal(self) -> None:
        lines: dict[str, list[str]] = {}
        for journal in {JOURNAL[bucket_of(name)] for name in self.names}:
            for _, flat in self.run(self.client.call("XRANGE", journal, "-", "+")):
                fields = dict(zip(flat[::2], flat[1::2], strict=True))
                lines.setdefault(fields[b"payment"].decode(), []).append(fields[b"event"].decode())
        for payment, known in self.model.items():
            assert lines[self.names[payment]] == known.events


def test_the_ledger_does_what_its_model_does(urls: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty sequences of fifty steps."""
    with ledger_client(urls) as server:
        server.flushall()
    monkeypatch.setattr(LedgerMachine, "urls", urls)
    run_state_machine_as_test(
        LedgerMachine, settings=settings(max_examples=60, stateful_step_count=50, deadline=None, derandomize=True)
    )
