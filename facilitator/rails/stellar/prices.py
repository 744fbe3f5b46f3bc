"""The fee for inclusion in a ledger, and the highest price that we pay."""

from __future__ import annotations

from facilitator.rails.stellar.node import BASE_FEE, StellarNode


class Prices:
    """The network's inclusion fee, as it was read last.

    Args:
        ceiling: stroops that one settlement may cost.
    """

    def __init__(self, node: StellarNode, ceiling: int) -> None:
        self._node = node
        self._ceiling = ceiling
        self._price = BASE_FEE

    async def read(self) -> None:
        """Read the price. Raises what is in NODE_ERRORS."""
        self._price = await self._node.inclusion_fee()

    def inclusion_fee(self, resource_fee: int) -> int:
        """Stroops for each of the two operations that a fee bump counts, so that a settlement stays below the ceiling.

        It is never below the network's minimum: a call whose resource fee is at the ceiling costs two minimum fees more.
        """
        room = (self._ceiling - resource_fee) // 2
        return max(BASE_FEE, min(self._price, room))
