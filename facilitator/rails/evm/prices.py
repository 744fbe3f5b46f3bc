"""What a settlement costs: the price of gas, the highest one that we pay, and the fee for data on L1.

A chain of the OP Stack, such as Base, takes that fee in addition to the gas. Source: OP Stack specification, "Fjord": predeploy
GasPriceOracle.
"""

import asyncio
import logging
import math
import time

from facilitator.json_rpc import JsonRpcNode
from facilitator.rails.evm.calldata import l1_fee_upper_bound
from facilitator.rails.evm.node import bytes_of, is_failure, number_of, value_of, view
from facilitator.rails.evm.simulation import MEMBER_GAS
from facilitator.rails.evm.transaction import Bid, Quote
from facilitator.settling import CannotSend
from shared.nodes.json_rpc import Call

log = logging.getLogger(__name__)

PRICE_AGE_S = 2.0
GWEI = 10**9
_TIP_CEILING = GWEI
ORACLE = "0x420000000000000000000000000000000000000F"
SETTLEMENT_BYTES = 700
"""One payment has about 450 bytes, and one more in a group 480. The fee rises a little faster than their number."""


class Prices:
    """The chain's price of gas, at most a block old.

    Args:
        ceiling: the most wei that we offer for one unit of gas.

    Attributes:
        l1_fee: the fee for data on L1. It is read with the balance.
    """

    def __init__(self, node: JsonRpcNode, ceiling: int) -> None:
        self.l1_fee = L1Fee()
        self._node = node
        self._ceiling = ceiling
        self._request: asyncio.Task[None] | None = None
        self._quote = Quote(0, 0)
        self._asked_at = -math.inf
        self._was_too_high = False

    @property
    def last(self) -> Quote:
        """The last price that was read, however old it is."""
        return self._quote

    @property
    def age_s(self) -> float:
        """Seconds since that was asked for."""
        return time.monotonic() - self._asked_at

    @property
    def unavailable_reason(self) -> str:
        """Why nothing is sent at this price; empty when it is not too high."""
        price = self._quote.bid().max_fee
        if price <= self._ceiling:
            return ""
        return f"gas costs up to {price / GWEI:.6g} gwei, and COINSLOT_EVM_MAX_FEE_GWEI is {self._ceiling / GWEI:.6g}"

    async def now(self) -> Quote:
        """The price, at most a block old. Raises what is in NODE_ERRORS."""
        if self.age_s > PRICE_AGE_S:
            if self._request is None:
                # One request serves all callers: one after the other they would each wait for a silent node.
                self._request = asyncio.create_task(self._read())
                self._request.add_done_callback(self._end_request)
            await asyncio.shield(self._request)
        return self._quote

    def allow(self, bid: Bid) -> None:
        """Raises CannotSend for an offer above the ceiling."""
        if bid.max_fee > self._ceiling:
            raise CannotSend(self.unavailable_reason or "a higher fee would be above COINSLOT_EVM_MAX_FEE_GWEI")

    async def _read(self) -> None:
        asked_at = time.monotonic()
        head, tip = await self._node.ask_all(
            [Call("eth_getBlockByNumber", ("latest", False)), Call("eth_maxPriorityFeePerGas")]
        )
        base_fee = number_of(value_of(head)["baseFeePerGas"])
        self._quote = Quote(base_fee, min(number_of(tip), _TIP_CEILING))
        self._asked_at = asked_at
        self._log_crossing()

    def _end_request(self, request: asyncio.Task[None]) -> None:
        self._request = None
        if not request.cancelled():
            request.exception()  # those who wait get it; this keeps asyncio from logging it when nobody waits

    def _log_crossing(self) -> None:
        """Write one line each time the price crosses the ceiling."""
        unavailable_reason = self.unavailable_reason
        if unavailable_reason and not self._was_too_high:
            log.error("nothing is settled: %s", unavailable_reason)
        elif self._was_too_high and not unavailable_reason:
            log.warning("settling continues: gas is below COINSLOT_EVM_MAX_FEE_GWEI again")
        self._was_too_high = bool(unavailable_reason)


class L1Fee:
    """The fee for one settlement's data, as it was read last. It is 0 on a chain without the oracle."""

    def __init__(self) -> None:
        self._wei = 0

    @property
    def wei(self) -> int:
        """The most that the data of one settlement costs."""
        return self._wei

    @property
    def wei_per_gas(self) -> int:
        """The same for each unit of a settlement's gas limit, which is no smaller than a group's for one member."""
        return -(-self._wei // MEMBER_GAS)

    @property
    def question(self) -> Call:
        """Asks the oracle. On a chain without it, the node calls an address without code, and the answer is empty."""
        return view(ORACLE, l1_fee_upper_bound(SETTLEMENT_BYTES))

    def take(self, answer: object) -> None:
        """The node's answer. Raises what is in NODE_ERRORS."""
        self._wei = 0 if is_failure(answer) else int.from_bytes(bytes_of(answer)[:32])
