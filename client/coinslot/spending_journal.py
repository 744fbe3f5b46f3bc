"""The journal of what was reserved under the caps, before anything is signed. Several processes share the file.

A reservation is a line, on the disk before `reserve` returns, and made under a lock (flock) on the file. A process that dies
leaves its reservation, which continues to count: its payment may have moved money. Another line ends a reservation, once. For a
payment that was not charged it is on the disk before the payment's file goes: after a crash in between, `coinslot resume` sends
the payment again, and finds the reservation ended.

| state    | means                                                     | counts                                     |
|----------|-----------------------------------------------------------|--------------------------------------------|
| reserved | the payment may have been signed; nothing more is known   | yes                                        |
| paid     | the server charged it                                     | yes                                        |
| unsent   | nothing was sent                                          | no                                         |
| refused  | it was sent, and the server says that it was not charged  | for MAY_SETTLE_S; then what exceeds a cap  |

The server's word is all there is for `refused`, and it can settle the payment while it is valid. So a refusal counts against
every cap until then. Later the refusals under a cap count as far as they sum to more than it: a server that lies takes at most
twice what a cap allows, and no more than the cap within MAY_SETTLE_S.

A line that a crash has cut off was never a reservation, and is removed. Any other line that cannot be read, a file that became
shorter, and another file in its place stop all payments until a person has looked.
"""

import fcntl
import os
import secrets
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

import msgspec

from coinslot.errors import CapReached, JournalUnusable
from coinslot.offer_terms import MAX_TIMEOUT_SECONDS
from coinslot.spending_caps import Caps
from coinslot.state_folder import sync_folder
from shared.money import Price

DAY_S = 86_400
MAY_SETTLE_S = 2 * MAX_TIMEOUT_SECONDS
"""How long after its reservation a payment may be settled: while it is valid, and some time more as clocks differ."""

State = Literal["reserved", "paid", "unsent", "refused"]
Ended = Literal["paid", "unsent", "refused"]
_Sums = defaultdict[tuple[int | None, str | None], Decimal]


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """`at` is Unix seconds, `amount` is in dollars. Only the line that reserves has `endpoint` and `amount`."""

    id: str
    at: int
    state: State
    endpoint: str = ""
    amount: str = ""


@dataclass(frozen=True, slots=True)
class Left:
    """What is counted and what is left, in dollars; never below 0.

    Attributes:
        endpoint: what is left today of the endpoint's own cap; None without one.
    """

    spent_today: Decimal
    spent: Decimal
    today: Decimal
    total: Decimal
    endpoint: Decimal | None


