"""The calls of a run over two versions: what is bought, and what is wrong with the answers."""

import asyncio
from collections.abc import Sequence

from coinslot.errors import NoPayableOffer
from shared.x402.networks import Rail
from tests.chaos.caller import Caller, Purchase
from tests.chaos.history import Answer
from tests.upgrade.purchases import WATCHES, Channel, Shop

SHARES = {Rail.BASE: 0.5, Rail.SOLANA: 0.15, Rail.STELLAR: 0.15}
"""Of what is bought; the rest is paid with both tokens of the XRP Ledger."""
AT_ONCE = 12
END_WITHIN_S = 900.0
"""A payment on Stellar that lapsed while nobody settled it is undecided for twelve minutes."""


class Buying:
    """Whoever buys, and keeps what was bought.

    Attributes:
        channel: that some calls are paid out of.
        failing: calls that fail for good, charged.
        resets: connections without an answer, while processes are restarted.
        unoffered: how often a rail was in no challenge then.
        unknown_to_copy: payments that were answered after a backup.
    """

    def __init__(self, shop: Shop, caller: Caller) -> None:
        self.shop = shop
        self.caller = caller
        self._gate = asyncio.Semaphore(AT_ONCE)
        self.channel: Channel | None = None
        self.resets = 0
        self.unoffered = 0
        self.unknown_to_copy: set[str] = set()
        self.bought: list[Purchase] = []
        self.failing: list[Purchase] = []
        self.vouchers: list[Purchase] = []
        self.violations: list[str] = []

    async def buy(self, count: int) -> None:
        """So many calls on all rails, and a tenth out of the channel."""
        numbers = {rail: int(count * share) for rail, share in SHARES.items()}
        vouchers = count // 10
        rest = count - sum(numbers.values()) - vouchers
        xrpl = [(Rail.XRPL_USDC, Rail.XRPL_RLUSD)[number % 2] for number in range(rest)]
        await asyncio.gather(
            *(self.buy_one(rail) for rail, number in numbers.items() for _ in range(number)),
            self._buy_in_turn(xrpl),
            self._use_channel(vouchers),
        )

    async def buy_one(self, rail: Rail, endpoint: str = "") -> Purchase:
        """One call, which has to be answered."""
        async with self._gate:
            bought = await asyncio.to_thread(self.shop.purchase, rail, endpoint)
            self.bought.append(bought)
            await self.caller.insist(bought, within_s=END_WITHIN_S)
        if bought.end != 200:
            self.violations.append(f"{bought.endpoint} on {rail} was not answered: {said(bought.answers[-1])}")
        return bought

    async def _buy_in_turn(self, rails: Sequence[Rail]) -> None:
        """Payments of an account on the XRP Ledger have numbers: the next is signed when the one before is settled."""
        for number, rail in enumerate(rails):
            await self.buy_one(rail, WATCHES if rail is Rail.XRPL_RLUSD and number % 4 == 1 else "")

    async def _use_channel(self, count: int) -> None:
        assert self.channel is not None
        for _ in range(count):
            voucher = await asyncio.to_thread(self.channel.purchase)
            self.vouchers.append(voucher)
            await self.caller.insist(voucher, within_s=END_WITHIN_S)

    async def keep_buying(self, rail: Rail, is_over: asyncio.Event) -> None:
        """One call after the other."""
        while not is_over.is_set():
            try:
                bought = await asyncio.to_thread(self.shop.purchase, rail, "echo")
            except OSError:
                self.resets += 1
                continue
            except NoPayableOffer:  # a facilitator that is away for ten seconds is in no challenge
                self.unoffered += 1
                await asyncio.sleep(0.2)
                continue
            self.bought.append(bought)
            await self.caller.insist(bought, within_s=END_WITHIN_S)

    async def ask(self, purchases: Sequence[Purchase], known: list[Purchase]) -> None:
        """Send each once."""
        known += purchases
        await asyncio.gather(*(self.caller.ask(one) for one in purchases))

    async def answer_again(self, name: str) -> None:
        """What was answered is answered again, and what failed for good fails again."""

        async def again(one: Purchase) -> None:
            before = one.answers[-1]
            async with self._gate:
                after = await self.caller.ask(one)
            is_same = said(after) == said(before) and (before.status != 200 or after.body == before.body)
            if not is_same and before.status != 402:
                self.violations.append(f"{name}: {one.payment} got {said(before)}, then {said(after)}")

        known = [one for one in self.bought if one.end is not None and one.payment not in self.unknown_to_copy]
        await asyncio.gather(*map(again, (*known, *self.vouchers[-3:], *self.failing)))


def said(answer: Answer) -> str:
    """What an answer comes to."""
    return f"{answer.status} {answer.code} {answer.receipt}".strip()
