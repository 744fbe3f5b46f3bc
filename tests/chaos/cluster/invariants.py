"""What holds in addition to the twelve invariants (tests/chaos/checker.py) when the ledger is a cluster."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tests.chaos.checker import check
from tests.chaos.history import Answer, History, by_payment


def check_cluster(
    history: History, ledgers: Sequence[Mapping[str, tuple[str, str]]], *, settle_timeout_s: float
) -> list[str]:
    """All violations, with the number of their invariant.

    Args:
        ledgers: of each shard at the end, the role of each server and the digest of what it has.
        settle_timeout_s: after which an API process waits no longer for a settle call. When its host was cut off, the
            facilitator does not learn of it: what it then does is nobody's call any more.
    """
    settles = [
        msgspec.structs.replace(call, ended=min(call.ended, call.began + settle_timeout_s)) for call in history.settles
    ]
    history = dataclasses.replace(history, settles=settles)
    found = [*check(history)]
    found += [f"(13) {text}" for text in missing(history)]
    found += [f"(14) {text}" for text in undone(history)]
    found += [f"(15) {text}" for digests in ledgers for text in unequal(digests)]
    return found


def lost(states: Mapping[str, str | None], fault: str) -> list[str]:
    """16. What was answered with 200 is in the ledger as soon as it is whole again: before its caller asks once more, and has
    it made anew.

    Args:
        states: of the payments that were answered with 200; None where the ledger has no record.
        fault: what happened before.
    """
    return [
        f"(16) {payment} was answered with 200 and after '{fault}' it was recorded as {state or 'nothing'}"
        for payment, state in states.items()
        if state != "DONE"
    ]


def missing(history: History) -> Iterator[str]:
    """13. Nothing that was acknowledged is missing: the ledger knows every payment that was sent to be settled, and has the
    answer of every call that was answered."""
    for payment in by_payment(history.settles):
        if payment not in history.records:
            yield f"{payment} was sent to be settled and the ledger does not know it"
    for payment, answers in by_payment(history.answers).items():
        if any(answer.status == 200 for answer in answers) and history.state(payment) != "DONE":
            yield f"{payment} was answered with 200 and is recorded as {history.state(payment) or 'nothing'}"


def undone(history: History) -> Iterator[str]:
    """14. Nothing that was answered is undone: whose payment was reported as charged never gets the answer that it is not. Who
    tries the payment with another body learns of both."""
    for payment, answers in by_payment(history.answers).items():
        own = [answer for answer in answers if answer.fingerprint == history.owner(payment)]
        charged_at = min((answer.at for answer in own if _is_charged(answer)), default=float("inf"))
        for later in own:
            if later.sent > charged_at and (later.status == 402 or later.charged is False):
                yield f"{payment} was reported as charged and then got {later.status} {later.code}"


def unequal(digests: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """15. At rest each shard has one primary, and its replicas are equal to it."""
    leads = [host for host, (role, _) in digests.items() if role == "master"]
    if len(leads) != 1:
        yield f"{len(leads)} servers are a primary: {', '.join(leads) or 'none'}"
    if len({digest for _, digest in digests.values()}) != 1:
        yield f"the servers do not have the same: {digests}"


def _is_charged(answer: Answer) -> bool:
    return answer.status == 200 or answer.charged is True
