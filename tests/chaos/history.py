"""What is known after a run, each thing from whoever knows it best: callers, the chain, the handlers, the ledger."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import redis

from shared.ledger.keys import JOURNAL, OPEN, REFUNDABLE, in_every_bucket

T = TypeVar("T")
Line = TypeVar("Line", bound=msgspec.Struct)

MONEY_STATES = frozenset({"SETTLED", "DONE", "FAILED"})
"""States of a record that say that the payment was made."""
OPEN_STATES = frozenset({"SETTLING", "UNKNOWN"})


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One request of a caller. Times are Unix seconds.

    Args:
        call: what the handler is to be asked, one of its own for each payment and body.
        fingerprint: of the request, as the ledger keeps it.
        status: 0 when the connection ended without an answer.
        charged: what the problem document says; None where there is none.
        body: digest.
        receipt: the transaction that PAYMENT-RESPONSE names, when it says success.
        seen: of a call that watches: what it saw, and what it says that its payer saw before, or "-".
    """

    payment: str
    call: str
    fingerprint: str
    valid_before: int
    sent: float
    at: float
    status: int
    code: str = ""
    charged: bool | str | None = None
    body: str = ""
    receipt: str = ""
    seen: tuple[str, str] | None = None


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """Money that moved."""

    payment: str
    transaction: str
    network: str
    asset: str
    amount: str
    at: float


class SettleCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of /settle, from its arrival until it was answered or its caller had gone."""

    payment: str
    mode: str
    began: float
    ended: float
    facilitator: str = ""


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a handler."""

    call: str
    at: float
    visit: str = ""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of the ledger's journal, or the state in which a record was seen at a moment."""

    payment: str
    event: str
    at: float


@dataclass(frozen=True, kw_only=True)
class History:
    """Everything.

    Attributes:
        records: the ledger's hashes by payment id.
        is_quiet: no fault and no kill is left, and every caller has repeated its request until it had its end.
        now: Unix seconds when the records were read.
        most_executions: of one call's handler.
        open: what the ledger lists as not at its end; None when it keeps no such list.
        seen: states that somebody saw while it ran.
    """

    answers: list[Answer] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    settles: list[SettleCall] = field(default_factory=list)
    executions: list[Execution] = field(default_factory=list)
    records: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    journal: list[Event] = field(default_factory=list)
    seen: list[Event] = field(default_factory=list)
    refundable: frozenset[str] = frozenset()
    open: frozenset[str] | None = None
    is_quiet: bool = True
    now: float = 0.0
    most_executions: int = 3

    def state(self, payment: str) -> str:
        """Of its record; empty when there is none."""
        return self.records.get(payment, {}).get("state", "")

    def owner(self, payment: str) -> str | None:
        """The fingerprint of the request that a payment is for: what the ledger says, or the only one there was."""
        if recorded := self.records.get(payment, {}).get("fingerprint"):
            return recorded
        sent = {answer.fingerprint for answer in self.answers if answer.payment == payment}
        return sent.pop() if len(sent) == 1 else None


def by_payment(lines: Iterable[T], key: Callable[[T], str] = lambda line: line.payment) -> dict[str, list[T]]:  # type: ignore[attr-defined]
    """Lines in their order, by what they are about."""
    grouped: dict[str, list[T]] = defaultdict(list)
    for line in lines:
        grouped[key(line)].append(line)
    return grouped


def read_lines(path: Path, kind: type[Line]) -> list[Line]:
    """What a process wrote, without a last line that was cut off."""
    if not path.exists():
        return []
    return [msgspec.json.decode(line, type=kind) for line in path.read_text().rpartition("\n")[0].splitlines()]


def read_settles(path: Path) -> list[SettleCall]:
    """A facilitator's log. A call whose facilitator was killed ended when it began, as far as is known."""
    calls: dict[str, dict[str, Any]] = {}
    for text in path.read_text().rpartition("\n")[0].splitlines() if path.exists() else ():
        line = json.loads(text)
        if line["event"] == "began":
            calls[line["call"]] = {
                "payment": line["payment"],
                "mode": line["mode"],
                "began": line["at"],
                "facilitator": path.stem,
            }
        else:
            calls[line["call"]]["ended"] = line["at"]
    return [SettleCall(**{"ended": call["began"], **call}) for call in calls.values()]


def connected(url: str) -> redis.Redis | redis.RedisCluster:
    """The ledger that an address leads to: a server, or the cluster that it belongs to."""
    # A sealed failure is binary.
    options: Any = {"decode_responses": True, "encoding_errors": "backslashreplace"}
    server = redis.Redis.from_url(url, **options)
    if not server.info("cluster")["cluster_enabled"]:
        return server
    server.close()
    return redis.RedisCluster.from_url(url, require_full_coverage=False, **options)


def read_history(folder: Path, ledger_url: str, **known: Any) -> History:
    """All that a run left in its folder and in its ledger."""
    with connected(ledger_url) as ledger:
        journal = sorted(_of_all(ledger, JOURNAL, redis.Redis.xrange), key=lambda entry: _at(entry[0]))
        keeps_open = any(_of_all(ledger, [*OPEN, *JOURNAL], lambda pipeline, key: pipeline.exists(key), list))
        return History(
            answers=read_lines(folder / "answers.jsonl", Answer),
            transfers=read_lines(folder / "transfers.jsonl", Transfer),
            settles=[call for path in sorted(folder.glob("settles*.jsonl")) for call in read_settles(path)],
            executions=read_lines(folder / "executions.jsonl", Execution),
            records={
                key.partition(":payment:")[2]: ledger.hgetall(key)
                for key in ledger.scan_iter(in_every_bucket("payment:*"), 1000)
            },
            journal=[_event(*entry) for entry in journal],
            refundable=frozenset(_of_all(ledger, REFUNDABLE, _members)),
            open=frozenset(_of_all(ledger, OPEN, _members)) if keeps_open else None,
            now=time.time(),
            **known,
        )


def _of_all(
    ledger: redis.Redis | redis.RedisCluster,
    keys: Sequence[str],
    read: Callable[[Any, str], Any],
    entries: Callable[[Any], Iterable[Any]] = chain.from_iterable,
) -> list[Any]:
    """One request to each server: there are dozens of keys."""
    pipeline = ledger.pipeline(transaction=False)
    for key in keys:
        read(pipeline, key)
    return list(entries(pipeline.execute()))


def _members(ledger: Any, key: str) -> Any:
    return ledger.zrange(key, 0, -1)


def _event(entry_id: str, fields: Mapping[str, str]) -> Event:
    return Event(payment=fields["payment"], event=fields["event"], at=_at(entry_id))


def _at(entry_id: str) -> float:
    return int(entry_id.partition("-")[0]) / 1000