class SpendingJournal:
    """The journal of one file. It is made with the first reservation. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mutex = threading.Lock()
        self._inode = 0
        self._offset = 0
        """Up to here the file has been read: each process reads what the others have added."""
        self._reserved: dict[str, _Line] = {}
        self._sums: _Sums = defaultdict(Decimal)
        """Reserved, paid or refused lately, by day and endpoint; None: of all."""
        self._refused: _Sums = defaultdict(Decimal)
        """Refused, and too old to be settled."""
        self._refused_lately: list[_Line] = []
        """The reservations."""

    def reserve(self, endpoint: str, price: Price, caps: Caps, *, now: int) -> str:
        """Count a call that is about to be signed. Returns the reservation's id.

        Args:
            now: Unix seconds.

        Raises:
            CapReached: it costs more than is left. Nothing is reserved.
            JournalUnusable: nothing may be signed.
        """
        with self._locked() as descriptor:
            self._check(endpoint, price, caps, now=now)
            line = _Line(secrets.token_hex(8), now, "reserved", endpoint, price.text())
            self._append(descriptor, line)
            return line.id

    def end(self, reservation: str, state: Ended, *, now: int) -> None:
        """Say what became of a reservation. One that has ended stays as it is, and one of another journal is ignored.

        Raises:
            JournalUnusable: it continues to count.
        """
        if not self._inode and not self.path.exists():
            return
        with self._locked() as descriptor:
            if reservation in self._reserved:
                self._append(descriptor, _Line(reservation, now, state))

    def left(self, caps: Caps, *, endpoint: str | None = None, now: int) -> Left:
        """What is left of the caps. Raises JournalUnusable."""
        with self._locked():
            return self._left(caps, endpoint, now=now)

    def _left(self, caps: Caps, endpoint: str | None, *, now: int) -> Left:
        self._give_back(now)
        day = now // DAY_S
        today, total = self._counted((day, None), caps.per_day), self._counted((None, None), caps.total)
        own = None if endpoint is None else caps.of(endpoint)
        return Left(
            spent_today=today,
            spent=total,
            today=max(Decimal(0), caps.per_day - today),
            total=max(Decimal(0), caps.total - total),
            endpoint=None if own is None else max(Decimal(0), own - self._counted((day, endpoint), own)),
        )

    def _counted(self, key: tuple[int | None, str | None], cap: Decimal) -> Decimal:
        return self._sums[key] + max(Decimal(0), self._refused[key] - cap)

    def _give_back(self, now: int) -> None:
        """What was refused and can no longer be settled."""
        old = [line for line in self._refused_lately if now - line.at > MAY_SETTLE_S]
        for line in old:
            self._refused_lately.remove(line)
            _add(self._sums, line, -1)
            _add(self._refused, line, 1)

    def _check(self, endpoint: str, price: Price, caps: Caps, *, now: int) -> None:
        left = self._left(caps, endpoint, now=now)
        limits = [
            ("the cap per call", caps.per_call, caps.per_call),
            (f"today's cap of {endpoint}", left.endpoint, caps.of(endpoint)),
            ("today's cap", left.today, caps.per_day),
            ("the total cap", left.total, caps.total),
        ]
        for name, rest, cap in limits:
            if rest is not None and cap is not None and price.value > rest:
                raise CapReached(f"{endpoint} costs {price.text()}, and {rest:f} is left of {name} of {cap:f} dollars")

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The open file under the lock, read to its end."""
        with self._mutex:
            try:
                descriptor = self._open()
                try:
                    self._read(descriptor)
                    yield descriptor
                finally:
                    os.close(descriptor)
            except OSError as error:
                raise self._unusable(f"cannot be used ({error.strerror or type(error).__name__})") from None

    def _open(self) -> int:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(descriptor), os.stat(self.path)):
                    return descriptor
            except FileNotFoundError:
                pass  # removed while we waited for the lock
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def _read(self, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if not self._inode:
            self._inode = status.st_ino
            sync_folder(self.path.parent)  # the name of a new file
        if status.st_ino != self._inode or status.st_size < self._offset:
            raise self._unusable("was replaced or became shorter")
        content = os.pread(descriptor, status.st_size - self._offset, self._offset)
        complete = content.rfind(b"\n") + 1
        for text in content[:complete].splitlines():
            try:
                self._take(msgspec.json.decode(text, type=_Line))
            except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError, KeyError):
                raise self._unusable("has a line that cannot be read") from None
        self._offset += complete
        if complete < len(content):
            os.ftruncate(descriptor, self._offset)

    def _append(self, descriptor: int, line: _Line) -> None:
        content = msgspec.json.encode(line) + b"\n"
        if os.write(descriptor, content) != len(content):
            os.ftruncate(descriptor, self._offset)
            raise self._unusable("cannot be written")
        os.fsync(descriptor)
        self._take(line)
        self._offset += len(content)

    def _take(self, line: _Line) -> None:
        """Raises ValueError, KeyError."""
        if line.state == "reserved":
            _add(self._sums, line, 1)
            self._reserved[line.id] = line
            return
        reserved = self._reserved.pop(line.id)
        if line.state == "unsent":
            _add(self._sums, reserved, -1)
        elif line.state == "refused":
            self._refused_lately.append(reserved)

    def _unusable(self, why: str) -> JournalUnusable:
        return JournalUnusable(
            f"the journal {self.path} {why}, so nothing is paid",
            hint="Look at it, restore it or move it away, and start the server again.",
        )


def _add(sums: _Sums, line: _Line, times: int) -> None:
    """Add a reservation. Raises ValueError: it has no amount."""
    day, amount = line.at // DAY_S, Price.of(line.amount).value * times
    for key in ((None, None), (day, None), (day, line.endpoint)):
        sums[key] += amount
