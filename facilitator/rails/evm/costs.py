"""What a settlement costs now, in the token that pays for it, and which payments are worth that.

It is the gas of one payment at the price of the moment, with what the chain takes for data on L1.
"""

import math
import time
from collections import deque
from fractions import Fraction

from facilitator.rails.evm.prices import Prices
from facilitator.rails.evm.transaction import Payment
from shared.x402.refusal import PaymentRefused
from shared.x402.settlement_cost import TOO_COSTLY, least_price

LONE_GAS = 86_000
"""Of a payment that is settled by itself, until one was measured. With Circle's contract on Base it takes 69,000 to 86,000."""
MOST_GAS = 90_000
"""What a payment counts for at most. More is taken by code that its payer put on his account on the way (EIP-7702): for the
price of a call he would have cheap calls refused to everybody, until somebody else pays."""
RECENT_S = 60.0
"""Transactions of the last minute say how large groups are now. Without any, the next payment is settled by itself."""
MOST_RECENT = 1_000
KNOWN_S = 60.0
"""A price of gas that is older says nothing."""
WEI = 10**18


class Costs:
    """Measures what payments take, and refuses those that bring too little.

    Args:
        ether_price: atomic units of the token for an ether.
        share: the part of a payment that its settlement may cost; None: any.
    """

    def __init__(self, prices: Prices, ether_price: Fraction, share: Fraction | None) -> None:
        self._prices = prices
        self._ether_price = ether_price
        self._share = share
        self._lone_gas = LONE_GAS
        self._recent: deque[tuple[float, int, int]] = deque()
        self._recent_gas = self._recent_members = 0

    def count(self, gas: int, members: int) -> None:
        """Note what a transaction took that has made all its payments, each of which is a transfer from an account."""
        gas = min(gas, members * MOST_GAS)
        self._recent.append((time.monotonic(), gas, members))
        self._recent_gas += gas
        self._recent_members += members
        if members == 1:
            self._lone_gas = gas

    @property
    def gas(self) -> int:
        """Of one payment, in a transaction of the size that is usual at the moment."""
        oldest_at = time.monotonic() - RECENT_S
        while self._recent and (self._recent[0][0] < oldest_at or len(self._recent) > MOST_RECENT):
            _, gas, members = self._recent.popleft()
            self._recent_gas -= gas
            self._recent_members -= members
        return -(-self._recent_gas // self._recent_members) if self._recent else self._lone_gas

    @property
    def of_one(self) -> int | None:
        """What one more settlement costs, in atomic units; None while the price of gas is not known."""
        return self._cost(self.gas) if self._prices.age_s < KNOWN_S else None

    def check(self, payment: Payment) -> None:
        """Raise PaymentRefused for a payment whose settlement would cost too much of it at the price that was read last.

        One that was sent before is sent again: its refusal would not be definite.
        """
        if self._share is None or payment.was_sent:
            return
        if payment.authorization.value < least_price(self._cost(max(self.gas, payment.estimated)), self._share):
            raise PaymentRefused(TOO_COSTLY)

    def _cost(self, gas: int) -> int:
        price = self._prices.last
        wei = gas * (price.base_fee + price.tip) + self._prices.l1_fee.wei
        return math.ceil(wei * self._ether_price / WEI)
