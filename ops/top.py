"""`coinslot-ops top`: pools, rails, calls per second and the last failures, in a terminal.

It reads the queue, the ledger's journal and the API's /readyz, and changes nothing.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import redis
from redis.exceptions import RedisError
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ops.channels import Summary, sentence, summary
from ops.queries import Failed, api_place, count_of, get_json, read_pools, unreadable
from ops.settlement_costs import sentence as cost_sentence
from ops.settlement_costs import settlement_costs
from shared.ledger.keys import BUCKETS, JOURNAL, LOST, OPEN, REFUNDABLE
from shared.queue.pool_states import PoolState
from shared.servers.ledger_servers import ask_each_bucket, connect_ledger, read_record
from shared.servers.redis_connection import connect
from shared.settings.service import Settings

REFRESH_S = 1.0
WINDOW_S = 10
"""Over which calls per second are counted."""
MOST_ENTRIES = 20_000
"""Of the journal of each bucket, at each look. More than that are counted at the next one."""
LAST_FAILURES = 8
FAILURES = frozenset(("FAILURE", "FINAL", "FAILED", "UNKNOWN", "REJECTED", "LOST"))
"""Events that are no progress: a job failed and may run again, its failure is the answer, nobody answered in a day, nobody
knows, refused, taken back. In the journal FINAL is DONE with a cause; the other words are the journal's."""


Entry = tuple[bytes, dict[bytes, bytes]]


class Failure(NamedTuple):
    """One of the last failures. `at`: Unix seconds. `cause`, `fault`: of a job that failed."""

    at: float
    event: str
    payment_id: str
    endpoint: str
    cause: str
    fault: str


class View(NamedTuple):
    """What is shown.

    Attributes:
        rates: events per second over WINDOW_S, by event.
        failing: jobs of charged calls that failed, per second, by whose fault it is: `caller` or `ours`.
        payments: how many are open, refundable and lost.
        channels: their sum; None where there are none.
        rails: whether each works, by its name; None when the API does not answer.
        costs: a sentence for each rail whose settlements cost us something, and whether calls are too cheap for that.
    """

    pools: dict[str, PoolState]
    rates: dict[str, float]
    failing: dict[str, float]
    payments: tuple[int, int, int]
    channels: Summary | None
    rails: dict[str, bool] | None
    costs: dict[str, bool]
    failures: list[Failure]


class Observer:
    """Looks at an installation again and again."""

    def __init__(self, settings: Settings, ledger: redis.Redis, queue: redis.Redis) -> None:
        self._settings = settings
        self._ledger = ledger
        self._queue = queue
        self._seen = [f"{int((time.time() - WINDOW_S) * 1000)}-0"] * BUCKETS
        self._events: deque[tuple[float, str, str]] = deque()
        self._failures: deque[Failure] = deque(maxlen=LAST_FAILURES)
        for entry in reversed(list(self._before())):
            self._note_failure(*entry)

    def look(self) -> View:
        """The state now. Raises RedisError."""
        pools = read_pools(self._queue)
        self._read_journal()
        begin = time.time() - WINDOW_S
        while self._events and self._events[0][0] < begin:
            self._events.popleft()
        counted = Counter(event for _, event, _ in self._events)
        failed = Counter(fault for *_, fault in self._events if fault)
        return View(
            pools,
            {event: count / WINDOW_S for event, count in counted.items()},
            {fault: count / WINDOW_S for fault, count in failed.items()},
            (count_of(self._ledger, OPEN), count_of(self._ledger, REFUNDABLE), count_of(self._ledger, LOST)),
            summary(self._ledger, self._settings.evm),
            *self._rails(),
            list(reversed(self._failures)),
        )

    def _before(self) -> Iterator[Entry]:
        """The failures before the first look, the newest first."""
        newest: list[list[Entry]] = ask_each_bucket(
            self._ledger,
            lambda asked, bucket: asked.xrevrange(
                JOURNAL[bucket], max=self._seen[bucket], count=MOST_ENTRIES // BUCKETS
            ),
        )
        found = (entry for entry in chain(*newest) if _event(entry[1]) in FAILURES)
        yield from sorted(found, key=lambda entry: _at(entry[0]), reverse=True)[:LAST_FAILURES]

    def _read_journal(self) -> None:
        read: list[list[Entry]] = ask_each_bucket(
            self._ledger,
            lambda asked, bucket: asked.xrange(JOURNAL[bucket], min=f"({self._seen[bucket]}", count=MOST_ENTRIES),
        )
        for bucket, entries in enumerate(read):
            if entries:
                self._seen[bucket] = entries[-1][0].decode()
        for name, fields in sorted(chain(*read), key=lambda entry: _at(entry[0])):
            self._events.append((_at(name), _event(fields), fields.get(b"fault", b"").decode()))
            if _event(fields) in FAILURES:
                self._note_failure(name, fields)

    def _note_failure(self, name: bytes, fields: dict[bytes, bytes]) -> None:
        payment_id = fields[b"payment"].decode()
        endpoint = read_record(self._ledger, payment_id).get(b"endpoint", b"?").decode()
        cause, fault = (fields.get(field, b"").decode() for field in (b"cause", b"fault"))
        self._failures.append(Failure(_at(name), _event(fields), payment_id, endpoint, cause, fault))

    def _rails(self) -> tuple[dict[str, bool] | None, dict[str, bool]]:
        _, answer = get_json(f"{api_place(self._settings)}/readyz")
        if answer is None:
            return None, {}
        prefix, checks = "facilitator:", answer["checks"].items()
        costs = {
            f"{one.rail}: {cost_sentence(one, self._settings, is_short=True)}": bool(one.too_cheap)
            for one in settlement_costs(answer)
        }
        return {name.removeprefix(prefix): works for name, works in checks if name.startswith(prefix)}, costs


