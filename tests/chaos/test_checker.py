"""The checker finds what it is there for, in small histories made by hand, and nothing in a clean one."""

import dataclasses
import json
from typing import Any

import msgspec
import pytest

from tests.chaos.checker import INVARIANTS, check
from tests.chaos.history import Answer, Event, Execution, History, SettleCall, Transfer

P = "eip155:8453:0xusdc:0xpayer:0x01"
OFFER = json.dumps({"network": "eip155:8453", "asset": "0xUSDC", "amount": "1000"})
OK = Answer(
    payment=P,
    call="a",
    fingerprint="f",
    valid_before=1_000,
    sent=10.0,
    at=12.0,
    status=200,
    body="b",
    receipt="0xt",
)
PAID = Transfer(payment=P, transaction="0xt", network="eip155:8453", asset="0xusdc", amount="1000", at=11.0)
CLEAN = History(
    answers=[
        msgspec.structs.replace(OK, status=503, code="settlement_unknown", charged="unknown", at=10.5, receipt=""),
        msgspec.structs.replace(OK, sent=10.6),
        msgspec.structs.replace(OK, fingerprint="evil", call="e", status=402, code="payment_already_used", receipt=""),
    ],
    transfers=[PAID],
    settles=[
        SettleCall(payment=P, mode="hang", began=10.1, ended=10.4),
        SettleCall(payment=P, mode="ok", began=10.9, ended=11.1),
    ],
    executions=[Execution(call="a", at=11.5)],
    records={P: {"state": "DONE", "fingerprint": "f", "offer": OFFER}},
    journal=[
        *(Event(payment=P, event=state, at=10.1) for state in ("SETTLING", "UNKNOWN", "SETTLING")),
        *(Event(payment=P, event=state, at=11.2) for state in ("SETTLED", "DONE")),
    ],
    open=frozenset(),
    now=100.0,
)


def changed(**fields: Any) -> History:
    """The clean history, with another truth."""
    return dataclasses.replace(CLEAN, **fields)


def answer(**fields: Any) -> Answer:
    """A later answer to the same request."""
    return msgspec.structs.replace(OK, **{"sent": 20.0, "at": 21.0, **fields})


def recorded(state: str, **fields: str) -> dict[str, dict[str, str]]:
    """The record in another state."""
    return {P: {"state": state, "fingerprint": "f", "offer": OFFER, **fields}}


def watched(*before: str, settled: tuple[float, ...] = (1, 2, 3), done: tuple[float, ...] = (1, 2, 3)) -> History:
    """Calls that watch one page. The Nth saw vN; it began half a second before it was done.

    Args:
        before: what each was compared with.
        settled, done: when, in seconds.
    """
    names = [f"p{number}" for number in range(1, len(before) + 1)]
    return History(
        answers=[
            answer(payment=name, call=f"page/{name}", receipt=name, seen=(f"v{number}", seen))
            for number, (name, seen) in enumerate(zip(names, before, strict=True), 1)
        ],
        transfers=[msgspec.structs.replace(PAID, payment=name, transaction=name, at=0.0) for name in names],
        executions=[
            Execution(call=f"page/{name}", at=at - 0.5, visit=f"v{number}")
            for number, (name, at) in enumerate(zip(names, done, strict=False), 1)
        ],
        records={
            name: {"state": "DONE", "settled": str(int(at * 1000))} for name, at in zip(names, settled, strict=False)
        },
        journal=[Event(payment=name, event="DONE", at=at) for name, at in zip(names, done, strict=False)],
        is_quiet=False,
    )


UNPAID: dict[str, Any] = {"transfers": [], "executions": [], "journal": []}

