"""Group commit: payments that are ready at the same moment are checked together and settled by one transaction.

Arrived -> checked, all that have arrived with one request -> sent, all that are ready when the last send was answered. A lone
payment is sent at once and directly. Payments that could spoil a group for others are isolated, and sent last.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

from facilitator.json_rpc import NODE_ERRORS
from facilitator.rails.evm.account import SettlerAccount, Work
from facilitator.rails.evm.calldata import settling_call
from facilitator.rails.evm.costs import Costs
from facilitator.rails.evm.gas_budget import GROUP_GAS, GasBudget, group_gas
from facilitator.rails.evm.in_flight import InFlight
from facilitator.rails.evm.isolation import Isolation
from facilitator.rails.evm.outcomes import Outcomes
from facilitator.rails.evm.simulation import MEMBER_GAS, Simulator
from facilitator.rails.evm.transaction import Payment
from facilitator.settling import CannotSend
from shared.x402.refusal import PaymentRefused

log = logging.getLogger(__name__)

MOST_IN_GROUP = 50
"""More save no gas: a transfer in a group of 50 takes 2 % less than in one of 20."""
MOST_OF_PAYER = 10
"""Payments of one payer in a group. It takes 5 % less gas with 50, and a payer who spoils a group of his own burns a fifth."""
GROUPS_OF_PAYER = 2
"""Groups with payments of one payer that have no known end. Code that he puts on his account spoils all of them at once."""
NEXT_CHECK_S = 0.025
"""How long what arrives waits for the answer to the last check. A far node takes longer."""

Take = Callable[[int], list[Payment]]


class Groups:
    """Takes payments in, and sends those that would settle.

    Args:
        asset: the token's address.
        spacing_s: between two sends, while they may be groups.
        arrivals: payments that are to be settled, unless they are refused or withdrawn. `Payment.ended` gets the result.
        budget: says how large a group may be now.
        costs: says which payments are worth their settlement now.
    """

    def __init__(
        self,
        asset: str,
        spacing_s: float,
        *,
        arrivals: asyncio.Queue[Payment],
        simulator: Simulator,
        budget: GasBudget,
        costs: Costs,
        isolation: Isolation,
        in_flight: InFlight,
        account: SettlerAccount,
        outcomes: Outcomes,
    ) -> None:
        self._asset = asset
        self._spacing_s = spacing_s
        self._arrivals = arrivals
        self._simulator = simulator
        self._budget = budget
        self._costs = costs
        self._isolation = isolation
        self._in_flight = in_flight
        self._account = account
        self._outcomes = outcomes
        self._ready: list[Payment] = []
        self._is_work = asyncio.Event()
        self._checks: set[asyncio.Task[None]] = set()

    async def check_forever(self) -> None:
        """Check what arrives, until cancelled."""
        while True:
            arrived = [await self._arrivals.get()]
            while not self._arrivals.empty():
                arrived.append(self._arrivals.get_nowait())
            payments = [one for one in arrived if not one.is_withdrawn]
            for payment in arrived:
                if payment.is_withdrawn:
                    self._outcomes.refuse(payment, CannotSend("nobody waits for it"))
            check = asyncio.create_task(self._check(payments))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)
            await asyncio.wait({check}, timeout=NEXT_CHECK_S)

    async def send_forever(self) -> None:
        """Send what is ready, until cancelled."""
        sent_at = -self._spacing_s
        while True:
            await self._is_work.wait()
            if self._budget.most > 1:  # one by one there is nothing to wait for
                await asyncio.sleep(sent_at + self._spacing_s - time.monotonic())
            self._is_work.clear()
            sent_at = time.monotonic()
            if self._ready:
                await self._send(self._take_group)
            if self._isolation:
                await self._send(self._take_isolated)
            if self._ready:
                self._is_work.set()

    async def _check(self, payments: list[Payment]) -> None:
        for payment, verdict in zip(payments, await self._simulator.check(payments), strict=True):
            if verdict is not None:
                self._outcomes.refuse(payment, verdict)
            elif (
                payment.is_isolated
                or self._limit(payment) <= 0
                or self._isolation.is_suspect(payment.authorization.payer)
            ):
                self._isolate(payment)
            else:
                self._ready.append(payment)
        self._is_work.set()

    def _limit(self, payment: Payment) -> int:
        """The members of a group that it may be in: after each failed group a quarter."""
        return self._budget.largest >> (2 * payment.failures)

    def _isolate(self, payment: Payment) -> None:
        payer = payment.authorization.payer

        def check_the_next(_: object) -> None:
            for later in self._isolation.later_of(payer):
                self._arrivals.put_nowait(later)
            self._is_work.set()

        payment.ended.add_done_callback(check_the_next)
        self._isolation.add(payment)

    async def _send(self, take: Take) -> None:
        """One transaction, of what `take` gives at the moment of its signature."""
        taken: list[Payment] = []

        def compose(gas_left: int) -> Work | None:
            taken.extend(self._worth([one for one in take(gas_left) if not one.is_withdrawn]))
            if not taken:
                return None
            to, data = settling_call(self._asset, [one.authorization for one in taken])
            return Work(to, data, _gas(taken), tuple(taken))

        try:
            await self._account.send(compose)
        except Exception as error:
            if not isinstance(error, (CannotSend, *NODE_ERRORS)):
                log.error("sending failed", exc_info=error)
            # Before anything was taken, it is the account or the node that cannot send: so nobody's payment can be sent.
            for payment in taken or self._all_waiting():
                self._outcomes.refuse(payment, error)

    def _worth(self, payments: list[Payment]) -> list[Payment]:
        """Those that are worth their settlement at the price of this moment. The others are refused."""
        worth = []
        for payment in payments:
            try:
                self._costs.check(payment)
            except PaymentRefused as refused:
                self._outcomes.refuse(payment, refused)
            else:
                worth.append(payment)
        return worth

    def _take_group(self, gas_left: int) -> list[Payment]:
        """As many as are ready, as may be together, and as can be paid for; the others stay."""
        ready, self._ready = [one for one in self._ready if not one.is_withdrawn], []
        room = min(self._budget.most, max(1, (gas_left - GROUP_GAS) // MEMBER_GAS))
        taken: list[Payment] = []
        of_payer: Counter[str] = Counter()
        for payment in ready:
            payer = payment.authorization.payer
            if self._isolation.is_suspect(payer):  # since it was checked
                self._isolate(payment)
            elif (earlier := self._to_be_awaited(payment, taken)) is not None:
                earlier.ended.add_done_callback(partial(self._check_again, payment))
            elif len(taken) < min(room, self._limit(payment)) and of_payer[payer] < MOST_OF_PAYER:
                room = min(room, self._limit(payment))
                taken.append(payment)
                of_payer[payer] += 1
            else:
                self._ready.append(payment)
        return taken

    def _to_be_awaited(self, payment: Payment, taken: list[Payment]) -> Payment | None:
        """An earlier payment of the same payer that must have an end first: he is in too many groups, or his money may not be
        enough for both. Each of them was checked as if it were the only one, and one that fails in a group burns its gas."""
        payer = payment.authorization.payer
        earlier = [*self._in_flight.payments_of(payer), *(one for one in taken if one.authorization.payer == payer)]
        groups = {one.sent for one in earlier if one.sent is not None and len(one.sent.members) > 1}
        value = sum(one.authorization.value for one in (payment, *earlier))
        return earlier[0] if len(groups) >= GROUPS_OF_PAYER or (value > payment.balance and earlier) else None

    def _check_again(self, payment: Payment, _: object) -> None:
        self._arrivals.put_nowait(payment)

    def _take_isolated(self, gas_left: int) -> list[Payment]:
        payment = self._isolation.take()
        if payment is None:
            return []
        self._is_work.set()  # perhaps there is another one
        if payment.gas > gas_left:
            self._outcomes.refuse(payment, CannotSend("the settler account cannot pay for so much gas now"))
            return []
        return [payment]

    def _all_waiting(self) -> list[Payment]:
        waiting, self._ready = [*self._ready, *self._isolation.clear()], []
        return waiting


def _gas(members: list[Payment]) -> int:
    return members[0].gas if len(members) == 1 else group_gas(len(members))
