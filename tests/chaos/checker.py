"""The twelve invariants of a history, each in a function named by its number. What they find, they say in words."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise

from tests.chaos.history import MONEY_STATES, OPEN_STATES, Answer, History, by_payment

RACE_S = 1.0
"""The journal may say SETTLED, by evidence, a moment before a settle call arrives that was sent in the same moment."""
GRACE_S = 60.0
"""So long after its authorization has lapsed the fate of a payment is known."""

READ_S = 0.1
"""So long before a handler runs, what it compares with may have been read."""

Violations = Iterator[str]


def check(history: History) -> list[str]:
    """All violations, with the number of their invariant."""
    return [f"({number}) {text}" for number, invariant in INVARIANTS.items() for text in invariant(history)]


def invariant_1(history: History) -> Violations:
    """A payment is settled once: one SETTLED event, one driver at a time, one facilitator, and no settle call once it is
    settled."""
    settled = Counter(entry.payment for entry in history.journal if entry.event == "SETTLED")
    for payment, count in settled.items():
        if count > 1:
            yield f"{payment} was recorded as settled {count} times"
    calls = by_payment(history.settles)
    for payment, of_payment in calls.items():
        if len({call.facilitator for call in of_payment}) > 1:
            yield f"{payment} was sent to two facilitators"
        ordered = sorted(of_payment, key=lambda call: call.began)
        for earlier, later in pairwise(ordered):
            if later.began < earlier.ended:
                yield f"{payment} was being settled by two at a time ({earlier.mode}, {later.mode})"
    moments = [(event, 0.0) for event in history.seen] + [(event, RACE_S) for event in history.journal]
    known: dict[str, float] = {}
    for event, margin_s in moments:
        if event.event in MONEY_STATES:
            known[event.payment] = min(known.get(event.payment, float("inf")), event.at + margin_s)
    for payment, at in known.items():
        again = sum(call.began > at for call in calls.get(payment, ()))
        if again:
            yield f"{payment} was settled again {again} times when it was known to be settled"


def invariant_2(history: History) -> Violations:
    """Money moves at most once for a payment, and in the end the ledger knows of exactly what moved."""
    moved = Counter(transfer.payment for transfer in history.transfers)
    for payment, count in moved.items():
        if count > 1:
            yield f"{payment} moved money {count} times"
    if not history.is_quiet:
        return
    for payment in moved:
        if history.state(payment) not in MONEY_STATES:
            yield f"{payment} moved money and is recorded as {history.state(payment) or 'nothing'}"
    for payment in history.records:
        if history.state(payment) in MONEY_STATES and payment not in moved:
            yield f"{payment} is recorded as {history.state(payment)} and no money moved"


def invariant_3(history: History) -> Violations:
    """What was served was paid before, with the transaction that the receipt names; and nothing was run unpaid."""
    moved = {transfer.payment: transfer for transfer in history.transfers}
    for answer in history.answers:
        if answer.status != 200:
            continue
        transfer = moved.get(answer.payment)
        if transfer is None or transfer.at > answer.at:
            yield f"{answer.payment} was answered with 200 and not paid"
        elif answer.receipt != transfer.transaction:
            yield f"{answer.payment} was answered with a receipt that names {answer.receipt or 'no transaction'}"
    payments = _payments_of_calls(history)
    for execution in history.executions:
        payment = payments.get(execution.call)
        paid = moved.get(payment or "")
        if payment and (paid is None or paid.at > execution.at):
            yield f"{payment} was run before it was paid"


def invariant_4(history: History) -> Violations:
    """All 200 of a payment have the same body."""
    for payment, answers in by_payment(_served(history)).items():
        if len({answer.body for answer in answers}) > 1:
            yield f"{payment} got different answers"


def invariant_5(history: History) -> Violations:
    """All 200 of a payment answer one request, the one that it is recorded for."""
    for payment, answers in by_payment(_served(history)).items():
        served = {answer.fingerprint for answer in answers}
        if len(served) > 1:
            yield f"{payment} paid for {len(served)} different requests"
        elif served != {history.owner(payment)} and history.owner(payment):
            yield f"{payment} paid for another request than it is recorded for"


def invariant_6(history: History) -> Violations:
    """402 means that the payment was not and will not be made: clients pay anew."""
    moved = {transfer.payment for transfer in history.transfers}
    for answer in history.answers:
        is_owner = answer.fingerprint == history.owner(answer.payment)
        if answer.status == 402 and answer.payment in moved and is_owner:
            yield f"{answer.payment} was answered with 402 ({answer.code}) and money moved"


def invariant_7(history: History) -> Violations:
    """A payment is done once, and run no more often than its failures allow."""
    done = Counter(entry.payment for entry in history.journal if entry.event == "DONE")
    for payment, count in done.items():
        if count > 1:
            yield f"{payment} was recorded as done {count} times"
    payments = _payments_of_calls(history)
    runs = Counter(payments.get(execution.call, "") for execution in history.executions)
    for payment, count in runs.items():
        if payment and count > history.most_executions:
            yield f"{payment} was run {count} times"


def invariant_8(history: History) -> Violations:
    """Who paid gets 200 in the end, or is listed for a refund."""
    if not history.is_quiet:
        return
    last = _last_answers(history)
    for transfer in history.transfers:
        payment = transfer.payment
        answer = last.get(payment)
        if not _is_refundable(history, payment) and (answer is None or answer.status != 200):
            end = f"{answer.status} {answer.code}" if answer else "nothing"
            yield f"{payment} was paid and its caller got {end} in the end"


def invariant_9(history: History) -> Violations:
    """No payment stays undecided: not in the ledger beyond its authorization, and not for a caller that has repeated it when
    all was well. Until then it is on the ledger's list of what is to be looked at."""
    if not history.is_quiet:
        return
    last = _last_answers(history)
    for payment, record in history.records.items():
        if record.get("state") not in OPEN_STATES:
            continue
        answer = last.get(payment)
        valid_before = float(record.get("valid_before") or (answer.valid_before if answer else 0))
        if valid_before and history.now > valid_before + GRACE_S:
            yield f"{payment} is {record['state']} {history.now - valid_before:.0f} s after it lapsed"
        if history.open is not None and payment not in history.open:
            yield f"{payment} is {record['state']} and nobody will look at it"
    for payment, answer in last.items():
        if answer.status not in (200, 402) and not _is_refundable(history, payment):
            yield f"{payment} has no end: {answer.status} {answer.code}, recorded as {history.state(payment) or 'nothing'}"


