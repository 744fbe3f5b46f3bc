"""How many payments a group may have: what it would burn if it failed must stay small beside what payments cost."""

from facilitator.rails.evm.simulation import MEMBER_GAS

GROUP_GAS = 50_000
"""The gas limit of a group is this, and MEMBER_GAS for each member. With too little, nobody would be paid."""
PAID_GAS = 50_000
"""What a payment takes in a large group. What a transaction took beyond that, when not all were paid, is burnt."""
SHARE = 4
"""Of the gas that makes payments groups may burn this part. It is about half of what they save."""


class GasBudget:
    """Counts the gas of transactions, and bounds what groups burn.

    A payer can spoil a group after it was checked: code on his account (EIP-7702) burns all its gas, and nobody is paid. So a
    group risks half of the budget at most. What groups burn is taken from it, and a part of all gas that makes payments is
    added. So groups become smaller after each one that is lost, and larger again with each payment; and while too much was
    burnt, payments are settled one by one.

    Args:
        most: members of the largest group. The full budget pays for two of these.
    """

    def __init__(self, most: int) -> None:
        self.paid = self.burnt = 0
        """Gas that made payments, and gas that made none, since the start."""
        self.largest = most
        """Members of the largest group; 1: payments are settled one by one, whatever is left."""
        self._left = self._full = 2 * group_gas(most)

    @property
    def most(self) -> int:
        """Members of the next group at most; 1: payments are settled one by one."""
        return min(self.largest, max(1, (self._left // 2 - GROUP_GAS) // MEMBER_GAS))

    def count(self, gas: int, *, members: int, paid: int) -> int:
        """Count a transaction that is in a block. Returns the gas that it burnt.

        Args:
            members: payments that it was to make.
            paid: those that it made.
        """
        burnt = max(0, gas - paid * PAID_GAS) if paid < members else 0
        self.burnt += burnt
        self.paid += gas - burnt
        # One that was sent by itself burns its own gas, and smaller groups would not change that.
        lost = burnt if members > 1 else 0
        self._left = max(0, min(self._full, self._left + (gas - burnt) // SHARE - lost))
        return burnt


def group_gas(members: int) -> int:
    """The gas limit of a group."""
    return GROUP_GAS + MEMBER_GAS * members
