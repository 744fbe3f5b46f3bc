"""Decides whether a rail takes new payments: by what its facilitator supports, and by whether its settle calls fail.

A facilitator that does not answer /supported counts as supporting what is configured. Its rail goes down only when it names
other networks, or when its settle calls fail in a row; then until it answers /supported again. For the first seconds of that
its rail stays in the challenges: a facilitator that is started again is away for less.

Our facilitator also says what a settlement costs it, by which some prices are not worth theirs (cost_limit.py).
"""

import asyncio
import contextlib
import logging
import math
import re
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from api.payment.cost_limit import CostLimit
from api.payment.facilitator import Facilitator
from api.payment.unsettled import Failing, NotSent, Unsettled
from shared.x402.authorization import KnownLedger
from shared.x402.networks import Rail
from shared.x402.settlement_cost import KEY
from shared.x402.wire import BAZAAR, X402_VERSION, SupportedKind

log = logging.getLogger(__name__)

_DIGITS = re.compile("[0-9]{1,30}", re.ASCII)

FINE_S = 60.0
"""Seconds until the next question after an answer that names our scheme and network."""
SOON_S = 10.0
"""Seconds until the next question after any other answer."""
LEDGER_S = 10.0
"""Seconds until the next question after an answer that gives the number of the network's last ledger."""
COST_S = 5.0
"""The same after an answer that says what a settlement costs."""
COST_SOON_S = 1.0
"""The same after the facilitator has refused a settlement for its cost."""
CURRENT_S = 30.0
"""How long that number is near enough, in seconds."""
MEASURED_S = 120.0
"""The pace of a network is measured over at most so long."""
FRESH_S = 2.0
"""/readyz does not repeat a question whose answer is this young, in seconds."""
OFFERED_S = 10.0
"""How long challenges offer a rail after its facilitator has begun to fail, in seconds. Meanwhile a payment is refused,
uncharged, with a Retry-After: a client with one wallet can wait, but it can do nothing with a challenge of other rails."""