def invariant_10(history: History) -> Violations:
    """On every rail the ledger's payments sum up to what moved."""
    if not history.is_quiet:
        return
    booked: dict[str, int] = defaultdict(int)
    moved: dict[str, int] = defaultdict(int)
    for record in history.records.values():
        if record.get("state") in MONEY_STATES:
            offer = json.loads(record["offer"])
            booked[f"{offer['network']} {offer['asset'].lower()}"] += int(offer["amount"])
    for transfer in history.transfers:
        moved[f"{transfer.network} {transfer.asset.lower()}"] += int(transfer.amount)
    for rail in sorted({*booked, *moved}):
        if booked[rail] != moved[rail]:
            yield f"{rail}: {booked[rail]} booked and {moved[rail]} moved"


def invariant_11(history: History) -> Violations:
    """Who gets the answer that nothing was charged had not been charged, and is not by anything sent before."""
    answers = by_payment(history.answers)
    moved = {transfer.payment: transfer for transfer in history.transfers}
    for answer in history.answers:
        transfer = moved.get(answer.payment)
        if transfer is None or answer.charged is not False or answer.status not in (400, 429, 503):
            continue
        # Unless it is a copy that paid: one that was under way at the same time, or was sent later.
        is_explained = transfer.at >= answer.sent and any(
            other.sent <= transfer.at and other.at > answer.sent
            for other in answers[answer.payment]
            if other is not answer
        )
        if not is_explained:
            yield f"{answer.payment} was answered with {answer.status} {answer.code}, not charged, and money moved"


def invariant_12(history: History) -> Violations:
    """Who watches gets what the payer's last call saw: of those that were answered before, the one that was settled last."""
    answered = {answer.payment: answer for answer in _served(history) if answer.seen}
    began = {execution.visit: execution.at for execution in history.executions}
    stored = {entry.payment: entry.at for entry in history.journal if entry.event == "DONE"}
    for payment, answer in answered.items():
        assert answer.seen is not None
        visit, before = answer.seen
        others = {
            stored[other.payment]: other
            for other in answered.values()
            if other.payment != payment and _subject(other) == _subject(answer) and other.payment in stored
        }
        # What was stored at about the moment when this one began may have been there or not.
        moments = [began[visit] - READ_S, *(at for at in others if began[visit] - READ_S < at < began[visit])]
        expected = {_last_seen(history, [other for at, other in others.items() if at <= moment]) for moment in moments}
        if before not in expected:
            yield f"{payment} saw {visit} and was compared with {before}, not with {' or '.join(sorted(expected))}"


def _subject(answer: Answer) -> str:
    return answer.call.partition("/")[0]


def _last_seen(history: History, answers: list[Answer]) -> str:
    latest = max(answers, key=lambda answer: int(history.records[answer.payment]["settled"]), default=None)
    return latest.seen[0] if latest and latest.seen else "-"


INVARIANTS: dict[int, Callable[[History], Violations]] = dict(
    enumerate(
        (
            *(invariant_1, invariant_2, invariant_3, invariant_4, invariant_5, invariant_6),
            *(invariant_7, invariant_8, invariant_9, invariant_10, invariant_11, invariant_12),
        ),
        1,
    )
)


def _served(history: History) -> list[Answer]:
    return [answer for answer in history.answers if answer.status == 200]


def _is_refundable(history: History, payment: str) -> bool:
    return payment in history.refundable or history.state(payment) == "FAILED"


def _payments_of_calls(history: History) -> dict[str, str]:
    return {answer.call: answer.payment for answer in history.answers}


def _last_answers(history: History) -> dict[str, Answer]:
    """What each payment's own request got last."""
    last: dict[str, Answer] = {}
    for answer in sorted(history.answers, key=lambda answer: answer.at):
        if answer.fingerprint == (history.owner(answer.payment) or answer.fingerprint):
            last[answer.payment] = answer
    return last