WRONG: list[tuple[int, str, History]] = [
    (1, "settled 2 times", changed(journal=[*CLEAN.journal, Event(payment=P, event="SETTLED", at=12.0)])),
    (
        1,
        "two at a time",
        changed(settles=[SettleCall(payment=P, mode="ok", began=b, ended=b + 1) for b in (10.0, 10.5)]),
    ),
    (
        1,
        "two facilitators",
        changed(
            settles=[
                SettleCall(payment=P, mode="reset", began=9.0, ended=9.1, facilitator="settles-lister"),
                SettleCall(payment=P, mode="ok", began=10.0, ended=11.0),
            ]
        ),
    ),
    (1, "settled again", changed(settles=[SettleCall(payment=P, mode="ok", began=b, ended=b) for b in (10.0, 15.0)])),
    (
        1,
        "settled again",
        changed(
            journal=[],
            settles=[SettleCall(payment=P, mode="ok", began=11.3, ended=11.4)],
            seen=[Event(payment=P, event="SETTLED", at=11.2)],
        ),
    ),
    (2, "moved money 2 times", changed(transfers=[PAID, PAID])),
    (2, "recorded as REJECTED", changed(records=recorded("REJECTED"))),
    (2, "recorded as nothing", changed(records={})),
    (2, "no money moved", changed(transfers=[])),
    (3, "not paid", changed(**UNPAID, records={})),
    (3, "not paid", changed(transfers=[msgspec.structs.replace(PAID, at=13.0)])),
    (3, "names 0xother", changed(answers=[answer(receipt="0xother")])),
    (3, "names no transaction", changed(answers=[answer(receipt="")])),
    (3, "run before it was paid", changed(executions=[Execution(call="a", at=10.9)])),
    (4, "different answers", changed(answers=[OK, answer(body="c")])),
    (5, "2 different requests", changed(answers=[OK, answer(fingerprint="evil")])),
    (5, "another request", changed(answers=[answer(fingerprint="evil")])),
    (6, "402 (expired)", changed(answers=[answer(status=402, code="expired"), answer(sent=22.0, at=23.0)])),
    (6, "402", changed(answers=[answer(status=402)], records={})),
    (
        6,
        "402 (payment_already_used)",
        changed(answers=[answer(status=402, code="payment_already_used"), *CLEAN.answers]),
    ),
    (7, "done 2 times", changed(journal=[*CLEAN.journal, Event(payment=P, event="DONE", at=12.0)])),
    (7, "run 4 times", changed(executions=[Execution(call="a", at=11.5)] * 4)),
    (8, "got 504 deadline_exceeded", changed(answers=[OK, answer(status=504, code="deadline_exceeded")])),
    (8, "got nothing", changed(answers=[])),
    (9, "s after it lapsed", changed(**UNPAID, answers=[answer(status=402)], records=recorded("UNKNOWN"), now=1_061.0)),
    (9, "nobody will look", changed(**UNPAID, answers=[answer(status=402)], records=recorded("SETTLING"))),
    (9, "no end: 503 in_progress", changed(**UNPAID, answers=[answer(status=503, code="in_progress")], records={})),
    (10, "1000 booked and 999 moved", changed(transfers=[msgspec.structs.replace(PAID, amount="999")])),
    (10, "0 booked and 1000 moved", changed(records=recorded("UNKNOWN"))),
    (11, "503 unavailable", changed(answers=[answer(status=503, code="unavailable", charged=False)])),
    (
        11,
        "503 unavailable",
        changed(
            answers=[
                answer(sent=10.0, at=11.5, status=503, code="unavailable", charged=False),
                answer(sent=11.6, at=12.0),
            ]
        ),
    ),
    (11, "429", changed(answers=[OK, answer(status=429, code="rate_limited", charged=False)])),
    (12, "with -, not with v1", watched("-", "-")),
    (12, "with v2, not with v1", watched("-", "v2")),
    (12, "with v1, not with v2", watched("-", "v1", "v1")),
    (12, "with v1, not with -", watched("v1")),
]


def test_a_clean_history_passes() -> None:
    """An undecided attempt, a second one, another body refused: nothing is wrong with any of it."""
    assert check(CLEAN) == []


@pytest.mark.parametrize(("number", "words", "history"), WRONG, ids=[f"{n}-{words}" for n, words, _ in WRONG])
def test_a_violation_is_found(number: int, words: str, history: History) -> None:
    """By its own invariant, in words that say what happened to which payment."""
    found = list(INVARIANTS[number](history))
    assert any(words in text for text in found), found


def test_every_invariant_has_a_violation_here() -> None:
    """Twelve, and each is tried."""
    assert {number for number, _, _ in WRONG} == set(INVARIANTS) == set(range(1, 13))


TOLERATED = {
    "a copy was answered as not charged while another paid": changed(
        answers=[answer(sent=10.0, at=11.5, status=503, charged=False), *CLEAN.answers]
    ),
    "not charged, and the same payment later": changed(
        answers=[answer(sent=1.0, at=2.0, status=503, code="unavailable", charged=False), OK]
    ),
    "a refund": changed(answers=[answer(status=502)], records=recorded("FAILED"), refundable=frozenset({P})),
    "refused, then shown by the chain before anybody was answered": changed(
        journal=[Event(payment=P, event=state, at=11.0) for state in ("REJECTED", "SETTLED", "DONE")]
    ),
    "one call after the other": watched("-", "v1", "v2"),
    "the later settlement counts, although it was answered first": watched(
        "-", "-", "v1", settled=(2, 1, 3), done=(1.8, 2, 3)
    ),
    "running": changed(records=recorded("SETTLING"), answers=[], is_quiet=False),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_what_is_not_wrong_is_not_found(name: str) -> None:
    """The checker must be believed when it says something."""
    assert check(TOLERATED[name]) == []
