"""Cases: one paid call each, in which one process dies at one place under one behaviour of the facilitator.

Many run side by side, each in a slot of its own: a database of both Redis, a port, a folder. What a case does is always the
same. The call is made, what dies is started again, the caller repeats the identical request until it has its end, asks once
more, and tries the same payment with another body; then the twelve invariants are checked.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import redis.asyncio

from shared import failpoints
from shared.endpoint import Pool
from shared.ledger.keys import record_key
from shared.queue.streams import FIELD, GROUP, stream_key
from tests.chaos.caller import PAY_TO, Caller, Purchase, calling, purchase
from tests.chaos.checker import check
from tests.chaos.forking_parent import BASE_URL, ForkRequest, Patch
from tests.chaos.forks import READY_WITHIN_S, ForkingParent, ended, forking_parent
from tests.chaos.history import MONEY_STATES, Event, History, read_history
from tests.chaos.probe import FOLDER
from tests.chaos.servers import Service, own_port

SLOTS = 15
SETTLE_TIMEOUT_S = 0.4
END_WITHIN_S = 60.0
DEATH_WITHIN_S = 3.0
STREAM = stream_key(Pool.MICRO)
WORKERS = failpoints.WORKER + failpoints.OBSERVED


@dataclass(frozen=True)
class Outcome:
    """How the facilitator's calls go; after that all go well.

    Attributes:
        settle, evidence: modes of tests/chaos/facilitator.py.
    """

    settle: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()


OUTCOMES: dict[str, Outcome] = {
    "paid": Outcome(),
    "refused": Outcome(("refuse",)),
    "failed": Outcome(("error500",)),
    "failed but paid": Outcome(("error500+paid",), ("error",)),
    "silent but paid": Outcome(("hang+paid",)),
    "silent and paid late": Outcome(("hang+late",)),
    "cut off and paid, then refused": Outcome(("reset+paid", "expired"), ("error",)),
    "pending": Outcome(("pending",)),
    "pending and paid": Outcome(("pending+paid",), ("hang",)),
    "success without a transaction": Outcome(("no_transaction",)),
    "success elsewhere": Outcome(("other_network",), ("garbage",)),
    "success of another payer": Outcome(("other_payer",), ("reset",)),
    "somebody else was paid": Outcome(("error500",), ("other_payee",)),
}


@dataclass(frozen=True)
class Case:
    """One paid call.

    Attributes:
        failpoint: where its process dies; empty: nowhere.
        copies: of the request, at the same time.
        is_redelivered: the job's message is put on the queue a second time when the call has been answered.
        is_left: the caller asks until its call is claimed, and comes back only when the ledger knows that the payment was made.
        endpoint: of tests/chaos/probe.py. Who watches makes a second call when the first has its end.
    """

    outcome: Outcome = OUTCOMES["paid"]
    failpoint: str = ""
    copies: int = 1
    is_redelivered: bool = False
    is_left: bool = False
    endpoint: str = "echo"
    patches: tuple[Patch, ...] = ()


@dataclass
class Result:
    """What became of a case."""

    was_reached: bool
    end: int | None
    seconds: float
    violations: list[str]
    history: History = field(repr=False)


class Slot:
    """A place where one case after the other is run.

    Args:
        forks: what starts its processes.
    """

    def __init__(self, number: int, service: Service, forks: ForkingParent) -> None:
        self._service = service
        self._parent = forks
        self._folder = service.folder / f"slot-{number}"
        self._folder.mkdir()
        for name in ("key", "transfers.jsonl", "settles.jsonl"):
            (self._folder / name).symlink_to(service.folder / name)
        self._port = own_port()
        self._ledger_url, self._queue_url = (
            url.removesuffix("/0") + f"/{number}" for url in (service.ledger_url, service.queue_url)
        )
        apart = service.observation_url
        self._observation_url = apart and apart.removesuffix("/0") + f"/{number}"
        self._pids: dict[str, int] = {}
        self._answered = asyncio.Event()

    async def run(self, case: Case) -> Result:
        """Run one case on fresh processes."""
        started = time.monotonic()
        # The last says that the ledger was used, and an empty one would be refused.
        for name in ("answers.jsonl", "executions.jsonl", "key.ledger"):
            (self._folder / name).unlink(missing_ok=True)
        async with (
            redis.asyncio.Redis.from_url(self._ledger_url, decode_responses=True) as ledger,
            redis.asyncio.Redis.from_url(self._queue_url, socket_timeout=2 * END_WITHIN_S) as queue,
            calling(self._folder, [f"http://127.0.0.1:{self._port}"]) as caller,
        ):
            await asyncio.gather(ledger.flushdb(), queue.flushdb())
            bought = purchase(caller.key, endpoint=case.endpoint)
            script = {"settle": case.outcome.settle, "evidence": case.outcome.evidence}
            await self._parent.control(script={bought.payment: script})
            victim = "worker" if case.failpoint in WORKERS else "api"
            watching: list[asyncio.Task[None]] = []
            try:
                for role in ("api", "worker"):
                    await self._start(role, case, case.failpoint if role == victim else "")
                await self._ready(queue)
                seen: list[Event] = []
                dying = asyncio.create_task(self._await_death(victim, case, bought, ledger, seen))
                watching.append(dying)
                listening = asyncio.create_task(self._redeliver(queue)) if case.is_redelivered else None
                if listening is not None:
                    watching.append(listening)
                if case.is_left:
                    await self._ask_until_claimed(caller, bought, ledger)
                    seen.append(await self._settled(ledger, bought))
                was_reached = await self._call(case, caller, bought, dying)
                if listening is not None:
                    self._answered.set()
                    await listening
                if any("late" in mode for mode in case.outcome.settle):
                    await self._parent.transfer_of(bought.payment)
                await self._ask_on(caller, bought)
                bought_all = [bought]
                if case.endpoint == "watch":
                    bought_all.append(purchase(caller.key, endpoint=case.endpoint))
                    await self._ask_on(caller, bought_all[-1])
            finally:
                # Before the deaths: who watches one starts another process.
                for task in watching:
                    task.cancel()
                await asyncio.gather(*watching, return_exceptions=True)
                await self._kill_all()
        history = self._history({one.payment for one in bought_all}, seen)
        violations = check(history)
        return Result(was_reached, bought.end, time.monotonic() - started, violations, history)

    async def _call(self, case: Case, caller: Caller, bought: Purchase, dying: asyncio.Task[None]) -> bool:
        """Until the end, whoever dies. Whether somebody did."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(case.copies):
                tasks.create_task(caller.insist(bought, within_s=END_WITHIN_S, pause_s=0.1))
        # A place behind the answer is come to a moment later.
        if case.failpoint in WORKERS and not dying.done():
            await asyncio.wait([dying], timeout=DEATH_WITHIN_S)
        was_reached = dying.done()
        if not was_reached:
            dying.cancel()
        await asyncio.gather(dying, return_exceptions=was_reached is False)
        return was_reached

    async def _ask_on(self, caller: Caller, bought: Purchase) -> None:
        """What has ended stays as it is, for the same request and for another."""
        await caller.insist(bought, within_s=END_WITHIN_S, pause_s=0.1)
        await caller.ask(bought.substitute())

    async def _await_death(
        self,
        role: str,
        case: Case,
        bought: Purchase,
        ledger: redis.asyncio.Redis,
        seen: list[Event],
    ) -> None:
        await ended(self._pids[role])
        state: Any = await ledger.hget(record_key(bought.payment), "state")
        seen.append(Event(payment=bought.payment, event=state or "", at=time.time()))
        await self._start(role, case, "")

    async def _ask_until_claimed(self, caller: Caller, bought: Purchase, ledger: redis.asyncio.Redis) -> None:
        """Once, unless the API was asked before it had seen its worker: then it refuses, and records nothing."""
        give_up_at = time.monotonic() + READY_WITHIN_S
        while True:
            answer = await caller.ask(bought)
            if await ledger.exists(record_key(bought.payment)):
                return
            assert (answer.status, answer.code, answer.charged) == (503, "unavailable", False), self.logs()
            assert time.monotonic() < give_up_at, self.logs()
            await asyncio.sleep(0.05)

    async def _settled(self, ledger: redis.asyncio.Redis, bought: Purchase) -> Event:
        give_up_at = time.monotonic() + END_WITHIN_S
        while True:
            state: Any = await ledger.hget(record_key(bought.payment), "state")
            if state in MONEY_STATES:
                return Event(payment=bought.payment, event=state, at=time.time())
            assert time.monotonic() < give_up_at, f"it is {state}\n{self.logs()}"
            await asyncio.sleep(0.1)

    async def _start(self, role: str, case: Case, failpoint: str) -> None:
        environment = {
            "COINSLOT_PORT": str(self._port),
            "COINSLOT_BASE_URL": BASE_URL,
            "COINSLOT_LEDGER_URL": self._ledger_url,
            "COINSLOT_QUEUE_URL": self._queue_url,
            "COINSLOT_KEY_FILE": str(self._folder / "key"),
            "COINSLOT_EVM_PAY_TO": PAY_TO,
            "COINSLOT_EVM_FACILITATOR_URL": self._service.url("facilitator"),
            "COINSLOT_SETTLE_TIMEOUT_S": str(SETTLE_TIMEOUT_S),
            "COINSLOT_RATE_LIMITS": "off",
            "COINSLOT_OBSERVATION_URL": self._observation_url,
            "COINSLOT_FAILPOINT": failpoint,
            FOLDER: str(self._folder),
        }
        log = str(self._folder / f"{role}.log")
        self._pids[role] = await self._parent.fork(ForkRequest(role, environment, log, case.patches))

    async def _ready(self, queue: redis.asyncio.Redis) -> None:
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not (await _listens(self._port) and await _is_read(queue)):
            assert time.monotonic() < give_up_at, self.logs()
            await asyncio.sleep(0.05)

    async def _redeliver(self, queue: redis.asyncio.Redis) -> None:
        """Read the queue beside the worker, and send the same message again."""
        self._answered.clear()
        entries: Any = await queue.xread({STREAM: "0"}, block=int(END_WITHIN_S * 1000))
        [(_, [(_, fields)])] = entries
        await self._answered.wait()
        await queue.xadd(STREAM, {FIELD: fields[FIELD.encode()]})
        give_up_at = time.monotonic() + READY_WITHIN_S
        while await queue.xlen(STREAM):
            assert time.monotonic() < give_up_at, self.logs()
            await asyncio.sleep(0.05)

    async def _kill_all(self) -> None:
        """And wait for their ends: the next case needs the port."""
        while self._pids:
            _, pid = self._pids.popitem()
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            await ended(pid)

    def _history(self, payments: set[str], seen: list[Event]) -> History:
        history = read_history(self._folder, self._ledger_url, seen=seen)
        history.transfers[:] = [line for line in history.transfers if line.payment in payments]
        history.settles[:] = [line for line in history.settles if line.payment in payments]
        return history

    def logs(self) -> str:
        """What the slot's processes said."""
        return "\n".join(log.read_text()[-2000:] for log in self._folder.glob("*.log"))


async def run_cases(cases: Sequence[Case], service: Service) -> list[Result]:
    """All cases, in their order, as many at once as there are slots."""
    results: dict[int, Result] = {}
    waiting = list(enumerate(cases))[::-1]

    async def work(slot: Slot) -> None:
        while waiting:
            index, case = waiting.pop()
            results[index] = await slot.run(case)

    async with forking_parent(service) as forks, asyncio.TaskGroup() as tasks:
        for number in range(min(SLOTS, len(cases))):
            tasks.create_task(work(Slot(number, service, forks)))
    return [results[index] for index in range(len(cases))]


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def _is_read(queue: redis.asyncio.Redis) -> bool:
    try:
        return bool(await queue.xinfo_consumers(STREAM, GROUP))
    except redis.asyncio.RedisError:
        return False