def report(settings: Settings, *, once: bool) -> int:
    """Show it until Ctrl-C, or once. Returns the exit code. Raises Failed."""
    try:
        with (
            connect_ledger(settings) as ledger,
            connect(settings.redis_url(settings.queue_url)) as queue,
        ):
            observer = Observer(settings, ledger, queue)
            if once or not sys.stdout.isatty():
                Console().print(drawn(observer.look()))
                return 0
            with Live(drawn(observer.look()), screen=True, auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH_S)
                    live.update(drawn(observer.look()), refresh=True)
    except KeyboardInterrupt:
        return 0
    except RedisError as error:
        raise Failed(unreadable(error, ledger_url=settings.ledger_url, queue_url=settings.queue_url)) from None


def drawn(view: View) -> Group:
    """The view as a terminal shows it."""
    open_, refundable, lost = view.payments
    answered = view.rates.get("DONE", 0.0)
    ours, callers = (view.failing.get(fault, 0.0) for fault in ("ours", "caller"))
    head = Text.assemble(
        (time.strftime("%H:%M:%S  "), "dim"),
        (f"{answered:.1f}", "bold"),
        f" answered a second   {view.rates.get('SETTLED', 0.0):.1f} settled   {view.rates.get('REJECTED', 0.0):.1f} refused   ",
        (f"{ours + callers:.1f} charged and failed", "red" if ours else "yellow" if callers else ""),
        f" ({ours:.1f} ours)      payments: {open_} open, {refundable} refundable, {lost} lost",
    )
    if view.channels:
        head.append(
            f"\n          {sentence(view.channels)}", "red" if view.channels.leaving or view.channels.frozen else ""
        )
    return Group(head, Text(), _pools(view), Text(), _rails_line(view), Text(), _failures(view))


def _pools(view: View) -> Table:
    table = Table("pool", box=None, pad_edge=False, header_style="dim")
    for name in ("workers", "running", "waiting", "oldest wait"):
        table.add_column(name, justify="right")
    table.add_column("state")
    for pool, state in view.pools.items():
        table.add_row(
            pool,
            str(state.workers),
            str(state.running),
            str(state.depth - state.running),
            f"{state.waited_ms / 1000:.1f} s",
            _state(state),
        )
    return table


def _state(state: PoolState) -> Text:
    if not state.workers:
        return Text("no worker", "red")
    if not state.available:
        return Text(state.reason, "red")
    return Text(f"closed for {state.closed_ms / 1000:.0f} s", "yellow") if state.closed_ms else Text("ok", "green")


def _rails_line(view: View) -> Text:
    if view.rails is None:
        return Text("the API does not answer", "red")
    shown = (
        (f"  {name} {'ok' if works else 'down'}", "green" if works else "red") for name, works in view.rails.items()
    )
    costs = ((f"\n       {text}", "yellow" if is_costly else "dim") for text, is_costly in view.costs.items())
    return Text.assemble(("rails", "dim"), *shown, *costs)


def _failures(view: View) -> Table:
    headings = ("last failures", "event", "endpoint", "cause", "fault", "payment")
    table = Table(*headings, box=None, pad_edge=False, header_style="dim")
    for failure in view.failures:
        at = time.strftime("%H:%M:%S", time.localtime(failure.at))
        cells = (failure.event, failure.endpoint, failure.cause, failure.fault)
        table.add_row(at, *map(Text, cells), Text(failure.payment_id, overflow="fold"))
    return table


def _event(fields: dict[bytes, bytes]) -> str:
    event = fields[b"event"].decode()
    return "FINAL" if event == "DONE" and b"cause" in fields else event


def _at(name: bytes) -> float:
    """The time in a stream entry's name, in Unix seconds."""
    return int(name.partition(b"-")[0]) / 1000
