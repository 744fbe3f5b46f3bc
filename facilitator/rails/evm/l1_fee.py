"""What a chain of the OP Stack, such as Base, takes for a transaction's data on L1, beside its gas.

Source: OP Stack specification, "Fjord": predeploy GasPriceOracle.
"""

from __future__ import annotations

from facilitator.rails.evm.calldata import l1_fee_upper_bound
from facilitator.rails.evm.node import bytes_of, is_failure, view
from facilitator.rails.evm.simulation import MEMBER_GAS
from shared.json_rpc import Call

ORACLE = "0x420000000000000000000000000000000000000F"
SETTLEMENT_BYTES = 700
"""One payment has about 450 bytes, and one more in a group 480. The fee rises a little faster than their number."""


class L1Fee:
    """The fee for one settlement's data, as it was read last. It is 0 on a chain without the oracle."""

    def __init__(self) -> None:
        self._wei = 0

    @property
    def wei(self) -> int:
        """At most that for one settlement."""
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