class Health:
    """The health of one rail, as this process sees it.

    Args:
        scheme, network: the facilitator has to support them.
        cost_share: the part of a price that its settlement may cost; None: any.
    """

    HELD = "too many settled payments are no longer on its chain"
    """Why it is held, for the log."""

    def __init__(
        self, rail: Rail, facilitator: Facilitator, *, scheme: str, network: str, cost_share: Fraction | None = None
    ) -> None:
        self.is_up = True
        """Whether a new payment may be made on it."""
        self.is_offered = True
        """Whether challenges offer it."""
        self.is_held = False
        """Whether no new payment is taken for what became of earlier ones, or because nobody looks after them."""
        self.terms: dict[str, Any] = {}
        """The facilitator's last `extra` of our scheme and network. The offers of some rails carry parts of it."""
        self.indexes = False
        """Whether the facilitator says that it lists in a catalogue what it settles."""
        self.costs = CostLimit(cost_share)
        """Which prices are worth their settlement."""
        self._ledger: tuple[int, float] | None = None
        self._measured_from: tuple[int, float] | None = None
        """An earlier ledger, from which the pace of the network is measured."""
        self._rail = rail
        self._facilitator = facilitator
        self._scheme = scheme
        self._network = network
        self._circuit = facilitator.circuit
        self._circuit.on_change = self._circuit_changed
        self._is_listed = True
        self._is_away_briefly = False
        self._end_of_brief: asyncio.TimerHandle | None = None
        self._answers = False
        self._asked_at = self._next_at = 0.0
        self._is_sooner = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []
        self._asking: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def retry_after_s(self) -> int:
        """Whole seconds until the next question."""
        return max(1, math.ceil(self._next_at - time.monotonic()))

    def ledger(self) -> KnownLedger | None:
        """The network's last ledger some seconds ago, and how long ledgers take; None when unknown."""
        if self._ledger is None or self._measured_from is None:
            return None
        number, told_at = self._ledger
        age_s = time.monotonic() - told_at
        if age_s > CURRENT_S:
            return None
        first, first_at = self._measured_from
        # As many as were seen, and one that may just have been about to be closed.
        ledger_s = (told_at - first_at) / (number - first + 1) if number > first else None
        return KnownLedger(number, age_s, ledger_s)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever `is_up`, `is_offered`, `terms` or `costs` have changed."""
        self._listeners.append(listener)

    def hold(self, *, is_held: bool) -> None:
        """Take no new payments, or take them again, for what became of earlier ones (api/payment/reorgs.py)."""
        if is_held != self.is_held:
            self.is_held = is_held
            self._update(self.HELD)

    def is_held_for(self, payer: str) -> bool:
        """Whether no new payment of this payer is taken, although the rail may be up."""
        return self.is_held

    def heed(self, terms: dict[str, Any]) -> None:
        """Take the terms of our offers, where they have changed."""
        if terms != self.terms:
            self.terms = terms
            self._tell()

    def ask_soon(self) -> None:
        """Ask sooner: the facilitator has refused a settlement for its cost, which is not the one that it said last."""
        self._next_at = min(self._next_at, self._asked_at + COST_SOON_S)
        self._is_sooner.set()

    def start(self) -> None:
        """Start to ask, on the running event loop."""
        self._watching = asyncio.create_task(self._watch(), name=f"health-{self._rail}")

    async def stop(self) -> None:
        """Stop asking."""
        if self._end_of_brief is not None:
            self._end_of_brief.cancel()
        tasks = [task for task in (self._watching, self._asking) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def is_ready(self) -> bool:
        """Whether the rail is up and its facilitator answers now. While the circuit is open, it is not asked."""
        is_fresh = self._answers and time.monotonic() - self._asked_at < FRESH_S
        if not self._circuit.is_open and not is_fresh:
            await self._ask()
        return self.is_up and self._answers

    async def _watch(self) -> None:
        while True:
            try:
                await self._ask()
            except Exception:
                log.exception("the facilitator of %s could not be asked", self._rail)
                self._next_at = time.monotonic() + SOON_S
            while (left_s := self._next_at - time.monotonic()) > 0:
                self._is_sooner.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left_s):
                        await self._is_sooner.wait()

    async def _ask(self) -> None:
        # One question at a time, shared by all callers that wait for its answer.
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._question())
        await asyncio.shield(self._asking)

    async def _question(self) -> None:
        openings = self._circuit.openings
        is_named = False
        try:
            supported = await self._facilitator.supported()
        except (NotSent, Failing):
            self._answers = False
        except Unsettled:
            self._answers = True  # in words that are not the specification's
        else:
            self._answers = True
            self.indexes = BAZAAR in supported.extensions
            ours = (X402_VERSION, self._scheme, self._network)
            kinds = [kind for kind in supported.kinds if (kind.x402_version, kind.scheme, kind.network) == ours]
            is_named = bool(kinds)
            if kinds:
                self._hear(kinds[0])
            self._listed(is_named)
        if not is_named:
            self._note_cost(None)
        self._asked_at = time.monotonic()
        # A circuit that opened meanwhile waits for its pause first.
        if openings == self._circuit.openings:
            self._circuit.tried(passed=self._answers)
        fine_s = COST_S if self.costs.cost is not None else FINE_S if self._ledger is None else LEDGER_S
        pause_s = self._circuit.pause_s if self._circuit.is_open else fine_s if is_named else SOON_S
        self._next_at = self._asked_at + pause_s

    def _hear(self, kind: SupportedKind) -> None:
        terms = dict(kind.extra or {})
        ledger = terms.pop("ledger", None)
        if isinstance(ledger, int) and ledger > 0:
            self._see(ledger, time.monotonic())
        cost = terms.pop(KEY, None)
        self._note_cost(int(cost) if isinstance(cost, str) and _DIGITS.fullmatch(cost) else None)
        self.heed(terms)

    def _note_cost(self, cost: int | None) -> None:
        if self.costs.note(cost):
            self._tell()

    def _see(self, ledger: int, now: float) -> None:
        """Note the network's last ledger. Its pace is measured over the last minutes, and anew when the network is another."""
        if self._ledger is None or self._measured_from is None or ledger < self._ledger[0]:
            self._measured_from = ledger, now
        elif now - self._measured_from[1] > MEASURED_S:
            self._measured_from = self._ledger
        self._ledger = ledger, now

    def _listed(self, is_listed: bool) -> None:
        if is_listed != self._is_listed:
            self._is_listed = is_listed
            self._update(f"its facilitator does not list {self._scheme} on {self._network} in /supported")

    def _circuit_changed(self) -> None:
        if self._circuit.is_open:
            self._next_at = time.monotonic() + self._circuit.pause_s
            self._is_sooner.set()
            if not self._circuit.has_reopened:
                self._is_away_briefly = True
                if self._end_of_brief is not None:
                    self._end_of_brief.cancel()
                self._end_of_brief = asyncio.get_running_loop().call_later(OFFERED_S, self._is_away_for_long)
        self._update(
            "its facilitator failed too often in a row, and gets no payments until it answers /supported again"
        )

    def _is_away_for_long(self) -> None:
        self._is_away_briefly = False
        self._update("")

    def _update(self, why_not: str) -> None:
        is_possible = self._is_listed and not self.is_held
        is_up = is_possible and not self._circuit.is_open
        is_offered = is_up or (is_possible and self._is_away_briefly)
        if (is_up, is_offered) == (self.is_up, self.is_offered):
            return
        if is_up and not self.is_up:
            log.warning("%s takes new payments again", self._rail)
        elif self.is_up and not is_up:
            log.warning("%s takes no new payments: %s", self._rail, why_not)
        self.is_up, self.is_offered = is_up, is_offered
        self._tell()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()
